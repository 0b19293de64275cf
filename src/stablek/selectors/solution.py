"""K-means solutions, for the methods that split clusters or compare models."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

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


def lloyd(X: Floats, starts: Sequence[Floats]) -> list[Solution]:
    """Solutions of K-means from given centers, one for each start."""
    from stablek.engines.kmeans import fits

    return [solution_of(X, labels) for labels in fits.lloyd(X, starts)]
