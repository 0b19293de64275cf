"""What all selectors share: checked inputs, reference partitions, the fitted answer."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from stablek.engines import Engine, Setting, engine_for
from stablek.paths import reference_partitions
from stablek.perturbations import PERTURBATIONS
from stablek.results import Partition
from stablek.similarity import SIMILARITIES
from stablek.validation import check_clusterer, check_data, find_param_name

__all__ = ["BaseSelector", "partitions_of", "warn_fewer_clusters"]

COUNT_NAMES = ("n_clusters", "n_components")


def _best_can_predict(selector: Any) -> bool:
    if not hasattr(selector, "best_estimator_"):
        # Before fit: say what the clusterer can do, so that pipelines know.
        clusterer = selector.clusterer
        return clusterer is None or hasattr(clusterer, "predict")
    return hasattr(selector.best_estimator_, "predict")


class BaseSelector(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Chooses a number of clusters; subclasses fill in ``fit``.

    A fitted selector has ``k_values_``, ``scores_``, ``n_clusters_``, ``labels_`` and
    ``best_estimator_``.
    """

    clusterer: Any
    param_name: str | None = None
    _engine: str = "auto"
    """Private: "generic" keeps the fast engines out, for comparing them."""

    supports_one_cluster: bool = False
    """Whether K = 1 can be the answer."""

    def _resolve_clusterer(self) -> tuple[Any, str, bool]:
        """Clusterer, the parameter to search, and whether it counts clusters."""
        clusterer = self._default_clusterer() if self.clusterer is None else self.clusterer
        check_clusterer(clusterer)
        name = find_param_name(clusterer, self.param_name)
        return clusterer, name, name.rpartition("__")[2] in COUNT_NAMES

    def _default_clusterer(self) -> Any:
        return KMeans(n_init=10)

    def _make_engine(self, clusterer: Any, param_name: str, counts: bool) -> Engine:
        engine = "generic" if self._engine == "generic" else "auto"
        return engine_for(clusterer, param_name, counts=counts, engine=engine)  # type: ignore[arg-type]

    @available_if(_best_can_predict)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> NDArray[np.intp]:
        """Label new points with the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        X = check_data(X, self, reset=False, min_samples=1)
        return np.asarray(self.best_estimator_.predict(X))


def partitions_of(
    engine: Engine,
    X: NDArray[np.float64],
    values: Sequence[Any],
    entropy: int,
    *,
    counts: bool = True,
    n_jobs: int | None = None,
) -> tuple[Partition, ...]:
    """Partition of X, or of any data, for every value, as the engine's clusterer finds it.

    With the entropy of `stablek.seeding.entropy_of(random_state)` these are the reference
    partitions that Stadion has for the same seed.
    """
    # Reference fits read the seed of the setting and nothing else of it.
    setting = Setting(
        entropy, PERTURBATIONS["uniform"], np.zeros(X.shape[1]), SIMILARITIES["ari"], "extend"
    )
    one = (Partition(1, np.zeros(len(X), dtype=np.intp)),) if counts and 1 in values else ()
    several = [value for value in values if not (counts and value == 1)]
    return one + reference_partitions(engine, X, several, setting, n_jobs=n_jobs)


def warn_fewer_clusters(asked: tuple[Any, ...], found: tuple[int, ...]) -> None:
    """Tell once which reference partitions have fewer clusters than asked for."""
    fewer = {k: n for k, n in zip(asked, found, strict=True) if n < k}
    if fewer:
        listed = ", ".join(f"{n} for K = {k}" for k, n in fewer.items())
        warnings.warn(
            f"The clusterer found fewer clusters than asked for: {listed}. "
            f"The results are those of the partitions that it found",
            UserWarning,
            stacklevel=3,
        )
