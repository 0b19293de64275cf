"""The race on points in tiles: the way that suits all data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit
from stablek.kernels.kmeans.lloyd import TileRace, lloyd
from stablek.kernels.kmeans.race import Fit, make_race
from stablek.kernels.kmeans.records import Fits, KMeansParameters, PointSets
from stablek.kernels.kmeans.starts import stream
from stablek.kernels.kmeans.tiles import TILE, place, tiles_of

__all__ = ["race_tiles"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


@inner
def _put_center(work: TileRace, fit: Fit, s: int, c: int, x: int) -> None:
    """Put center c of restart s on point x."""
    width = work.centers.shape[1]
    base = place(fit.tile, work.slot[x], 0, width)
    for j in range(width):
        work.centers[s * work.stride + c, j] = work.points[base + j * TILE]


@inner
def _copy_restart(work: TileRace, fit: Fit, source: int, target: int) -> None:
    """Copy the centers of a restart."""
    for c in range(fit.k):
        for j in range(work.centers.shape[1]):
            value = work.centers[source * work.stride + c, j]
            work.centers[target * work.stride + c, j] = value


@inner
def _weigh_swaps(work: TileRace, fit: Fit) -> float:
    """Find the squared distances from the centers of restart 0, and the cost of losing each."""
    centers, slot, points = work.centers, work.slot, work.points
    distance, cost, labels = work.distance, work.cost, work.labels
    width = centers.shape[1]
    total = 0.0
    for i in range(fit.n):
        distance[i] = 0.0
        label, x = labels[0, slot[i]], place(fit.tile, slot[i], 0, width)
        for j in range(width):
            gap = points[x + j * TILE] - centers[label, j]
            distance[i] += gap * gap
        total += distance[i]
    # A cluster of m points whose nearest other center is at distance d costs at most m d^2.
    for c in range(fit.k):
        cost[c] = np.inf
        for other in range(fit.k):
            square = 0.0
            for j in range(width):
                gap = centers[c, j] - centers[other, j]
                square += gap * gap
            if other != c:
                cost[c] = min(cost[c], square * work.sums[c, width])
    return total


_race = make_race(lloyd, _put_center, _copy_restart, _weigh_swaps)


@jit
def race_tiles(
    sets: PointSets,
    fits: Fits,
    parameters: KMeansParameters,
    order: Ints,
    first_order: Ints,
    order_k: Ints,
    work: TileRace,
    centers: Floats,
) -> None:
    """Race the starts of each fit.

    The starts of set i begin at ``order[first_order[i]]``, and each has ``order_k[i]`` points. On
    entry the centers of a fit are one more start, unless nan. On return they are the fitted
    centers. They are in the units of the set.
    """
    width, n_init, stride = sets.mean.shape[1], parameters.n_init, work.stride
    points, origin, slot, raced = sets.points, sets.origin, work.slot, work.centers
    for f in range(len(fits.k_values)):
        which, k, first = fits.sets[f], fits.k_values[f], fits.first_center[f]
        if k > 1:
            n, tile, square = sets.sizes[which], sets.tile_starts[which], sets.square[which]
            for i in range(tiles_of(n) * TILE):
                slot[origin[tile * TILE + i]] = i
            for s in range(n_init):
                for c in range(k):
                    index = order[first_order[which] + s * order_k[which] + c]
                    x = place(tile, slot[index], 0, width)
                    for j in range(width):
                        raced[s * stride + c, j] = points[x + j * TILE]
            guided = not np.isnan(centers[first, 0])
            for c in range(k if guided else 0):
                for j in range(width):
                    raced[n_init * stride + c, j] = centers[first + c, j]
            stream(parameters.seed, -k, work.state)
            fit = Fit(n, k, square, tile, sets.compact[which], parameters.spherical)
            _race(work, fit, parameters, guided)
        for c in range(k):
            for j in range(width):
                centers[first + c, j] = raced[c, j] if k > 1 else 0.0
