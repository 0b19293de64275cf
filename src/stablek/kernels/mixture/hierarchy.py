"""Model-based agglomeration: each merge keeps the Gaussian likelihood of the clusters highest.

The cost of a merge is not a distance that chains of nearest neighbors could follow. So each
cluster stores its cheapest later partner, and the cheapest pair is merged.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, inner_reordered, jit
from stablek.kernels.distances import squared_distance
from stablek.kernels.mixture.ways import LANE_FEATURES

__all__ = ["grow_gaussian"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Bools = NDArray[np.bool_]


class Clusters(NamedTuple):
    """The clusters during agglomeration. Cluster i is named by its first point, i.

    ``points`` is of shape (n, p). ``following`` and ``last`` chain the points of a cluster.
    ``terms`` are the parts of the likelihood. Only clusters that are large for the number of
    features have a slot, and with it a scatter matrix: there are few of them, and the others
    hardly ever need one. ``scatters`` and ``factored`` hold lower triangles; ``regular`` tells
    which clusters have L D of scatter = L D L' in ``factored``. ``partner`` is the later cluster
    whose merge costs least, -1 for none, and ``cheapest`` is that cost. ``joined`` is scratch.
    """

    points: Floats
    following: Ints
    last: Ints
    alive: Bools
    means: Floats
    sizes: Floats
    traces: Floats
    terms: Floats
    slots: Ints
    scatters: Floats
    factored: Floats
    regular: Bools
    partner: Ints
    cheapest: Floats
    joined: Floats


@inner
def _term(trace: float, determinant: float, size: float, floor: float) -> float:
    """Return size * log(det(scatter / size) + (trace(scatter) + floor) / size)."""
    return size * math.log(determinant + (trace + floor) / size)


@inner
def _determinant(scatter: Floats, size: float) -> float:
    """det(scatter / size), by an elimination that overwrites the lower triangle.

    If the result is not 0, the triangle then holds L D of scatter = L D L', with D on the
    diagonal.
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


@inner_reordered
def _grown_determinant(
    factored: Floats, mean: Floats, point: Floats, weight: float, size: float, solved: Floats
) -> float:
    """det(scatter / size) of a cluster that a point joins, from L D of the cluster."""
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
def _add_points(clusters: Clusters, a: int) -> None:
    """Add the scatter matrix of a cluster's points to ``joined``."""
    points, mean, joined = clusters.points, clusters.means[a], clusters.joined
    member = a
    while member >= 0:
        for i in range(points.shape[1]):
            gap = points[member, i] - mean[i]
            for j in range(i + 1):
                joined[i, j] += gap * (points[member, j] - mean[j])
        member = clusters.following[member]


@inner
def _join(clusters: Clusters, a: int, b: int) -> None:
    """Write the scatter matrix of two clusters together to ``joined``."""
    means, sizes, scatters = clusters.means, clusters.sizes, clusters.scatters
    one, two = clusters.slots[a], clusters.slots[b]
    weight = sizes[a] * sizes[b] / (sizes[a] + sizes[b])
    for i in range(means.shape[1]):
        gap = weight * (means[a, i] - means[b, i])
        for j in range(i + 1):
            total = gap * (means[a, j] - means[b, j])
            if one >= 0:
                total += scatters[one, i, j]
            if two >= 0:
                total += scatters[two, i, j]
            clusters.joined[i, j] = total
    if one < 0 and sizes[a] > 1.0:
        _add_points(clusters, a)
    if two < 0 and sizes[b] > 1.0:
        _add_points(clusters, b)


@inner
def _joined_trace(means: Floats, sizes: Floats, traces: Floats, a: int, b: int) -> float:
    """Trace of the scatter matrix of two clusters together."""
    distance = 0.0
    if means.shape[1] < LANE_FEATURES:
        for i in range(means.shape[1]):
            gap = means[a, i] - means[b, i]
            distance += gap * gap
    else:
        distance = squared_distance(means[a], means[b])
    weight = sizes[a] * sizes[b] / (sizes[a] + sizes[b])
    trace: float = traces[a] + traces[b] + weight * distance
    return trace


@inner
def _find_partner(clusters: Clusters, floor: float, a: int, begin: int, end: int) -> None:
    """Look for a cheaper partner of cluster a among the clusters from begin to end.

    The determinant counts only if there are more points than features. The loop reads the
    fields of the tuple once: a function per pair that read them took twice the time.
    """
    means, sizes, traces, terms = clusters.means, clusters.sizes, clusters.traces, clusters.terms
    regular, factored, slots = clusters.regular, clusters.factored, clusters.slots
    alive, joined = clusters.alive, clusters.joined
    partner, cheapest = clusters.partner[a], clusters.cheapest[a]
    for b in range(begin, end):
        if not alive[b]:
            continue
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
                _join(clusters, a, b)
                determinant = _determinant(joined, size)
        trace = _joined_trace(means, sizes, traces, a, b)
        cost = _term(trace, determinant, size, floor) - terms[a] - terms[b]
        if cost < cheapest:
            partner, cheapest = b, cost
    clusters.partner[a], clusters.cheapest[a] = partner, cheapest


@inner
def _cheapest_pair(clusters: Clusters) -> tuple[int, int]:
    """The pair whose merge costs least; the first two if costs are not numbers."""
    alive, partner, cheapest = clusters.alive, clusters.partner, clusters.cheapest
    a = -1
    for i in range(alive.shape[0]):
        if partner[i] >= 0 and (a < 0 or cheapest[i] < cheapest[a]):
            a = i
    if a >= 0:
        return a, partner[a]
    a = 0
    while not alive[a]:
        a += 1
    b = a + 1
    while not alive[b]:
        b += 1
    return a, b


@inner
def _merge(clusters: Clusters, floor: float, a: int, b: int, free: Ints, n_free: int) -> int:
    """Merge cluster b into a; return the number of free slots."""
    means, sizes, slots, joined = clusters.means, clusters.sizes, clusters.slots, clusters.joined
    p, total = means.shape[1], sizes[a] + sizes[b]
    trace = _joined_trace(means, sizes, clusters.traces, a, b)
    if 2.0 * total > p:
        _join(clusters, a, b)
        if slots[b] >= 0:
            free[n_free] = slots[b]
            n_free += 1
        if slots[a] < 0:
            n_free -= 1
            slots[a] = free[n_free]
        _copy_lower(joined, clusters.scatters[slots[a]])
    for i in range(p):
        means[a, i] += sizes[b] / total * (means[b, i] - means[a, i])
    determinant = _determinant(joined, total) if total > p else 0.0
    clusters.regular[a] = determinant > 0.0
    if clusters.regular[a]:
        _copy_lower(joined, clusters.factored[slots[a]])
    sizes[a], clusters.traces[a] = total, trace
    clusters.terms[a] = _term(trace, determinant, total, floor)
    clusters.following[clusters.last[a]] = b
    clusters.last[a] = clusters.last[b]
    clusters.alive[b] = False
    clusters.partner[b] = -1
    return n_free


@inner
def _copy_lower(source: Floats, target: Floats) -> None:
    for i in range(source.shape[0]):
        for j in range(i + 1):
            target[i, j] = source[i, j]


@jit
def grow_gaussian(points: Floats, floor: float, first: Ints, second: Ints) -> None:
    """Merge single points into one cluster, always the pair whose merge costs least.

    Parameters
    ----------
    points : ndarray of shape (n, p)
    floor : float
        Added to the traces of scatter matrices, so that single points have a likelihood.
    first, second : ndarray of shape (n - 1,)
        Output: the two clusters that each merge joins, named by their first points.
    """
    n, p = points.shape
    n_slots = min(n, 2 * n // p + 1)
    free, n_free = np.arange(n_slots), n_slots
    clusters = Clusters(
        points=points,
        following=np.full(n, -1, np.intp),
        last=np.arange(n),
        alive=np.ones(n, np.bool_),
        means=points.copy(),
        sizes=np.ones(n),
        traces=np.zeros(n),
        terms=np.full(n, np.log(floor)),
        slots=np.full(n, -1, np.intp),
        scatters=np.empty((n_slots, p, p)),
        factored=np.empty((n_slots, p, p)),
        regular=np.zeros(n, np.bool_),
        partner=np.empty(n, np.intp),
        cheapest=np.empty(n),
        joined=np.zeros((p, p)),
    )
    alive, partner, cheapest = clusters.alive, clusters.partner, clusters.cheapest
    # Round -1 finds all partners. Later rounds merge one pair, and then repair the partners.
    for merge in range(-1, n - 1):
        a, b = -1, n
        if merge >= 0:
            a, b = _cheapest_pair(clusters)
            first[merge], second[merge] = a, b
            n_free = _merge(clusters, floor, a, b, free, n_free)
        for i in range(b):
            if not alive[i]:
                continue
            if merge < 0 or i == a or partner[i] == a or partner[i] == b:
                partner[i], cheapest[i] = -1, np.inf
                _find_partner(clusters, floor, i, i + 1, n)
            elif i < a:
                _find_partner(clusters, floor, i, a, a + 1)
