"""The criterion for labels that you already have."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.cluster import KMeans
from sklearn.neighbors import KNeighborsClassifier

from stablek import aggregation as aggregating
from stablek import validation
from stablek.engines import Engine, GenericEngine, Setting, engine_for
from stablek.labels import check_labels
from stablek.paths import collect_groups, measure_paths
from stablek.results import ClusterStability, Group, Partition, Request, StabilityPaths
from stablek.searching import find_param_name
from stablek.seeding import entropy_of
from stablek.settings import make_setting, noise_levels, warn_unequal_spread
from stablek.spherical import as_seen_by

__all__ = ["PartitionEvaluation", "between_stability", "evaluate_partition", "within_stability"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class PartitionEvaluation:
    """One partition against the criterion.

    Parameters
    ----------
    n_clusters : int
        Clusters in the labels, noise left out.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    between_stability, within_stability, stadion_path : ndarray of shape (n_epsilons,)
        The partition's paths.
    one_cluster_path : ndarray of shape (n_epsilons,)
        Stadion path of the one-cluster partition, for comparison.
    crossing_epsilon : float
        Last positive noise level at which the partition beats one cluster; 0 if there is none.
    score : float
        Largest value of the path up to the crossing.
    cluster_stability : list of ClusterStability
        Inside of each cluster.
    """

    n_clusters: int
    epsilons: Floats
    between_stability: Floats
    within_stability: Floats
    stadion_path: Floats
    one_cluster_path: Floats
    crossing_epsilon: float
    score: float
    cluster_stability: list[ClusterStability]

    @property
    def beats_one_cluster(self) -> bool:
        """Whether the partition beats one cluster at some noise level."""
        return self.crossing_epsilon > 0


def evaluate_partition(
    X: Any,
    labels: ArrayLike,
    *,
    clusterer: Any = None,
    omega: Sequence[int] = range(2, 6),
    relabel: Literal["refit", "extend", "predict"] = "refit",
    perturbation: str | Callable[..., Any] = "uniform",
    n_perturbations: int = 10,
    epsilons: Any = "auto",
    n_epsilons: int = 10,
    noise_scale: Literal["auto", "feature", "global"] = "auto",
    similarity: str | Callable[..., float] = "ari",
    random_state: Any = None,
    n_jobs: int | None = None,
) -> PartitionEvaluation:
    """Judge labels of X by the Stadion criterion.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        The points.
    labels : array-like of shape (n_samples,)
        Their labels, of any origin; negative numbers mark noise.
    clusterer : estimator, default=None
        Clusters the perturbed copies with as many clusters as the labels have, and the points
        of each cluster again. None is ``KMeans(n_init=10)``.
    relabel : {"refit", "extend", "predict"}, default="refit"
        "extend" and "predict" give a noisy point the label of the nearest point of X instead of
        running the clusterer again. Inside the clusters the clusterer's own models label the
        points, as for `stablek.Stadion`.
    omega, perturbation, n_perturbations, epsilons, n_epsilons, noise_scale, similarity, \
random_state, n_jobs
        As for `stablek.Stadion`.

    Returns
    -------
    PartitionEvaluation

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> good = evaluate_partition(X, y, epsilons=[0.3], n_perturbations=3, random_state=0)
    >>> halves = evaluate_partition(X, X[:, 0] > 4, epsilons=[0.3], n_perturbations=3,
    ...                             random_state=0)
    >>> good.beats_one_cluster, good.score > halves.score
    (True, True)
    """
    names = validation.column_names(X)
    X, labels = _check(X, labels)
    clusterer = KMeans(n_init=10) if clusterer is None else clusterer
    validation.check_clusterer(clusterer)
    warn_unequal_spread(X, names, clusterer)
    X = as_seen_by(clusterer, X)
    setting = make_setting(
        X,
        clusterer,
        entropy=entropy_of(random_state),
        perturbation=perturbation,
        scale=noise_scale,
        similarity=similarity,
        relabel=validation.check_choice("relabel", relabel, ["refit", "extend", "predict"]),
    )
    omega = validation.check_omega(omega)
    n_draws = validation.check_count("n_perturbations", n_perturbations)
    levels = noise_levels(epsilons, n_epsilons, setting.perturbation, X.shape[1])
    engine, given = _GivenPartitionEngine(clusterer), _given_partition(X, labels, setting)
    collected = collect_groups(engine, X, [given], omega, setting, own=False, n_jobs=n_jobs)
    paths = measure_paths(engine, X, collected, levels, n_draws, setting, n_jobs=n_jobs)
    return _evaluation(paths)


def between_stability(X: Any, labels: ArrayLike, epsilon: float, **options: Any) -> float:
    """How much the labels survive noise of one level: the paper's between-cluster stability.

    Parameters
    ----------
    X, labels
        As for `evaluate_partition`.
    epsilon : float
        Noise level, in standard deviations of the features.
    **options
        As for `evaluate_partition`.

    Returns
    -------
    float

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> between_stability(X, y, 0.1, n_perturbations=3, random_state=0)
    1.0
    """
    return float(_at(X, labels, epsilon, options).between_stability[0])


def within_stability(X: Any, labels: ArrayLike, epsilon: float, **options: Any) -> float:
    """How stable partitions inside the clusters are: the paper's within-cluster stability.

    Parameters
    ----------
    X, labels, epsilon
        As for `between_stability`.
    **options
        As for `evaluate_partition`.

    Returns
    -------
    float

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, y = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> merged = [0] * 150
    >>> options = {"n_perturbations": 3, "random_state": 0}
    >>> within_stability(X, y, 0.3, **options) < within_stability(X, merged, 0.3, **options)
    True
    """
    return float(_at(X, labels, epsilon, options).within_stability[0])


def _at(X: Any, labels: ArrayLike, epsilon: float, options: dict[str, Any]) -> PartitionEvaluation:
    if not np.isscalar(epsilon):
        raise ValueError(f"epsilon must be one number, got {epsilon!r}")
    return evaluate_partition(X, labels, epsilons=[epsilon], **options)


def _check(X: Any, labels: ArrayLike) -> tuple[Floats, Ints]:
    X = validation.check_data(X)
    given = check_labels(labels, len(X))
    if not (given >= 0).any():
        raise ValueError("labels must hold at least one cluster, got noise only")
    return X, given


def _given_partition(X: Floats, labels: Ints, setting: Setting) -> Partition:
    """The labels as a partition; its model, if one is needed, is the nearest point of X."""
    model = None
    if setting.relabel != "refit":
        model = KNeighborsClassifier(n_neighbors=1).fit(X, labels)
    return Partition(_Given(len(np.unique(labels[labels >= 0]))), labels, model)


def _evaluation(paths: StabilityPaths) -> PartitionEvaluation:
    # If all labels are equal, there is only one path.
    path = len(paths.k_values) - 1
    stadion = paths.stadion.mean(axis=-1)
    selection = aggregating.select(paths, (paths.k_values[path],))
    return PartitionEvaluation(
        n_clusters=paths.n_clusters[path],
        epsilons=paths.epsilons,
        between_stability=paths.between.mean(axis=-1)[path],
        within_stability=paths.within_stability().mean(axis=-1)[path],
        stadion_path=stadion[path],
        one_cluster_path=stadion[0],
        crossing_epsilon=selection.crossing_epsilon,
        score=float(selection.scores[0]),
        cluster_stability=aggregating.cluster_stability(paths, selection),
    )


class _Given(int):
    """Number of clusters of a partition that the clusterer did not make."""


class _GivenPartitionEngine:
    """The clusterer's engine, but the generic one for the partition that was given."""

    values_are_independent = True

    def __init__(self, clusterer: Any) -> None:
        name = find_param_name(clusterer, None)
        self.engine: Engine = engine_for(clusterer, name)
        self.generic = GenericEngine(clusterer, name)
        self.prefer = self.engine.prefer

    def references(
        self, X: Floats, requests: Sequence[Request], entropy: int, *, keep_models: bool = True
    ) -> list[tuple[Partition, ...]]:
        return self.engine.references(X, requests, entropy, keep_models=keep_models)

    def similarities(
        self, X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
    ) -> list[Floats]:
        result = []
        for group in groups:
            given = tuple(p for p in group.partitions if isinstance(p.k, _Given))
            own = Group(group.rows, group.partitions[len(given) :])
            [similarity] = self.engine.similarities(X, [own], draw, epsilons, setting)
            if given:
                labeled = [Group(group.rows, given)]
                [first] = self.generic.similarities(X, labeled, draw, epsilons, setting)
                similarity = np.concatenate([first, similarity])
            result.append(similarity)
        return result

    def relabel(
        self, X: Floats, partition: Partition, draw: int, epsilons: Floats, setting: Setting
    ) -> list[tuple[Ints | None, Ints]]:
        return self.generic.relabel(X, partition, draw, epsilons, setting)

    def estimator(self, X: Floats, partition: Partition) -> Any:
        return partition.model

    def predict(self, X: Floats, partition: Partition) -> Ints:
        return self.generic.predict(X, partition)

    def bic(self, X: Floats, partition: Partition) -> None:
        return None
