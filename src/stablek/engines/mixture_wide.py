"""Full Gaussian mixtures in many dimensions, by matrix products.

A component with fewer points than features varies along as many axes as it has points; off
these its covariance is ``reg_covar`` alone. So its axes are kept instead of the whole matrix,
and it costs features times points, not features times features, for each point that it judges.
A component that several mixtures have in common is made and asked once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import logsumexp

from stablek.engines.subspace import Subspace

__all__ = ["Component", "Components", "WideMixture", "fit_wide", "is_wide", "wide_agreements"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_WIDE = 96  # features from which matrix products are faster than the kernels
_BLOCK = 1 << 12  # points that are treated together: memory stays bounded where they are many
_TINY = 10.0 * np.finfo(float).eps  # added to the components' masses, as scikit-learn does


def is_wide(n_features: int) -> bool:
    """Whether matrix products pay.

    Examples
    --------
    >>> is_wide(2), is_wide(100)
    (False, True)
    """
    return n_features >= _WIDE


@dataclass(frozen=True, eq=False)
class Component:
    """One Gaussian of a mixture.

    Parameters
    ----------
    mass : float
        Number of its points.
    mean : ndarray of shape (p,)
    axes : ndarray of shape (p, q) or None
        Orthonormal; None stands for all of space.
    factor : ndarray of shape (q, q)
        Upper triangular C with C C' the inverse of the covariance along the axes.
    ridge : float
        The variance off the axes.
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
        """The component that has these shares in the points; None if it is singular."""
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
            for block in _blocks(len(points)):
                gaps = (points[block] - mean) * weights[block]
                covariance += gaps.T @ gaps
        covariance[np.diag_indices_from(covariance)] += ridge
        if not np.isfinite(covariance).all():
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
        for block in _blocks(len(points)):
            gaps = points[block] - self.mean
            along, scaled = self._project(gaps)
            square = self._products(gaps, gaps, along, along, scaled, scaled)
            log[block] = self.peak - 0.5 * square
        return log

    def expand(self, points: Floats, moves: Floats) -> Floats:
        """Coefficients of the squared distance to the mean, (3, n), by how far points move.

        Distances are in units of the deviation: `log_density` is the peak less half of one.
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
        """The whole matrix."""
        inverse = solve_triangular(self.factor, np.eye(len(self.factor)))
        along = inverse.T @ inverse
        if self.axes is None:
            return np.asarray(along)
        along[np.diag_indices_from(along)] -= self.ridge
        whole = self.axes @ along @ self.axes.T
        whole[np.diag_indices_from(whole)] += self.ridge
        return np.asarray(whole)

    def _project(self, vectors: Floats) -> tuple[Floats, Floats]:
        """Vectors along the axes, and the same in units of the deviation."""
        along = vectors if self.axes is None else vectors @ self.axes
        return along, along @ self.factor

    def _products(
        self, one: Floats, two: Floats, along: Floats, beside: Floats, u: Floats, v: Floats
    ) -> Floats:
        """Products of vectors in units of the deviation, of which u and v are along the axes."""
        products = _dot(u, v)
        if self.axes is not None:
            products += (_dot(one, two) - _dot(along, beside)) / self.ridge
        return products


def _dot(one: Floats, two: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", one, two))


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, n, _BLOCK))


class Components:
    """Components of points, and their densities there.

    Those that have their points alone are kept: in many dimensions nearly all are of this
    kind, and the next step and the next mixture have them again. Where points are many, they
    would be too large to keep.

    Parameters
    ----------
    points : ndarray of shape (n, p)
    ridge : float
        What is added to the variances.
    """

    def __init__(self, points: Floats, ridge: float) -> None:
        self.points, self.ridge = points, ridge
        self._keeps = len(points) <= _BLOCK
        self._made: dict[bytes, Component | None] = {}
        self._logs: dict[int, Floats] = {}

    def of(self, shares: Floats) -> tuple[Component, ...] | None:
        """The components that have these shares in the points; None if one is singular."""
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
    """A fitted mixture; in a subspace, if it has one."""

    components: tuple[Component, ...]
    lower_bound: float
    n_iter: int
    converged: bool
    subspace: Subspace | None = None

    @property
    def weights(self) -> Floats:
        """Of the components."""
        masses = np.array([component.mass for component in self.components])
        return np.asarray(masses / masses.sum())

    @property
    def means(self) -> Floats:
        """Of the components."""
        return np.stack([component.mean for component in self.components])

    @property
    def offsets(self) -> Floats:
        """Log of weight times density at the mean, for each component."""
        peaks = np.array([component.peak for component in self.components])
        return np.asarray(np.log(self.weights) + peaks)

    def covariances(self) -> Floats:
        """Of the components, (k, p, p)."""
        return np.stack([component.covariance() for component in self.components])

    def log_densities(self, at: Components | Floats) -> Floats:
        """Log of weight times density of each component at points, (k, n)."""
        if not isinstance(at, Components):
            at = Components(at, 0.0)
        logs = np.stack([at.log_density(component) for component in self.components])
        return logs + np.log(self.weights)[:, None]

    def predict(self, at: Components | Floats) -> Ints:
        """Component of the highest posterior of each point; ties to the first."""
        return np.asarray(self.log_densities(at).argmax(axis=0))

    def bic(self, points: Floats) -> float:
        """Bayesian information criterion of the mixture; low is good."""
        n, p = points.shape
        k = len(self.components)
        n_parameters = k * p * (p + 1) // 2 + k * p + k - 1
        likelihood = logsumexp(self.log_densities(points), axis=0).sum()
        return float(n_parameters * np.log(n) - 2.0 * likelihood)


def fit_wide(
    components: Components,
    k: int,
    tol: float,
    max_iter: int,
    start: Components,
    start_labels: Ints,
    subspace: Subspace | None = None,
) -> WideMixture | None:
    """Fit a mixture; same steps and same end as scikit-learn's. None if it gets singular.

    Parameters
    ----------
    components : Components
        Of the points.
    k : int
        Number of components.
    tol, max_iter
        As in scikit-learn's GaussianMixture.
    start, start_labels
        Points whose labels give the model to start from, mostly the same.
    subspace : Subspace or None
        Whose coordinates the points are.
    """
    found = start.of((start_labels == np.arange(k)[:, None]).astype(float))
    bound, n_iter, converged = -np.inf, 0, False
    while found is not None:
        model = WideMixture(found, bound, n_iter, converged, subspace)
        if converged or n_iter == max_iter:
            return model
        logs = model.log_densities(components)
        top = logs.max(axis=0)
        shares = np.exp(logs - top)
        total = shares.sum(axis=0)
        shares /= total
        before, bound = bound, float(np.mean(top + np.log(total)))
        n_iter, converged = n_iter + 1, abs(bound - before) < tol
        found = components.of(shares)
    return None


def wide_agreements(
    models: Sequence[WideMixture],
    points: Floats,
    moves: Floats,
    epsilons: Floats,
    labels: Sequence[Ints],
    n_labels: Sequence[int],
) -> Floats:
    """Sums over the contingency tables of labels and of labels of the moved points.

    Parameters
    ----------
    models : sequence of WideMixture
    points, moves : ndarray of shape (n, p)
        Points, and what a noise level multiplies.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    labels : sequence of ndarray of shape (n,)
        For each model reference labels, below its number of `n_labels`.

    Returns
    -------
    ndarray of shape (7, n_models, n_epsilons)
        The fields of `stablek.similarity.Agreement`.
    """
    from stablek.kernels.mixture_extend import count_moved, sum_tables

    tables = [
        np.zeros((len(epsilons), n, len(model.components)), dtype=np.intp)
        for model, n in zip(models, n_labels, strict=True)
    ]
    for block in _blocks(len(points)):
        terms: dict[int, Floats] = {}
        for model, own, table in zip(models, labels, tables, strict=True):
            for component in model.components:
                if id(component) not in terms:
                    terms[id(component)] = component.expand(points[block], moves[block])
            each = np.stack([terms[id(component)] for component in model.components])
            count_moved(each, model.offsets, epsilons, own[block], table)
    return np.stack([sum_tables(table) for table in tables], axis=1)
