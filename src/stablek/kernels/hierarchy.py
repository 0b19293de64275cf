"""Model-based agglomeration: merges that keep the Gaussian likelihood of the clusters highest."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit

__all__ = ["grow_gaussian"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@inner
def _term(scatter: Floats, size: float, floor: float) -> float:
    """Return size * log(det(scatter / size) + (trace(scatter) + floor) / size).

    The determinant counts only where there are more points than features. It comes from the
    pivots of an elimination, during which `scatter` is overwritten.
    """
    p = scatter.shape[0]
    trace = 0.0
    for j in range(p):
        trace += scatter[j, j]
    determinant = 0.0
    if size > p:
        determinant = 1.0
        for j in range(p):
            pivot = scatter[j, j]
            if not pivot > 0.0:
                determinant = 0.0
                break
            determinant *= pivot / size
            for i in range(j + 1, p):
                factor = scatter[i, j] / pivot
                for m in range(j + 1, i + 1):
                    scatter[i, m] -= factor * scatter[m, j]
    return size * math.log(determinant + (trace + floor) / size)


@inner
def _join(means: Floats, scatters: Floats, sizes: Floats, a: int, b: int, joined: Floats) -> None:
    """Scatter matrix (lower triangle) of two clusters together."""
    p = means.shape[1]
    weight = sizes[a] * sizes[b] / (sizes[a] + sizes[b])
    for i in range(p):
        gap = weight * (means[a, i] - means[b, i])
        for j in range(i + 1):
            joined[i, j] = (
                scatters[a, i, j] + scatters[b, i, j] + gap * (means[a, j] - means[b, j])
            )


@inner
def _cost(
    means: Floats,
    scatters: Floats,
    sizes: Floats,
    terms: Floats,
    a: int,
    b: int,
    floor: float,
    joined: Floats,
) -> float:
    _join(means, scatters, sizes, a, b, joined)
    cost: float = _term(joined, sizes[a] + sizes[b], floor) - terms[a] - terms[b]
    return cost


@jit
def grow_gaussian(points: Floats, floor: float, first: Ints, second: Ints) -> None:
    """Merges of model-based agglomeration, in their order.

    Starting from single points, the pair whose merge costs least is merged. The cost is not a
    distance that chains could follow, so each cluster keeps its cheapest later partner.

    Parameters
    ----------
    points : ndarray of shape (n, p)
    floor : float
        Added to the trace of scatter matrices, so that single points have a likelihood.
    first, second : ndarray of shape (n - 1,)
        Output: a point of each of the two clusters that a merge joins; the first points.
    """
    n, p = points.shape
    means, scatters, sizes = points.copy(), np.zeros((n, p, p)), np.ones(n)
    joined = np.zeros((p, p))
    terms = np.full(n, np.log(floor))
    alive = np.ones(n, np.bool_)
    partner, cheapest = np.full(n, -1, np.intp), np.full(n, np.inf)
    for a in range(n):
        for b in range(a + 1, n):
            cost = _cost(means, scatters, sizes, terms, a, b, floor, joined)
            if cost < cheapest[a]:
                partner[a], cheapest[a] = b, cost
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
        _join(means, scatters, sizes, a, b, joined)
        total = sizes[a] + sizes[b]
        for i in range(p):
            means[a, i] += sizes[b] / total * (means[b, i] - means[a, i])
            for j in range(i + 1):
                scatters[a, i, j] = joined[i, j]
        sizes[a] = total
        terms[a] = _term(joined, total, floor)
        alive[b] = False
        partner[b] = -1
        for i in range(b):
            if not alive[i]:
                continue
            if i == a or partner[i] == a or partner[i] == b:
                partner[i], cheapest[i] = -1, np.inf
                for j in range(i + 1, n):
                    if alive[j]:
                        cost = _cost(means, scatters, sizes, terms, i, j, floor, joined)
                        if cost < cheapest[i]:
                            partner[i], cheapest[i] = j, cost
            elif i < a:
                cost = _cost(means, scatters, sizes, terms, i, a, floor, joined)
                if cost < cheapest[i]:
                    partner[i], cheapest[i] = a, cost
