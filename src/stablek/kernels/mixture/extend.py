"""Labels that reference mixtures give to noisy points, counted for all noise levels at once."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.agreement import N_SUMS, agreement
from stablek.kernels.compiling import inner, jit
from stablek.kernels.mixture.densities import block_size, gaps_to, gather
from stablek.kernels.mixture.moved import (
    expand,
    in_noise,
    keep_without_noise,
    reset,
    take_higher,
    take_higher_in_noise,
    turn,
)
from stablek.kernels.packed import PackedGroups

__all__ = [
    "count_highest",
    "extend_agreements",
    "extend_labels",
    "extend_tables",
    "sum_tables",
]

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
    growths: Floats,
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
    growths : ndarray of shape (n_components, p) or (0, p)
        For components that know the noise, and turned factors. At level 0 the labels are then
        the reference labels.

    Returns
    -------
    ndarray of shape (7, n_partitions, n_epsilons)
        The fields of `stablek.similarity.Agreement`.
    """
    n_levels, k_values, n_labels = epsilons.shape[0], packed.k_values, packed.n_labels
    result, sums = np.empty((N_SUMS, k_values.shape[0], n_levels)), np.empty(N_SUMS)
    room = _room(X.shape[1], n_levels)
    first = 0  # component of the group
    for group in range(packed.row_starts.shape[0] - 1):
        begin, end = packed.partition_starts[group], packed.partition_starts[group + 1]
        table_starts = np.zeros(end - begin + 1, np.intp)
        for q in range(begin, end):
            size = n_levels * n_labels[q] * k_values[q]
            table_starts[q - begin + 1] = table_starts[q - begin] + size
        tables = np.zeros(table_starts[end - begin], np.intp)
        _count_group(
            X, noise, epsilons, packed, group, first, means, factors, offsets, growths, room,
            table_starts, tables,
        )  # fmt: skip
        for q in range(begin, end):
            for level in range(n_levels):
                base = table_starts[q - begin] + level * n_labels[q] * k_values[q]
                agreement(tables, base, n_labels[q], k_values[q], sums)
                for field in range(N_SUMS):
                    result[field, q, level] = sums[field]
            first += k_values[q]
    return result


@jit
def extend_tables(
    X: Floats,
    noise: Floats,
    epsilons: Floats,
    packed: PackedGroups,
    means: Floats,
    factors: Floats,
    offsets: Floats,
    growths: Floats,
    first_cell: Ints,
    tables: Ints,
) -> None:
    """Count (reference label, label of the noisy point) for every partition and noise level.

    The parameters are those of `extend_agreements`. Partition q has a table for each level, from
    ``tables[first_cell[q]]`` on. Counts are added to the tables, so that rows may come in blocks.
    """
    room = _room(X.shape[1], epsilons.shape[0])
    first = 0  # component of the group
    for group in range(packed.row_starts.shape[0] - 1):
        begin, end = packed.partition_starts[group], packed.partition_starts[group + 1]
        _count_group(
            X, noise, epsilons, packed, group, first, means, factors, offsets, growths, room,
            first_cell[begin:end], tables,
        )  # fmt: skip
        first += packed.k_values[begin:end].sum()


@jit
def extend_labels(
    X: Floats,
    noise: Floats,
    epsilons: Floats,
    reference: Ints,
    means: Floats,
    factors: Floats,
    offsets: Floats,
    growths: Floats,
    labels: Ints,
) -> None:
    """Write the labels that one mixture gives to noisy points, (n_epsilons, n_samples).

    `reference` has its labels of X. The other parameters are those of `extend_agreements`.
    """
    n, n_features = X.shape
    rows = np.arange(n)
    room = _room(n_features, epsilons.shape[0])
    halves, peaks = in_noise(growths, offsets, epsilons)
    block = room.log.shape[0]
    for start in range(0, n, block):
        size = min(block, n - start)
        gather(X, rows[start : start + size], room.points)
        gather(noise, rows[start : start + size], room.moves)
        _find(
            size, epsilons, means, factors, offsets, halves, peaks, reference[start:], room
        )  # fmt: skip
        for level in range(epsilons.shape[0]):
            for i in range(size):
                labels[level, start + i] = room.found[level, i]


class _Room(NamedTuple):
    """Scratch memory for a block of points, their noise, and what is computed of them."""

    points: Floats
    moves: Floats
    gaps: Floats
    u: Floats
    w: Floats
    terms: Floats
    log: Floats
    best: Floats
    found: Ints


@inner
def _room(n_features: int, n_levels: int) -> _Room:
    block = block_size(n_features)
    return _Room(
        np.empty((n_features, block)),
        np.empty((n_features, block)),
        np.empty((n_features, block)),
        np.empty((n_features, block)),
        np.empty((n_features, block)),
        np.empty((3, block)),
        np.empty(block),
        np.empty((n_levels, block)),
        np.empty((n_levels, block), np.intp),
    )


@inner
def _count_group(
    X: Floats,
    noise: Floats,
    epsilons: Floats,
    packed: PackedGroups,
    group: int,
    first: int,
    means: Floats,
    factors: Floats,
    offsets: Floats,
    growths: Floats,
    room: _Room,
    table_starts: Ints,
    tables: Ints,
) -> None:
    """Add the counts of one group, whose first component is `first`, to its tables."""
    n_levels, k_values, n_labels = epsilons.shape[0], packed.k_values, packed.n_labels
    block, found = room.log.shape[0], room.found
    low, high = packed.row_starts[group], packed.row_starts[group + 1]
    begin, end = packed.partition_starts[group], packed.partition_starts[group + 1]
    last = first + k_values[begin:end].sum()
    halves, peaks = in_noise(growths[first:last], offsets[first:last], epsilons)
    for start in range(low, high, block):
        size = min(block, high - start)
        gather(X, packed.rows[start : start + size], room.points)
        gather(noise, packed.rows[start : start + size], room.moves)
        at = first
        for q in range(begin, end):
            labels = packed.labels[packed.label_starts[q] + start - low :]
            to = at + k_values[q]
            _find(
                size, epsilons, means[at:to], factors[at:to], offsets[at:to],
                halves[at - first : to - first], peaks[at - first : to - first], labels, room,
            )  # fmt: skip
            at = to
            for level in range(n_levels):
                base = table_starts[q - begin] + level * n_labels[q] * k_values[q]
                for i in range(size):
                    tables[base + labels[i] * k_values[q] + found[level, i]] += 1


@inner
def _find(
    size: int,
    epsilons: Floats,
    means: Floats,
    factors: Floats,
    offsets: Floats,
    halves: Floats,
    peaks: Floats,
    labels: Ints,
    room: _Room,
) -> None:
    """Find the components of a mixture for the block of noisy points in the room.

    `halves` and `peaks` are from `in_noise`; they are empty for components that ignore the noise.
    """
    points, moves, gaps, u, w, terms, log, best, found = room
    knows_noise = halves.shape[0] > 0
    reset(size, best, found)
    for c in range(means.shape[0]):
        gaps_to(points, 0, size, means[c], gaps)
        if knows_noise:
            turn(gaps, factors[c], size, u)
            turn(moves, factors[c], size, w)
            take_higher_in_noise(u, w, halves[c], peaks[c], epsilons, c, size, log, best, found)
        else:
            expand(gaps, moves, factors[c], size, u[0], w[0], terms)
            take_higher(terms, offsets[c], epsilons, c, size, best, found)
    if knows_noise:
        keep_without_noise(epsilons, labels, size, found)


@jit
def count_highest(
    logs: Floats, log_weights: Floats, epsilons: Floats, labels: Ints, tables: Ints
) -> None:
    """Count labels of moved points, given the log densities of the components.

    Parameters
    ----------
    logs : ndarray of shape (k, n, n_epsilons)
        Log densities at the moved points.
    log_weights : ndarray of shape (k,)
        Logs of the weights of the components.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels. At level 0 the labels are the reference labels.
    labels : ndarray of shape (n,)
        Reference labels.
    tables : ndarray of shape (n_epsilons, n_labels, k)
        The counts are added to these tables.
    """
    n_levels, n = epsilons.shape[0], labels.shape[0]
    best, found = np.empty((n, n_levels)), np.empty((n, n_levels), np.intp)
    reset(n_levels, best, found)
    for component in range(logs.shape[0]):
        for i in range(n):
            for level in range(n_levels):
                log = logs[component, i, level] + log_weights[component]
                higher = log > best[i, level]
                best[i, level] = log if higher else best[i, level]
                found[i, level] = component if higher else found[i, level]
    for level in range(n_levels):
        for i in range(n):
            label = found[i, level] if epsilons[level] > 0.0 else labels[i]
            tables[level, labels[i], label] += 1


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
