"""Which partitions are refined and measured on all rows, and how they are laid end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.packed import PackedGroups

__all__ = ["Inside", "Layout", "Packed"]

Ints = NDArray[Any]


class Inside(NamedTuple):
    """A partition of the points of cluster ``label`` of whole partition ``whole``."""

    whole: int
    label: int
    k: int


class Packed(NamedTuple):
    """Groups of rows of a block, and the positions of their partitions in the layout."""

    groups: PackedGroups
    partitions: Ints


@dataclass(frozen=True)
class Layout:
    """Partitions of all rows, then partitions of the rows of each of their clusters.

    Parameters
    ----------
    candidates : tuple of int
        Numbers of clusters above 1, whose clusters are clustered again.
    again : tuple of int
        Further numbers of clusters for all rows: values of omega that are no candidates, and 1 if
        the model of one cluster is fitted like the others.
    omega : tuple of int
        Numbers of clusters inside the clusters.
    """

    candidates: tuple[int, ...]
    again: tuple[int, ...]
    omega: tuple[int, ...]

    @cached_property
    def whole(self) -> tuple[int, ...]:
        """Numbers of clusters of the partitions of all rows."""
        return (*self.candidates, *self.again)

    @cached_property
    def inside(self) -> tuple[Inside, ...]:
        """The partitions of clusters, those of a cluster one after the other."""
        return tuple(
            Inside(i, label, k)
            for i, own in enumerate(self.candidates)
            for label in range(own)
            for k in self.omega
        )

    @cached_property
    def k_values(self) -> Ints:
        """Number of clusters of every partition."""
        return np.array([*self.whole, *(each.k for each in self.inside)], dtype=np.intp)

    @cached_property
    def starts(self) -> Ints:
        """Where the clusters of every partition begin, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(self.k_values)]).astype(np.intp)

    def first_cell(self, n_levels: int) -> Ints:
        """Where the tables of every partition begin, and where the last one ends."""
        return np.concatenate([[0], np.cumsum(n_levels * self.k_values**2)]).astype(np.intp)

    def places(self, partitions: Ints) -> Ints:
        """Positions of the clusters of some partitions."""
        starts = self.starts
        return np.concatenate([np.arange(starts[q], starts[q + 1]) for q in partitions.tolist()])

    def pack_whole(self, n_rows: int, moving: NDArray[np.bool_]) -> Packed:
        """All rows of a block, for partitions that move and those that have others inside.

        The labels are not known yet.
        """
        n_whole = len(self.whole)
        parents = {self.inside[i].whole for i in np.flatnonzero(moving[n_whole:]).tolist()}
        chosen = [i for i in range(n_whole) if moving[i] or i in parents]
        partitions = np.array(chosen, dtype=np.intp)
        return Packed(_laid([np.arange(n_rows)], [self.k_values[partitions]]), partitions)

    def pack_inside(self, n_rows: int, moving: NDArray[np.bool_], whole: Packed) -> Packed | None:
        """The rows of clusters inside which partitions move; None if none does.

        Parameters
        ----------
        n_rows : int
            Rows of the block.
        moving : ndarray of bool of shape (n_partitions,)
        whole : Packed
            From `pack_whole`, with labels.
        """
        inner = np.flatnonzero(moving[len(self.whole) :])
        if not len(inner):
            return None
        labels = dict(
            zip(whole.partitions.tolist(), whole.groups.labels.reshape(-1, n_rows), strict=True)
        )
        k_values: dict[tuple[int, int], list[int]] = {}
        for i in inner.tolist():
            k_values.setdefault(self.inside[i][:2], []).append(self.inside[i].k)
        parents = {i for i, _ in k_values}
        clusters = {i: _rows_of_labels(labels[i], self.whole[i]) for i in parents}
        rows = [clusters[i][label] for i, label in k_values]
        return Packed(_laid(rows, list(k_values.values())), len(self.whole) + inner)

    def position(self, whole: int, label: int) -> int:
        """Position of the first partition of a cluster among all partitions."""
        clusters = sum(self.candidates[:whole]) + label
        return len(self.whole) + clusters * len(self.omega)


def _rows_of_labels(labels: Ints, k: int) -> list[Ints]:
    """Rows of each label, in their order."""
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(k + 1))
    return [order[bounds[c] : bounds[c + 1]] for c in range(k)]


def _laid(rows: Sequence[Ints], k_values: Sequence[Any]) -> PackedGroups:
    """Groups of rows of a block with their numbers of clusters; labels are not known yet."""
    sizes = np.array([len(own) for own in rows], dtype=np.intp)
    counts = np.array([len(own) for own in k_values], dtype=np.intp)
    flat = np.concatenate(k_values).astype(np.intp)
    label_starts = np.concatenate([[0], np.cumsum(np.repeat(sizes, counts))]).astype(np.intp)
    return PackedGroups(
        rows=np.concatenate(rows).astype(np.intp),
        row_starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
        k_values=flat,
        partition_starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.intp),
        labels=np.empty(int(label_starts[-1]), dtype=np.int32),
        label_starts=label_starts,
        n_labels=flat,
    )
