"""Full Gaussian mixtures in many dimensions, by matrix products.

A component with fewer points than features varies along as many axes as it has points; off
these its covariance is ``reg_covar`` alone. So its axes are kept instead of the whole matrix,
and it costs features times points, not features times features, for each point that it judges.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.special import logsumexp

from stablek.engines.frames import Frame

__all__ = ["Component", "WideMixture", "fit_wide", "is_wide"]

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


@dataclass(frozen=True)
class Component:
    """One Gaussian of a mixture.

    Parameters
    ----------
    weight : float
    mean : ndarray of shape (p,)
    axes : ndarray of shape (p, q) or None
        Orthonormal; None stands for all of space.
    factor : ndarray of shape (q, q)
        Upper triangular C with C C' the inverse of the covariance along the axes.
    ridge : float
        The variance off the axes.
    offset : float
        Log of weight times density at the mean.
    """

    weight: float
    mean: Floats
    axes: Floats | None
    factor: Floats
    ridge: float
    offset: float

    @classmethod
    def of(cls, points: Floats, share: Floats, ridge: float, total: float) -> Component | None:
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
        logdet = -np.log(np.diagonal(lower)).sum()
        if axes is not None:
            logdet -= 0.5 * (p - len(own)) * np.log(ridge)
        factor = solve_triangular(lower, np.eye(len(lower)), lower=True).T
        weight = mass / total
        offset = np.log(weight) + logdet - 0.5 * p * np.log(2.0 * np.pi)
        return cls(weight, mean, axes, np.ascontiguousarray(factor), ridge, float(offset))

    def log_density(self, points: Floats) -> Floats:
        """Log of weight times density at the points."""
        gaps = points - self.mean
        along, scaled = self._project(gaps)
        square = self._products(gaps, gaps, along, along, scaled, scaled)
        return np.asarray(self.offset - 0.5 * square)

    def expand(self, points: Floats, moves: Floats) -> Floats:
        """Coefficients of the squared distance to the mean, (3, n), by how far points move.

        Distances are in units of the deviation: `log_density` is the offset less half of one.
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


@dataclass(frozen=True)
class WideMixture:
    """A fitted mixture; in a frame, if it has one."""

    components: tuple[Component, ...]
    lower_bound: float
    n_iter: int
    converged: bool
    frame: Frame | None = None

    @property
    def weights(self) -> Floats:
        """Of the components."""
        return np.array([component.weight for component in self.components])

    @property
    def means(self) -> Floats:
        """Of the components."""
        return np.stack([component.mean for component in self.components])

    def covariances(self) -> Floats:
        """Of the components, (k, p, p)."""
        return np.stack([component.covariance() for component in self.components])

    def log_densities(self, points: Floats) -> Floats:
        """Log of weight times density of each component, (k, n)."""
        logs = np.empty((len(self.components), len(points)))
        for block in _blocks(len(points)):
            for component, log in zip(self.components, logs, strict=True):
                log[block] = component.log_density(points[block])
        return logs

    def predict(self, points: Floats) -> Ints:
        """Component of the highest posterior of each point; ties to the first."""
        return np.asarray(self.log_densities(points).argmax(axis=0))

    def bic(self, points: Floats) -> float:
        """Bayesian information criterion of the mixture; low is good."""
        n, p = points.shape
        k = len(self.components)
        n_parameters = k * p * (p + 1) // 2 + k * p + k - 1
        likelihood = logsumexp(self.log_densities(points), axis=0).sum()
        return float(n_parameters * np.log(n) - 2.0 * likelihood)

    def agreements(
        self, points: Floats, moves: Floats, epsilons: Floats, labels: Ints, n_labels: int
    ) -> Floats:
        """Sums over the contingency tables of labels and of labels of the moved points.

        Parameters
        ----------
        points, moves : ndarray of shape (n, p)
            Points, and what a noise level multiplies.
        epsilons : ndarray of shape (n_epsilons,)
            Noise levels.
        labels : ndarray of shape (n,)
            Reference labels, below `n_labels`.

        Returns
        -------
        ndarray of shape (7, n_epsilons)
            The fields of `stablek.similarity.Agreement`.
        """
        from stablek.kernels.mixture_extend import count_moved, sum_tables

        offsets = np.array([component.offset for component in self.components])
        tables = np.zeros((len(epsilons), n_labels, len(offsets)), dtype=np.intp)
        for block in _blocks(len(points)):
            near, by = points[block], moves[block]
            terms = np.stack([component.expand(near, by) for component in self.components])
            count_moved(terms, offsets, epsilons, labels[block], tables)
        return np.asarray(sum_tables(tables))


def _blocks(n: int) -> Iterator[slice]:
    return (slice(start, start + _BLOCK) for start in range(0, n, _BLOCK))


def fit_wide(
    points: Floats,
    k: int,
    tol: float,
    reg_covar: float,
    max_iter: int,
    start_points: Floats,
    start_labels: Ints,
    frame: Frame | None = None,
) -> WideMixture | None:
    """Fit a mixture; same steps and same end as scikit-learn's. None if it gets singular.

    Parameters
    ----------
    points : ndarray of shape (n, p)
    k : int
        Number of components.
    tol, reg_covar, max_iter
        As in scikit-learn's GaussianMixture.
    start_points, start_labels : ndarray of shape (m, p) and (m,)
        Points whose labels give the model to start from; mostly `points`.
    frame : Frame or None
        Whose coordinates the points are.
    """
    shares = (start_labels == np.arange(k)[:, None]).astype(float)
    components = _maximise(start_points, shares, reg_covar)
    bound, n_iter, converged = -np.inf, 0, False
    while components is not None:
        model = WideMixture(components, bound, n_iter, converged, frame)
        if converged or n_iter == max_iter:
            return model
        logs = model.log_densities(points)
        top = logs.max(axis=0)
        shares = np.exp(logs - top)
        total = shares.sum(axis=0)
        shares /= total
        before, bound = bound, float(np.mean(top + np.log(total)))
        n_iter, converged = n_iter + 1, abs(bound - before) < tol
        components = _maximise(points, shares, reg_covar)
    return None


def _maximise(points: Floats, shares: Floats, ridge: float) -> tuple[Component, ...] | None:
    """The components that have these shares in the points; None if one is singular."""
    total = float(shares.sum()) + len(shares) * _TINY
    found = []
    for share in shares:
        component = Component.of(points, share, ridge, total)
        if component is None:
            return None
        found.append(component)
    return tuple(found)
