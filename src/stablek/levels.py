"""The search for noise levels that show the crossing, beyond which nothing beats K = 1."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.aggregation import crossing
from stablek.paths import Measurement
from stablek.results import StabilityPaths

__all__ = ["auto_epsilons"]

Floats = NDArray[np.float64]

_PATHS = 8  # whose clusters are measured together, at first


def auto_epsilons(
    measurement: Measurement, n_epsilons: int, start: float, *, max_rounds: int = 12
) -> StabilityPaths:
    """Paths on a grid of noise levels with the crossing in its upper half.

    Parameters
    ----------
    measurement : Measurement
        What is perturbed.
    n_epsilons : int
        Number of levels, epsilon 0 included.
    start : float
        The first grid ends here.
    max_rounds : int
        Bound on the number of grids.
    """
    setting, end = measurement.setting, start
    # Extended labels cost less than asking for them piece by piece.
    piecemeal = setting.relabel == "refit" and np.isfinite(setting.similarity.floor)
    for _ in range(max_rounds):
        epsilons = np.linspace(0.0, end, n_epsilons)
        better = None
        if piecemeal:
            better = _better_end(epsilons, _likely_crossing(measurement, epsilons))
        if better is None:
            paths = measurement.measure(epsilons)
            better = _better_end(epsilons, int(crossing(paths.stadion.mean(axis=-1), epsilons)))
        if better is None:
            return paths
        end = better
    return measurement.measure(epsilons)


def _better_end(epsilons: Floats, last: int) -> float | None:
    """Where a grid had better end, given the index of the crossing; None if it ends well."""
    if last == len(epsilons) - 1:
        return 2.0 * float(epsilons[-1])  # not destroyed yet
    if 0 < last < (len(epsilons) - 1) // 2:
        return float(epsilons[last + 1])  # destroyed early: look closer
    return None


def _likely_crossing(measurement: Measurement, epsilons: Floats) -> int:
    """Index of the crossing, -1 if there is none, from no more than it takes.

    From the highest level down, only those K are measured that could beat K = 1, were their
    within stability as low as the similarity's floor, which is no strict bound.
    """
    measurement.measure_between(epsilons)
    for level in range(len(epsilons) - 1, 0, -1):
        here = epsilons[level : level + 1]
        n_paths = _PATHS
        while True:
            stadion = measurement.known(here).stadion.mean(axis=-1)
            if crossing(stadion, here) < 0:
                break
            best = 1 + np.argsort(-stadion[1:, 0], kind="stable")
            unknown = [path for path in best if not measurement.knows(path, float(here[0]))]
            if not unknown or unknown[0] != best[0]:
                return level
            measurement.measure_within(here, unknown[:n_paths])
            n_paths *= 2
    return -1
