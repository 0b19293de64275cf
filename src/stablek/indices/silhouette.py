"""Silhouette: one pass over all distances serves every partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stablek import execution
from stablek.blocks import blocks
from stablek.indices.clusters import Clusters, check_metric, checked, of_one, refine
from stablek.spherical import unit_rows

__all__ = ["silhouette", "silhouette_samples"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Average = Literal["micro", "macro"]
Metric = Literal["euclidean", "cosine"]

_ROUNDING = 1e-14  # mean cosine distance of rows in one direction
_ROWS = 256  # points whose distance sums are in memory at a time


def silhouette(
    X: Any,
    labels: ArrayLike,
    *,
    average: Average = "micro",
    metric: Metric = "euclidean",
    n_jobs: int | None = None,
) -> float:
    """Silhouette; higher is better, between -1 and 1.

    For each point, a is the mean distance to the other points of its cluster, and b is the
    smallest mean distance to the points of another cluster. The silhouette of the point is
    (b - a) / max(a, b). It is 0 if the point is alone in its cluster.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    labels : array-like of shape (n_samples,)
        Cluster of each point. Each distinct value is a cluster, -1 too.
    average : {"micro", "macro"}
        "micro" is the mean over points, as in scikit-learn. "macro" is the mean over clusters of
        the mean of each cluster.
    metric : {"euclidean", "cosine"}
        "cosine" is 1 - cosine, for directions. Its time grows with N, not with N squared.
    n_jobs : int or None
        Number of threads, as in joblib.

    Examples
    --------
    >>> round(silhouette([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]), 6)
    0.888545
    """
    check_average(average)
    check_metric(metric)
    return of_one(silhouette_of, X, labels, n_jobs, average=average, metric=metric)


def silhouette_samples(
    X: Any, labels: ArrayLike, *, metric: Metric = "euclidean", n_jobs: int | None = None
) -> Floats:
    """Silhouette of each point.

    Parameters
    ----------
    X, labels, metric, n_jobs
        As in `silhouette`.

    Returns
    -------
    ndarray of shape (n_samples,)

    Examples
    --------
    >>> silhouette_samples([[0.0], [1.0], [9.0], [10.0]], [0, 0, 1, 1]).round(3)
    array([0.895, 0.882, 0.882, 0.895])
    """
    check_metric(metric)
    points, clusters = checked(X, labels)
    return np.asarray(silhouettes_of(points, [clusters], n_jobs, metric=metric)[0])


def check_average(average: str) -> None:
    """Raise ValueError for an unknown average."""
    if average not in ("micro", "macro"):
        raise ValueError(f"average must be 'micro' or 'macro', got {average!r}")


def silhouette_of(
    X: Floats,
    partitions: Sequence[Clusters],
    n_jobs: int | None,
    average: Average = "micro",
    metric: Metric = "euclidean",
) -> Floats:
    """Silhouette of every partition."""
    values = silhouettes_of(X, partitions, n_jobs, metric=metric)
    if average == "micro":
        return np.asarray(values.mean(axis=1))
    means = [
        np.bincount(clusters.codes, value) / clusters.sizes
        for clusters, value in zip(partitions, values, strict=True)
    ]
    return np.array([mean.mean() for mean in means])


def silhouettes_of(
    X: Floats,
    partitions: Sequence[Clusters],
    n_jobs: int | None,
    rows: Ints | None = None,
    metric: Metric = "euclidean",
) -> Floats:
    """Silhouette of all points, or of some rows, in every partition: (n_partitions, n_rows)."""
    from stablek.kernels.distances import distance_sums

    rows = np.arange(len(X)) if rows is None else rows
    if metric == "cosine":
        units = unit_rows(X)
        return np.stack([_cosine_silhouettes(units, clusters, rows) for clusters in partitions])
    atoms = refine(partitions)
    order = np.argsort(atoms.codes, kind="stable")
    members = order[atoms.starts[:-1]]  # one point of each atom
    ends = np.cumsum([clusters.n_clusters for clusters in partitions])
    codes = np.stack([clusters.codes[members] for clusters in partitions], axis=1)
    columns = codes + np.concatenate([[0], ends[:-1]])
    ordered = np.ascontiguousarray(X[order])

    def of_block(block: Ints) -> Floats:
        points = np.ascontiguousarray(X[block])
        sums = distance_sums(points, ordered, atoms.starts, columns, int(ends[-1]))
        shares = np.split(sums, ends[:-1], axis=1)
        return np.array(
            [
                _silhouettes(share, clusters.codes[block], clusters.sizes)
                for share, clusters in zip(shares, partitions, strict=True)
            ]
        )

    tasks = [(rows[part],) for part in blocks(len(rows), _ROWS)]
    return np.concatenate(execution.run(of_block, tasks, n_jobs=n_jobs, prefer="threads"), axis=1)


def _cosine_silhouettes(units: Floats, clusters: Clusters, rows: Ints) -> Floats:
    """Silhouettes by cosine distance: the sum of 1 - u . v over a cluster is linear in its sum."""
    totals = np.stack([np.bincount(clusters.codes, column) for column in units.T], axis=1)
    values = np.empty(len(rows))
    for part in blocks(len(rows)):
        sums = clusters.sizes - units[rows[part]] @ totals.T
        sums[sums < _ROUNDING * clusters.sizes] = 0.0
        values[part] = _silhouettes(sums, clusters.codes[rows[part]], clusters.sizes)
    return values


def _silhouettes(sums: Floats, codes: Ints, sizes: Ints) -> Floats:
    at = np.arange(len(codes)), codes
    size = sizes[codes]
    a = sums[at] / np.maximum(size - 1, 1)
    means = sums / sizes
    means[at] = np.inf
    b = means.min(axis=1)
    widest = np.maximum(a, b)
    with np.errstate(invalid="ignore"):
        return np.where((size == 1) | (widest == 0.0), 0.0, (b - a) / widest)
