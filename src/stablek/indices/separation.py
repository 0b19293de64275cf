"""Indices based on the closest points of different clusters.

The closest pair of points from different clusters is an edge of the minimum spanning tree. The
reason: the path in the tree between two points has no edge longer than their distance. So one
tree serves every partition.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stablek import execution
from stablek.indices.clusters import Clusters, centroids, check_metric, of_one, scatter
from stablek.spherical import unit_rows

__all__ = ["dunn", "xie_beni"]

Floats = NDArray[np.float64]


def dunn(
    X: Any, labels: ArrayLike, *, metric: str = "euclidean", n_jobs: int | None = None
) -> float:
    """Dunn index; higher is better.

    Smallest distance between points of different clusters, over the largest distance inside a
    cluster. It is 0 if points of different clusters coincide. Otherwise it is infinite if the
    points of every cluster coincide.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    labels : array-like of shape (n_samples,)
        Cluster of each point. Each distinct value is a cluster, -1 too.
    metric : {"euclidean", "cosine"}
        "cosine" is 1 - cosine, for directions.
    n_jobs : int or None
        Number of threads, as in joblib.

    Examples
    --------
    >>> dunn([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    8.0
    """
    check_metric(metric)
    return of_one(dunn_of, X, labels, n_jobs, metric=metric)


def xie_beni(X: Any, labels: ArrayLike, *, n_jobs: int | None = None) -> float:
    """Xie-Beni index; lower is better.

    Mean squared distance of points to their own centroid, over the smallest squared distance
    between points of different clusters. It is infinite if such points coincide.

    Parameters
    ----------
    X, labels, n_jobs
        As in `dunn`. Distances are Euclidean.

    Examples
    --------
    >>> xie_beni([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    0.00390625
    """
    return of_one(xie_beni_of, X, labels, n_jobs)


def dunn_of(
    X: Floats, partitions: Sequence[Clusters], n_jobs: int | None, metric: str = "euclidean"
) -> Floats:
    """Dunn index of every partition."""
    if metric == "cosine":  # half the squared distance of unit rows
        return np.square(dunn_of(unit_rows(X), partitions, n_jobs))
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
    from stablek.kernels.linkage.tree import spanning_tree

    first, second, height = spanning_tree(X.T.copy())
    gaps = np.empty(len(partitions))
    for number, clusters in enumerate(partitions):
        between = np.flatnonzero(clusters.codes[first] != clusters.codes[second])
        edge = between[np.argmin(height[between])]
        gaps[number] = np.linalg.norm(X[first[edge]] - X[second[edge]])
    return gaps


def _width(X: Floats, clusters: Clusters) -> float:
    """Largest distance between two points of one cluster."""
    from stablek.kernels.distances import diameter

    radius = np.linalg.norm(X - centroids(X, clusters)[clusters.codes], axis=1)
    order = np.lexsort((-radius, clusters.codes))
    members = (order[start:stop] for start, stop in pairwise(clusters.starts))
    return max(diameter(X[rows], radius[rows]) for rows in members)
