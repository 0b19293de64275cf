"""Expectation-maximization from labeled points, for many sets of points in one call."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit
from stablek.kernels.mixture.densities import (
    Gaussians,
    assign_points,
    components_of,
    points_of,
)
from stablek.kernels.mixture.expectation import Moments, expect, hard_moments, room_for
from stablek.kernels.mixture.maximization import maximize

__all__ = ["Fits", "Report", "Rows", "Rule", "fit_likeliest"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


class Rule(NamedTuple):
    """How EM runs: a kind of covariances from `maximization`, parameters of GaussianMixture."""

    kind: int
    tol: float
    reg_covar: float
    max_iter: int


class Rows(NamedTuple):
    """Sets of rows of X, laid end to end: set i has ``rows[starts[i] : starts[i + 1]]``."""

    rows: Ints
    starts: Ints


class Fits(NamedTuple):
    """What to fit, and from which labels.

    Parameters
    ----------
    sets : ndarray of shape (n_fits,)
        The set of points of each fit, and of its start points.
    k_values : ndarray of shape (n_fits,)
        Number of components of each fit.
    n_starts : ndarray of shape (n_fits,)
        Number of starts of each fit.
    labels : ndarray
        Labels of the start points of every start of every fit, laid end to end.
    """

    sets: Ints
    k_values: Ints
    n_starts: Ints
    labels: Ints


class Report(NamedTuple):
    """How the likeliest start of each fit ended; arrays of shape (n_fits,).

    Parameters
    ----------
    sound : ndarray of bool
        Whether the covariances of all starts were positive definite.
    lower_bounds : ndarray
        Mean log-likelihood before the last M step, which is what scikit-learn reports.
    n_iter : ndarray of int
    converged : ndarray of bool
    """

    sound: NDArray[np.bool_]
    lower_bounds: Floats
    n_iter: Ints
    converged: NDArray[np.bool_]


@jit
def fit_likeliest(
    X: Floats,
    points: Rows,
    start_points: Rows,
    fits: Fits,
    rule: Rule,
    models: Gaussians,
    labels: Ints,
    report: Report,
) -> None:
    """Fit mixtures from each of their starts, and keep the likeliest of each fit.

    Parameters
    ----------
    X : ndarray of shape (n_samples, p)
    points : Rows
        The sets of points.
    start_points : Rows
        For each set, the points that have labels to start from; usually the same points.
    fits : Fits
    rule : Rule
    models : Gaussians
        Output: the components of all fits, laid end to end.
    labels : ndarray
        Output: labels of the points of every fit, laid end to end.
    report : Report
        Output. If a fit is not sound, its model and its labels are meaningless.
    """
    n_features, rank = X.shape[1], models.factors.shape[1]
    current = -1  # the set whose points are at hand
    own = start = np.empty((n_features, 0))
    component = first_label = first_start = 0
    for f in range(fits.sets.shape[0]):
        if fits.sets[f] != current:
            current = fits.sets[f]
            own = points_of(X, points.rows, points.starts, current)
            start = points_of(X, start_points.rows, start_points.starts, current)
        k, n, m = fits.k_values[f], own.shape[1], start.shape[1]
        best = components_of(models, component, component + k)
        trial = best
        if fits.n_starts[f] > 1:
            trial = _room(k, rank, n_features)
        report.sound[f], report.lower_bounds[f] = True, -np.inf
        named = np.empty((fits.n_starts[f], m), np.int32)
        for s in range(fits.n_starts[f]):
            start_labels = fits.labels[first_start : first_start + m]
            first_start += m
            if _repeats(start_labels, k, s, named):
                continue
            sound, bound, n_iter, converged = _fit(own, rule, start, start_labels, trial)
            report.sound[f] &= sound
            if report.lower_bounds[f] < bound:
                report.lower_bounds[f], report.n_iter[f] = bound, n_iter
                report.converged[f] = converged
                if fits.n_starts[f] > 1:
                    _copy_model(trial, best)
        found = labels[first_label : first_label + n]
        if report.sound[f]:
            assign_points(own, best.means, best.factors, best.offsets, found)
        component += k
        first_label += n


@inner
def _repeats(labels: Ints, k: int, s: int, named: Ints) -> bool:
    """Whether start s is a partition that an earlier start was: it would give the same mixture.

    Row s of `named` gets the labels with clusters numbered in the order of their first points.
    """
    names, n_names = np.full(k, -1, np.int32), 0
    for i in range(labels.shape[0]):
        if names[labels[i]] < 0:
            names[labels[i]] = n_names
            n_names += 1
        named[s, i] = names[labels[i]]
    repeats = False
    for earlier in range(s):
        n_same = 0
        for i in range(labels.shape[0]):
            n_same += named[earlier, i] == named[s, i]
        repeats |= n_same == labels.shape[0]
    return repeats


@inner
def _room(k: int, rank: int, n_features: int) -> Gaussians:
    """Memory for a mixture of k components."""
    return Gaussians(
        np.empty(k),
        np.empty((k, n_features)),
        np.empty((k, rank, n_features)),
        np.empty((k, rank, n_features)),
        np.empty(k),
    )


@inner
def _copy_model(source: Gaussians, target: Gaussians) -> None:
    target.weights[:] = source.weights
    target.means[:] = source.means
    target.covariances[:] = source.covariances
    target.factors[:] = source.factors
    target.offsets[:] = source.offsets


@inner
def _fit(
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
    lower_bound, n_iter, converged
        As in `Report`.
    """
    moments = Moments(
        np.empty(model.weights.shape), np.empty(model.means.shape), np.empty(model.factors.shape)
    )
    room = room_for(model.weights.shape[0], points.shape[0])
    hard_moments(start_points, start_labels, model.means, moments)
    bound, n_iter, converged = -np.inf, 0, False
    while True:
        sound = maximize(rule.kind, rule.reg_covar, moments, model)
        if converged or not sound or n_iter == rule.max_iter:
            return sound, bound, n_iter, converged
        n_iter += 1
        before = bound
        bound = expect(points, model, moments, room)
        converged = abs(bound - before) < rule.tol
