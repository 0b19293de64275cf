"""K-means on blocks: Lloyd steps for all centers in one pass, and tables of noisy labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.blockwise.core import Blocks
from stablek.blockwise.layout import Layout, pack_inside, pack_whole, rows_of_labels
from stablek.blockwise.measuring import start_models
from stablek.engines.base import Setting
from stablek.engines.packing import scaled_noise
from stablek.kernels.packed import PackedGroups
from stablek.paths import PathGroups

__all__ = ["BlockKMeans"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


@dataclass
class CenterMoments:
    """What one pass sums up for every center, and the tables if noise was added."""

    counts: Ints
    gaps: Floats
    squares: Floats
    farthest: Floats
    farthest_points: Floats
    tables: Ints

    def merge(self, other: CenterMoments) -> CenterMoments:
        """Add the sums of later blocks."""
        self.counts += other.counts
        self.gaps += other.gaps
        self.squares += other.squares
        farther = other.farthest > self.farthest
        self.farthest[farther] = other.farthest[farther]
        self.farthest_points[farther] = other.farthest_points[farther]
        self.tables += other.tables
        return self


@dataclass(frozen=True)
class BlockKMeans:
    """K-means models of all partitions of a layout.

    Parameters
    ----------
    layout : Layout
        The partitions.
    centers : ndarray of shape (n_centers, n_features)
        Centers of all partitions, laid end to end.
    inertia : ndarray of shape (n_partitions,)
        Sums of squared distances to the centers, if a pass has summed them up.
    """

    layout: Layout
    centers: Floats
    inertia: Floats | None = None
    n_passes: int = 0

    @classmethod
    def start(cls, layout: Layout, groups: PathGroups, sample: Floats) -> BlockKMeans:
        """Centers of partitions of the sample.

        A cluster with too few points in the sample gets equal centers. All but the first are then
        empty, and an empty cluster takes the farthest point in each pass.
        """
        centers = []
        for own, parent, k in start_models(layout, groups):
            if own is None:
                center = sample.mean(axis=0) if parent is None else parent.model[parent.label]
                own = np.repeat(center[None], k, axis=0)
            centers.append(own)
        return cls(layout, np.concatenate(centers))

    def refine(
        self,
        blocks: Blocks,
        clusterer: Any,
        variance: float,
        max_passes: int,
        title: str | None = None,
    ) -> BlockKMeans:
        """Lloyd steps on all rows until the centers rest.

        Parameters
        ----------
        blocks : Blocks
            All rows.
        clusterer : KMeans
            ``tol`` has the meaning of scikit-learn.
        variance : float
            Mean variance of the features.
        max_passes : int
            Most steps.
        title : str or None
            Title of the progress bars.
        """
        models, moving = self, np.ones(len(self.layout.k_values), dtype=bool)
        n_passes = 0
        while n_passes < max_passes and moving.any():
            n_passes += 1
            named = None if title is None else f"{title} {n_passes}"
            moments = blocks.reduce(partial(models.step, moving), named)
            models, moving = models._moved(moments, moving, float(clusterer.tol), variance)
        return BlockKMeans(models.layout, models.centers, None, n_passes)

    def step(self, moving: NDArray[np.bool_], start: int, X: Floats) -> CenterMoments:
        """Sums of one block for the partitions that still move."""
        moments, _ = self._assigned(X, moving)
        return moments

    def measure(
        self, epsilons: Floats, n_draws: int, setting: Setting, start: int, X: Floats
    ) -> CenterMoments:
        """Sums of one block, and tables of (label, label with noise) for all draws and levels."""
        from stablek.kernels.kmeans.extend import extend_memory, extend_tables

        layout, n_levels = self.layout, len(epsilons)
        moments, packs = self._assigned(X, np.ones(len(layout.k_values), dtype=bool))
        first_cell = layout.first_cell(n_levels)
        tables = np.zeros((n_draws, first_cell[-1]), dtype=np.int32)
        memory = extend_memory(X.shape[1], int(layout.k_values.max()), n_levels)
        for draw in range(n_draws):
            noise = scaled_noise(X, draw, start, start + len(X), setting)
            for pack, partitions in packs:
                centers = self.centers[self._places(partitions)]
                cells = first_cell[partitions]
                extend_tables(X, noise, 0, epsilons, pack, centers, memory, tables[draw], cells)
        moments.tables = tables.astype(np.int64)
        return moments

    def measured(self, moments: CenterMoments) -> BlockKMeans:
        """The same models with the inertia that a pass has found."""
        inertia = np.add.reduceat(moments.squares, self.layout.starts[:-1])
        return BlockKMeans(self.layout, self.centers, inertia, self.n_passes)

    def with_inertia(self, blocks: Blocks) -> BlockKMeans:
        """The same models with their inertia, by one pass."""
        every = np.ones(len(self.layout.k_values), dtype=bool)
        return self.measured(blocks.reduce(partial(self.step, every)))

    def model(self, whole: int) -> Floats:
        """Centers of a partition of all rows."""
        return self.centers[self.layout.starts[whole] : self.layout.starts[whole + 1]]

    def value(self, whole: int) -> float:
        """Inertia of a partition of all rows."""
        assert self.inertia is not None
        return float(self.inertia[whole])

    def labels(self, whole: Sequence[int], start: int, X: Floats) -> Ints:
        """Labels of a block by some partitions of all rows, (n_partitions, n)."""
        from stablek.engines.kmeans.fits import nearest_labels

        return np.stack(nearest_labels(X, [self.model(i) for i in whole]))

    def kept(
        self, whole: int, epsilons: Floats, n_draws: int, setting: Setting, start: int, X: Floats
    ) -> Floats:
        """Share of draws and levels in which each point of a block keeps its label."""
        from stablek.engines.kmeans.fits import nearest_labels

        model = [self.model(whole)]
        [reference] = nearest_labels(X, model)
        kept = np.zeros(len(X))
        for draw in range(n_draws):
            noise = scaled_noise(X, draw, start, start + len(X), setting)
            for epsilon in epsilons:
                [labels] = nearest_labels(X + epsilon * noise, model)
                kept += labels == reference
        kept /= n_draws * len(epsilons)
        return kept

    def _assigned(
        self, X: Floats, moving: NDArray[np.bool_]
    ) -> tuple[CenterMoments, list[tuple[PackedGroups, Ints]]]:
        """Sums of the partitions that move, and the labeled points with their partitions."""
        layout = self.layout
        n_whole, n_centers, p = len(layout.whole), len(self.centers), X.shape[1]
        moments = CenterMoments(
            np.zeros(n_centers, dtype=np.int64),
            np.zeros((n_centers, p)),
            np.zeros(n_centers),
            np.full(n_centers, -1.0),
            np.zeros((n_centers, p)),
            np.zeros(0, dtype=np.int64),
        )
        inner = np.flatnonzero(moving[n_whole:])
        parents = {layout.inside[i].whole for i in inner.tolist()}
        whole = np.array([i for i in range(n_whole) if moving[i] or i in parents], dtype=np.intp)
        pack = pack_whole(len(X), layout.k_values[whole])
        self._add(X, pack, whole, moments)
        packs = [(pack, whole)]
        if len(inner):
            labels = dict(zip(whole.tolist(), pack.labels.reshape(-1, len(X)), strict=True))
            clusters = {i: rows_of_labels(labels[i], layout.whole[i]) for i in parents}
            keys = [layout.inside[i][:2] for i in inner.tolist()]
            groups = list(dict.fromkeys(keys))
            k_values: dict[tuple[int, int], list[int]] = {key: [] for key in groups}
            for i, key in zip(inner.tolist(), keys, strict=True):
                k_values[key].append(layout.inside[i].k)
            rows = [clusters[i][label] for i, label in groups]
            pack = pack_inside(rows, [k_values[key] for key in groups])
            self._add(X, pack, n_whole + inner, moments)
            packs.append((pack, n_whole + inner))
        return moments, packs

    def _add(
        self, X: Floats, pack: PackedGroups, partitions: Ints, moments: CenterMoments
    ) -> None:
        """Label the points of the groups and add them to the sums of their centers."""
        from stablek.kernels.kmeans.passes import CenterSums, assign_and_sum, pass_memory

        places = self._places(partitions)
        n = len(places)
        sums = CenterSums(
            np.zeros(n, dtype=np.int64),
            np.zeros((n, X.shape[1])),
            np.zeros(n),
            np.full(n, -1.0),
            np.zeros(n, dtype=np.int64),
        )
        per_group = np.add.reduceat(pack.k_values, pack.partition_starts[:-1])
        memory = pass_memory(X.shape[1], int(per_group.max()), int(pack.k_values.max()))
        assign_and_sum(X, pack, self.centers[places], memory, sums)
        moments.counts[places] = sums.counts
        moments.gaps[places] = sums.gaps
        moments.squares[places] = sums.squares
        moments.farthest[places] = sums.farthest
        moments.farthest_points[places] = X[sums.farthest_rows]

    def _places(self, partitions: Ints) -> Ints:
        """Positions of the centers of some partitions."""
        starts = self.layout.starts
        return np.concatenate([np.arange(starts[q], starts[q + 1]) for q in partitions.tolist()])

    def _moved(
        self, moments: CenterMoments, moving: NDArray[np.bool_], tol: float, variance: float
    ) -> tuple[BlockKMeans, NDArray[np.bool_]]:
        """Models after a step, and which partitions still move."""
        layout, centers, still = self.layout, self.centers.copy(), moving.copy()
        for q in np.flatnonzero(moving).tolist():
            own = slice(layout.starts[q], layout.starts[q + 1])
            moved, repaired = _means(self.centers[own], moments, own)
            shift = float(np.square(moved - self.centers[own]).sum())
            scale = variance
            if q >= len(layout.whole):
                inside = layout.inside[q - len(layout.whole)]
                parent = layout.starts[inside.whole] + inside.label
                n = max(1, int(moments.counts[parent]))
                scale = float(moments.squares[parent]) / n / self.centers.shape[1]
            centers[own] = moved
            still[q] = repaired or not shift <= tol * scale
        return BlockKMeans(layout, centers), still


def _means(centers: Floats, moments: CenterMoments, own: slice) -> tuple[Floats, bool]:
    """Means of the clusters of a partition; whether empty clusters took points.

    An empty cluster takes the point that is farthest from its center, as in memory. Each cluster
    gives away at most one point in a step.
    """
    counts, gaps = moments.counts[own].copy(), moments.gaps[own].copy()
    empty = np.flatnonzero(counts == 0)
    farthest = moments.farthest[own]
    donors = [d for d in np.argsort(-farthest, kind="stable").tolist() if farthest[d] > 0.0]
    donors = [d for d in donors if counts[d] > 1][: len(empty)]
    points = moments.farthest_points[own]
    for donor in donors:
        counts[donor] -= 1
        gaps[donor] -= points[donor] - centers[donor]
    moved = centers + gaps / np.maximum(counts, 1)[:, None]
    for target, donor in zip(empty, donors, strict=False):
        moved[target] = points[donor]
    return moved, bool(donors)
