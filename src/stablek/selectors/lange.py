"""Lange's stability: does one half of the data predict the clusters of the other?"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import compress
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.neighbors import NearestNeighbors

from stablek import execution, seeding, validation
from stablek.engines import Engine
from stablek.selectors.criterion import CriterionSelector, Verdict, best_value
from stablek.selectors.reference import Reference, cluster
from stablek.similarity import count_table, matched_share

__all__ = ["Lange", "matching_distance"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def matching_distance(first: NDArray[Any], second: NDArray[Any], k: int) -> float:
    """Share of points whose labels differ under the best matching of the labels.

    Parameters
    ----------
    first, second : ndarray of shape (n,)
        Labels from 0 to k - 1.
    k : int
        Number of clusters.

    Examples
    --------
    >>> matching_distance(np.array([0, 0, 1, 1]), np.array([1, 1, 0, 1]), 2)
    0.25
    """
    return 1.0 - matched_share(count_table(first, second, k, k))


class Lange(CriterionSelector):
    """Choose K by the stability of Lange, Roth, Braun and Buhmann (2004).

    The data are split at random into halves, and both halves are clustered. A nearest-neighbor
    classifier carries the labels of the first half over to the second. The instability is the
    share of points of the second half whose two labels differ, divided by the share for random
    labels. The answer is the K with the smallest instability.

    Parameters
    ----------
    clusterer : estimator, default=None
        Any scikit-learn style clusterer. None is ``KMeans(n_init=10)``.
    k_range : sequence of int or None, default=None
        Candidates; K = 1 and K above half the number of points score NaN. None is 1 to 20.
    n_splits : int, default=20
        Number of random splits, and of pairs of random label arrays.
    n_random_labels : int or None, default=None
        Length of the random label arrays. None is the number of points, as in the authors' code.
        (The article implies half of it.)
    random_state : int, RandomState, Generator or None, default=None
        Seed of the splits, and of the clusterer unless it has its own.
    n_jobs : int, default=None
        Workers, as in scikit-learn.

    Attributes
    ----------
    n_clusters_ : int or None
        The answer; None for an abstention.
    k_values_, scores_ : ndarray of shape (n_k,)
        Candidates and minus the normalized instability.
    instability_, random_instability_ : ndarray of shape (n_k,)
        Means over the splits, and over the random label arrays.
    labels_, best_estimator_, best_value_, abstention_
        As in `IndexSelector`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> Lange(k_range=range(2, 6), random_state=0).fit(X).n_clusters_
    3
    """

    method = "lange"
    minimized = "instability"

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[int] | None = None,
        n_splits: int = 20,
        n_random_labels: int | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.k_range = k_range
        self.n_splits = n_splits
        self.n_random_labels = n_random_labels
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check(self) -> None:
        validation.check_count("n_splits", self.n_splits)
        if self.n_random_labels is not None:
            validation.check_count("n_random_labels", self.n_random_labels, 2)

    def _most(self, n_samples: int) -> int:
        return n_samples // 2

    def _judge(self, reference: Reference, k_values: tuple[Any, ...]) -> Verdict:
        X, engine, entropy = reference.X, reference.engine, reference.entropy
        judged = self._judged(k_values, len(X))
        judged_k = list(compress(k_values, judged))
        tasks = [(X, engine, judged_k, entropy, split) for split in range(self.n_splits)]
        found = execution.run(_split_distances, tasks, n_jobs=self.n_jobs, prefer=engine.prefer)
        size = len(X) if self.n_random_labels is None else self.n_random_labels
        by_chance = [_random_distance(k, size, self.n_splits, entropy) for k in judged_k]
        self.instability_ = np.full(len(k_values), np.nan)
        self.random_instability_ = np.full(len(k_values), np.nan)
        self.instability_[judged] = np.mean(found, axis=0)
        self.random_instability_[judged] = by_chance
        with np.errstate(invalid="ignore"):
            # With as many clusters as points both can be 0, which gives NaN.
            return best_value(k_values, 0.0 - self.instability_ / self.random_instability_)


def _split_distances(
    X: Floats, engine: Engine, k_values: list[int], entropy: int, split: int
) -> list[float]:
    order = seeding.generator(entropy, "lange", split).permutation(len(X))
    first, second = X[order[: len(X) // 2]], X[order[len(X) // 2 :]]
    labels_first = cluster(engine, first, k_values, entropy, "lange", split, "first")
    labels_second = cluster(engine, second, k_values, entropy, "lange", split, "second")
    nearest = NearestNeighbors(n_neighbors=1).fit(first)
    neighbor = nearest.kneighbors(second, return_distance=False)[:, 0]
    return [
        matching_distance(a[neighbor], b, k)
        for k, a, b in zip(k_values, labels_first, labels_second, strict=True)
    ]


def _random_distance(k: int, size: int, n_pairs: int, entropy: int) -> float:
    random = seeding.generator(entropy, "lange labels", k)
    pairs = random.integers(k, size=(n_pairs, 2, size))
    return float(np.mean([matching_distance(first, second, k) for first, second in pairs]))
