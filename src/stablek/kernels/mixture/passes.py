"""One step of EM on a block of rows, for many groups of points at once."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit
from stablek.kernels.mixture.densities import (
    Gaussians,
    assign_points,
    components_of,
    points_of,
)
from stablek.kernels.mixture.expectation import Moments, expect, room_for
from stablek.kernels.mixture.maximization import maximize
from stablek.kernels.packed import PackedGroups

__all__ = ["assign_groups", "expect_groups", "maximize_all"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]
Mask = NDArray[np.bool_]


@jit
def assign_groups(
    X: Floats, groups: PackedGroups, means: Floats, factors: Floats, offsets: Floats
) -> None:
    """Label each point of each group by the component of highest posterior.

    The components of all partitions follow each other. ``groups.labels`` is the output.
    """
    first = 0
    for g in range(groups.row_starts.shape[0] - 1):
        points = points_of(X, groups.rows, groups.row_starts, g)
        n = points.shape[1]
        for q in range(groups.partition_starts[g], groups.partition_starts[g + 1]):
            last, label = first + groups.k_values[q], groups.label_starts[q]
            assign_points(
                points,
                means[first:last],
                factors[first:last],
                offsets[first:last],
                groups.labels[label : label + n],
            )
            first = last


@jit
def expect_groups(
    X: Floats,
    groups: PackedGroups,
    wanted: Mask,
    model: Gaussians,
    moments: Moments,
    likelihoods: Floats,
    counts: Ints,
) -> None:
    """Take the E step for the partitions that are wanted.

    Parameters
    ----------
    X : ndarray of shape (n_samples, p)
    groups : PackedGroups
        Their labels are not used.
    wanted : ndarray of bool of shape (n_partitions,)
    model : Gaussians
        The components of all partitions, laid end to end.
    moments : Moments
        Output, about the means of the model; zero for partitions that are not wanted.
    likelihoods, counts : ndarray of shape (n_partitions,)
        Output: sums of log-likelihoods, and numbers of points.
    """
    first = 0
    for g in range(groups.row_starts.shape[0] - 1):
        points = points_of(X, groups.rows, groups.row_starts, g)
        n = points.shape[1]
        for q in range(groups.partition_starts[g], groups.partition_starts[g + 1]):
            last = first + groups.k_values[q]
            if wanted[q] and n > 0:
                own = _part(moments, first, last)
                room = room_for(last - first, points.shape[0])
                part = components_of(model, first, last)
                likelihoods[q] = n * expect(points, part, own, room)
                counts[q] = n
            first = last


@jit
def maximize_all(
    kind: int,
    reg_covar: float,
    starts: Ints,
    wanted: Mask,
    moments: Moments,
    model: Gaussians,
) -> bool:
    """Take the M step for the partitions that are wanted.

    Returns whether all covariances are positive definite. Partition q has the components from
    ``starts[q]`` to ``starts[q + 1]``. The model is input, for its means, and output.
    """
    sound = True
    for q in range(wanted.shape[0]):
        if wanted[q]:
            low, high = starts[q], starts[q + 1]
            part = _part(moments, low, high)
            sound &= maximize(kind, reg_covar, part, components_of(model, low, high))
    return sound


@inner
def _part(moments: Moments, low: int, high: int) -> Moments:
    return Moments(moments.masses[low:high], moments.sums[low:high], moments.squares[low:high])
