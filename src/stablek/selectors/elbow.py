"""The elbow of the inertia curve, found by the rule of Kneedle."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stablek.indices.clusters import Clusters, centroids, scatter
from stablek.selectors.criterion import CannotJudgeError, CriterionSelector, Verdict
from stablek.selectors.reference import Reference

__all__ = ["Elbow", "elbow_curve", "find_elbow"]

Floats = NDArray[np.float64]


def elbow_curve(k_values: ArrayLike, inertia: ArrayLike) -> Floats:
    """How far a falling curve lies below the straight line between its ends.

    Both axes are scaled to [0, 1] first. NaN everywhere if the curve is flat.

    Examples
    --------
    >>> elbow_curve([1, 2, 3, 4, 5], [100, 40, 10, 5, 0]).round(2).tolist()
    [0.0, 0.35, 0.4, 0.2, 0.0]
    """
    k, y = np.asarray(k_values, dtype=np.float64), np.asarray(inertia, dtype=np.float64)
    height = np.ptp(y)
    if not height > 0:
        return np.full(len(y), np.nan)
    return np.asarray((y.max() - y) / height - (k - k[0]) / (k[-1] - k[0]))


def find_elbow(curve: ArrayLike, sensitivity: float = 1.0) -> int | None:
    """Position of the first peak of `elbow_curve` after which it falls far enough, or None.

    Far enough is ``sensitivity`` mean steps of the axis of K below the peak, before the next
    valley. A peak must lie above 0, where the inertia is below the line.

    Examples
    --------
    >>> find_elbow([0.0, 0.35, 0.4, 0.2, 0.0]), find_elbow([0.0, 0.0, 0.0])
    (2, None)
    """
    d = np.asarray(curve, dtype=np.float64)
    around = np.pad(d, 1, mode="edge")
    is_peak = (d >= around[:-2]) & (d >= around[2:])
    is_valley = (d <= around[:-2]) & (d <= around[2:])
    peak = None
    for i in range(1, len(d) - 1):  # the ends lie on the line
        if is_peak[i] and d[i] > 0:
            peak = i
        if is_valley[i]:
            peak = None
        if peak is not None and d[i + 1] < d[peak] - sensitivity / (len(d) - 1):
            return peak
    return None


class Elbow(CriterionSelector):
    """Choose the K at the elbow of the inertia curve, by the rule of Kneedle.

    It is here because most people know it. It finds an elbow in data without clusters too, and the
    answer depends on the candidates: see docs/methods.md before you rely on it.

    Parameters
    ----------
    clusterer : estimator, default=None
        Any scikit-learn style clusterer. None is ``KMeans(n_init=10)``.
    k_range : sequence of int or None, default=None
        At least three candidates. The first and the last cannot be the answer. None is 1 to 20.
    sensitivity : float, default=1.0
        How far the curve must fall after its peak, in steps of K (Kneedle's S). Larger values find
        fewer elbows.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the clusterer unless it has its own.
    n_jobs : int, default=None
        Workers, as in scikit-learn.

    Attributes
    ----------
    n_clusters_ : int or None
        The answer; None if the curve has no elbow.
    k_values_, scores_ : ndarray of shape (n_k,)
        Candidates, and how far the inertia lies below the line between the ends of its curve, with
        both axes scaled to [0, 1]; NaN at the ends. The rule decides, not always the largest.
    inertia_ : ndarray of shape (n_k,)
        Sum of squared distances of the points to the mean of their cluster.
    labels_, best_estimator_, best_value_, abstention_
        As in `IndexSelector`.

    References
    ----------
    Satopää, Albrecht, Irwin, Raghavan (2011). Finding a "Kneedle" in a haystack: detecting knee
    points in system behavior.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> Elbow(k_range=range(1, 9), random_state=0).fit(X).n_clusters_
    3
    """

    method: ClassVar[str] = "elbow"

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[int] | None = None,
        sensitivity: float = 1.0,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.k_range = k_range
        self.sensitivity = sensitivity
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check(self) -> None:
        if not isinstance(self.sensitivity, (int, float)) or not 0 <= self.sensitivity < np.inf:
            raise ValueError(
                f"sensitivity must be a number of at least 0, got {self.sensitivity!r}"
            )

    def _fewest(self) -> int:
        return 1  # where the curve begins; it cannot be the answer

    def _judge(self, reference: Reference, k_values: tuple[Any, ...]) -> Verdict:
        if len(k_values) < 3:
            raise CannotJudgeError(
                f"method {self.method!r} cannot judge k_range={list(k_values)}: an elbow needs at "
                f"least three candidates"
            )
        partitions = self._reference_partitions(reference, k_values)
        groups = [Clusters.of(each.labels) for each in partitions]
        X = reference.X
        self.inertia_ = np.array([scatter(X, each, centroids(X, each)) for each in groups])
        scores = elbow_curve(k_values, self.inertia_)
        position = find_elbow(scores, self.sensitivity)
        scores[[0, -1]] = np.nan  # the ends of the line cannot be the answer
        if position is None:
            return Verdict(scores, None, "the inertia curve has no elbow")
        return Verdict(scores, k_values[position])
