"""The protocol behind which an algorithm answers for many K, draws and noise levels at once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from stablek.perturbations import Perturbation
from stablek.results import Group, Partition, Request
from stablek.similarity import Similarity

__all__ = ["Engine", "Setting"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Setting:
    """What holds for a whole run: the noise, how copies get labels, how labels are compared."""

    entropy: int
    perturbation: Perturbation
    scale: Floats
    similarity: Similarity
    relabel: Literal["refit", "extend", "predict"]
    """How a copy gets its labels: by a new fit; by the reference model, which may take the noise
    into account; or by the literal ``predict`` of the reference model."""

    @property
    def noise_deviation(self) -> Floats | None:
        """Standard deviation of each feature's noise at level 1, for models that add it.

        None if models shall label noisy points as they are: for ``relabel="predict"``, and for
        perturbations that are not additive.
        """
        variance = self.perturbation.noise_variance
        if self.relabel != "extend" or variance is None:
            return None
        return np.asarray(self.scale * np.sqrt(variance))


class Engine(Protocol):
    """One clustering algorithm. Every method is a pure function of its arguments.

    So calls may run in any order, in threads or processes, and be cut into any pieces: the
    seed of a fit depends on the value and the draw only, the noise of a point on its row in X.
    """

    prefer: Literal["threads", "processes"]
    """Which workers suit the engine: threads where its kernels release the GIL."""

    values_are_independent: bool
    """Whether fits for different values may be different tasks: they share little or nothing."""

    def references(
        self, X: Floats, requests: Sequence[Request], entropy: int, *, keep_models: bool = True
    ) -> list[tuple[Partition, ...]]:
        """Reference partitions: for each request, one per value.

        Only an engine whose values are not numbers of clusters may leave values out.

        Parameters
        ----------
        X : ndarray of shape (n_samples, n_features)
        requests : sequence of Request
            The sets of points, and the values to cluster each with.
        entropy : int
            Seed of the fits, from `stablek.seeding.entropy_of`.
        keep_models : bool
            Whether models of clusters will label noisy points. Models of all of X are always kept.
        """
        ...

    def similarities(
        self, X: Floats, groups: Sequence[Group], draw: int, epsilons: Floats, setting: Setting
    ) -> list[Floats]:
        """For each group, the similarity of reference and perturbed labels in one draw.

        Arrays of shape (n_partitions, n_epsilons).
        """
        ...

    def relabel(
        self, X: Floats, partition: Partition, draw: int, epsilons: Floats, setting: Setting
    ) -> list[tuple[Ints | None, Ints]]:
        """Rows (None: all) and labels of the perturbed copy of X, for each noise level."""
        ...

    def estimator(self, X: Floats, partition: Partition) -> Any:
        """Scikit-learn estimator, fitted on X, that has the partition's labels."""
        ...

    def predict(self, X: Floats, partition: Partition) -> Ints:
        """Labels of new points by the partition's model; only for clusterers that can predict."""
        ...

    def bic(self, X: Floats, partition: Partition) -> float | None:
        """Bayesian information criterion of the partition's model; None without a likelihood."""
        ...
