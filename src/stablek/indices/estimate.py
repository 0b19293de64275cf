"""Indices estimated on a sample of the points, with a standard error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stablek import seeding
from stablek.indices.clusters import Clusters, checked
from stablek.indices.registry import Index, checked_options, resolve_index
from stablek.indices.silhouette import silhouettes_of

__all__ = ["IndexEstimate", "estimate_index"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_GROUPS = 20  # of the jackknife


@dataclass(frozen=True)
class IndexEstimate:
    """An index estimated on a sample.

    Parameters
    ----------
    value : float
        The estimate.
    standard_error : float
        Its standard error over samples.
    sample_size : int
        Number of points drawn.
    """

    value: float
    standard_error: float
    sample_size: int

    def __float__(self) -> float:
        return self.value


def estimate_index(
    X: Any,
    labels: ArrayLike,
    index: str = "silhouette",
    *,
    sample_size: int = 2000,
    random_state: Any = None,
    n_jobs: int | None = None,
    **options: Any,
) -> IndexEstimate:
    """Estimate an index on a sample, drawn from each cluster in proportion to its size.

    The silhouette of each sampled point is exact: it uses the distances to all of X. So the
    estimate is unbiased, and its standard error is that of a stratified mean. All other indices
    are computed on the sample alone, with the standard error of a delete-a-group jackknife. Dunn
    and Xie-Beni depend on a few extreme pairs of points, which a sample often misses. Their
    estimates are too optimistic, and the standard error does not show it.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    labels : array-like of shape (n_samples,)
        Cluster of each point.
    index : str
        A name in `INDICES`.
    sample_size : int
        Number of points to draw. Each cluster gives at least two.
    random_state : None, int, numpy RandomState or Generator
        Seed of the sample.
    n_jobs : int or None
        Number of threads, as in joblib.
    **options
        Options of the index: ``average`` for the silhouette, ``metric`` for it and Dunn.

    Returns
    -------
    IndexEstimate

    Examples
    --------
    >>> X = np.concatenate([np.linspace(0, 1, 500), np.linspace(4, 5, 500)])[:, None]
    >>> estimate = estimate_index(X, X[:, 0] > 2, sample_size=100, random_state=0)
    >>> round(estimate.value, 2), estimate.standard_error < 0.01
    (0.92, True)
    """
    chosen = resolve_index(index)
    points, clusters = checked(X, labels)
    if not isinstance(sample_size, (int, np.integer)) or sample_size < 2:
        raise ValueError(f"sample_size must be an int of at least 2, got {sample_size!r}")
    options = checked_options(chosen, options)
    order, drawn = _sample(clusters, sample_size, random_state)
    if drawn.sum() == len(points):
        value = float(chosen.of_partitions(points, [clusters], n_jobs, **options)[0])
        return IndexEstimate(value, 0.0, len(points))
    if chosen.name == "silhouette":
        average = options.get("average", "micro")
        metric = options.get("metric", "euclidean")
        values = silhouettes_of(points, [clusters], n_jobs, np.sort(order), metric)[0]
        return _stratified_mean(values, clusters, drawn, np.sort(order), average)
    return _jackknife(chosen, points, clusters, order, n_jobs, options)


def _sample(clusters: Clusters, size: int, random_state: Any) -> tuple[Ints, Ints]:
    """Sampled rows, cluster by cluster, each in random order; and the number of each cluster."""
    share = np.round(clusters.sizes * min(1.0, size / len(clusters.codes))).astype(np.intp)
    drawn = np.minimum(np.maximum(share, 2), clusters.sizes)
    random = seeding.generator(seeding.entropy_of(random_state), "index sample")
    shuffled = random.permutation(len(clusters.codes))
    by_cluster = shuffled[np.argsort(clusters.codes[shuffled], kind="stable")]
    starts = clusters.starts[:-1]
    rows = [by_cluster[at : at + count] for at, count in zip(starts, drawn, strict=True)]
    return np.concatenate(rows), drawn


def _stratified_mean(
    values: Floats, clusters: Clusters, drawn: Ints, rows: Ints, average: str
) -> IndexEstimate:
    codes = clusters.codes[rows]
    means = np.bincount(codes, values) / drawn
    squares = np.bincount(codes, np.square(values - means[codes]))
    variances = squares / np.maximum(drawn - 1, 1) / drawn * (1.0 - drawn / clusters.sizes)
    shares = clusters.sizes / clusters.sizes.sum()
    weights = shares if average == "micro" else np.full(len(drawn), 1.0 / len(drawn))
    error = np.sqrt(np.square(weights) @ variances)
    return IndexEstimate(float(weights @ means), float(error), len(rows))


def _jackknife(
    index: Index,
    X: Floats,
    clusters: Clusters,
    rows: Ints,
    n_jobs: int | None,
    options: dict[str, Any],
) -> IndexEstimate:
    n, n_drawn = len(X), len(rows)

    def value(chosen: Ints) -> float:
        found = Clusters.of(clusters.codes[chosen])
        result = float(index.of_partitions(X[chosen], [found], n_jobs, **options)[0])
        if index.name == "calinski_harabasz":  # the only index that grows with n
            result *= (n - found.n_clusters) / (len(chosen) - found.n_clusters)
        return result

    # The rows are sorted by cluster, so dealing them out spreads each cluster over all groups.
    group = np.arange(n_drawn) % _GROUPS
    left = [value(rows[group != each]) for each in range(_GROUPS)]
    spread = np.square(np.array(left) - np.mean(left)).sum() * (_GROUPS - 1) / _GROUPS
    error = np.sqrt(spread * (1.0 - n_drawn / n))
    return IndexEstimate(value(rows), float(error), n_drawn)
