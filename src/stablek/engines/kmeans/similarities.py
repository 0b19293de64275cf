"""Agreement of reference and perturbed labels, for many groups and noise levels at once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.blocks import blocks, rows_per_block
from stablek.engines.base import Setting
from stablek.engines.kmeans.fits import FitPlan, batches, fit, nearest_labels
from stablek.engines.kmeans.pairs import pair_products
from stablek.engines.packing import scaled_noise
from stablek.engines.subspace import Subspace
from stablek.kernels.agreement import N_SUMS, label_sums, table_sums
from stablek.kernels.kmeans import ways
from stablek.kernels.kmeans.extend import extend_memory, extend_tables
from stablek.kernels.kmeans.records import KMeansParameters
from stablek.kernels.packed import PackedGroups
from stablek.results import Group, Partition

__all__ = ["extended_labels", "extended_sums", "refitted_labels", "refitted_sums"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_CELLS = 1 << 24  # of the contingency tables that are held at a time


def extended_sums(
    X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
) -> Floats:
    """Sums over the tables of reference labels and labels by the nearest reference center.

    Returns
    -------
    ndarray of shape (n_partitions, n_epsilons, 7)
    """
    batches = _table_batches(groups, len(epsilons))
    return np.concatenate([_extended_batch(X, b, draw, epsilons, setting) for b in batches])


def _table_batches(groups: Sequence[Group], n_levels: int) -> Iterator[list[Group]]:
    """Groups in batches whose contingency tables take bounded memory; a group may be cut."""
    batch: list[Group] = []
    cells = 0
    for group in groups:
        own: list[Partition] = []
        for partition in group.partitions:
            size = n_levels * partition.k**2
            if cells and cells + size > _CELLS:
                yield [*batch, Group(group.rows, tuple(own))]
                batch, own, cells = [], [], 0
            own.append(partition)
            cells += size
        batch.append(Group(group.rows, tuple(own)))
    if cells:
        yield batch


def _extended_batch(
    X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
) -> Floats:
    partitions, n_levels = [p for group in groups for p in group.partitions], len(epsilons)
    centers = np.concatenate([partition.model for partition in partitions])
    k_values = np.array([partition.k for partition in partitions], dtype=np.intp)
    n_cells = n_levels * k_values**2
    first_cell = np.cumsum(n_cells) - n_cells
    tables = np.zeros(int(n_cells.sum()), dtype=np.int32)
    memory = extend_memory(X.shape[1], int(k_values.max()), n_levels)
    for rows in blocks(len(X), rows_per_block(X.shape[1])):
        packed = _pack_block(groups, rows)
        packed.rows[:] -= rows.start
        noise = scaled_noise(X, draw, rows.start, rows.stop, setting)
        block = np.ascontiguousarray(X[rows], dtype=np.float64)  # X may have single precision
        extend_tables(block, noise, 0, epsilons, packed, centers, memory, tables, first_cell)
    sums = np.empty((len(k_values), n_levels, N_SUMS))
    table_sums(tables, first_cell, k_values, n_levels, sums)
    return sums


def extended_labels(
    X: Floats, partition: Partition, draw: int, epsilons: Floats, setting: Setting
) -> list[Ints]:
    """Labels of noisy copies of X by the nearest reference center, for each noise level."""
    small: Any = np.int8 if partition.k < 128 else np.int32  # there are many of them
    labels = [np.empty(len(X), dtype=small) for _ in epsilons]
    for rows in blocks(len(X), rows_per_block(X.shape[1])):
        noise = scaled_noise(X, draw, rows.start, rows.stop, setting)
        for own, epsilon in zip(labels, epsilons, strict=True):
            [own[rows]] = nearest_labels(X[rows] + epsilon * noise, [partition.model])
    return labels


def refitted_sums(
    X: Floats,
    groups: Sequence[Group],
    draw: int,
    epsilons: Floats,
    setting: Setting,
    parameters: KMeansParameters,
) -> Floats:
    """Sums over the tables of reference labels and labels of fits of noisy copies.

    Returns
    -------
    ndarray of shape (n_partitions, n_epsilons, 7)
    """
    first_partition = np.cumsum([0, *(len(group.partitions) for group in groups)])
    sums = np.empty((first_partition[-1], len(epsilons), N_SUMS))
    for done in _refits(X, groups, draw, epsilons, setting, parameters):
        packed, partition = done.packed, done.partition
        k_values, labels, first_label = done.k_values, *done.labels
        own = np.empty((len(k_values), N_SUMS))
        label_sums(
            packed.labels,
            packed.label_starts[partition],
            k_values,
            labels,
            first_label,
            k_values,
            np.diff(packed.label_starts)[partition],
            own,
        )
        rows = _ranges(first_partition[done.group], done.n_fits)
        sums[rows, np.repeat(done.level, done.n_fits)] = own
    return sums


def refitted_labels(
    X: Floats,
    partition: Partition,
    draw: int,
    epsilons: Floats,
    setting: Setting,
    parameters: KMeansParameters,
) -> list[Ints]:
    """Labels of fits of noisy copies of X, for each noise level."""
    groups = [Group(None, (partition,))]
    return [
        labels
        for done in _refits(X, groups, draw, epsilons, setting, parameters)
        for labels in done.labels[0].reshape(-1, len(X))
    ]


class _Refits(NamedTuple):
    """Fits of a batch of noisy copies.

    Copy i is that of group ``group[i]`` at level ``level[i]``, and has ``n_fits[i]`` fits. Each
    fit has a number of clusters, and a partition in ``packed`` that it is compared with.
    ``labels`` has the labels of all fits, and where those of each begin.
    """

    packed: PackedGroups
    group: Ints
    level: Ints
    n_fits: Ints
    partition: Ints
    k_values: Ints
    labels: tuple[Ints, Ints]


def _refits(
    X: Floats,
    groups: Sequence[Group],
    draw: int,
    epsilons: Floats,
    setting: Setting,
    parameters: KMeansParameters,
) -> Iterator[_Refits]:
    """Fit noisy copies of all groups at all levels, in batches of copies."""
    noise = scaled_noise(X, draw, 0, len(X), setting)
    # The subspace has another origin, from which lengths are not those of the points.
    small = ways.uses_subspace(*X.shape) and not parameters.spherical
    subspace = Subspace.of(X, noise) if small else None
    if subspace is not None:
        X, noise = subspace.coordinates(X), noise @ subspace.axes
    pairs = None
    if parameters.refit and ways.shares_pairs(*X.shape):
        pairs = pair_products(X, noise)
    n_levels = len(epsilons)
    sizes = np.array([len(X) if g.rows is None else len(g.rows) for g in groups])
    # A noisy copy of a group is a set of points. The copies of a group are neighbors.
    for batch in batches(np.repeat(sizes, n_levels), X.shape[1]):
        owner, level = np.divmod(np.arange(batch.start, batch.stop), n_levels)
        used, owner = np.unique(owner, return_inverse=True)
        packed = _pack_block([groups[g] for g in used], slice(0, len(X)))
        n_fits = np.diff(packed.partition_starts)[owner]
        partition = _ranges(packed.partition_starts[owner], n_fits)
        k_values = packed.k_values[partition]
        plan = FitPlan(
            packed.rows,
            packed.row_starts[owner],
            np.diff(packed.row_starts)[owner],
            epsilons[level],
            np.repeat(np.arange(len(owner)), n_fits),
            k_values,
        )
        models = [p.model for g in used for p in groups[g].partitions]
        if subspace is not None:
            models = [subspace.coordinates(model) for model in models]
        first_guide = np.cumsum(packed.k_values) - packed.k_values
        guides = np.concatenate(models)[_ranges(first_guide[partition], k_values)]
        labels = fit(X, noise, plan, guides, parameters, pairs).labels()
        yield _Refits(packed, used[owner], level, n_fits, partition, k_values, labels)


def _pack_block(groups: Sequence[Group], block: slice) -> PackedGroups:
    """Lay end to end what groups have in a block of rows of X, with labels in four bytes."""
    rows: list[Ints] = []
    labels: list[Ints] = []
    everything = np.arange(block.start, block.stop)
    for group in groups:
        inside = _inside(group, block)
        if group.rows is None:
            rows.append(everything)
        else:
            rows.append(group.rows if inside is None else group.rows[inside])
        own = [partition.labels for partition in group.partitions]
        labels += own if inside is None else [values[inside] for values in own]
    k_values = np.array([p.k for group in groups for p in group.partitions], dtype=np.intp)
    return PackedGroups(
        rows=np.concatenate(rows),
        row_starts=np.cumsum([0, *map(len, rows)]),
        k_values=k_values,
        partition_starts=np.cumsum([0, *(len(group.partitions) for group in groups)]),
        labels=np.concatenate(labels, dtype=np.int32),
        label_starts=np.cumsum([0, *map(len, labels)]),
        n_labels=k_values,
    )


def _inside(group: Group, block: slice) -> slice | None:
    """Which points of a group are in a block of rows of X; None if all are, most often."""
    if group.rows is None:
        n = len(group.partitions[0].labels) if group.partitions else 0
        return None if block.start == 0 and block.stop == n else block
    if len(group.rows) and group.rows[0] >= block.start and group.rows[-1] < block.stop:
        return None
    return slice(*np.searchsorted(group.rows, (block.start, block.stop)))


def _ranges(starts: Ints, counts: Ints) -> Ints:
    """Numbers from each start on, as many as its count, one range after the other."""
    ends = np.cumsum(counts)
    return np.repeat(starts - (ends - counts), counts) + np.arange(ends[-1])
