"""Model-based agglomeration: merges that keep the Gaussian likelihood of the clusters highest."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit, jit_reordered
from stablek.kernels.distances import squared_distance

__all__ = ["grow_gaussian"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]

_MANY = 16  # features from which a call that sums in vector lanes pays


@inner
def _term(trace: float, determinant: float, size: float, floor: float) -> float:
    """Return size * log(det(scatter / size) + (trace(scatter) + floor) / size)."""
    return size * math.log(determinant + (trace + floor) / size)


@inner
def _determinant(scatter: Floats, size: float) -> float:
    """det(scatter / size), from the pivots of an elimination that overwrites the lower half.

    Where it is not 0, what is left is L D of scatter = L D L', and D on the diagonal.
    """
    p = scatter.shape[0]
    determinant = 1.0
    for j in range(p):
        pivot = scatter[j, j]
        if not pivot > 0.0:
            return 0.0
        determinant *= pivot / size
        for i in range(j + 1, p):
            factor = scatter[i, j] / pivot
            for m in range(j + 1, i + 1):
                scatter[i, m] -= factor * scatter[m, j]
    return determinant


@jit_reordered
def _grown_determinant(
    factored: Floats, mean: Floats, point: Floats, weight: float, size: float, solved: Floats
) -> float:
    """det(scatter / size) of a cluster that a point joins, given L D of the cluster's own."""
    p = factored.shape[0]
    determinant, square = 1.0, 0.0
    for i in range(p):
        total, row = mean[i] - point[i], factored[i]
        for j in range(i):
            total -= row[j] * solved[j]
        solved[i] = total / row[i]
        square += total * solved[i]
        determinant *= row[i] / size
    grown: float = determinant * (1.0 + weight * square)
    return grown


@inner
def _add_points(
    points: Floats, following: Ints, means: Floats, cluster: int, total: Floats
) -> None:
    """Add the scatter matrix (lower triangle) of a cluster's points."""
    member = cluster
    while member >= 0:
        for i in range(points.shape[1]):
            gap = points[member, i] - means[cluster, i]
            for j in range(i + 1):
                total[i, j] += gap * (points[member, j] - means[cluster, j])
        member = following[member]


@inner
def _join(
    points: Floats,
    following: Ints,
    means: Floats,
    sizes: Floats,
    scatters: Floats,
    slots: Ints,
    a: int,
    b: int,
    joined: Floats,
) -> None:
    """Scatter matrix (lower triangle) of two clusters together."""
    p, one, two = means.shape[1], slots[a], slots[b]
    weight = sizes[a] * sizes[b] / (sizes[a] + sizes[b])
    for i in range(p):
        gap = weight * (means[a, i] - means[b, i])
        for j in range(i + 1):
            total = gap * (means[a, j] - means[b, j])
            if one >= 0:
                total += scatters[one, i, j]
            if two >= 0:
                total += scatters[two, i, j]
            joined[i, j] = total
    if one < 0 and sizes[a] > 1.0:
        _add_points(points, following, means, a, joined)
    if two < 0 and sizes[b] > 1.0:
        _add_points(points, following, means, b, joined)


@inner
def _joined_trace(means: Floats, sizes: Floats, traces: Floats, a: int, b: int) -> float:
    """Trace of the scatter matrix of two clusters together."""
    distance = 0.0
    if means.shape[1] < _MANY:
        for i in range(means.shape[1]):
            gap = means[a, i] - means[b, i]
            distance += gap * gap
    else:
        distance = squared_distance(means[a], means[b])
    weight = sizes[a] * sizes[b] / (sizes[a] + sizes[b])
    trace: float = traces[a] + traces[b] + weight * distance
    return trace


@inner
def _cost(
    points: Floats,
    following: Ints,
    means: Floats,
    sizes: Floats,
    scatters: Floats,
    factored: Floats,
    slots: Ints,
    regular: Bools,
    traces: Floats,
    terms: Floats,
    floor: float,
    a: int,
    b: int,
    joined: Floats,
) -> float:
    """What the merge of two clusters costs.

    The determinant counts only where there are more points than features.
    """
    size, determinant = sizes[a] + sizes[b], 0.0
    if size > means.shape[1]:
        large, small = (a, b) if sizes[a] > sizes[b] else (b, a)
        if sizes[small] == 1.0 and regular[large]:
            weight = sizes[large] / size
            own = factored[slots[large]]
            determinant = _grown_determinant(
                own, means[large], means[small], weight, size, joined[0]
            )
        else:
            _join(points, following, means, sizes, scatters, slots, a, b, joined)
            determinant = _determinant(joined, size)
    trace = _joined_trace(means, sizes, traces, a, b)
    cost: float = _term(trace, determinant, size, floor) - terms[a] - terms[b]
    return cost


@inner
def _find_partner(
    points: Floats,
    following: Ints,
    means: Floats,
    sizes: Floats,
    scatters: Floats,
    factored: Floats,
    slots: Ints,
    regular: Bools,
    traces: Floats,
    terms: Floats,
    floor: float,
    alive: Bools,
    a: int,
    joined: Floats,
    partner: Ints,
    cheapest: Floats,
) -> None:
    """Find the later cluster whose merge with a cluster costs least."""
    partner[a], cheapest[a] = -1, np.inf
    for b in range(a + 1, alive.shape[0]):
        if alive[b]:
            cost = _cost(
                points,
                following,
                means,
                sizes,
                scatters,
                factored,
                slots,
                regular,
                traces,
                terms,
                floor,
                a,
                b,
                joined,
            )
            if cost < cheapest[a]:
                partner[a], cheapest[a] = b, cost


@jit
def grow_gaussian(points: Floats, floor: float, first: Ints, second: Ints) -> None:
    """Merges of model-based agglomeration, in their order.

    Starting from single points, the pair whose merge costs least is merged. The cost is not a
    distance that chains could follow, so each cluster keeps its cheapest later partner. Scatter
    matrices are kept of clusters that are large for the number of features, of which there are
    few; others hardly ever need one.

    Parameters
    ----------
    points : ndarray of shape (n, p)
    floor : float
        Added to the trace of scatter matrices, so that single points have a likelihood.
    first, second : ndarray of shape (n - 1,)
        Output: a point of each of the two clusters that a merge joins; the first points.
    """
    n, p = points.shape
    means, traces, sizes = points.copy(), np.zeros(n), np.ones(n)
    following, last = np.full(n, -1, np.intp), np.arange(n)  # a cluster's points, as a chain
    n_slots = min(n, 2 * n // p + 1)
    scatters, slots = np.empty((n_slots, p, p)), np.full(n, -1, np.intp)
    factored, regular = np.empty((n_slots, p, p)), np.zeros(n, np.bool_)
    free, n_free = np.arange(n_slots), n_slots
    joined = np.zeros((p, p))
    terms = np.full(n, np.log(floor))
    alive = np.ones(n, np.bool_)
    partner, cheapest = np.empty(n, np.intp), np.empty(n)
    for a in range(n):
        _find_partner(
            points,
            following,
            means,
            sizes,
            scatters,
            factored,
            slots,
            regular,
            traces,
            terms,
            floor,
            alive,
            a,
            joined,
            partner,
            cheapest,
        )
    for merge in range(n - 1):
        a = -1
        for i in range(n):
            if partner[i] >= 0 and (a < 0 or cheapest[i] < cheapest[a]):
                a = i
        if a < 0:  # only where costs are not numbers
            a = 0
            while not alive[a]:
                a += 1
            b = a + 1
            while not alive[b]:
                b += 1
        else:
            b = partner[a]
        first[merge], second[merge] = a, b
        total = sizes[a] + sizes[b]
        trace, large = _joined_trace(means, sizes, traces, a, b), 2.0 * total > p
        if large:
            _join(points, following, means, sizes, scatters, slots, a, b, joined)
            if slots[b] >= 0:
                free[n_free] = slots[b]
                n_free += 1
            if slots[a] < 0:
                n_free -= 1
                slots[a] = free[n_free]
            scatter = scatters[slots[a]]
            for i in range(p):
                for j in range(i + 1):
                    scatter[i, j] = joined[i, j]
        for i in range(p):
            means[a, i] += sizes[b] / total * (means[b, i] - means[a, i])
        determinant = _determinant(joined, total) if total > p else 0.0
        regular[a] = determinant > 0.0
        if regular[a]:
            factor = factored[slots[a]]
            for i in range(p):
                for j in range(i + 1):
                    factor[i, j] = joined[i, j]
        sizes[a], traces[a] = total, trace
        terms[a] = _term(trace, determinant, total, floor)
        following[last[a]] = b
        last[a] = last[b]
        alive[b] = False
        partner[b] = -1
        for i in range(b):
            if not alive[i]:
                continue
            if i == a or partner[i] == a or partner[i] == b:
                _find_partner(
                    points,
                    following,
                    means,
                    sizes,
                    scatters,
                    factored,
                    slots,
                    regular,
                    traces,
                    terms,
                    floor,
                    alive,
                    i,
                    joined,
                    partner,
                    cheapest,
                )
            elif i < a:
                cost = _cost(
                    points,
                    following,
                    means,
                    sizes,
                    scatters,
                    factored,
                    slots,
                    regular,
                    traces,
                    terms,
                    floor,
                    i,
                    a,
                    joined,
                )
                if cost < cheapest[i]:
                    partner[i], cheapest[i] = a, cost
