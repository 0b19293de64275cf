"""Frozen records that the stages hand to each other."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "ClusterStability",
    "Group",
    "Member",
    "Partition",
    "Request",
    "Selection",
    "StabilityPaths",
    "standard_error",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Partition:
    """One clustering of one set of points.

    Parameters
    ----------
    k : object
        The parameter value asked for; for most clusterers the number of clusters K.
    labels : ndarray of shape (n_rows,)
        Label of each point; -1 marks noise.
    model : object
        What the engine needs to label other points, or None.
    """

    k: Any
    labels: Ints
    model: Any = None


@dataclass(frozen=True)
class Request:
    """A set of points to be clustered once per value.

    Parameters
    ----------
    rows : ndarray or None
        Row numbers of the points in X, ascending; None stands for all of X.
    k_values : sequence
        Parameter values to cluster with.
    parent : Partition or None
        The partition of X that has these points as one of its clusters, if any.
    """

    rows: Ints | None
    k_values: Sequence[Any]
    parent: Partition | None = None


@dataclass(frozen=True)
class Group:
    """A set of points with its reference partitions. Engines perturb groups."""

    rows: Ints | None
    partitions: tuple[Partition, ...]


class Member(NamedTuple):
    """One cluster of a partition: its label, its row among the distinct clusters, its size."""

    label: int
    row: int
    size: int


@dataclass(frozen=True)
class ClusterStability:
    """How stable the inside of one cluster of the chosen partition is.

    Parameters
    ----------
    label : int
        The cluster's label.
    size : int
        Number of points.
    within_stability : float
        Mean over draws, noise levels up to the crossing and re-clustering sizes.
    hidden_k : object or None
        The re-clustering value that is nearly as stable inside the cluster as the chosen
        partition is on the whole data; None when there is none.
    """

    label: int
    size: int
    within_stability: float
    hidden_k: Any = None


@dataclass(frozen=True)
class StabilityPaths:
    """Every similarity that was measured, per draw and per re-clustering size.

    Axis order is (k, omega, epsilon, draw), leaving out what an array does not have. The first
    path is always that of the one-cluster partition, which the crossing needs.

    Parameters
    ----------
    k_values : tuple
        Parameter values, one per path. The first is 1, or None where values are not numbers
        of clusters: the one-cluster partition.
    n_clusters : tuple of int
        Number of clusters that each reference partition really has, noise left out.
    omega : tuple
        Re-clustering values.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    between : ndarray of shape (n_k, n_epsilons, n_draws)
        Similarity of perturbed and reference labels.
    clusters : ndarray of shape (n_distinct_clusters, n_omega, n_epsilons, n_draws)
        Similarity inside each distinct cluster; NaN where a re-clustering size is not valid.
    members : tuple of tuples of Member
        For each path, its clusters.
    """

    k_values: tuple[Any, ...]
    n_clusters: tuple[int, ...]
    omega: tuple[Any, ...]
    epsilons: Floats
    between: Floats
    clusters: Floats
    members: tuple[tuple[Member, ...], ...] = field(repr=False)

    @property
    def n_draws(self) -> int:
        """Number of perturbed copies per noise level."""
        return int(self.between.shape[-1])

    @property
    def within(self) -> Floats:
        """Within stability per re-clustering size, (n_k, n_omega, n_epsilons, n_draws).

        A size that is not valid in a cluster is filled with the mean of those that are, so
        that the mean over omega is the within stability.
        """
        means = self.mean_over_omega(np.arange(len(self.omega)))
        filled = np.where(np.isnan(self.clusters), means[:, None], self.clusters)
        return self._weigh(filled)

    def mean_over_omega(self, columns: NDArray[np.intp]) -> Floats:
        """Mean over valid re-clustering sizes in each distinct cluster; 1 where none is valid."""
        chosen = self.clusters[:, columns]
        valid = ~np.isnan(chosen)
        count = valid.sum(axis=1)
        total = np.where(valid, chosen, 0.0).sum(axis=1)
        return np.where(count > 0, total / np.maximum(count, 1), 1.0)

    def within_stability(self, columns: NDArray[np.intp] | None = None) -> Floats:
        """Within stability per draw, (n_k, n_epsilons, n_draws), for some columns of omega."""
        if columns is None:
            columns = np.arange(len(self.omega))
        return self._weigh(self.mean_over_omega(columns))

    def _weigh(self, per_cluster: Floats) -> Floats:
        """Mean over the clusters of each partition, weighted by their sizes."""
        # A partition that is all noise has no cluster: nothing speaks for it.
        within = np.ones((len(self.members), *per_cluster.shape[1:]))
        for path, members in enumerate(self.members):
            if members:
                sizes = np.array([member.size for member in members], dtype=np.float64)
                inside = per_cluster[[member.row for member in members]]
                # Divide last: the mean of ones is then exactly one.
                within[path] = np.tensordot(sizes, inside, axes=1) / sizes.sum()
        return within

    @property
    def stadion(self) -> Floats:
        """Between minus within stability per draw, (n_k, n_epsilons, n_draws)."""
        return self.between - self.within_stability()

    def quantities(self) -> dict[str, Floats]:
        """Between stability, within stability and Stadion per draw, by name."""
        within = self.within_stability()
        return {"between": self.between, "within": within, "stadion": self.between - within}

    @property
    def between_standard_error(self) -> Floats:
        """Standard error over the draws of the between stability, (n_k, n_epsilons)."""
        return standard_error(self.between)

    @property
    def within_standard_error(self) -> Floats:
        """Standard error over the draws of the within stability, (n_k, n_epsilons)."""
        return standard_error(self.within_stability())

    @property
    def stadion_standard_error(self) -> Floats:
        """Standard error over the draws of the Stadion path, (n_k, n_epsilons)."""
        return standard_error(self.stadion)


def standard_error(per_draw: Floats) -> Floats:
    """Standard error of the mean over the last axis; NaN for a single draw."""
    n_draws = per_draw.shape[-1]
    if n_draws < 2:
        return np.full(per_draw.shape[:-1], np.nan)
    return np.asarray(per_draw.std(axis=-1, ddof=1) / np.sqrt(n_draws))


@dataclass(frozen=True)
class Selection:
    """An answer, with the curves that it comes from.

    Parameters
    ----------
    k_values : tuple
        The candidates.
    n_clusters : int
        Number of clusters of the chosen partition.
    best_value : object
        The chosen candidate; None if the one-cluster partition won without being one.
    epsilons : ndarray of shape (n_epsilons,)
    between_stability, within_stability, stadion_paths : ndarray of shape (n_k, n_epsilons)
    scores : ndarray of shape (n_k,)
    crossing_epsilon : float
        Last noise level at which some K >= 2 beats K = 1; 0 if there is none.
    counted_levels : ndarray of bool of shape (n_epsilons,)
        The noise levels that the scores are made of.
    selection_frequency : ndarray of shape (n_k,)
        How often each candidate wins when the draws are resampled.
    """

    k_values: tuple[Any, ...]
    n_clusters: int
    best_value: Any
    epsilons: Floats
    between_stability: Floats
    within_stability: Floats
    stadion_paths: Floats
    scores: Floats
    crossing_epsilon: float
    counted_levels: NDArray[np.bool_]
    selection_frequency: Floats


@dataclass(frozen=True)
class StructureTest:
    """Whether the data have cluster structure at all: the test and its evidence.

    Parameters
    ----------
    pvalue : float
        Probability of such evidence if there is no structure. It is the largest of the p-values
        of all kinds of reference sets. The p-value of a kind is twice the smaller of two: that of
        the statistic and that of the valley. If all sets were measured, it is divided by the share
        of alpha that earlier stages left.
    statistic : float
        Largest mean positive excess over K, against the kind with the largest p-value.
    kind : str
        That kind of reference sets.
    alpha : float
        Level of the test.
    pvalues, statistics : dict of str to float
        The same for each kind.
    reference_statistics : dict of str to ndarray
        Statistic of each reference set, for each kind.
    excess : ndarray of shape (n_k, n_epsilons)
        Paths of the data minus the mean path of the reference sets of that kind.
    stadion_paths : ndarray of shape (n_k, n_epsilons)
        Paths of the tested rows.
    reference_paths : dict of str to ndarray of shape (n_sets, n_k, n_epsilons)
        Paths of the reference sets, for each kind.
    valley : float
        How far the tested rows are from unimodal along the line through the centers of two
        clusters: the largest distance of their distribution function from the nearest unimodal
        one, times the root of the number of rows.
    statistic_pvalues, valley_pvalues : dict of str to float
        p-values of the statistic alone and of the valley alone, for each kind.
    reference_valleys : dict of str to ndarray
        The valley of each reference set, for each kind.
    k_values : ndarray of shape (n_k,)
        Numbers of clusters that were tested.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    n_rows : int
        Number of rows that were tested.
    """

    pvalue: float
    statistic: float
    kind: str
    alpha: float
    pvalues: dict[str, float]
    statistics: dict[str, float]
    reference_statistics: dict[str, Floats] = field(repr=False)
    excess: Floats = field(repr=False)
    stadion_paths: Floats = field(repr=False)
    reference_paths: dict[str, Floats] = field(repr=False)
    valley: float
    statistic_pvalues: dict[str, float] = field(repr=False)
    valley_pvalues: dict[str, float] = field(repr=False)
    reference_valleys: dict[str, Floats] = field(repr=False)
    k_values: NDArray[np.intp] = field(repr=False)
    epsilons: Floats = field(repr=False)
    n_rows: int = 0

    @property
    def by_valley(self) -> bool:
        """Whether the valley, not the statistic, decides the p-value."""
        smaller = self.valley_pvalues[self.kind] <= self.statistic_pvalues[self.kind]
        return smaller and self.pvalue < 1.0

    @property
    def rejected(self) -> bool:
        """Whether the test rejects that there is no structure."""
        return self.pvalue <= self.alpha
