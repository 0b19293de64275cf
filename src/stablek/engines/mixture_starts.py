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
    rows : ndarray or None
        Rows of X that have labels; None for all.
    labels : list of ndarray of shape (n_starts, n_rows)
        For each k, the labels of each start.
    """

    rows: Ints | None
    labels: list[Ints]


class Starts(Protocol):
    """A way to start EM."""

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
            if sample is not None:
                rows = sample if rows is None else rows[sample]
            labels = hierarchical_labels(X if rows is None else X[rows], request.k_values)
            result.append(Start(rows, [own[None] for own in labels]))
        return result


class _KMeansStarts:
    """Results of K-means: one run per start, or one start from the best of many runs."""

    def __init__(self, clusterer: Any) -> None:
        self.takes_best = isinstance(clusterer, KMeansGaussianMixture)
        self.n_init, self.random_state = int(clusterer.n_init), clusterer.random_state
        best = KMeans(n_init=self.n_init, random_state=self.random_state)
        # Better runs would be more alike, and the best of the mixtures that start from them worse.
        self.engine = (
            KMeansEngine(best)
            if self.takes_best
            else KMeansEngine(KMeans(n_init=1), swap_centers=False)
        )

    def of(self, X: Floats, requests: Sequence[Request], entropy: int, *what: Any) -> list[Start]:
        seeds = [entropy]
        if not self.takes_best:
            seed = self.random_state
            if seed is None:
                seed = seeding.seed(entropy, *what)
            seeds = [seeding.seed(int(seed), "start", start) for start in range(self.n_init)]
        # One call answers for all requests and all k.
        runs = [self.engine.references(X, requests, seed) for seed in seeds]
        result = []
        for request, *found in zip(requests, *runs, strict=True):
            by_k = zip(*found, strict=True)
            labels = [_different(np.array([p.labels for p in run], np.intp)) for run in by_k]
            result.append(Start(request.rows, labels))
        return result


def _different(labels: Ints) -> Ints:
    """Rows of labels that are different partitions: equal starts give equal mixtures.

    Examples
    --------
    >>> _different(np.array([[0, 0, 1], [1, 1, 0], [0, 1, 1]]))
    array([[0, 0, 1],
           [0, 1, 1]])
    """
    if len(labels) == 1:
        return labels
    # Name each cluster by its first point: of several writes to one place the last one stays.
    first = np.empty(int(labels.max()) + 1, dtype=np.intp)
    backward = np.arange(labels.shape[1])[::-1]
    seen: dict[bytes, int] = {}
    for start, row in enumerate(labels):
        first[row[::-1]] = backward
        seen.setdefault(first[row].tobytes(), start)
    return labels[[*seen.values()]]
