"""Stability paths: what an engine measures, put together for every K and noise level.

Between stability is measured on X, within stability on the points of each cluster of each
reference partition: one function on different points. A cluster that several partitions have
in common is measured once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import partial
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from stablek.engines.base import Engine, Setting
from stablek.execution import n_workers, run
from stablek.results import Group, Member, Partition, Request, StabilityPaths
from stablek.similarity import contingency

__all__ = ["Measurement", "point_stability", "reference_partitions"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_LABELS = 1 << 22  # labels that one task makes: memory stays bounded where points are many


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
        size = _values_at_once(engine, len(k_values), len(X), n_workers(n_jobs))
    parts = [tuple(k_values[low : low + size]) for low in range(0, len(k_values), size)]
    tasks = [(X, [Request(None, part)], entropy) for part in parts]
    batches = run(engine.references, tasks, n_jobs=n_jobs, prefer=engine.prefer)
    return tuple(partition for batch in batches for part in batch for partition in part)


def _values_at_once(engine: Engine, n_values: int, n_samples: int, workers: int) -> int:
    """Values per task: kernels share work between values, processes better share the values."""
    if engine.prefer == "processes":
        return 1
    n_tasks = 4 * workers if workers > 1 else 1
    return max(1, min(-(-n_values // n_tasks), _LABELS // n_samples))


class Measurement:
    """Reference partitions of X and of all their clusters, ready to be perturbed.

    Parameters
    ----------
    engine : Engine
        The algorithm.
    X : ndarray of shape (n_samples, n_features)
        The data.
    partitions : sequence of Partition
        Reference partitions of X: one path each, after that of the one-cluster partition.
    omega : sequence
        Re-clustering values.
    n_draws : int
        Perturbed copies per noise level.
    setting : Setting
        Noise, similarity and relabeling.
    values_are_k : bool
        Whether values are numbers of clusters.
    own : bool
        Whether the partitions are the clusterer's own, so that one of X also serves as the
        re-clustering of the one cluster that is all of X.
    """

    def __init__(
        self,
        engine: Engine,
        X: Floats,
        partitions: Sequence[Partition],
        omega: Sequence[Any],
        n_draws: int,
        setting: Setting,
        *,
        values_are_k: bool = True,
        own: bool = True,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> None:
        self.engine, self.X, self.setting = engine, X, setting
        self.omega, self.n_draws, self.values_are_k = tuple(omega), n_draws, values_are_k
        self.n_jobs, self.progress = n_jobs, progress
        trivial = Partition(1 if values_are_k else None, np.zeros(len(X), dtype=np.intp))
        others = [p for p in partitions if not (values_are_k and p.k == 1)]
        self.partitions = (trivial, *others)
        self.members, clusters = _distinct_clusters(self.partitions)
        self.groups, self.group_of = self._groups(others, clusters, own)
        self._similarities: dict[tuple[int, float], Floats] = {}

    def _groups(
        self, partitions: list[Partition], clusters: list[tuple[Ints, Partition]], own: bool
    ) -> tuple[list[Group], list[int | None]]:
        """All groups to perturb, and which of them each distinct cluster is.

        The first group is X with the reference partitions and the re-clusterings of the one
        cluster that is all of X, which come first among the distinct clusters.
        """
        known = {p.k for p in partitions} if own else set()
        missing = [value for value in self._valid(len(self.X)) if value not in known]
        again = reference_partitions(
            self.engine, self.X, missing, self.setting.entropy, n_jobs=self.n_jobs
        )
        groups = [Group(None, (*partitions, *again))]
        group_of: list[int | None] = [0]
        requests: list[Request] = []
        for rows, parent in clusters[1:]:
            values = self._valid(len(rows))
            if values:
                group_of.append(len(requests) + 1)
                requests.append(Request(rows, values, parent))
            else:
                group_of.append(None)
        for request, parts in zip(requests, self._references(requests), strict=True):
            groups.append(Group(request.rows, parts))
        return groups, group_of

    def _valid(self, size: int) -> tuple[Any, ...]:
        if not self.values_are_k:
            return self.omega
        return tuple(value for value in self.omega if value < size)

    def _references(self, requests: list[Request]) -> list[tuple[Partition, ...]]:
        batches, order = _batches(
            [r.rows for r in requests], len(self.X), self.engine, 4 * self._workers
        )
        fit = partial(self.engine.references, keep_models=self.setting.relabel == "extend")
        tasks = [(self.X, [requests[i] for i in b], self.setting.entropy) for b in batches]
        done = run(
            fit,
            tasks,
            n_jobs=self.n_jobs,
            prefer=self.engine.prefer,
            progress="re-clustering" if self.progress else None,
        )
        flat = [parts for batch in done for parts in batch]
        return [flat[i] for i in order]

    @property
    def _workers(self) -> int:
        return n_workers(self.n_jobs)

    def measure(self, epsilons: Floats) -> StabilityPaths:
        """Paths over these noise levels; what was measured before is not measured again."""
        self._measure(epsilons, range(len(self.groups)))
        return self.known(epsilons)

    def measure_between(self, epsilons: Floats) -> None:
        """Measure X only."""
        self._measure(epsilons, [0])

    def measure_within(self, epsilons: Floats, paths: Iterable[int]) -> None:
        """Measure the clusters of these paths only, and quietly: there are many such calls."""
        self._measure(epsilons, self._groups_of(paths), quiet=True)

    def knows(self, path: int, epsilon: float) -> bool:
        """Whether all clusters of the path were measured at this level."""
        return all((group, epsilon) in self._similarities for group in self._groups_of([path]))

    def _groups_of(self, paths: Iterable[int]) -> list[int]:
        groups = {self.group_of[member.row] for path in paths for member in self.members[path]}
        return sorted(group for group in groups if group)

    def _measure(self, epsilons: Floats, groups: Iterable[int], *, quiet: bool = False) -> None:
        """Measure of these groups and levels what is missing."""
        lacking: dict[tuple[float, ...], list[int]] = {}
        for group in groups:
            levels = tuple(e for e in map(float, epsilons) if (group, e) not in self._similarities)
            lacking.setdefault(levels, []).append(group)
        for levels, some in lacking.items():
            if levels:
                title = "perturbing" if self.progress and not quiet else None
                self._perturb(np.array(levels), some, title)

    def _perturb(self, epsilons: Floats, chosen: list[int], title: str | None) -> None:
        groups = [self.groups[g] for g in chosen]
        chunks = -(-4 * self._workers // self.n_draws)
        batches, order = _batches([g.rows for g in groups], len(self.X), self.engine, chunks)
        tasks = [
            (self.X, [groups[i] for i in batch], draw, epsilons, self.setting)
            for draw in range(self.n_draws)
            for batch in batches
        ]
        done = run(
            self.engine.similarities,
            tasks,
            n_jobs=self.n_jobs,
            prefer=self.engine.prefer,
            progress=title,
        )
        draws = []
        for draw in range(self.n_draws):
            batched = done[draw * len(batches) : (draw + 1) * len(batches)]
            flat = [similarity for batch in batched for similarity in batch]
            draws.append([flat[i] for i in order])
        for i, group in enumerate(chosen):
            similarities = np.stack([draw[i] for draw in draws], axis=-1)
            for e, epsilon in enumerate(epsilons):
                self._similarities[group, float(epsilon)] = similarities[:, e]

    def known(self, epsilons: Floats) -> StabilityPaths:
        """Paths over these levels; what has not been measured is at the similarity's floor."""
        similarities = [self._of_group(g, epsilons) for g in range(len(self.groups))]
        shape = (len(epsilons), self.n_draws)
        between = np.ones((len(self.partitions), *shape))
        between[1:] = similarities[0][: len(self.partitions) - 1]
        clusters = np.full((len(self.group_of), len(self.omega), *shape), np.nan)
        for row, group in enumerate(self.group_of):
            if group is None:
                continue
            rows, partitions = self.groups[group].rows, self.groups[group].partitions
            # Of two partitions with one value the later is the clusterer's own.
            place = {p.k: i for i, p in enumerate(partitions)}
            for value in self._valid(len(self.X) if rows is None else len(rows)):
                if value in place:
                    clusters[row, self.omega.index(value)] = similarities[group][place[value]]
        return StabilityPaths(
            k_values=tuple(p.k for p in self.partitions),
            n_clusters=tuple(len(members) for members in self.members),
            omega=self.omega,
            epsilons=np.asarray(epsilons, dtype=float),
            between=between,
            clusters=clusters,
            members=self.members,
        )

    def _of_group(self, group: int, epsilons: Floats) -> Floats:
        shape = (len(self.groups[group].partitions), self.n_draws)
        floor = np.full(shape, self.setting.similarity.floor)
        known = [self._similarities.get((group, float(e)), floor) for e in epsilons]
        return np.stack(known, axis=1)


def _batches(
    rows: list[Ints | None], n_samples: int, engine: Engine, n_batches: int
) -> tuple[list[list[int]], list[int]]:
    """Cut items into batches of like cost; also the place of each item in the joined batches."""
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


def _distinct_clusters(
    partitions: Sequence[Partition],
) -> tuple[tuple[tuple[Member, ...], ...], list[tuple[Ints, Partition]]]:
    """Clusters of each partition, and the rows of each distinct one, all of X first."""
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
    """How often each point keeps its cluster, over the draws and the noise levels.

    NaN for a point that no resampled copy has. Labels of a refitted copy are matched to the
    reference labels first, so that as many points as possible keep theirs.
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
    """Per point: in how many copies of one draw it keeps its cluster, and is present.

    In few bytes, as there is one for each draw; one number stands for equal ones.
    """
    n_kept, n_present = np.zeros(len(X), dtype=np.uint16), np.zeros(1, dtype=np.uint16)
    for rows, labels in engine.relabel(X, partition, draw, epsilons, setting):
        at: Any = slice(None)
        if rows is not None:
            at, first = np.unique(rows, return_index=True)
            labels = labels[first]
            n_present = np.broadcast_to(n_present, len(X)).copy()
        reference = partition.labels[at]
        same = labels == reference if setting.relabel == "extend" else _matched(reference, labels)
        n_kept[at] += same
        n_present[at] += 1
    return n_kept, n_present


def _matched(reference: Ints, labels: Ints) -> NDArray[np.bool_]:
    """Whether each point's label is the one that is matched with its reference label."""
    _, rows = np.unique(reference, return_inverse=True)
    _, columns = np.unique(labels, return_inverse=True)
    table = contingency(rows, columns)
    partner = np.full(table.shape[0], -1)
    matched_rows, matched_columns = linear_sum_assignment(table, maximize=True)
    partner[matched_rows] = matched_columns
    return np.asarray(partner[rows] == columns)
