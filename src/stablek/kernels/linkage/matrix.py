"""Ward, average and complete linkage from a matrix of the distances between all pairs of points.

The matrix comes from the points, or from the noise level: the squared distance of two points of
``X + epsilon * noise`` is a quadratic function of epsilon, so its three coefficients serve every
level and every group of points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit_reordered
from stablek.kernels.linkage.ways import COMPLETE, WARD

__all__ = ["distances_at", "distances_of", "expand_distances", "merge_distances"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_BLOCK = 128  # distances that one vectorized comparison covers


@inner
def distances_of(points: Floats, linkage: int) -> Floats:
    """Distances of all pairs of the columns of ``points``, in the unit of `_convert`."""
    n_features, n = points.shape
    distances = np.zeros((n, n))
    for i in range(n):
        row = distances[i]
        for feature in range(n_features):
            position = points[feature, i]
            for j in range(n):
                gap = points[feature, j] - position
                row[j] += gap * gap
        _convert(row, i, linkage)
    return distances


@jit_reordered
def expand_distances(X: Floats, noise: Floats) -> Floats:
    """Coefficients of the squared distances of ``X + epsilon * noise``, as functions of epsilon.

    Returns
    -------
    ndarray of shape (3, n, n)
        The squared distance of points i and j is
        ``c[0, i, j] + epsilon * c[1, i, j] + epsilon**2 * c[2, i, j]``.
    """
    n, n_features = X.shape
    c = np.zeros((3, n, n))
    for i in range(n):
        for j in range(i):
            square, cross, own = 0.0, 0.0, 0.0
            for feature in range(n_features):
                gap = X[i, feature] - X[j, feature]
                move = noise[i, feature] - noise[j, feature]
                square += gap * gap
                cross += gap * move
                own += move * move
            c[0, i, j] = c[0, j, i] = square
            c[1, i, j] = c[1, j, i] = 2.0 * cross
            c[2, i, j] = c[2, j, i] = own
    return c


@inner
def distances_at(
    coefficients: Floats, epsilon: float, rows: Ints, linkage: int, distances: Floats
) -> None:
    """Write the distances of some points at a noise level, from `expand_distances`."""
    n = rows.shape[0]
    for i in range(n):
        square, cross = coefficients[0, rows[i]], coefficients[1, rows[i]]
        own, row = coefficients[2, rows[i]], distances[i]
        for j in range(n):
            at = rows[j]
            # Rounding can make a distance of nearly 0 negative.
            row[j] = max(square[at] + epsilon * (cross[at] + epsilon * own[at]), 0.0)
        _convert(row, i, linkage)


@inner
def _convert(row: Floats, i: int, linkage: int) -> None:
    """Turn squared distances from point i into what the linkage merges by.

    These are distances, or for Ward half their squares, which are the heights of its merges.
    """
    if linkage == WARD:
        for j in range(row.shape[0]):
            row[j] *= 0.5
    else:
        for j in range(row.shape[0]):
            row[j] = np.sqrt(row[j])
    row[i] = np.inf  # not its own neighbor


@inner
def merge_distances(
    distances: Floats, linkage: int, first: Ints, second: Ints, height: Floats
) -> None:
    """Dendrogram by nearest-neighbor chains over a matrix of distances, which is overwritten."""
    n = distances.shape[0]
    size = np.ones(n)
    void = np.zeros(n)  # infinite where a merged cluster was, so that it is never the nearest
    chain, link = np.empty(n, np.intp), np.empty(n)
    length, start = 0, 0
    for edge in range(n - 1):
        if length == 0:
            while void[start] > 0.0:
                start += 1
            chain[0], link[0] = start, np.inf
            length = 1
        while True:
            here = chain[length - 1]
            before = chain[length - 2] if length > 1 else -1
            near, best = before, link[length - 1]
            for begin in range(0, n, _BLOCK):
                part, bar = distances[here, begin : begin + _BLOCK], void[begin : begin + _BLOCK]
                nearer = 0
                for j in range(part.shape[0]):
                    nearer += part[j] + bar[j] < best
                if nearer > 0:
                    for j in range(part.shape[0]):
                        if part[j] + bar[j] < best:
                            near, best = begin + j, part[j]
            if near < 0:  # only if distances are not numbers
                near = 0
                while void[near] > 0.0 or near == here:
                    near += 1
            if near == before:
                break
            chain[length], link[length] = near, best
            length += 1
        low, high = min(here, near), max(here, near)
        first[edge], second[edge], height[edge] = low, high, link[length - 1]
        length -= 2
        _join(distances, linkage, size, low, high)
        void[high] = np.inf


@inner
def _join(distances: Floats, linkage: int, size: Floats, low: int, high: int) -> None:
    """Give cluster ``low`` the distances and the size of the merged cluster."""
    n = distances.shape[0]
    kept, gone = distances[low], distances[high]
    total = size[low] + size[high]
    if linkage == COMPLETE:
        for j in range(n):
            kept[j] = max(kept[j], gone[j])
    elif linkage == WARD:
        between = kept[high]
        for j in range(n):
            both = (size[low] + size[j]) * kept[j] + (size[high] + size[j]) * gone[j]
            kept[j] = (both - size[j] * between) / (total + size[j])
    else:
        for j in range(n):
            kept[j] = (size[low] * kept[j] + size[high] * gone[j]) / total
    size[low] = total
    kept[low] = np.inf
    for j in range(n):
        distances[j, low] = kept[j]
