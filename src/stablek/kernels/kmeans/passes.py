"""One step of Lloyd's algorithm on a block of rows, for many groups of points at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.tiles import (
    TILE,
    Scores,
    contrast,
    lanes_of,
    load_tile,
    nearest,
    score_rows,
    scores_memory,
    tiles_of,
)
from stablek.kernels.lean import jit
from stablek.kernels.packed import PackedGroups

__all__ = ["CenterSums", "PassMemory", "assign_and_sum", "pass_memory"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


class CenterSums(NamedTuple):
    """Sums over the points that are nearest to each center.

    Parameters
    ----------
    counts : ndarray of shape (n_centers,)
        Number of points.
    gaps : ndarray of shape (n_centers, n_features)
        Sum of the points minus the center.
    squares : ndarray of shape (n_centers,)
        Sum of squared distances.
    farthest : ndarray of shape (n_centers,)
        Largest squared distance; -1 without points.
    farthest_rows : ndarray of shape (n_centers,)
        The first row at that distance.
    """

    counts: Ints
    gaps: Floats
    squares: Floats
    farthest: Floats
    farthest_rows: Ints


class PassMemory(NamedTuple):
    """Scratch memory for one tile of points and the scores of all centers of a group."""

    points: Floats
    scores: Scores


def pass_memory(n_features: int, n_rows: int, k: int) -> PassMemory:
    """Room for groups with up to ``n_rows`` centers, and partitions of up to k clusters."""
    width = n_features + n_features % 2
    return PassMemory(np.empty(width * TILE), scores_memory(n_rows, width, k))


@jit
def assign_and_sum(
    X: Floats, groups: PackedGroups, centers: Floats, memory: PassMemory, sums: CenterSums
) -> None:
    """Label each point of each group by its nearest center, and add it to the sums.

    The centers of all partitions follow each other. ``groups.labels`` and ``sums`` are outputs.
    The labels are those that `extend.extend_tables` gives to points without noise.
    """
    n_features, width = X.shape[1], X.shape[1] + X.shape[1] % 2
    points, scratch = memory
    weights, bias, scores, best, found, each = scratch
    counts, gaps, squares, farthest, farthest_rows = sums
    zero: Any = np.int64(0)  # a literal 0 would compile the callees once more
    first_center = zero
    for g in range(len(groups.row_starts) - 1):
        n = groups.row_starts[g + 1] - groups.row_starts[g]
        part, last = groups.partition_starts[g], groups.partition_starts[g + 1]
        row, center = zero, first_center
        for q in range(part, last):
            contrast(centers, center, groups.k_values[q], weights, bias, row)
            center += groups.k_values[q]
            row += groups.k_values[q] - 1
        for tile in range(tiles_of(n)):
            lanes, count = lanes_of(n, tile), min(TILE, n - tile * TILE)
            low = groups.row_starts[g] + tile * TILE
            load_tile(X, zero, X, 0.0, groups.rows, low, count, points, zero)
            row, center = zero, first_center
            for q in range(part, last):
                k = groups.k_values[q]
                score_rows(points, zero, width, lanes, weights, bias, row, each, k - 1, scores)
                nearest(scores, zero, each, k - 1, 0.0, lanes, best, found)
                label = groups.label_starts[q] + tile * TILE
                for i in range(count):
                    own = center + found[i]
                    square = 0.0
                    for j in range(n_features):
                        gap = points[j * TILE + i] - centers[own, j]
                        gaps[own, j] += gap
                        square += gap * gap
                    counts[own] += 1
                    squares[own] += square
                    if square > farthest[own]:
                        farthest[own] = square
                        farthest_rows[own] = groups.rows[low + i]
                    groups.labels[label + i] = found[i]
                center += k
                row += k - 1
        first_center = center
