"""The reference partitions that selectors judge, and the clusterer that made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from stablek import seeding
from stablek.engines import Engine, GenericEngine, engine_for
from stablek.execution import run
from stablek.paths import reference_partitions
from stablek.results import Partition, Request
from stablek.searching import find_param_name
from stablek.spherical import as_seen_by
from stablek.validation import check_clusterer
from stablek.warning import warn_user

__all__ = ["Reference", "cluster", "make_reference", "partitions_of", "warn_of_pipeline"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

COUNT_NAMES = ("n_clusters", "n_components")
"""Parameters whose values are numbers of clusters."""


@dataclass
class Reference:
    """Reference partitions of X, computed on first use and then kept.

    Several selectors can share one, so that all judge the same partitions.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Checked data.
    clusterer : estimator
        Not changed.
    param_name : str
        The parameter that is searched.
    values_are_k : bool
        Whether its values are numbers of clusters.
    engine : Engine
        Of the clusterer.
    entropy : int
        From `stablek.seeding.entropy_of`.
    n_jobs : int or None
        Workers.
    """

    X: Floats
    clusterer: Any
    param_name: str
    values_are_k: bool
    engine: Engine
    entropy: int
    n_jobs: int | None = None
    _made: dict[Any, Partition] = field(default_factory=dict, repr=False)

    def partitions(self, values: Sequence[Any]) -> list[Partition]:
        """Reference partition for each value."""
        missing = [value for value in values if value not in self._made]
        if missing:
            made = partitions_of(
                self.engine,
                self.X,
                missing,
                self.entropy,
                values_are_k=self.values_are_k,
                n_jobs=self.n_jobs,
            )
            self._made.update((partition.k, partition) for partition in made)
        failed = [value for value in values if value not in self._made]
        if failed:
            raise ValueError(f"k_range: the clusterer cannot cluster X with the values {failed}")
        return [self._made[value] for value in values]

    def with_model(self, value: Any) -> Partition:
        """Reference partition for that value, with its model.

        `partitions` makes the one-cluster partition without a fit, and so without a model.
        """
        if self.values_are_k and value == 1:
            request = Request(None, (1,))
            [[[partition]]] = run(self.engine.references, [(self.X, [request], self.entropy)])
            return partition
        return self.partitions([value])[0]

    def estimator(self, partition: Partition) -> Any:
        """The clusterer, fitted, for a partition that has its model."""
        [fitted] = run(self.engine.estimator, [(self.X, partition)])
        return fitted

    def labels(self, values: Sequence[Any]) -> Ints | None:
        """Labels for each value, (n_k, n_samples); None if some were never computed."""
        known = [*self._made] if not self.values_are_k else [1, *self._made]
        if any(value not in known for value in values):
            return None
        return np.stack([partition.labels for partition in self.partitions(values)])


def warn_of_pipeline(clusterer: Any) -> None:
    """Warn of a Pipeline whose last step alone would run in a fast engine."""
    steps, final = clusterer.steps[:-1], clusterer.steps[-1][1]
    if not steps or isinstance(engine_for(final, "n_clusters"), GenericEngine):
        return
    before = ", ".join(f"{type(step).__name__}(...)" for _, step in steps)
    kind = type(final).__name__
    warn_user(
        f"A Pipeline as the clusterer has no fast engine: noise is added before its transformers, "
        f"which run again for every noisy copy. make_pipeline({before}, Stadion({kind}(...))) "
        f"fits them once and adds the noise after them. It is much faster, but it asks whether "
        f"the clusters survive noise in the transformed features"
    )


def make_reference(
    X: Floats,
    clusterer: Any,
    param_name: str | None,
    *,
    entropy: int,
    n_jobs: int | None = None,
    engine: Literal["auto", "generic"] = "auto",
) -> Reference:
    """Reference for a clusterer. None as ``param_name`` finds the parameter for K."""
    check_clusterer(clusterer)
    name = find_param_name(clusterer, param_name)
    values_are_k = name.rpartition("__")[2] in COUNT_NAMES
    chosen = engine_for(clusterer, name, values_are_k=values_are_k, engine=engine)
    return Reference(
        as_seen_by(clusterer, X), clusterer, name, values_are_k, chosen, entropy, n_jobs
    )


def partitions_of(
    engine: Engine,
    X: NDArray[np.float64],
    values: Sequence[Any],
    entropy: int,
    *,
    values_are_k: bool = True,
    n_jobs: int | None = None,
) -> tuple[Partition, ...]:
    """Partition of X for every value, as the engine's clusterer finds it.

    With the entropy `stablek.seeding.entropy_of(random_state)` these are the reference partitions
    of a Stadion with that ``random_state``.
    """
    one = (Partition(1, np.zeros(len(X), dtype=np.intp)),) if values_are_k and 1 in values else ()
    several = [value for value in values if not (values_are_k and value == 1)]
    return one + reference_partitions(engine, X, several, entropy, n_jobs=n_jobs)


def cluster(
    engine: Engine, X: Floats, values: Sequence[int], entropy: int, *what: Any
) -> list[Ints]:
    """Labels of other data (a subsample, a reference set) for each number of clusters.

    ``what`` names the data, so that each set has its own seed.
    """
    partitions = partitions_of(engine, X, values, seeding.seed(entropy, *what))
    return [partition.labels for partition in partitions]
