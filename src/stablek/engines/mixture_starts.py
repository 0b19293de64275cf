"""Labels from which EM starts: cuts of a model-based hierarchy, or results of K-means."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans

from stablek import seeding
from stablek.engines.kmeans import KMeansEngine
from stablek.mixture import (
    KMeansGaussianMixture,
    SVDGaussianMixture,
    hierarchical_labels,
    hierarchy_rows,
)
from stablek.results import Request

__all__ = ["Start", "Starts", "starts_for"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Start(NamedTuple):
    """Labeled points from which the mixtures of one request start.

    Parameters
    ----------
    sample : ndarray or None
        Positions of the points that have labels, among the points of the request; None for all.
    labels : list of ndarray of shape (n_starts, n_points)
        For each k, the labels of each start.
    """

    sample: Ints | None
    labels: list[Ints]


class Starts(Protocol):
    """A way to start EM."""

    n_starts: int
    """Starts of each mixture."""

    def of(self, X: Floats, requests: Sequence[Request], entropy: int, *what: Any) -> list[Start]:
        """Start of each request; `what` is the role of the fits and, for copies, the draw."""
        ...


def starts_for(clusterer: Any) -> Starts:
    """The starts that a mixture asks for.

    Examples
    --------
    >>> X = np.array([[0.0], [0.1], [5.0], [5.1]])
    >>> [start] = starts_for(SVDGaussianMixture()).of(X, [Request(None, (2,))], 0, "reference")
    >>> start.labels
    [array([[0, 0, 1, 1]])]
    """
    if isinstance(clusterer, SVDGaussianMixture):
        return _HierarchyStarts(clusterer)
    return _KMeansStarts(clusterer)


class _HierarchyStarts:
    """One start for each k: the hierarchy's cut into k clusters."""

    n_starts = 1

    def __init__(self, clusterer: Any) -> None:
        self.random_state = clusterer.random_state

    def of(self, X: Floats, requests: Sequence[Request], entropy: int, *what: Any) -> list[Start]:
        seed = self.random_state
        if seed is None:
            seed = seeding.seed(entropy, "hierarchy", *what)
        result = []
        for request in requests:
            rows = request.rows
            sample = hierarchy_rows(len(X) if rows is None else len(rows), seed)
            points = X if rows is None else X[rows]
            if sample is not None:
                points = points[sample]
            labels = hierarchical_labels(points, request.k_values)
            result.append(Start(sample, [own[None] for own in labels]))
        return result


class _KMeansStarts:
    """Results of K-means: one run per start, or one start from the best of many runs."""

    def __init__(self, clusterer: Any) -> None:
        self.takes_best = isinstance(clusterer, KMeansGaussianMixture)
        n_init, self.random_state = int(clusterer.n_init), clusterer.random_state
        self.n_starts = 1 if self.takes_best else n_init
        # Better runs would be more alike, and the best of the mixtures that start from them worse.
        self.engine = (
            KMeansEngine(KMeans(n_init=n_init, random_state=self.random_state))
            if self.takes_best
            else KMeansEngine(KMeans(n_init=n_init), swap_centers=False)
        )

    def of(self, X: Floats, requests: Sequence[Request], entropy: int, *what: Any) -> list[Start]:
        """Start of each request, by one call for all starts, requests and k."""
        seed = entropy
        if not self.takes_best:
            given = self.random_state
            seed = seeding.seed(entropy, *what) if given is None else int(given)
            seed = seeding.seed(seed, "start", 0)
        if self.n_starts > 1:
            return [Start(None, runs) for runs in self.engine.runs(X, requests, seed)]
        found = self.engine.references(X, requests, seed)
        return [Start(None, [own.labels[None] for own in partitions]) for partitions in found]
