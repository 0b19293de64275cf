"""Ben-Hur's model explorer: do two subsamples have the same clusters?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
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
    """Position of the score just before the largest drop; the first one of a tie.

    Examples
    --------
    >>> before_largest_drop(np.array([1.0, 0.95, 0.4, 0.3]))
    1
    """
    steps = np.diff(scores)
    return int(np.flatnonzero(steps <= steps.min() + TIE)[0])


class BenHur(CriterionSelector):
    """Choose K by the model explorer of Ben-Hur, Elisseeff and Guyon (2002).

    The method clusters pairs of subsamples and compares each pair on the points that both have.
    The score of K is the share of pairs with a high similarity. The answer is the K just before
    the largest drop of the score.

    Parameters
    ----------
    clusterer : estimator, default=None
        Any scikit-learn style clusterer. None is ``KMeans(n_init=10)``.
    k_range : sequence of int or None, default=None
        Candidates. The method must be able to judge at least two of them, and the last of these
        cannot be the answer. None is 1 to 20.
    n_pairs : int, default=100
        Number of pairs of subsamples.
    fraction : float, default=0.8
        Share of the points in a subsample.
    threshold : float, default=0.9
        A pair counts as alike if its similarity is above this number.
    similarity : str or callable, default="fowlkes_mallows"
        A name from `stablek.similarity.SIMILARITIES`, or ``f(labels, other_labels)``.
    judge_one_cluster : bool, default=False
        Whether K = 1 takes part. All its pairs are alike. The authors' examples start from 2.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the subsamples, and of the clusterer unless it has its own.
    n_jobs : int, default=None
        Workers, as in scikit-learn.

    Attributes
    ----------
    n_clusters_ : int
        The answer.
    k_values_, scores_ : ndarray of shape (n_k,)
        Candidates, and the share of pairs that are alike. The largest drop decides, not the
        largest score.
    similarities_ : ndarray of shape (n_k, n_pairs)
        Similarity of each pair; NaN if K is not judged.
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
        k_range: Sequence[int] | None = None,
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

    def _judge(self, reference: Reference, k_values: tuple[Any, ...]) -> Verdict:
        X, engine = reference.X, reference.engine
        judged = self._judged(k_values, len(X))
        judged_k = list(compress(k_values, judged))
        if len(judged_k) < 2:
            raise CannotJudgeError(
                f"method {self.method!r} cannot judge k_range={list(k_values)}: "
                f"{self._limits(len(X))}"
            )
        tasks = [
            (X, engine, judged_k, self._most(len(X)), self.similarity, reference.entropy, pair)
            for pair in range(self.n_pairs)
        ]
        found = execution.run(_pair_similarity, tasks, n_jobs=self.n_jobs, prefer=engine.prefer)
        self.similarities_ = np.full((len(k_values), self.n_pairs), np.nan)
        self.similarities_[judged] = np.transpose(found)
        scores = np.full(len(k_values), np.nan)
        scores[judged] = (self.similarities_[judged] > self.threshold).mean(axis=1)
        return Verdict(scores, judged_k[before_largest_drop(scores[judged])])


def _pair_similarity(
    X: Floats,
    engine: Engine,
    k_values: list[int],
    size: int,
    similarity: Any,
    entropy: int,
    pair: int,
) -> list[float]:
    random = seeding.generator(entropy, "ben_hur", pair)
    first, second = (np.sort(random.choice(len(X), size, replace=False)) for _ in range(2))
    labels_first = cluster(engine, X[first], k_values, entropy, "ben_hur", pair, "first")
    labels_second = cluster(engine, X[second], k_values, entropy, "ben_hur", pair, "second")
    _, in_first, in_second = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    measure = resolve_similarity(similarity)
    return [
        measure(a[in_first], b[in_second])
        for a, b in zip(labels_first, labels_second, strict=True)
    ]
