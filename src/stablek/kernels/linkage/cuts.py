"""Cuts of a dendrogram: the clusters that remain without its k - 1 highest edges."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit

__all__ = ["cut", "cut_labels", "largest"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@inner
def largest(k_values: Ints) -> int:
    """Largest of some numbers of clusters."""
    found: int = k_values[0]
    for i in range(1, k_values.shape[0]):
        found = max(found, k_values[i])
    return found


@inner
def _root(parent: Ints, i: int) -> int:
    while parent[i] != i:
        parent[i] = parent[parent[i]]
        i = parent[i]
    return i


@inner
def _join(parent: Ints, a: int, b: int) -> None:
    """Join two sets. The lowest member is the root, so that labels follow first appearance."""
    a, b = _root(parent, a), _root(parent, b)
    parent[max(a, b)] = min(a, b)


@inner
def _number(parent: Ints, labels: Ints) -> None:
    """Label the sets in order of first appearance."""
    n_labels = 0
    for i in range(parent.shape[0]):
        root = _root(parent, i)
        if root == i:
            labels[i] = n_labels
            n_labels += 1
        else:
            labels[i] = labels[root]


@jit
def cut(
    first: Ints, second: Ints, height: Floats, k_values: Ints, finest: Ints, coarser: Ints
) -> int:
    """Cut a dendrogram into each of several numbers of clusters.

    Parameters
    ----------
    first, second, height : ndarray of shape (n - 1,)
        Edges, from `grow`.
    k_values : ndarray of shape (n_k,)
        Numbers of clusters, from 1.
    finest : ndarray of shape (n,)
        Output: labels of the partition with the most clusters, in order of first appearance.
    coarser : ndarray of shape (n_k, min(max(k_values), n))
        Output: the label in each partition of every label of the finest one.

    Returns
    -------
    int
        Number of clusters of the finest partition.
    """
    n = finest.shape[0]
    n_finest: int = min(largest(k_values), n)
    # The edges to leave out, highest first. Of equal heights the later edge is the higher.
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
    for at in range(k_values.shape[0]):
        joined = np.arange(n_finest)
        for rank in range(k_values[at] - 1, n_finest - 1):
            _join(joined, finest[first[top[rank]]], finest[second[top[rank]]])
        _number(joined, coarser[at])
    return n_finest


def cut_labels(first: Ints, second: Ints, height: Floats, k_values: Sequence[int]) -> list[Ints]:
    """Labels of the cut into each number of clusters, in order of first appearance.

    Examples
    --------
    >>> ends, height = (np.array([0, 2, 0]), np.array([1, 3, 2])), np.array([1.0, 2.0, 5.0])
    >>> [labels.tolist() for labels in cut_labels(*ends, height, [2, 3])]
    [[0, 0, 1, 1], [0, 0, 1, 2]]
    """
    n = len(first) + 1
    finest = np.empty(n, dtype=np.intp)
    coarser = np.empty((len(k_values), min(max(k_values), n)), dtype=np.intp)
    cut(first, second, height, np.asarray(k_values, np.intp), finest, coarser)
    return list(coarser[:, finest])
