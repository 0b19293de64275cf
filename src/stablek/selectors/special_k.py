"""SpecialK: add clusters in a spectral embedding while a bound says that they are not chance."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array, diags_array
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.neighbors import NearestNeighbors

from stablek import execution, seeding, validation
from stablek.selectors.criterion import CriterionSelector, Verdict, check_share
from stablek.selectors.reference import Reference, cluster

__all__ = ["SpecialK", "log_bound"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_RADII = np.arange(10, 101) / 100.0
_COVERED = 0.99  # share of points that must have enough neighbors
_EIGENPAIRS = 200
_COLUMNS = 50  # of the embedding that K-means clusters
_PAIRS = 10  # pairs of clusters to test: those with the largest cut


def radius_graph(X: Floats, n_neighbors: int) -> csr_array | None:
    """0/1 graph with the smallest radius that gives nearly all points enough neighbors.

    A point is a neighbor of itself. The result is None if no radius up to 1 is large enough.
    """
    if n_neighbors > len(X):
        return None
    nearest = NearestNeighbors(n_neighbors=n_neighbors).fit(X)
    reach = nearest.kneighbors(X)[0][:, -1]
    enough = (reach[:, None] < _RADII).mean(axis=0) >= _COVERED
    if not enough.any():
        return None
    radius = np.nextafter(_RADII[np.argmax(enough)], 0.0)  # neighbors are strictly nearer
    graph = coo_array(nearest.radius_neighbors_graph(radius=radius))
    others = graph.row != graph.col
    edges = graph.row[others], graph.col[others]
    return csr_array((graph.data[others], edges), shape=graph.shape)


def neighbor_graph(X: Floats, n_neighbors: int) -> csr_array:
    """Symmetric, normalized graph of the nearest neighbors, weighted by distance."""
    count = min(n_neighbors, len(X) - 1)
    graph = csr_array(NearestNeighbors(n_neighbors=count).fit(X).kneighbors_graph(mode="distance"))
    graph = (graph + graph.T) / 2.0
    degree = np.asarray(graph.sum(axis=1)).ravel()
    scale = diags_array(1.0 / np.sqrt(np.where(degree > 0.0, degree, 1.0)))
    return csr_array(scale @ graph @ scale)


def embed(graph: csr_array, random: np.random.Generator) -> Floats:
    """Absolute eigenvectors, times the roots of their absolute eigenvalues; the largest ones."""
    n = graph.shape[0]
    count = min(_EIGENPAIRS, n - 1)
    if n <= 2 * count:  # here a dense solver is faster, and it is exact
        values, vectors = np.linalg.eigh(graph.toarray())
        largest = np.argsort(-np.abs(values), kind="stable")[:count]
        values, vectors = values[largest], vectors[:, largest]
    else:
        values, vectors = eigsh(graph, k=count, which="LM", v0=random.uniform(size=n))
    return np.asarray(np.abs(vectors) * np.sqrt(np.abs(values)))


def log_bound(D: Floats, first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    """Logarithm of the bound on the probability that two clusters are one; at most 0.

    Parameters
    ----------
    D : ndarray of shape (n, n_columns)
        The embedding.
    first, second : ndarray of bool, shape (n,)
        Members of the two clusters.
    """
    return min(0.0, _raw_log_bound(D, first, second))


def _raw_log_bound(D: Floats, first: NDArray[np.bool_], second: NDArray[np.bool_]) -> float:
    both = np.concatenate([D[first], D[second]])
    n_first, n_columns = int(first.sum()), D.shape[1]
    norms = np.linalg.norm(both, axis=0)
    U = both / np.where(norms > 0.0, norms, 1.0)
    U -= U.mean(axis=0)
    variance = float(np.mean(U**2))
    sums = (U[:n_first], U[n_first:])
    energy = max(float(np.sum(part.sum(axis=0) ** 2)) / len(part) for part in sums)
    t = energy - n_columns * variance
    spread = n_columns * variance + t / 3.0
    return float(np.log(len(both)) - t**2 / (2.0 * spread)) if spread > 0.0 else 0.0


class SpecialK(CriterionSelector):
    """Choose K by SpecialK (Hess and Duivesteijn, 2019).

    K-means clusters the spectral embedding of a neighborhood graph, with more and more clusters.
    It stops when the bound no longer rules out that two of the clusters are one.

    Parameters
    ----------
    clusterer : KMeans, default=None
        Clusters the embedding, and X for the final labels. None is ``KMeans(n_init=10)``.
    k_range : sequence of int or None, default=None
        Consecutive numbers. The largest one ends the search. None is 1 to 20.
    graph : {"radius", "neighbors"}, default="radius"
        "radius" is the 0/1 graph with the smallest radius, up to 1, that gives nearly all points
        ``n_neighbors`` neighbors. If there is none, the method abstains: scale the features, or
        use "neighbors". "neighbors" is the symmetric graph of nearest neighbors. It is inferred
        that the published study used "radius".
    n_neighbors : int, default=10
        Number of neighbors of each point.
    alpha : float, default=0.01
        Level of the bound.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the clusterer, unless it has its own.
    n_jobs : int, default=None
        Workers for the final labels.

    Attributes
    ----------
    n_clusters_ : int or None
        The answer; None for an abstention.
    k_values_, scores_ : ndarray of shape (n_k,)
        Candidates, and minus the largest log bound of two clusters. Scores below ``-log(alpha)``
        fail. NaN for K = 1 and for every K after the search stopped.
    own_labels_ : ndarray of shape (n_samples,)
        Labels in the embedding. ``labels_`` are those of the clusterer on X with the same K.
    labels_, best_estimator_, best_value_, abstention_
        As in `IndexSelector`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(600, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    >>> SpecialK(random_state=0).fit(X / X.std(axis=0)).n_clusters_
    3
    """

    method = "special_k"
    minimized = "log bound"
    clusterers = (KMeans,)
    consecutive = True
    supports_one_cluster = True

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[int] | None = None,
        graph: Literal["radius", "neighbors"] = "radius",
        n_neighbors: int = 10,
        alpha: float = 0.01,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.k_range = k_range
        self.graph = graph
        self.n_neighbors = n_neighbors
        self.alpha = alpha
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check(self) -> None:
        validation.check_choice("graph", self.graph, ["radius", "neighbors"])
        validation.check_count("n_neighbors", self.n_neighbors)
        check_share("alpha", self.alpha)

    def _judge(self, reference: Reference, k_values: tuple[Any, ...]) -> Verdict:
        X = reference.X
        scores = np.full(len(k_values), np.nan)
        self.own_labels_ = np.zeros(len(X), dtype=np.intp)
        build = radius_graph if self.graph == "radius" else neighbor_graph
        graph = build(X, self.n_neighbors)
        if graph is None:
            reason = (
                f"no radius up to {_RADII[-1]:g} gives {_COVERED:.0%} of the points "
                f"{self.n_neighbors} neighbors; scale the features or set graph='neighbors'"
            )
            return Verdict(scores, None, reason)
        # `run` uses one BLAS thread, so that the bits do not depend on the number of cores.
        random = seeding.generator(reference.entropy, "special_k")
        D = execution.run(embed, [(graph, random)])[0]
        strongest = np.argsort(-np.linalg.norm(D, axis=0), kind="stable")[:_COLUMNS]
        points = np.ascontiguousarray(D[:, strongest])
        best = 1
        for k in range(2, k_values[-1] + 1):
            labels = cluster(reference.engine, points, [k], reference.entropy, "special_k")[0]
            largest = max(_largest_bounds(graph, D, labels), default=0.0)
            if k in k_values:
                scores[k_values.index(k)] = 0.0 - largest
            if largest > np.log(self.alpha):
                break
            best, self.own_labels_ = k, labels
        if best < k_values[0]:
            return Verdict(scores, None, f"it found {best} clusters, fewer than k_range has")
        return Verdict(scores, best)


def _largest_bounds(graph: csr_array, D: Floats, labels: Ints) -> list[float]:
    """Log bounds of the pairs of clusters with the largest cuts."""
    members = [labels == label for label in np.unique(labels)]
    indicator = np.stack(members, axis=1).astype(float)
    cut = indicator.T @ (graph @ indicator)
    pairs = sorted(combinations(range(len(members)), 2), key=lambda pair: -cut[pair])
    return [log_bound(D, members[a], members[b]) for a, b in pairs[:_PAIRS]]
