"""Labels that given mixtures assign to noisy points, counted into tables.

Along growing noise the log density of a component is a quadratic function of the level,

    log density(x + e z) = offset - (|u|^2 + 2 e u . v + e^2 |v|^2) / 2,

with u = (x - mean) C and v = z C: two products with the factor C serve all levels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.agreement import N_SUMS, agreement
from stablek.kernels.compiling import inner, jit
from stablek.kernels.mixture import block_size, gaps_to, project

__all__ = ["count_moved", "extend_agreements", "sum_tables"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


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
    block = block_size(n_features)
    points, moves = np.empty((n_features, block)), np.empty((n_features, block))
    gaps, u, v = np.empty((n_features, block)), np.empty(block), np.empty(block)
    terms = np.empty((3, block))
    best, found = np.empty((n_levels, block)), np.empty((n_levels, block), np.intp)
    first = 0
    for group in range(row_starts.shape[0] - 1):
        begin, end = k_starts[group], k_starts[group + 1]
        n = row_starts[group + 1] - row_starts[group]
        table_at = np.zeros(end - begin + 1, np.intp)
        for at in range(begin, end):
            table_at[at - begin + 1] = table_at[at - begin] + n_labels[at] * ks[at] * n_levels
        tables = np.zeros(table_at[end - begin], np.intp)
        for start in range(0, n, block):
            size = min(block, n - start)
            low = row_starts[group] + start
            _gather(X, rows[low : low + size], points)
            _gather(noise, rows[low : low + size], moves)
            one = first
            for at in range(begin, end):
                k = ks[at]
                for level in range(n_levels):
                    for i in range(size):
                        best[level, i] = -np.inf
                        found[level, i] = 0
                for component in range(k):
                    gaps_to(points, 0, size, means[one + component], gaps)
                    _expand(gaps, moves, factors[one + component], size, u, v, terms)
                    for level in range(n_levels):
                        _challenge(
                            terms,
                            offsets[one + component],
                            epsilons[level],
                            component,
                            size,
                            best[level],
                            found[level],
                        )
                one += k
                for level in range(n_levels):
                    base = table_at[at - begin] + level * n_labels[at] * k
                    for i in range(size):
                        reference = labels[label_starts[at] + start + i]
                        tables[base + reference * k + found[level, i]] += 1
        for at in range(begin, end):
            for level in range(n_levels):
                base = table_at[at - begin] + level * n_labels[at] * ks[at]
                agreement(tables, base, n_labels[at], ks[at], sums)
                for field in range(N_SUMS):
                    result[field, at, level] = sums[field]
            first += ks[at]
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
        Of the components.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    labels : ndarray of shape (n,)
        Reference labels.
    tables : ndarray of shape (n_epsilons, n_labels, k)
        What is found is added here.
    """
    k, _, n = terms.shape
    best, found = np.empty(n), np.empty(n, np.intp)
    for level in range(epsilons.shape[0]):
        for i in range(n):
            best[i] = -np.inf
            found[i] = 0
        for component in range(k):
            _challenge(
                terms[component], offsets[component], epsilons[level], component, n, best, found
            )
        for i in range(n):
            tables[level, labels[i], found[i]] += 1


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
    """Rows of X, feature by feature."""
    for feature in range(X.shape[1]):
        for i in range(rows.shape[0]):
            points[feature, i] = X[rows[i], feature]


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
def _challenge(
    terms: Floats,
    offset: float,
    epsilon: float,
    component: int,
    size: int,
    best: Floats,
    found: Ints,
) -> None:
    """Give a component the points at which its density is the highest so far."""
    square, cross, own = terms[0], terms[1], terms[2]
    for i in range(size):
        log = offset - 0.5 * (square[i] + epsilon * (cross[i] + epsilon * own[i]))
        higher = log > best[i]
        best[i] = log if higher else best[i]
        found[i] = component if higher else found[i]
