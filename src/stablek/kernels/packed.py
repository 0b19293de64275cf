"""Groups of points laid end to end: what every kernel that measures groups takes."""

from __future__ import annotations

from typing import Any, NamedTuple

from numpy.typing import NDArray

__all__ = ["PackedGroups"]

Ints = NDArray[Any]


class PackedGroups(NamedTuple):
    """Rows, numbers of clusters and reference labels of groups, each laid end to end.

    Parameters
    ----------
    rows : ndarray
        Rows of X of every group.
    row_starts : ndarray of shape (n_groups + 1,)
        Group g has the rows from ``row_starts[g]`` to ``row_starts[g + 1]``.
    k_values : ndarray of shape (n_partitions,)
        Number of clusters of every partition of every group.
    partition_starts : ndarray of shape (n_groups + 1,)
        Group g has the partitions from ``partition_starts[g]`` to ``partition_starts[g + 1]``.
    labels : ndarray
        Labels of every partition, none negative.
    label_starts : ndarray of shape (n_partitions + 1,)
        Partition q has the labels from ``label_starts[q]`` to ``label_starts[q + 1]``.
    n_labels : ndarray of shape (n_partitions,)
        A number above all labels of the partition.
    """

    rows: Ints
    row_starts: Ints
    k_values: Ints
    partition_starts: Ints
    labels: Ints
    label_starts: Ints
    n_labels: Ints
