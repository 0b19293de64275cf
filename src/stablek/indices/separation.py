"""Indices that look for the closest points of different clusters.

The smallest distance between clusters is the length of an edge of the minimum spanning tree
(every edge on the tree's way between two points is at most as long as their distance). So one
tree serves every partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stablek import execution
from stablek.indices.clusters import Clusters, centroids, checked, scatter

__all__ = ["dunn", "xie_beni"]

Floats = NDArray[np.float64]


def dunn(X: Any, labels: ArrayLike, *, n_jobs: int | None = None) -> float:
    """Dunn index; higher is better.

    Smallest distance of two points of different clusters over largest distance inside one. It
    is 0 where points of different clusters coincide, otherwise infinite where the points of
    every cluster coincide.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    labels : array-like of shape (n_samples,)
        Cluster of each point; each distinct value is a cluster, -1 too.
    n_jobs : int or None
        Number of threads, as in joblib.

    Returns
    -------
    float

    Examples
    --------
    >>> dunn([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    8.0
    """
    points, clusters = checked(X, labels)
    return float(dunn_of(points, [clusters], n_jobs)[0])


def xie_beni(X: Any, labels: ArrayLike, *, n_jobs: int | None = None) -> float:
    """Xie-Beni index; lower is better.

    Mean squared distance to the own centroid over the smallest squared distance of two points
    of different clusters; infinite where such points coincide.

    Parameters
    ----------
    X, labels, n_jobs
        As in `dunn`.

    Returns
    -------
    float

    Examples
    --------
    >>> xie_beni([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    0.00390625
    """
    points, clusters = checked(X, labels)
    return float(xie_beni_of(points, [clusters], n_jobs)[0])


def dunn_of(X: Floats, partitions: Sequence[Clusters], n_jobs: int | None) -> Floats:
    """Dunn index of every partition."""
    tasks = [(X, clusters) for clusters in partitions]
    widths = np.array(execution.run(_width, tasks, n_jobs=n_jobs, prefer="threads"), float)
    gaps = _separations(X, partitions)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(gaps == 0.0, 0.0, gaps / widths)


def xie_beni_of(X: Floats, partitions: Sequence[Clusters], n_jobs: int | None) -> Floats:
    """Xie-Beni index of every partition."""
    spread = np.array([scatter(X, each, centroids(X, each)) for each in partitions]) / len(X)
    gaps = _separations(X, partitions)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(gaps == 0.0, np.inf, spread / np.square(gaps))


def _separations(X: Floats, partitions: Sequence[Clusters]) -> Floats:
    """Smallest distance between points of different clusters, for every partition."""
    from stablek.kernels.distances import squared_distance
    from stablek.kernels.linkage.tree import spanning_tree

    n_edges = len(X) - 1
    first, second = np.empty(n_edges, dtype=np.intp), np.empty(n_edges, dtype=np.intp)
    height = np.empty(n_edges)
    spanning_tree(X.T.copy(), first, second, height)
    gaps = np.empty(len(partitions))
    for number, clusters in enumerate(partitions):
        between = np.flatnonzero(clusters.codes[first] != clusters.codes[second])
        edge = between[np.argmin(height[between])]
        gaps[number] = np.sqrt(squared_distance(X[first[edge]], X[second[edge]]))
    return gaps


def _width(X: Floats, clusters: Clusters) -> float:
    """Largest distance inside a cluster."""
    from stablek.kernels.distances import diameter

    radius = np.linalg.norm(X - centroids(X, clusters)[clusters.codes], axis=1)
    order = np.lexsort((-radius, clusters.codes))
    stops = np.cumsum(clusters.sizes)
    widest = 0.0
    for size, stop in zip(clusters.sizes, stops, strict=True):
        rows = order[stop - size : stop]
        widest = max(widest, diameter(X[rows], radius[rows]))
    return widest
