"""Ben-Hur's model explorer: do two subsamples give the same clusters?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek import execution, seeding, validation
from stablek.aggregation import TIE
from stablek.engines import Engine
from stablek.selectors.criterion import (
    CannotJudgeError,
    CriterionSelector,
    Verdict,
    check_share,
)
from stablek.selectors.reference import Reference, cluster
from stablek.similarity import resolve_similarity

__all__ = ["BenHur", "before_largest_drop"]

Floats = NDArray[np.float64]


def before_largest_drop(scores: Floats) -> int:
    """Position of the score just before the largest drop; the first of equal ones.

    Examples
    --------
    >>> before_largest_drop(np.array([1.0, 0.95, 0.4, 0.3]))
    1
    """
    steps = np.diff(scores)
    return int(np.flatnonzero(steps <= steps.min() + TIE)[0])


class BenHur(CriterionSelector):
    """Choose K by Ben-Hur, Elisseeff and Guyon (2002), the model explorer.

    Two subsamples are clustered and compared on the points they share. The score of K is the
    share of pairs of subsamples whose similarity is high; the answer is the K just before the
    score drops most.

    Parameters
    ----------
    clusterer : estimator, default=None
        Any scikit-learn style clusterer. None is ``KMeans(n_init=10)``.
    k_range : sequence of int, default=1 to 10
        Candidates, at least two that can be judged; the last cannot be the answer.
    n_pairs : int, default=100
        Number of pairs of subsamples.
    fraction : float, default=0.8
        Share of the points in a subsample.
    threshold : float, default=0.9
        Similarity above which a pair counts as alike.
    similarity : str or callable, default="fowlkes_mallows"
        A name from `stablek.similarity.SIMILARITIES`, or ``f(labels, other_labels)``.
    judge_one_cluster : bool, default=False
        Let K = 1, always alike, take part. The authors' examples start from 2.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the subsamples and of the clusterer, unless that has its own.
    n_jobs : int, default=None
        Workers, as in scikit-learn.

    Attributes
    ----------
    n_clusters_ : int
        The answer.
    k_values_, scores_ : ndarray of shape (n_k,)
        Candidates, and the share of pairs that are alike. The drop decides, not the largest.
    similarities_ : ndarray of shape (n_k, n_pairs)
        Similarity of each pair; NaN where K is not judged.
    labels_, best_estimator_, best_value_, abstention_
        As in `IndexSelector`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(300, centers=[[0, 0], [9, 0]], random_state=0)
    >>> BenHur(k_range=range(2, 6), n_pairs=50, random_state=0).fit(X).n_clusters_
    2
    """

    method = "ben_hur"

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[int] = tuple(range(1, 11)),
        n_pairs: int = 100,
        fraction: float = 0.8,
        threshold: float = 0.9,
        similarity: Any = "fowlkes_mallows",
        judge_one_cluster: bool = False,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.k_range = k_range
        self.n_pairs = n_pairs
        self.fraction = fraction
        self.threshold = threshold
        self.similarity = similarity
        self.judge_one_cluster = judge_one_cluster
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check(self) -> None:
        validation.check_count("n_pairs", self.n_pairs)
        validation.check_flag("judge_one_cluster", self.judge_one_cluster)
        resolve_similarity(self.similarity)
        check_share("fraction", self.fraction)
        check_share("threshold", self.threshold)

    def _fewest(self) -> int:
        return 1 if self.judge_one_cluster else 2

    def _most(self, n_samples: int) -> int:
        return int(self.fraction * n_samples)

    def _limits(self, n_samples: int) -> str:
        return f"{super()._limits(n_samples)}, and at least two such K"

    def _judge(self, reference: Reference, values: tuple[Any, ...]) -> Verdict:
        X, engine = reference.X, reference.engine
        judged = np.array([self._judges(k, len(X)) for k in values])
        ks = [k for k, judge in zip(values, judged, strict=True) if judge]
        if len(ks) < 2:
            raise CannotJudgeError(
                f"method {self.method!r} cannot judge k_range={list(values)}: "
                f"{self._limits(len(X))}"
            )
        tasks = [
            (X, engine, ks, self._most(len(X)), self.similarity, reference.entropy, pair)
            for pair in range(self.n_pairs)
        ]
        found = execution.run(_pair_similarity, tasks, n_jobs=self.n_jobs, prefer=engine.prefer)
        self.similarities_ = np.full((len(values), self.n_pairs), np.nan)
        self.similarities_[judged] = np.transpose(found)
        scores = np.full(len(values), np.nan)
        scores[judged] = (self.similarities_[judged] > self.threshold).mean(axis=1)
        return Verdict(scores, ks[before_largest_drop(scores[judged])])


def _pair_similarity(
    X: Floats,
    engine: Engine,
    ks: list[int],
    size: int,
    similarity: Any,
    entropy: int,
    pair: int,
) -> list[float]:
    random = seeding.generator(entropy, "ben_hur", pair)
    first, second = (np.sort(random.choice(len(X), size, replace=False)) for _ in range(2))
    labels_first = cluster(engine, X[first], ks, entropy, "ben_hur", pair, "first")
    labels_second = cluster(engine, X[second], ks, entropy, "ben_hur", pair, "second")
    _, in_first, in_second = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    measure = resolve_similarity(similarity)
    return [
        measure(a[in_first], b[in_second])
        for a, b in zip(labels_first, labels_second, strict=True)
    ]
