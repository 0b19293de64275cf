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
from stablek.engines.generic import compare
from stablek.engines.packing import additive_noise, pack, unpack
from stablek.perturbations import Draw, perturb
from stablek.results import Group, Partition, Request

__all__ = ["AgglomerativeEngine", "Dendrogram", "unsupported"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_LINKAGES = ("ward", "average", "complete", "single")  # in the order of the kernels' codes


def unsupported(clusterer: Any) -> str | None:
    """Why the engine cannot stand for the clusterer; None when it can.

    Examples
    --------
    >>> unsupported(AgglomerativeClustering(linkage="average"))
    >>> unsupported(AgglomerativeClustering(linkage="average", metric="cosine"))
    "metric='cosine' is not Euclidean"
    """
    if type(clusterer) is not AgglomerativeClustering:
        return f"{type(clusterer).__name__} is not AgglomerativeClustering"
    if clusterer.linkage not in _LINKAGES:
        return f"linkage={clusterer.linkage!r} is not known"
    if clusterer.metric not in ("euclidean", "l2"):
        return f"metric={clusterer.metric!r} is not Euclidean"
    for name in ("connectivity", "distance_threshold"):
        if getattr(clusterer, name) is not None:
            return f"{name} is set"
    return None


@dataclass(frozen=True)
class Dendrogram:
    """Spanning edges of a dendrogram; see `stablek.kernels.linkage`."""

    first: Ints
    second: Ints
    height: Floats

    def inside(self, rows: Ints) -> Dendrogram | None:
        """Dendrogram of one node's points: the edges among them. None if they are no node."""
        place = np.full(len(self.first) + 1, -1, dtype=np.intp)
        place[rows] = np.arange(len(rows))
        first, second = place[self.first], place[self.second]
        within = (first >= 0) & (second >= 0)
        if np.count_nonzero(within) != len(rows) - 1:
            return None
        return Dendrogram(first[within], second[within], self.height[within])

    def labels(self, ks: Sequence[int]) -> list[Ints]:
        """Labels of the cut into each number of clusters, in order of first appearance."""
        from stablek.kernels.cuts import cut

        n = len(self.first) + 1
        finest = np.empty(n, dtype=np.intp)
        coarser = np.empty((len(ks), min(max(ks), n)), dtype=np.intp)
        cut(self.first, self.second, self.height, np.asarray(ks, np.intp), finest, coarser)
        return list(coarser[:, finest])


class AgglomerativeEngine:
    """Engine for `sklearn.cluster.AgglomerativeClustering` with Euclidean distances.

    Ward and single linkage need memory in proportion to the number of points, average and
    complete linkage a matrix of all distances, as does Ward's of few points in many dimensions.
    Of several merges of equal height, those of points that come first in X go first.

    Parameters
    ----------
    clusterer : AgglomerativeClustering
        One for which `unsupported` has nothing to say.
    """

    prefer: Literal["threads", "processes"] = "threads"
    values_are_independent = False

    def __init__(self, clusterer: Any) -> None:
        self.clusterer = clusterer
        self._linkage = _LINKAGES.index(clusterer.linkage)

    def references(
        self, X: Floats, requests: Sequence[Request], entropy: int, *, keep_models: bool = True
    ) -> list[tuple[Partition, ...]]:
        """Reference partitions, cut from one dendrogram per request."""
        return [self._reference(X, request) for request in requests]

    def similarities(
        self, X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
    ) -> list[Floats]:
        """Similarity of reference and perturbed labels, (n_partitions, n_epsilons) a group."""
        _no_extension(setting)
        noise = additive_noise(X, draw, setting)
        if noise is None or setting.similarity.of_agreement is None:
            return [self._similarities(X, group, draw, epsilons, setting) for group in groups]
        from stablek.kernels import linkage
        from stablek.kernels.linkage_agreements import agreements

        packed = pack(groups, len(X))
        X = np.ascontiguousarray(X)
        coefficients = np.empty((3, 0, 0))
        if self._linkage != linkage.SINGLE and linkage.is_wide(*X.shape):
            # Over a power of two, which is exact, so that no square overflows or vanishes.
            exponent = -int(np.frexp(np.abs(X).max())[1])
            coefficients = linkage.expand_distances(
                np.ldexp(X, exponent), np.ldexp(noise, exponent)
            )
        sums = agreements(
            X,
            noise,
            np.asarray(epsilons, dtype=np.float64),
            self._linkage,
            coefficients,
            packed.rows,
            packed.row_starts,
            packed.k_values,
            packed.partition_starts,
            packed.labels,
            packed.label_starts,
            packed.n_labels,
        )
        return unpack(sums, packed, setting)

    def relabel(
        self, X: Floats, partition: Partition, draw: int, epsilons: Floats, setting: Setting
    ) -> list[tuple[Ints | None, Ints]]:
        """Rows and labels of the perturbed copy of X, for each noise level."""
        _no_extension(setting)
        copies = self._copies(X, None, [partition.k], draw, epsilons, setting)
        return [(rows, labels[0]) for rows, labels in copies]

    def estimator(self, X: Floats, partition: Partition) -> Any:
        """Fitted AgglomerativeClustering with the partition's labels."""
        estimator = clone(self.clusterer).set_params(n_clusters=partition.k).fit(X)
        estimator.labels_ = partition.labels.copy()
        return estimator

    def bic(self, X: Floats, partition: Partition) -> None:
        """A dendrogram has no likelihood."""

    def _reference(self, X: Floats, request: Request) -> tuple[Partition, ...]:
        if not request.k_values:
            return ()
        tree = None
        if request.rows is None:
            tree = self._grow(X)
        else:
            if request.parent is not None and isinstance(request.parent.model, Dendrogram):
                tree = request.parent.model.inside(request.rows)
            if tree is None:
                tree = self._grow(X[request.rows])
        model = tree if request.rows is None else None  # to be cut again inside its nodes
        return tuple(
            Partition(value, labels, model)
            for value, labels in zip(request.k_values, tree.labels(request.k_values), strict=True)
        )

    def _similarities(
        self, X: Floats, group: Group, draw: int, epsilons: Floats, setting: Setting
    ) -> Floats:
        """The way of one copy at a time, for any perturbation and any similarity."""
        values = [partition.k for partition in group.partitions]
        result = np.empty((len(values), len(epsilons)))
        copies = self._copies(X, group.rows, values, draw, epsilons, setting)
        for e, (rows, labels) in enumerate(copies):
            for i, partition in enumerate(group.partitions):
                result[i, e] = compare(partition.labels, labels[i], rows, setting)
        return result

    def _copies(
        self,
        X: Floats,
        rows: Ints | None,
        values: Sequence[int],
        draw: int,
        epsilons: Floats,
        setting: Setting,
    ) -> list[tuple[Ints | None, list[Ints]]]:
        """Rows and, for each value, labels of the perturbed points at each noise level."""
        if not values:
            return [(None, [])] * len(epsilons)
        points = X if rows is None else X[rows]
        source = Draw(setting.entropy, draw, len(X), rows)
        copies = []
        for epsilon in epsilons:
            noisy, kept = perturb(points, epsilon, setting.scale, source, setting.perturbation)
            copies.append((kept, self._grow(noisy).labels(values)))
        return copies

    def _grow(self, points: Floats) -> Dendrogram:
        from stablek.kernels import linkage

        n_edges = len(points) - 1
        first, second = np.empty(n_edges, dtype=np.intp), np.empty(n_edges, dtype=np.intp)
        height = np.empty(n_edges)
        by_feature = np.array(np.asarray(points, dtype=np.float64).T, order="C", copy=True)
        linkage.grow(by_feature, self._linkage, first, second, height)
        return Dendrogram(first, second, height)


def _no_extension(setting: Setting) -> None:
    if setting.relabel == "extend":
        raise ValueError(
            "relabel='extend' needs a clusterer that can predict, which AgglomerativeClustering "
            "cannot: use relabel='refit'"
        )
