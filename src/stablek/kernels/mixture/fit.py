"""Expectation-maximization from labeled points."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import jit
from stablek.kernels.mixture.densities import Gaussians
from stablek.kernels.mixture.steps import Moments, expect, hard_moments, maximize

__all__ = ["Rule", "fit"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Rule(NamedTuple):
    """How EM runs: a kind of covariances from `steps`, and parameters of GaussianMixture."""

    kind: int
    tol: float
    reg_covar: float
    max_iter: int


@jit
def fit(
    points: Floats, rule: Rule, start_points: Floats, start_labels: Ints, model: Gaussians
) -> tuple[bool, float, int, bool]:
    """Fit a mixture with the steps and the stopping rule of scikit-learn.

    Parameters
    ----------
    points : ndarray of shape (p, n)
    rule : Rule
    start_points : ndarray of shape (p, m)
        Points whose labels give the first model; usually `points`.
    start_labels : ndarray of shape (m,)
        Components of the start points.
    model : Gaussians
        Output.

    Returns
    -------
    sound : bool
        Whether all covariances were positive definite. If not, the model is meaningless.
    lower_bound : float
        Mean log-likelihood before the last M step, which is what scikit-learn reports.
    n_iter : int
    converged : bool
    """
    moments = Moments(
        np.empty(model.weights.shape), np.empty(model.means.shape), np.empty(model.factors.shape)
    )
    hard_moments(start_points, start_labels, model.means, moments)
    bound, n_iter, converged = -np.inf, 0, False
    while True:
        sound = maximize(rule.kind, rule.reg_covar, moments, model)
        if converged or not sound or n_iter == rule.max_iter:
            return sound, bound, n_iter, converged
        n_iter += 1
        before = bound
        bound = expect(points, model, moments)
        converged = abs(bound - before) < rule.tol
