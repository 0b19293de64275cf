"""Gaussian mixtures on blocks: EM for all of them in one pass, and tables of noisy labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from stablek.blockwise.core import Blocks, Measure, Sums
from stablek.blockwise.layout import Layout, Packed
from stablek.blockwise.measuring import kept_share, start_models
from stablek.blockwise.mixture_starts import covariances_of, of_sample, split
from stablek.blockwise.survey import Survey
from stablek.engines.base import Setting
from stablek.engines.mixture_narrow import KINDS, Mixture, turn_factors
from stablek.engines.packing import scaled_noise
from stablek.mixture import SINGULAR
from stablek.paths import PathGroups

__all__ = ["MOST_FEATURES", "BlockMixtures"]

MOST_FEATURES = 32
"""Features up to which full and tied covariances run on blocks: a pass sums up whole matrices."""

Floats = NDArray[np.float64]
Ints = NDArray[Any]
Mask = NDArray[np.bool_]


@dataclass
class MixtureMoments(Sums):
    """What the E step sums up for every component and every partition."""

    masses: Floats
    sums: Floats
    squares: Floats
    likelihoods: Floats
    counts: Ints


@dataclass
class Tables(Sums):
    """Contingency tables of labels and noisy labels, (n_draws, n_cells)."""

    tables: Ints


@dataclass(frozen=True, eq=False)
class BlockMixtures:
    """Gaussian mixtures of all partitions of a layout.

    Parameters
    ----------
    layout : Layout
        The partitions.
    weights, means, factors, offsets : ndarray
        As in `stablek.kernels.mixture.densities.Gaussians`, of all mixtures, laid end to end.
    covariances : ndarray or None
        Likewise; None for work that does not need them.
    bounds : ndarray of shape (n_partitions,)
        Mean log-likelihood of the rows before the last M step, as scikit-learn reports it.
    n_iter : ndarray of int of shape (n_partitions,)
    converged : ndarray of bool of shape (n_partitions,)
    n_passes : int
        Passes over all rows.
    """

    layout: Layout
    weights: Floats
    means: Floats
    factors: Floats
    offsets: Floats
    covariances: Floats | None
    bounds: Floats
    n_iter: Ints
    converged: Mask
    n_passes: int = 0

    fits_one_cluster: ClassVar[bool] = True

    @staticmethod
    def limit(clusterer: Any, n_features: int) -> str | None:
        """Why a clusterer cannot run on blocks, in words that follow its name."""
        kind = clusterer.covariance_type
        if kind not in ("full", "tied") or n_features <= MOST_FEATURES:
            return None
        return (
            f"with covariance_type={kind!r} runs on blocks of rows for at most {MOST_FEATURES} "
            f"features, got {n_features}"
        )

    @classmethod
    def start(
        cls, layout: Layout, groups: PathGroups, sample: Floats, clusterer: Any
    ) -> BlockMixtures:
        """Mixtures of the sample.

        A cluster with too few points in the sample starts from pieces of its own component.
        """
        one = of_sample(sample, clusterer.covariance_type, float(clusterer.reg_covar))
        models = []
        for own, parent, k in start_models(layout, groups):
            if own is None or own.subspace is not None:
                own = split(one, 0, k) if parent is None else split(parent.model, parent.label, k)
            models.append(own)
        return cls(
            layout,
            np.concatenate([own.weights for own in models]),
            np.concatenate([own.means for own in models]),
            np.concatenate([own.factors for own in models]),
            np.concatenate([own.offsets for own in models]),
            np.concatenate([covariances_of(own) for own in models]),
            np.array([own.lower_bound for own in models]),
            np.array([own.n_iter for own in models]),
            np.array([own.converged for own in models]),
        )

    def refine(
        self,
        blocks: Blocks,
        clusterer: Any,
        variance: float,
        max_passes: int,
        title: str | None = None,
    ) -> BlockMixtures:
        """EM steps on all rows, with the stopping rule of scikit-learn.

        Parameters
        ----------
        blocks : Blocks
            All rows.
        clusterer : GaussianMixture
            ``tol``, ``reg_covar`` and ``covariance_type`` have the meaning of scikit-learn.
        variance : float
            Ignored.
        max_passes : int
            Most steps.
        title : str or None
            Title of the progress bars.
        """
        moving, models = np.ones(len(self.bounds), dtype=bool), self
        if max_passes:
            models = replace(
                self,
                bounds=np.full(len(moving), -np.inf),
                n_iter=np.zeros(len(moving), dtype=np.intp),
                converged=np.zeros(len(moving), dtype=bool),
            )
        n_passes = 0
        while n_passes < max_passes and moving.any():
            n_passes += 1
            named = None if title is None else f"{title} {n_passes}"
            moments = blocks.reduce(partial(models._light().step, moving), named)
            models, moving = models._maximized(moments, moving, clusterer)
        return replace(models, n_passes=n_passes)

    def step(self, moving: Mask, start: int, X: Floats) -> MixtureMoments:
        """Moments of one block for the partitions that still move."""
        moments = MixtureMoments(
            np.zeros(len(self.weights)),
            np.zeros(self.means.shape),
            np.zeros(self.factors.shape),
            np.zeros(len(moving)),
            np.zeros(len(moving), dtype=np.intp),
        )
        whole = self.layout.pack_whole(len(X), moving)
        if len(whole.partitions) and moving[len(self.layout.whole) :].any():
            self._assign(X, whole)
        self._expect(X, whole, moving, moments)
        inside = self.layout.pack_inside(len(X), moving, whole)
        if inside is not None:
            self._expect(X, inside, moving, moments)
        return moments

    def measurement(self, epsilons: Floats, n_draws: int, setting: Setting) -> Measure[Tables]:
        """The function of the pass that adds noise."""
        factors, growths = self.factors, np.empty((0, self.means.shape[1]))
        if setting.noise_deviation is not None:
            factors, growths = turn_factors(self.factors, setting.noise_deviation)
        return partial(self._light().measure, epsilons, n_draws, setting, factors, growths)

    def measure(
        self,
        epsilons: Floats,
        n_draws: int,
        setting: Setting,
        factors: Floats,
        growths: Floats,
        start: int,
        X: Floats,
    ) -> Tables:
        """Tables of (label, label with noise) of one block, for all draws and levels."""
        from stablek.kernels.mixture.extend import extend_tables

        layout, every = self.layout, np.ones(len(self.bounds), dtype=bool)
        whole = layout.pack_whole(len(X), every)
        self._assign(X, whole)
        inside = layout.pack_inside(len(X), every, whole)
        if inside is not None:
            self._assign(X, inside)
        first_cell = layout.first_cell(len(epsilons))
        tables = np.zeros((n_draws, int(first_cell[-1])), dtype=np.int64)
        for draw in range(n_draws):
            noise = scaled_noise(X, draw, start, start + len(X), setting)
            for groups, partitions in filter(None, (whole, inside)):
                own = layout.places(partitions)
                extend_tables(
                    X,
                    noise,
                    epsilons,
                    groups,
                    self.means[own],
                    factors[own],
                    self.offsets[own],
                    growths[own] if len(growths) else growths,
                    first_cell[partitions],
                    tables[draw],
                )
        return Tables(tables)

    def measured(self, tables: Tables) -> BlockMixtures:
        """The same models: noise tells nothing about them."""
        return self

    def finished(self, blocks: Blocks) -> BlockMixtures:
        """The same models: they have all that users ask for."""
        return self

    def log_likelihoods(self, blocks: Blocks) -> Floats:
        """Sum of the log-likelihood of all rows for each partition of all rows: one pass."""
        moving = np.zeros(len(self.bounds), dtype=bool)
        moving[: len(self.layout.whole)] = True
        found = blocks.reduce(partial(self._light().step, moving))
        return found.likelihoods[: len(self.layout.whole)]

    def model(self, whole: int) -> Mixture:
        """Mixture of a partition of all rows."""
        own = slice(self.layout.starts[whole], self.layout.starts[whole + 1])
        covariances = None if self.covariances is None else self.covariances[own]
        return Mixture(
            self.weights[own],
            self.means[own],
            covariances,
            self.factors[own],
            self.offsets[own],
            float(self.bounds[whole]),
            int(self.n_iter[whole]),
            bool(self.converged[whole]),
        )

    def fitted(self, k: int, found: Survey) -> tuple[Mixture, dict[str, Any]]:
        """Mixture with k components, and no further attributes."""
        return self.model(self.layout.whole.index(k)), {}

    def labels(self, whole: Sequence[int], start: int, X: Floats) -> Ints:
        """Labels of a block by some partitions of all rows, (n_partitions, n)."""
        return np.stack([self.model(i).predict(X) for i in whole])

    def kept(
        self, whole: int, epsilons: Floats, n_draws: int, setting: Setting, start: int, X: Floats
    ) -> Floats:
        """Share of draws and levels in which each point of a block keeps its label."""
        model, deviation = self.model(whole), setting.noise_deviation
        predict = [m.predict for m in model.at_levels(epsilons.tolist(), deviation)]
        return kept_share(model.predict, predict, epsilons, n_draws, setting, start, X)

    def _light(self) -> BlockMixtures:
        """The models without the covariances, which workers do not need."""
        return replace(self, covariances=None)

    def _assign(self, X: Floats, packed: Packed) -> None:
        """Write the labels of groups."""
        from stablek.kernels.mixture.passes import assign_groups

        own = self.layout.places(packed.partitions)
        assign_groups(X, packed.groups, self.means[own], self.factors[own], self.offsets[own])

    def _expect(self, X: Floats, packed: Packed, moving: Mask, moments: MixtureMoments) -> None:
        """Add the moments of groups."""
        from stablek.kernels.mixture.densities import Gaussians
        from stablek.kernels.mixture.expectation import Moments
        from stablek.kernels.mixture.passes import expect_groups

        groups, partitions = packed
        own = self.layout.places(partitions)
        factors = self.factors[own]
        model = Gaussians(
            self.weights[own], self.means[own], factors, factors, self.offsets[own]
        )  # the E step reads no covariances
        shapes = len(own), model.means.shape, factors.shape
        found = Moments(*(np.zeros(shape) for shape in shapes))
        likelihoods, counts = np.zeros(len(partitions)), np.zeros(len(partitions), dtype=np.intp)
        expect_groups(X, groups, moving[partitions], model, found, likelihoods, counts)
        moments.masses[own], moments.sums[own], moments.squares[own] = found
        moments.likelihoods[partitions], moments.counts[partitions] = likelihoods, counts

    def _maximized(
        self, found: MixtureMoments, moving: Mask, clusterer: Any
    ) -> tuple[BlockMixtures, Mask]:
        """Models after a step, and which partitions still move."""
        from stablek.kernels.mixture.densities import Gaussians
        from stablek.kernels.mixture.expectation import Moments
        from stablek.kernels.mixture.passes import maximize_all

        assert self.covariances is not None
        arrays = (self.weights, self.means, self.covariances, self.factors, self.offsets)
        model = Gaussians(*(array.copy() for array in arrays))
        stepped = moving & (found.counts > 0)  # a cluster may have lost all its points
        moments = Moments(found.masses, found.sums, found.squares)
        kind, reg_covar = KINDS.index(clusterer.covariance_type), float(clusterer.reg_covar)
        if not maximize_all(kind, reg_covar, self.layout.starts, stepped, moments, model):
            raise ValueError(SINGULAR)
        means = found.likelihoods / np.maximum(found.counts, 1)
        bounds = np.where(stepped, means, self.bounds)
        with np.errstate(invalid="ignore"):
            rests = stepped & (np.abs(bounds - self.bounds) < float(clusterer.tol))
        models = replace(
            self,
            **model._asdict(),
            bounds=bounds,
            n_iter=self.n_iter + stepped,
            converged=self.converged | rests,
        )
        return models, stepped & ~rests
