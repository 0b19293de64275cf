"""The M step of expectation-maximization: it turns moments into a mixture."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner
from stablek.kernels.mixture.densities import Gaussians
from stablek.kernels.mixture.expectation import Moments

__all__ = ["DIAG", "FULL", "SPHERICAL", "TIED", "maximize"]

Floats = NDArray[np.float64]

FULL, TIED, DIAG, SPHERICAL = range(4)

_LOG_2_PI = 1.8378770664093453
_TINY = 10.0 * 2.220446049250313e-16  # scikit-learn adds this to the masses of components


@inner
def maximize(kind: int, reg_covar: float, moments: Moments, model: Gaussians) -> bool:
    """Take the M step: write the model; return whether all covariances are positive definite.

    The moments are about the means that the model has on entry.
    """
    weights, _, covariances, factors, offsets = model
    n_features = model.means.shape[1]
    total = _divide_moments(kind, moments, model)
    if kind == TIED:
        _pool(covariances, total)
    elif kind == SPHERICAL:
        _average_features(covariances)
    for component in range(weights.shape[0]):
        weights[component] /= total
        if kind == TIED and component > 0:
            _copy(covariances, 0, component)
            _copy(factors, 0, component)
            offsets[component] = offsets[0]
            continue
        sound, logdet = _factor(covariances[component], reg_covar, factors[component])
        if not sound:
            return False
        offsets[component] = logdet - 0.5 * n_features * _LOG_2_PI
    for component in range(weights.shape[0]):
        offsets[component] += np.log(weights[component])
    return True


@inner
def _divide_moments(kind: int, moments: Moments, model: Gaussians) -> float:
    """Write masses as weights, means, and covariances, all about the new means.

    Returns the total mass. Tied covariances are not divided by masses.
    """
    masses, sums, squares = moments
    weights, means, covariances, _, _ = model
    k, n_features = means.shape
    diagonal = squares.shape[1] == 1
    move = np.empty(n_features)  # of the mean
    heavy = 0.0
    for component in range(k):
        mass = masses[component] + _TINY
        heavy += mass
        weights[component] = mass
        total = sums[component]
        for feature in range(n_features):
            old = means[component, feature]
            means[component, feature] = (total[feature] + masses[component] * old) / mass
            move[feature] = means[component, feature] - old
        for feature in range(n_features):
            for other in range(feature if diagonal else 0, feature + 1):
                at = 0 if diagonal else other
                value = squares[component, at, feature]
                value -= total[feature] * move[other] + move[feature] * total[other]
                value += masses[component] * move[feature] * move[other]
                covariances[component, at, feature] = value if kind == TIED else value / mass
    return heavy


@inner
def _pool(covariances: Floats, mass: float) -> None:
    """Set the first covariance to the sum of all over the mass."""
    for row in range(covariances.shape[1]):
        for column in range(covariances.shape[2]):
            total = 0.0
            for component in range(covariances.shape[0]):
                total += covariances[component, row, column]
            covariances[0, row, column] = total / mass


@inner
def _average_features(covariances: Floats) -> None:
    """Set the variance of each feature to the mean variance of the component's features."""
    for component in range(covariances.shape[0]):
        variances = covariances[component, 0]
        total = 0.0
        for feature in range(variances.shape[0]):
            total += variances[feature]
        for feature in range(variances.shape[0]):
            variances[feature] = total / variances.shape[0]


@inner
def _copy(matrices: Floats, source: int, target: int) -> None:
    for row in range(matrices.shape[1]):
        for column in range(matrices.shape[2]):
            matrices[target, row, column] = matrices[source, row, column]


@inner
def _factor(covariance: Floats, reg_covar: float, factor: Floats) -> tuple[bool, float]:
    """Complete a covariance and write its factor C; whether it has one, and log det C."""
    n_features = covariance.shape[1]
    diagonal = covariance.shape[0] == 1
    for feature in range(n_features):
        covariance[0 if diagonal else feature, feature] += reg_covar
    if not diagonal:
        for feature in range(n_features):
            for other in range(feature):
                covariance[feature, other] = covariance[other, feature]
        if n_features == 2:  # the most common case
            return _inverse_factor_in_plane(covariance, factor)
        return _inverse_factor(covariance, factor)
    logdet = 0.0
    for feature in range(n_features):
        variance = covariance[0, feature]
        if not 0.0 < variance < np.inf:
            return False, 0.0
        factor[0, feature] = 1.0 / np.sqrt(variance)
        logdet -= 0.5 * np.log(variance)
    return True, logdet


@inner
def _inverse_factor_in_plane(covariance: Floats, factor: Floats) -> tuple[bool, float]:
    """`_inverse_factor` for two features."""
    if not 0.0 < covariance[0, 0] < np.inf:
        return False, 0.0
    first = np.sqrt(covariance[0, 0])
    beside = covariance[1, 0] / first
    rest = covariance[1, 1] - beside * beside
    if not 0.0 < rest < np.inf:
        return False, 0.0
    second = np.sqrt(rest)
    factor[0, 0], factor[1, 1] = 1.0 / first, 1.0 / second
    factor[0, 1], factor[1, 0] = -beside * factor[0, 0] / second, 0.0
    return True, -np.log(first) - np.log(second)


@inner
def _inverse_factor(covariance: Floats, factor: Floats) -> tuple[bool, float]:
    """Write the upper triangular C with C C' the inverse of the covariance; return log det C."""
    n = covariance.shape[0]
    lower = np.zeros((n, n))
    logdet = 0.0
    for i in range(n):
        for j in range(i + 1):
            value = covariance[i, j]
            for m in range(j):
                value -= lower[i, m] * lower[j, m]
            if i > j:
                lower[i, j] = value / lower[j, j]
            elif 0.0 < value < np.inf:
                lower[i, i] = np.sqrt(value)
                logdet -= np.log(lower[i, i])
            else:
                return False, 0.0
    for column in range(n):
        for i in range(n):
            factor[column, i] = 0.0
        # A column of the inverse of `lower`, transposed, is a row of C.
        for i in range(column, n):
            value = 1.0 if i == column else 0.0
            for m in range(column, i):
                value -= lower[i, m] * factor[column, m]
            factor[column, i] = value / lower[i, i]
    return True, logdet
