"""G-means: split clusters while their points do not look Gaussian."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr
from sklearn.cluster import KMeans

from stablek.selectors.criterion import CriterionSelector, Verdict, check_share, verdict_of_splits
from stablek.selectors.reference import Reference
from stablek.selectors.solution import Solution, lloyd

__all__ = ["GMeans", "anderson_darling", "anderson_darling_p_value"]

Floats = NDArray[np.float64]

_SMALLEST = 8  # points of a cluster that is tested: the small-sample correction needs some
_ALPHA, _CRITICAL = 1e-4, 1.8692  # level and critical value of the article


def anderson_darling(values: NDArray[Any]) -> float:
    """Anderson-Darling statistic for normality with unknown mean and variance.

    Examples
    --------
    >>> round(anderson_darling(np.arange(20.0)), 3)
    0.221
    """
    x = np.sort(np.asarray(values, dtype=float))
    n = len(x)
    z = (x - x.mean()) / x.std(ddof=1)
    weights = 2.0 * np.arange(1, n + 1) - 1.0
    return float(-n - weights @ (log_ndtr(z) + log_ndtr(-z[::-1])) / n)


def anderson_darling_p_value(statistic: float, n: int) -> float:
    """P-value by the approximation of D'Agostino and Stephens (1986).

    Examples
    --------
    >>> round(anderson_darling_p_value(0.889199486013, 150), 6)
    0.022511
    """
    a = statistic * (1.0 + 0.75 / n + 2.25 / n**2)
    if a < 0.2:
        return float(1.0 - np.exp(-13.436 + 101.14 * a - 223.73 * a**2))
    if a < 0.34:
        return float(1.0 - np.exp(-8.318 + 42.796 * a - 59.938 * a**2))
    if a < 0.6:
        return float(np.exp(0.9177 - 4.279 * a - 1.38 * a**2))
    # Beyond 10 the quadratic would make the p-value grow again.
    return float(np.exp(1.2937 - 5.709 * a + 0.0186 * a**2)) if a < 10 else 0.0


def corrected_statistic(statistic: float, n: int) -> float:
    """Statistic with the small-sample correction of the G-means article."""
    return statistic * (1.0 + 4.0 / n - 25.0 / n**2)


class GMeans(CriterionSelector):
    """Choose K by G-means (Hamerly and Elkan, 2003).

    It starts from the smallest K of ``k_range``. Each cluster is divided by 2-means,
    and its points are projected on the line through the two centers. If they fail the
    Anderson-Darling test of normality, the cluster is split. This is repeated until every cluster
    passes.

    Parameters
    ----------
    clusterer : KMeans, default=None
        Gives the final labels. None is ``KMeans(n_init=10)``.
    k_range : sequence of int or None, default=None
        Consecutive numbers; the smallest starts and the largest bounds the splitting. None is 1 to
        20.
    alpha : float, default=1e-4
        Level of the test.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the clusterer, unless it has its own; the splits are not random.
    n_jobs : int, default=None
        Workers for the clusterer.

    Attributes
    ----------
    n_clusters_ : int
        The answer.
    k_values_, scores_ : ndarray of shape (n_k,)
        Candidates and minus the number of clusters that failed the test, for the models met;
        NaN for the others.
    own_labels_ : ndarray of shape (n_samples,)
        Labels of G-means' own model; ``labels_`` are the clusterer's with that K.
    labels_, best_estimator_, best_value_, abstention_
        As in `IndexSelector`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> GMeans(random_state=0).fit(X).n_clusters_
    3
    """

    method = "g_means"
    clusterers = (KMeans,)
    consecutive = True
    supports_one_cluster = True

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[int] | None = None,
        alpha: float = _ALPHA,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.k_range = k_range
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check(self) -> None:
        check_share("alpha", self.alpha)

    def _judge(self, reference: Reference, values: tuple[Any, ...]) -> Verdict:
        X, k_max = reference.X, values[-1]
        scores = np.full(len(values), np.nan)
        start = X.mean(axis=0)[None]
        if values[0] > 1:
            labels = reference.partitions([values[0]])[0].labels
            start = np.stack([X[labels == label].mean(axis=0) for label in np.unique(labels)])
        [solution] = lloyd(X, [start])
        while True:
            splits = self._splits(X, solution)
            if solution.n_clusters in values:
                scores[values.index(solution.n_clusters)] = 0.0 - len(splits)
            room = k_max - solution.n_clusters
            if not splits or room <= 0:
                break
            chosen = sorted(splits, key=lambda split: -split[0])[:room]
            kept = np.delete(solution.centers, [label for _, label, _ in chosen], axis=0)
            children = [centers for *_, centers in chosen]
            [finer] = lloyd(X, [np.concatenate([kept, *children])])
            if finer.n_clusters <= solution.n_clusters:  # too few distinct points
                break
            solution = finer
        self.own_labels_ = solution.clusters.codes
        return verdict_of_splits(values, scores, solution.n_clusters)

    def _splits(self, X: Floats, solution: Solution) -> list[tuple[float, int, Floats]]:
        """Statistic, label and children's centers of each cluster that fails the test."""
        found = []
        for label in range(solution.n_clusters):
            points = X[solution.clusters.codes == label]
            children = _children(points, solution.centers[label])
            if children is None:
                continue
            line = children[0] - children[1]
            statistic = anderson_darling(points @ line / (line @ line))
            if self._fails(statistic, len(points)):
                found.append((statistic, label, children))
        return found

    def _fails(self, statistic: float, n: int) -> bool:
        if self.alpha == _ALPHA:
            return corrected_statistic(statistic, n) > _CRITICAL
        return anderson_darling_p_value(statistic, n) < self.alpha


def _children(points: Floats, center: Floats) -> Floats | None:
    """Centers of 2-means started on both sides of the center, along the main axis."""
    if len(points) < _SMALLEST:
        return None
    covariance = np.atleast_2d(np.cov(points, rowvar=False))
    eigenvalues, eigenvectors = np.linalg.eigh(covariance)
    if eigenvalues[-1] <= 0.0:
        return None
    step = eigenvectors[:, -1] * np.sqrt(2.0 * eigenvalues[-1] / np.pi)
    [children] = lloyd(points, [np.stack([center + step, center - step])])
    return children.centers if children.n_clusters == 2 else None
