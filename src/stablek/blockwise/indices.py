"""Indices based on centroids, from sums over blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from stablek.blockwise.core import Blocks, Sums
from stablek.blockwise.measuring import BlockModels
from stablek.indices.centroid import CentroidSums

__all__ = ["centroid_sums"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


@dataclass
class _Clusters(Sums):
    """For each cluster of each partition: points, and their sum minus the mean of all rows."""

    sizes: Ints
    gaps: Floats


@dataclass
class _Distances(Sums):
    """For each cluster of each partition: squared distances, distances, and their ratios."""

    squares: Floats
    distances: Floats
    ratios: Floats


def centroid_sums(blocks: Blocks, models: BlockModels, mean: Floats) -> list[CentroidSums | None]:
    """What the indices need, for each partition of all rows of a layout: two passes.

    Parameters
    ----------
    blocks : Blocks
        All rows.
    models : BlockModels
        Refined.
    mean : ndarray of shape (n_features,)
        Of all rows.

    Returns
    -------
    list of CentroidSums or None
        None for a partition with fewer than two clusters.
    """
    starts, n_whole = models.layout.starts, len(models.layout.whole)
    clusters = blocks.reduce(partial(_clusters, models, mean))
    sizes = clusters.sizes
    centroids = mean + clusters.gaps / np.maximum(sizes, 1)[:, None]
    sums = blocks.reduce(partial(_distances, models, centroids, sizes))
    result: list[CentroidSums | None] = []
    for i in range(n_whole):
        own = np.arange(starts[i], starts[i + 1])
        own = own[sizes[own] > 0]
        scatter = float(sums.squares[own].sum())
        found = CentroidSums(
            centroids[own], sizes[own], mean, scatter, sums.distances[own], sums.ratios[own]
        )
        result.append(found if len(own) >= 2 else None)
    return result


def _clusters(models: BlockModels, mean: Floats, start: int, X: Floats) -> _Clusters:
    """Sums of one block."""
    starts, n_whole = models.layout.starts, len(models.layout.whole)
    n = int(starts[n_whole])
    sums, gaps = _Clusters(np.zeros(n, dtype=np.int64), np.zeros((n, X.shape[1]))), X - mean
    for i, codes in enumerate(models.labels(range(n_whole), start, X)):
        k, own = models.layout.whole[i], slice(starts[i], starts[i + 1])
        sums.sizes[own] = np.bincount(codes, minlength=k)
        for j in range(X.shape[1]):
            sums.gaps[own, j] = np.bincount(codes, gaps[:, j], k)
    return sums


def _distances(
    models: BlockModels, centroids: Floats, sizes: Ints, start: int, X: Floats
) -> _Distances:
    """Sums of one block."""
    starts, n_whole = models.layout.starts, len(models.layout.whole)
    sums = _Distances(*(np.zeros(len(centroids)) for _ in range(3)))
    for i, codes in enumerate(models.labels(range(n_whole), start, X)):
        k, places = models.layout.whole[i], slice(starts[i], starts[i + 1])
        distances = cdist(X, centroids[places])
        at = np.arange(len(X)), codes
        own = distances[at]
        distances[at] = np.inf
        distances[:, sizes[places] == 0] = np.inf
        other = distances.min(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where((own == 0.0) & (other == 0.0), 1.0, own / other)
        sums.squares[places] = np.bincount(codes, own**2, k)
        sums.distances[places] = np.bincount(codes, own, k)
        sums.ratios[places] = np.bincount(codes, ratio, k)
    return sums
