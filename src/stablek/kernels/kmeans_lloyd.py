"""Lloyd's algorithm from many starts side by side: a race in which the hopeless are dropped."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner
from stablek.kernels.kmeans_tiles import (
    TILE,
    Scores,
    contrast,
    lanes_of,
    nearest,
    place,
    score_rows,
    scores_memory,
)

__all__ = ["SAME", "Race", "lloyd", "race_memory"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

SAME = 1e-12  # inertias that differ by less, relative to the total, belong to one solution
_PATIENCE = 4.0  # a restart is hopeless if this many decreases like the last leave it behind
_ROWS = 24  # score rows per pass over a tile
_LABELS = 1 << 22  # labels held at once: restarts run in batches where points are many


class Race(NamedTuple):
    """What the restarts of one fit hold.

    Restart s has rows ``s * stride`` and following in ``centers`` and ``sums``; a row of
    ``sums`` has the sum of the points of a cluster, and their number behind it.
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
        np.empty(n),
        np.empty(k),
        np.empty(1, dtype=np.uint64),
        scores_memory(batch * k, width, max(_ROWS, k)),
    )


@inner
def lloyd(
    points: Floats,
    start: int,
    n: int,
    k: int,
    low: int,
    high: int,
    max_iter: int,
    limit: float,
    square: float,
    work: Race,
) -> None:
    """Iterate restarts low to high side by side until each has converged or is dropped.

    The cloud begins at tile ``start`` and has the sum of squares ``square``; a squared shift of
    the centres of at most ``limit`` is convergence.
    """
    width, stride = work.centers.shape[1], work.stride
    weights, bias, scores, best, found = work.scratch
    active, moved, labels = work.active, work.moved, work.labels
    at_once = max(1, _ROWS // (k - 1))
    for s in range(low, high):
        work.running[s] = 1
        work.inertia[s] = np.inf
        for i in range(n):
            labels[s - low, i] = -1
        for c in range(k):
            for j in range(width + 1):
                work.sums[s * stride + c, j] = 0.0
    for iteration in range(max_iter):
        n_active = 0
        for s in range(low, high):
            if work.running[s] == 1:
                contrast(work.centers, s * stride, k, weights, bias, n_active * (k - 1))
                active[n_active] = s
                moved[n_active] = 0
                n_active += 1
        if n_active == 0:
            break
        for t in range((n + TILE - 1) // TILE):
            lanes, tile = lanes_of(n, t), start + t
            for first in range(0, n_active, at_once):
                stop = min(first + at_once, n_active)
                row, n_rows = first * (k - 1), (stop - first) * (k - 1)
                score_rows(points, tile, width, lanes, weights, bias, row, n_rows, scores)
                for a in range(first, stop):
                    s = active[a]
                    nearest(scores, a * (k - 1) - row, k - 1, lanes, best, found)
                    moved[a] += _move(
                        points,
                        tile,
                        n,
                        t,
                        found,
                        work.labels,
                        s - low,
                        work.sums,
                        s * stride,
                        work.movers,
                    )
        for a in range(n_active):
            s = active[a]
            settled = moved[a] == 0
            if not settled:
                relocated = _relocate(
                    points, start, n, k, labels, s - low, work.centers, work.sums, s * stride
                )
                shift, inertia = _update(k, s * stride, square, work.centers, work.sums)
                work.decrease[s] = work.inertia[s] - inertia
                work.inertia[s] = inertia
                settled = shift <= limit and not relocated
            if settled:
                work.running[s] = 0
        if iteration > 0:
            _drop(high, square, work.inertia, work.decrease, work.running)


@inner
def _move(
    points: Floats,
    tile: int,
    n: int,
    t: int,
    found: Ints,
    labels: Ints,
    row: int,
    sums: Floats,
    at: int,
    movers: Ints,
) -> int:
    """Give the points of a tile the labels found; return how many had another one.

    Only those that move touch the sums, and they are listed first, without a branch: which
    points move is beyond any branch prediction.
    """
    width = sums.shape[1] - 1
    x, base = tile * width * TILE, t * TILE
    count, n_moved = min(TILE, n - base), 0
    if labels[row, base] < 0:  # the first step: all points get a label
        for i in range(count):
            label = found[i]
            labels[row, base + i] = label
            for j in range(width):
                sums[at + label, j] += points[x + j * TILE + i]
            sums[at + label, width] += 1.0
        return count
    for i in range(count):
        movers[n_moved] = i
        n_moved += labels[row, base + i] != found[i]
    for m in range(n_moved):
        i = movers[m]
        old, new = labels[row, base + i], found[i]
        labels[row, base + i] = new
        for j in range(width):
            value = points[x + j * TILE + i]
            sums[at + new, j] += value
            sums[at + old, j] -= value
        sums[at + new, width] += 1.0
        sums[at + old, width] -= 1.0
    return n_moved


@inner
def _update(k: int, at: int, square: float, centers: Floats, sums: Floats) -> tuple[float, float]:
    """Move the centres to the means; return their squared shift and the inertia."""
    width = centers.shape[1]
    shift, explained = 0.0, 0.0
    for c in range(k):
        count = sums[at + c, width]
        # A cluster stays empty only where all points coincide with centres; so does its centre.
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
    """Give each empty cluster the point that is farthest from its own centre, if any is."""
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
def _drop(high: int, square: float, inertia: Floats, decrease: Floats, running: Ints) -> None:
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
