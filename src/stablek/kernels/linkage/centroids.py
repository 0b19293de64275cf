"""Ward's linkage from the centroids of the clusters, without distances between all pairs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner

__all__ = ["merge_centroids"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_BLOCK = 128  # clusters whose distances to one cluster stay in the nearest cache


@inner
def merge_centroids(points: Floats, first: Ints, second: Ints, height: Floats) -> None:
    """Ward's dendrogram by nearest-neighbor chains over centroids, in O(n) memory.

    The columns of ``points`` become the centroids. A merged cluster takes the place of the lower
    of its two clusters; the other place is void until `_pack` closes it. Heights are half the
    squared Ward distance: |a - b|^2 / (1/size_a + 1/size_b). A chain moves to strictly nearer
    clusters only, so it ends even if rounding makes distances inconsistent.
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
            used = _pack(points, inverse, point, alive, used, chain[:length])
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
            if near < 0:  # only if distances are not numbers
                near = 0
                while not alive[near] or near == here:
                    near += 1
            if near == before:
                break
            chain[length], link[length] = near, distance
            length += 1
        distance = link[length - 1] if n_features > 1 else 0.5 * link[length - 1]
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
    """Find the nearest cluster to ``here`` if it is nearer than ``bound``.

    Otherwise the result is ``before``, the previous cluster of the chain, at that distance.
    """
    n_features = points.shape[0]
    own = inverse[here]
    best, near = bound, before
    # The first and the last feature share a pass. So a lone feature counts twice, which doubles
    # all squared distances; `merge_centroids` halves the heights.
    last = n_features - 1
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
        # This count needs no division and uses vector instructions. Few blocks have a nearer one.
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
    points: Floats, inverse: Floats, point: Ints, alive: NDArray[np.bool_], used: int, chain: Ints
) -> int:
    """Close the void places, keep the order, and put the new places in the chain."""
    place = np.empty(used, np.intp)
    to = 0
    for i in range(used):
        place[i] = to
        if alive[i]:
            inverse[to], point[to] = inverse[i], point[i]
            to += 1
    for feature in range(points.shape[0]):
        for i in range(used):
            # A void place has the same target as the next living cluster, which overwrites it.
            points[feature, place[i]] = points[feature, i]
    for i in range(chain.shape[0]):
        chain[i] = place[chain[i]]
    for i in range(to):
        alive[i] = True
    return to
