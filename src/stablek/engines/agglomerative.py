"""Agglomerative clustering: one dendrogram per set of points serves every number of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering

from stablek.engines.base import Setting
from stablek.engines.copies import relabeled_copies, similarities_of_copies
from stablek.engines.packing import additive_noise, pack, unpack
from stablek.kernels.linkage import ways
from stablek.results import Group, Partition, Request

__all__ = ["AgglomerativeEngine", "Dendrogram", "unsupported"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def unsupported(clusterer: Any) -> str | None:
    """Why the engine cannot replace the clusterer; None if it can.

    Examples
    --------
    >>> unsupported(AgglomerativeClustering(linkage="average"))
    >>> unsupported(AgglomerativeClustering(linkage="average", metric="cosine"))
    "metric='cosine' is not Euclidean"
    """
    if type(clusterer) is not AgglomerativeClustering:
        return f"{type(clusterer).__name__} is not AgglomerativeClustering"
    if clusterer.linkage not in ways.LINKAGES:
        return f"linkage={clusterer.linkage!r} is not known"
    if clusterer.metric not in ("euclidean", "l2"):
        return f"metric={clusterer.metric!r} is not Euclidean"
    for name in ("connectivity", "distance_threshold"):
        if getattr(clusterer, name) is not None:
            return f"{name} is set"
    return None


@dataclass(frozen=True)
class Dendrogram:
    """A dendrogram as spanning edges; see `stablek.kernels.linkage`."""

    first: Ints
    second: Ints
    height: Floats

    def inside(self, rows: Ints) -> Dendrogram | None:
        """Dendrogram of the points of one node; None if the rows are not those of a node."""
        place = np.full(len(self.first) + 1, -1, dtype=np.intp)
        place[rows] = np.arange(len(rows))
        first, second = place[self.first], place[self.second]
        within = (first >= 0) & (second >= 0)
        if np.count_nonzero(within) != len(rows) - 1:
            return None
        return Dendrogram(first[within], second[within], self.height[within])

    def labels(self, k_values: Sequence[int]) -> list[Ints]:
        """Labels of the cut into each number of clusters, in order of first appearance."""
        from stablek.kernels.linkage.cuts import cut_labels

        return cut_labels(self.first, self.second, self.height, k_values)

    def merges(self) -> tuple[Ints, Floats]:
        """Merges in order of height, as scikit-learn numbers them, and their heights.

        Row i of the first array has the two nodes that become node n + i. Points are the nodes 0
        to n - 1.
        """
        order = np.argsort(self.height, kind="stable")
        n = len(order) + 1
        children = np.empty((n - 1, 2), dtype=np.int64)
        # The node of each point, found through parents that are shortened on the way.
        parent = list(range(2 * n - 1))

        def node_of(point: int) -> int:
            while parent[point] != point:
                parent[point] = parent[parent[point]]
                point = parent[point]
            return point

        edges = zip(self.first[order].tolist(), self.second[order].tolist(), strict=True)
        for i, (a, b) in enumerate(edges):
            children[i] = sorted((node_of(a), node_of(b)))
            parent[children[i, 0]] = parent[children[i, 1]] = n + i
        return children, self.height[order]


class AgglomerativeEngine:
    """Engine for `sklearn.cluster.AgglomerativeClustering` with Euclidean distances.

    Ward and single linkage need memory in proportion to the number of points. Average and complete
    linkage need a matrix of all distances, and so does Ward with few points in many dimensions.
    If merges have equal heights, those of points that come first in X go first.

    Parameters
    ----------
    clusterer : AgglomerativeClustering
        A clusterer for which `unsupported` returns None.
    """

    prefer: Literal["threads", "processes"] = "threads"
    values_are_independent = False

    def __init__(self, clusterer: Any) -> None:
        self.clusterer = clusterer
        self._linkage = ways.LINKAGES.index(clusterer.linkage)

    def references(
        self, X: Floats, requests: Sequence[Request], entropy: int, *, keep_models: bool = True
    ) -> list[tuple[Partition, ...]]:
        """Reference partitions, cut from one dendrogram per request."""
        return [self._reference(X, request) for request in requests]

    def similarities(
        self, X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
    ) -> list[Floats]:
        """Similarity of reference and perturbed labels, (n_partitions, n_epsilons) per group."""
        _refuse_extension(setting)
        noise = additive_noise(X, draw, setting)
        if noise is None or setting.similarity.of_agreement is None:
            return [
                similarities_of_copies(self._labels, X, group, draw, epsilons, setting)
                for group in groups
            ]
        from stablek.kernels.linkage.agreements import agreements

        packed = pack(groups, len(X))
        sizes, n_features = np.diff(packed.row_starts), X.shape[1]
        sums = agreements(
            np.ascontiguousarray(X),
            noise,
            np.asarray(epsilons, dtype=np.float64),
            self._linkage,
            np.array([ways.choose_way(self._linkage, n, n_features) for n in sizes], np.intp),
            self._coefficients(X, noise),
            packed,
        )
        return unpack(sums, packed, setting)

    def relabel(
        self, X: Floats, partition: Partition, draw: int, epsilons: Floats, setting: Setting
    ) -> list[tuple[Ints | None, Ints]]:
        """Rows and labels of the perturbed copy of X, for each noise level."""
        _refuse_extension(setting)
        return relabeled_copies(self._labels, X, partition, draw, epsilons, setting)

    def estimator(self, X: Floats, partition: Partition) -> Any:
        """AgglomerativeClustering as fitted on X, filled in from the dendrogram."""
        estimator = clone(self.clusterer).set_params(n_clusters=partition.k)
        dendrogram: Dendrogram = partition.model
        children, heights = dendrogram.merges()
        estimator.n_features_in_ = X.shape[1]
        estimator.labels_ = partition.labels.copy()
        estimator.n_clusters_ = partition.k
        estimator.n_leaves_, estimator.n_connected_components_ = len(X), 1
        estimator.children_ = children
        if estimator.compute_distances:
            # `grow` divides the points by this power of two.
            exponent = int(np.frexp(np.abs(X).max())[1]) - 1
            distances = ways.distances_of_heights(heights, self._linkage)
            estimator.distances_ = np.ldexp(distances, exponent)
        return estimator

    def predict(self, X: Floats, partition: Partition) -> Ints:
        """A dendrogram cannot label new points."""
        raise NotImplementedError

    def bic(self, X: Floats, partition: Partition) -> None:
        """None: a dendrogram has no likelihood."""

    def _reference(self, X: Floats, request: Request) -> tuple[Partition, ...]:
        if not request.k_values:
            return ()
        dendrogram = None
        if request.rows is not None and request.parent is not None:
            whole = request.parent.model
            dendrogram = whole.inside(request.rows) if isinstance(whole, Dendrogram) else None
        if dendrogram is None:
            dendrogram = self._grow(X if request.rows is None else X[request.rows])
        model = dendrogram if request.rows is None else None  # to be cut again inside its nodes
        labels = dendrogram.labels(request.k_values)
        return tuple(map(Partition, request.k_values, labels, [model] * len(labels)))

    def _labels(
        self, noisy: Floats, partitions: Sequence[Partition], draw: int, setting: Setting
    ) -> list[Ints]:
        return self._grow(noisy).labels([partition.k for partition in partitions])

    def _grow(self, points: Floats) -> Dendrogram:
        from stablek.kernels.linkage.grow import grow

        n_edges = len(points) - 1
        first, second = np.empty(n_edges, dtype=np.intp), np.empty(n_edges, dtype=np.intp)
        height = np.empty(n_edges)
        by_feature = np.array(np.asarray(points, dtype=np.float64).T, order="C", copy=True)
        way = ways.choose_way(self._linkage, *points.shape)
        grow(by_feature, self._linkage, way, first, second, height)
        return Dendrogram(first, second, height)

    def _coefficients(self, X: Floats, noise: Floats) -> Floats:
        """Distances as functions of the noise level; empty if that is not the way for X."""
        if ways.choose_way(self._linkage, *X.shape) != ways.EXPANSION:
            return np.empty((3, 0, 0))
        from stablek.kernels.linkage.matrix import expand_distances

        # Divided by a power of two, so that no square overflows or vanishes; this is exact.
        exponent = -int(np.frexp(np.abs(X).max())[1])
        return expand_distances(np.ldexp(X, exponent, order="C"), np.ldexp(noise, exponent))


def _refuse_extension(setting: Setting) -> None:
    if setting.relabel != "refit":
        raise ValueError(
            f"relabel={setting.relabel!r} needs a clusterer that can predict, which "
            f"AgglomerativeClustering cannot: use relabel='refit'"
        )
