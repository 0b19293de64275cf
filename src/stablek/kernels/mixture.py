"""Gaussian mixtures: expectation-maximization and assignment, in blocks of points.

Points are kept feature by feature, so that vector instructions run over points. A model is

- ``weights`` (k,), ``means`` (k, p),
- ``covariances`` and ``factors`` (k, q, p), where q = p for full and tied covariances and
  q = 1 for diagonal and spherical ones, of which the diagonals are kept,
- ``offsets`` (k,): log weight plus the log of the density's factor before the exponential.

A component's factor C is upper triangular with C C' the inverse covariance: the density at x
is ``exp(offset - |(x - mean) C|^2 / 2)``.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit, jit_reordered

__all__ = [
    "DIAG",
    "FULL",
    "SPHERICAL",
    "TIED",
    "assign",
    "block_size",
    "fit",
    "gaps_to",
    "log_density",
    "project",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

FULL, TIED, DIAG, SPHERICAL = range(4)

_LOG_2_PI = 1.8378770664093453
_TINY = 10.0 * 2.220446049250313e-16  # added to the components' masses, as scikit-learn does
_LANES = 16  # products of 256 / 16 factors, each from 1 to k, are far from overflow


@inner
def _exp(x: float) -> float:
    """Exponential of a number that is not positive, to the last bit or so, without branches.

    Adding _SHIFT rounds to an integer and leaves it in the low bits, from where it becomes the
    exponent of the result: loops over this run in vector instructions, unlike the library's.
    """
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    whole = shifted - 6755399441055744.0
    rest = (x - whole * 0.693147180369123816490) - whole * 1.90821492927058770002e-10
    series = 1.0 / 479001600.0
    series = series * rest + 1.0 / 39916800.0
    series = series * rest + 1.0 / 3628800.0
    series = series * rest + 1.0 / 362880.0
    series = series * rest + 1.0 / 40320.0
    series = series * rest + 1.0 / 5040.0
    series = series * rest + 1.0 / 720.0
    series = series * rest + 1.0 / 120.0
    series = series * rest + 1.0 / 24.0
    series = series * rest + 1.0 / 6.0
    series = series * rest + 0.5
    series = series * rest + 1.0
    series = series * rest + 1.0
    bits = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52)
    return series * bits.view(np.float64) if x > -708.0 else 0.0


@inner
def block_size(n_features: int) -> int:
    """Points that are treated together: what the nearest cache holds."""
    return max(16, min(256, 2048 // n_features // 16 * 16))


@inner
def gaps_to(points: Floats, begin: int, size: int, mean: Floats, gaps: Floats) -> None:
    """Points from `begin` on, less a mean."""
    for feature in range(points.shape[0]):
        center = mean[feature]
        source, target = points[feature, begin : begin + size], gaps[feature]
        for i in range(size):
            target[i] = source[i] - center


@inner
def project(gaps: Floats, factor: Floats, column: int, size: int, out: Floats) -> None:
    """Products of the gaps with one column of an upper triangular factor.

    Four features at a time: the sums so far are read and written once for all of them.
    """
    for i in range(size):
        out[i] = 0.0
    end = column + 1
    whole = end - end % 4
    for feature in range(0, whole, 4):
        g0, g1, g2, g3 = gaps[feature], gaps[feature + 1], gaps[feature + 2], gaps[feature + 3]
        c0, c1 = factor[feature, column], factor[feature + 1, column]
        c2, c3 = factor[feature + 2, column], factor[feature + 3, column]
        for i in range(size):
            out[i] = out[i] + g0[i] * c0 + g1[i] * c1 + g2[i] * c2 + g3[i] * c3
    for feature in range(whole, end):
        g0, c0 = gaps[feature], factor[feature, column]
        for i in range(size):
            out[i] += g0[i] * c0


@inner
def log_density(
    gaps: Floats, factor: Floats, offset: float, size: int, y: Floats, out: Floats
) -> None:
    """Log of weight times density at the points with these gaps to the mean."""
    n_features = gaps.shape[0]
    if factor.shape[0] == 1:
        for i in range(size):
            out[i] = 0.0
        for feature in range(n_features):
            gap, c = gaps[feature], factor[0, feature]
            for i in range(size):
                scaled = gap[i] * c
                out[i] += scaled * scaled
    elif n_features == 2:
        one, two = gaps[0], gaps[1]
        a, b, c = factor[0, 0], factor[0, 1], factor[1, 1]
        for i in range(size):
            first, second = one[i] * a, one[i] * b + two[i] * c
            out[i] = first * first + second * second
    else:
        for i in range(size):
            out[i] = 0.0
        for column in range(n_features):
            project(gaps, factor, column, size, y)
            for i in range(size):
                out[i] += y[i] * y[i]
    for i in range(size):
        out[i] = offset - 0.5 * out[i]


@jit_reordered
def _add_moments(gaps: Floats, share: Floats, size: int, sums: Floats, squares: Floats) -> float:
    """Add the moments of points about a component's mean, weighted by its share in them."""
    mass = 0.0
    for i in range(size):
        mass += share[i]
    n_features = gaps.shape[0]
    diagonal = squares.shape[0] == 1
    for feature in range(n_features):
        gap = gaps[feature]
        total = 0.0
        for i in range(size):
            total += share[i] * gap[i]
        sums[feature] += total
        for other in range(feature if diagonal else 0, feature + 1):
            beside = gaps[other]
            total = 0.0
            for i in range(size):
                total += share[i] * gap[i] * beside[i]
            squares[0 if diagonal else other, feature] += total
    return mass


@jit_reordered
def _log_likelihood(top: Floats, total: Floats, size: int) -> float:
    """Sum over points of top + log(total), with few logarithms: those of products."""
    result = 0.0
    for i in range(size):
        result += top[i]
    product = np.ones(_LANES)
    for start in range(0, size, _LANES):
        part = total[start : min(start + _LANES, size)]
        for lane in range(part.shape[0]):
            product[lane] *= part[lane]
    for lane in range(_LANES):
        result += np.log(product[lane])
    return result


@inner
def _step(
    points: Floats,
    means: Floats,
    factors: Floats,
    offsets: Floats,
    masses: Floats,
    sums: Floats,
    squares: Floats,
) -> float:
    """One pass over the points: their mean log-likelihood, and the moments for the next model.

    Moments are taken about the present means, which are near the next ones.
    """
    n_features, n = points.shape
    k = means.shape[0]
    block = block_size(n_features)
    logs, gaps = np.empty((k, block)), np.empty((n_features, block))
    top, total, y = np.empty(block), np.empty(block), np.empty(block)
    _zero(masses, sums, squares)
    likelihood = 0.0
    for begin in range(0, n, block):
        size = min(block, n - begin)
        for component in range(k):
            gaps_to(points, begin, size, means[component], gaps)
            log_density(gaps, factors[component], offsets[component], size, y, logs[component])
        for i in range(size):
            top[i] = logs[0, i]
            total[i] = 0.0
        for component in range(1, k):
            log = logs[component]
            for i in range(size):
                top[i] = log[i] if log[i] > top[i] else top[i]
        for component in range(k):
            log = logs[component]
            for i in range(size):
                log[i] = _exp(log[i] - top[i])
                total[i] += log[i]
        likelihood += _log_likelihood(top, total, size)
        for i in range(size):
            total[i] = 1.0 / total[i]
        for component in range(k):
            share = logs[component]
            for i in range(size):
                share[i] *= total[i]
            gaps_to(points, begin, size, means[component], gaps)
            masses[component] += _add_moments(
                gaps, share, size, sums[component], squares[component]
            )
    average: float = likelihood / n
    return average


@inner
def _zero(masses: Floats, sums: Floats, squares: Floats) -> None:
    for component in range(masses.shape[0]):
        masses[component] = 0.0
        for feature in range(sums.shape[1]):
            sums[component, feature] = 0.0
            for row in range(squares.shape[1]):
                squares[component, row, feature] = 0.0


@inner
def _hard_moments(
    points: Floats, labels: Ints, masses: Floats, means: Floats, sums: Floats, squares: Floats
) -> None:
    """Moments of labeled points about the means of the labels, which are set here."""
    n_features, n = points.shape
    k = masses.shape[0]
    _zero(masses, means, squares)
    for i in range(n):
        masses[labels[i]] += 1.0
    for feature in range(n_features):
        source = points[feature]
        for i in range(n):
            means[labels[i], feature] += source[i]
        for component in range(k):
            means[component, feature] /= max(masses[component], 1.0)
    _zero(masses, sums, squares)
    block = block_size(n_features)
    gaps, share = np.empty((n_features, block)), np.empty(block)
    for begin in range(0, n, block):
        size = min(block, n - begin)
        own = labels[begin : begin + size]
        for component in range(k):
            for i in range(size):
                share[i] = 1.0 if own[i] == component else 0.0
            gaps_to(points, begin, size, means[component], gaps)
            masses[component] += _add_moments(
                gaps, share, size, sums[component], squares[component]
            )


@inner
def _pool(covariances: Floats, mass: float) -> None:
    """Set the first to the sum of all over the mass."""
    for row in range(covariances.shape[1]):
        for column in range(covariances.shape[2]):
            total = 0.0
            for component in range(covariances.shape[0]):
                total += covariances[component, row, column]
            covariances[0, row, column] = total / mass


@inner
def _level(covariances: Floats) -> None:
    """Set each feature's variance to the mean over the features."""
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
def _maximize(
    kind: int,
    reg_covar: float,
    masses: Floats,
    sums: Floats,
    squares: Floats,
    weights: Floats,
    means: Floats,
    covariances: Floats,
    factors: Floats,
    offsets: Floats,
) -> bool:
    """Model of the moments about the old means; whether its covariances are sound."""
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
    for component in range(k):
        weights[component] /= heavy
    if kind == TIED:
        _pool(covariances, heavy)
    elif kind == SPHERICAL:
        _level(covariances)
    for component in range(k):
        if kind == TIED and component > 0:
            _copy(covariances, 0, component)
            _copy(factors, 0, component)
            offsets[component] = offsets[0]
            continue
        covariance = covariances[component]
        for feature in range(n_features):
            covariance[0 if diagonal else feature, feature] += reg_covar
        if diagonal:
            logdet = 0.0
            for feature in range(n_features):
                variance = covariance[0, feature]
                if not 0.0 < variance < np.inf:
                    return False
                factors[component, 0, feature] = 1.0 / np.sqrt(variance)
                logdet -= 0.5 * np.log(variance)
        else:
            for feature in range(n_features):
                for other in range(feature):
                    covariance[feature, other] = covariance[other, feature]
            sound, logdet = _inverse_factor(covariance, factors[component])
            if not sound:
                return False
        offsets[component] = logdet - 0.5 * n_features * _LOG_2_PI
    for component in range(k):
        offsets[component] += np.log(weights[component])
    return True


@inner
def _inverse_factor(covariance: Floats, factor: Floats) -> tuple[bool, float]:
    """Upper triangular C with C C' the inverse of the covariance, and log det C."""
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
        # Column of the inverse of `lower`; transposed it is a row of C.
        for i in range(column, n):
            value = 1.0 if i == column else 0.0
            for m in range(column, i):
                value -= lower[i, m] * factor[column, m]
            factor[column, i] = value / lower[i, i]
    return True, logdet


@jit
def fit(
    points: Floats,
    kind: int,
    tol: float,
    reg_covar: float,
    max_iter: int,
    start_points: Floats,
    start_labels: Ints,
    weights: Floats,
    means: Floats,
    covariances: Floats,
    factors: Floats,
    offsets: Floats,
) -> tuple[bool, float, int, bool]:
    """Fit a mixture; same steps and same end as scikit-learn's.

    Parameters
    ----------
    points : ndarray of shape (p, n)
    kind : int
        FULL, TIED, DIAG or SPHERICAL.
    tol, reg_covar, max_iter
        As in scikit-learn's GaussianMixture.
    start_points : ndarray of shape (p, m)
        Points whose labels give the model to start from; mostly `points`.
    start_labels : ndarray of shape (m,)
        Components of the start points.
    weights, means, covariances, factors, offsets : ndarray
        Output: the model.

    Returns
    -------
    sound : bool
        Whether all covariances were positive definite; if not, the model means nothing.
    lower_bound : float
        Mean log-likelihood before the last update, which is what scikit-learn reports.
    n_iter : int
    converged : bool
    """
    masses, sums, squares = np.empty(weights.shape), np.empty(means.shape), np.empty(factors.shape)
    _hard_moments(start_points, start_labels, masses, means, sums, squares)
    bound, n_iter, converged = -np.inf, 0, False
    while True:
        sound = _maximize(
            kind, reg_covar, masses, sums, squares, weights, means, covariances, factors, offsets
        )
        if converged or not sound or n_iter == max_iter:
            return sound, bound, n_iter, converged
        n_iter += 1
        before = bound
        bound = _step(points, means, factors, offsets, masses, sums, squares)
        converged = abs(bound - before) < tol


@jit
def assign(
    points: Floats, n: int, means: Floats, factors: Floats, offsets: Floats, labels: Ints
) -> None:
    """Component of the highest posterior of each of the first n points; ties to the first."""
    n_features = points.shape[0]
    block = block_size(n_features)
    gaps, y, log = np.empty((n_features, block)), np.empty(block), np.empty(block)
    best = np.empty(block)
    for begin in range(0, n, block):
        size = min(block, n - begin)
        own = labels[begin : begin + size]
        for i in range(size):
            best[i] = -np.inf
            own[i] = 0
        for component in range(means.shape[0]):
            gaps_to(points, begin, size, means[component], gaps)
            log_density(gaps, factors[component], offsets[component], size, y, log)
            for i in range(size):
                higher = log[i] > best[i]
                best[i] = log[i] if higher else best[i]
                own[i] = component if higher else own[i]
