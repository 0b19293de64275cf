"""The reference partitions that selectors judge, and the clusterer that made them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from stablek import seeding
from stablek.engines import Engine
from stablek.results import Partition
from stablek.selectors.base import partitions_of

__all__ = ["Reference", "cluster"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass
class Reference:
    """Reference partitions of X, made when first asked for and then kept.

    Several selectors may share one, so that all judge the same partitions.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Checked data.
    clusterer : estimator
        Not changed.
    param_name : str
        The parameter that is searched.
    counts : bool
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
    counts: bool
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
                counts=self.counts,
                n_jobs=self.n_jobs,
            )
            self._made.update((partition.value, partition) for partition in made)
        failed = [value for value in values if value not in self._made]
        if failed:
            raise ValueError(f"k_range: the clusterer cannot cluster X with the values {failed}")
        return [self._made[value] for value in values]

    def estimator(self, value: Any) -> Any:
        """The clusterer fitted with that value."""
        if self.counts and value == 1:
            # The one-cluster partition needs no fit; the estimator does.
            return clone(self.clusterer).set_params(**{self.param_name: 1}).fit(self.X)
        return self.engine.estimator(self.X, self.partitions([value])[0])


def cluster(
    engine: Engine, X: Floats, values: Sequence[int], entropy: int, *what: Any
) -> list[Ints]:
    """Labels of other data (a subsample, a reference set) for each number of clusters.

    ``what`` says what the data are, so that each set has a seed of its own.
    """
    partitions = partitions_of(engine, X, values, seeding.seed(entropy, *what))
    return [partition.labels for partition in partitions]
