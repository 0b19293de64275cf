"""The structure test: are the stability paths of X better than those of data without clusters?

The excess of a path is what it has above the mean path of reference sets. The statistic is the
largest, over K >= 2, of the mean over noise levels of the positive part of the excess. Each
reference set has the same statistic, against the other sets of its kind. The p-value compares the
two by the t distribution of a new observation. The largest p-value of all kinds counts: structure
is claimed only if no shape without clusters explains it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from stablek.engines.base import Engine, Setting
from stablek.execution import run
from stablek.paths import collect_groups, measure_paths, reference_partitions
from stablek.reference_sets import Kind, draw_sets
from stablek.results import StructureTest
from stablek.settings import noise_scale

__all__ = [
    "FIRST_SETS",
    "LARGEST_SHARE",
    "CannotClusterError",
    "Protocol",
    "coarse_values",
    "run_test",
]

Floats = NDArray[np.float64]

FIRST_SETS = 4
"""Reference sets of each kind after which the test may stop."""

CLEARLY_NOTHING = 0.3
"""A p-value above this ends the test without a claim, which can only lower false alarms."""

CLEARLY_SOMETHING = 0.02
"""p-values below this share of alpha stop the test early: false alarms rise by no more."""

OMEGA = (2, 3, 4, 5)
N_DRAWS = 4
N_VALUES = 8
LARGEST_SHARE = 3
"""Of K: a K above this share of the rows, one third, is not tested."""


class CannotClusterError(ValueError):
    """The clusterer cannot cluster what the test asks it to."""


@dataclass(frozen=True)
class Protocol:
    """How the paths of X and of the reference sets are measured.

    Parameters
    ----------
    engine : Engine
        The clusterer whose partitions are tested.
    k_values : tuple of int
        Numbers of clusters, all above 1.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    setting : Setting
        Noise, similarity and relabeling. Each set has its own scale.
    noise_scale : {"feature", "global"}
        How the scale is found.
    """

    engine: Engine
    k_values: tuple[int, ...]
    epsilons: Floats
    setting: Setting
    noise_scale: str

    def stadion(self, points: Floats) -> Floats:
        """Mean Stadion paths of some points, (n_k, n_epsilons)."""
        engine = self.engine
        setting = replace(self.setting, scale=noise_scale(points, self.noise_scale))
        try:
            found = reference_partitions(engine, points, self.k_values, setting.entropy, n_jobs=1)
            groups = collect_groups(engine, points, found, OMEGA, setting, n_jobs=1)
        except ValueError as error:
            raise CannotClusterError(
                f"the clusterer cannot cluster the reference sets or their clusters. {error}"
            ) from error
        paths = measure_paths(engine, points, groups, self.epsilons, N_DRAWS, setting, n_jobs=1)
        return np.asarray(paths.stadion.mean(axis=-1)[1:])


def coarse_values(k_values: Sequence[int], n_rows: int) -> tuple[int, ...]:
    """Few of the candidates above 1, from the smallest to the largest that the rows allow.

    Examples
    --------
    >>> coarse_values(range(1, 61), 1000)
    (2, 3, 5, 9, 14, 23, 37, 60)
    """
    candidates = np.array([k for k in k_values if 1 < k <= max(2, n_rows // LARGEST_SHARE)])
    if not len(candidates):
        return (2,)
    wanted = np.geomspace(candidates[0], candidates[-1], N_VALUES)
    nearest = np.abs(np.log(candidates)[None] - np.log(wanted)[:, None]).argmin(axis=1)
    return tuple(np.unique(candidates[nearest]).tolist())


def run_test(
    X: Floats,
    protocol: Protocol,
    kinds: dict[str, Kind],
    *,
    alpha: float,
    n_sets: int,
    n_jobs: int | None = None,
    progress: bool = False,
) -> StructureTest:
    """Measure X and reference sets of each kind until the answer is clear, or all are measured.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        The rows that are tested.
    protocol : Protocol
        How paths are measured.
    kinds : dict of str to kind
        From `stablek.reference_sets.resolve_reference_sets`.
    alpha : float
        Level of the test.
    n_sets : int
        Most reference sets of each kind.
    n_jobs : int or None
        Workers.
    progress : bool
        Whether to show a progress bar.
    """
    [own] = _stadion_paths(protocol, [X], n_jobs, False)
    references: dict[str, Floats] = {}
    begin = 0
    for end in sorted({min(FIRST_SETS, n_sets), n_sets}):
        entropy, numbers = protocol.setting.entropy, range(begin, end)
        tasks = [(kind, name, X, numbers, entropy) for name, kind in kinds.items()]
        drawn = run(draw_sets, tasks)
        found = _stadion_paths(protocol, [s for sets in drawn for s in sets], n_jobs, progress)
        for position, name in enumerate(kinds):
            new = found[position * len(numbers) : (position + 1) * len(numbers)]
            references[name] = np.stack([*references.get(name, ()), *new])
        result = _judge(own, references, protocol, alpha, len(X))
        begin = end
        if result.pvalue > CLEARLY_NOTHING or result.pvalue < CLEARLY_SOMETHING * alpha:
            break
    return result


def _stadion_paths(
    protocol: Protocol, sets: Sequence[Floats], n_jobs: int | None, progress: bool
) -> list[Floats]:
    return run(
        protocol.stadion,
        [(points,) for points in sets],
        n_jobs=n_jobs,
        prefer=protocol.engine.prefer,
        progress="reference sets" if progress else None,
    )


def _judge(
    own: Floats, references: dict[str, Floats], protocol: Protocol, alpha: float, n_rows: int
) -> StructureTest:
    counted = protocol.epsilons > 0
    statistics = {}
    of_sets = {}
    pvalues = {}
    for name, sets in references.items():
        total = sets.sum(axis=0)
        statistics[name] = _statistic(own - total / len(sets), counted)
        others = [_statistic(s - (total - s) / (len(sets) - 1), counted) for s in sets]
        of_sets[name] = np.array(others)
        pvalues[name] = _pvalue(statistics[name], of_sets[name])
    kind = max(pvalues, key=lambda name: pvalues[name])
    return StructureTest(
        pvalue=pvalues[kind],
        statistic=statistics[kind],
        kind=kind,
        alpha=alpha,
        pvalues=pvalues,
        statistics=statistics,
        reference_statistics=of_sets,
        excess=own - references[kind].mean(axis=0),
        stadion_paths=own,
        reference_paths=references,
        k_values=np.array(protocol.k_values),
        epsilons=protocol.epsilons,
        n_rows=n_rows,
    )


def _statistic(excess: Floats, counted: NDArray[np.bool_]) -> float:
    return float(np.maximum(excess[:, counted], 0.0).mean(axis=1).max())


def _pvalue(statistic: float, of_sets: Floats) -> float:
    """Probability that a new reference set has a statistic as large as this, by Student's t."""
    n = len(of_sets)
    spread = of_sets.std(ddof=1) * np.sqrt(1.0 + 1.0 / n)
    gap = statistic - of_sets.mean()
    if spread < 1e-12:  # nothing varies: only a difference can speak
        return 1.0 if gap < 1e-12 else 1.0 / (n + 1)
    return float(stdtr(n - 1, -gap / spread))
