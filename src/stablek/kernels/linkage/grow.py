"""The dendrogram of one set of points, by the way that the caller chose."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import jit
from stablek.kernels.linkage.centroids import merge_centroids
from stablek.kernels.linkage.matrix import distances_of, merge_distances
from stablek.kernels.linkage.points import rescale
from stablek.kernels.linkage.tree import spanning_tree
from stablek.kernels.linkage.ways import CENTROIDS, TREE

__all__ = ["grow"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@jit
def grow(
    points: Floats, linkage: int, way: int, first: Ints, second: Ints, height: Floats
) -> None:
    """Grow the dendrogram of points.

    Parameters
    ----------
    points : ndarray of shape (p, n)
        Points, feature by feature; overwritten.
    linkage : int
        WARD, AVERAGE, COMPLETE or SINGLE.
    way : int
        From `choose_way`. One set of points has nothing to expand: EXPANSION is MATRIX here.
    first, second : ndarray of shape (n - 1,)
        Output: the points that each edge joins.
    height : ndarray of shape (n - 1,)
        Output: a number for each edge that grows with the height of its merge.
    """
    rescale(points)
    if way == TREE:
        spanning_tree(points, first, second, height)
    elif way == CENTROIDS:
        merge_centroids(points, first, second, height)
    else:
        merge_distances(distances_of(points, linkage), linkage, first, second, height)
