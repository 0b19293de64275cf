"""Gaussian mixtures by matrix products: full covariances, for many features.

A component with fewer points than features varies only along the axes that its points span. Off
these axes its covariance is ``reg_covar`` alone. So only the axes are stored. Work per point is
then proportional to features times the component's points, not to features squared. A component
that several mixtures share is computed once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from stablek.engines.mixture_component import Component, row_blocks
from stablek.engines.subspace import Subspace
from stablek.kernels.packed import PackedGroups
from stablek.mixture import SINGULAR, n_parameters

__all__ = ["Components", "WideFitter", "WideMixture", "wide_agreements"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Components:
    """Components of points, and their densities at the points.

    Components that do not share their points with others are kept. With many features nearly
    all components are of this kind, and the next step and the next k need them again.

    Parameters
    ----------
    points : ndarray of shape (n, p)
    ridge : float
        Added to the variances.
    keeps : bool
        Whether to keep components; with many points they are too large.
    """

    def __init__(self, points: Floats, ridge: float, *, keeps: bool) -> None:
        self.points, self.ridge = np.ascontiguousarray(points), ridge
        self._keeps = keeps
        self._made: dict[bytes, Component | None] = {}
        self._logs: dict[int, Floats] = {}

    def of(self, shares: Floats) -> tuple[Component, ...] | None:
        """Components with these shares in the points; None if one is singular."""
        found = []
        for share in shares:
            component = self._one(share)
            if component is None:
                return None
            found.append(component)
        return tuple(found)

    def _one(self, share: Floats) -> Component | None:
        own = share > 0.0
        key = own.tobytes() if self._keeps and (share[own] == 1.0).all() else None
        if key is not None and key in self._made:
            return self._made[key]
        component = Component.of(self.points, share, self.ridge)
        if key is not None:
            self._made[key] = component
            if component is not None:
                self._logs[id(component)] = component.log_density(self.points)
        return component

    def log_density(self, component: Component) -> Floats:
        """Log of a component's density at the points."""
        known = self._logs.get(id(component))
        return component.log_density(self.points) if known is None else known


@dataclass(frozen=True)
class WideMixture:
    """A fitted mixture.

    If there is a subspace, the mixture is one of coordinates in it.
    """

    components: tuple[Component, ...]
    lower_bound: float
    n_iter: int
    converged: bool
    subspace: Subspace | None = None

    @property
    def weights(self) -> Floats:
        """Weights of the components."""
        masses = np.array([component.mass for component in self.components])
        return np.asarray(masses / masses.sum())

    @property
    def means(self) -> Floats:
        """Means of the components."""
        return np.stack([component.mean for component in self.components])

    @property
    def covariances(self) -> Floats:
        """Covariances of the components, (k, p, p)."""
        return np.stack([component.covariance() for component in self.components])

    @property
    def factors(self) -> Floats:
        """Upper triangular C of each component, with C C' the inverse covariance, (k, p, p)."""
        try:
            lower = np.linalg.cholesky(self.covariances)
        except np.linalg.LinAlgError:
            raise ValueError(SINGULAR) from None
        return np.stack([np.linalg.inv(own).T for own in lower])

    def compact(self) -> WideMixture:
        """The mixture itself: it stores nothing that only users ask for."""
        return self

    def log_densities(self, at: Components) -> Floats:
        """Log of weight times density of each component at points, (k, n)."""
        logs = np.stack([at.log_density(component) for component in self.components])
        return logs + np.log(self.weights)[:, None]

    def predict(self, points: Floats) -> Ints:
        """Component of highest posterior of each point; ties go to the first."""
        if self.subspace is not None:
            points = self.subspace.coordinates(points)
        return _highest(self.log_densities(Components(points, 0.0, keeps=False)))

    def at_levels(
        self, epsilons: Sequence[float], deviation: Floats | None
    ) -> Iterator[WideMixture]:
        """The mixture of points with noise of each level; itself without noise."""
        for epsilon in epsilons:
            if epsilon == 0.0 or deviation is None:
                yield self
                continue
            growths = [c.growth(deviation, self.subspace) for c in self.components]
            pairs = zip(self.components, growths, strict=True)
            yield replace(self, components=tuple(c.at(epsilon, g) for c, g in pairs))

    def bic(self, X: Floats) -> float:
        """Bayesian information criterion of the mixture; lower is better."""
        n, p = X.shape
        penalty = n_parameters("full", len(self.components), p) * np.log(n)
        logs = self.log_densities(Components(X, 0.0, keeps=False))
        return float(penalty - 2.0 * logsumexp(logs, axis=0).sum())


class WideFitter:
    """Fits mixtures to points.

    Parameters
    ----------
    points : ndarray of shape (n, p)
        Points, or their coordinates in the subspace.
    sample : ndarray or None
        Positions of the points whose labels give the first model; None for all.
    clusterer : GaussianMixture
        Its parameters apply.
    subspace : Subspace or None
    keeps : bool
        As in `Components`.
    """

    def __init__(
        self,
        points: Floats,
        sample: Ints | None,
        clusterer: Any,
        subspace: Subspace | None,
        *,
        keeps: bool,
    ) -> None:
        self.clusterer, self.subspace = clusterer, subspace
        ridge = float(clusterer.reg_covar)
        self._here = self._start = Components(points, ridge, keeps=keeps)
        if sample is not None:
            self._start = Components(points[sample], ridge, keeps=keeps)

    def fit_likeliest(self, k: int, starts: Ints) -> tuple[Ints, WideMixture]:
        """Labels and model of the likeliest mixture from several starts, (n_starts, m)."""
        models = [self.fit(k, labels) for labels in starts]
        sound = [model for model in models if model is not None]
        if len(sound) < len(models):
            raise ValueError(SINGULAR)
        likeliest = max(sound, key=lambda model: model.lower_bound)
        return self.predict(likeliest), likeliest

    def fit(self, k: int, labels: Ints) -> WideMixture | None:
        """Mixture from the start that the labels give; None if a covariance is singular.

        The steps and the stopping rule are those of scikit-learn.
        """
        tol, max_iter = float(self.clusterer.tol), int(self.clusterer.max_iter)
        found = self._start.of((labels == np.arange(k)[:, None]).astype(float))
        bound, n_iter, converged = -np.inf, 0, False
        while found is not None:
            model = WideMixture(found, bound, n_iter, converged, self.subspace)
            if converged or n_iter == max_iter:
                return model
            logs = model.log_densities(self._here)
            top = logs.max(axis=0)
            shares = np.exp(logs - top)
            total = shares.sum(axis=0)
            shares /= total
            before, bound = bound, float(np.mean(top + np.log(total)))
            n_iter, converged = n_iter + 1, abs(bound - before) < tol
            found = self._here.of(shares)
        return None

    def predict(self, model: WideMixture) -> Ints:
        """Component of highest posterior of each of the fitted points."""
        return _highest(model.log_densities(self._here))


def _highest(logs: Floats) -> Ints:
    return np.asarray(logs.argmax(axis=0))


def wide_agreements(
    models: Sequence[WideMixture],
    X: Floats,
    noise: Floats,
    epsilons: Floats,
    packed: PackedGroups,
    deviation: Floats | None,
) -> Floats:
    """Sums over the contingency tables of reference labels and labels of the noisy points.

    Parameters
    ----------
    models : sequence of WideMixture
        Models of all partitions, in the space of X.
    X, noise : ndarray of shape (n_samples, p)
        Data, and the noise that a noise level multiplies.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    packed : PackedGroups
        One group, of all rows of X.
    deviation : ndarray of shape (n_features,) or None
        Standard deviation of the noise at level 1; None for models that ignore the noise.

    Returns
    -------
    ndarray of shape (7, n_models, n_epsilons)
        The fields of `stablek.similarity.Agreement`.
    """
    from stablek.kernels.mixture.extend import count_highest, sum_tables

    all_labels = packed.labels.reshape(len(models), len(X))
    tables = [
        np.zeros((len(epsilons), n_labels, k), dtype=np.intp)
        for n_labels, k in zip(packed.n_labels, packed.k_values, strict=True)
    ]
    for block in row_blocks(len(X), len(epsilons)):
        known: dict[int, Floats] = {}
        for model, labels, table in zip(models, all_labels, tables, strict=True):
            for component in model.components:
                if id(component) not in known:
                    growth = None
                    if deviation is not None:
                        growth = component.growth(deviation, model.subspace)
                    moved = component.moved(X[block], noise[block], epsilons, growth)
                    known[id(component)] = moved
            logs = np.stack([known[id(component)] for component in model.components])
            count_highest(logs, np.log(model.weights), epsilons, labels[block], table)
    return np.stack([sum_tables(table) for table in tables], axis=1)
