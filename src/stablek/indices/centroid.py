"""Indices based on centroids: one pass over the points for each partition."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import cdist, pdist, squareform

from stablek import execution
from stablek.blocks import blocks
from stablek.indices.clusters import Clusters, centroids, of_one, scatter

__all__ = [
    "CentroidSums",
    "calinski_harabasz",
    "davies_bouldin",
    "index_of_sums",
    "ray_turi",
    "wemmert_gancarski",
]

Floats = NDArray[np.float64]


def wemmert_gancarski(X: Any, labels: ArrayLike, *, n_jobs: int | None = None) -> float:
    """Wemmert-Gancarski index; higher is better, at most 1.

    For each point, take the ratio of its distance to its own centroid and its distance to the
    nearest other centroid. The score of a cluster is 1 minus the mean of these ratios, but at
    least 0. The index is the mean of the scores, weighted by cluster size.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    labels : array-like of shape (n_samples,)
        Cluster of each point. Each distinct value is a cluster, -1 too.
    n_jobs : int or None
        Has no effect: one pass is fast. Every index accepts it.

    Examples
    --------
    >>> round(wemmert_gancarski([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 6)
    0.944272
    """
    return of_one(wemmert_gancarski_of, X, labels, n_jobs)


def davies_bouldin(X: Any, labels: ArrayLike, *, n_jobs: int | None = None) -> float:
    """Davies-Bouldin index; lower is better.

    The spread of a cluster is the mean distance of its points to its centroid. The ratio of two
    clusters is the sum of their spreads over the distance of their centroids. The index is the
    mean over clusters of the largest ratio. Coincident centroids give infinity.

    Parameters
    ----------
    X, labels, n_jobs
        As in `wemmert_gancarski`.

    Examples
    --------
    >>> round(davies_bouldin([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 6)
    0.111111
    """
    return of_one(davies_bouldin_of, X, labels, n_jobs)


def ray_turi(X: Any, labels: ArrayLike, *, n_jobs: int | None = None) -> float:
    """Ray-Turi index; lower is better.

    Mean squared distance of points to their own centroid, over the smallest squared distance
    between two centroids. Coincident centroids give infinity. Some packages call this Xie-Beni.

    Parameters
    ----------
    X, labels, n_jobs
        As in `wemmert_gancarski`.

    Examples
    --------
    >>> round(ray_turi([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 6)
    0.003086
    """
    return of_one(ray_turi_of, X, labels, n_jobs)


def calinski_harabasz(X: Any, labels: ArrayLike, *, n_jobs: int | None = None) -> float:
    """Calinski-Harabasz index (variance ratio criterion); higher is better.

    Scatter of the centroids over scatter of the points around their centroids, each divided by
    its degrees of freedom. It is infinite without scatter inside clusters, and 0 if all points
    coincide.

    Parameters
    ----------
    X, labels, n_jobs
        As in `wemmert_gancarski`.

    Examples
    --------
    >>> calinski_harabasz([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1])
    162.0
    """
    return of_one(calinski_harabasz_of, X, labels, n_jobs)


def _each(index: Callable[[Floats, Clusters, Floats], float]) -> Callable[..., Floats]:
    """Turn an index of one partition into an index of many, computed in threads."""

    def of_partition(X: Floats, clusters: Clusters) -> float:
        with np.errstate(divide="ignore", invalid="ignore"):
            return index(X, clusters, centroids(X, clusters))

    def of_many(X: Floats, partitions: Sequence[Clusters], n_jobs: int | None) -> Floats:
        tasks = [(X, clusters) for clusters in partitions]
        return np.array(execution.run(of_partition, tasks, n_jobs=n_jobs, prefer="threads"), float)

    return of_many


@_each
def wemmert_gancarski_of(X: Floats, clusters: Clusters, centers: Floats) -> float:
    """Wemmert-Gancarski index of every partition."""
    ratio_sums = np.zeros(clusters.n_clusters)
    for rows in blocks(len(X)):
        distances, codes = cdist(X[rows], centers), clusters.codes[rows]
        at = np.arange(len(codes)), codes
        own = distances[at]
        distances[at] = np.inf
        other = distances.min(axis=1)
        ratio = np.where((own == 0.0) & (other == 0.0), 1.0, own / other)
        ratio_sums += np.bincount(codes, ratio, clusters.n_clusters)
    return _wemmert_gancarski(clusters.sizes, ratio_sums)


@_each
def davies_bouldin_of(X: Floats, clusters: Clusters, centers: Floats) -> float:
    """Davies-Bouldin index of every partition."""
    spread = np.zeros(clusters.n_clusters)
    for rows in blocks(len(X)):
        codes = clusters.codes[rows]
        own = np.linalg.norm(X[rows] - centers[codes], axis=1)
        spread += np.bincount(codes, own, clusters.n_clusters)
    return _davies_bouldin(spread / clusters.sizes, centers)


@_each
def ray_turi_of(X: Floats, clusters: Clusters, centers: Floats) -> float:
    """Ray-Turi index of every partition."""
    return _ray_turi(scatter(X, clusters, centers) / len(X), centers)


@_each
def calinski_harabasz_of(X: Floats, clusters: Clusters, centers: Floats) -> float:
    """Calinski-Harabasz index of every partition."""
    within = scatter(X, clusters, centers)
    return _calinski_harabasz(clusters.sizes, centers, X.mean(axis=0), within)


class CentroidSums(NamedTuple):
    """What the indices need to know of a partition without empty clusters.

    Parameters
    ----------
    centers : ndarray of shape (n_clusters, n_features)
        Means of the clusters.
    sizes : ndarray of shape (n_clusters,)
    mean : ndarray of shape (n_features,)
        Mean of all points.
    scatter : float
        Sum of squared distances of the points to their centers.
    distances, ratios : ndarray of shape (n_clusters,)
        Sums of the distances to the own center, and of these over those to the nearest other.
    """

    centers: Floats
    sizes: NDArray[Any]
    mean: Floats
    scatter: float
    distances: Floats
    ratios: Floats


def index_of_sums(name: str, sums: CentroidSums) -> float:
    """Index of that name of a partition whose points were summed up in blocks."""
    with np.errstate(divide="ignore", invalid="ignore"):
        if name == "wemmert_gancarski":
            return _wemmert_gancarski(sums.sizes, sums.ratios)
        if name == "davies_bouldin":
            return _davies_bouldin(sums.distances / sums.sizes, sums.centers)
        if name == "ray_turi":
            return _ray_turi(sums.scatter / int(sums.sizes.sum()), sums.centers)
        assert name == "calinski_harabasz"
        return _calinski_harabasz(sums.sizes, sums.centers, sums.mean, sums.scatter)


def _wemmert_gancarski(sizes: NDArray[Any], ratio_sums: Floats) -> float:
    return float(np.maximum(0.0, sizes - ratio_sums).sum() / int(sizes.sum()))


def _davies_bouldin(spread: Floats, centers: Floats) -> float:
    apart = squareform(pdist(centers))
    ratio = np.where(apart == 0.0, np.inf, (spread[:, None] + spread) / apart)
    np.fill_diagonal(ratio, 0.0)
    return float(ratio.max(axis=1).mean())


def _ray_turi(mean_square: float, centers: Floats) -> float:
    apart = float(pdist(centers, "sqeuclidean").min())
    return np.inf if apart == 0.0 else mean_square / apart


def _calinski_harabasz(sizes: NDArray[Any], centers: Floats, mean: Floats, within: float) -> float:
    n, n_clusters = int(sizes.sum()), len(sizes)
    between = float(sizes @ np.square(centers - mean).sum(axis=1))
    if within == 0.0:
        return 0.0 if (centers == centers[0]).all() else np.inf
    return (between / (n_clusters - 1)) / (within / (n - n_clusters))
