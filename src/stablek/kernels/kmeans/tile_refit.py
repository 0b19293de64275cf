"""The race of refits on points in tiles: merged starts, and a winner that is polished."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.lloyd import TileRace, make_lloyd
from stablek.kernels.kmeans.merging import (
    Growth,
    Merging,
    cut,
    fewest_left,
    make_grow,
    n_drawn,
    plan_mergers,
)
from stablek.kernels.kmeans.polish import polish_tiles
from stablek.kernels.kmeans.race import REFIT_PATIENCE, Fit, make_refit_race
from stablek.kernels.kmeans.records import Fits, KMeansParameters, PointSets
from stablek.kernels.kmeans.starts import fetch, squared_distances
from stablek.kernels.kmeans.tiles import TILE, tiles_of
from stablek.kernels.lean import inner, jit

__all__ = ["refit_boxes", "refit_tiles"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

# Indices in the innermost loops are unsigned: numba tests a signed one for wrap-around.
_TILE = np.uint64(TILE)

_grow = make_grow(fetch, squared_distances)


@inner
def _merge_starts(
    points: Floats,
    tile: int,
    n: int,
    k: int,
    n_starts: int,
    growth: Growth,
    merging: Merging,
    means: Floats,
) -> None:
    """Plan the mergers of all starts, from the points that they have drawn."""
    m, fewest = n_drawn(n, k), fewest_left(n, k)
    for s in range(n_starts):
        sums, sizes = growth.sums[s], growth.sizes[s]
        _measure(points, tile, n, m, growth.label[s], sums, sizes, means, merging.cost)
        plan_mergers(m, fewest, sizes, merging, growth.heirs[s], growth.parts[s])


@inner
def _measure(
    points: Floats,
    tile: int,
    n: int,
    m: int,
    label: Ints,
    sums: Floats,
    sizes: Floats,
    means: Floats,
    gap: Floats,
) -> None:
    """Find sums and sizes of the m clusters of a start, and the gaps between their means."""
    width = sums.shape[1]
    for c in range(m):
        sizes[c] = 0.0
        for j in range(width):
            sums[c, j] = 0.0
    for t in range(tiles_of(n)):
        x, base = np.uint64((tile + t) * width * TILE), np.uint64(t * TILE)
        for i in range(np.uint64(min(TILE, n - t * TILE))):
            own = np.uint64(label[base + i])
            sizes[own] += 1.0
            for j in range(np.uint64(width)):
                sums[own, j] += points[x + j * _TILE + i]
    for c in range(m):
        for j in range(width):
            means[j, c] = sums[c, j] / max(sizes[c], 1.0)
    for a in range(m):
        for j in range(width):
            value, row = means[j, a], np.uint64(a)
            if j == 0:
                for b in range(np.uint64(m)):
                    difference = means[j, b] - value
                    gap[row, b] = difference * difference
            else:
                for b in range(np.uint64(m)):
                    difference = means[j, b] - value
                    gap[row, b] = gap[row, b] + difference * difference
        gap[a, a] = np.inf


@inner
def _put_centers(work: TileRace, fit: Fit, n_starts: int, growth: Growth, target: Ints) -> None:
    """Make the merged clusters of all starts the first clusters of the restarts.

    Their means are the centers. A center without points goes to the middle.
    """
    n, k, m = fit.n, fit.k, n_drawn(fit.n, fit.k)
    centers, sums, labels = work.centers, work.sums, work.labels
    width, held = centers.shape[1], _holds_labels(work)
    for s in range(n_starts):
        first, explained = s * work.stride, 0.0
        parts, sizes, label = growth.sums[s], growth.sizes[s], growth.label[s]
        cut(m, k, growth.heirs[s], growth.parts[s], target)
        for c in range(first, first + k):
            for j in range(width + 1):
                sums[c, j] = 0.0
        for a in range(m):
            c = first + target[a]
            for j in range(width):
                sums[c, j] += parts[a, j]
            sums[c, width] += sizes[a]
        for c in range(first, first + k):
            share = 1.0 / max(sums[c, width], 1.0)
            for j in range(width):
                centers[c, j] = share * sums[c, j]
                explained += centers[c, j] * sums[c, j]
        work.inertia[s] = fit.square - explained
        row = np.uint64(s)
        for i in range(np.uint64(n if held else 0)):
            labels[row, i] = target[np.uint64(label[i])]


@inner
def _holds_labels(work: TileRace) -> bool:
    """Whether all restarts have room for their labels; where points are many, they share it."""
    return len(work.labels) == len(work.inertia)


@inner
def _forget_labels(work: TileRace, fit: Fit, s: int, row: int) -> None:
    """Let a restart, whose labels are in some row, begin without them: from its centers."""
    for c in range(s * work.stride, s * work.stride + fit.k):
        for j in range(work.sums.shape[1]):
            work.sums[c, j] = 0.0
    for i in range(0, fit.n, TILE):
        work.labels[row, i] = -1


@inner
def _guide(work: TileRace, fit: Fit, s: int, centers: Floats, first: int) -> None:
    """Make given centers restart s."""
    for c in range(fit.k):
        for j in range(centers.shape[1]):
            work.centers[s * work.stride + c, j] = centers[first + c, j]
    work.inertia[s] = np.inf  # not known, so the first step does not drop it
    if _holds_labels(work):
        _forget_labels(work, fit, s, s)


@inner
def _adopt(work: TileRace, fit: Fit, source: int) -> None:
    """Make a restart the winner: restart 0."""
    centers, sums, labels, at = work.centers, work.sums, work.labels, source * work.stride
    for c in range(fit.k):
        for j in range(centers.shape[1]):
            centers[c, j], sums[c, j] = centers[at + c, j], sums[at + c, j]
        sums[c, centers.shape[1]] = sums[at + c, centers.shape[1]]
    for i in range(fit.n if source < len(labels) else 0):
        labels[0, i] = labels[source, i]


def _make_kernel(compact: bool) -> Callable[..., None]:
    """Make the race for sets with or without compact tiles."""
    lloyd = make_lloyd(compact, REFIT_PATIENCE, 0, entered=True)

    @inner
    def run(work: TileRace, fit: Fit, low: int, high: int, max_iter: int, limit: float) -> None:
        if not _holds_labels(work):
            for s in range(low, high):
                _forget_labels(work, fit, s, s - low)
        lloyd(work, fit, low, high, max_iter, limit)

    race = make_refit_race(run, _adopt, polish_tiles)

    @inner
    def refit(
        sets: PointSets,
        fits: Fits,
        parameters: KMeansParameters,
        growth: Growth,
        merging: Merging,
        means: Floats,
        work: TileRace,
        centers: Floats,
    ) -> None:
        seed, n_init, plus_plus = parameters.seed, parameters.n_init, parameters.plus_plus
        points, raced = sets.points, work.centers
        width = raced.shape[1]
        for f in range(len(fits.k_values)):
            which, k, first = fits.sets[f], fits.k_values[f], fits.first_center[f]
            n, tile = sets.sizes[which], sets.tile_starts[which]
            if f == 0 or which != fits.sets[f - 1]:
                for s in range(n_init):
                    growth.drawn[s] = 0
            if k > 1:
                fit = Fit(n, k, sets.square[which], tile, parameters.spherical)
                m = n_drawn(n, k)
                if n_init > 0 and growth.drawn[0] != m:
                    _grow(points, growth.center, tile, n, m, plus_plus, seed, n_init, growth)
                    _merge_starts(points, tile, n, k, n_init, growth, merging, means)
                _put_centers(work, fit, n_init, growth, merging.target)
                n_starts = n_init
                if not np.isnan(centers[first, 0]):
                    _guide(work, fit, n_init, centers, first)
                    n_starts += 1
                race(work, fit, parameters, n_starts)
            for c in range(k):
                for j in range(width):
                    centers[first + c, j] = raced[c, j] if k > 1 else 0.0

    return refit


_refit_tiles = _make_kernel(compact=False)
_refit_boxes = _make_kernel(compact=True)


@jit
def refit_tiles(
    sets: PointSets,
    fits: Fits,
    parameters: KMeansParameters,
    growth: Growth,
    merging: Merging,
    means: Floats,
    work: TileRace,
    centers: Floats,
) -> None:
    """Draw merged starts for each fit, race them and polish the winner.

    On entry the centers of a fit are one more start, unless nan. On return they are the fitted
    centers. They are in the units of the set. ``means`` is scratch memory: the means of a start,
    feature after feature.
    """
    _refit_tiles(sets, fits, parameters, growth, merging, means, work, centers)


@jit
def refit_boxes(
    sets: PointSets,
    fits: Fits,
    parameters: KMeansParameters,
    growth: Growth,
    merging: Merging,
    means: Floats,
    work: TileRace,
    centers: Floats,
) -> None:
    """`refit_tiles` for sets whose tiles are compact."""
    _refit_boxes(sets, fits, parameters, growth, merging, means, work, centers)
