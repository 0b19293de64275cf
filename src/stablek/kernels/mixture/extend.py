"""Labels that reference mixtures give to noisy points, counted for all noise levels at once.

The log density of a component at a point x that noise z moves is quadratic in the noise level e:

    log density(x + e z) = offset - (|u|^2 + 2 e u . v + e^2 |v|^2) / 2,

with u = (x - mean) C and v = z C. So two products with the factor C serve all levels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.agreement import N_SUMS, agreement
from stablek.kernels.compiling import inner, jit
from stablek.kernels.mixture.densities import block_size, gaps_to, project
from stablek.kernels.packed import PackedGroups

__all__ = ["count_moved", "extend_agreements", "sum_tables"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@jit
def extend_agreements(
    X: Floats,
    noise: Floats,
    epsilons: Floats,
    packed: PackedGroups,
    means: Floats,
    factors: Floats,
    offsets: Floats,
) -> Floats:
    """Sums over the contingency tables of reference labels and labels of the noisy points.

    Parameters
    ----------
    X, noise : ndarray of shape (n_samples, p)
        Data, and the noise that a noise level multiplies.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    packed : PackedGroups
        The groups. A partition into k clusters has a model of k components.
    means, factors, offsets : ndarray
        The components of all models, laid end to end.

    Returns
    -------
    ndarray of shape (7, n_partitions, n_epsilons)
        The fields of `stablek.similarity.Agreement`.
    """
    n_levels, n_features = epsilons.shape[0], X.shape[1]
    k_values, n_labels = packed.k_values, packed.n_labels
    result, sums = np.empty((N_SUMS, k_values.shape[0], n_levels)), np.empty(N_SUMS)
    block = block_size(n_features)
    points, moves = np.empty((n_features, block)), np.empty((n_features, block))
    gaps, u, v = np.empty((n_features, block)), np.empty(block), np.empty(block)
    terms = np.empty((3, block))
    best, found = np.empty((n_levels, block)), np.empty((n_levels, block), np.intp)
    first = 0  # component of the group
    for group in range(packed.row_starts.shape[0] - 1):
        low, high = packed.row_starts[group], packed.row_starts[group + 1]
        begin, end = packed.partition_starts[group], packed.partition_starts[group + 1]
        table_starts = np.zeros(end - begin + 1, np.intp)
        for q in range(begin, end):
            size = n_levels * n_labels[q] * k_values[q]
            table_starts[q - begin + 1] = table_starts[q - begin] + size
        tables = np.zeros(table_starts[end - begin], np.intp)
        for start in range(low, high, block):
            size = min(block, high - start)
            _gather(X, packed.rows[start : start + size], points)
            _gather(noise, packed.rows[start : start + size], moves)
            at = first
            for q in range(begin, end):
                _reset(size, best, found)
                for component in range(k_values[q]):
                    gaps_to(points, 0, size, means[at], gaps)
                    _expand(gaps, moves, factors[at], size, u, v, terms)
                    _take_higher(terms, offsets[at], epsilons, component, size, best, found)
                    at += 1
                labels = packed.labels[packed.label_starts[q] + start - low :]
                for level in range(n_levels):
                    base = table_starts[q - begin] + level * n_labels[q] * k_values[q]
                    for i in range(size):
                        tables[base + labels[i] * k_values[q] + found[level, i]] += 1
        for q in range(begin, end):
            for level in range(n_levels):
                base = table_starts[q - begin] + level * n_labels[q] * k_values[q]
                agreement(tables, base, n_labels[q], k_values[q], sums)
                for field in range(N_SUMS):
                    result[field, q, level] = sums[field]
            first += k_values[q]
    return result


@jit
def count_moved(
    terms: Floats, offsets: Floats, epsilons: Floats, labels: Ints, tables: Ints
) -> None:
    """Count labels of moved points, given how their distances to the components grow.

    Parameters
    ----------
    terms : ndarray of shape (k, 3, n)
        |u|^2, 2 u . v and |v|^2 for each component and point.
    offsets : ndarray of shape (k,)
        Offsets of the components.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    labels : ndarray of shape (n,)
        Reference labels.
    tables : ndarray of shape (n_epsilons, n_labels, k)
        The counts are added to these tables.
    """
    n_levels, n = epsilons.shape[0], labels.shape[0]
    best, found = np.empty((n_levels, n)), np.empty((n_levels, n), np.intp)
    _reset(n, best, found)
    for component in range(offsets.shape[0]):
        _take_higher(terms[component], offsets[component], epsilons, component, n, best, found)
    for level in range(n_levels):
        for i in range(n):
            tables[level, labels[i], found[level, i]] += 1


@jit
def sum_tables(tables: Ints) -> Floats:
    """Sums over contingency tables of shape (n_levels, n_first, n_second), (7, n_levels)."""
    n_levels, n_first, n_second = tables.shape
    result, sums = np.empty((N_SUMS, n_levels)), np.empty(N_SUMS)
    for level in range(n_levels):
        agreement(tables[level].ravel(), 0, n_first, n_second, sums)
        for field in range(N_SUMS):
            result[field, level] = sums[field]
    return result


@inner
def _gather(X: Floats, rows: Ints, points: Floats) -> None:
    """Write rows of X, feature by feature."""
    for feature in range(X.shape[1]):
        for i in range(rows.shape[0]):
            points[feature, i] = X[rows[i], feature]


@inner
def _reset(size: int, best: Floats, found: Ints) -> None:
    """Forget what was found for a block of points."""
    for level in range(best.shape[0]):
        for i in range(size):
            best[level, i] = -np.inf
            found[level, i] = 0


@inner
def _expand(
    gaps: Floats, moves: Floats, factor: Floats, size: int, u: Floats, v: Floats, terms: Floats
) -> None:
    """Write |u|^2, 2 u . v and |v|^2 of each point for one component."""
    square, cross, own = terms[0], terms[1], terms[2]
    diagonal = factor.shape[0] == 1
    if gaps.shape[0] == 2 and not diagonal:  # the most common case, in one pass
        g0, g1, m0, m1 = gaps[0], gaps[1], moves[0], moves[1]
        a, b, c = factor[0, 0], factor[0, 1], factor[1, 1]
        for i in range(size):
            u0, u1 = g0[i] * a, g0[i] * b + g1[i] * c
            v0, v1 = m0[i] * a, m0[i] * b + m1[i] * c
            square[i] = u0 * u0 + u1 * u1
            cross[i] = 2.0 * (u0 * v0 + u1 * v1)
            own[i] = v0 * v0 + v1 * v1
        return
    for i in range(size):
        square[i] = cross[i] = own[i] = 0.0
    for column in range(gaps.shape[0]):
        if diagonal:
            gap, move, c = gaps[column], moves[column], factor[0, column]
            for i in range(size):
                u[i] = gap[i] * c
                v[i] = move[i] * c
        else:
            project(gaps, factor, column, size, u)
            project(moves, factor, column, size, v)
        for i in range(size):
            square[i] += u[i] * u[i]
            cross[i] += 2.0 * u[i] * v[i]
            own[i] += v[i] * v[i]


@inner
def _take_higher(
    terms: Floats,
    offset: float,
    epsilons: Floats,
    component: int,
    size: int,
    best: Floats,
    found: Ints,
) -> None:
    """Give a component the points where its density is the highest so far, for each level."""
    square, cross, own = terms[0], terms[1], terms[2]
    for level in range(epsilons.shape[0]):
        epsilon, highest, label = epsilons[level], best[level], found[level]
        for i in range(size):
            log = offset - 0.5 * (square[i] + epsilon * (cross[i] + epsilon * own[i]))
            higher = log > highest[i]
            highest[i] = log if higher else highest[i]
            label[i] = component if higher else label[i]
