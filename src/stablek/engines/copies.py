"""Perturbed copies labeled one at a time: for any perturbation and any similarity."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from stablek.engines.base import Setting
from stablek.perturbations import Draw, perturb
from stablek.results import Group, Partition

__all__ = ["Labeler", "compare", "relabeled_copies", "similarities_of_copies"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

Labeler = Callable[[Floats, Sequence[Partition], int, Setting], Sequence[Ints]]
"""``labeler(noisy, partitions, draw, setting)``: labels of the noisy points for each partition."""


def similarities_of_copies(
    labeler: Labeler, X: Floats, group: Group, draw: int, epsilons: Floats, setting: Setting
) -> Floats:
    """Similarity of reference and perturbed labels, of shape (n_partitions, n_epsilons)."""
    result = np.empty((len(group.partitions), len(epsilons)))
    if group.partitions:
        copies = _labeled_copies(labeler, X, group, draw, epsilons, setting)
        for e, (rows, labels) in enumerate(copies):
            for i, partition in enumerate(group.partitions):
                result[i, e] = compare(partition.labels, labels[i], rows, setting)
    return result


def relabeled_copies(
    labeler: Labeler,
    X: Floats,
    partition: Partition,
    draw: int,
    epsilons: Floats,
    setting: Setting,
) -> list[tuple[Ints | None, Ints]]:
    """Rows (None for all) and labels of the perturbed copy of X, for each noise level."""
    copies = _labeled_copies(labeler, X, Group(None, (partition,)), draw, epsilons, setting)
    return [(rows, labels[0]) for rows, labels in copies]


def _labeled_copies(
    labeler: Labeler, X: Floats, group: Group, draw: int, epsilons: Floats, setting: Setting
) -> Iterator[tuple[Ints | None, Sequence[Ints]]]:
    points = X if group.rows is None else X[group.rows]
    source = Draw(setting.entropy, draw, len(X), group.rows)
    for epsilon in epsilons:
        noisy, rows = perturb(points, epsilon, setting.scale, source, setting.perturbation)
        yield rows, labeler(noisy, group.partitions, draw, setting)


def compare(reference: Ints, labels: Ints, rows: Ints | None, setting: Setting) -> float:
    """Similarity on the points that both label arrays have, each counted once."""
    if rows is not None:
        rows, first = np.unique(rows, return_index=True)
        reference, labels = reference[rows], labels[first]
    return setting.similarity(reference, labels)
