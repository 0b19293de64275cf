"""Spherical K-means through the kernels of K-means.

For points and centers of length 1 the squared distance is 2 - 2 cosine, so the nearest center is
the one with the largest cosine, and k-means++ by squared distances is k-means++ by cosine
distances. The kernels keep the centers on the sphere (`KMeansParameters.spherical`).

Noise is added to the unit rows, and the copy is normalized again. Refits do so when they load
their points. Labels by reference centers need not: a factor changes no largest cosine.

Fits of many rows start on a sample of them, in the kernels. Steps by matrix products on all rows
follow, in the precision of the rows: until X has converged, but few inside the clusters.
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
from stablek.engines.packing import scaled_noise
from stablek.kernels.kmeans.records import KMeansParameters
from stablek.results import Group, Partition, Request
from stablek.spherical import SphericalKMeans, lloyd, unit_rows
from stablek.validation import check_count, check_tol

__all__ = ["SphericalEngine", "starts_on_sample", "unsupported"]

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
    try:
        check_count("n_init", clusterer.n_init)
        check_count("max_iter", clusterer.max_iter)
        check_tol(clusterer.tol)
    except ValueError as error:
        return str(error)
    seed = clusterer.random_state
    if seed is not None and not isinstance(seed, numbers.Integral):
        return "random_state is not None or an int"
    return None


_SAMPLE_NUMBERS = 1 << 20
_LEAST_SAMPLE = 1 << 11  # rows
_STEPS = 10  # on all rows of a cluster, after the fit of the sample
_RUNS = 4  # that share passes over all rows


def _sample_size(n_features: int) -> int:
    return max(_LEAST_SAMPLE, _SAMPLE_NUMBERS // n_features)


def starts_on_sample(n: int, n_features: int, k: int) -> bool:
    """Whether a fit of n rows into k clusters starts on a sample of them.

    Examples
    --------
    >>> starts_on_sample(100_000, 384, 30), starts_on_sample(5_000, 384, 30)
    (True, False)
    """
    size = _sample_size(n_features)
    return 2 * size < n and 20 * k <= size and k < 128


def _sampled(X: Floats, request: Request) -> list[int]:
    """The values of a request whose fits start on a sample."""
    n = len(X) if request.rows is None else len(request.rows)
    return [k for k in request.k_values if starts_on_sample(n, X.shape[1], k)]


class SphericalEngine(KMeansEngine):
    """Engine for `stablek.SphericalKMeans`. X has unit rows, in single or double precision.

    The model of a partition is its centers, which have length 1.

    Parameters
    ----------
    clusterer : SphericalKMeans
        One for which `unsupported` returns None.
    """

    def references(
        self, X: Floats, requests: Sequence[Request], entropy: int, *, keep_models: bool = True
    ) -> list[tuple[Partition, ...]]:
        """Reference partitions, with their centers as models."""
        if X.dtype == np.float64 and not any(_sampled(X, request) for request in requests):
            return super().references(X, requests, entropy)
        return [self._reference(X, request, entropy) for request in requests]

    def _reference(self, X: Floats, request: Request, entropy: int) -> tuple[Partition, ...]:
        """Partitions of one set of rows. Each K has its own way, whatever K are beside it."""
        sampled = _sampled(X, request)
        found: dict[int, Partition] = {}
        if sampled:
            part = Request(request.rows, sampled)
            found = {p.k: p for p in self._from_sample(X, part, entropy)}
        others = [k for k in request.k_values if k not in found]
        if others:
            points = _double(X if request.rows is None else X[request.rows])
            [partitions] = super().references(points, [Request(None, others)], entropy)
            found |= {p.k: p for p in partitions}
        return tuple(found[k] for k in request.k_values)

    def _from_sample(self, X: Floats, request: Request, entropy: int) -> tuple[Partition, ...]:
        """Partitions of many rows: fits of a sample of them, refined on all."""
        from stablek.engines.kmeans.fits import nearest_labels

        rows = np.arange(len(X)) if request.rows is None else request.rows
        size = _sample_size(X.shape[1])
        rng = seeding.generator(entropy, "spherical sample", len(rows))
        chosen = np.sort(rng.choice(len(rows), size, replace=False))
        sample = _double(X[rows[chosen]])
        [found] = super().references(sample, [Request(None, request.k_values)], entropy)
        steps = int(self.clusterer.max_iter)
        if request.rows is not None:
            steps = min(steps, _STEPS)
        limit = float(self.clusterer.tol) / X.shape[1]
        centers: list[Floats] = []
        for few in blocks(len(found), _RUNS):  # whose labels are in memory at a time
            starts = [partition.model.astype(X.dtype) for partition in found[few]]
            runs = lloyd(X, starts, max_iter=steps, limit=limit, rows=request.rows)
            centers += [unit_rows(_double(run.centers)) for run in runs]
        small: Any = np.int8 if request.rows is not None else np.int32  # there are many clusters
        labels = [np.empty(len(rows), dtype=small) for _ in centers]
        for part in blocks(len(rows), rows_per_block(X.shape[1])):
            # The arithmetic of noisy copies, so that a copy without noise has the same labels.
            nearest = nearest_labels(_double(X[rows[part]]), centers)
            for own, values in zip(labels, nearest, strict=True):
                own[part] = values
        fitted = zip(request.k_values, labels, centers, strict=True)
        return tuple(Partition(k, own, model) for k, own, model in fitted)

    def similarities(
        self, X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
    ) -> list[Floats]:
        """Similarity of reference and perturbed labels, (n_partitions, n_epsilons) per group."""
        blockwise = setting.relabel != "refit" and setting.perturbation.is_additive
        return super().similarities(
            X if blockwise else _double(X), groups, draw, epsilons, setting
        )

    def relabel(
        self, X: Floats, partition: Partition, draw: int, epsilons: Floats, setting: Setting
    ) -> list[tuple[Ints | None, Ints]]:
        """Rows and labels of the perturbed copy of X, for each noise level."""
        if not setting.perturbation.is_additive or setting.relabel == "refit":
            return super().relabel(_double(X), partition, draw, epsilons, setting)
        small: Any = np.int8 if partition.k < 128 else np.int32  # there are many of them
        labels = [np.empty(len(X), dtype=small) for _ in epsilons]
        for rows in blocks(len(X), rows_per_block(X.shape[1])):
            # Products with the noisy rows are sums of products with the rows and with the noise.
            noise = scaled_noise(X, draw, rows.start, rows.stop, setting)
            products, slopes = _double(X[rows]) @ partition.model.T, noise @ partition.model.T
            for own, epsilon in zip(labels, epsilons, strict=True):
                own[rows] = (products + epsilon * slopes).argmax(axis=1)
        return [(None, own) for own in labels]

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


def _double(points: Floats) -> Floats:
    """Points in double precision, which the kernels are compiled for."""
    return np.ascontiguousarray(points, dtype=np.float64)


def _inertia(X: Floats, partition: Partition) -> float:
    """Sum of 1 - cosine with the centers, without a second copy of X."""
    total = 0.0
    for rows in blocks(len(X), rows_per_block(X.shape[1])):
        gaps = X[rows] - partition.model[partition.labels[rows]]
        total += 0.5 * float(np.einsum("ij,ij->", gaps, gaps))
    return total
