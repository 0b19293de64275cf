"""Hofmeyr's BIC for K-means with effective degrees of freedom."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from stablek import execution, validation
from stablek.indices.clusters import Clusters, centroids
from stablek.selectors.criterion import CriterionSelector, Verdict
from stablek.selectors.reference import Reference, cluster
from stablek.selectors.solution import Solution, solution_of

__all__ = ["Hofmeyr", "degrees_of_freedom", "local_linear", "smooth"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def degrees_of_freedom(X: Floats, labels: Ints, means: Floats, sigma: float) -> float:
    """Effective degrees of freedom of a K-means solution.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Points.
    labels : ndarray of shape (n,)
        The solution.
    means : ndarray of shape (n, p)
        Mean of each point under the reference model.
    sigma : float
        Standard deviation under the reference model.
    """
    from stablek.kernels.edf import excess_degrees_of_freedom

    clusters = Clusters.of(labels)
    centers = centroids(X, clusters)
    excess = excess_degrees_of_freedom(X, clusters.codes, centers, clusters.sizes, means, sigma)
    return float(centers.size + excess)


def local_linear(y: Floats, width: float) -> Floats:
    """Local-linear regression on the integers with truncated Gaussian weights.

    Examples
    --------
    >>> local_linear(np.array([1.0, 2.0, 3.0, 4.0]), 1.0).round(12)
    array([1., 2., 3., 4.])
    """
    if len(y) == 1:
        return y.copy()  # one point has no slope
    at = np.arange(len(y))
    u = at[None, :] - at[:, None]
    weights = np.where(np.abs(u) <= int(4 * width + 1e-9), np.exp(-(u**2) / (2 * width**2)), 0.0)
    s0, s1, s2 = (np.sum(weights * u**power, axis=1) for power in range(3))
    local = weights * (s2[:, None] - s1[:, None] * u)
    return np.asarray(local @ y / (s0 * s2 - s1**2))


def smooth(edf: Floats, n_features: int) -> tuple[Floats, float]:
    """Curve with at most one interior local minimum, and the width that it took."""
    width = 0.5
    while True:
        curve = local_linear(edf, width)
        if len(_minima(curve)) <= 1 or width > len(edf):
            break
        width = round(width + 0.1, 1)
    curve[0] = n_features
    return curve, width


def _minima(curve: Floats) -> Ints:
    """Interior positions that are at most as high as both neighbors."""
    middle = curve[1:-1]
    return np.flatnonzero((middle <= curve[:-2]) & (middle <= curve[2:])) + 1


class Hofmeyr(CriterionSelector):
    """Choose K by Hofmeyr (2018): BIC of K-means with its effective degrees of freedom.

    Parameters
    ----------
    clusterer : KMeans, default=None
        None is ``KMeans(n_init=10)``.
    k_range : sequence of int or None, default=None
        Consecutive numbers. All from 1 to the largest, and one more as the reference model, are
        computed; the answer depends on the largest. K above n_samples - 2 scores NaN. None is 1 to
        20.
    smoothing : bool, default=True
        Smooth the degrees of freedom over K.
    n_references : int, default=1
        Reference models over which the degrees of freedom are averaged.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the clusterer, unless it has its own.
    n_jobs : int, default=None
        Workers, as in scikit-learn.

    Attributes
    ----------
    n_clusters_ : int or None
        The answer; None for an abstention.
    k_values_, scores_ : ndarray of shape (n_k,)
        Candidates and minus their BIC. The first local minimum of the BIC decides.
    bic_, degrees_of_freedom_ : ndarray of shape (n_k,)
        The criterion and the degrees of freedom that it used.
    smoothing_width_ : float
        Width of the smoother; 0 without smoothing.
    labels_, best_estimator_, best_value_, abstention_
        As in `IndexSelector`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> Hofmeyr(random_state=0).fit(X).n_clusters_
    3
    """

    method = "hofmeyr"
    minimized = "BIC"
    clusterers = (KMeans,)
    consecutive = True
    supports_one_cluster = True

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[int] | None = None,
        smoothing: bool = True,
        n_references: int = 1,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.k_range = k_range
        self.smoothing = smoothing
        self.n_references = n_references
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check(self) -> None:
        validation.check_flag("smoothing", self.smoothing)
        validation.check_count("n_references", self.n_references)

    def _most(self, n_samples: int) -> int:
        return n_samples - 2  # the reference model has one cluster more, and spread left

    def _judge(self, reference: Reference, values: tuple[Any, ...]) -> Verdict:
        X = reference.X
        k_max = min(values[-1], self._most(len(X)))
        nothing = np.full(len(values), np.nan)
        labelings = [each.labels for each in reference.partitions(range(1, k_max + 1))]
        models = [solution_of(X, labels) for labels in self._references(reference, k_max + 1)]
        if not all(model.sse > 0 for model in models):
            self.bic_ = self.degrees_of_freedom_ = nothing
            self.smoothing_width_ = 0.0
            return Verdict(nothing, None, "the reference model leaves no spread in the data")
        tasks = [(X, labels, models) for labels in labelings]
        edf = np.array(execution.run(_mean_degrees, tasks, n_jobs=self.n_jobs, prefer="threads"))
        edf[0] = X.shape[1]
        self.smoothing_width_ = 0.0
        if self.smoothing:
            edf, self.smoothing_width_ = smooth(edf, X.shape[1])
        scatters = np.array([solution_of(X, labels).sse for labels in labelings])
        bic = X.size * np.log(scatters) + np.log(X.size) * edf
        judged = slice(values[0] - 1, k_max)
        beyond = nothing[: values[-1] - k_max]
        self.bic_ = np.concatenate([bic[judged], beyond])
        self.degrees_of_freedom_ = np.concatenate([edf[judged], beyond])
        return Verdict(-self.bic_, values[_first_minimum(bic[judged])])

    def _references(self, reference: Reference, k: int) -> list[Ints]:
        if self.n_references == 1:
            return [reference.partitions([k])[0].labels]
        return [
            cluster(reference.engine, reference.X, [k], reference.entropy, "hofmeyr", number)[0]
            for number in range(self.n_references)
        ]


def _first_minimum(bic: Floats) -> int:
    if len(bic) == 1 or (bic[0] < bic[1:]).all():
        return 0
    minima = _minima(bic)
    return int(minima[0]) if len(minima) else len(bic) - 1


def _mean_degrees(X: Floats, labels: Ints, models: list[Solution]) -> float:
    values = []
    for model in models:
        sigma = np.sqrt(model.sse / X.size)
        means = model.centers[model.clusters.codes]
        values.append(degrees_of_freedom(X, labels, means, float(sigma)))
    return float(np.mean(values))
