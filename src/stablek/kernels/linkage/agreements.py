"""Dendrograms of many groups of noisy points, cut and compared with reference labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.agreement import N_SUMS, agreement
from stablek.kernels.compiling import jit
from stablek.kernels.linkage.cuts import cut, largest
from stablek.kernels.linkage.grow import gather, grow
from stablek.kernels.linkage.matrix import distances_at, merge_distances
from stablek.kernels.packed import PackedGroups

__all__ = ["agreements"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@jit
def agreements(
    X: Floats,
    noise: Floats,
    epsilons: Floats,
    linkage: int,
    ways: Ints,
    coefficients: Floats,
    packed: PackedGroups,
) -> Floats:
    """Sums over the contingency tables of reference and perturbed cuts, for many groups.

    Parameters
    ----------
    X, noise : ndarray of shape (n_samples, p)
        Data, and what a noise level multiplies.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    linkage : int
        As for `grow`.
    ways : ndarray of shape (n_groups,)
        The way of each group, from `choose_way`.
    coefficients : ndarray of shape (3, n_samples, n_samples) or (3, 0, 0)
        From `expand_distances`; without them every level computes its distances.
    packed : PackedGroups
        The groups.

    Returns
    -------
    ndarray of shape (7, n_partitions, n_epsilons)
        The fields of `stablek.similarity.Agreement`.
    """
    result = np.empty((N_SUMS, packed.k_values.shape[0], epsilons.shape[0]))
    sums = np.empty(N_SUMS)
    expanded = coefficients.shape[1] > 0
    for group in range(packed.row_starts.shape[0] - 1):
        begin, end = packed.partition_starts[group], packed.partition_starts[group + 1]
        if begin == end:
            continue
        rows = packed.rows[packed.row_starts[group] : packed.row_starts[group + 1]]
        k_values = packed.k_values[begin:end]
        n = rows.shape[0]
        points = np.empty((0 if expanded else X.shape[1], n))
        distances = np.empty((n, n) if expanded else (0, 0))
        first, second, height = np.empty(n - 1, np.intp), np.empty(n - 1, np.intp), np.empty(n - 1)
        finest = np.empty(n, np.intp)
        coarser = np.empty((end - begin, min(largest(k_values), n)), np.intp)
        for level in range(epsilons.shape[0]):
            if expanded:
                distances_at(coefficients, epsilons[level], rows, linkage, distances)
                merge_distances(distances, linkage, first, second, height)
            else:
                gather(X, noise, epsilons[level], rows, points)
                grow(points, linkage, ways[group], first, second, height)
            n_finest = cut(first, second, height, k_values, finest, coarser)
            for q in range(begin, end):
                reference = packed.labels[packed.label_starts[q] : packed.label_starts[q + 1]]
                table = np.zeros(packed.n_labels[q] * n_finest, np.intp)
                for i in range(n):
                    table[reference[i] * n_finest + coarser[q - begin, finest[i]]] += 1
                agreement(table, 0, packed.n_labels[q], n_finest, sums)
                for field in range(N_SUMS):
                    result[field, q, level] = sums[field]
    return result
