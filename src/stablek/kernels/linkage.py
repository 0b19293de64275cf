"""Agglomerative clustering: spanning edges of the dendrogram, and its cuts.

A dendrogram of n points is kept as n - 1 edges, each joining two points that stand for the two
clusters that a merge joins, with the height of the merge. Cutting it at k clusters is leaving
out the k - 1 highest edges, and the dendrogram of a node is the edges among its points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.agreement import N_SUMS, agreement
from stablek.kernels.compiling import inner, jit
from stablek.kernels.noisy import gather

__all__ = ["AVERAGE", "COMPLETE", "SINGLE", "WARD", "agreements", "cut", "grow"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

WARD, AVERAGE, COMPLETE, SINGLE = range(4)

_BLOCK = 128  # clusters whose distances to one cluster stay in the nearest cache


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
    if linkage == WARD:
        _grow_ward(points, first, second, height)
    elif linkage == SINGLE:
        _grow_single(points, first, second, height)
    else:
        _grow_matrix(points, linkage == COMPLETE, first, second, height)


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
    """Ward's dendrogram by nearest-neighbour chains over centroids, in O(n) memory.

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
    points[0, here] = np.inf  # not its own neighbour
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
def _grow_matrix(
    points: Floats, complete: bool, first: Ints, second: Ints, height: Floats
) -> None:
    """Dendrogram of average or complete linkage by nearest-neighbour chains, O(n^2) memory."""
    n_features, n = points.shape
    distances = np.zeros((n, n))
    for i in range(n):
        row = distances[i]
        for feature in range(n_features):
            position = points[feature, i]
            for j in range(n):
                gap = points[feature, j] - position
                row[j] += gap * gap
        for j in range(n):
            row[j] = np.sqrt(row[j])
        row[i] = np.inf
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
        if complete:
            for j in range(n):
                kept[j] = max(kept[j], gone[j])
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


@inner
def _largest(ks: Ints) -> int:
    largest: int = ks[0]
    for i in range(1, ks.shape[0]):
        largest = max(largest, ks[i])
    return largest


@inner
def _root(parent: Ints, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@inner
def _join(parent: Ints, a: int, b: int) -> None:
    """Union that keeps the lowest member as the root, so labels follow first appearance."""
    a, b = _root(parent, a), _root(parent, b)
    parent[max(a, b)] = min(a, b)


@jit
def cut(first: Ints, second: Ints, height: Floats, ks: Ints, finest: Ints, coarser: Ints) -> int:
    """Partitions of a dendrogram into each of several numbers of clusters.

    Parameters
    ----------
    first, second, height : ndarray of shape (n - 1,)
        Edges, from `grow`.
    ks : ndarray of shape (n_ks,)
        Numbers of clusters, from 1.
    finest : ndarray of shape (n,)
        Output: labels of the partition with the most clusters, in order of first appearance.
    coarser : ndarray of shape (n_ks, min(max(ks), n))
        Output: the label in each partition of every label of the finest one.

    Returns
    -------
    int
        Number of clusters of the finest partition.
    """
    n = finest.shape[0]
    n_finest: int = min(_largest(ks), n)
    # The edges to leave out, highest first; of equal ones the later is the higher.
    top = np.empty(n_finest, np.intp)
    n_top = 0
    in_top = np.zeros(n, np.bool_)
    for edge in range(n - 1):
        if n_top == n_finest - 1:
            if n_top == 0 or not height[edge] >= height[top[n_top - 1]]:
                continue
            n_top -= 1
            in_top[top[n_top]] = False
        at = n_top
        while at > 0 and height[edge] >= height[top[at - 1]]:
            top[at] = top[at - 1]
            at -= 1
        top[at] = edge
        in_top[edge] = True
        n_top += 1
    parent = np.arange(n)
    for edge in range(n - 1):
        if not in_top[edge]:
            _join(parent, first[edge], second[edge])
    n_labels = 0
    for i in range(n):
        root = _root(parent, i)
        if root == i:
            finest[i] = n_labels
            n_labels += 1
        else:
            finest[i] = finest[root]
    for at in range(ks.shape[0]):
        labels = coarser[at]
        joined = np.arange(n_finest)
        for rank in range(ks[at] - 1, n_finest - 1):
            _join(joined, finest[first[top[rank]]], finest[second[top[rank]]])
        n_labels = 0
        for i in range(n_finest):
            root = _root(joined, i)
            if root == i:
                labels[i] = n_labels
                n_labels += 1
            else:
                labels[i] = labels[root]
    return n_finest


@jit
def agreements(
    X: Floats,
    noise: Floats,
    epsilons: Floats,
    linkage: int,
    rows: Ints,
    row_starts: Ints,
    ks: Ints,
    k_starts: Ints,
    labels: Ints,
    label_starts: Ints,
    n_labels: Ints,
) -> Floats:
    """Sums over the contingency tables of reference and perturbed cuts, for many groups.

    Parameters
    ----------
    X, noise : ndarray of shape (n_samples, p)
        Data, and what a noise level multiplies.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    linkage : int
        As for `grow`.
    rows : ndarray
        Rows of X of every group, one after the other; group g has those from
        ``row_starts[g]`` to ``row_starts[g + 1]``.
    row_starts : ndarray of shape (n_groups + 1,)
    ks : ndarray
        Numbers of clusters of every group, cut by `k_starts` in the same way.
    k_starts : ndarray of shape (n_groups + 1,)
    labels : ndarray
        Reference labels, from 0, for each entry of `ks`, cut by `label_starts`.
    label_starts, n_labels : ndarray of shape (len(ks),)
        Where each entry's labels start, and how many different ones there are.

    Returns
    -------
    ndarray of shape (7, len(ks), n_epsilons)
        The fields of `stablek.similarity.Agreement`.
    """
    result = np.empty((N_SUMS, ks.shape[0], epsilons.shape[0]))
    sums = np.empty(N_SUMS)
    for group in range(row_starts.shape[0] - 1):
        members = rows[row_starts[group] : row_starts[group + 1]]
        n = members.shape[0]
        points = np.empty((X.shape[1], n))
        first, second, height = np.empty(n - 1, np.intp), np.empty(n - 1, np.intp), np.empty(n - 1)
        finest = np.empty(n, np.intp)
        begin, end = k_starts[group], k_starts[group + 1]
        if begin == end:
            continue
        coarser = np.empty((end - begin, min(_largest(ks[begin:end]), n)), np.intp)
        for level in range(epsilons.shape[0]):
            gather(X, noise, epsilons[level], members, points)
            grow(points, linkage, first, second, height)
            n_finest = cut(first, second, height, ks[begin:end], finest, coarser)
            for at in range(begin, end):
                reference = labels[label_starts[at] : label_starts[at] + n]
                table = np.zeros(n_labels[at] * n_finest, np.intp)
                for i in range(n):
                    table[reference[i] * n_finest + coarser[at - begin, finest[i]]] += 1
                agreement(table, 0, n_labels[at], n_finest, sums)
                for field in range(N_SUMS):
                    result[field, at, level] = sums[field]
    return result
