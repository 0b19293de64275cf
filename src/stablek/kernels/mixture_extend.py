"""Labels that given mixtures assign to noisy points, counted into tables."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.agreement import N_SUMS, agreement
from stablek.kernels.compiling import jit
from stablek.kernels.mixture import assign
from stablek.kernels.noisy import gather

__all__ = ["extend_agreements"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_ROWS = 1024  # rows whose noisy copies are held at once


@jit
def extend_agreements(
    X: Floats,
    noise: Floats,
    epsilons: Floats,
    rows: Ints,
    row_starts: Ints,
    ks: Ints,
    k_starts: Ints,
    labels: Ints,
    label_starts: Ints,
    n_labels: Ints,
    means: Floats,
    factors: Floats,
    offsets: Floats,
) -> Floats:
    """Sums over the contingency tables of reference labels and labels of the noisy points.

    Parameters
    ----------
    X, noise : ndarray of shape (n_samples, p)
        Data, and what a noise level multiplies.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    rows, row_starts, ks, k_starts, labels, label_starts, n_labels : ndarray
        Groups as `stablek.engines.packing` lays them out; `ks` are numbers of components.
    means, factors, offsets : ndarray
        Models, the components of one after those of the other.

    Returns
    -------
    ndarray of shape (7, len(ks), n_epsilons)
        The fields of `stablek.similarity.Agreement`.
    """
    n_levels, n_features = epsilons.shape[0], X.shape[1]
    result = np.empty((N_SUMS, ks.shape[0], n_levels))
    sums = np.empty(N_SUMS)
    points, found = np.empty((n_features, _ROWS)), np.empty(_ROWS, np.intp)
    first = 0
    for group in range(row_starts.shape[0] - 1):
        begin, end = k_starts[group], k_starts[group + 1]
        n = row_starts[group + 1] - row_starts[group]
        table_at = np.zeros(end - begin + 1, np.intp)
        for at in range(begin, end):
            table_at[at - begin + 1] = table_at[at - begin] + n_labels[at] * ks[at] * n_levels
        tables = np.zeros(table_at[end - begin], np.intp)
        for start in range(0, n, _ROWS):
            size = min(_ROWS, n - start)
            low = row_starts[group] + start
            for level in range(n_levels):
                gather(X, noise, epsilons[level], rows[low : low + size], points)
                one = first
                for at in range(begin, end):
                    k = ks[at]
                    end_one = one + k
                    assign(
                        points,
                        size,
                        means[one:end_one],
                        factors[one:end_one],
                        offsets[one:end_one],
                        found,
                    )
                    one = end_one
                    base = table_at[at - begin] + level * n_labels[at] * k
                    for i in range(size):
                        reference = labels[label_starts[at] + start + i]
                        tables[base + reference * k + found[i]] += 1
        for at in range(begin, end):
            for level in range(n_levels):
                base = table_at[at - begin] + level * n_labels[at] * ks[at]
                agreement(tables, base, n_labels[at], ks[at], sums)
                for field in range(N_SUMS):
                    result[field, at, level] = sums[field]
            first += ks[at]
    return result
