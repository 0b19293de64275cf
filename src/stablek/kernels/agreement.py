"""Sums over contingency tables, from which nearly every similarity follows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit

__all__ = ["N_SUMS", "agreement", "label_sums", "table_sums"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

N_SUMS = 7


@jit
def table_sums(tables: Ints, table_at: Ints, ks: Ints, n_levels: int, sums: Floats) -> None:
    """Write the sums of ``n_levels`` square tables for each partition to ``sums[q, level]``."""
    for q in range(len(ks)):
        for e in range(n_levels):
            agreement(tables, table_at[q] + e * ks[q] * ks[q], ks[q], ks[q], sums[q, e])


@jit
def label_sums(
    first: Ints,
    first_at: Ints,
    n_first: Ints,
    second: Ints,
    second_at: Ints,
    n_second: Ints,
    ns: Ints,
    sums: Floats,
) -> None:
    """Write the sums of comparison f to ``sums[f]``.

    It compares ``ns[f]`` labels from ``first_at[f]`` and ``second_at[f]`` on, which lie from 0 to
    below ``n_first[f]`` and ``n_second[f]``.
    """
    largest = 0
    for f in range(len(ns)):
        largest = max(largest, n_first[f] * n_second[f])
    table = np.empty(largest, np.int64)
    for f in range(len(ns)):
        for cell in range(n_first[f] * n_second[f]):
            table[cell] = 0
        for i in range(ns[f]):
            table[first[first_at[f] + i] * n_second[f] + second[second_at[f] + i]] += 1
        agreement(table, 0, n_first[f], n_second[f], sums[f])


@inner
def agreement(counts: Ints, base: int, n_first: int, n_second: int, sums: Floats) -> None:
    """Seven sums over the table ``counts[base:base + n_first * n_second]``, row after row.

    In the order of `stablek.similarity.Agreement`: number of points; pairs together in both
    partitions, in the first, in the second; sum of n log n over cells, rows and columns.
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


@inner
def _pairs(n: float) -> float:
    return n * (n - 1.0) / 2.0


@inner
def _entropy(n: float) -> float:
    # Most cells are empty, and a logarithm costs more than everything else here.
    return n * math.log(n) if n > 1.0 else 0.0
