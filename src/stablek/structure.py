"""The structure test: are the stability paths of X better than those of data without clusters?

Two numbers speak for clusters.

- The statistic: the excess of a path is what it has above the mean path of reference sets. The
  statistic is the largest, over K >= 2, of the mean over noise levels of the positive part of the
  excess.
- The valley: how far the points are from unimodal along the line through the two centers of the
  partition with K = 2. Only points near a border decide about stability. The valley uses all of
  them, so it finds two clusters in few rows.

Each reference set has the same two numbers; its excess is against the other sets of its kind. The
t distribution of a new observation compares each number of X with those of the sets. The p-value
of a kind is twice the smaller of the two (Bonferroni). The largest p-value of all kinds counts:
structure is claimed only if no shape without clusters explains it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import stdtr

from stablek.blocks import blocks
from stablek.engines.base import Engine, Setting
from stablek.execution import run
from stablek.paths import collect_groups, measure_paths, reference_partitions
from stablek.reference_sets import Kind, draw_sets
from stablek.results import Partition, StructureTest
from stablek.settings import noise_scale
from stablek.unimodal import nearest_unimodal

__all__ = [
    "LARGEST_SHARE",
    "N_DRAWS",
    "STAGES",
    "CannotClusterError",
    "Protocol",
    "coarse_values",
    "run_test",
]

Floats = NDArray[np.float64]

STAGES = ((4, 0.02), (10, 0.2))
"""Reference sets of each kind after which the test may stop, and the share of alpha spent there.

A p-value below that share of alpha ends the test. The last stage has the share that is left, so
false alarms at all stages together are at most alpha.
"""

CLEARLY_NOTHING = 0.3
"""A p-value above this ends the test without a claim, which can only lower false alarms."""

DISAGREEMENT = 0.2
"""A share of alpha. The first stage cannot find nothing if a kind has a smaller p-value."""

OMEGA = (2, 3, 4, 5)
N_DRAWS = 4
N_VALUES = 8
_NUMBERS = 1 << 21  # of the reference sets that are held at a time
LARGEST_SHARE = 3
"""Of K: a K above this share of the rows, one third, is not tested."""


class CannotClusterError(ValueError):
    """The clusterer cannot cluster what the test asks it to."""


class Measured(NamedTuple):
    """What the test knows of X or of reference sets: mean Stadion paths, and valleys."""

    paths: Floats
    valleys: Floats


@dataclass(frozen=True)
class Protocol:
    """How X and the reference sets are measured.

    Parameters
    ----------
    engine : Engine
        The clusterer whose partitions are tested.
    k_values : tuple of int
        Numbers of clusters, all above 1. The first is 2.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    setting : Setting
        Noise, similarity and relabeling. Each set has its own scale.
    noise_scale : {"feature", "global"}
        How the scale is found.
    leave_out : bool
        Whether the valley leaves each point out of the mean of its own cluster. Directions have
        about as many features as a test has rows. There two means fit any points so closely that
        these seem bimodal, and X more so than reference sets.
    n_draws : int
        Noisy copies of each set.
    """

    engine: Engine
    k_values: tuple[int, ...]
    epsilons: Floats
    setting: Setting
    noise_scale: str
    leave_out: bool = False
    n_draws: int = N_DRAWS

    def measure(self, points: Floats) -> tuple[Floats, float]:
        """Mean Stadion paths of some points, (n_k, n_epsilons), and their valley."""
        engine = self.engine
        setting = replace(self.setting, scale=noise_scale(points, self.noise_scale))
        try:
            found = reference_partitions(engine, points, self.k_values, setting.entropy, n_jobs=1)
            groups = collect_groups(engine, points, found, OMEGA, setting, n_jobs=1)
        except ValueError as error:
            raise CannotClusterError(
                f"the clusterer cannot cluster the reference sets or their clusters. {error}"
            ) from error
        levels, n_draws = self.epsilons, self.n_draws
        paths = measure_paths(engine, points, groups, levels, n_draws, setting, n_jobs=1)
        return paths.stadion.mean(axis=-1)[1:], _valley(points, found[0], self.leave_out)


def _valley(points: Floats, halves: Partition, leave_out: bool) -> float:
    """Distance from unimodal along the line through the centers of two clusters.

    The distance of unimodal samples shrinks with the root of their number, so that is its unit.
    """
    first, second = (points[halves.labels == label] for label in (0, 1))
    if not len(first) or not len(second):
        return 0.0
    along = points @ (second.mean(axis=0) - first.mean(axis=0))
    if leave_out:
        square = np.einsum("ij,ij->i", points, points)
        for label, sign in ((0, -1.0), (1, 1.0)):
            own = halves.labels == label
            others = max(int(own.sum()) - 1, 1)
            product = points[own] @ points[own].mean(axis=0)
            along[own] += sign * (product - square[own]) / others
    return float(np.sqrt(len(points)) * nearest_unimodal(along).distance)


def coarse_values(k_values: Sequence[int], n_rows: int) -> tuple[int, ...]:
    """2, and few of the candidates above it up to the largest that the rows allow.

    Examples
    --------
    >>> coarse_values(range(1, 61), 1000)
    (2, 3, 5, 9, 14, 23, 37, 60)
    """
    candidates = np.array([2, *(k for k in k_values if 2 < k <= n_rows // LARGEST_SHARE)])
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
    own = _measure(protocol, [X], n_jobs, False)
    references: dict[str, Measured] = {}
    open_names, begin = list(kinds), 0
    early = [stage for stage in STAGES if stage[0] < n_sets]
    left = 1.0 - sum(share for _, share in early)
    for end, share in (*early, (n_sets, left)):
        open_kinds = {name: kinds[name] for name in open_names}
        new = _measure_sets(X, protocol, open_kinds, range(begin, end), n_jobs, progress)
        for name, measured in new:
            parts = [references[name], measured] if begin else [measured]
            references[name] = Measured(*map(np.concatenate, zip(*parts, strict=True)))
        result = _judge(own, references, protocol, alpha, len(X))
        if end == n_sets:
            return _divided(result, left)
        if result.pvalue < share * alpha or _found_nothing(result, begin == 0):
            break
        # More sets cost time and change nothing for a kind that does not explain X at all.
        open_names = [name for name in open_names if result.pvalues[name] >= share * alpha]
        begin = end
    return result


def _divided(result: StructureTest, share: float) -> StructureTest:
    """The test with p-values that are compared with alpha although only a share of it is left."""
    pvalues = {name: min(1.0, pvalue / share) for name, pvalue in result.pvalues.items()}
    return replace(result, pvalues=pvalues, pvalue=max(pvalues.values()))


def _found_nothing(result: StructureTest, first: bool) -> bool:
    """Whether X clearly has no structure.

    The few sets of the first stage are believed only if no kind clearly rejects: the statistics of
    skewed data have outliers, and one of four sets can hide structure.
    """
    kinds_disagree = min(result.pvalues.values()) < DISAGREEMENT * result.alpha
    return result.pvalue > CLEARLY_NOTHING and not (first and kinds_disagree)


def _measure_sets(
    X: Floats,
    protocol: Protocol,
    kinds: dict[str, Kind],
    numbers: range,
    n_jobs: int | None,
    progress: bool,
) -> Iterator[tuple[str, Measured]]:
    """Reference sets with these numbers, kind by kind; few enough at a time to fit into memory."""
    for part in blocks(len(kinds), max(1, _NUMBERS // (len(numbers) * X.size))):
        names = list(kinds)[part]
        tasks = [(kinds[name], name, X, numbers, protocol.setting.entropy) for name in names]
        drawn = run(draw_sets, tasks)
        found = _measure(protocol, [s for sets in drawn for s in sets], n_jobs, progress)
        for position, name in enumerate(names):
            rows = slice(position * len(numbers), (position + 1) * len(numbers))
            yield name, Measured(found.paths[rows], found.valleys[rows])


def _measure(
    protocol: Protocol, sets: Sequence[Floats], n_jobs: int | None, progress: bool
) -> Measured:
    found = run(
        protocol.measure,
        [(points,) for points in sets],
        n_jobs=n_jobs,
        prefer=protocol.engine.prefer,
        progress="reference sets" if progress else None,
    )
    paths, valleys = zip(*found, strict=True)
    return Measured(np.stack(paths), np.array(valleys))


def _judge(
    own: Measured, references: dict[str, Measured], protocol: Protocol, alpha: float, n_rows: int
) -> StructureTest:
    counted = protocol.epsilons > 0
    [paths], [valley] = own
    statistics, of_sets, pvalues, by_statistic, by_valley = {}, {}, {}, {}, {}
    for name, sets in references.items():
        total, n = sets.paths.sum(axis=0), len(sets.paths)
        statistics[name] = float(_gain(paths - total / n, counted))
        of_sets[name] = _gain(sets.paths - (total - sets.paths) / (n - 1), counted)
        by_statistic[name] = _pvalue(statistics[name], of_sets[name])
        by_valley[name] = _pvalue(valley, sets.valleys)
        pvalues[name] = min(1.0, 2.0 * min(by_statistic[name], by_valley[name]))
    kind = max(pvalues, key=lambda name: pvalues[name])
    return StructureTest(
        pvalue=pvalues[kind],
        statistic=statistics[kind],
        kind=kind,
        alpha=alpha,
        pvalues=pvalues,
        statistics=statistics,
        reference_statistics=of_sets,
        excess=paths - references[kind].paths.mean(axis=0),
        stadion_paths=paths,
        reference_paths={name: sets.paths for name, sets in references.items()},
        valley=float(valley),
        statistic_pvalues=by_statistic,
        valley_pvalues=by_valley,
        reference_valleys={name: sets.valleys for name, sets in references.items()},
        k_values=np.array(protocol.k_values),
        epsilons=protocol.epsilons,
        n_rows=n_rows,
    )


def _gain(excess: Floats, counted: NDArray[np.bool_]) -> Floats:
    """Largest mean positive excess over K, for each set of points."""
    return np.asarray(np.maximum(excess[..., counted], 0.0).mean(axis=-1).max(axis=-1))


def _pvalue(statistic: float, of_sets: Floats) -> float:
    """Probability that a new reference set has a number as large as this, by Student's t."""
    n = len(of_sets)
    spread = of_sets.std(ddof=1) * np.sqrt(1.0 + 1.0 / n)
    gap = statistic - of_sets.mean()
    if spread < 1e-12:  # nothing varies: only a difference can speak
        return 1.0 if gap < 1e-12 else 1.0 / (n + 1)
    return float(stdtr(n - 1, -gap / spread))
