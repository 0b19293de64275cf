"""Gaussian mixtures by kernels: any kind of covariance, for few features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.engines.subspace import Subspace
from stablek.kernels.packed import PackedGroups

__all__ = ["KINDS", "Mixture", "NarrowFitter", "narrow_agreements"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

KINDS = ("full", "tied", "diag", "spherical")  # in the order of the kernels' codes


@dataclass(frozen=True)
class Mixture:
    """A fitted mixture, stored as `stablek.kernels.mixture.densities.Gaussians`.

    ``covariances`` is None where nobody will ask for them. If there is a subspace, the mixture
    is one of coordinates in it.
    """

    weights: Floats
    means: Floats
    covariances: Floats | None
    factors: Floats
    offsets: Floats
    lower_bound: float
    n_iter: int
    converged: bool
    subspace: Subspace | None = None
    _turned: dict[bytes, tuple[Floats, Floats]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def compact(self) -> Mixture:
        """The mixture without what only users ask for."""
        return replace(self, covariances=None)

    def predict(self, points: Floats) -> Ints:
        """Component of highest posterior of each point; ties go to the first."""
        if self.subspace is not None:
            points = self.subspace.coordinates(points)
        return _assign(self, np.ascontiguousarray(points.T))

    def turned(self, deviation: Floats) -> tuple[Floats, Floats]:
        """Factors and growths for points with noise, as `stablek.kernels.mixture.extend` says.

        They are computed once, for all draws.

        Parameters
        ----------
        deviation : ndarray of shape (n_features,)
            Standard deviation of each feature's noise at level 1.

        Returns
        -------
        factors : ndarray of shape (k, q, p)
        growths : ndarray of shape (k, p)
        """
        key = deviation.tobytes()
        if key not in self._turned:
            self._turned[key] = _turn(self.factors, deviation, self.subspace)
        return self._turned[key]

    def at(self, epsilon: float, deviation: Floats | None) -> Mixture:
        """The mixture of points with noise of one level; itself without noise."""
        if epsilon == 0.0 or deviation is None:
            return self
        factors, growths = self.turned(deviation)
        variances = 1.0 + epsilon**2 * growths
        factors = factors / np.sqrt(variances)[:, None]
        if factors.shape[1] > 1:  # upper triangular again: the decomposition RQ, without Q
            upper: Any = np.linalg.qr(factors[:, ::-1].transpose(0, 2, 1), mode="r")
            factors = np.ascontiguousarray(upper.transpose(0, 2, 1)[:, ::-1, ::-1])
        offsets = self.offsets - 0.5 * np.log(variances).sum(axis=1)
        return replace(self, covariances=None, factors=factors, offsets=offsets)


class NarrowFitter:
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
    """

    def __init__(
        self, points: Floats, start_points: Floats, clusterer: Any, subspace: Subspace | None
    ) -> None:
        from stablek.kernels.mixture.densities import Gaussians
        from stablek.kernels.mixture.fit import Rule, fit

        c, kind = clusterer, KINDS.index(clusterer.covariance_type)
        self._fit, self._gaussians = fit, Gaussians
        self._rule = Rule(kind, float(c.tol), float(c.reg_covar), int(c.max_iter))
        self._subspace = subspace
        self._points = self._start = np.ascontiguousarray(points.T)
        if start_points is not points:
            self._start = np.ascontiguousarray(start_points.T)
        p = len(self._points)
        self._shape = (p if c.covariance_type in ("full", "tied") else 1, p)

    def fit(self, k: int, labels: Ints) -> Mixture | None:
        """Mixture from the start that the labels give; None if a covariance is singular."""
        covariances, factors = np.empty((k, *self._shape)), np.empty((k, *self._shape))
        means = np.empty((k, len(self._points)))
        model = self._gaussians(np.empty(k), means, covariances, factors, np.empty(k))
        sound, bound, n_iter, converged = self._fit(
            self._points, self._rule, self._start, labels, model
        )
        return Mixture(*model, bound, n_iter, converged, self._subspace) if sound else None

    def predict(self, model: Mixture) -> Ints:
        """Component of highest posterior of each of the fitted points."""
        return _assign(model, self._points)


def _assign(model: Mixture, points: Floats) -> Ints:
    """Labels of points that are stored feature by feature, in the subspace of the model."""
    from stablek.kernels.mixture.densities import assign

    labels = np.empty(points.shape[1], dtype=np.intp)
    assign(points, model.means, model.factors, model.offsets, labels)
    return labels


def _turn(factors: Floats, deviation: Floats, subspace: Subspace | None) -> tuple[Floats, Floats]:
    """Turn the columns of factors so that noise leaves the coordinates uncorrelated."""
    if factors.shape[1] == 1 and subspace is None:  # the axes of the noise
        return factors, (factors[:, 0] * deviation) ** 2
    tied = bool((factors == factors[0]).all())
    own = factors[:1] if tied else factors
    noise = deviation[:, None] * (own if subspace is None else subspace.axes @ own)
    growths, turns = np.linalg.eigh(noise.transpose(0, 2, 1) @ noise)
    turned, growths = own @ turns, np.maximum(growths, 0.0)
    if tied:
        k = len(factors)
        return np.repeat(turned, k, axis=0), np.repeat(growths, k, axis=0)
    return turned, growths


def narrow_agreements(
    models: Sequence[Mixture],
    X: Floats,
    noise: Floats,
    epsilons: Floats,
    packed: PackedGroups,
    deviation: Floats | None,
) -> Floats:
    """Sums over the contingency tables of reference labels and labels of the noisy points.

    Parameters
    ----------
    models : sequence of Mixture
        Models of all partitions of all groups, in the space of X.
    X, noise : ndarray of shape (n_samples, p)
        Data, and the noise that a noise level multiplies.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    packed : PackedGroups
        The groups.
    deviation : ndarray of shape (n_features,) or None
        Standard deviation of the noise at level 1; None for models that ignore the noise.

    Returns
    -------
    ndarray of shape (7, n_models, n_epsilons)
        The fields of `stablek.similarity.Agreement`.
    """
    from stablek.kernels.mixture.extend import extend_agreements

    if deviation is None:
        factors, growths = [model.factors for model in models], [np.empty((0, X.shape[1]))]
    else:
        turned = [model.turned(deviation) for model in models]
        factors, growths = [f for f, _ in turned], [g for _, g in turned]
    return extend_agreements(
        np.ascontiguousarray(X),
        np.ascontiguousarray(noise),
        np.asarray(epsilons, dtype=np.float64),
        packed,
        np.concatenate([model.means for model in models]),
        np.concatenate(factors),
        np.concatenate([model.offsets for model in models]),
        np.concatenate(growths),
    )
