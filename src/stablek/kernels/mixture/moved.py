"""Densities of components at points that noise moves, for all noise levels at once.

Components that ignore the noise: the log density at a point x that noise z moves is quadratic in
the noise level e:

    log density(x + e z) = offset - (|u|^2 + 2 e u . w + e^2 |w|^2) / 2,

with u = (x - mean) C and w = z C. So two products with the factor C serve all levels.

Components that know the noise: the covariance of noise of level e is added to theirs. The columns
of the factor are turned so that the coordinates u and w of a component are uncorrelated, with or
without noise. Noise of level e changes the variance of coordinate j from 1 to 1 + e^2 growth_j:

    log density(x + e z) = offset - sum_j ((u_j + e w_j)^2 / (1 + e^2 growth_j)
                                           + log(1 + e^2 growth_j)) / 2.

Again two products serve all levels.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner
from stablek.kernels.mixture.densities import project

__all__ = [
    "expand",
    "in_noise",
    "keep_without_noise",
    "reset",
    "take_higher",
    "take_higher_in_noise",
    "turn",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@inner
def reset(size: int, best: Floats, found: Ints) -> None:
    """Forget what was found for a block of points."""
    for level in range(best.shape[0]):
        for i in range(size):
            best[level, i] = -np.inf
            found[level, i] = 0


@inner
def expand(
    gaps: Floats, moves: Floats, factor: Floats, size: int, u: Floats, w: Floats, terms: Floats
) -> None:
    """Write |u|^2, 2 u . w and |w|^2 of each point for one component."""
    square, cross, own = terms[0], terms[1], terms[2]
    diagonal = factor.shape[0] == 1
    if gaps.shape[0] == 2 and not diagonal:  # the most common case, in one pass
        g0, g1, m0, m1 = gaps[0], gaps[1], moves[0], moves[1]
        a, b, c = factor[0, 0], factor[0, 1], factor[1, 1]
        for i in range(size):
            u0, u1 = g0[i] * a, g0[i] * b + g1[i] * c
            w0, w1 = m0[i] * a, m0[i] * b + m1[i] * c
            square[i] = u0 * u0 + u1 * u1
            cross[i] = 2.0 * (u0 * w0 + u1 * w1)
            own[i] = w0 * w0 + w1 * w1
        return
    for i in range(size):
        square[i] = cross[i] = own[i] = 0.0
    for column in range(gaps.shape[0]):
        if diagonal:
            gap, move, c = gaps[column], moves[column], factor[0, column]
            for i in range(size):
                u[i] = gap[i] * c
                w[i] = move[i] * c
        else:
            project(gaps, factor, column, column + 1, size, u)
            project(moves, factor, column, column + 1, size, w)
        for i in range(size):
            square[i] += u[i] * u[i]
            cross[i] += 2.0 * u[i] * w[i]
            own[i] += w[i] * w[i]


@inner
def take_higher(
    terms: Floats,
    offset: float,
    epsilons: Floats,
    component: int,
    size: int,
    best: Floats,
    found: Ints,
) -> None:
    """Give a component the points where its density is the highest so far, for each level."""
    square, cross, own = terms[0], terms[1], terms[2]
    for level in range(epsilons.shape[0]):
        epsilon, highest, label = epsilons[level], best[level], found[level]
        for i in range(size):
            log = offset - 0.5 * (square[i] + epsilon * (cross[i] + epsilon * own[i]))
            higher = log > highest[i]
            highest[i] = log if higher else highest[i]
            label[i] = component if higher else label[i]


@inner
def in_noise(growths: Floats, offsets: Floats, epsilons: Floats) -> tuple[Floats, Floats]:
    """For each component and level: half of 1 / variance of each coordinate, and the offset."""
    n, n_features = growths.shape
    halves = np.empty((n, epsilons.shape[0], n_features))
    peaks = np.empty((n, epsilons.shape[0]))
    for c in range(n):
        for level in range(epsilons.shape[0]):
            square, total, product = epsilons[level] ** 2, 0.0, 1.0
            for j in range(n_features):
                variance = 1.0 + square * growths[c, j]
                halves[c, level, j] = 0.5 / variance
                product *= variance
                if product > 1e100:  # one log serves many factors, without overflow
                    total += np.log(product)
                    product = 1.0
            peaks[c, level] = offsets[c] - 0.5 * (total + np.log(product))
    return halves, peaks


@inner
def turn(vectors: Floats, factor: Floats, size: int, out: Floats) -> None:
    """Write the coordinates of vectors: their products with all columns of a turned factor."""
    n_features = vectors.shape[0]
    if factor.shape[0] == 1:
        for feature in range(n_features):
            for i in range(size):
                out[feature, i] = vectors[feature, i] * factor[0, feature]
    elif n_features == 2:  # the most common case, in one pass
        one, two, first, second = vectors[0], vectors[1], out[0], out[1]
        a, b, c, d = factor[0, 0], factor[0, 1], factor[1, 0], factor[1, 1]
        for i in range(size):
            first[i] = one[i] * a + two[i] * c
            second[i] = one[i] * b + two[i] * d
    else:
        for column in range(0, n_features - 1, 2):
            _project_two(vectors, factor, column, size, out[column], out[column + 1])
        if n_features % 2:
            last = n_features - 1
            project(vectors, factor, last, n_features, size, out[last])


@inner
def _project_two(
    vectors: Floats, factor: Floats, column: int, size: int, one: Floats, two: Floats
) -> None:
    """Multiply vectors with two columns, four features at a time: half as many reads."""
    n_features = vectors.shape[0]
    whole = n_features - n_features % 4
    for i in range(size):
        one[i] = two[i] = 0.0
    for f in range(0, whole, 4):
        x0, x1, x2, x3 = vectors[f], vectors[f + 1], vectors[f + 2], vectors[f + 3]
        a0, a1 = factor[f, column], factor[f + 1, column]
        a2, a3 = factor[f + 2, column], factor[f + 3, column]
        b0, b1 = factor[f, column + 1], factor[f + 1, column + 1]
        b2, b3 = factor[f + 2, column + 1], factor[f + 3, column + 1]
        for i in range(size):
            one[i] = one[i] + x0[i] * a0 + x1[i] * a1 + x2[i] * a2 + x3[i] * a3
            two[i] = two[i] + x0[i] * b0 + x1[i] * b1 + x2[i] * b2 + x3[i] * b3
    for f in range(whole, n_features):
        x0, a0, b0 = vectors[f], factor[f, column], factor[f, column + 1]
        for i in range(size):
            one[i] += x0[i] * a0
            two[i] += x0[i] * b0


@inner
def take_higher_in_noise(
    u: Floats,
    w: Floats,
    halves: Floats,
    peaks: Floats,
    epsilons: Floats,
    component: int,
    size: int,
    log: Floats,
    best: Floats,
    found: Ints,
) -> None:
    """`take_higher` for a component that knows the noise. Level 0 is left out."""
    n_features = u.shape[0]
    for level in range(epsilons.shape[0]):
        epsilon, peak, highest, label = epsilons[level], peaks[level], best[level], found[level]
        if epsilon == 0.0:
            continue
        if n_features == 2:
            u0, u1, w0, w1 = u[0], u[1], w[0], w[1]
            h0, h1 = halves[level, 0], halves[level, 1]
            for i in range(size):
                d0, d1 = u0[i] + epsilon * w0[i], u1[i] + epsilon * w1[i]
                value = peak - (d0 * d0 * h0 + d1 * d1 * h1)
                higher = value > highest[i]
                highest[i] = value if higher else highest[i]
                label[i] = component if higher else label[i]
            continue
        _log_in_noise(u, w, halves[level], peak, epsilon, size, log)
        for i in range(size):
            higher = log[i] > highest[i]
            highest[i] = log[i] if higher else highest[i]
            label[i] = component if higher else label[i]


@inner
def _log_in_noise(
    u: Floats, w: Floats, half: Floats, peak: float, epsilon: float, size: int, log: Floats
) -> None:
    """Write the log density at points moved by noise of one level, two features at a time."""
    n_features = u.shape[0]
    for i in range(size):
        log[i] = peak
    if n_features % 2:
        u0, w0, h0 = u[n_features - 1], w[n_features - 1], half[n_features - 1]
        for i in range(size):
            d0 = u0[i] + epsilon * w0[i]
            log[i] -= d0 * d0 * h0
    for j in range(0, n_features - 1, 2):
        u0, u1, w0, w1, h0, h1 = u[j], u[j + 1], w[j], w[j + 1], half[j], half[j + 1]
        for i in range(size):
            d0, d1 = u0[i] + epsilon * w0[i], u1[i] + epsilon * w1[i]
            log[i] -= d0 * d0 * h0 + d1 * d1 * h1


@inner
def keep_without_noise(epsilons: Floats, labels: Ints, size: int, found: Ints) -> None:
    """Points that do not move keep their reference labels."""
    for level in range(epsilons.shape[0]):
        if epsilons[level] == 0.0:
            for i in range(size):
                found[level, i] = labels[i]
