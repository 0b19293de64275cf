"""Indices based on centroids, from sums over blocks."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from stablek.blockwise.core import Blocks
from stablek.blockwise.kmeans import BlockKMeans
from stablek.indices.centroid import CentroidSums, index_of_sums

__all__ = ["block_indices"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


@dataclass
class _Sums:
    """For each cluster of each partition: squared distances, distances, and their ratios."""

    squares: Floats
    distances: Floats
    ratios: Floats

    def merge(self, other: _Sums) -> _Sums:
        self.squares += other.squares
        self.distances += other.distances
        self.ratios += other.ratios
        return self


def block_indices(blocks: Blocks, models: BlockKMeans, name: str, mean: Floats) -> Floats:
    """Index of the partition of all rows for each K of a layout: two passes.

    Parameters
    ----------
    blocks : Blocks
        All rows.
    models : BlockKMeans
        Refined.
    name : str
        Name of an index in `stablek.indices.INDICES` that centroids determine.
    mean : ndarray of shape (n_features,)
        Of all rows.
    """
    layout = models.layout
    moving = np.zeros(len(layout.k_values), dtype=bool)
    moving[: len(layout.whole)] = True
    moments = blocks.reduce(partial(models.step, moving))
    sizes = moments.counts
    centroids = models.centers + moments.gaps / np.maximum(sizes, 1)[:, None]
    sums = blocks.reduce(partial(_distances, models, centroids, sizes))
    values = np.full(len(layout.whole), np.nan)
    for i in range(len(layout.whole)):
        own = np.arange(layout.starts[i], layout.starts[i + 1])
        own = own[sizes[own] > 0]
        if len(own) >= 2:
            values[i] = index_of_sums(
                name,
                CentroidSums(
                    centroids[own],
                    sizes[own],
                    mean,
                    float(sums.squares[own].sum()),
                    sums.distances[own],
                    sums.ratios[own],
                ),
            )
    return values


def _distances(
    models: BlockKMeans, centroids: Floats, sizes: Ints, start: int, X: Floats
) -> _Sums:
    """Sums of one block."""
    layout = models.layout
    sums = _Sums(*(np.zeros(len(centroids)) for _ in range(3)))
    labels = models.labels(range(len(layout.whole)), start, X)
    for i, codes in enumerate(labels):
        first, last = layout.starts[i], layout.starts[i + 1]
        distances = cdist(X, centroids[first:last])
        at = np.arange(len(X)), codes
        own = distances[at]
        distances[at] = np.inf
        distances[:, sizes[first:last] == 0] = np.inf
        other = distances.min(axis=1)
        with np.errstate(divide="ignore", invalid="ignore"):
            ratio = np.where((own == 0.0) & (other == 0.0), 1.0, own / other)
        k = int(last - first)
        sums.squares[first:last] = np.bincount(codes, own**2, k)
        sums.distances[first:last] = np.bincount(codes, own, k)
        sums.ratios[first:last] = np.bincount(codes, ratio, k)
    return sums
