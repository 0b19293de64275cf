"""Which partitions of the sample the passes over all rows start from.

K-means ends in another optimum from another start, and the inertia of two optima can differ by
some percent. A search on the sample is cheap, so it is repeated. Partitions that are nearly as
good as the best one race on all rows.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stablek.blockwise.core import Blocks
from stablek.blockwise.kmeans import BlockKMeans
from stablek.blockwise.layout import Layout
from stablek.results import Partition

__all__ = ["N_SEARCHES", "choose_starts", "inertia_of"]

N_SEARCHES = 10
"""Searches of the sample."""

_NEAR = 1.02  # a partition with more of the best inertia of the sample does not race
_SAME = 1.0 + 1e-6  # partitions whose inertia differs by less are the same one

Floats = NDArray[np.float64]


def inertia_of(partitions: Sequence[Partition], X: Floats) -> Floats:
    """Sum of squared distances to the own center, for each K-means partition of X."""
    return np.array([np.square(X - own.model[own.labels]).sum() for own in partitions])


def choose_starts(
    searches: Sequence[Sequence[Partition]], inertia: Floats, blocks: Blocks | None
) -> list[Partition]:
    """The best partition for each number of clusters.

    Parameters
    ----------
    searches : sequence of sequences of Partition
        For each search, K-means partitions of the sample for the same numbers of clusters. Their
        labels are not used.
    inertia : ndarray of shape (n_searches, n_k)
        Their inertia.
    blocks : Blocks or None
        All rows, on which partitions of nearly equal inertia race: two passes, or none if there
        are no such partitions. None for no race.
    """
    ranked = [
        [found[i] for i in _ranked(own)]
        for found, own in zip(zip(*searches, strict=True), inertia.T, strict=True)
    ]
    if blocks is None or all(len(own) == 1 for own in ranked):
        return [own[0] for own in ranked]
    several = [partition for own in ranked if len(own) > 1 for partition in own]
    layout = Layout((), tuple(partition.k for partition in several), ())
    models = BlockKMeans(layout, np.concatenate([partition.model for partition in several]))
    # The race is over after one step: partitions keep their order while they converge.
    raced = models.refine(blocks, None, 0.0, 1).finished(blocks)
    assert raced.inertia is not None
    after = iter(raced.inertia.tolist())
    result = []
    for own in ranked:
        values = [next(after) for _ in own] if len(own) > 1 else [0.0]
        result.append(own[int(np.argmin(values))])
    return result


def _ranked(inertia: Floats) -> list[int]:
    """Positions of partitions of nearly the best inertia, the best first, each once."""
    order: list[int] = np.argsort(inertia, kind="stable").tolist()
    result = order[:1]
    for i in order[1:]:
        distinct = inertia[i] > _SAME * inertia[result[-1]]
        if distinct and inertia[i] <= _NEAR * inertia[order[0]]:
            result.append(i)
    return result
