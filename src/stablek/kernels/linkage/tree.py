"""The minimum spanning tree: single linkage's dendrogram, and the closest points of clusters."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit

__all__ = ["grow_tree", "spanning_tree"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@jit
def spanning_tree(points: Floats) -> tuple[Ints, Ints, Floats]:
    """Return the first and second points of each edge, and its squared length; see `grow_tree`."""
    n_edges = points.shape[1] - 1
    first, second = np.empty(n_edges, np.intp), np.empty(n_edges, np.intp)
    height = np.empty(n_edges)
    grow_tree(points, first, second, height)
    return first, second, height


@inner
def grow_tree(points: Floats, first: Ints, second: Ints, height: Floats) -> None:
    """Euclidean minimum spanning tree by Prim's algorithm, in O(n) memory.

    Coincident points are joined by edges of length 0. If several points are equally near, the
    lowest joins the tree first.

    Parameters
    ----------
    points : ndarray of shape (p, n)
        Points, feature by feature; overwritten.
    first, second : ndarray of shape (n - 1,)
        Output: the points that each edge joins.
    height : ndarray of shape (n - 1,)
        Output: the squared length of each edge.
    """
    n_features, n = points.shape
    # The points outside the tree are packed: the last one takes the place of one that joins.
    outside = np.arange(n)
    beside = np.zeros(n, np.intp)  # the nearest point of the tree ...
    reach = np.full(n, np.inf)  # ... and the squared distance to it
    squared, latest = np.empty(n), np.empty(n_features)
    best, joined = 0, 0
    for edge in range(n):
        n_outside = n - 1 - edge
        joined = outside[best]
        if edge > 0:
            first[edge - 1], second[edge - 1] = beside[best], joined
            height[edge - 1] = reach[best]
        outside[best], beside[best] = outside[n_outside], beside[n_outside]
        reach[best] = reach[n_outside]
        for feature in range(n_features):
            latest[feature] = points[feature, best]
            points[feature, best] = points[feature, n_outside]
        for i in range(n_outside):
            squared[i] = 0.0
        for feature in range(n_features):
            position, column = latest[feature], points[feature]
            for i in range(n_outside):
                gap = column[i] - position
                squared[i] += gap * gap
        best = 0
        for i in range(n_outside):
            if squared[i] < reach[i]:
                reach[i], beside[i] = squared[i], joined
            if reach[i] < reach[best] or (reach[i] == reach[best] and outside[i] < outside[best]):
                best = i
