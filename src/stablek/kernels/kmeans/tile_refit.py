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
    make_grow,
    n_drawn,
    plan_mergers,
)
from stablek.kernels.kmeans.polish import polish_tiles
from stablek.kernels.kmeans.race import REFIT_PATIENCE, Fit, make_refit_race
from stablek.kernels.kmeans.records import Fits, KMeansParameters, PointSets
from stablek.kernels.kmeans.starts import fetch, squared_distances
from stablek.kernels.kmeans.tile_race import copy_restart
from stablek.kernels.kmeans.tiles import TILE, place
from stablek.kernels.lean import inner, jit

__all__ = ["refit_boxes", "refit_tiles"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_grow = make_grow(fetch, squared_distances)


@inner
def _measure(
    points: Floats, tile: int, n: int, m: int, s: int, growth: Growth, means: Floats, gap: Floats
) -> None:
    """Find sums and sizes of the m clusters of a start, and the gaps between their means."""
    label, sums, sizes = growth.label[s], growth.sums[s], growth.sizes[s]
    width = sums.shape[1]
    for c in range(m):
        sizes[c] = 0.0
        for j in range(width):
            sums[c, j] = 0.0
    for i in range(n):
        c, x = label[i], place(tile, i, width)
        sizes[c] += 1.0
        for j in range(width):
            sums[c, j] += points[x + j * TILE]
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
def _put_centers(
    m: int,
    k: int,
    target: Ints,
    sums: Floats,
    sizes: Floats,
    counts: Floats,
    centers: Floats,
    first: int,
) -> float:
    """Put k centers on the means of the merged clusters; return what they explain.

    That is the sum of squares less the inertia. A center without points goes to the middle.
    """
    width, explained = sums.shape[1], 0.0
    for c in range(k):
        counts[c] = 0.0
        for j in range(width):
            centers[first + c, j] = 0.0
    for a in range(m):
        counts[target[a]] += sizes[a]
        for j in range(width):
            centers[first + target[a], j] += sums[a, j]
    for c in range(k):
        for j in range(width):
            total = centers[first + c, j]
            centers[first + c, j] = total / max(counts[c], 1.0)
            explained += total * centers[first + c, j]
    return explained


def _make_kernel(compact: bool) -> Callable[..., None]:
    """Make the race for sets with or without compact tiles."""
    race = make_refit_race(make_lloyd(compact, REFIT_PATIENCE, 0), copy_restart, polish_tiles)

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
        points, stride, raced = sets.points, work.stride, work.centers
        target, cost, width = merging.target, work.cost, raced.shape[1]
        for f in range(len(fits.k_values)):
            which, k, first = fits.sets[f], fits.k_values[f], fits.first_center[f]
            n, tile = sets.sizes[which], sets.tile_starts[which]
            if f == 0 or which != fits.sets[f - 1]:
                for s in range(n_init):
                    growth.drawn[s] = 0
            if k > 1:
                m, square = n_drawn(n, k), sets.square[which]
                for s in range(n_init):
                    heirs, parts = growth.heirs[s], growth.parts[s]
                    if growth.drawn[s] != m:
                        _grow(points, growth.center, tile, n, m, plus_plus, seed, s, growth)
                        _measure(points, tile, n, m, s, growth, means, merging.cost)
                        plan_mergers(m, growth.sizes[s], merging, heirs, parts)
                    cut(m, k, heirs, parts, target)
                    sums, sizes = growth.sums[s], growth.sizes[s]
                    known = _put_centers(m, k, target, sums, sizes, cost, raced, s * stride)
                    work.inertia[s] = square - known
                guided = not np.isnan(centers[first, 0])
                for c in range(k if guided else 0):
                    for j in range(width):
                        raced[n_init * stride + c, j] = centers[first + c, j]
                work.inertia[n_init] = np.inf  # not known, so the first step does not drop it
                n_starts = n_init + 1 if guided else n_init
                race(work, Fit(n, k, square, tile, parameters.spherical), parameters, n_starts)
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
