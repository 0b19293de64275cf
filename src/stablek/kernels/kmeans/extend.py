"""Labels that reference centers give to noisy points, counted for many noise levels at once."""

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
    nearest_noisy,
    score_rows,
    scores_memory,
    tiles_of,
)
from stablek.kernels.lean import jit
from stablek.kernels.packed import PackedGroups

__all__ = ["extend_memory", "extend_tables"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_ROWS = 32  # score rows that partitions of one set of points share, to fill the steps of four


class Extension(NamedTuple):
    """Scratch memory for one tile of points, their noise, and what is computed of them."""

    points: Floats
    shifts: Floats
    slopes: Floats
    zeros: Floats
    cells: Ints
    scores: Scores


def extend_memory(n_features: int, k: int, n_levels: int) -> Extension:
    """Room for partitions into up to k clusters."""
    width, n_rows = n_features + n_features % 2, max(_ROWS, k)
    return Extension(
        np.empty(width * TILE),
        np.empty(width * TILE),
        np.empty((n_rows + 3) * TILE),
        np.zeros(n_rows + 3),
        np.empty(n_levels * TILE, dtype=np.int64),
        scores_memory(n_rows, width, n_rows),
    )


@jit
def extend_tables(
    X: Floats,
    noise: Floats,
    offset: int,
    epsilons: Floats,
    groups: PackedGroups,
    centers: Floats,
    memory: Extension,
    tables: Ints,
    first_cell: Ints,
) -> None:
    """Count (reference label, label of the noisy point) for every partition and noise level.

    The centers of all partitions follow each other. Partition q has a table of k squared cells
    for each noise level, from ``tables[first_cell[q]]`` on. The noise, scaled, starts at row
    ``offset`` of X. Counts are added to the tables, so that rows may come in blocks.
    """
    width, k_values = X.shape[1] + X.shape[1] % 2, groups.k_values
    points, shifts, slopes, zeros, cells, scratch = memory
    weights, bias, scores, best, found, each = scratch
    zero: Any = np.int64(0)  # a literal 0 would compile the callees once more
    first_center = zero
    for g in range(len(groups.row_starts) - 1):
        n = groups.row_starts[g + 1] - groups.row_starts[g]
        part, last = groups.partition_starts[g], groups.partition_starts[g + 1]
        while part < last:
            # As many partitions as share the score rows, at least one.
            stop, shared = part + 1, k_values[part] - 1
            while stop < last and shared + k_values[stop] - 1 <= _ROWS:
                shared += k_values[stop] - 1
                stop += 1
            row = zero
            for q in range(part, stop):
                contrast(centers, first_center, k_values[q], weights, bias, row)
                first_center += k_values[q]
                row += k_values[q] - 1
            for tile in range(tiles_of(n)):
                lanes, count = lanes_of(n, tile), min(TILE, n - tile * TILE)
                low = groups.row_starts[g] + tile * TILE
                load_tile(X, zero, noise, 0.0, groups.rows, low, count, points, zero)
                load_tile(noise, offset, noise, 0.0, groups.rows, low, count, shifts, zero)
                score_rows(points, zero, width, lanes, weights, bias, zero, each, row, scores)
                score_rows(shifts, zero, width, lanes, weights, zeros, zero, each, row, slopes)
                at = zero
                for q in range(part, stop):
                    k, label = k_values[q], groups.label_starts[q] + tile * TILE
                    for e in range(len(epsilons)):
                        nearest_noisy(scores, slopes, epsilons[e], at, k - 1, lanes, best, found)
                        for i in range(count):
                            cell = groups.labels[label + i] * k + found[i]
                            cells[e * TILE + i] = first_cell[q] + e * k * k + cell
                    # Levels alternate: no addition waits for the one before it.
                    for i in range(count):
                        for e in range(len(epsilons)):
                            tables[cells[e * TILE + i]] += 1
                    at += k - 1
            part = stop
