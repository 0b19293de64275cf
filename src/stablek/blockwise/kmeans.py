"""K-means on blocks: Lloyd steps for all centers in one pass, and tables of noisy labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stablek.blockwise.core import Blocks, Measure, Sums
from stablek.blockwise.layout import Layout, Packed
from stablek.blockwise.measuring import kept_share, start_models
from stablek.blockwise.survey import Survey
from stablek.engines.base import Setting
from stablek.engines.packing import scaled_noise
from stablek.paths import PathGroups

__all__ = ["BlockKMeans"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


@dataclass
class CenterMoments(Sums):
    """What one pass sums up for every center, and the tables if noise was added."""

    counts: Ints
    gaps: Floats
    squares: Floats
    tables: Ints
    farthest: Farthest


@dataclass
class Farthest:
    """The point that is farthest from each center, and its squared distance."""

    squares: Floats
    points: Floats

    def __iadd__(self, other: Farthest) -> Farthest:
        """Keep the farther points; the earlier ones win ties."""
        farther = other.squares > self.squares
        self.squares[farther] = other.squares[farther]
        self.points[farther] = other.points[farther]
        return self


@dataclass(frozen=True, eq=False)
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

    fits_one_cluster: ClassVar[bool] = False  # the first pass knows its model

    @staticmethod
    def limit(clusterer: Any, n_features: int) -> str | None:
        """Why a clusterer cannot run on blocks: nothing keeps it from it."""
        return None

    @classmethod
    def start(
        cls, layout: Layout, groups: PathGroups, sample: Floats, clusterer: Any
    ) -> BlockKMeans:
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
        clusterer : KMeans or None
            ``tol`` has the meaning of scikit-learn; None for 0.
        variance : float
            Mean variance of the features.
        max_passes : int
            Most steps.
        title : str or None
            Title of the progress bars.
        """
        models, moving = self, np.ones(len(self.layout.k_values), dtype=bool)
        n_passes, tol = 0, 0.0 if clusterer is None else float(clusterer.tol)
        while n_passes < max_passes and moving.any():
            n_passes += 1
            named = None if title is None else f"{title} {n_passes}"
            moments = blocks.reduce(partial(models.step, moving), named)
            models, moving = models._moved(moments, moving, tol, variance)
        return BlockKMeans(models.layout, models.centers, None, n_passes)

    def step(self, moving: NDArray[np.bool_], start: int, X: Floats) -> CenterMoments:
        """Sums of one block for the partitions that still move."""
        moments, _ = self._assigned(X, moving)
        return moments

    def measurement(
        self, epsilons: Floats, n_draws: int, setting: Setting
    ) -> Measure[CenterMoments]:
        """The function of the pass that adds noise."""
        return partial(self.measure, epsilons, n_draws, setting)

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
                centers = self.centers[layout.places(partitions)]
                cells = first_cell[partitions]
                extend_tables(X, noise, 0, epsilons, pack, centers, memory, tables[draw], cells)
        moments.tables = tables.astype(np.int64)
        return moments

    def measured(self, moments: CenterMoments) -> BlockKMeans:
        """The same models with the inertia that a pass has found."""
        inertia = np.add.reduceat(moments.squares, self.layout.starts[:-1])
        return BlockKMeans(self.layout, self.centers, inertia, self.n_passes)

    def finished(self, blocks: Blocks) -> BlockKMeans:
        """The same models with their inertia, by one pass."""
        every = np.ones(len(self.layout.k_values), dtype=bool)
        return self.measured(blocks.reduce(partial(self.step, every)))

    def model(self, whole: int) -> Floats:
        """Centers of a partition of all rows."""
        return self.centers[self.layout.starts[whole] : self.layout.starts[whole + 1]]

    def fitted(self, k: int, found: Survey) -> tuple[Floats, dict[str, Any]]:
        """Centers of the partition of all rows into k clusters, and its inertia."""
        if k == 1:
            return found.mean[None], {"inertia_": float(found.squares.sum())}
        assert self.inertia is not None
        whole = self.layout.whole.index(k)
        return self.model(whole), {"inertia_": float(self.inertia[whole])}

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

        def predict(points: Floats) -> Ints:
            return np.asarray(nearest_labels(points, model)[0])

        noisy = [predict] * len(epsilons)
        return kept_share(predict, noisy, epsilons, n_draws, setting, start, X)

    def _assigned(
        self, X: Floats, moving: NDArray[np.bool_]
    ) -> tuple[CenterMoments, list[Packed]]:
        """Sums of the partitions that move, and the labeled points with their partitions."""
        layout, n_centers, p = self.layout, len(self.centers), X.shape[1]
        moments = CenterMoments(
            np.zeros(n_centers, dtype=np.int64),
            np.zeros((n_centers, p)),
            np.zeros(n_centers),
            np.zeros(0, dtype=np.int64),
            Farthest(np.full(n_centers, -1.0), np.zeros((n_centers, p))),
        )
        whole = layout.pack_whole(len(X), moving)
        self._add(X, whole, moments)
        inside = layout.pack_inside(len(X), moving, whole)
        if inside is None:
            return moments, [whole]
        self._add(X, inside, moments)
        return moments, [whole, inside]

    def _add(self, X: Floats, packed: Packed, moments: CenterMoments) -> None:
        """Label the points of the groups and add them to the sums of their centers."""
        from stablek.kernels.kmeans.passes import CenterSums, assign_and_sum, pass_memory

        pack, places = packed.groups, self.layout.places(packed.partitions)
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
        moments.farthest.squares[places] = sums.farthest
        moments.farthest.points[places] = X[sums.farthest_rows]

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
    farthest = moments.farthest.squares[own]
    donors = [d for d in np.argsort(-farthest, kind="stable").tolist() if farthest[d] > 0.0]
    donors = [d for d in donors if counts[d] > 1][: len(empty)]
    points = moments.farthest.points[own]
    for donor in donors:
        counts[donor] -= 1
        gaps[donor] -= points[donor] - centers[donor]
    moved = centers + gaps / np.maximum(counts, 1)[:, None]
    for target, donor in zip(empty, donors, strict=False):
        moved[target] = points[donor]
    return moved, bool(donors)
