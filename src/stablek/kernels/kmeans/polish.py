"""Polish of a partition: single points move where Lloyd's algorithm would leave them.

A point that leaves a cluster moves its mean, and so does one that joins. Both count in Hartigan's
rule: point x moves from cluster a to b if

    n_a / (n_a - 1) |x - c_a|^2  >  n_b / (n_b + 1) |x - c_b|^2

So a partition that Lloyd's algorithm cannot improve often can be, above all one with small
clusters or in many dimensions. A pass finds candidates with the centers that it began with, many
points at a time. A candidate moves if the rule still holds for the centers of the moment.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.lloyd import TileRace
from stablek.kernels.kmeans.race import Fit
from stablek.kernels.kmeans.tiles import TILE, contrast, lanes_of, place, score_rows, tiles_of
from stablek.kernels.lean import inner

__all__ = ["GAIN", "polish_tiles"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

GAIN = 1.0 - 1e-9  # a move has to gain more than rounding could


@inner
def polish_tiles(work: TileRace, fit: Fit, n_passes: int) -> None:
    """Move single points of restart 0, whose labels are in row 0, in passes over all points."""
    n, k, tile = fit.n, fit.k, fit.tile
    centers, sums, points, labels = work.centers, work.sums, work.points, work.labels
    distance, join, leave = work.distance, work.cost, work.columns
    weights, bias, scores, best, _, rows = work.scratch
    width = centers.shape[1]
    zero: Any = np.int64(0)  # a literal 0 would compile the callees once more
    for _ in range(n_passes):
        n_moved = 0
        contrast(centers, zero, k, weights, bias, zero)
        for c in range(k):
            size = sums[c, width]
            join[c] = size / (size + 1.0)
            leave[c] = GAIN * size / (size - 1.0) if size > 1.0 else 0.0
        for t in range(tiles_of(n)):
            base = t * TILE
            count, lanes = min(TILE, n - base), lanes_of(n, t)
            score_rows(points, tile + t, width, lanes, weights, bias, zero, rows, k - 1, scores)
            _first_distances(points, tile + t, width, lanes, centers, distance)
            if _candidates(base, count, k, scores, join, leave, labels, distance, best) > 0:
                for i in range(count):
                    if best[i] < 0.0:
                        x = place(tile, base + i, width)
                        n_moved += _move(points, x, k, centers, sums, labels, base + i)
        if n_moved == 0:
            break


@inner
def _first_distances(
    points: Floats, tile: int, width: int, lanes: int, centers: Floats, distance: Floats
) -> None:
    """Squared distances of the points of a tile from center 0."""
    for j in range(width):
        at, center = np.uint64((tile * width + j) * TILE), centers[0, j]
        if j == 0:
            for i in range(np.uint64(lanes)):
                gap = points[at + i] - center
                distance[i] = gap * gap
        else:
            for i in range(np.uint64(lanes)):
                gap = points[at + i] - center
                distance[i] = distance[i] + gap * gap


@inner
def _candidates(
    base: int,
    count: int,
    k: int,
    scores: Floats,
    join: Floats,
    leave: Floats,
    labels: Ints,
    distance: Floats,
    best: Floats,
) -> int:
    """Count the points of a tile that gain by a move; ``best`` is negative for them.

    It is what a point pays to join the best of the other clusters, less what it saves by leaving
    its own. Squared distances from center 0 are known, and the scores of all others.
    """
    first, n_lanes = np.uint64(base), np.uint64(count)
    saved = np.uint64(len(scores) - TILE)  # no score is there
    for i in range(n_lanes):
        own, square = np.uint64(labels[0, first + i]), distance[i]
        scores[saved + i], best[i] = leave[own] * square, np.inf
        if own > 0:
            at = (own - np.uint64(1)) * np.uint64(TILE) + i
            scores[saved + i] += leave[own] * 2.0 * scores[at]
            best[i] = join[0] * square
            scores[at] = np.inf  # so that its own cluster is not a rival
    for c in range(1, k):
        at, share = np.uint64((c - 1) * TILE), join[c]
        for i in range(n_lanes):
            cost = share * (distance[i] + 2.0 * scores[at + i])
            best[i] = min(cost, best[i]) + 0.0  # the sum prevents stores under a mask: slow
    n_found = 0
    for i in range(n_lanes):
        best[i] -= scores[saved + i]
        n_found += best[i] < 0.0
    return n_found


@inner
def _move(
    points: Floats, x: int, k: int, centers: Floats, sums: Floats, labels: Ints, point: int
) -> int:
    """Move a point to the best of the other clusters if Hartigan's rule holds; 1 if it did."""
    width, own = centers.shape[1], labels[0, point]
    size = sums[own, width]
    new, lowest, leave = -1, np.inf, 0.0
    for c in range(k):
        square = 0.0
        for j in range(width):
            gap = points[x + j * TILE] - centers[c, j]
            square += gap * gap
        if c == own:
            leave = square * size
        else:
            join = square * sums[c, width] / (sums[c, width] + 1.0)
            if join < lowest:
                new, lowest = c, join
    if size < 2.0 or not lowest * (size - 1.0) < GAIN * leave:
        return 0
    labels[0, point] = new
    sums[own, width] -= 1.0
    sums[new, width] += 1.0
    for j in range(width):
        value = points[x + j * TILE]
        sums[own, j] -= value
        sums[new, j] += value
        centers[own, j] = sums[own, j] / sums[own, width]
        centers[new, j] = sums[new, j] / sums[new, width]
    return 1
