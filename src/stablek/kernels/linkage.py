"""Agglomerative clustering: spanning edges of the dendrogram.

A dendrogram of n points is kept as n - 1 edges, each joining two points that stand for the two
clusters that a merge joins, with the height of the merge; `stablek.kernels.cuts` cuts it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit, jit_reordered

__all__ = [
    "AVERAGE",
    "COMPLETE",
    "SINGLE",
    "WARD",
    "distances_at",
    "expand_distances",
    "grow",
    "is_wide",
    "merge",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

WARD, AVERAGE, COMPLETE, SINGLE = range(4)

_BLOCK = 128  # clusters whose distances to one cluster stay in the nearest cache
_WIDE = 32  # features from which on a matrix of distances pays for Ward's linkage ...
_FEW = 2048  # ... up to this number of points


@jit
def is_wide(n: int, n_features: int) -> bool:
    """Whether Ward's linkage keeps the distances of n points, rather than computing them anew."""
    return n_features >= _WIDE and n <= _FEW


@jit
def grow(points: Floats, linkage: int, first: Ints, second: Ints, height: Floats) -> None:
    """Dendrogram of points.

    Parameters
    ----------
    points : ndarray of shape (p, n)
        Points, feature by feature; overwritten.
    linkage : int
        WARD, AVERAGE, COMPLETE or SINGLE.
    first, second : ndarray of shape (n - 1,)
        Output: the points that each edge joins.
    height : ndarray of shape (n - 1,)
        Output: a number for each edge that grows with the height of its merge.
    """
    _rescale(points)
    if linkage == SINGLE:
        _grow_single(points, first, second, height)
    elif linkage == WARD and not is_wide(points.shape[1], points.shape[0]):
        _grow_ward(points, first, second, height)
    else:
        merge(_distances(points, linkage), linkage, first, second, height)


@inner
def _rescale(points: Floats) -> None:
    """Divide by a power of two, which is exact, so that no square overflows or vanishes."""
    largest = 0.0
    for feature in range(points.shape[0]):
        for i in range(points.shape[1]):
            largest = max(largest, abs(points[feature, i]))
    if not 0.0 < largest < np.inf:
        return
    # In two halves: the factor itself can be out of range.
    exponent = np.floor(np.log2(largest))
    half = np.floor(exponent / 2.0)
    one, two = 2.0**-half, 2.0 ** (half - exponent)
    for feature in range(points.shape[0]):
        for i in range(points.shape[1]):
            points[feature, i] = points[feature, i] * one * two


@inner
def _grow_ward(points: Floats, first: Ints, second: Ints, height: Floats) -> None:
    """Ward's dendrogram by nearest-neighbor chains over centroids, in O(n) memory.

    Clusters are packed in the order of their first points; a merged cluster takes the lower
    place, the other place is void until the next packing. Heights are half the squared Ward
    distance, which is |a - b|^2 / (1/size_a + 1/size_b). A chain moves on to a strictly nearer
    cluster only, so it ends even where rounding makes distances inconsistent.
    """
    n_features, n = points.shape
    inverse = np.ones(n)  # 1 / size
    point = np.arange(n)  # the first point of each cluster
    alive = np.ones(n, np.bool_)
    squared = np.empty(_BLOCK)
    chain, link = np.empty(n, np.intp), np.empty(n)
    length, used, n_void, start = 0, n, 0, 0
    for edge in range(n - 1):
        if 8 * n_void > used:
            used = _pack(points, inverse, point, alive, used, chain, length)
            n_void, start = 0, 0
        if length == 0:
            while not alive[start]:
                start += 1
            chain[0], link[0] = start, np.inf
            length = 1
        while True:
            here = chain[length - 1]
            before = chain[length - 2] if length > 1 else -1
            near, distance = _nearest(
                points, inverse, used, here, before, link[length - 1], squared
            )
            if near < 0:  # only where distances are not numbers
                near = 0
                while not alive[near] or near == here:
                    near += 1
            if near == before:
                break
            chain[length], link[length] = near, distance
            length += 1
        distance = link[length - 1]
        length -= 2
        low, high = min(here, near), max(here, near)
        first[edge], second[edge], height[edge] = point[low], point[high], distance
        share = inverse[low] / (inverse[low] + inverse[high])
        for feature in range(n_features):
            gap = points[feature, high] - points[feature, low]
            points[feature, low] += share * gap
        inverse[low] = 1.0 / (1.0 / inverse[low] + 1.0 / inverse[high])
        alive[high] = False
        points[0, high] = np.inf  # never the nearest
        n_void += 1


@inner
def _nearest(
    points: Floats,
    inverse: Floats,
    used: int,
    here: int,
    before: int,
    bound: float,
    squared: Floats,
) -> tuple[int, float]:
    """Cluster nearest to `here`: `before` at distance `bound`, or the first one nearer than it."""
    n_features = points.shape[0]
    own = inverse[here]
    best, near = bound, before
    last = n_features - 1  # shares a pass with the first; a lone feature counts twice, no matter
    home, away = points[0, here], points[last, here]
    points[0, here] = np.inf  # not its own neighbor
    for begin in range(0, used, _BLOCK):
        size = min(_BLOCK, used - begin)
        others = inverse[begin : begin + size]
        one, two = points[0, begin : begin + size], points[last, begin : begin + size]
        for i in range(size):
            gap, beside = one[i] - home, two[i] - away
            squared[i] = gap * gap + beside * beside
        for feature in range(1, last):
            position = points[feature, here]
            column = points[feature, begin : begin + size]
            for i in range(size):
                gap = column[i] - position
                squared[i] += gap * gap
        # Whether any is nearer needs no division: vector instructions answer for the block.
        nearer = 0
        for i in range(size):
            nearer += squared[i] < best * (own + others[i])
        if nearer > 0:
            for i in range(size):
                weight = own + others[i]
                if squared[i] < best * weight and squared[i] / weight < best:
                    best, near = squared[i] / weight, begin + i
    points[0, here] = home
    return near, best


@inner
def _pack(
    points: Floats,
    inverse: Floats,
    point: Ints,
    alive: NDArray[np.bool_],
    used: int,
    chain: Ints,
    length: int,
) -> int:
    """Close the void places, keeping the order; the chain is told the new places."""
    place = np.empty(used, np.intp)
    to = 0
    for i in range(used):
        place[i] = to
        if alive[i]:
            inverse[to], point[to] = inverse[i], point[i]
            to += 1
    for feature in range(points.shape[0]):
        for i in range(used):
            # A void place shares its target with the next cluster alive, which overwrites it.
            points[feature, place[i]] = points[feature, i]
    for i in range(length):
        chain[i] = place[chain[i]]
    for i in range(to):
        alive[i] = True
    return to


@inner
def _distances(points: Floats, linkage: int) -> Floats:
    """Distances of points: for Ward's linkage half their squares, the heights of merges."""
    n_features, n = points.shape
    distances = np.zeros((n, n))
    for i in range(n):
        row = distances[i]
        for feature in range(n_features):
            position = points[feature, i]
            for j in range(n):
                gap = points[feature, j] - position
                row[j] += gap * gap
        _finish(row, i, linkage)
    return distances


@inner
def _finish(row: Floats, i: int, linkage: int) -> None:
    """Make squared distances from point i what the linkage merges by."""
    if linkage == WARD:
        for j in range(row.shape[0]):
            row[j] *= 0.5
    else:
        for j in range(row.shape[0]):
            row[j] = np.sqrt(row[j])
    row[i] = np.inf  # not its own neighbor


@jit_reordered
def expand_distances(X: Floats, noise: Floats) -> Floats:
    """Squared distances of ``X + e noise`` as functions of the level: their coefficients.

    Returns
    -------
    ndarray of shape (3, n, n)
        The squared distance of points i and j is ``c[0, i, j] + e c[1, i, j] + e^2 c[2, i, j]``.
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
    coefficients: Floats, epsilon: float, members: Ints, linkage: int, distances: Floats
) -> None:
    """`_distances` of some points at a noise level, from `expand_distances`."""
    n = members.shape[0]
    for i in range(n):
        square, cross = coefficients[0, members[i]], coefficients[1, members[i]]
        own, row = coefficients[2, members[i]], distances[i]
        for j in range(n):
            at = members[j]
            # Rounding can take a distance of nearly 0 below it.
            row[j] = max(square[at] + epsilon * (cross[at] + epsilon * own[at]), 0.0)
        _finish(row, i, linkage)


@inner
def merge(distances: Floats, linkage: int, first: Ints, second: Ints, height: Floats) -> None:
    """Dendrogram by nearest-neighbor chains over a matrix of distances, which is overwritten."""
    n = distances.shape[0]
    size = np.ones(n)
    void = np.zeros(n)  # infinite where a merged cluster was: added to distances, never nearest
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
            if near < 0:  # only where distances are not numbers
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
        kept, gone = distances[low], distances[high]
        if linkage == COMPLETE:
            for j in range(n):
                kept[j] = max(kept[j], gone[j])
        elif linkage == WARD:
            between = kept[high]
            for j in range(n):
                both = (size[low] + size[j]) * kept[j] + (size[high] + size[j]) * gone[j]
                kept[j] = (both - size[j] * between) / (size[low] + size[high] + size[j])
        else:
            total = size[low] + size[high]
            for j in range(n):
                kept[j] = (size[low] * kept[j] + size[high] * gone[j]) / total
        size[low] += size[high]
        void[high] = np.inf
        kept[low] = np.inf
        for j in range(n):
            distances[j, low] = kept[j]


@inner
def _grow_single(points: Floats, first: Ints, second: Ints, height: Floats) -> None:
    """Dendrogram of single linkage: the minimum spanning tree, by Prim's algorithm."""
    n_features, n = points.shape
    reach, beside = np.full(n, np.inf), np.zeros(n, np.intp)  # the tree's nearest point to each
    void = np.zeros(n)  # infinite for points in the tree
    squared = np.empty(n)
    latest = 0
    for edge in range(n - 1):
        void[latest] = np.inf
        for i in range(n):
            squared[i] = 0.0
        for feature in range(n_features):
            position, column = points[feature, latest], points[feature]
            for i in range(n):
                gap = column[i] - position
                squared[i] += gap * gap
        nearest, least = -1, np.inf
        for i in range(n):
            if squared[i] < reach[i]:
                reach[i], beside[i] = squared[i], latest
            if reach[i] + void[i] < least:
                nearest, least = i, reach[i]
        if nearest < 0:  # only where distances are not numbers
            nearest = 0
            while void[nearest] > 0.0:
                nearest += 1
        first[edge], second[edge], height[edge] = beside[nearest], nearest, reach[nearest]
        latest = nearest
