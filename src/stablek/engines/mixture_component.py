"""One Gaussian of a mixture with many features, with and without noise.

A component with fewer points than features varies only along the axes that its points span. Off
these axes its covariance is ``reg_covar`` alone. So only the axes are stored.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular

from stablek.blocks import blocks
from stablek.engines.subspace import Subspace

__all__ = ["Component", "Growth", "row_blocks"]

Floats = NDArray[np.float64]

_BLOCK = 1 << 12  # rows per block, which bounds the memory for many points
_TINY = 10.0 * np.finfo(float).eps  # scikit-learn adds this to the masses of components


def row_blocks(n: int, n_levels: int = 1) -> Iterator[slice]:
    """Blocks of n rows. They are smaller if there are numbers for many noise levels."""
    return blocks(n, max(1, _BLOCK // n_levels))


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
    _growths: dict[bytes, Growth] = field(default_factory=dict, init=False, repr=False)

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
            for block in row_blocks(len(points)):
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
        factor = np.ascontiguousarray(_inverse(lower, lower=True).T)
        return cls(mass, mean, axes, factor, ridge, float(peak))

    def log_density(self, points: Floats) -> Floats:
        """Log of the density at the points."""
        log = np.empty(len(points))
        for block in row_blocks(len(points)):
            gaps = points[block] - self.mean
            along, scaled = self._project(gaps)
            square = self._products(gaps, gaps, along, along, scaled, scaled)
            log[block] = self.peak - 0.5 * square
        return log

    def moved(
        self, points: Floats, moves: Floats, epsilons: Floats, growth: Growth | None
    ) -> Floats:
        """Log of the density at points that noise moves, (n, n_epsilons)."""
        gaps, squares = points - self.mean, epsilons**2
        along = gaps if self.axes is None else gaps @ self.axes
        beside = moves if self.axes is None else moves @ self.axes
        factor = self.factor if growth is None else growth.factor
        u, w = along @ factor, beside @ factor
        variances = np.ones((len(factor), 1))
        if growth is not None:
            variances = 1.0 + growth.along[:, None] * squares
        shares = 1.0 / variances
        total = (u * u) @ shares + epsilons * (2.0 * u * w @ shares) + squares * (w * w @ shares)
        total += np.log(variances).sum(axis=0)
        if self.axes is not None:
            ridge = self.ridge + (0.0 if growth is None else growth.off) * squares
            rest = _dot(gaps, gaps) - _dot(along, along)
            cross = 2.0 * (_dot(gaps, moves) - _dot(along, beside))
            own = _dot(moves, moves) - _dot(beside, beside)
            total += (rest[:, None] + epsilons * cross[:, None] + squares * own[:, None]) / ridge
            n_off = points.shape[1] - self.axes.shape[1]
            total += n_off * np.log(ridge / self.ridge)
        return np.asarray(self.peak - 0.5 * total)

    def growth(self, deviation: Floats, subspace: Subspace | None) -> Growth:
        """How noise adds to the covariance; computed once, for all draws.

        Parameters
        ----------
        deviation : ndarray of shape (n_features,)
            Standard deviation of each feature's noise at level 1.
        subspace : Subspace or None
            Of the mixture.
        """
        key = deviation.tobytes()
        if key not in self._growths:
            self._growths[key] = Growth.of(self, deviation, subspace)
        return self._growths[key]

    def at(self, epsilon: float, growth: Growth) -> Component:
        """The component of points with noise of one level."""
        variances = 1.0 + epsilon**2 * growth.along
        ridge, peak = self.ridge, self.peak - 0.5 * np.log(variances).sum()
        if self.axes is not None:
            ridge += epsilon**2 * growth.off
            n_off = self.axes.shape[0] - self.axes.shape[1]
            peak -= 0.5 * n_off * np.log(ridge / self.ridge)
        factor = growth.factor / np.sqrt(variances)
        return replace(self, factor=factor, ridge=float(ridge), peak=float(peak))

    def covariance(self) -> Floats:
        """Covariance as a (p, p) matrix."""
        inverse = _inverse(self.factor, lower=False)
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


@dataclass(frozen=True)
class Growth:
    """How noise of level epsilon adds to the covariance of a component.

    Along the axes the covariance of the noise is added as it is. Off the axes the noise has its
    mean variance in all directions. Correlations of the noise between the two are left out. All
    this is exact if the noise has the same deviation in all features.

    Parameters
    ----------
    factor : ndarray of shape (q, q)
        The component's factor, turned so that noise leaves the coordinates uncorrelated.
    along : ndarray of shape (q,)
        The variance of coordinate j is 1 + epsilon^2 along_j.
    off : float
        The variance off the axes is ridge + epsilon^2 off.
    """

    factor: Floats
    along: Floats
    off: float

    @classmethod
    def of(cls, component: Component, deviation: Floats, subspace: Subspace | None) -> Growth:
        """Growth of a component, in the subspace if there is one."""
        axes, off = component.axes, 0.0
        basis = np.eye(len(component.mean)) if axes is None else axes
        noise = deviation[:, None] * (basis if subspace is None else subspace.axes @ basis)
        if axes is not None:
            whole = deviation if subspace is None else deviation[:, None] * subspace.axes
            n_off = axes.shape[0] - axes.shape[1]
            off = max(float((whole**2).sum() - (noise**2).sum()) / n_off, 0.0)
        noise = noise @ component.factor
        along, turns = np.linalg.eigh(noise.T @ noise)
        return cls(component.factor @ turns, np.maximum(along, 0.0), off)


def _inverse(triangle: Floats, *, lower: bool) -> Floats:
    if not triangle.size:  # equal points span no axis; old versions of scipy refuse them
        return triangle
    return np.asarray(solve_triangular(triangle, np.eye(len(triangle)), lower=lower))


def _dot(one: Floats, two: Floats) -> Floats:
    return np.asarray(np.einsum("ij,ij->i", one, two))
