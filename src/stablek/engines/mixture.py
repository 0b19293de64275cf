"""Gaussian mixtures: EM from several starts, extension by highest posterior."""

from __future__ import annotations

import numbers
from collections.abc import Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.mixture import GaussianMixture

from stablek.blocks import rows_per_block
from stablek.engines.base import Setting
from stablek.engines.copies import compare
from stablek.engines.mixture_narrow import (
    KINDS,
    Mixture,
    fit_narrow,
    narrow_agreements,
    narrow_labels,
)
from stablek.engines.mixture_starts import Start, starts_for
from stablek.engines.mixture_wide import WideFitter, WideMixture, wide_agreements
from stablek.engines.packing import additive_noise, pack, unpack
from stablek.engines.subspace import Subspace
from stablek.kernels.mixture.ways import Way, way_of
from stablek.mixture import KMeansGaussianMixture, SVDGaussianMixture
from stablek.perturbations import Draw, perturb
from stablek.results import Group, Partition, Request

__all__ = ["MixtureEngine", "unsupported"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
Fit = tuple[Ints, Any]  # labels and a Mixture or WideMixture

_BATCH_NUMBERS = 1 << 23  # of points, labels and models that one call fits


def unsupported(clusterer: Any) -> str | None:
    """Why the engine cannot replace the clusterer; None if it can.

    Examples
    --------
    >>> unsupported(GaussianMixture(covariance_type="diag"))
    >>> unsupported(GaussianMixture(init_params="random"))
    "init_params='random' is not 'kmeans'"
    """
    if type(clusterer) not in (GaussianMixture, SVDGaussianMixture, KMeansGaussianMixture):
        return f"{type(clusterer).__name__} is not GaussianMixture"
    if clusterer.covariance_type not in KINDS:
        return f"covariance_type={clusterer.covariance_type!r} is not known"
    if type(clusterer) is GaussianMixture and clusterer.init_params != "kmeans":
        return f"init_params={clusterer.init_params!r} is not 'kmeans'"
    for name in ("weights_init", "means_init", "precisions_init"):
        if getattr(clusterer, name) is not None:
            return f"{name} is set"
    if clusterer.warm_start:
        return "warm_start is set"
    for name, kind, low in (
        ("max_iter", numbers.Integral, 1),
        ("n_init", numbers.Integral, 1),
        ("tol", numbers.Real, 0),
        ("reg_covar", numbers.Real, 0),
    ):
        value = getattr(clusterer, name)
        number = isinstance(value, kind) and not isinstance(value, bool)
        if not (number and float(value) >= low):
            return f"{name}={value!r} is out of range"
    seed = clusterer.random_state
    if seed is not None and not isinstance(seed, numbers.Integral):
        return f"random_state={seed!r} is not None or an int"
    return None


class MixtureEngine:
    """Engine for `sklearn.mixture.GaussianMixture` and the mixtures of `stablek.mixture`.

    `stablek.kernels.mixture` describes the ways to fit a mixture and when each is used.

    Parameters
    ----------
    clusterer : GaussianMixture
        A mixture for which `unsupported` returns None.
    """

    prefer: Literal["threads", "processes"] = "threads"

    def __init__(self, clusterer: Any) -> None:
        self.clusterer = clusterer
        # One hierarchy serves every k.
        self.values_are_independent = not isinstance(clusterer, SVDGaussianMixture)
        self._starts = starts_for(clusterer)

    def references(
        self, X: Floats, requests: Sequence[Request], entropy: int, *, keep_models: bool = True
    ) -> list[tuple[Partition, ...]]:
        """Reference partitions. The models of clusters are kept only if they are needed."""
        result = []
        found = self._fits(X, requests, entropy, "reference")
        for request, fits in zip(requests, found, strict=True):
            partitions = []
            for k, (labels, model) in zip(request.k_values, fits, strict=True):
                if request.rows is not None:  # there are many clusters
                    model = model.compact() if keep_models else None
                partitions.append(Partition(k, labels, model))
            result.append(tuple(partitions))
        return result

    def similarities(
        self, X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
    ) -> list[Floats]:
        """Similarity of reference and perturbed labels, (n_partitions, n_epsilons) per group."""
        if setting.relabel != "refit" and setting.similarity.of_agreement is not None:
            noise = additive_noise(X, draw, setting)
            if noise is not None:
                return _extended(X, noise, groups, epsilons, setting)
        # One copy at a time, for any perturbation and any similarity.
        copies = self._relabeled(X, groups, draw, epsilons, setting)
        result = []
        for group in groups:
            values = np.empty((len(group.partitions), len(epsilons)))
            for e in range(len(epsilons)):
                rows, found = next(copies)
                for i, partition in enumerate(group.partitions):
                    values[i, e] = compare(partition.labels, found[i], rows, setting)
            result.append(values)
        return result

    def relabel(
        self, X: Floats, partition: Partition, draw: int, epsilons: Floats, setting: Setting
    ) -> list[tuple[Ints | None, Ints]]:
        """Rows and labels of the perturbed copy of X, for each noise level."""
        if setting.relabel != "refit":
            noise = additive_noise(X, draw, setting)
            model, deviation = partition.model, setting.noise_deviation
            if noise is not None and isinstance(model, Mixture) and model.subspace is None:
                found = narrow_labels(model, X, noise, epsilons, partition.labels, deviation)
                return [(None, labels) for labels in found]
        copies = self._relabeled(X, [Group(None, (partition,))], draw, epsilons, setting)
        return [(rows, labels) for rows, [labels] in copies]

    def estimator(self, X: Floats, partition: Partition) -> Any:
        """Fitted GaussianMixture with the parameters of the partition's model."""
        estimator = clone(self.clusterer).set_params(n_components=partition.k)
        model = partition.model
        estimator.n_features_in_ = X.shape[1]
        estimator.weights_, estimator.means_ = model.weights.copy(), model.means.copy()
        shaped = _SHAPES[estimator.covariance_type]
        covariances, factors = model.covariances, model.factors
        if covariances is not None:
            estimator.covariances_ = shaped(covariances)
        estimator.precisions_cholesky_ = shaped(factors)
        if factors.shape[1] == 1:
            estimator.precisions_ = estimator.precisions_cholesky_**2
        else:
            estimator.precisions_ = shaped(factors @ factors.transpose(0, 2, 1))
        estimator.converged_, estimator.n_iter_ = model.converged, model.n_iter
        estimator.lower_bound_ = model.lower_bound
        return estimator

    def predict(self, X: Floats, partition: Partition) -> Ints:
        """Component of highest posterior of each new point."""
        return np.asarray(partition.model.predict(np.asarray(X, dtype=np.float64)))

    def bic(self, X: Floats, partition: Partition) -> float:
        """Bayesian information criterion of the partition's model of X."""
        if isinstance(partition.model, WideMixture):
            return partition.model.bic(X)
        return float(self.estimator(X, partition).bic(X))

    def _fits(
        self, X: Floats, requests: Sequence[Request], entropy: int, *what: Any
    ) -> Iterator[list[Fit]]:
        """Labels and model of each k, for each request.

        `what` is the role of the fits and, for perturbed copies, the draw.
        """
        X = np.asarray(X, dtype=np.float64)
        for request in requests:
            n = len(X) if request.rows is None else len(request.rows)
            for k in request.k_values:
                if k > n:
                    raise ValueError(
                        f"Expected n_samples >= n_components but got n_components = {k}, "
                        f"n_samples = {n}"
                    )
        asked = [request for request in requests if request.k_values]
        fits = (
            found
            for batch in self._request_batches(X, asked)
            for found in self._fit(X, batch, self._starts.of(X, batch, entropy, *what))
        )
        for request in requests:
            yield next(fits) if request.k_values else []

    def _request_batches(self, X: Floats, requests: Sequence[Request]) -> Iterator[list[Request]]:
        """Requests that are fitted together, in bounded memory."""
        p = X.shape[1]
        rank = p if self.clusterer.covariance_type in ("full", "tied") else 1
        batch: list[Request] = []
        total = 0
        for request in requests:
            n = len(X) if request.rows is None else len(request.rows)
            numbers = n * (p + len(request.k_values) * self._starts.n_starts)
            numbers += 2 * sum(request.k_values) * rank * p
            if batch and total + numbers > _BATCH_NUMBERS:
                yield batch
                batch, total = [], 0
            batch.append(request)
            total += numbers
        if batch:
            yield batch

    def _fit(
        self, X: Floats, requests: Sequence[Request], starts: Sequence[Start]
    ) -> Iterator[list[Fit]]:
        """Labels and model of each k of each request."""
        n = [len(X) if request.rows is None else len(request.rows) for request in requests]
        ways = [
            way_of(self.clusterer.covariance_type, size, X.shape[1], whole=request.rows is None)
            for request, size in zip(requests, n, strict=True)
        ]
        together = [i for i, way in enumerate(ways) if not (way.in_subspace or way.by_products)]
        fits: dict[int, list[Fit]] = {}
        if together:
            chosen = [requests[i] for i in together], [starts[i] for i in together]
            fits = dict(zip(together, fit_narrow(X, *chosen, self.clusterer), strict=True))
        for i, request in enumerate(requests):
            yield fits.pop(i) if i in fits else self._fit_alone(X, request, starts[i], ways[i])

    def _fit_alone(self, X: Floats, request: Request, start: Start, way: Way) -> list[Fit]:
        """Labels and model of each k of one request, in a subspace or by matrix products."""
        points = X if request.rows is None else X[request.rows]
        subspace = None
        if way.in_subspace:
            subspace = Subspace.of(points)
            points = subspace.coordinates(points)
        if not way.by_products:
            whole = Request(None, request.k_values)
            [fits] = fit_narrow(points, [whole], [start], self.clusterer, subspace)
            return list(fits)
        fitter = WideFitter(
            points, start.sample, self.clusterer, subspace, keeps=way.keeps_components
        )
        return [
            fitter.fit_likeliest(k, labels)
            for k, labels in zip(request.k_values, start.labels, strict=True)
        ]

    def _relabeled(
        self, X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
    ) -> Iterator[tuple[Ints | None, list[Ints]]]:
        """Rows and labels of perturbed points, by group and noise level.

        The labels are a list with one array for each partition of the group.
        """
        copies = _perturbed(X, groups, draw, epsilons, setting)
        if setting.relabel != "refit":
            for points, rows, epsilon, partitions in copies:
                deviation = setting.noise_deviation
                models = [next(p.model.at_levels([epsilon], deviation)) for p in partitions]
                yield rows, [model.predict(points) for model in models]
        else:
            for batch in _batches(copies):
                yield from self._refitted(batch, setting.entropy, draw)

    def _refitted(
        self, copies: Sequence[_Copy], entropy: int, draw: int
    ) -> Iterator[tuple[Ints | None, list[Ints]]]:
        """Rows and labels of copies, by mixtures that are fitted to each copy."""
        points = np.concatenate([copy.points for copy in copies])
        sizes = [len(copy.points) for copy in copies]
        requests = [
            Request(np.arange(end - n, end), tuple(p.k for p in copy.partitions if p.k < n))
            for copy, n, end in zip(copies, sizes, np.cumsum(sizes), strict=True)
        ]
        fits = self._fits(points, requests, entropy, "refit", draw)
        for copy, n, found in zip(copies, sizes, fits, strict=True):
            labels = iter([labels for labels, _ in found])
            alone = np.arange(n)  # a subsample can have fewer points than clusters
            yield copy.rows, [next(labels) if p.k < n else alone for p in copy.partitions]


class _Copy(NamedTuple):
    """Perturbed points of a group, the rows that were kept, the level, and the partitions."""

    points: Floats
    rows: Ints | None
    epsilon: float
    partitions: tuple[Partition, ...]


def _perturbed(
    X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
) -> Iterator[_Copy]:
    """Perturbed copies of each group, one for each noise level."""
    for group in groups:
        points = X if group.rows is None else X[group.rows]
        source = Draw(setting.entropy, draw, len(X), group.rows)
        for epsilon in epsilons:
            noisy, rows = perturb(points, epsilon, setting.scale, source, setting.perturbation)
            yield _Copy(
                np.asarray(noisy, dtype=np.float64), rows, float(epsilon), group.partitions
            )


def _batches(copies: Iterator[_Copy]) -> Iterator[list[_Copy]]:
    """Copies that are fitted together: with equal features, in bounded memory."""
    batch: list[_Copy] = []
    total = 0
    for copy in copies:
        n, n_features = copy.points.shape
        fits = total + n <= rows_per_block(n_features)
        if batch and not (fits and n_features == batch[0].points.shape[1]):
            yield batch
            batch, total = [], 0
        batch.append(copy)
        total += n
    if batch:
        yield batch


def _extended(
    X: Floats, noise: Floats, groups: Sequence[Group], epsilons: Floats, setting: Setting
) -> list[Floats]:
    """Similarities without refits of all groups and noise levels, in few kernel calls."""
    result: dict[int, Floats] = {}
    together = []
    for g, group in enumerate(groups):
        model = group.partitions[0].model if group.partitions else None
        if model is None or (isinstance(model, Mixture) and model.subspace is None):
            together.append(g)
            continue
        points, moves = (X, noise) if group.rows is None else (X[group.rows], noise[group.rows])
        if model.subspace is not None:
            points, moves = model.subspace.coordinates(points), moves @ model.subspace.axes
        own = [Group(None, group.partitions)]
        [result[g]] = _similarities(points, moves, own, epsilons, setting)
    found = _similarities(X, noise, [groups[g] for g in together], epsilons, setting)
    result.update(zip(together, found, strict=True))
    return [result[g] for g in range(len(groups))]


def _similarities(
    X: Floats, noise: Floats, groups: Sequence[Group], epsilons: Floats, setting: Setting
) -> list[Floats]:
    """Similarities of groups with models of one kind, in the space of X."""
    models = [partition.model for group in groups for partition in group.partitions]
    if not models:
        return [np.empty((0, len(epsilons))) for _ in groups]
    packed = pack(groups, len(X))
    agreements = wide_agreements if isinstance(models[0], WideMixture) else narrow_agreements
    sums = agreements(models, X, noise, epsilons, packed, setting.noise_deviation)
    return unpack(sums, packed, setting)


_SHAPES: dict[str, Any] = {
    "full": lambda matrices: matrices.copy(),
    "tied": lambda matrices: matrices[0].copy(),
    "diag": lambda matrices: matrices[:, 0].copy(),
    "spherical": lambda matrices: matrices[:, 0, 0].copy(),
}
"""From the kernels' arrays of shape (k, q, p) to scikit-learn's shape."""
