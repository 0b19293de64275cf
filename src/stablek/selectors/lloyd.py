"""K-means from given centers, for the methods that split clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from stablek.blocks import blocks
from stablek.indices.clusters import Clusters, centroids, scatter

__all__ = ["Solution", "lloyd", "solution_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Solution(NamedTuple):
    """A K-means solution without empty clusters."""

    clusters: Clusters
    centers: Floats
    sse: float

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.centers)


def solution_of(X: Floats, labels: Ints) -> Solution:
    """Solution with those labels: centers and squared error."""
    clusters = Clusters.of(labels)
    centers = centroids(X, clusters)
    return Solution(clusters, centers, scatter(X, clusters, centers))


def lloyd(X: Floats, centers: Floats, max_iter: int = 300) -> Solution:
    """Assign and average in turn until no label changes; clusters that run empty vanish."""
    solution = solution_of(X, _nearest(X, centers))
    for _ in range(max_iter):
        labels = _nearest(X, solution.centers)
        if np.array_equal(labels, solution.clusters.codes):
            break
        solution = solution_of(X, labels)
    return solution


def _nearest(X: Floats, centers: Floats) -> Ints:
    nearest = [cdist(X[rows], centers, "sqeuclidean").argmin(axis=1) for rows in blocks(len(X))]
    return np.concatenate(nearest)
