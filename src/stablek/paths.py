"""Stability paths: what an engine measures, put together for every K and noise level.

Between stability is measured on X, within stability on the points of each cluster of each
reference partition: one function on different points. A cluster that several partitions share
is measured once.

1. `reference_partitions` clusters X once for each K.
2. `collect_groups` finds the distinct clusters and clusters each again with every K' of omega.
3. `measure_paths` perturbs all groups at all noise levels and returns the paths.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.engines.base import Engine, Setting
from stablek.execution import n_workers, run
from stablek.results import Group, Member, Partition, Request, StabilityPaths

__all__ = ["PathGroups", "collect_groups", "measure_paths", "reference_partitions"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_LABELS_PER_TASK = 1 << 22  # bounds the memory of a task on many points
_TASKS_PER_WORKER = 4  # so that no worker waits long for the last one


def reference_partitions(
    engine: Engine,
    X: Floats,
    k_values: Sequence[Any],
    entropy: int,
    *,
    n_jobs: int | None = None,
) -> tuple[Partition, ...]:
    """Reference partition of X for each value."""
    size = max(1, len(k_values))
    if engine.values_are_independent:
        size = _values_per_task(engine, len(k_values), len(X), n_workers(n_jobs))
    parts = [tuple(k_values[low : low + size]) for low in range(0, len(k_values), size)]
    tasks = [(X, [Request(None, part)], entropy) for part in parts]
    batches = run(engine.references, tasks, n_jobs=n_jobs, prefer=engine.prefer)
    return tuple(partition for batch in batches for part in batch for partition in part)


def _values_per_task(engine: Engine, n_values: int, n_samples: int, workers: int) -> int:
    """One value for a process; several for a kernel, whose fits share work."""
    if engine.prefer == "processes":
        return 1
    n_tasks = _TASKS_PER_WORKER * workers if workers > 1 else 1
    return max(1, min(-(-n_values // n_tasks), _LABELS_PER_TASK // n_samples))


@dataclass(frozen=True)
class PathGroups:
    """Everything that is perturbed for the paths of some reference partitions.

    Parameters
    ----------
    partitions : tuple of Partition
        One for each path. The first is the one-cluster partition.
    members : tuple of tuples of Member
        The clusters of each partition.
    groups : tuple of Group
        The first is X, with the partitions and its re-clusterings. The others are clusters with
        theirs.
    group_of : tuple of int or None
        The group of each distinct cluster; None if it is too small to be clustered again.
    omega : tuple
        Re-clustering values.
    """

    partitions: tuple[Partition, ...]
    members: tuple[tuple[Member, ...], ...]
    groups: tuple[Group, ...]
    group_of: tuple[int | None, ...]
    omega: tuple[Any, ...]

    def valid(self, size: int) -> tuple[Any, ...]:
        """The values of omega with which that many points can be clustered again."""
        return _valid(self.omega, size, self.partitions[0].k == 1)


def collect_groups(
    engine: Engine,
    X: Floats,
    partitions: Sequence[Partition],
    omega: Sequence[Any],
    setting: Setting,
    *,
    values_are_k: bool = True,
    own: bool = True,
    n_jobs: int | None = None,
    progress: bool = False,
) -> PathGroups:
    """Find the distinct clusters of the partitions and cluster each with every value of omega.

    Parameters
    ----------
    engine : Engine
        The algorithm.
    X : ndarray of shape (n_samples, n_features)
        The data.
    partitions : sequence of Partition
        Reference partitions of X.
    omega : sequence
        Re-clustering values.
    setting : Setting
        The seed, and whether models will label noisy points.
    values_are_k : bool
        Whether values are numbers of clusters.
    own : bool
        Whether the engine made the partitions. Those of X then also serve as re-clusterings of
        the cluster that is all of X.
    n_jobs : int or None
        Workers.
    progress : bool
        Whether to show a progress bar.
    """
    one_cluster = Partition(1 if values_are_k else None, np.zeros(len(X), dtype=np.intp))
    others = tuple(p for p in partitions if not (values_are_k and p.k == 1))
    members, clusters = _distinct_clusters((one_cluster, *others))

    known = {p.k for p in others} if own else set()
    missing = [k for k in _valid(omega, len(X), values_are_k) if k not in known]
    again = reference_partitions(engine, X, missing, setting.entropy, n_jobs=n_jobs)
    requests: list[Request] = []
    group_of: list[int | None] = [0]
    for rows, parent in clusters[1:]:  # the first is all of X
        k_values = _valid(omega, len(rows), values_are_k)
        group_of.append(len(requests) + 1 if k_values else None)
        if k_values:
            requests.append(Request(rows, k_values, parent))
    found = _recluster(engine, X, requests, setting, n_jobs, progress)
    return PathGroups(
        (one_cluster, *others),
        members,
        (Group(None, (*others, *again)), *found),
        tuple(group_of),
        tuple(omega),
    )


def _distinct_clusters(
    partitions: Sequence[Partition],
) -> tuple[tuple[tuple[Member, ...], ...], list[tuple[Ints, Partition]]]:
    """Clusters of each partition; rows and first partition of each distinct cluster."""
    known: dict[bytes, int] = {}
    distinct: list[tuple[Ints, Partition]] = []
    members = []
    for partition in partitions:
        found = []
        for label in np.unique(partition.labels):
            if label < 0:
                continue  # noise is no cluster
            rows = np.flatnonzero(partition.labels == label)
            key = blake2b(rows.data, digest_size=16).digest()
            if key not in known:
                known[key] = len(distinct)
                distinct.append((rows, partition))
            found.append(Member(int(label), known[key], len(rows)))
        members.append(tuple(found))
    return tuple(members), distinct


def _valid(omega: Sequence[Any], size: int, values_are_k: bool) -> tuple[Any, ...]:
    """The values with which that many points can be clustered again."""
    return tuple(k for k in omega if not values_are_k or k < size)


def _recluster(
    engine: Engine,
    X: Floats,
    requests: list[Request],
    setting: Setting,
    n_jobs: int | None,
    progress: bool,
) -> list[Group]:
    n_batches = _TASKS_PER_WORKER * n_workers(n_jobs)
    batches, order = _batches([r.rows for r in requests], len(X), engine, n_batches)
    done = run(
        partial(engine.references, keep_models=setting.relabel != "refit"),
        [(X, [requests[i] for i in batch], setting.entropy) for batch in batches],
        n_jobs=n_jobs,
        prefer=engine.prefer,
        progress="re-clustering" if progress else None,
    )
    flat = [partitions for batch in done for partitions in batch]
    return [Group(r.rows, flat[i]) for r, i in zip(requests, order, strict=True)]


def measure_paths(
    engine: Engine,
    X: Floats,
    collected: PathGroups,
    epsilons: Floats,
    n_draws: int,
    setting: Setting,
    *,
    n_jobs: int | None = None,
    progress: bool = False,
) -> StabilityPaths:
    """Perturb all groups at all noise levels and put the paths together.

    Parameters
    ----------
    engine : Engine
        The algorithm.
    X : ndarray of shape (n_samples, n_features)
        The data.
    collected : PathGroups
        From `collect_groups`.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    n_draws : int
        Perturbed copies per noise level.
    setting : Setting
        Noise, similarity and relabeling.
    n_jobs : int or None
        Workers.
    progress : bool
        Whether to show a progress bar.
    """
    title = "perturbing" if progress else None
    groups = collected.groups
    measured = _measure(engine, X, groups, epsilons, n_draws, setting, n_jobs, title)
    n_k, shape = len(collected.partitions), (len(epsilons), n_draws)
    between = np.ones((n_k, *shape))
    between[1:] = measured[0][: n_k - 1]
    clusters = np.full((len(collected.group_of), len(collected.omega), *shape), np.nan)
    for row, group in enumerate(collected.group_of):
        if group is None:
            continue
        rows, partitions = groups[group].rows, groups[group].partitions
        # Labels that the user gave come before the clusterer's own partition with the same K.
        place = {p.k: i for i, p in enumerate(partitions)}
        for k in collected.valid(len(X) if rows is None else len(rows)):
            if k in place:
                clusters[row, collected.omega.index(k)] = measured[group][place[k]]
    return StabilityPaths(
        k_values=tuple(p.k for p in collected.partitions),
        n_clusters=tuple(len(members) for members in collected.members),
        omega=collected.omega,
        epsilons=np.asarray(epsilons, dtype=float),
        between=between,
        clusters=clusters,
        members=collected.members,
    )


def _measure(
    engine: Engine,
    X: Floats,
    groups: Sequence[Group],
    epsilons: Floats,
    n_draws: int,
    setting: Setting,
    n_jobs: int | None,
    title: str | None,
) -> list[Floats]:
    """Similarities of each group, (n_partitions, n_epsilons, n_draws)."""
    n_batches = -(-_TASKS_PER_WORKER * n_workers(n_jobs) // n_draws)
    batches, order = _batches([g.rows for g in groups], len(X), engine, n_batches)
    tasks = [
        (X, [groups[i] for i in batch], draw, epsilons, setting)
        for draw in range(n_draws)
        for batch in batches
    ]
    done = run(engine.similarities, tasks, n_jobs=n_jobs, prefer=engine.prefer, progress=title)
    flat = [similarities for batch in done for similarities in batch]
    draws = [flat[start : start + len(groups)] for start in range(0, len(flat), len(groups))]
    return [np.stack([draw[i] for draw in draws], axis=-1) for i in order]


def _batches(
    rows: list[Ints | None], n_samples: int, engine: Engine, n_batches: int
) -> tuple[list[list[int]], list[int]]:
    """Batches of items of similar cost, and the place of each item in the joined batches."""
    if engine.prefer == "processes":
        n_batches = len(rows)
    cost = [n_samples if r is None else len(r) for r in rows]
    by_cost = sorted(range(len(rows)), key=lambda i: -cost[i])
    batches = [by_cost[start::n_batches] for start in range(min(n_batches, len(rows)))]
    joined = [i for batch in batches for i in batch]
    place = [0] * len(rows)
    for position, i in enumerate(joined):
        place[i] = position
    return batches, place
