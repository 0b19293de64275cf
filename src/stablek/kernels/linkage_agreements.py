"""Dendrograms of many groups of noisy points, cut and compared with reference labels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.agreement import N_SUMS, agreement
from stablek.kernels.compiling import jit
from stablek.kernels.cuts import cut, largest
from stablek.kernels.linkage import distances_at, grow, merge
from stablek.kernels.noisy import gather

__all__ = ["agreements"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@jit
def agreements(
    X: Floats,
    noise: Floats,
    epsilons: Floats,
    linkage: int,
    coefficients: Floats,
    rows: Ints,
    row_starts: Ints,
    ks: Ints,
    k_starts: Ints,
    labels: Ints,
    label_starts: Ints,
    n_labels: Ints,
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
    coefficients : ndarray of shape (3, n_samples, n_samples) or (3, 0, 0)
        From `expand_distances`; without it every level computes its distances.
    rows : ndarray
        Rows of X of every group, one after the other; group g has those from
        ``row_starts[g]`` to ``row_starts[g + 1]``.
    row_starts : ndarray of shape (n_groups + 1,)
    ks : ndarray
        Numbers of clusters of every group, cut by `k_starts` in the same way.
    k_starts : ndarray of shape (n_groups + 1,)
    labels : ndarray
        Reference labels, from 0, for each entry of `ks`, cut by `label_starts`.
    label_starts, n_labels : ndarray of shape (len(ks),)
        Where each entry's labels start, and how many different ones there are.

    Returns
    -------
    ndarray of shape (7, len(ks), n_epsilons)
        The fields of `stablek.similarity.Agreement`.
    """
    result = np.empty((N_SUMS, ks.shape[0], epsilons.shape[0]))
    sums = np.empty(N_SUMS)
    expanded = coefficients.shape[1] > 0
    for group in range(row_starts.shape[0] - 1):
        members = rows[row_starts[group] : row_starts[group + 1]]
        n = members.shape[0]
        points = np.empty((0 if expanded else X.shape[1], n))
        distances = np.empty((n, n) if expanded else (0, 0))
        first, second, height = np.empty(n - 1, np.intp), np.empty(n - 1, np.intp), np.empty(n - 1)
        finest = np.empty(n, np.intp)
        begin, end = k_starts[group], k_starts[group + 1]
        if begin == end:
            continue
        coarser = np.empty((end - begin, min(largest(ks[begin:end]), n)), np.intp)
        for level in range(epsilons.shape[0]):
            if expanded:
                distances_at(coefficients, epsilons[level], members, linkage, distances)
                merge(distances, linkage, first, second, height)
            else:
                gather(X, noise, epsilons[level], members, points)
                grow(points, linkage, first, second, height)
            n_finest = cut(first, second, height, ks[begin:end], finest, coarser)
            for at in range(begin, end):
                reference = labels[label_starts[at] : label_starts[at] + n]
                table = np.zeros(n_labels[at] * n_finest, np.intp)
                for i in range(n):
                    table[reference[i] * n_finest + coarser[at - begin, finest[i]]] += 1
                agreement(table, 0, n_labels[at], n_finest, sums)
                for field in range(N_SUMS):
                    result[field, at, level] = sums[field]
    return result
