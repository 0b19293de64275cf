"""Gaussian densities at blocks of points, and the labels of highest posterior.

Points are stored feature by feature, so that vector instructions run over points. The kernels
work on blocks of points that fit into the nearest cache.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit

__all__ = [
    "Gaussians",
    "assign",
    "assign_points",
    "block_size",
    "components_of",
    "gaps_to",
    "gather",
    "log_density",
    "points_of",
    "project",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Gaussians(NamedTuple):
    """The k components of a mixture, as the kernels store them.

    q is p for full and tied covariances. It is 1 for diagonal and spherical covariances, of
    which only the diagonals are stored. The factor C of a component is upper triangular, and
    C C' is the inverse covariance. The weighted density at x is
    ``exp(offset - |(x - mean) C|^2 / 2)``.

    Parameters
    ----------
    weights : ndarray of shape (k,)
    means : ndarray of shape (k, p)
    covariances, factors : ndarray of shape (k, q, p)
    offsets : ndarray of shape (k,)
        Log of the weight plus log of the density at the mean.
    """

    weights: Floats
    means: Floats
    covariances: Floats
    factors: Floats
    offsets: Floats


@inner
def block_size(n_features: int) -> int:
    """Points per block, so that a block fits into the nearest cache."""
    return max(16, min(256, 2048 // n_features // 16 * 16))


@inner
def gather(X: Floats, rows: Ints, points: Floats) -> None:
    """Write rows of X, feature by feature."""
    for feature in range(X.shape[1]):
        for i in range(rows.shape[0]):
            points[feature, i] = X[rows[i], feature]


@inner
def points_of(X: Floats, rows: Ints, starts: Ints, which: int) -> Floats:
    """The points of one of several sets of rows, feature by feature.

    Set i has ``rows[starts[i] : starts[i + 1]]``.
    """
    own = rows[starts[which] : starts[which + 1]]
    points = np.empty((X.shape[1], own.shape[0]))
    gather(X, own, points)
    return points


@inner
def components_of(models: Gaussians, low: int, high: int) -> Gaussians:
    """Some of the components of mixtures that are laid end to end."""
    return Gaussians(
        models.weights[low:high],
        models.means[low:high],
        models.covariances[low:high],
        models.factors[low:high],
        models.offsets[low:high],
    )


@inner
def gaps_to(points: Floats, begin: int, size: int, mean: Floats, gaps: Floats) -> None:
    """Write `size` points, from `begin` on, minus a mean."""
    for feature in range(points.shape[0]):
        center = mean[feature]
        source, target = points[feature, begin : begin + size], gaps[feature]
        for i in range(size):
            target[i] = source[i] - center


@inner
def project(gaps: Floats, factor: Floats, column: int, end: int, size: int, out: Floats) -> None:
    """Multiply the gaps with one column of a factor, whose entries from `end` on are zero.

    The loop takes four features at a time, so that it reads and writes the sums once for four.
    """
    for i in range(size):
        out[i] = 0.0
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
    """Write the log of weight times density at points, given their gaps to the mean."""
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
            project(gaps, factor, column, column + 1, size, y)
            for i in range(size):
                out[i] += y[i] * y[i]
    for i in range(size):
        out[i] = offset - 0.5 * out[i]


@jit
def assign(points: Floats, means: Floats, factors: Floats, offsets: Floats, labels: Ints) -> None:
    """Write the component of highest posterior of each point; ties go to the first."""
    assign_points(points, means, factors, offsets, labels)


@inner
def assign_points(
    points: Floats, means: Floats, factors: Floats, offsets: Floats, labels: Ints
) -> None:
    """`assign` for other kernels."""
    n_features, n = points.shape
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
