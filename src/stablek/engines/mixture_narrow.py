"""Gaussian mixtures by kernels: any kind of covariance, for few features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
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

    def compact(self) -> Mixture:
        """The mixture without what only users ask for."""
        return replace(self, covariances=None)

    def predict(self, points: Floats) -> Ints:
        """Component of highest posterior of each point; ties go to the first."""
        if self.subspace is not None:
            points = self.subspace.coordinates(points)
        return _assign(self, np.ascontiguousarray(points.T))


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


def narrow_agreements(
    models: Sequence[Mixture], X: Floats, noise: Floats, epsilons: Floats, packed: PackedGroups
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

    Returns
    -------
    ndarray of shape (7, n_models, n_epsilons)
        The fields of `stablek.similarity.Agreement`.
    """
    from stablek.kernels.mixture.extend import extend_agreements

    return extend_agreements(
        np.ascontiguousarray(X),
        np.ascontiguousarray(noise),
        np.asarray(epsilons, dtype=np.float64),
        packed,
        np.concatenate([model.means for model in models]),
        np.concatenate([model.factors for model in models]),
        np.concatenate([model.offsets for model in models]),
    )
