"""Selectors that choose the K whose partition has the best internal index."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np

from stablek import seeding, validation
from stablek.indices import INDICES, estimate_index, index_values
from stablek.indices.centroid import index_of_sums
from stablek.indices.clusters import Clusters
from stablek.selectors.blockwise import BlockReference, no_blocks
from stablek.selectors.criterion import CriterionSelector, Verdict, best_value
from stablek.selectors.reference import Reference

__all__ = [
    "CalinskiHarabasz",
    "DaviesBouldin",
    "Dunn",
    "IndexSelector",
    "RayTuri",
    "Silhouette",
    "WemmertGancarski",
    "XieBeni",
]


_METRICS = ("euclidean", "cosine")
_OF_CENTROIDS = ("calinski_harabasz", "davies_bouldin", "ray_turi", "wemmert_gancarski")


class IndexSelector(CriterionSelector):
    """Choose the K whose reference partition has the best value of an index.

    This is the base of `WemmertGancarski`, `Silhouette`, `DaviesBouldin`, `RayTuri`,
    `CalinskiHarabasz`, `Dunn` and `XieBeni`. They all have these parameters and attributes.

    Parameters
    ----------
    clusterer : estimator, default=None
        Any scikit-learn style clusterer. None is ``KMeans(n_init=10)``.
    k_range : sequence of int or None, default=None
        Candidate numbers of clusters. K = 1 and K = n_samples score NaN, because no index is
        defined for them. With ``param_name``, any values. None is 1 to 20, or fewer if X has fewer
        distinct rows.
    sample_size : int or None, default=None
        Number of points on which to estimate the index, with a standard error. None uses all.
    param_name : str, default=None
        The clusterer's parameter to search. None finds ``n_clusters`` or ``n_components``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the sample, and of the clusterer unless it has its own.
    n_jobs : int, default=None
        Workers, as in scikit-learn.

    Attributes
    ----------
    n_clusters_ : int or None
        The answer; None for an abstention.
    k_values_, scores_ : ndarray of shape (n_k,)
        Candidates and their scores. Higher is better.
    index_values_ : ndarray of shape (n_k,)
        The index in its own direction.
    standard_error_ : ndarray of shape (n_k,)
        Standard error of the estimate; 0 if the index is computed on all points.
    labels_ : ndarray of shape (n_samples,)
        The chosen partition; all -1 for an abstention.
    best_estimator_, best_value_
        The clusterer fitted with the chosen value, and that value.
    abstention_ : str or None
        Why there is no answer.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> selectors = [WemmertGancarski(), Silhouette(), DaviesBouldin(), RayTuri()]
    >>> [each.set_params(random_state=0).fit(X).n_clusters_ for each in selectors]
    [3, 3, 3, 3]
    >>> selectors = [CalinskiHarabasz(), Dunn(), XieBeni()]
    >>> [each.set_params(random_state=0).fit(X).n_clusters_ for each in selectors]
    [3, 3, 3]
    """

    needs_k: ClassVar[bool] = False

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[Any] | None = None,
        sample_size: int | None = None,
        param_name: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.k_range = k_range
        self.sample_size = sample_size
        self.param_name = param_name
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check(self) -> None:
        if self.sample_size is not None:
            validation.check_count("sample_size", self.sample_size, 2)

    def _most(self, n_samples: int) -> int:
        return n_samples - 1

    def _options(self) -> dict[str, Any]:
        return {}

    def _judge(self, reference: Reference, k_values: tuple[Any, ...]) -> Verdict:
        partitions = self._reference_partitions(reference, k_values)
        labelings = [partition.labels for partition in partitions]
        self.standard_error_ = np.zeros(len(k_values))
        if self.sample_size is None:
            self.index_values_ = index_values(
                reference.X, labelings, self.method, n_jobs=self.n_jobs, **self._options()
            )
        else:
            self._estimate(reference, labelings, self.sample_size)
        return self._verdict(k_values)

    def _no_blocks(self, reference: BlockReference) -> str | None:
        if self.method not in _OF_CENTROIDS:
            return super()._no_blocks(reference)
        if self.sample_size is not None:
            return "sample_size is set"
        return no_blocks(reference.sample)

    def _judge_blocks(
        self, reference: BlockReference, models: Any, k_values: tuple[int, ...]
    ) -> Verdict:
        from stablek.blockwise.indices import centroid_sums

        mean = reference.survey.mean
        sums = reference.once(
            ("centroids", models), partial(centroid_sums, reference.blocks, models, mean)
        )
        sums_of = dict(zip(models.layout.whole, sums, strict=True))
        found = [sums_of.get(k) for k in k_values]
        self.index_values_ = np.array(
            [np.nan if own is None else index_of_sums(self.method, own) for own in found]
        )
        self.standard_error_ = np.zeros(len(k_values))
        return self._verdict(k_values)

    def _verdict(self, k_values: tuple[Any, ...]) -> Verdict:
        """The best value of the index."""
        better = INDICES[self.method].higher_is_better
        return best_value(k_values, self.index_values_ if better else -self.index_values_)

    def _estimate(self, reference: Reference, labelings: Sequence[Any], size: int) -> None:
        self.index_values_ = np.full(len(labelings), np.nan)
        for i, labels in enumerate(labelings):
            if not Clusters.of(labels).judgeable:
                continue
            estimate = estimate_index(
                reference.X,
                labels,
                self.method,
                sample_size=size,
                random_state=seeding.seed(reference.entropy, "index"),
                n_jobs=self.n_jobs,
                **self._options(),
            )
            self.index_values_[i] = estimate.value
            self.standard_error_[i] = estimate.standard_error


class WemmertGancarski(IndexSelector):
    """Choose K by the `stablek.indices.wemmert_gancarski` index; see `IndexSelector`."""

    method = "wemmert_gancarski"


class Silhouette(IndexSelector):
    """Choose K by the `stablek.indices.silhouette` index; see `IndexSelector`.

    Parameters
    ----------
    clusterer, k_range, sample_size, param_name, random_state, n_jobs
        As in `IndexSelector`.
    average : {"micro", "macro"}, default="micro"
        "micro" is the mean over points, as in scikit-learn. "macro" is the mean over clusters of
        their means, which the study's table uses.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" is 1 - cosine, for directions.
    """

    method = "silhouette"

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[Any] | None = None,
        average: Literal["micro", "macro"] = "micro",
        metric: Literal["euclidean", "cosine"] = "euclidean",
        sample_size: int | None = None,
        param_name: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            clusterer,
            k_range=k_range,
            sample_size=sample_size,
            param_name=param_name,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.average = average
        self.metric = metric

    def _check(self) -> None:
        super()._check()
        validation.check_choice("average", self.average, ["micro", "macro"])
        validation.check_choice("metric", self.metric, _METRICS)

    def _options(self) -> dict[str, Any]:
        return {"average": self.average, "metric": self.metric}


class DaviesBouldin(IndexSelector):
    """Choose K by the `stablek.indices.davies_bouldin` index; see `IndexSelector`."""

    method = "davies_bouldin"
    minimized = "Davies-Bouldin"


class RayTuri(IndexSelector):
    """Choose K by the `stablek.indices.ray_turi` index; see `IndexSelector`."""

    method = "ray_turi"
    minimized = "Ray-Turi"


class CalinskiHarabasz(IndexSelector):
    """Choose K by the `stablek.indices.calinski_harabasz` index; see `IndexSelector`."""

    method = "calinski_harabasz"


class Dunn(IndexSelector):
    """Choose K by the `stablek.indices.dunn` index; see `IndexSelector`.

    Parameters
    ----------
    clusterer, k_range, sample_size, param_name, random_state, n_jobs
        As in `IndexSelector`.
    metric : {"euclidean", "cosine"}, default="euclidean"
        "cosine" is 1 - cosine, for directions.
    """

    method = "dunn"

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[Any] | None = None,
        metric: Literal["euclidean", "cosine"] = "euclidean",
        sample_size: int | None = None,
        param_name: str | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            clusterer,
            k_range=k_range,
            sample_size=sample_size,
            param_name=param_name,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.metric = metric

    def _check(self) -> None:
        super()._check()
        validation.check_choice("metric", self.metric, _METRICS)

    def _options(self) -> dict[str, Any]:
        return {"metric": self.metric}


class XieBeni(IndexSelector):
    """Choose K by the `stablek.indices.xie_beni` index; see `IndexSelector`."""

    method = "xie_beni"
    minimized = "Xie-Beni"
