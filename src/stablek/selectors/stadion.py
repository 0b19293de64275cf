"""The Stadion criterion as a scikit-learn estimator."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from stablek import aggregation as aggregating
from stablek import validation
from stablek.aggregation import OneCluster
from stablek.candidates import resolve_k_values
from stablek.engines import Setting
from stablek.inspection import path_columns
from stablek.paths import collect_groups, measure_paths
from stablek.points import point_stability
from stablek.results import Partition, Selection, StabilityPaths
from stablek.selectors.base import BaseSelector, warn_fewer_clusters
from stablek.selectors.blockwise import BlockReference, no_blocks
from stablek.selectors.reference import Reference
from stablek.selectors.structure import (
    check_alpha,
    check_test_for,
    test_for,
    warn_no_clusters,
)
from stablek.settings import make_setting, noise_levels

__all__ = ["Stadion"]

Floats = NDArray[np.float64]


class Stadion(BaseSelector):
    """Choose the number of clusters by the stability trade-off of Mourer et al. (2023).

    A good clustering survives small noise (between stability), and none of its clusters contains
    a stable partition of its own (within stability). Stadion is the first minus the second,
    followed along growing noise. Whether there are clusters at all is a question of its own, which
    a test with a p-value answers.

    Parameters
    ----------
    clusterer : estimator, default=None
        Any scikit-learn style clusterer with ``fit`` and ``labels_`` or ``predict``; a Pipeline
        that ends in one. None is ``KMeans(n_init=10)``.
    k_range : sequence of int or None, default=None
        Candidate numbers of clusters, ascending. With ``param_name``, any values. None is 1 to 20,
        or fewer if X has fewer distinct rows.
    omega : sequence of int, default=2 to 5
        Numbers of clusters with which each cluster is clustered again.
    relabel : {"auto", "refit", "extend", "predict"}, default="auto"
        How a perturbed copy gets its labels. "refit" runs the clusterer again (the paper's
        standard version). "predict" calls ``predict`` of the reference model (the paper's
        extended version), which is much cheaper. "extend" does the same, but Gaussian mixtures
        add the covariance of the noise to that of each component. "auto" extends where the
        clusterer and the perturbation allow it.
    perturbation : str or callable, default="uniform"
        A name from `stablek.perturbations.PERTURBATIONS`, or ``f(X, epsilon, rng)`` that
        returns a perturbed copy of X.
    n_perturbations : int, default=10
        Perturbed copies for each noise level (the paper's D).
    epsilons : "auto" or sequence of float, default="auto"
        Noise levels, in standard deviations of each feature. "auto" is 0 and geometric levels from
        0.05 to 1.5 or the square root of the number of features, if that is more. With
        ``one_cluster="crossing"`` it is the paper's grid: even levels from 0 to the square root of
        the number of features.
    n_epsilons : int, default=10
        Number of noise levels of "auto", epsilon 0 included.
    noise_scale : {"auto", "feature", "global"}, default="auto"
        Noise in units of each feature's own standard deviation, or of one pooled value. "auto" is
        "global" for `stablek.SphericalKMeans`, whose features have one unit, else "feature".
    similarity : str or callable, default="ari"
        A name from `stablek.similarity.SIMILARITIES`, or ``f(labels, perturbed_labels)``.
    aggregation : {"max", "mean"} or callable, default="max"
        Turns a path into a score.
    one_cluster : {"test", "crossing", "never"}, default="test"
        When K = 1 is the answer. "test": if the structure test does not reject at ``alpha``.
        "crossing": the paper's rule. K = 1 competes along the path, and the score counts levels up
        to the crossing, beyond which K = 1 beats all others. "never": the best K >= 2.
    alpha : float, default=0.05
        Level of the structure test: the share of false alarms on data without clusters.
    n_reference_sets : int, default=50
        Most reference sets of each kind in the structure test, which stops after 4 or 10 if the
        answer is clear.
    reference_sets : "auto", str, callable or sequence of them, default="auto"
        Kinds of reference sets, as for `stablek.structure_test`.
    test_clusterer : estimator, default=None
        Whose partitions the structure test uses. None is ``clusterer`` if it extends and has
        rows enough (a mixture needs four for each parameter of two components), else K-means.
    max_test_rows : int, default=2000
        The structure test samples more rows than this.
    max_rows_in_memory : int, default=1_000_000
        Data in files or on a cluster that have more rows are read in blocks.
    sample_rows : int, default=100_000
        Rows of the sample on which work on blocks starts, and on which all runs that cannot use
        blocks.
    max_passes : int, default=20
        Most passes over all rows that refine the partitions of the sample.
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
        The aggregated paths; higher is better. One cluster has a score only with
        ``one_cluster="crossing"``, else NaN.
    structure_pvalue_ : float
        p-value of the structure test; NaN if none was made.
    structure_test_ : StructureTest or None
        The test with its evidence.
    crossing_epsilon_ : float
        The last positive noise level at which some K >= 2 beats K = 1; 0 if there is none.
    counted_levels_ : ndarray of bool of shape (n_epsilons,)
        The noise levels that the scores are made of.
    reference_labels_ : ndarray of shape (n_k, n_samples)
        The clusterer's labels on X, for each candidate.
    paths_ : StabilityPaths
        Everything that was measured, per draw and re-clustering size, with standard errors.
    selection_frequency_ : ndarray of shape (n_k,)
        How often each candidate wins when the draws are resampled. This is the uncertainty of
        the noise draws only; `stablek.subsample_frequency` measures that of the data.
    cluster_stability_ : list of ClusterStability
        For each cluster of the chosen partition: label, size, within stability, and the
        re-clustering size that is stable inside, if any.
    point_stability_ : ndarray of shape (n_samples,)
        How often each point keeps its cluster, over the draws and noise levels that count.
    relabel_ : {"refit", "extend", "predict"}
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
        k_range: Sequence[Any] | None = None,
        omega: Sequence[Any] = tuple(range(2, 6)),
        relabel: Literal["auto", "refit", "extend", "predict"] = "auto",
        perturbation: str | Callable[..., Any] = "uniform",
        n_perturbations: int = 10,
        epsilons: Any = "auto",
        n_epsilons: int = 10,
        noise_scale: Literal["auto", "feature", "global"] = "auto",
        similarity: str | Callable[..., float] = "ari",
        aggregation: str | Callable[[Floats], float] = "max",
        one_cluster: Literal["test", "crossing", "never"] = "test",
        alpha: float = 0.05,
        n_reference_sets: int = 50,
        reference_sets: Any = "auto",
        test_clusterer: Any = None,
        max_test_rows: int = 2000,
        max_rows_in_memory: int = 1_000_000,
        sample_rows: int = 100_000,
        max_passes: int = 20,
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
        self.one_cluster = one_cluster
        self.alpha = alpha
        self.n_reference_sets = n_reference_sets
        self.reference_sets = reference_sets
        self.test_clusterer = test_clusterer
        self.max_test_rows = max_test_rows
        self.max_rows_in_memory = max_rows_in_memory
        self.sample_rows = sample_rows
        self.max_passes = max_passes
        self.param_name = param_name
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def _fit(self, reference: Reference) -> None:
        validation.check_choice("one_cluster", self.one_cluster, get_args(OneCluster))
        k_values = resolve_k_values(self.k_range, reference.X, values_are_k=reference.values_are_k)
        self.k_values_ = np.array(k_values)
        check_test_for(self, reference.X)
        partitions, setting, self.paths_ = self._measure(reference)
        self._answer(reference, setting)
        if not self._answers_only:
            self._store_partition(reference, partitions, setting)

    def _no_blocks(self, reference: BlockReference) -> str | None:
        setting, _, _ = self._settings(reference.sample, reference.survey.deviation)
        return no_blocks(reference.sample, setting)

    def _fit_blocks(self, reference: BlockReference) -> None:
        from stablek.selectors.stadion_blocks import fit_blocks

        fit_blocks(self, reference)

    def _answer(self, reference: Reference, setting: Setting) -> None:
        """Choose from the measured paths."""
        self._entropy = reference.entropy
        self.structure_test_ = test = test_for(self, reference, setting)
        self.structure_pvalue_ = np.nan if test is None else test.pvalue
        self._store(self._select())
        if test is not None and not test.rejected and self.n_clusters_ > 1:
            warn_no_clusters(test)

    def _measure(
        self, reference: Reference
    ) -> tuple[Sequence[Partition], Setting, StabilityPaths]:
        """Reference partitions, K = 1 first, and paths. Partitions of clusters are not kept."""
        X, values_are_k, engine = reference.X, reference.values_are_k, reference.engine
        setting, epsilons, omega = self._settings(reference)
        n_draws = validation.check_count("n_perturbations", self.n_perturbations)
        progress = bool(validation.check_count("verbose", self.verbose, 0))
        k_values = self.k_values_.tolist()

        options: dict[str, Any] = {"n_jobs": self.n_jobs, "progress": progress}
        partitions = reference.partitions(k_values)
        collected = collect_groups(
            engine, X, partitions, omega, setting, values_are_k=values_are_k, **options
        )
        if values_are_k:
            asked = tuple(p.k for p in collected.partitions[1:])
            warn_fewer_clusters(asked, tuple(len(m) for m in collected.members[1:]))
        self.relabel_ = setting.relabel
        paths = measure_paths(engine, X, collected, epsilons, n_draws, setting, **options)
        return collected.partitions, setting, paths

    def _settings(
        self, reference: Reference, deviation: Floats | None = None
    ) -> tuple[Setting, Floats, tuple[Any, ...]]:
        """Checked settings, noise levels and omega."""
        aggregating.resolve_aggregation(self.aggregation)
        setting = make_setting(
            reference.X,
            reference.clusterer,
            entropy=reference.entropy,
            perturbation=self.perturbation,
            scale=self.noise_scale,
            similarity=self.similarity,
            relabel=self.relabel,
            deviation=deviation,
        )
        epsilons = noise_levels(
            self.epsilons,
            self.n_epsilons,
            setting.perturbation,
            reference.X.shape[1],
            even=self.one_cluster == "crossing",
        )
        omega = validation.check_omega(self.omega, values_are_k=reference.values_are_k)
        return setting, epsilons, omega

    def _select(
        self, *, one_cluster: OneCluster | None = None, alpha: float | None = None, **changes: Any
    ) -> Selection:
        options = {"aggregation": self.aggregation, **changes}
        test = self.structure_test_
        level = self.alpha if alpha is None else alpha
        return aggregating.select(
            self.paths_,
            tuple(self.k_values_.tolist()),
            one_cluster=self.one_cluster if one_cluster is None else one_cluster,
            has_structure=test is None or test.pvalue <= level,
            entropy=self._entropy,
            **options,
        )

    def _store(self, selection: Selection) -> None:
        self.n_clusters_ = selection.n_clusters
        self.best_value_ = selection.best_value
        self.epsilons_ = selection.epsilons
        self.between_stability_ = selection.between_stability
        self.within_stability_ = selection.within_stability
        self.stadion_paths_ = selection.stadion_paths
        self.scores_ = selection.scores
        self.crossing_epsilon_ = selection.crossing_epsilon
        self.counted_levels_ = selection.counted_levels
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
        if best is partitions[0] and not reference.values_are_k:
            self.best_estimator_ = None
        else:
            self._store_best(reference, self.best_value_)
        if best is partitions[0]:
            self.point_stability_ = np.ones(len(reference.X))
            return
        # The report asks for the points of other candidates too.
        self._stability_of_points = partial(
            point_stability,
            reference.engine,
            reference.X,
            n_draws=self.paths_.n_draws,
            epsilons=self.epsilons_[self.counted_levels_],
            setting=setting,
            n_jobs=self.n_jobs,
        )
        self._partition_of = partition_of
        self.point_stability_ = self._stability_of_points(partition=best)

    def reselect(
        self,
        *,
        aggregation: str | Callable[[Floats], float] | None = None,
        n_perturbations: int | None = None,
        omega: Sequence[Any] | None = None,
        one_cluster: OneCluster | None = None,
        alpha: float | None = None,
    ) -> Selection:
        """Answer with other settings from what was computed; the estimator stays as it is.

        Parameters
        ----------
        aggregation : {"max", "mean"} or callable, default=None
        n_perturbations : int, default=None
            Use the first draws only.
        omega : sequence, default=None
            Use some of the re-clustering sizes only.
        one_cluster : {"test", "crossing", "never"}, default=None
            "test" only if the test was made.
        alpha : float, default=None
            Another level of the structure test.

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
        if one_cluster is not None:
            validation.check_choice("one_cluster", one_cluster, get_args(OneCluster))
            if one_cluster == "test" and self.structure_test_ is None:
                raise ValueError(
                    "one_cluster='test' needs the structure test, which was not made; fit with "
                    "one_cluster='test'"
                )
            changes["one_cluster"] = one_cluster
        if alpha is not None:
            check_alpha(alpha)
            changes["alpha"] = alpha
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
        columns = path_columns(self)
        if library == "pandas":
            import pandas as pd

            return pd.DataFrame(columns)
        import polars as pl

        return pl.DataFrame(columns)
