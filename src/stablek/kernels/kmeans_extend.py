"""Labels that reference centers give to noisy points, counted for many noise levels at once."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import jit
from stablek.kernels.kmeans_tiles import (
    TILE,
    Scores,
    contrast,
    lanes_of,
    load_tile,
    nearest_noisy,
    padded,
    score_rows,
    scores_memory,
)

__all__ = ["extend_memory", "extend_tables"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_ROWS = 32  # score rows that partitions of one set of points share, to fill the steps of four


class Levels(NamedTuple):
    """Scratch memory for one tile of points, their noise, and what is computed of them."""

    points: Floats
    shifts: Floats
    slopes: Floats
    zeros: Floats
    cells: Ints


def extend_memory(n_features: int, k: int, n_levels: int) -> tuple[Scores, Levels]:
    """Room for partitions into up to k clusters."""
    width = n_features + n_features % 2
    n_rows = max(_ROWS, k)
    more = Levels(
        np.empty(width * TILE),
        np.empty(width * TILE),
        np.empty((n_rows + 3) * TILE),
        np.zeros(n_rows + 3),
        np.empty(n_levels * TILE, dtype=np.int64),
    )
    return scores_memory(n_rows, width, n_rows), more


@jit
def extend_tables(
    X: Floats,
    noise: Floats,
    offset: int,
    epsilons: Floats,
    rows: Ints,
    row_bounds: Ints,
    part_bounds: Ints,
    ks: Ints,
    centers: Floats,
    labels: Ints,
    table_at: Ints,
    scratch: Scores,
    more: Levels,
    tables: Ints,
) -> None:
    """Count (reference label, label of the noisy point) for every partition and noise level.

    Group g has points ``rows[row_bounds[g]:row_bounds[g + 1]]`` and the partitions
    ``part_bounds[g]`` to ``part_bounds[g + 1]``; partition q has ``ks[q]`` centers, one label
    per point and tables of ``ks[q]`` squared cells from ``table_at[q]`` on, one per level. The
    centers and labels of all partitions follow each other. The noise, scaled, starts at row
    ``offset`` of X; counts are added, so that rows may come in blocks.
    """
    width = padded(X.shape[1])
    weights, bias, scores, best, found, each = scratch
    points, shifts, slopes, zeros, cells = more
    zero: Any = np.int64(0)  # a literal 0 would have callees compiled once more
    label_at = center_at = zero
    for g in range(len(row_bounds) - 1):
        n = row_bounds[g + 1] - row_bounds[g]
        part, last = part_bounds[g], part_bounds[g + 1]
        while part < last:
            # As many partitions as share the score rows, at least one.
            stop, shared = part + 1, ks[part] - 1
            while stop < last and shared + ks[stop] - 1 <= _ROWS:
                shared += ks[stop] - 1
                stop += 1
            row = zero
            for q in range(part, stop):
                contrast(centers, center_at, ks[q], weights, bias, row)
                center_at += ks[q]
                row += ks[q] - 1
            for tile in range((n + TILE - 1) // TILE):
                lanes, count = lanes_of(n, tile), min(TILE, n - tile * TILE)
                low = row_bounds[g] + tile * TILE
                load_tile(X, zero, noise, 0.0, rows, low, count, points, zero)
                load_tile(noise, offset, noise, 0.0, rows, low, count, shifts, zero)
                score_rows(points, zero, width, lanes, weights, bias, zero, each, row, scores)
                score_rows(shifts, zero, width, lanes, weights, zeros, zero, each, row, slopes)
                at = zero
                for q in range(part, stop):
                    k = ks[q]
                    reference = label_at + (q - part) * n + tile * TILE
                    for e in range(len(epsilons)):
                        nearest_noisy(scores, slopes, epsilons[e], at, k - 1, lanes, best, found)
                        for i in range(count):
                            cell = labels[reference + i] * k + found[i]
                            cells[e * TILE + i] = table_at[q] + e * k * k + cell
                    # Levels alternate: no addition waits for the one before it.
                    for i in range(count):
                        for e in range(len(epsilons)):
                            tables[cells[e * TILE + i]] += 1
                    at += k - 1
            label_at += (stop - part) * n
            part = stop
