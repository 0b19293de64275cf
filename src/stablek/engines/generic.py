"""Any scikit-learn style clusterer, by cloning and fitting; the oracle of the fast engines."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from stablek import seeding
from stablek.engines.base import Setting
from stablek.engines.copies import relabeled_copies, similarities_of_copies
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
        The parameter to vary. It may be nested, as in ``kmeans__n_clusters``.
    values_are_k : bool
        Whether the values of that parameter are numbers of clusters. If not, and if the clusterer
        raises ValueError for a value, the partition for that value is left out.
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
        """Reference partitions; the models of clusters are kept only if ``keep_models``."""
        return [self._reference(X, request, entropy, keep_models) for request in requests]

    def similarities(
        self, X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
    ) -> list[Floats]:
        """Similarity of reference and perturbed labels, (n_partitions, n_epsilons) per group."""
        return [
            similarities_of_copies(self._labels, X, group, draw, epsilons, setting)
            for group in groups
        ]

    def relabel(
        self, X: Floats, partition: Partition, draw: int, epsilons: Floats, setting: Setting
    ) -> list[tuple[Ints | None, Ints]]:
        """Rows and labels of the perturbed copy of X, for each noise level."""
        return relabeled_copies(self._labels, X, partition, draw, epsilons, setting)

    def estimator(self, X: Floats, partition: Partition) -> Any:
        """The reference model."""
        return partition.model

    def predict(self, X: Floats, partition: Partition) -> Ints:
        """Labels of new points by the reference model."""
        return np.asarray(partition.model.predict(X), dtype=np.intp)

    def bic(self, X: Floats, partition: Partition) -> float | None:
        """Bayesian information criterion of the reference model; None if it has no ``bic``."""
        return float(partition.model.bic(X)) if hasattr(partition.model, "bic") else None

    def _reference(
        self, X: Floats, request: Request, entropy: int, keep_models: bool
    ) -> tuple[Partition, ...]:
        points = X if request.rows is None else X[request.rows]
        keep = keep_models or request.rows is None
        partitions = []
        for k in request.k_values:
            try:
                seed = seeding.seed(entropy, "reference", k)
                fitted = self._fit(points, k, seed, quiet=request.rows is not None)
            except ValueError:
                if self.values_are_k:
                    raise
                continue
            labels = _labels_of(fitted, points)
            partitions.append(Partition(k, labels, fitted if keep else None))
        return tuple(partitions)

    def _labels(
        self, noisy: Floats, partitions: Sequence[Partition], draw: int, setting: Setting
    ) -> list[Ints]:
        return [self._label(noisy, partition, draw, setting) for partition in partitions]

    def _label(self, noisy: Floats, partition: Partition, draw: int, setting: Setting) -> Ints:
        if setting.relabel != "refit":
            return np.asarray(partition.model.predict(noisy), dtype=np.intp)
        if self.values_are_k and partition.k >= len(noisy):
            return np.arange(len(noisy))  # a subsample can be smaller than K
        seed = seeding.seed(setting.entropy, "refit", partition.k, draw)
        return _labels_of(self._fit(noisy, partition.k, seed), noisy)

    def _fit(self, points: Floats, k: Any, seed: int, *, quiet: bool = True) -> Any:
        estimator = clone(self.clusterer).set_params(**{self.param_name: k})
        unseeded = {
            name: seed
            for name, current in estimator.get_params().items()
            if current is None and (name == "random_state" or name.endswith("__random_state"))
        }
        estimator.set_params(**unseeded)
        # Thousands of fits would repeat a warning, so only fits on X itself show theirs. That such
        # a fit finds too few clusters is reported once for all K. What will change in the
        # clusterer's own interface is no news about these data.
        quiet_about = (Warning,) if quiet else (ConvergenceWarning, FutureWarning)
        with ExitStack() as silenced:
            for category in quiet_about:
                silenced.enter_context(ignored(category))
            return estimator.fit(points)


def _labels_of(fitted: Any, points: Floats) -> Ints:
    final = fitted
    while hasattr(final, "steps"):  # a Pipeline keeps its labels in the last step
        final = final.steps[-1][1]
    if not hasattr(final, "labels_") and not hasattr(fitted, "predict"):
        raise TypeError(
            f"clusterer {type(final).__name__} has neither labels_ nor predict after fit; pass an "
            f"estimator that clusters"
        )
    labels = np.asarray(final.labels_ if hasattr(final, "labels_") else fitted.predict(points))
    if labels.shape != (len(points),):
        raise ValueError(
            f"clusterer {type(fitted).__name__} returned labels of shape {labels.shape} "
            f"for {len(points)} points"
        )
    return labels.astype(np.intp)
