"""The Stadion criterion as a scikit-learn estimator."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stablek import aggregation as aggregating
from stablek import validation
from stablek.engines import Setting
from stablek.levels import auto_epsilons
from stablek.paths import Measurement, point_stability
from stablek.perturbations import Perturbation, resolve_perturbation
from stablek.results import Partition, Selection, StabilityPaths
from stablek.seeding import entropy_of
from stablek.selectors.base import BaseSelector, warn_fewer_clusters
from stablek.selectors.reference import Reference
from stablek.similarity import Similarity, resolve_similarity

__all__ = ["Stadion", "check_levels", "make_setting", "measure_paths"]

Floats = NDArray[np.float64]


class Stadion(BaseSelector):
    """Choose the number of clusters by the stability trade-off of Mourer et al. (2023).

    A good clustering is stable under small noise (between stability), and none of its clusters
    holds a stable partition inside (within stability). Stadion is the difference of the two,
    followed along growing noise. It can answer K = 1: no cluster structure.

    Parameters
    ----------
    clusterer : estimator, default=None
        Any scikit-learn style clusterer with ``fit`` and ``labels_`` or ``predict``; a Pipeline
        that ends in one. None is ``KMeans(n_init=10)``.
    k_range : sequence of int, default=1 to 10
        Candidate numbers of clusters, ascending. With ``param_name``, any values.
    omega : sequence of int, default=2 to 5
        Numbers of clusters with which each cluster is clustered again.
    relabel : {"auto", "refit", "extend"}, default="auto"
        How a perturbed copy gets its labels. "refit" runs the clusterer again (the paper's
        standard version); "extend" asks the reference model to label the noisy points (the
        paper's extended version), which is much cheaper. "auto" extends where the clusterer
        and the perturbation allow it.
    perturbation : str or callable, default="uniform"
        A name from `stablek.perturbations.PERTURBATIONS`, or ``f(X, epsilon, rng)`` that
        returns a perturbed copy of X.
    n_perturbations : int, default=10
        Perturbed copies for each noise level (the paper's D).
    epsilons : "auto" or sequence of float, default="auto"
        Noise levels, in standard deviations of each feature. "auto" starts with
        ``n_epsilons`` levels from 0 to the square root of the number of features, and extends
        or refines them until the crossing lies in the upper half.
    n_epsilons : int, default=10
        Number of noise levels of "auto", epsilon 0 included.
    noise_scale : {"feature", "global"}, default="feature"
        Noise in units of each feature's own standard deviation, or of one pooled value.
    similarity : str or callable, default="ari"
        A name from `stablek.similarity.SIMILARITIES`, or ``f(labels, perturbed_labels)``.
    aggregation : {"max", "mean"} or callable, default="max"
        From a path to a score.
    until_crossing : bool, default=True
        Only noise levels up to the crossing count: beyond it K = 1 is better than all others.
    param_name : str, default=None
        The clusterer's parameter that takes the values of ``k_range``; None finds
        ``n_clusters`` or ``n_components``.
    random_state : int, RandomState, Generator or None, default=None
        Seed. The same seed gives the same bits for any ``n_jobs`` and backend. It also seeds
        the clusterer, unless that has a ``random_state`` of its own.
    n_jobs : int, default=None
        Workers, as in scikit-learn.
    verbose : int, default=0
        1 shows a progress bar.

    Attributes
    ----------
    n_clusters_ : int
        The answer.
    labels_ : ndarray of shape (n_samples,)
        The chosen partition.
    best_estimator_ : estimator or None
        The clusterer fitted with the chosen value. None if values are not numbers of clusters
        and the one-cluster partition won.
    best_value_ : object
        The chosen value of ``k_range``.
    k_values_ : ndarray of shape (n_k,)
        The candidates.
    epsilons_ : ndarray of shape (n_epsilons,)
        The noise levels.
    between_stability_, within_stability_, stadion_paths_ : ndarray of shape (n_k, n_epsilons)
        Means over the draws.
    scores_ : ndarray of shape (n_k,)
        The aggregated paths; higher is better.
    crossing_epsilon_ : float
        The last positive noise level at which some K >= 2 beats K = 1; 0 if there is none.
    reference_labels_ : ndarray of shape (n_k, n_samples)
        The clusterer's labels on X, for each candidate.
    paths_ : StabilityPaths
        Everything that was measured, per draw and re-clustering size, with standard errors.
    selection_frequency_ : ndarray of shape (n_k,)
        How often each candidate wins when the draws are resampled.
    cluster_stability_ : list of ClusterStability
        For each cluster of the chosen partition: label, size, within stability, and the
        re-clustering size that is stable inside, if any.
    point_stability_ : ndarray of shape (n_samples,)
        How often each point keeps its cluster, over the draws and noise levels that count.
    relabel_ : {"refit", "extend"}
        The mode that was used.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only when X has column names that are all strings.

    References
    ----------
    Mourer, Forest, Lebbah, Azzag, Lacaille (2023). Selecting the number of clusters K with a
    stability trade-off: an internal validation criterion.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from stablek import Stadion
    >>> X, _ = make_blobs(300, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
    >>> Stadion(k_range=range(1, 7), random_state=0).fit(X).n_clusters_
    3
    """

    supports_one_cluster = True

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[Any] = tuple(range(1, 11)),
        omega: Sequence[Any] = tuple(range(2, 6)),
        relabel: Literal["auto", "refit", "extend"] = "auto",
        perturbation: str | Callable[..., Any] = "uniform",
        n_perturbations: int = 10,
        epsilons: Any = "auto",
        n_epsilons: int = 10,
        noise_scale: Literal["feature", "global"] = "feature",
        similarity: str | Callable[..., float] = "ari",
        aggregation: str | Callable[[Floats], float] = "max",
        until_crossing: bool = True,
        param_name: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.clusterer = clusterer
        self.k_range = k_range
        self.omega = omega
        self.relabel = relabel
        self.perturbation = perturbation
        self.n_perturbations = n_perturbations
        self.epsilons = epsilons
        self.n_epsilons = n_epsilons
        self.noise_scale = noise_scale
        self.similarity = similarity
        self.aggregation = aggregation
        self.until_crossing = until_crossing
        self.param_name = param_name
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, reference: Reference) -> None:
        partitions, setting, self.paths_ = self._measure(reference)
        self._entropy = reference.entropy
        self._store(self._select())
        self._store_partition(reference, partitions, setting)

    def _measure(
        self, reference: Reference
    ) -> tuple[Sequence[Partition], Setting, StabilityPaths]:
        """Reference partitions, K = 1 first, and paths; the clusters' own are let go of."""
        X, values_are_k = reference.X, reference.values_are_k
        aggregating.resolve_aggregation(self.aggregation)
        validation.check_flag("until_crossing", self.until_crossing)
        parameters = {**self.get_params(deep=False), "random_state": reference.entropy}
        setting = make_setting(X, reference.clusterer, parameters)
        epsilons = check_levels(self.epsilons, self.n_epsilons, setting.perturbation)
        n_draws = validation.check_count("n_perturbations", self.n_perturbations)
        omega = validation.check_omega(self.omega, values_are_k=values_are_k)
        progress = bool(validation.check_count("verbose", self.verbose, 0))
        candidates = validation.check_k_range(self.k_range, len(X), values_are_k=values_are_k)
        if values_are_k:
            validation.check_distinct(X, candidates[-1])

        measurement = Measurement(
            reference.engine,
            X,
            reference.partitions(candidates),
            omega,
            n_draws,
            setting,
            values_are_k=values_are_k,
            n_jobs=self.n_jobs,
            progress=progress,
        )
        if values_are_k:
            asked = tuple(p.k for p in measurement.partitions[1:])
            warn_fewer_clusters(asked, tuple(len(m) for m in measurement.members[1:]))
        self.relabel_ = setting.relabel
        paths = measure_paths(measurement, epsilons, self.n_epsilons)
        return measurement.partitions, setting, paths

    def _select(self, **changes: Any) -> Selection:
        options = {"aggregation": self.aggregation, "until_crossing": self.until_crossing}
        values_are_k = self.paths_.k_values[0] == 1
        candidates = tuple(self.k_range) if values_are_k else tuple(self.paths_.k_values[1:])
        candidates = tuple(v.item() if isinstance(v, np.generic) else v for v in candidates)
        return aggregating.select(
            self.paths_, candidates, entropy=self._entropy, **{**options, **changes}
        )

    def _store(self, selection: Selection) -> None:
        self.k_values_ = np.array(selection.k_values)
        self.n_clusters_ = selection.n_clusters
        self.best_value_ = selection.best_value
        self.epsilons_ = selection.epsilons
        self.between_stability_ = selection.between_stability
        self.within_stability_ = selection.within_stability
        self.stadion_paths_ = selection.stadion_paths
        self.scores_ = selection.scores
        self.crossing_epsilon_ = selection.crossing_epsilon
        self.selection_frequency_ = selection.selection_frequency
        self.cluster_stability_ = aggregating.cluster_stability(self.paths_, selection)

    def _store_partition(
        self, reference: Reference, partitions: Sequence[Partition], setting: Setting
    ) -> None:
        partition_of = {p.k: p for p in partitions}
        labels = [partition_of[k].labels for k in self.k_values_.tolist()]
        self.reference_labels_ = np.stack(labels)
        best: Partition = partition_of[self.best_value_]
        self.labels_ = best.labels.copy()
        if best is partitions[0]:
            self.best_estimator_ = reference.estimator(1) if reference.values_are_k else None
            self.point_stability_ = np.ones(len(reference.X))
            return
        self.best_estimator_ = reference.estimator(self.best_value_)
        self.point_stability_ = point_stability(
            reference.engine,
            reference.X,
            best,
            self.paths_.n_draws,
            self.epsilons_[self._counted()],
            setting,
            n_jobs=self.n_jobs,
        )

    def _counted(self) -> NDArray[np.bool_]:
        """Which noise levels the scores are made of."""
        return aggregating.counted_levels(
            self.epsilons_, self.crossing_epsilon_, until_crossing=self.until_crossing
        )

    def reselect(
        self,
        *,
        aggregation: str | Callable[[Floats], float] | None = None,
        n_perturbations: int | None = None,
        omega: Sequence[Any] | None = None,
        until_crossing: bool | None = None,
    ) -> Selection:
        """Answer with other settings from what was computed; the estimator stays as it is.

        Parameters
        ----------
        aggregation : {"max", "mean"} or callable, default=None
        n_perturbations : int, default=None
            Use the first draws only.
        omega : sequence, default=None
            Use some of the re-clustering sizes only.
        until_crossing : bool, default=None

        Returns
        -------
        Selection
            ``n_clusters``, ``scores``, the paths and the rest. None keeps a setting.

        Examples
        --------
        >>> from sklearn.datasets import make_blobs
        >>> X, _ = make_blobs(300, centers=[[0, 0], [6, 0], [0, 6]], random_state=0)
        >>> stadion = Stadion(k_range=range(1, 7), random_state=0).fit(X)
        >>> stadion.reselect(aggregation="mean", omega=[2, 3]).n_clusters
        3
        """
        check_is_fitted(self)
        changes: dict[str, Any] = {"n_perturbations": n_perturbations}
        if n_perturbations is not None:
            validation.check_count("n_perturbations", n_perturbations)
        if aggregation is not None:
            changes["aggregation"] = aggregation
        if until_crossing is not None:
            changes["until_crossing"] = validation.check_flag("until_crossing", until_crossing)
        if omega is not None:
            changes["omega"] = tuple(omega)
        return self._select(**changes)

    def results_frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """All paths as a tidy data frame: one row for each K and noise level.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
            Columns k, epsilon, between, within, stadion, their standard errors, score,
            counted (whether the level counts for the score) and selected.
        """
        check_is_fitted(self)
        validation.check_choice("library", library, ["pandas", "polars"])
        n_k, n_epsilons = self.stadion_paths_.shape
        path_of = {value: path for path, value in enumerate(self.paths_.k_values)}
        index = [path_of[k] for k in self.k_values_.tolist()]
        columns = {
            "k": np.repeat(self.k_values_, n_epsilons),
            "epsilon": np.tile(self.epsilons_, n_k),
            "between": self.between_stability_.ravel(),
            "between_se": self.paths_.between_standard_error[index].ravel(),
            "within": self.within_stability_.ravel(),
            "within_se": self.paths_.within_standard_error[index].ravel(),
            "stadion": self.stadion_paths_.ravel(),
            "stadion_se": self.paths_.stadion_standard_error[index].ravel(),
            "score": np.repeat(self.scores_, n_epsilons),
            "counted": np.tile(self._counted(), n_k),
            "selected": np.repeat(self.k_values_ == self.best_value_, n_epsilons),
        }
        if library == "pandas":
            import pandas as pd

            return pd.DataFrame(columns)
        import polars as pl

        return pl.DataFrame(columns)


def make_setting(X: Floats, clusterer: Any, parameters: dict[str, Any]) -> Setting:
    """What holds for the whole run, from checked parameters."""
    perturbation = resolve_perturbation(parameters["perturbation"])
    return Setting(
        entropy=entropy_of(parameters["random_state"]),
        perturbation=perturbation,
        scale=noise_scale(X, parameters["noise_scale"]),
        similarity=_usable(resolve_similarity(parameters["similarity"])),
        relabel=_resolve_relabel(parameters["relabel"], clusterer, perturbation),
    )


def check_levels(epsilons: Any, n_epsilons: Any, perturbation: Perturbation) -> Floats | None:
    """Explicit noise levels, those of a kind that has a fixed range, or None for a search."""
    n_epsilons = validation.check_count("n_epsilons", n_epsilons, 2)
    explicit = validation.check_epsilons(epsilons, perturbation.levels)
    if explicit is not None or perturbation.levels == "amplitude":
        return explicit
    if perturbation.levels == "share":
        return np.linspace(0.0, 0.9, n_epsilons)
    return np.ones(1)


def measure_paths(
    measurement: Measurement, epsilons: Floats | None, n_epsilons: int
) -> StabilityPaths:
    """Paths on these noise levels; None searches for levels that show the crossing."""
    if epsilons is not None:
        return measurement.measure(epsilons)
    start = float(np.sqrt(measurement.X.shape[1]))
    return auto_epsilons(measurement, n_epsilons, start)


def noise_scale(X: Floats, kind: str) -> Floats:
    """Standard deviation of each feature, or one pooled value for all."""
    validation.check_choice("noise_scale", kind, ["feature", "global"])
    scale = np.array([_deviation(column) for column in X.T])
    if not scale.any():
        warnings.warn(
            "All features of X are constant: there is nothing to cluster",
            UserWarning,
            stacklevel=4,
        )
    if kind == "global":
        return np.full_like(scale, np.sqrt(np.mean(scale**2)))
    return scale


def _deviation(column: Floats) -> float:
    """Standard deviation; by way of the range, since squares of tiny numbers would vanish."""
    low, spread = column.min(), np.ptp(column)
    return float(((column - low) / spread).std() * spread) if spread > 0 else 0.0


def _resolve_relabel(
    relabel: str, clusterer: Any, perturbation: Perturbation
) -> Literal["refit", "extend"]:
    validation.check_choice("relabel", relabel, ["auto", "refit", "extend"])
    reason = perturbation.no_extension
    if reason is not None:
        reason = f"perturbation {perturbation.name!r} does not allow it: {reason}"
    elif not hasattr(clusterer, "predict"):
        reason = f"{type(clusterer).__name__} cannot predict"
    if relabel == "extend" and reason is not None:
        raise ValueError(f"relabel='extend' is not possible: {reason}. Use relabel='refit'")
    return "extend" if relabel != "refit" and reason is None else "refit"


def _usable(similarity: Similarity) -> Similarity:
    if not similarity.identical_is_one:
        warnings.warn(
            f"similarity {similarity.name!r} is not 1 for identical partitions, so between and "
            f"within stability of different K are not on one scale; 'ari' is a safe choice",
            UserWarning,
            stacklevel=4,
        )
    return similarity
