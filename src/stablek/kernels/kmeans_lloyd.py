"""Lloyd's algorithm from many starts side by side: a race in which the hopeless are dropped."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner
from stablek.kernels.kmeans_boxes import columns_of, near_box, rows_of
from stablek.kernels.kmeans_tiles import (
    TILE,
    Clouds,
    Scores,
    contrast,
    lanes_of,
    nearest,
    place,
    score_rows,
    scores_memory,
)

__all__ = ["SAME", "Race", "drop", "lloyd", "race_memory"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

SAME = 1e-12  # inertias that differ by less, relative to the total, belong to one solution
_PATIENCE = 4.0  # a restart is hopeless if this many decreases like the last leave it behind
_ROWS = 24  # score rows per pass over a tile
_LABELS = 1 << 22  # labels held at once: restarts run in batches where points are many

# Indices in the innermost loops are unsigned: numba tests a signed one for wrap-around.
_TILE = np.uint64(TILE)


class Race(NamedTuple):
    """What the restarts of one fit hold.

    Restart s has rows ``s * stride`` and following in ``centers`` and ``sums``; a row of
    ``sums`` has the sum of the points of a cluster, and their number behind it. ``columns`` has
    the centers of the restarts that still run, feature after feature. Point i of the cloud is
    at place ``slot[i]``.
    """

    stride: int
    centers: Floats
    sums: Floats
    labels: Ints
    inertia: Floats
    decrease: Floats
    running: Ints
    active: Ints
    moved: Ints
    movers: Ints
    slot: Ints
    columns: Floats
    few: Ints
    distance: Floats
    cost: Floats
    state: NDArray[np.uint64]
    scratch: Scores


def race_memory(n: int, width: int, k: int, n_starts: int) -> Race:
    """Room for fits of up to n points, k clusters and n_starts restarts."""
    batch = min(n_starts, max(1, _LABELS // n))
    return Race(
        k,
        np.empty((n_starts * k, width)),
        np.empty((n_starts * k, width + 1)),
        np.empty((batch, n), dtype=np.int32),
        np.empty(n_starts),
        np.empty(n_starts),
        np.empty(n_starts, dtype=np.int64),
        np.empty(n_starts, dtype=np.int64),
        np.empty(n_starts, dtype=np.int64),
        np.empty(TILE, dtype=np.int64),
        np.empty((n + TILE - 1) // TILE * TILE, dtype=np.int32),
        np.empty(batch * width * k),
        np.empty(k + 3, dtype=np.int64),
        np.empty(max(n, k)),
        np.empty(k),
        np.empty(1, dtype=np.uint64),
        scores_memory(batch * k, width, max(_ROWS, k)),
    )


@inner
def lloyd(
    clouds: Clouds,
    cloud: int,
    k: int,
    low: int,
    high: int,
    max_iter: int,
    limit: float,
    work: Race,
) -> None:
    """Iterate restarts low to high side by side until each has converged or is dropped.

    A squared shift of the centers of at most ``limit`` is convergence.
    """
    points, boxes, totals = clouds.points, clouds.boxes, clouds.totals
    square = clouds.square[cloud]
    n, start = clouds.n[cloud], clouds.tile_at[cloud]
    width, stride = work.centers.shape[1], work.stride
    weights, bias, scores, best, found, all_rows = work.scratch
    active, moved, labels, few = work.active, work.moved, work.labels, work.few
    columns, distance, cost = work.columns, work.distance, work.cost
    centers, sums, movers = work.centers, work.sums, work.movers
    inertia, decrease, running = work.inertia, work.decrease, work.running
    compact = boxed = clouds.compact[cloud]
    at_once = 1 if compact else max(1, _ROWS // (k - 1))
    zero: Any = np.int64(0)  # a literal 0 would have the callee compiled once more
    for s in range(low, high):
        running[s] = 1
        inertia[s] = np.inf
        for c in range(k):
            for j in range(width + 1):
                sums[s * stride + c, j] = 0.0
    for iteration in range(max_iter):
        n_active = 0
        for s in range(low, high):
            if running[s] == 1:
                contrast(centers, s * stride, k, weights, bias, n_active * (k - 1))
                if boxed:
                    columns_of(centers, s * stride, k, columns, n_active * width * k)
                active[n_active] = s
                moved[n_active] = 1 if iteration == 0 else 0
                n_active += 1
        if n_active == 0:
            break
        n_near = n_seen = 0
        for t in range((n + TILE - 1) // TILE):
            lanes, tile, base = lanes_of(n, t), start + t, t * TILE
            count = min(TILE, n - base)
            for first in range(0, n_active, at_once):
                stop = min(first + at_once, n_active)
                row, n_rows = first * (k - 1), (stop - first) * (k - 1)
                near = k
                if boxed:
                    at, middle = first * width * k, base + count // 2
                    close = labels[active[first] - low, middle] if iteration > 0 else -1
                    near = near_box(boxes, tile, columns, at, k, close, distance, cost, few)
                    n_near += near
                    n_seen += k
                some = 4 * near < 3 * k
                if some:
                    # Center 0, which has no row, is the bound of the others or not near.
                    bound = 0.0 if few[0] == 0 else np.inf
                    n_rows = rows_of(few, near)
                    score_rows(points, tile, width, lanes, weights, bias, row, few, n_rows, scores)
                    nearest(scores, zero, few, n_rows, bound, lanes, best, found)
                else:
                    score_rows(
                        points, tile, width, lanes, weights, bias, row, all_rows, n_rows, scores
                    )
                for a in range(first, stop):
                    s = active[a]
                    if not some:
                        nearest(
                            scores, a * (k - 1) - row, all_rows, k - 1, 0.0, lanes, best, found
                        )
                    at = s * stride
                    if iteration == 0 and compact:
                        # Neighbors: most have one label, and the others move from it.
                        _enter_together(
                            totals, tile, count, base, found[0], labels, s - low, sums, at
                        )
                    elif iteration == 0:
                        _enter(points, tile, count, base, found, labels, s - low, sums, at)
                    n_moved = _list_movers(count, base, found, labels, s - low, movers)
                    _move(points, tile, base, found, labels, s - low, sums, at, movers, n_moved)
                    moved[a] += n_moved
        boxed = boxed and 4 * n_near < 3 * n_seen  # in many dimensions all centers may be near
        for a in range(n_active):
            s = active[a]
            settled = moved[a] == 0
            if not settled:
                relocated = _relocate(
                    points, start, n, k, labels, s - low, centers, sums, s * stride
                )
                shift, now = _update(k, s * stride, square, centers, sums)
                decrease[s] = inertia[s] - now
                inertia[s] = now
                settled = shift <= limit and not relocated
            if settled:
                running[s] = 0
        if iteration > 0:
            drop(high, square, inertia, decrease, running)


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
def _update(k: int, at: int, square: float, centers: Floats, sums: Floats) -> tuple[float, float]:
    """Move the centers to the means; return their squared shift and the inertia."""
    width = centers.shape[1]
    shift, explained = 0.0, 0.0
    for c in range(k):
        count = sums[at + c, width]
        # A cluster stays empty only where all points coincide with centers; so does its center.
        if count > 0.0:
            for j in range(width):
                value = sums[at + c, j] / count
                gap = value - centers[at + c, j]
                shift += gap * gap
                explained += value * sums[at + c, j]
                centers[at + c, j] = value
    return shift, max(square - explained, 0.0)


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
            distance = 0.0
            for j in range(width):
                gap = points[place(start, i, j, width)] - centers[at + label, j]
                distance += gap * gap
            if distance > farthest and sums[at + label, width] > 1.0:
                farthest, point = distance, i
        if point >= 0:
            relocated = True
            label = labels[row, point]
            labels[row, point] = empty
            for j in range(width):
                value = points[place(start, point, j, width)]
                sums[at + label, j] -= value
                sums[at + empty, j] = value
                # The point is at home now, so the next empty cluster takes another one.
                centers[at + empty, j] = value
            sums[at + label, width] -= 1.0
            sums[at + empty, width] = 1.0
    return relocated


@inner
def drop(high: int, square: float, inertia: Floats, decrease: Floats, running: Ints) -> None:
    """Stop restarts that cannot win any more, or that repeat another one.

    A restart's decrease shrinks from step to step, roughly geometrically.
    """
    leader = inertia[0]
    for s in range(high):
        leader = min(leader, inertia[s])
    for s in range(high):
        if running[s] == 1:
            if inertia[s] - _PATIENCE * decrease[s] > leader + SAME * square:
                running[s] = 0
            for other in range(s):
                if abs(inertia[s] - inertia[other]) <= SAME * square:
                    running[s] = 0
