"""Seven sums over a contingency table, from which nearly every similarity follows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels import lean
from stablek.kernels.compiling import jit

__all__ = ["N_SUMS", "agreement", "label_sums", "table_sums"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

N_SUMS = 7


@lean.jit
def table_sums(
    tables: Ints, first_cell: Ints, k_values: Ints, n_levels: int, sums: Floats
) -> None:
    """Write the sums of ``n_levels`` square tables of each partition q to ``sums[q, level]``."""
    for q in range(len(k_values)):
        k = k_values[q]
        for e in range(n_levels):
            agreement(tables, first_cell[q] + e * k * k, k, k, sums[q, e])


@jit
def label_sums(
    first: Ints,
    first_starts: Ints,
    n_first: Ints,
    second: Ints,
    second_starts: Ints,
    n_second: Ints,
    sizes: Ints,
    sums: Floats,
) -> None:
    """Write the sums of comparison f to ``sums[f]``.

    It compares ``sizes[f]`` labels, from ``first_starts[f]`` and from ``second_starts[f]`` on. The
    labels are below ``n_first[f]`` and ``n_second[f]``, and not negative.
    """
    largest = 0
    for f in range(len(sizes)):
        largest = max(largest, n_first[f] * n_second[f])
    table = np.empty(largest, np.int64)
    for f in range(len(sizes)):
        for cell in range(n_first[f] * n_second[f]):
            table[cell] = 0
        for i in range(sizes[f]):
            table[first[first_starts[f] + i] * n_second[f] + second[second_starts[f] + i]] += 1
        agreement(table, 0, n_first[f], n_second[f], sums[f])


@lean.inner
def agreement(counts: Ints, base: int, n_first: int, n_second: int, sums: Floats) -> None:
    """Write seven sums over the table ``counts[base:base + n_first * n_second]``.

    They are in the order of `stablek.similarity.Agreement`: number of points; pairs together in
    both partitions, in the first, in the second; sum of n log n over cells, rows and columns.
    """
    for i in range(N_SUMS):
        sums[i] = 0.0
    for a in range(n_first):
        row = 0.0
        for b in range(n_second):
            cell = float(counts[base + a * n_second + b])
            row += cell
            sums[1] += _pairs(cell)
            sums[4] += _entropy(cell)
        sums[0] += row
        sums[2] += _pairs(row)
        sums[5] += _entropy(row)
    for b in range(n_second):
        column = 0.0
        for a in range(n_first):
            column += float(counts[base + a * n_second + b])
        sums[3] += _pairs(column)
        sums[6] += _entropy(column)


@lean.inner
def _pairs(n: float) -> float:
    return n * (n - 1.0) / 2.0


@lean.inner
def _entropy(n: float) -> float:
    # Most cells are empty, and a logarithm costs more than everything else here.
    return n * math.log(n) if n > 1.0 else 0.0
