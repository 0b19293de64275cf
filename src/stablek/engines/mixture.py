"""Gaussian mixtures: expectation-maximization in kernels, extension by highest posterior."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from stablek import seeding
from stablek.engines.base import Setting
from stablek.engines.copies import compare
from stablek.engines.kmeans import KMeansEngine
from stablek.engines.mixture_wide import (
    Components,
    WideMixture,
    fit_wide,
    is_wide,
    wide_agreements,
)
from stablek.engines.packing import additive_noise, pack, unpack
from stablek.engines.subspace import Subspace, is_worthwhile
from stablek.mixture import (
    MAX_HIERARCHY,
    SINGULAR,
    KMeansGaussianMixture,
    SVDGaussianMixture,
    hierarchical_labels,
)
from stablek.perturbations import Draw, perturb
from stablek.results import Group, Partition, Request

__all__ = ["Mixture", "MixtureEngine", "unsupported"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_KINDS = ("full", "tied", "diag", "spherical")  # in the order of the kernels' codes


def unsupported(clusterer: Any) -> str | None:
    """Why the engine cannot stand for the clusterer; None when it can.

    Examples
    --------
    >>> unsupported(GaussianMixture(covariance_type="diag"))
    >>> unsupported(GaussianMixture(init_params="random"))
    "init_params='random' is not 'kmeans'"
    """
    if type(clusterer) not in (GaussianMixture, SVDGaussianMixture, KMeansGaussianMixture):
        return f"{type(clusterer).__name__} is not GaussianMixture"
    if clusterer.covariance_type not in _KINDS:
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


@dataclass(frozen=True)
class Mixture:
    """A fitted mixture, laid out as `stablek.kernels.mixture` tells; in a subspace, if it has one.

    Models of clusters, of which there are many, have no covariances: only users ask for those.
    """

    weights: Floats
    means: Floats
    covariances: Floats | None
    factors: Floats
    offsets: Floats
    lower_bound: float
    n_iter: int
    converged: bool
    subspace: Subspace | None = None


class MixtureEngine:
    """Engine for `sklearn.mixture.GaussianMixture` and the mixtures of `stablek.mixture`.

    Parameters
    ----------
    clusterer : GaussianMixture
        One for which `unsupported` has nothing to say.
    """

    prefer: Literal["threads", "processes"] = "threads"

    def __init__(self, clusterer: Any) -> None:
        self.clusterer = clusterer
        self.hierarchical = isinstance(clusterer, SVDGaussianMixture)
        self.values_are_independent = not self.hierarchical  # one hierarchy serves every value
        self._kmeans: KMeansEngine | None = None
        if isinstance(clusterer, KMeansGaussianMixture):
            kmeans = KMeans(n_init=clusterer.n_init, random_state=clusterer.random_state)
            self._kmeans = KMeansEngine(kmeans)
        self._kind = _KINDS.index(clusterer.covariance_type)

    def references(
        self, X: Floats, requests: Sequence[Request], entropy: int, *, keep_models: bool = True
    ) -> list[tuple[Partition, ...]]:
        """Reference partitions; the models are kept where they will be asked for."""
        result = []
        for request in requests:
            points = X if request.rows is None else X[request.rows]
            keep = keep_models or request.rows is None
            # Users see the models of X: these stay as they are.
            subspace = None if request.rows is None else self._subspace(points)
            fits = self._fit(points, subspace, request.k_values, entropy, "reference")
            partitions = []
            for value, (labels, model) in zip(request.k_values, fits, strict=True):
                if request.rows is not None and isinstance(model, Mixture):
                    model = replace(model, covariances=None)
                partitions.append(Partition(value, labels, model if keep else None))
            result.append(tuple(partitions))
        return result

    def similarities(
        self, X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
    ) -> list[Floats]:
        """Similarity of reference and perturbed labels, (n_partitions, n_epsilons) a group."""
        if setting.relabel == "extend" and setting.similarity.of_agreement is not None:
            noise = additive_noise(X, draw, setting)
            if noise is not None:
                return _extended(X, noise, groups, epsilons, setting)
        return [self._similarities(X, group, draw, epsilons, setting) for group in groups]

    def relabel(
        self, X: Floats, partition: Partition, draw: int, epsilons: Floats, setting: Setting
    ) -> list[tuple[Ints | None, Ints]]:
        """Rows and labels of the perturbed copy of X, for each noise level."""
        copies = self._copies(X, None, (partition,), draw, epsilons, setting)
        return [(rows, labels[0]) for rows, labels in copies]

    def estimator(self, X: Floats, partition: Partition) -> Any:
        """Fitted GaussianMixture with the parameters of the partition's model."""
        estimator = clone(self.clusterer).set_params(n_components=partition.k)
        model = partition.model
        if isinstance(model, WideMixture):
            model = _laid_out(model)
        estimator.n_features_in_ = X.shape[1]
        estimator.weights_, estimator.means_ = model.weights.copy(), model.means.copy()
        shaped = _SHAPES[estimator.covariance_type]
        if model.covariances is not None:
            estimator.covariances_ = shaped(model.covariances)
        estimator.precisions_cholesky_ = shaped(model.factors)
        if model.factors.shape[1] == 1:
            estimator.precisions_ = estimator.precisions_cholesky_**2
        else:
            estimator.precisions_ = shaped(model.factors @ model.factors.transpose(0, 2, 1))
        estimator.converged_, estimator.n_iter_ = model.converged, model.n_iter
        estimator.lower_bound_ = model.lower_bound
        return estimator

    def predict(self, X: Floats, partition: Partition) -> Ints:
        """Component of the highest posterior of each new point."""
        return _predict(partition.model, X)

    def bic(self, X: Floats, partition: Partition) -> float:
        """Bayesian information criterion of the partition's model of X."""
        if isinstance(partition.model, WideMixture):
            return partition.model.bic(X)
        return float(self.estimator(X, partition).bic(X))

    def _similarities(
        self, X: Floats, group: Group, draw: int, epsilons: Floats, setting: Setting
    ) -> Floats:
        """The way of one copy at a time, for any perturbation and any similarity."""
        result = np.empty((len(group.partitions), len(epsilons)))
        copies = self._copies(X, group.rows, group.partitions, draw, epsilons, setting)
        for e, (rows, labels) in enumerate(copies):
            for i, partition in enumerate(group.partitions):
                result[i, e] = compare(partition.labels, labels[i], rows, setting)
        return result

    def _copies(
        self,
        X: Floats,
        rows: Ints | None,
        partitions: Sequence[Partition],
        draw: int,
        epsilons: Floats,
        setting: Setting,
    ) -> list[tuple[Ints | None, list[Ints]]]:
        """Rows and, for each partition, labels of the perturbed points at each noise level."""
        points = X if rows is None else X[rows]
        source = Draw(setting.entropy, draw, len(X), rows)
        copies = []
        for epsilon in epsilons:
            noisy, kept = perturb(points, epsilon, setting.scale, source, setting.perturbation)
            if setting.relabel == "extend":
                noisy = np.asarray(noisy, dtype=np.float64)
                labels = [_predict(partition.model, noisy) for partition in partitions]
            else:
                values = [p.k for p in partitions if p.k < len(noisy)]
                subspace = self._subspace(noisy)
                fits = iter(self._fit(noisy, subspace, values, setting.entropy, "refit", draw))
                everyone = np.arange(len(noisy))  # a subsample can be smaller than K
                labels = [next(fits)[0] if p.k < len(noisy) else everyone for p in partitions]
            copies.append((kept, labels))
        return copies

    def _subspace(self, points: Floats) -> Subspace | None:
        """Subspace in which the points are better handled; None for the space they are in.

        Off its axes every full or tied covariance is ``reg_covar`` alone, and every mean the
        same: there the components do not differ, at any point. So the mixture of the coordinates
        stands for the mixture of the points, at a fraction of the cost.
        """
        correlated = self.clusterer.covariance_type in ("full", "tied")
        return Subspace.of(points) if correlated and is_worthwhile(*points.shape) else None

    def _fit(
        self,
        points: Floats,
        subspace: Subspace | None,
        values: Sequence[int],
        entropy: int,
        *what: Any,
    ) -> Sequence[tuple[Ints, Mixture | WideMixture]]:
        """Labels and model for each value; `what` is the role and, of a copy, the draw."""
        points = np.asarray(points, dtype=np.float64)
        n = len(points)
        for value in values:
            if value > n:
                raise ValueError(
                    f"Expected n_samples >= n_components but got n_components = {value}, "
                    f"n_samples = {n}"
                )
        if not values:
            return []
        by_feature = start_points = _by_feature(points, subspace)
        if self.hierarchical:
            chosen = self._choose(points, entropy, *what)
            starts = [labels[None] for labels in hierarchical_labels(chosen, values)]
            start_points = _by_feature(chosen, subspace)
        elif self._kmeans is not None:
            [found] = self._kmeans.references(points, [Request(None, tuple(values))], entropy)
            starts = [partition.labels[None].astype(np.intp) for partition in found]
        else:
            starts = [self._starts(by_feature, k, entropy, *what) for k in values]
        wide = self.clusterer.covariance_type == "full" and is_wide(len(by_feature))
        fit = self._fit_wide if wide else self._fit_narrow
        return fit(by_feature, values, start_points, starts, subspace)

    def _starts(self, points: Floats, k: int, entropy: int, role: str, *draw: int) -> Ints:
        """Labels to start from, one row for each different result of k-means."""
        from stablek.kernels.mixture_starts import kmeans_starts

        n, n_init = points.shape[1], int(self.clusterer.n_init)
        if k == 1:
            return np.zeros((1, n), dtype=np.intp)
        seed = self.clusterer.random_state
        if seed is None:
            seed = _seed(entropy, role, k, *draw)
        labels = np.empty((n_init, n), dtype=np.intp)
        return labels[: kmeans_starts(_rescaled(points), _chances(int(seed), n_init, k), labels)]

    def _fit_narrow(
        self,
        points: Floats,
        values: Sequence[int],
        start_points: Floats,
        starts: Sequence[Ints],
        subspace: Subspace | None = None,
    ) -> list[tuple[Ints, Mixture]]:
        """Labels and model for each value, from its starts, by the kernels."""
        from stablek.kernels.mixture import fit

        c, p = self.clusterer, points.shape[0]
        q = p if c.covariance_type in ("full", "tied") else 1
        rule = (self._kind, float(c.tol), float(c.reg_covar), int(c.max_iter))

        def from_labels(k: int, labels: Ints) -> Mixture | None:
            means, covariances = np.empty((k, p)), np.empty((k, q, p))
            model = (np.empty(k), means, covariances, np.empty((k, q, p)), np.empty(k))
            sound, bound, n_iter, converged = fit(points, *rule, start_points, labels, *model)
            return Mixture(*model, bound, n_iter, converged, subspace) if sound else None

        models = [_best(from_labels, k, each) for k, each in zip(values, starts, strict=True)]
        return [(_assign(model, points), model) for model in models]

    def _fit_wide(
        self,
        points: Floats,
        values: Sequence[int],
        start_points: Floats,
        starts: Sequence[Ints],
        subspace: Subspace | None = None,
    ) -> list[tuple[Ints, WideMixture]]:
        """Labels and model for each value, from its starts, by matrix products."""
        c = self.clusterer
        here = start = Components(np.ascontiguousarray(points.T), float(c.reg_covar))
        if start_points is not points:
            start = Components(np.ascontiguousarray(start_points.T), here.ridge)

        def from_labels(k: int, labels: Ints) -> WideMixture | None:
            return fit_wide(here, k, float(c.tol), int(c.max_iter), start, labels, subspace)

        models = [_best(from_labels, k, each) for k, each in zip(values, starts, strict=True)]
        return [(model.predict(here), model) for model in models]

    def _choose(self, points: Floats, entropy: int, *what: Any) -> Floats:
        """Points for the hierarchy, the same for every value: all, or some at random."""
        if len(points) <= MAX_HIERARCHY:
            return points
        seed = self.clusterer.random_state
        if seed is None:
            seed = seeding.seed(entropy, "hierarchy", *what)
        rows = np.random.RandomState(seed).choice(len(points), MAX_HIERARCHY, replace=False)
        return points[np.sort(rows)]


Model = TypeVar("Model", Mixture, WideMixture)


def _best(from_labels: Callable[[int, Ints], Model | None], k: int, starts: Ints) -> Model:
    """The likeliest mixture of k components from these starts."""
    best: Model | None = None
    for labels in starts:
        model = from_labels(k, labels)
        if model is None:
            raise ValueError(SINGULAR)
        if best is None or model.lower_bound > best.lower_bound:
            best = model
    assert best is not None
    return best


# Every cluster of every partition asks for the same few.
_seed = lru_cache(maxsize=1024)(seeding.seed)


@lru_cache(maxsize=256)
def _chances(seed: int, n_init: int, k: int) -> Floats:
    """Random numbers that decide the first centers of k-means."""
    n_trials = 2 + int(np.log(k))  # as scikit-learn
    return seeding.generator(seed, "starts").random((n_init, k, n_trials))


def _extended(
    X: Floats, noise: Floats, groups: Sequence[Group], epsilons: Floats, setting: Setting
) -> list[Floats]:
    """Similarities under `extend` of all groups and noise levels, in few kernel calls."""
    apart = {g for g, group in enumerate(groups) if group.partitions and _is_apart(group)}
    here = [g for g in range(len(groups)) if g not in apart]
    found = _counted(X, noise, [groups[g] for g in here], epsilons, setting)
    result = dict(zip(here, found, strict=True))
    for g in apart:
        rows, partitions = groups[g].rows, groups[g].partitions
        points, moves = (X, noise) if rows is None else (X[rows], noise[rows])
        subspace = partitions[0].model.subspace
        if subspace is not None:
            points, moves = subspace.coordinates(points), moves @ subspace.axes
        count = _counted_wide if isinstance(partitions[0].model, WideMixture) else _counted
        [result[g]] = count(points, moves, [Group(None, partitions)], epsilons, setting)
    return [result[g] for g in range(len(groups))]


def _is_apart(group: Group) -> bool:
    """Whether the group's models cannot be handled with those of other groups."""
    model = group.partitions[0].model
    return isinstance(model, WideMixture) or model.subspace is not None


def _counted_wide(
    X: Floats, noise: Floats, groups: Sequence[Group], epsilons: Floats, setting: Setting
) -> list[Floats]:
    """Similarities of a group of all rows, whose models are wide."""
    packed = pack(groups, len(X))
    labels = packed.labels.reshape(-1, len(X))
    models = [partition.model for partition in groups[0].partitions]
    sums = wide_agreements(models, X, noise, epsilons, [*labels], packed.n_labels.tolist())
    return unpack(sums, packed, setting)


def _counted(
    X: Floats, noise: Floats, groups: Sequence[Group], epsilons: Floats, setting: Setting
) -> list[Floats]:
    """Similarities of groups whose models are of the space of X, in one kernel call."""
    from stablek.kernels.mixture_extend import extend_agreements

    packed = pack(groups, len(X))
    models = [partition.model for group in groups for partition in group.partitions]
    if not models:
        return [np.empty((0, len(epsilons))) for _ in groups]
    sums = extend_agreements(
        np.ascontiguousarray(X),
        np.ascontiguousarray(noise),
        np.asarray(epsilons, dtype=np.float64),
        packed.rows,
        packed.row_starts,
        np.array([len(model.weights) for model in models], dtype=np.intp),
        packed.partition_starts,
        packed.labels,
        packed.label_starts,
        packed.n_labels,
        np.concatenate([model.means for model in models]),
        np.concatenate([model.factors for model in models]),
        np.concatenate([model.offsets for model in models]),
    )
    return unpack(sums, packed, setting)


def _by_feature(points: Floats, subspace: Subspace | None) -> Floats:
    """Points as the kernels take them: feature by feature, in the subspace if there is one."""
    return np.ascontiguousarray((points if subspace is None else subspace.coordinates(points)).T)


def _rescaled(points: Floats) -> Floats:
    """Points over a power of two, so that no squared distance overflows or vanishes."""
    largest = float(np.abs(points).max())
    exponent = int(np.frexp(largest)[1]) if np.isfinite(largest) else 0
    return np.ldexp(points, -exponent) if abs(exponent) > 100 else points


def _predict(model: Mixture | WideMixture, points: Floats) -> Ints:
    """Component of the highest posterior of each point."""
    return _assign(model, _by_feature(points, model.subspace))


def _assign(model: Mixture | WideMixture, points: Floats) -> Ints:
    """`_predict` of points that are feature by feature, in the model's subspace."""
    if isinstance(model, WideMixture):
        return model.predict(points.T)
    from stablek.kernels.mixture import assign

    labels = np.empty(points.shape[1], dtype=np.intp)
    assign(points, len(labels), model.means, model.factors, model.offsets, labels)
    return labels


def _laid_out(model: WideMixture) -> Mixture:
    """The model with whole matrices, as the kernels have it."""
    covariances = model.covariances()
    factors = np.stack([np.linalg.inv(np.linalg.cholesky(each)).T for each in covariances])
    end = (model.lower_bound, model.n_iter, model.converged)
    return Mixture(model.weights, model.means, covariances, factors, model.offsets, *end)


_SHAPES: dict[str, Any] = {
    "full": lambda matrices: matrices.copy(),
    "tied": lambda matrices: matrices[0].copy(),
    "diag": lambda matrices: matrices[:, 0].copy(),
    "spherical": lambda matrices: matrices[:, 0, 0].copy(),
}
"""From the kernels' arrays of shape (k, q, p) to scikit-learn's shape."""
