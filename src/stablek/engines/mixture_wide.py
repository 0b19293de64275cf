"""Gaussian mixtures by matrix products: full covariances, for many features.

A component with fewer points than features varies only along the axes that its points span. Off
these axes its covariance is ``reg_covar`` alone. So only the axes are stored. Work per point is
then proportional to features times the component's points, not to features squared. A component
that several mixtures share is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import logsumexp

from stablek.blocks import blocks
from stablek.engines.subspace import Subspace
from stablek.kernels.packed import PackedGroups
from stablek.mixture import SINGULAR

__all__ = ["Component", "Components", "WideFitter", "WideMixture", "wide_agreements"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_BLOCK = 1 << 12  # rows per block, which bounds the memory for many points
_TINY = 10.0 * np.finfo(float).eps  # scikit-learn adds this to the masses of components


@dataclass(frozen=True, eq=False)
class Component:
    """One Gaussian of a mixture.

    Parameters
    ----------
    mass : float
        Sum of its shares in the points.
    mean : ndarray of shape (p,)
    axes : ndarray of shape (p, q) or None
        Orthonormal axes of its points; None for the whole space.
    factor : ndarray of shape (q, q)
        Upper triangular C with C C' the inverse of the covariance along the axes.
    ridge : float
        Variance off the axes.
    peak : float
        Log of the density at the mean.
    """

    mass: float
    mean: Floats
    axes: Floats | None
    factor: Floats
    ridge: float
    peak: float

    @classmethod
    def of(cls, points: Floats, share: Floats, ridge: float) -> Component | None:
        """Component with these shares in the points; None if its covariance is singular."""
        own, p = np.flatnonzero(share), points.shape[1]
        mass = float(share.sum()) + _TINY
        mean = share @ points / mass
        weights = np.sqrt(share / mass)[:, None]
        axes = None
        if len(own) < p:
            if not ridge > 0.0:
                return None
            axes, gaps = np.linalg.qr(((points[own] - mean) * weights[own]).T)
            covariance = gaps @ gaps.T
        else:
            covariance = np.zeros((p, p))
            for block in blocks(len(points), _BLOCK):
                gaps = (points[block] - mean) * weights[block]
                covariance += gaps.T @ gaps
        covariance[np.diag_indices_from(covariance)] += ridge
        if not np.isfinite(covariance).all():
            return None
        # The whole matrix, which users get, is singular if its digits do not reach the ridge.
        largest = np.abs(covariance).sum(axis=0).max(initial=0.0)  # equal points span no axis
        if axes is not None and ridge < np.finfo(float).eps * largest:
            return None
        try:
            lower = cholesky(covariance, lower=True)
        except np.linalg.LinAlgError:
            return None
        peak = -np.log(np.diagonal(lower)).sum() - 0.5 * p * np.log(2.0 * np.pi)
        if axes is not None:
            peak -= 0.5 * (p - len(own)) * np.log(ridge)
        factor = solve_triangular(lower, np.eye(len(lower)), lower=True).T
        return cls(mass, mean, axes, np.ascontiguousarray(factor), ridge, float(peak))

    def log_density(self, points: Floats) -> Floats:
        """Log of the density at the points."""
        log = np.empty(len(points))
        for block in blocks(len(points), _BLOCK):
            gaps = points[block] - self.mean
            along, scaled = self._project(gaps)
            square = self._products(gaps, gaps, along, along, scaled, scaled)
            log[block] = self.peak - 0.5 * square
        return log

    def expand(self, points: Floats, moves: Floats) -> Floats:
        """Coefficients, (3, n), of the squared distance to the mean as a function of the level.

        Distances are in units of the deviation: `log_density` is the peak minus half of one.
        """
        gaps = points - self.mean
        along, scaled = self._project(gaps)
        beside, moved = self._project(moves)
        terms = np.empty((3, len(points)))
        terms[0] = self._products(gaps, gaps, along, along, scaled, scaled)
        terms[1] = 2.0 * self._products(gaps, moves, along, beside, scaled, moved)
        terms[2] = self._products(moves, moves, beside, beside, moved, moved)
        return terms

    def covariance(self) -> Floats:
        """Covariance as a (p, p) matrix."""
        inverse = solve_triangular(self.factor, np.eye(len(self.factor)))
        along = inverse.T @ inverse
        if self.axes is None:
            return np.asarray(along)
        along[np.diag_indices_from(along)] -= self.ridge
        whole = self.axes @ along @ self.axes.T
        whole[np.diag_indices_from(whole)] += self.ridge
        return np.asarray(whole)

    def _project(self, vectors: Floats) -> tuple[Floats, Floats]:
        """Components of vectors along the axes, and the same in units of the deviation."""
        along = vectors if self.axes is None else vectors @ self.axes
        return along, along @ self.factor

    def _products(
        self, one: Floats, two: Floats, along: Floats, beside: Floats, u: Floats, v: Floats
    ) -> Floats:
        """Products of vectors in units of the deviation.

        `along` and `beside` are their parts along the axes; u and v are these parts in units of
        the deviation.
        """
        products = _dot(u, v)
        if self.axes is not None:
            products += (_dot(one, two) - _dot(along, beside)) / self.ridge
        return products


def _dot(one: Floats, two: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", one, two))


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
    def offsets(self) -> Floats:
        """Log of weight times density at the mean, for each component."""
        peaks = np.array([component.peak for component in self.components])
        return np.asarray(np.log(self.weights) + peaks)

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

    def bic(self, X: Floats) -> float:
        """Bayesian information criterion of the mixture; lower is better."""
        n, p = X.shape
        k = len(self.components)
        n_parameters = k * p * (p + 1) // 2 + k * p + k - 1
        logs = self.log_densities(Components(X, 0.0, keeps=False))
        return float(n_parameters * np.log(n) - 2.0 * logsumexp(logs, axis=0).sum())


class WideFitter:
    """Fits mixtures to points.

    Parameters
    ----------
    points : ndarray of shape (n, p)
        Points, or their coordinates in the subspace.
    start_points : ndarray of shape (m, p)
        Points whose labels give the first model; usually `points`.
    clusterer : GaussianMixture
        Its parameters apply.
    subspace : Subspace or None
    keeps : bool
        As in `Components`.
    """

    def __init__(
        self,
        points: Floats,
        start_points: Floats,
        clusterer: Any,
        subspace: Subspace | None,
        *,
        keeps: bool,
    ) -> None:
        self.clusterer, self.subspace = clusterer, subspace
        ridge = float(clusterer.reg_covar)
        self._here = self._start = Components(points, ridge, keeps=keeps)
        if start_points is not points:
            self._start = Components(start_points, ridge, keeps=keeps)

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

    Returns
    -------
    ndarray of shape (7, n_models, n_epsilons)
        The fields of `stablek.similarity.Agreement`.
    """
    from stablek.kernels.mixture.extend import count_moved, sum_tables

    all_labels = packed.labels.reshape(len(models), len(X))
    tables = [
        np.zeros((len(epsilons), n_labels, k), dtype=np.intp)
        for n_labels, k in zip(packed.n_labels, packed.k_values, strict=True)
    ]
    for block in blocks(len(X), _BLOCK):
        terms: dict[int, Floats] = {}
        for model, labels, table in zip(models, all_labels, tables, strict=True):
            for component in model.components:
                if id(component) not in terms:
                    terms[id(component)] = component.expand(X[block], noise[block])
            own = np.stack([terms[id(component)] for component in model.components])
            count_moved(own, model.offsets, epsilons, labels[block], table)
    return np.stack([sum_tables(table) for table in tables], axis=1)
