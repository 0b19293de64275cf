"""Labels that reference centres give to noisy points, counted for many noise levels at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit
from stablek.kernels.kmeans_tiles import (
    TILE,
    contrast,
    lanes_of,
    load_tile,
    nearest_noisy,
    padded,
    score_rows,
)

__all__ = ["extend_tables"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_ROWS = 32  # score rows that partitions of one set of points share, to fill the steps of four


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
    tables: Ints,
) -> None:
    """Count (reference label, label of the noisy point) for every partition and noise level.

    Group g has points ``rows[row_bounds[g]:row_bounds[g + 1]]`` and the partitions
    ``part_bounds[g]`` to ``part_bounds[g + 1]``; partition q has ``ks[q]`` centres, one label
    per point and tables of ``ks[q]`` squared cells from ``table_at[q]`` on, one per level. The
    centres and labels of all partitions follow each other. The noise, scaled, starts at row
    ``offset`` of X; counts are added, so that rows may come in blocks.
    """
    n_features = X.shape[1]
    width = padded(n_features)
    n_rows = _ROWS
    for q in range(len(ks)):
        n_rows = max(n_rows, ks[q])
    n_rows += 3
    weights, bias, zeros = np.empty((n_rows, width)), np.empty(n_rows), np.empty(n_rows)
    scores, slopes = np.empty(n_rows * TILE), np.empty(n_rows * TILE)
    for r in range(n_rows):
        zeros[r] = 0.0
    span = max(1, min(32, 320 // width))
    points, shifts = np.empty(span * width * TILE), np.empty(span * width * TILE)
    best, found = np.empty(TILE), np.empty(TILE, np.int64)
    cells = np.empty(len(epsilons) * TILE, np.int64)
    label_at = center_at = 0
    for g in range(len(row_bounds) - 1):
        n = row_bounds[g + 1] - row_bounds[g]
        part, last = part_bounds[g], part_bounds[g + 1]
        while part < last:
            # As many partitions as share the score rows, at least one.
            stop, shared = part + 1, ks[part] - 1
            while stop < last and shared + ks[stop] - 1 <= _ROWS:
                shared += ks[stop] - 1
                stop += 1
            row = 0
            for q in range(part, stop):
                contrast(centers, 0, center_at, ks[q], weights, bias, row)
                center_at += ks[q]
                row += ks[q] - 1
            for start in range(0, n, span * TILE):
                m = min(span * TILE, n - start)
                _load(X, noise, offset, rows, row_bounds[g] + start, m, points, shifts)
                for tile in range((m + TILE - 1) // TILE):
                    lanes = lanes_of(m, tile)
                    count = min(TILE, m - tile * TILE)
                    score_rows(points, tile, width, lanes, weights, bias, 0, row, scores)
                    score_rows(shifts, tile, width, lanes, weights, zeros, 0, row, slopes)
                    at = 0
                    for q in range(part, stop):
                        k = ks[q]
                        reference = label_at + (q - part) * n + start + tile * TILE
                        for e in range(len(epsilons)):
                            nearest_noisy(
                                scores, slopes, epsilons[e], at, k - 1, lanes, best, found
                            )
                            for i in range(count):
                                cell = labels[reference + i] * k + found[i]
                                cells[e * TILE + i] = cell + e * k * k
                        _count(tables, table_at[q], cells, len(epsilons), count)
                        at += k - 1
            label_at += (stop - part) * n
            part = stop


@inner
def _load(
    X: Floats,
    noise: Floats,
    offset: int,
    rows: Ints,
    first: int,
    n: int,
    points: Floats,
    shifts: Floats,
) -> None:
    """Copy n points and their noise into tiles."""
    for tile in range((n + TILE - 1) // TILE):
        low = first + tile * TILE
        count = min(TILE, n - tile * TILE)
        load_tile(X, 0, rows, low, count, points, tile)
        load_tile(noise, offset, rows, low, count, shifts, tile)


@inner
def _count(tables: Ints, base: int, cells: Ints, n_levels: int, count: int) -> None:
    """Add one to each cell. Levels alternate: no addition waits for the one before it."""
    for i in range(count):
        for e in range(n_levels):
            tables[base + cells[e * TILE + i]] += 1
