"""Partitions as the indices read them, and the sums that several indices share."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import check_array

from stablek.blocks import blocks

__all__ = [
    "Clusters",
    "centroids",
    "check_metric",
    "checked",
    "checked_points",
    "of_one",
    "refine",
    "scatter",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Clusters:
    """A partition with its labels replaced by 0, 1, ... and no cluster empty.

    Parameters
    ----------
    codes : ndarray of shape (n,)
        Cluster of each point.
    sizes : ndarray of shape (n_clusters,)
        Number of points of each cluster.
    """

    codes: Ints
    sizes: Ints

    @classmethod
    def of(cls, labels: ArrayLike) -> Clusters:
        """Clusters of any label array."""
        _, codes, sizes = np.unique(np.asarray(labels), return_inverse=True, return_counts=True)
        return cls(codes.astype(np.intp, copy=False), sizes.astype(np.intp, copy=False))

    @property
    def n_clusters(self) -> int:
        """Number of non-empty clusters."""
        return len(self.sizes)

    @property
    def starts(self) -> Ints:
        """Where each cluster starts, and the last one ends, among points sorted by cluster."""
        return np.concatenate([[0], np.cumsum(self.sizes)]).astype(np.intp)

    @property
    def judgeable(self) -> bool:
        """Whether indices are defined: at least two clusters, and fewer than points."""
        return 2 <= self.n_clusters < len(self.codes)


def checked_points(X: Any) -> Floats:
    """Points as a finite, C-contiguous float array."""
    return np.asarray(check_array(X, dtype=np.float64, order="C", input_name="X"))


def checked(X: Any, labels: ArrayLike) -> tuple[Floats, Clusters]:
    """Points and clusters; ValueError if an index is not defined for them."""
    points, array = checked_points(X), np.asarray(labels)
    if array.shape != (len(points),):
        raise ValueError(
            f"labels must have one entry for each of the {len(points)} rows of X, "
            f"got shape {array.shape}"
        )
    clusters = Clusters.of(array)
    if not clusters.judgeable:
        raise ValueError(
            f"labels must name at least 2 clusters and fewer than the {len(points)} points, "
            f"got {clusters.n_clusters}: no index is defined there"
        )
    return points, clusters


def of_one(
    index: Callable[..., Floats], X: Any, labels: ArrayLike, n_jobs: int | None, **options: Any
) -> float:
    """Value for one label array of an index that takes many partitions."""
    points, clusters = checked(X, labels)
    return float(index(points, [clusters], n_jobs, **options)[0])


def check_metric(metric: str) -> None:
    """Raise ValueError for an unknown metric."""
    if metric not in ("euclidean", "cosine"):
        raise ValueError(f"metric must be 'euclidean' or 'cosine', got {metric!r}")


def centroids(X: Floats, clusters: Clusters) -> Floats:
    """Mean of each cluster.

    Sums are relative to one of the cluster's own points. So the mean of coincident points is
    exactly their position, and their scatter is exactly zero.
    """
    anchors = np.empty(clusters.n_clusters, dtype=np.intp)
    anchors[clusters.codes[::-1]] = np.arange(len(X))[::-1]
    anchor = X[anchors]
    means = np.empty_like(anchor)
    for feature in range(X.shape[1]):
        shifted = X[:, feature] - anchor[clusters.codes, feature]
        means[:, feature] = np.bincount(clusters.codes, shifted, clusters.n_clusters)
    return np.asarray(anchor + means / clusters.sizes[:, None])


def scatter(X: Floats, clusters: Clusters, centers: Floats) -> float:
    """Sum of squared distances between points and the centroid of their cluster (WGSS)."""
    total = 0.0
    for rows in blocks(len(X)):
        total += float(np.square(X[rows] - centers[clusters.codes[rows]]).sum())
    return total


def refine(partitions: Sequence[Clusters]) -> Clusters:
    """The atoms: sets of points that no partition separates."""
    atoms = partitions[0]
    for clusters in partitions[1:]:
        atoms = Clusters.of(atoms.codes * clusters.n_clusters + clusters.codes)
    return atoms
