"""Base class of every selector but Stadion: judge the reference partitions, store the answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stablek.aggregation import TIE
from stablek.candidates import resolve_k_values
from stablek.results import Partition
from stablek.selectors.base import BaseSelector, warn_fewer_clusters
from stablek.selectors.blockwise import BlockReference, block_k_values, store_partition
from stablek.selectors.reference import Reference
from stablek.validation import check_count

__all__ = [
    "CannotJudgeError",
    "CriterionSelector",
    "Verdict",
    "best_value",
    "check_share",
    "verdict_of_splits",
]

Floats = NDArray[np.float64]


class CannotJudgeError(ValueError):
    """The method is not defined for the clusterer, or for none of the candidates."""


@dataclass(frozen=True)
class Verdict:
    """What a method says about the candidates.

    Parameters
    ----------
    scores : ndarray of shape (n_k,)
        Higher is better; NaN where the method is not defined.
    value : object or None
        The chosen candidate; None for an abstention.
    abstention : str or None
        Why nothing was chosen.
    """

    scores: Floats
    value: Any
    abstention: str | None = None


class CriterionSelector(BaseSelector):
    """Judges the reference partition of every candidate.

    A subclass says what it can judge, checks its own parameters in ``_check``, and returns its
    verdict from ``_judge``. There it also stores its own attributes.
    """

    method: ClassVar[str]
    """Registry name."""

    clusterers: ClassVar[tuple[type, ...] | None] = None
    """Clusterers for which the method is defined; None for all."""

    needs_k: ClassVar[bool] = True
    """Whether the values of the searched parameter must be numbers of clusters."""

    consecutive: ClassVar[bool] = False
    """Whether the candidates must be consecutive integers."""

    minimized: ClassVar[str | None] = None
    """Name of the quantity whose sign the scores flip, because smaller values of it are better."""

    k_range: Sequence[Any] | None

    def _check_clusterer(self, clusterer: Any) -> None:
        if self.clusterers is not None and not isinstance(clusterer, self.clusterers):
            names = " or ".join(kind.__name__ for kind in self.clusterers)
            raise CannotJudgeError(
                f"method {self.method!r} is defined for {names} only, "
                f"got clusterer={type(clusterer).__name__}"
            )

    def _fit(self, reference: Reference) -> None:
        self._check_clusterer(reference.clusterer)
        self._check()
        k_values = self._resolve_k_values(reference)
        verdict = self._judge(reference, k_values)
        self.k_values_ = np.array(k_values)
        self.scores_ = verdict.scores
        self.best_value_ = verdict.value
        self.abstention_ = verdict.abstention
        self.reference_labels_ = reference.labels(k_values)
        if verdict.value is None:
            self.n_clusters_ = None
            self.labels_ = np.full(len(reference.X), -1, dtype=np.intp)
            self.best_estimator_ = None
            return
        best = reference.partitions([verdict.value])[0]
        n_found = np.count_nonzero(np.unique(best.labels) >= 0)  # noise is not a cluster
        self.n_clusters_ = int(best.k if reference.values_are_k else n_found)
        self.labels_ = best.labels.copy()
        self._store_best(reference, verdict.value)

    def _fit_blocks(self, reference: BlockReference) -> None:
        self._check_clusterer(reference.sample.clusterer)
        self._check()
        max_passes = check_count("max_passes", self.max_passes, 0)
        k_values = block_k_values(self, reference)
        self._check_judged(k_values, reference.blocks.n_rows)
        models = reference.models(k_values, max_passes)
        verdict = self._judge_blocks(reference, models, k_values)
        if verdict.value is None:
            raise CannotJudgeError(
                f"method {self.method!r} cannot judge any K of k_range={list(k_values)}"
            )
        self.k_values_, self.n_passes_ = np.array(k_values), models.n_passes
        self.scores_, self.best_value_ = verdict.scores, verdict.value
        self.n_clusters_, self.abstention_ = int(verdict.value), None
        store_partition(self, reference, models)

    def _judge_blocks(
        self, reference: BlockReference, models: Any, k_values: tuple[int, ...]
    ) -> Verdict:
        """Judge models of all rows, if `_no_blocks` allows it."""
        raise NotImplementedError

    def _resolve_k_values(self, reference: Reference) -> tuple[Any, ...]:
        n_samples = len(reference.X)
        if self.needs_k and not reference.values_are_k:
            raise CannotJudgeError(
                f"method {self.method!r} needs a parameter that counts clusters, "
                f"got param_name={reference.param_name!r}"
            )
        k_values = resolve_k_values(self.k_range, reference.X, values_are_k=reference.values_are_k)
        if not reference.values_are_k:
            return k_values
        if self.consecutive and any(b != a + 1 for a, b in pairwise(k_values)):
            raise CannotJudgeError(
                f"method {self.method!r} needs consecutive numbers of clusters, "
                f"got k_range={list(k_values)}"
            )
        self._check_judged(k_values, n_samples)
        return k_values

    def _check_judged(self, k_values: tuple[int, ...], n_samples: int) -> None:
        """Raise an error if the method is defined for none of the numbers of clusters."""
        if not self._judged(k_values, n_samples).any():
            raise CannotJudgeError(
                f"method {self.method!r} cannot judge any K of k_range={list(k_values)} "
                f"with n_samples = {n_samples}: {self._limits(n_samples)}"
            )

    def _reference_partitions(
        self, reference: Reference, k_values: Sequence[Any]
    ) -> list[Partition]:
        """Reference partitions, with a warning if some have too few clusters."""
        partitions = reference.partitions(k_values)
        if reference.values_are_k:
            found = tuple(len(np.unique(each.labels)) for each in partitions)
            warn_fewer_clusters(tuple(k_values), found)
        return partitions

    def _check(self) -> None:
        """Raise an error for bad values of the method's own parameters."""

    def _judged(self, k_values: Sequence[int], n_samples: int) -> NDArray[np.bool_]:
        """Whether the method is defined for each number of clusters."""
        k = np.array(k_values)
        return np.asarray((self._fewest() <= k) & (k <= self._most(n_samples)))

    def _fewest(self) -> int:
        return 1 if self.supports_one_cluster else 2

    def _most(self, n_samples: int) -> int:
        return n_samples

    def _limits(self, n_samples: int) -> str:
        return f"it needs {self._fewest()} <= K <= {self._most(n_samples)}"

    def _judge(self, reference: Reference, k_values: tuple[Any, ...]) -> Verdict:
        raise NotImplementedError


def best_value(k_values: Sequence[Any], scores: Floats) -> Verdict:
    """Verdict for the candidate with the best score; the first one wins a tie."""
    usable = np.isfinite(scores) | (scores == np.inf)
    if not usable.any():
        return Verdict(scores, None, "no candidate has a usable score")
    best = scores[usable].max()
    first = int(np.argmax(usable & (scores >= best - TIE)))
    return Verdict(scores, k_values[first])


def verdict_of_splits(k_values: Sequence[int], scores: Floats, k: int) -> Verdict:
    """Verdict of a method that splits clusters and ended with k of them."""
    if k in k_values:
        return Verdict(scores, k)
    # Empty clusters vanish, so the method can end with fewer clusters than it started with.
    return Verdict(scores, None, f"it ended with {k} clusters, which k_range does not have")


def check_share(name: str, value: Any) -> None:
    """Raise ValueError for anything but a number above 0 and below 1."""
    if not isinstance(value, Real) or not 0 < float(value) < 1:
        raise ValueError(f"{name} must be a number between 0 and 1, got {value!r}")
