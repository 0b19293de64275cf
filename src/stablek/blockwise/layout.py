"""Which partitions are refined and measured on all rows, and how they are laid end to end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.packed import PackedGroups

__all__ = ["Inside", "Layout", "pack_inside", "pack_whole", "rows_of_labels"]

Ints = NDArray[Any]


class Inside(NamedTuple):
    """A partition of the points of cluster ``label`` of whole partition ``whole``."""

    whole: int
    label: int
    k: int


@dataclass(frozen=True)
class Layout:
    """Partitions of all rows, then partitions of the rows of each of their clusters.

    Parameters
    ----------
    candidates : tuple of int
        Numbers of clusters above 1, whose clusters are clustered again.
    again : tuple of int
        Further numbers of clusters for all rows: values of omega that are no candidates.
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

    def position(self, whole: int, label: int) -> int:
        """Position of the first partition of a cluster among all partitions."""
        clusters = sum(self.candidates[:whole]) + label
        return len(self.whole) + clusters * len(self.omega)


def pack_whole(n_rows: int, k_values: Ints) -> PackedGroups:
    """One group with all rows of a block, whose labels are not known yet."""
    n = len(k_values)
    return PackedGroups(
        rows=np.arange(n_rows),
        row_starts=np.array([0, n_rows]),
        k_values=np.asarray(k_values, dtype=np.intp),
        partition_starts=np.array([0, n]),
        labels=np.empty(n * n_rows, dtype=np.int32),
        label_starts=n_rows * np.arange(n + 1),
        n_labels=np.asarray(k_values, dtype=np.intp),
    )


def pack_inside(rows: Sequence[Ints], k_values: Sequence[Sequence[int]]) -> PackedGroups:
    """Groups of rows of a block with their numbers of clusters; labels are not known yet."""
    sizes = np.array([len(own) for own in rows], dtype=np.intp)
    counts = np.array([len(own) for own in k_values], dtype=np.intp)
    flat = np.array([k for own in k_values for k in own], dtype=np.intp)
    label_starts = np.concatenate([[0], np.cumsum(np.repeat(sizes, counts))]).astype(np.intp)
    return PackedGroups(
        rows=np.concatenate([*rows, np.empty(0, dtype=np.intp)]).astype(np.intp),
        row_starts=np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp),
        k_values=flat,
        partition_starts=np.concatenate([[0], np.cumsum(counts)]).astype(np.intp),
        labels=np.empty(int(label_starts[-1]), dtype=np.int32),
        label_starts=label_starts,
        n_labels=flat,
    )


def rows_of_labels(labels: Ints, k: int) -> list[Ints]:
    """Rows of each label, in their order."""
    order = np.argsort(labels, kind="stable")
    bounds = np.searchsorted(labels[order], np.arange(k + 1))
    return [order[bounds[c] : bounds[c + 1]] for c in range(k)]
