"""Any scikit-learn style clusterer, by cloning and fitting; the oracle of the fast engines."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from stablek import seeding
from stablek.engines.base import Setting
from stablek.perturbations import Draw, perturb
from stablek.results import Group, Partition, Request
from stablek.warning import ignored

__all__ = ["GenericEngine"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class GenericEngine:
    """Engine for an estimator with ``fit`` and ``labels_`` or ``predict``.

    Parameters
    ----------
    clusterer : estimator
        Cloned before each use.
    param_name : str
        The parameter that takes the values; may be nested, as in ``kmeans__n_clusters``.
    values_are_k : bool
        Whether the values are numbers of clusters. If not, a value with which the clusterer
        raises ValueError on some points is left out of the partitions of those points.
    """

    prefer: Literal["threads", "processes"] = "processes"
    values_are_independent = True

    def __init__(self, clusterer: Any, param_name: str, *, values_are_k: bool = True) -> None:
        self.clusterer = clusterer
        self.param_name = param_name
        self.values_are_k = values_are_k

    def references(
        self, X: Floats, requests: Sequence[Request], entropy: int, *, keep_models: bool = True
    ) -> list[tuple[Partition, ...]]:
        """Reference partitions; models are kept where they will be asked for."""
        return [self._reference(X, request, entropy, keep_models) for request in requests]

    def similarities(
        self, X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
    ) -> list[Floats]:
        """Similarity of reference and perturbed labels, (n_partitions, n_epsilons) a group."""
        return [self._similarities(X, group, draw, epsilons, setting) for group in groups]

    def relabel(
        self, X: Floats, partition: Partition, draw: int, epsilons: Floats, setting: Setting
    ) -> list[tuple[Ints | None, Ints]]:
        """Rows and labels of the perturbed copy of X, for each noise level."""
        source = Draw(setting.entropy, draw, len(X))
        result = []
        for epsilon in epsilons:
            noisy, rows = perturb(X, epsilon, setting.scale, source, setting.perturbation)
            result.append((rows, self._label(noisy, partition, draw, setting)))
        return result

    def estimator(self, X: Floats, partition: Partition) -> Any:
        """The reference model."""
        return partition.model

    def bic(self, X: Floats, partition: Partition) -> float | None:
        """Bayesian information criterion of the reference model; None if it has no ``bic``."""
        return float(partition.model.bic(X)) if hasattr(partition.model, "bic") else None

    def _reference(
        self, X: Floats, request: Request, entropy: int, keep_models: bool
    ) -> tuple[Partition, ...]:
        points = X if request.rows is None else X[request.rows]
        keep = keep_models or request.rows is None
        partitions = []
        for value in request.k_values:
            try:
                seed = seeding.seed(entropy, "reference", value)
                fitted = self._fit(points, value, seed, quiet=request.rows is not None)
            except ValueError:
                if self.values_are_k:
                    raise
                continue
            labels = _labels_of(fitted, points)
            partitions.append(Partition(value, labels, fitted if keep else None))
        return tuple(partitions)

    def _similarities(
        self, X: Floats, group: Group, draw: int, epsilons: Floats, setting: Setting
    ) -> Floats:
        points = X if group.rows is None else X[group.rows]
        source = Draw(setting.entropy, draw, len(X), group.rows)
        result = np.empty((len(group.partitions), len(epsilons)))
        for e, epsilon in enumerate(epsilons):
            noisy, rows = perturb(points, epsilon, setting.scale, source, setting.perturbation)
            for i, partition in enumerate(group.partitions):
                labels = self._label(noisy, partition, draw, setting)
                result[i, e] = compare(partition.labels, labels, rows, setting)
        return result

    def _label(self, noisy: Floats, partition: Partition, draw: int, setting: Setting) -> Ints:
        if setting.relabel == "extend":
            return np.asarray(partition.model.predict(noisy), dtype=np.intp)
        if self.values_are_k and partition.k >= len(noisy):
            return np.arange(len(noisy))  # a subsample can be smaller than K
        seed = seeding.seed(setting.entropy, "refit", partition.k, draw)
        return _labels_of(self._fit(noisy, partition.k, seed), noisy)

    def _fit(self, points: Floats, value: Any, seed: int, *, quiet: bool = True) -> Any:
        estimator = clone(self.clusterer).set_params(**{self.param_name: value})
        unseeded = {
            name: seed
            for name, current in estimator.get_params().items()
            if current is None and (name == "random_state" or name.endswith("__random_state"))
        }
        estimator.set_params(**unseeded)
        # Thousands of fits would repeat a warning, so only fits on X itself show theirs. That such
        # a fit finds too few clusters is reported once for all K.
        with ignored(Warning if quiet else ConvergenceWarning):
            return estimator.fit(points)


def compare(reference: Ints, labels: Ints, rows: Ints | None, setting: Setting) -> float:
    """Similarity on the points that both label arrays have, each counted once."""
    if rows is not None:
        rows, first = np.unique(rows, return_index=True)
        reference, labels = reference[rows], labels[first]
    return setting.similarity(reference, labels)


def _labels_of(fitted: Any, points: Floats) -> Ints:
    final = fitted
    while hasattr(final, "steps"):  # a Pipeline keeps its labels in the last step
        final = final.steps[-1][1]
    labels = np.asarray(final.labels_ if hasattr(final, "labels_") else fitted.predict(points))
    if labels.shape != (len(points),):
        raise ValueError(
            f"clusterer {type(fitted).__name__} gave labels of shape {labels.shape} "
            f"for {len(points)} points"
        )
    return labels.astype(np.intp)
