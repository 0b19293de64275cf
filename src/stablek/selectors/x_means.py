"""X-means: split clusters while a Bayesian information criterion improves."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from stablek import seeding, validation
from stablek.selectors.criterion import CriterionSelector, Verdict, verdict_of_splits
from stablek.selectors.reference import Reference
from stablek.selectors.solution import Solution, lloyd, solution_of

__all__ = ["XMeans", "x_means_score"]

Floats = NDArray[np.float64]
Formula = Literal["corrected", "original"]

_SMALLEST = 3  # points of a cluster that may be split


def x_means_score(
    sizes: Sequence[int] | NDArray[Any],
    sse: float,
    n_features: int,
    formula: Formula = "corrected",
) -> float:
    """Bayesian information criterion of equal spherical Gaussians; higher is better.

    Parameters
    ----------
    sizes : sequence of int
        Sizes of the clusters.
    sse : float
        Sum of the squared distances to the centers.
    n_features : int
        Number of features.
    formula : {"corrected", "original"}
        The likelihood as it should be, or as printed by Pelleg and Moore (2000), where the
        number of features is missing in three places.

    Returns
    -------
    float
        Infinite when there is no spread left.

    Examples
    --------
    >>> round(x_means_score([50, 50, 50], 166.5, 4), 1)
    -669.2
    """
    n_k = np.asarray(sizes, dtype=float)
    n, k, m = n_k.sum(), len(n_k), n_features
    if sse <= 0.0 or n <= k:
        return np.inf
    entropy = float((n_k * np.log(n_k / n)).sum())
    if formula == "corrected":
        variance = sse / (m * (n - k))
        fit = -n * m / 2 * np.log(2 * np.pi * variance) - m * (n - k) / 2
    else:
        variance = sse / (n - k)
        fit = -n / 2 * np.log(2 * np.pi) - n * m / 2 * np.log(variance) - (n - k**2) / 2
    return float(entropy + fit - k * (m + 1) / 2 * np.log(n))


class XMeans(CriterionSelector):
    """Choose K by X-means (Pelleg and Moore, 2000).

    It starts from K-means with ``k_min`` clusters. Then it splits each cluster in two if that
    raises the criterion on the cluster's own points, and repeats this until no cluster is split.
    The answer is the best model met.

    Parameters
    ----------
    clusterer : KMeans, default=None
        Gives the first partition and the final labels. None is ``KMeans(n_init=10)``.
    k_range : sequence of int or None, default=None
        Consecutive numbers; the largest bounds the splitting. None is 1 to 20.
    k_min : int, default=2
        Number of clusters to start from. From 1 it often stops at once.
    formula : {"corrected", "original"}, default="corrected"
        See `x_means_score`.
    check_global : bool, default=True
        Return the model with the best criterion on all points, instead of the last.
    n_starts : int, default=10
        Starts of each split: a random point of the cluster and its mirror image.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the splits and of the clusterer, unless that has its own.
    n_jobs : int, default=None
        Workers for the first partition.

    Attributes
    ----------
    n_clusters_ : int
        The answer.
    k_values_, scores_ : ndarray of shape (n_k,)
        Candidates and the criterion of the models met; NaN for the others.
    own_labels_ : ndarray of shape (n_samples,)
        Labels of X-means' own model; ``labels_`` are the clusterer's with that K.
    labels_, best_estimator_, best_value_, abstention_
        As in `IndexSelector`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> XMeans(random_state=0).fit(X).n_clusters_
    3
    """

    method = "x_means"
    clusterers = (KMeans,)
    consecutive = True

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[int] | None = None,
        k_min: int = 2,
        formula: Formula = "corrected",
        check_global: bool = True,
        n_starts: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.k_range = k_range
        self.k_min = k_min
        self.formula = formula
        self.check_global = check_global
        self.n_starts = n_starts
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check(self) -> None:
        validation.check_count("k_min", self.k_min)
        validation.check_choice("formula", self.formula, ["corrected", "original"])
        validation.check_flag("check_global", self.check_global)
        validation.check_count("n_starts", self.n_starts)

    def _fewest(self) -> int:
        return self.k_min

    def _judge(self, reference: Reference, values: tuple[Any, ...]) -> Verdict:
        X, k_max = reference.X, values[-1]
        start = reference.partitions([max(self.k_min, values[0])])[0]
        [solution] = lloyd(X, [solution_of(X, start.labels).centers])
        random = seeding.generator(reference.entropy, "x_means")
        met = [solution]
        while solution.n_clusters < k_max:
            centers = self._split(X, solution, k_max, random)
            if centers is None:
                break
            [solution] = lloyd(X, [centers])
            if solution.n_clusters <= met[-1].n_clusters:  # too few distinct points
                break
            met.append(solution)
        scores = np.full(len(values), np.nan)
        for each in met:
            if each.n_clusters in values:
                scores[values.index(each.n_clusters)] = self._score(X, each)
        best = max(met, key=lambda each: self._score(X, each)) if self.check_global else met[-1]
        self.own_labels_ = best.clusters.codes
        return verdict_of_splits(values, scores, best.n_clusters)

    def _score(self, X: Floats, solution: Solution) -> float:
        return x_means_score(solution.clusters.sizes, solution.sse, X.shape[1], self.formula)

    def _split(
        self, X: Floats, solution: Solution, k_max: int, random: np.random.Generator
    ) -> Floats | None:
        """Centers after the splits that gain most, as many as there is room for."""
        splits: list[tuple[float, int, Floats]] = []
        for label in range(solution.n_clusters):
            points = X[solution.clusters.codes == label]
            parent = solution_of(points, np.zeros(len(points), dtype=np.intp))
            children = self._two_means(points, parent, random)
            if children is None:
                continue
            gain = self._score(points, children) - self._score(points, parent)
            if gain > 0:
                splits.append((gain, label, children.centers))
        if not splits:
            return None
        splits.sort(key=lambda split: -split[0])
        chosen = splits[: k_max - solution.n_clusters]
        kept = np.delete(solution.centers, [label for _, label, _ in chosen], axis=0)
        return np.concatenate([kept, *(centers for *_, centers in chosen)])

    def _two_means(
        self, points: Floats, parent: Solution, random: np.random.Generator
    ) -> Solution | None:
        if len(points) < _SMALLEST or parent.sse == 0.0:
            return None
        center = parent.centers[0]
        picked = points[random.integers(len(points), size=self.n_starts)]
        tries = lloyd(points, [np.stack([point, 2 * center - point]) for point in picked])
        split = [each for each in tries if each.n_clusters == 2]
        return min(split, key=lambda each: each.sse, default=None)
