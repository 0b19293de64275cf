"""Cuts of a dendrogram that is kept as spanning edges.

Cutting it at k clusters is leaving out the k - 1 highest edges, and the dendrogram of a node is
the edges among its points.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit

__all__ = ["cut", "largest"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@inner
def largest(ks: Ints) -> int:
    """The largest of some numbers."""
    found: int = ks[0]
    for i in range(1, ks.shape[0]):
        found = max(found, ks[i])
    return found


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


@inner
def _number(parent: Ints, labels: Ints) -> None:
    """Label the sets of a union in order of first appearance."""
    n_labels = 0
    for i in range(parent.shape[0]):
        root = _root(parent, i)
        if root == i:
            labels[i] = n_labels
            n_labels += 1
        else:
            labels[i] = labels[root]


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
    n_finest: int = min(largest(ks), n)
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
    _number(parent, finest)
    for at in range(ks.shape[0]):
        joined = np.arange(n_finest)
        for rank in range(ks[at] - 1, n_finest - 1):
            _join(joined, finest[first[top[rank]]], finest[second[top[rank]]])
        _number(joined, coarser[at])
    return n_finest
