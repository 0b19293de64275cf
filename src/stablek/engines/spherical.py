"""Spherical K-means through the kernels of K-means.

For points and centers of length 1 the squared distance is 2 - 2 cosine, so the nearest center is
the one with the largest cosine, and k-means++ by squared distances is k-means++ by cosine
distances. The kernels keep the centers on the sphere (`KMeansParameters.spherical`).

Noise is added to the unit rows, and the copy is normalized again. Refits do so when they load
their points. Labels by reference centers need not: a factor changes no largest cosine.
"""

from __future__ import annotations

import numbers
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from stablek import seeding
from stablek.blocks import blocks, rows_per_block
from stablek.engines.base import Setting
from stablek.engines.kmeans.engine import KMeansEngine
from stablek.kernels.kmeans.records import KMeansParameters
from stablek.results import Partition
from stablek.spherical import SphericalKMeans, unit_rows

__all__ = ["SphericalEngine", "unsupported"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def unsupported(clusterer: Any) -> str | None:
    """Why the engine cannot replace the clusterer; None if it can.

    Examples
    --------
    >>> unsupported(SphericalKMeans())
    >>> unsupported(SphericalKMeans(random_state=np.random.RandomState(0)))
    'random_state is not None or an int'
    """
    if type(clusterer) is not SphericalKMeans:
        return f"{type(clusterer).__name__} is not SphericalKMeans"
    seed = clusterer.random_state
    if seed is not None and not isinstance(seed, numbers.Integral):
        return "random_state is not None or an int"
    return None


class SphericalEngine(KMeansEngine):
    """Engine for `stablek.SphericalKMeans`. X has unit rows.

    The model of a partition is its centers, which have length 1.

    Parameters
    ----------
    clusterer : SphericalKMeans
        One for which `unsupported` returns None.
    """

    def estimator(self, X: Floats, partition: Partition) -> Any:
        """A fitted SphericalKMeans that has the partition's labels and centers."""
        fitted = clone(self.clusterer).set_params(n_clusters=partition.k)
        fitted.cluster_centers_ = partition.model.copy()
        fitted.labels_ = partition.labels.astype(np.int32)
        fitted.inertia_ = _inertia(X, partition)
        fitted.n_iter_, fitted.n_features_in_ = 0, X.shape[1]
        return fitted

    def predict(self, X: Floats, partition: Partition) -> Ints:
        """Center with the largest cosine, for each new point."""
        return super().predict(unit_rows(X), partition)

    def _parameters(self, n_features: int, entropy: int, *what: Any) -> KMeansParameters:
        given = self.clusterer
        if given.random_state is not None:
            what = (*what, int(given.random_state))
        return KMeansParameters(
            seed=seeding.seed(entropy, *what),
            n_init=int(given.n_init),
            plus_plus=True,
            max_iter=int(given.max_iter),
            tol=float(given.tol) / n_features,
            spherical=True,
        )

    def _labels(
        self, noisy: Floats, partitions: Sequence[Partition], draw: int, setting: Setting
    ) -> list[Ints]:
        return super()._labels(unit_rows(noisy), partitions, draw, setting)


def _inertia(X: Floats, partition: Partition) -> float:
    """Sum of 1 - cosine with the centers, without a second copy of X."""
    total = 0.0
    for rows in blocks(len(X), rows_per_block(X.shape[1])):
        gaps = X[rows] - partition.model[partition.labels[rows]]
        total += 0.5 * float(np.einsum("ij,ij->", gaps, gaps))
    return total
