"""The dendrogram of one set of points, by the way that the caller chose.

Points are laid out feature by feature, so that loops over points are vector instructions.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, inner_exact, jit
from stablek.kernels.linkage.centroids import merge_centroids
from stablek.kernels.linkage.matrix import distances_of, merge_distances
from stablek.kernels.linkage.tree import grow_tree
from stablek.kernels.linkage.ways import CENTROIDS, TREE

__all__ = ["gather", "grow"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@inner_exact
def gather(X: Floats, noise: Floats, epsilon: float, rows: Ints, points: Floats) -> None:
    """Write some rows of ``X + epsilon * noise`` to ``points``, with the rounding of numpy.

    Parameters
    ----------
    X, noise : ndarray of shape (n_samples, p)
    epsilon : float
    rows : ndarray of shape (n,)
    points : ndarray of shape (p, n)
        Output.
    """
    for feature in range(X.shape[1]):
        for i in range(rows.shape[0]):
            row = rows[i]
            points[feature, i] = X[row, feature] + epsilon * noise[row, feature]


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
    _rescale(points)
    if way == TREE:
        grow_tree(points, first, second, height)
    elif way == CENTROIDS:
        merge_centroids(points, first, second, height)
    else:
        merge_distances(distances_of(points, linkage), linkage, first, second, height)


@inner
def _rescale(points: Floats) -> None:
    """Divide by a power of two, so that squares neither overflow nor vanish; this is exact."""
    largest = 0.0
    for feature in range(points.shape[0]):
        for i in range(points.shape[1]):
            largest = max(largest, abs(points[feature, i]))
    if not 0.0 < largest < np.inf:
        return
    # The factor itself can be out of range, so its two halves are applied in turn.
    exponent = np.floor(np.log2(largest))
    half = np.floor(exponent / 2.0)
    one, two = 2.0**-half, 2.0 ** (half - exponent)
    for feature in range(points.shape[0]):
        for i in range(points.shape[1]):
            points[feature, i] = points[feature, i] * one * two
