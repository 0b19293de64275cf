"""Compact tiles: each holds neighbors, and most centers can be ruled out for a whole tile.

Center z is out of the question for a tile if another center c is closer to every point of the box
around the tile. The difference of squared distances

    |x - c|^2 - |x - z|^2

is linear in x. Its maximum over the box is its value at the middle plus half the side lengths
times the absolute slopes. Only centers for which the maximum is positive are scored. The bound is
exact; bounds by distances alone are not (the filter of Kanungo et al., 2002).
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.records import PointSets
from stablek.kernels.kmeans.tiles import TILE
from stablek.kernels.lean import inner, inner_inlined

__all__ = ["columns_of", "compact_sets", "near_box", "rows_of"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

# Bounds on rounding: of a sum of squares, relative to it, and of a score, for each feature.
# Coordinates are below one.
_RELATIVE = 1e-9
_ABSOLUTE = 1e-12


def compact_sets(sets: PointSets, which: Ints) -> None:
    """Order the points of some sets so that their tiles are compact."""
    width = sets.mean.shape[1]
    tiles = sets.points.reshape(-1, width, TILE)
    for i in which:
        n, own = int(sets.sizes[i]), slice(*sets.tile_starts[i : i + 2])
        points = tiles[own].transpose(0, 2, 1).reshape(-1, width)
        order = np.arange(len(points))
        order[:n] = _neighbors_together(points[:n])
        tiles[own] = points[order].reshape(-1, TILE, width).transpose(0, 2, 1)
        sets.totals[own] = tiles[own].sum(axis=2)
        sets.origin[own.start * TILE : own.stop * TILE] = order
        # Here the padding repeats the last point, so that it does not widen the box.
        order[n:] = order[n - 1]
        boxed = points[order].reshape(-1, TILE, width)
        sets.boxes[own, 0], sets.boxes[own, 1] = boxed.min(axis=1), boxed.max(axis=1)


def _neighbors_together(points: Floats) -> Ints:
    """Order that fills tiles with neighbors: halve along the widest feature, then each half."""
    order = np.arange(len(points))
    parts = [(0, len(points))]
    while parts:
        low, high = parts.pop()
        n_tiles = -(-(high - low) // TILE)
        if n_tiles > 1:
            own = order[low:high]
            inside = points[own]
            values = inside[:, np.argmax(np.var(inside, axis=0))]
            order[low:high] = own[np.argsort(values, kind="stable")]
            middle = low + n_tiles // 2 * TILE
            parts += [(low, middle), (middle, high)]
    return order


@inner
def columns_of(centers: Floats, first: int, k: int, columns: Floats, at: int) -> None:
    """Copy ``centers[first:first + k]`` feature after feature, as `near_box` reads them."""
    for j in range(centers.shape[1]):
        for c in range(k):
            columns[at + j * k + c] = centers[first + c, j]


@inner_inlined
def near_box(
    boxes: Floats,
    tile: int,
    columns: Floats,
    at: int,
    k: int,
    close: int,
    distance: Floats,
    bound: Floats,
    near: Ints,
) -> int:
    """List the centers that can be nearest to a point of a box; return their number.

    Feature j of the k centers begins at ``columns[at + j * k]``. The rival of all centers is the
    center ``close``; if that is negative, the one closest to the middle of the box.
    """
    _distances(boxes, tile, columns, at, k, distance)
    rival = _lowest(distance, k) if close < 0 else close
    _bounds(boxes, tile, columns, at, k, rival, distance, bound)
    return _positive(bound, k, near)


@inner
def _distances(
    boxes: Floats, tile: int, columns: Floats, at: int, k: int, distance: Floats
) -> None:
    """Squared distances of the centers from the middle of a box."""
    for j in range(boxes.shape[2]):
        x = np.uint64(at + j * k)
        middle = 0.5 * (boxes[tile, 0, j] + boxes[tile, 1, j])
        if j == 0:
            for c in range(np.uint64(k)):
                gap = columns[x + c] - middle
                distance[c] = gap * gap
        else:
            for c in range(np.uint64(k)):
                gap = columns[x + c] - middle
                distance[c] = distance[c] + gap * gap


@inner
def _lowest(values: Floats, count: int) -> int:
    lowest, value = 0, values[0]
    for i in range(1, count):
        if values[i] < value:
            lowest, value = i, values[i]
    return lowest


@inner
def _bounds(
    boxes: Floats,
    tile: int,
    columns: Floats,
    at: int,
    k: int,
    rival: int,
    distance: Floats,
    bound: Floats,
) -> None:
    """Write how much closer to each center than to the rival a point of the box can be."""
    level = (1.0 + _RELATIVE) * distance[rival] + _ABSOLUTE * boxes.shape[2]
    for j in range(boxes.shape[2]):
        x = np.uint64(at + j * k)
        side, center = boxes[tile, 1, j] - boxes[tile, 0, j], columns[at + j * k + rival]
        if j == 0:
            for c in range(np.uint64(k)):
                gain = side * abs(columns[x + c] - center)
                bound[c] = level - (1.0 - _RELATIVE) * distance[c] + gain
        else:
            for c in range(np.uint64(k)):
                bound[c] = bound[c] + side * abs(columns[x + c] - center)


@inner
def _positive(values: Floats, count: int, listed: Ints) -> int:
    """List the indices of positive values; return their number."""
    n_listed = 0
    for i in range(count):
        listed[n_listed] = i
        n_listed += values[i] > 0.0
    return n_listed


@inner
def rows_of(near: Ints, count: int) -> int:
    """Turn a list of centers into the list of their score rows; return the number of rows.

    Center 0 has no row. Three more entries are for the steps of four of `score_rows`.
    """
    skip = 1 if near[0] == 0 else 0
    for i in range(count - skip):
        near[i] = near[i + skip] - 1
    for i in range(count - skip, count - skip + 3):
        near[i] = 0
    return count - skip
