"""K-means from given centres, for the methods that split clusters."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist

from stablek.indices.clusters import Clusters, blocks, centroids, scatter

__all__ = ["Solution", "lloyd", "solution_of"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Solution(NamedTuple):
    """A K-means solution without empty clusters."""

    clusters: Clusters
    centres: Floats
    sse: float

    @property
    def n_clusters(self) -> int:
        """Number of clusters."""
        return len(self.centres)


def solution_of(X: Floats, labels: Ints) -> Solution:
    """Solution with those labels: centres and squared error."""
    clusters = Clusters.of(labels)
    centres = centroids(X, clusters)
    return Solution(clusters, centres, scatter(X, clusters, centres))


def lloyd(X: Floats, centres: Floats, max_iter: int = 300) -> Solution:
    """Assign and average in turn until no label changes; clusters that run empty vanish."""
    solution = solution_of(X, _nearest(X, centres))
    for _ in range(max_iter):
        labels = _nearest(X, solution.centres)
        if np.array_equal(labels, solution.clusters.codes):
            break
        solution = solution_of(X, labels)
    return solution


def _nearest(X: Floats, centres: Floats) -> Ints:
    nearest = [cdist(X[rows], centres, "sqeuclidean").argmin(axis=1) for rows in blocks(len(X))]
    return np.concatenate(nearest)
