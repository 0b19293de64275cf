"""Point stability: how often each point keeps its cluster under noise."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from stablek.engines.base import Engine, Setting
from stablek.engines.packing import count_from_zero
from stablek.execution import run
from stablek.results import Partition
from stablek.similarity import count_table

__all__ = ["point_stability"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def point_stability(
    engine: Engine,
    X: Floats,
    partition: Partition,
    n_draws: int,
    epsilons: Floats,
    setting: Setting,
    *,
    n_jobs: int | None = None,
) -> Floats:
    """Share of perturbed copies in which each point keeps its cluster, over draws and levels.

    NaN for a point that no resampled copy has. Labels of a refitted copy are first matched to the
    reference labels so that as many points as possible keep theirs.
    """
    kept = partial(_kept, engine, X, partition, epsilons, setting)
    counts = run(kept, [(draw,) for draw in range(n_draws)], n_jobs=n_jobs, prefer=engine.prefer)
    kept_in, present_in = np.zeros(len(X)), np.zeros(1)
    for n_kept, n_present in counts:
        kept_in += n_kept
        present_in = present_in + n_present
    with np.errstate(invalid="ignore"):
        kept_in /= present_in
    return kept_in


def _kept(
    engine: Engine, X: Floats, partition: Partition, epsilons: Floats, setting: Setting, draw: int
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Per point: in how many copies of one draw it keeps its cluster, and in how many it is.

    Two bytes each, since every draw has such arrays. If all points are in all copies, the second
    array has one entry.
    """
    n_kept, n_present = np.zeros(len(X), dtype=np.uint16), np.zeros(1, dtype=np.uint16)
    for rows, labels in engine.relabel(X, partition, draw, epsilons, setting):
        at: Any = slice(None)
        if rows is not None:
            at, first = np.unique(rows, return_index=True)
            labels = labels[first]
            n_present = np.broadcast_to(n_present, len(X)).copy()
        reference = partition.labels[at]
        same = _matched(reference, labels) if setting.relabel == "refit" else labels == reference
        n_kept[at] += same
        n_present[at] += 1
    return n_kept, n_present


def _matched(reference: Ints, labels: Ints) -> NDArray[np.bool_]:
    """Whether the matching pairs each point's label with its reference label."""
    n = len(reference)
    both = np.concatenate([reference, labels], dtype=np.intp)
    n_rows, n_columns = count_from_zero(both, np.array([0, n]), np.array([n, n]))
    rows, columns = both[:n], both[n:]
    table = count_table(rows, columns, n_rows, n_columns)
    partner = np.full(n_rows, -1)
    matched_rows, matched_columns = linear_sum_assignment(table, maximize=True)
    partner[matched_rows] = matched_columns
    return np.asarray(partner[rows] == columns)
