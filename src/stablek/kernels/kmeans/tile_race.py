"""The race on points in tiles: the way that suits all data, and the one for compact tiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.lloyd import TileRace, make_lloyd
from stablek.kernels.kmeans.race import PATIENCE, SWAPS, Fit, draw_swap, make_race
from stablek.kernels.kmeans.records import Fits, KMeansParameters, PointSets
from stablek.kernels.kmeans.starts import stream
from stablek.kernels.kmeans.tiles import TILE, place, tiles_of
from stablek.kernels.lean import inner, jit

__all__ = ["copy_restart", "race_boxes", "race_tiles"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


@inner
def copy_restart(work: TileRace, fit: Fit, source: int, target: int) -> None:
    """Copy the centers of a restart."""
    _copy(work.centers, source * work.stride, target * work.stride, fit.k)


@inner
def _copy(centers: Floats, source: int, target: int, k: int) -> None:
    for c in range(k):
        for j in range(centers.shape[1]):
            centers[target + c, j] = centers[source + c, j]


@inner
def _swap_centers(work: TileRace, fit: Fit) -> None:
    """Make the restarts after the winner, restart 0, copies of it with one center moved."""
    n, k, tile = fit.n, fit.k, fit.tile
    centers, sums, points, slot = work.centers, work.sums, work.points, work.slot
    distance, cost, labels, state = work.distance, work.cost, work.labels, work.state
    width, stride = centers.shape[1], work.stride
    zero: Any = np.int64(0)  # a literal 0 would compile the callee once more
    total = 0.0
    for i in range(n):
        distance[i] = 0.0
        label, x = labels[0, slot[i]], place(tile, slot[i], width)
        for j in range(width):
            gap = points[x + j * TILE] - centers[label, j]
            distance[i] += gap * gap
        total += distance[i]
    # A cluster of m points whose nearest other center is at distance d costs at most m d^2.
    for c in range(k):
        cost[c] = np.inf
        for other in range(k):
            square = 0.0
            for j in range(width):
                gap = centers[c, j] - centers[other, j]
                square += gap * gap
            if other != c:
                cost[c] = min(cost[c], square * sums[c, width])
    for s in range(1, SWAPS + 1):
        lost, i = draw_swap(s, n, k, total, distance, cost, state)
        _copy(centers, zero, s * stride, k)
        x = place(tile, slot[i], width)
        for j in range(width):
            centers[s * stride + lost, j] = points[x + j * TILE]


def _make_kernel(compact: bool) -> Callable[..., None]:
    """Make the race for sets with or without compact tiles."""
    race = make_race(make_lloyd(compact, PATIENCE, 1), copy_restart, _swap_centers)

    @inner
    def race_fits(
        sets: PointSets,
        fits: Fits,
        parameters: KMeansParameters,
        order: Ints,
        first_order: Ints,
        order_k: Ints,
        work: TileRace,
        centers: Floats,
    ) -> None:
        n_init, stride = parameters.n_init, work.stride
        points, origin, slot, raced = sets.points, sets.origin, work.slot, work.centers
        width = raced.shape[1]
        for f in range(len(fits.k_values)):
            which, k, first = fits.sets[f], fits.k_values[f], fits.first_center[f]
            if k > 1:
                n, tile, square = sets.sizes[which], sets.tile_starts[which], sets.square[which]
                for i in range(tiles_of(n) * TILE):
                    slot[origin[tile * TILE + i]] = i
                for s in range(n_init):
                    for c in range(k):
                        index = order[first_order[which] + s * order_k[which] + c]
                        x = place(tile, slot[index], width)
                        for j in range(width):
                            raced[s * stride + c, j] = points[x + j * TILE]
                guided = not np.isnan(centers[first, 0])
                for c in range(k if guided else 0):
                    for j in range(width):
                        raced[n_init * stride + c, j] = centers[first + c, j]
                stream(parameters.seed, -k, work.state)
                race(work, Fit(n, k, square, tile, parameters.spherical), parameters, guided)
            for c in range(k):
                for j in range(width):
                    centers[first + c, j] = raced[c, j] if k > 1 else 0.0

    return race_fits


_race_tiles = _make_kernel(compact=False)
_race_boxes = _make_kernel(compact=True)


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
    _race_tiles(sets, fits, parameters, order, first_order, order_k, work, centers)


@jit
def race_boxes(
    sets: PointSets,
    fits: Fits,
    parameters: KMeansParameters,
    order: Ints,
    first_order: Ints,
    order_k: Ints,
    work: TileRace,
    centers: Floats,
) -> None:
    """`race_tiles` for sets whose tiles are compact: most centers are ruled out for most tiles."""
    _race_boxes(sets, fits, parameters, order, first_order, order_k, work, centers)
