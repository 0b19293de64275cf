"""Groups of points as flat arrays, so that one kernel call handles all of them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from stablek import seeding
from stablek.engines.base import Setting
from stablek.kernels.packed import PackedGroups
from stablek.results import Group
from stablek.similarity import Agreement

__all__ = ["additive_noise", "count_from_zero", "pack", "scaled_noise", "unpack"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def pack(groups: Sequence[Group], n_samples: int) -> PackedGroups:
    """Lay the groups end to end.

    Examples
    --------
    >>> from stablek.results import Partition
    >>> group = Group(np.array([3, 5]), (Partition(2, np.array([-1, 0])),))
    >>> pack([group], 6).labels
    array([0, 1])
    """
    everything = np.arange(n_samples)
    rows = [everything if group.rows is None else group.rows for group in groups]
    partitions = [partition for group in groups for partition in group.partitions]
    sizes = np.array([len(partition.labels) for partition in partitions], dtype=np.intp)
    labels = _joined([partition.labels for partition in partitions])
    label_starts = _starts(sizes)
    return PackedGroups(
        rows=_joined(rows),
        row_starts=_starts([len(r) for r in rows]),
        k_values=np.array([partition.k for partition in partitions], dtype=np.intp),
        partition_starts=_starts([len(group.partitions) for group in groups]),
        labels=labels,
        label_starts=label_starts,
        n_labels=count_from_zero(labels, label_starts[:-1], sizes),
    )


def unpack(sums: Floats, packed: PackedGroups, setting: Setting) -> list[Floats]:
    """Compute the similarities of each group from the sums over its contingency tables.

    Parameters
    ----------
    sums : ndarray of shape (7, n_partitions, n_epsilons)
        The fields of `stablek.similarity.Agreement`.
    """
    assert setting.similarity.of_agreement is not None
    similarity = setting.similarity.of_agreement(Agreement(*sums))
    return [similarity[start:stop] for start, stop in pairwise(packed.partition_starts)]


def scaled_noise(X: Floats, draw: int, start: int, stop: int, setting: Setting) -> Floats:
    """Noise of a block of rows of X, at noise level 1."""
    gaussian = setting.perturbation.noise == "gaussian"
    noise = seeding.noise(setting.entropy, draw, X.shape[1], start, stop, gaussian=gaussian)
    noise *= setting.scale
    return noise


def additive_noise(X: Floats, draw: int, setting: Setting) -> Floats | None:
    """`scaled_noise` of all rows; None if the perturbation does not add noise."""
    if not setting.perturbation.is_additive:
        return None
    return scaled_noise(X, draw, 0, len(X), setting)


def count_from_zero(labels: Ints, starts: Ints, sizes: Ints) -> Ints:
    """Return a number above all labels of each partition.

    Labels that are negative, or much larger than the number of points, are renamed in place.
    """
    if not len(starts):
        return np.empty(0, dtype=np.intp)
    low, high = np.minimum.reduceat(labels, starts), np.maximum.reduceat(labels, starts)
    for i in np.flatnonzero((low < 0) | (high > sizes)):
        own = slice(starts[i], starts[i] + sizes[i])
        found, labels[own] = np.unique(labels[own], return_inverse=True)
        high[i] = len(found) - 1
    return high + 1


def _joined(arrays: list[Ints]) -> Ints:
    return np.concatenate([*arrays, np.empty(0, dtype=np.intp)], dtype=np.intp)


def _starts(sizes: Sequence[int] | Ints) -> Ints:
    return np.concatenate([[0], np.cumsum(sizes)]).astype(np.intp)
