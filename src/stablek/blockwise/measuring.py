"""From the sample to models of all partitions, and from their tables to stability paths."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from stablek.blockwise.core import Blocks, Measure
from stablek.blockwise.layout import Layout
from stablek.blockwise.survey import Survey
from stablek.engines.base import Setting
from stablek.engines.packing import scaled_noise
from stablek.paths import PathGroups
from stablek.results import Member, StabilityPaths
from stablek.similarity import Agreement

__all__ = ["BlockModels", "Parent", "kept_share", "paths_of_tables", "start_models"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


class BlockModels(Protocol):
    """Models of all partitions of a layout: what a family of clusterers needs on blocks."""

    fits_one_cluster: ClassVar[bool]
    """Whether one cluster needs a model that is fitted like the others."""

    @staticmethod
    def limit(clusterer: Any, n_features: int) -> str | None:
        """Why a clusterer cannot run on blocks, in words that follow its name; None if it can."""
        ...

    @property
    def layout(self) -> Layout:
        """The partitions."""
        ...

    @property
    def n_passes(self) -> int:
        """Passes over all rows that refined the models."""
        ...

    def refine(
        self, blocks: Blocks, clusterer: Any, variance: float, max_passes: int, title: str | None
    ) -> Any:
        """The models after steps on all rows."""
        ...

    def measurement(self, epsilons: Floats, n_draws: int, setting: Setting) -> Measure[Any]:
        """The function of the pass that adds noise; its result has ``tables``."""
        ...

    def measured(self, result: Any) -> Any:
        """The same models with what the result of that pass tells about them."""
        ...

    def finished(self, blocks: Blocks) -> Any:
        """The same models with what users ask of an estimator, without a pass that adds noise."""
        ...

    def fitted(self, k: int, found: Survey) -> tuple[Any, dict[str, Any]]:
        """Model of a partition of all rows, and further attributes of its estimator."""
        ...

    def labels(self, whole: Any, start: int, X: Floats) -> Ints:
        """Labels of a block by some partitions of all rows, (n_partitions, n)."""
        ...

    def kept(
        self, whole: int, epsilons: Floats, n_draws: int, setting: Setting, start: int, X: Floats
    ) -> Floats:
        """Share of draws and levels in which each point of a block keeps its label."""
        ...


class Parent(NamedTuple):
    """The model that has a cluster, and the label of the cluster."""

    model: Any
    label: int


def kept_share(
    reference: Callable[[Floats], Ints],
    noisy: Sequence[Callable[[Floats], Ints]],
    epsilons: Floats,
    n_draws: int,
    setting: Setting,
    start: int,
    X: Floats,
) -> Floats:
    """Share of draws and levels in which each point of a block keeps its label.

    Parameters
    ----------
    reference : callable
        Labels points without noise.
    noisy : sequence of callable
        For each level, labels points with noise of that level.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    n_draws : int
    setting : Setting
        The noise.
    start : int
        Number of the first row.
    X : ndarray of shape (n, n_features)
        Rows of the block.
    """
    labels, kept = reference(X), np.zeros(len(X))
    for draw in range(n_draws):
        noise = scaled_noise(X, draw, start, start + len(X), setting)
        for epsilon, predict in zip(epsilons, noisy, strict=True):
            kept += predict(X + epsilon * noise) == labels
    kept /= n_draws * len(epsilons)
    return kept


def start_models(
    layout: Layout, groups: PathGroups
) -> Iterator[tuple[Any | None, Parent | None, int]]:
    """Models of the sample in the order of a layout.

    Yields
    ------
    model : object or None
        None if the sample has too few points of the cluster.
    parent : Parent or None
        For the partition of a cluster.
    k : int
        Number of clusters.
    """
    whole = {partition.k: partition for partition in groups.groups[0].partitions}
    for k in layout.whole:
        yield (whole[k].model if k in whole else None), None, k
    place = {partition.k: i for i, partition in enumerate(groups.partitions)}
    for inside in layout.inside:
        k = layout.whole[inside.whole]
        members = {m.label: m.row for m in groups.members[place[k]]}
        row = members.get(inside.label)
        group = None if row is None else groups.group_of[row]
        found = () if group is None else groups.groups[group].partitions
        model = next((p.model for p in found if p.k == inside.k), None)
        yield model, Parent(whole[k].model, inside.label), inside.k


def paths_of_tables(
    layout: Layout, tables: Ints, n_rows: int, epsilons: Floats, setting: Setting
) -> StabilityPaths:
    """Stability paths from the contingency tables of all partitions.

    Parameters
    ----------
    layout : Layout
        The partitions.
    tables : ndarray of shape (n_draws, n_cells)
        Tables of k squared cells for each partition and noise level.
    n_rows : int
        Number of all rows.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    setting : Setting
        With a similarity that tables determine.
    """
    similarity = _similarities(layout, tables, len(epsilons), setting)
    n_k, shape = len(layout.candidates) + 1, similarity.shape[1:]
    between = np.ones((n_k, *shape))
    between[1:] = similarity[: n_k - 1]
    first_cell = layout.first_cell(len(epsilons))
    members: list[tuple[Member, ...]] = [(Member(0, 0, n_rows),)]
    rows = 1
    clusters = [_inside(layout, {k: i for i, k in enumerate(layout.whole)}, n_rows, similarity)]
    for i, k in enumerate(layout.candidates):
        start = first_cell[i]
        sizes = tables[0, start : start + k * k].reshape(k, k).sum(axis=1).tolist()
        found = []
        for label, size in enumerate(sizes):
            if size == 0:
                continue
            first = layout.position(i, label)
            places = {own: first + j for j, own in enumerate(layout.omega)}
            clusters.append(_inside(layout, places, size, similarity))
            found.append(Member(label, rows, size))
            rows += 1
        members.append(tuple(found))
    return StabilityPaths(
        k_values=(1, *layout.candidates),
        n_clusters=tuple(len(own) for own in members),
        omega=layout.omega,
        epsilons=np.asarray(epsilons, dtype=float),
        between=between,
        clusters=np.stack(clusters),
        members=tuple(members),
    )


def _inside(layout: Layout, places: dict[int, int], size: int, similarity: Floats) -> Floats:
    """Similarities inside one cluster, (n_omega, n_epsilons, n_draws); NaN where not valid."""
    result = np.full((len(layout.omega), *similarity.shape[1:]), np.nan)
    for j, k in enumerate(layout.omega):
        if k < size:
            result[j] = similarity[places[k]]
    return result


def _similarities(layout: Layout, tables: Ints, n_levels: int, setting: Setting) -> Floats:
    """Similarity of every partition, (n_partitions, n_epsilons, n_draws)."""
    from stablek.kernels.agreement import N_SUMS, table_sums

    assert setting.similarity.of_agreement is not None
    k_values, first_cell = layout.k_values, layout.first_cell(n_levels)[:-1]
    result = np.empty((len(k_values), n_levels, len(tables)))
    sums = np.empty((len(k_values), n_levels, N_SUMS))
    for draw, own in enumerate(tables):
        table_sums(own, first_cell, k_values, n_levels, sums)
        agreement = Agreement(*np.moveaxis(sums, -1, 0))
        with np.errstate(all="ignore"):
            result[..., draw] = setting.similarity.of_agreement(agreement)
    return result
