"""Lloyd's algorithm on points in tiles, for several restarts side by side.

A step labels all points, tile by tile, and adds to the sums of a cluster only what changed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.boxes import columns_of, near_box, rows_of
from stablek.kernels.kmeans.race import Fit, drop, list_active, restarts_memory
from stablek.kernels.kmeans.records import PointSets
from stablek.kernels.kmeans.tiles import (
    TILE,
    Scores,
    contrast,
    lanes_of,
    nearest,
    place,
    score_rows,
    scores_memory,
    tiles_of,
)
from stablek.kernels.lean import inner

__all__ = ["TileRace", "make_lloyd", "tile_race_memory"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_ROWS = 24  # score rows per pass over a tile
_LABELS = 1 << 22  # labels held at once: restarts run in batches where points are many

# Indices in the innermost loops are unsigned: numba tests a signed one for wrap-around.
_TILE = np.uint64(TILE)


class TileRace(NamedTuple):
    """Sets of points in tiles, and what the restarts of one fit hold.

    ``points``, ``boxes`` and ``totals`` are those of all sets. Restart s has rows ``s * stride``
    and following in ``centers`` and ``sums``. A row of ``sums`` has the sum of the points of a
    cluster and, behind it, their number. Point i of the set is at place ``slot[i]``.

    The other arrays are scratch memory of one step, and the fields of `restarts_memory`.
    ``columns`` has the centers of the active restarts, feature after feature, ``moved`` the number
    of points that changed their label in each, ``movers`` those of one tile, and ``near`` the
    centers that are near its box.
    """

    points: Floats
    boxes: Floats
    totals: Floats
    stride: int
    centers: Floats
    sums: Floats
    moved: Ints
    movers: Ints
    slot: Ints
    columns: Floats
    near: Ints
    scratch: Scores
    labels: Ints
    inertia: Floats
    decrease: Floats
    running: Ints
    active: Ints
    distance: Floats
    cost: Floats
    state: NDArray[np.uint64]


def tile_race_memory(sets: PointSets, n: int, k: int, n_init: int) -> TileRace:
    """Room for fits of up to n points and k clusters."""
    restarts = restarts_memory(n, k, n_init, max(1, _LABELS // n))
    n_starts, batch, width = len(restarts["inertia"]), len(restarts["labels"]), sets.mean.shape[1]
    return TileRace(
        sets.points,
        sets.boxes,
        sets.totals,
        k,
        np.empty((n_starts * k, width)),
        np.empty((n_starts * k, width + 1)),
        np.empty(n_starts, dtype=np.int64),
        np.empty(TILE, dtype=np.int64),
        np.empty(-(-n // TILE) * TILE, dtype=np.int64),
        np.empty(batch * width * k),
        np.empty(k + 3, dtype=np.int64),
        scores_memory(batch * k, width, max(_ROWS, k)),
        **restarts,
    )


def make_lloyd(
    compact: bool, patience: float, first_drop: int, *, entered: bool = False
) -> Callable[..., None]:
    """Make Lloyd's algorithm for sets whose tiles are all compact, or for sets with any tiles.

    `race.drop` explains ``patience``; step ``first_drop`` is the first after which restarts are
    dropped. With ``entered``, labels and sums are set on entry; where the first label of a tile is
    -1, its points do not count in the sums yet.

    Only one of the two is compiled where one is used: numba leaves out the branches of the other.
    """

    @inner
    def lloyd(work: TileRace, fit: Fit, low: int, high: int, max_iter: int, limit: float) -> None:
        """Run restarts low to high side by side until each has converged or is dropped.

        A restart has converged when the squared shift of its centers is at most ``limit``.
        """
        n, k, square, start, spherical = fit
        points, boxes, totals = work.points, work.boxes, work.totals
        labels, inertia, decrease = work.labels, work.inertia, work.decrease
        running, active, distance, cost = work.running, work.active, work.distance, work.cost
        weights, bias, scores, best, found, all_rows = work.scratch
        stride, centers, sums, columns = work.stride, work.centers, work.sums, work.columns
        moved, movers, near = work.moved, work.movers, work.near
        width, boxed = centers.shape[1], compact
        at_once = 1
        if not compact and k - 1 < _ROWS:
            at_once = _ROWS // (k - 1)
        for s in range(low, high):
            running[s] = 1
            for c in range(0 if entered else k):
                for j in range(width + 1):
                    sums[s * stride + c, j] = 0.0
        for iteration in range(max_iter):
            n_active = list_active(low, high, running, active)
            if n_active == 0:
                break
            for a in range(n_active):
                contrast(centers, active[a] * stride, k, weights, bias, a * (k - 1))
                if compact:
                    columns_of(centers, active[a] * stride, k, columns, a * width * k)
                moved[a] = 1 if iteration == 0 else 0
            n_near = n_seen = 0
            for t in range(tiles_of(n)):
                lanes, tile, base = lanes_of(n, t), start + t, t * TILE
                count = min(TILE, n - base)
                for first in range(0, n_active, at_once):
                    stop = min(first + at_once, n_active)
                    row, n_rows = first * (k - 1), (stop - first) * (k - 1)
                    rows, n_nearest, bound = all_rows, k - 1, 0.0
                    if compact:
                        few = k
                        if boxed:
                            at, middle = first * width * k, base + count // 2
                            close = labels[active[first] - low, middle] if iteration > 0 else -1
                            few = near_box(
                                boxes, tile, columns, at, k, close, distance, cost, near
                            )
                            n_near += few
                            n_seen += k
                        if 4 * few < 3 * k:
                            # Center 0, which has no row, is the bound of the others or not near.
                            bound = 0.0 if near[0] == 0 else np.inf
                            n_nearest = n_rows = rows_of(near, few)
                            rows = near
                    score_rows(
                        points, tile, width, lanes, weights, bias, row, rows, n_rows, scores
                    )
                    for a in range(first, stop):
                        own, at = active[a] - low, active[a] * stride
                        at_row = a * (k - 1) - row
                        nearest(scores, at_row, rows, n_nearest, bound, lanes, best, found)
                        if iteration == 0 and not (entered and labels[own, base] >= 0):
                            if compact:
                                # Neighbors: most have one label, and the others move from it.
                                _enter_together(
                                    totals, tile, count, base, found[0], labels, own, sums, at
                                )
                            else:
                                _enter(points, tile, count, base, found, labels, own, sums, at)
                        n_moved = _list_movers(count, base, found, labels, own, movers)
                        _move(points, tile, base, found, labels, own, sums, at, movers, n_moved)
                        moved[a] += n_moved
            boxed = boxed and 4 * n_near < 3 * n_seen  # in many dimensions all centers may be near
            for a in range(n_active):
                s = active[a]
                settled = moved[a] == 0
                if not settled:
                    at = s * stride
                    relocated = _relocate(points, start, n, k, labels, s - low, centers, sums, at)
                    shift, now = _update(k, at, square, centers, sums, spherical)
                    decrease[s] = inertia[s] - now
                    inertia[s] = now
                    settled = shift <= limit and not relocated
                if settled:
                    running[s] = 0
            if iteration >= first_drop:
                drop(high, square, patience, inertia, decrease, running)

    return lloyd


@inner
def _enter(
    points: Floats,
    tile: int,
    count: int,
    base: int,
    found: Ints,
    labels: Ints,
    row: int,
    sums: Floats,
    at: int,
) -> None:
    """Give the points of a tile their first labels."""
    width = np.uint64(sums.shape[1] - 1)
    x, own = np.uint64(tile) * width * _TILE, np.uint64(row)
    for i in range(np.uint64(count)):
        label = found[i]
        labels[own, np.uint64(base) + i] = label
        new = np.uint64(at + label)
        for j in range(width):
            sums[new, j] += points[x + j * _TILE + i]
        sums[new, width] += 1.0


@inner
def _enter_together(
    totals: Floats,
    tile: int,
    count: int,
    base: int,
    label: int,
    labels: Ints,
    row: int,
    sums: Floats,
    at: int,
) -> None:
    """Give all points of a tile one first label."""
    width = sums.shape[1] - 1
    for i in range(count):
        labels[row, base + i] = label
    for j in range(width):
        sums[at + label, j] += totals[tile, j]
    sums[at + label, width] += float(count)


@inner
def _list_movers(count: int, base: int, found: Ints, labels: Ints, row: int, movers: Ints) -> int:
    """List the points of a tile that had another label; return their number.

    Without a branch, as which points move is beyond any branch prediction; most often none do.
    """
    n_moved = 0
    for i in range(np.uint64(count)):
        n_moved += labels[row, np.uint64(base) + i] != found[i]
    listed = np.uint64(0)
    for i in range(np.uint64(count if n_moved > 0 else 0)):
        movers[listed] = i
        listed += np.uint64(labels[row, np.uint64(base) + i] != found[i])
    return n_moved


@inner
def _move(
    points: Floats,
    tile: int,
    base: int,
    found: Ints,
    labels: Ints,
    row: int,
    sums: Floats,
    at: int,
    movers: Ints,
    n_moved: int,
) -> None:
    """Give the movers of a tile the labels found: only they touch the sums."""
    width = np.uint64(sums.shape[1] - 1)
    x, own = np.uint64(tile) * width * _TILE, np.uint64(row)
    for m in range(n_moved):
        i = np.uint64(movers[m])
        point, label = np.uint64(base) + i, found[i]
        old, new = np.uint64(at + labels[own, point]), np.uint64(at + label)
        labels[own, point] = label
        for j in range(width):
            value = points[x + j * _TILE + i]
            sums[new, j] += value
            sums[old, j] -= value
        sums[new, width] += 1.0
        sums[old, width] -= 1.0


@inner
def _update(
    k: int, at: int, square: float, centers: Floats, sums: Floats, spherical: bool
) -> tuple[float, float]:
    """Move the centers to the means; return their squared shift and the inertia.

    On the sphere a center is the direction of the sum of its points. Then the inertia of m points
    with the sum S is 2 m - 2 |S|.
    """
    width = centers.shape[1]
    shift, explained = 0.0, 0.0
    for c in range(k):
        count = sums[at + c, width]
        if spherical:
            explained -= 0.5 * count
            count = _length(sums, at + c, width)
        # A cluster stays empty only where all points coincide with centers; so does its center.
        if count > 0.0:
            for j in range(width):
                value = sums[at + c, j] / count
                gap = value - centers[at + c, j]
                shift += gap * gap
                explained += value * sums[at + c, j]
                centers[at + c, j] = value
    if spherical:
        explained *= 2.0
    return shift, square - explained if square > explained else 0.0


@inner
def _length(sums: Floats, row: int, width: int) -> float:
    """Length of a sum of points."""
    square = 0.0
    for j in range(width):
        square += sums[row, j] * sums[row, j]
    return math.sqrt(square)


@inner
def _relocate(
    points: Floats,
    start: int,
    n: int,
    k: int,
    labels: Ints,
    row: int,
    centers: Floats,
    sums: Floats,
    at: int,
) -> bool:
    """Give each empty cluster the point that is farthest from its own center, if any is."""
    width = centers.shape[1]
    relocated = False
    for empty in range(k):
        if sums[at + empty, width] > 0.0:
            continue
        farthest, point = 0.0, -1
        for i in range(n):
            label = labels[row, i]
            distance, x = 0.0, place(start, i, width)
            for j in range(width):
                gap = points[x + j * TILE] - centers[at + label, j]
                distance += gap * gap
            if distance > farthest and sums[at + label, width] > 1.0:
                farthest, point = distance, i
        if point >= 0:
            relocated = True
            label, x = labels[row, point], place(start, point, width)
            labels[row, point] = empty
            for j in range(width):
                value = points[x + j * TILE]
                sums[at + label, j] -= value
                sums[at + empty, j] = value
                # The point is at home now, so the next empty cluster takes another one.
                centers[at + empty, j] = value
            sums[at + label, width] -= 1.0
            sums[at + empty, width] = 1.0
    return relocated
