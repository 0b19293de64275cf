"""The E step of expectation-maximization.

It sums moments of the points, weighted by the share of each component in them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, inner_reordered
from stablek.kernels.mixture.densities import Gaussians, block_size, gaps_to, log_density

__all__ = ["Moments", "Room", "expect", "hard_moments", "room_for"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_LANES = 16  # four lanes are a product of 64 factors at most, each from 1 to k: no overflow


class Moments(NamedTuple):
    """Weighted moments of points about the means of the components.

    Parameters
    ----------
    masses : ndarray of shape (k,)
        Sums of weights.
    sums : ndarray of shape (k, p)
        Weighted sums of the gaps to the mean.
    squares : ndarray of shape (k, q, p)
        Weighted sums of products of gaps; upper triangles, or diagonals if q is 1.
    """

    masses: Floats
    sums: Floats
    squares: Floats


@inner
def _exp(x: float) -> float:
    """Exponential of a non-positive number, accurate to about the last bit, without branches.

    Adding the large constant rounds to an integer, which the low bits then hold. From there it
    becomes the exponent of the result. Unlike the library's function, this one lets loops run
    in vector instructions.
    """
    shifted = x * 1.4426950408889634 + 6755399441055744.0
    whole = shifted - 6755399441055744.0
    rest = (x - whole * 0.693147180369123816490) - whole * 1.90821492927058770002e-10
    # The series by powers of two of `rest`: terms that do not wait for each other.
    two = rest * rest
    four = two * two
    low = 0.5 + rest * (1.0 / 6.0)
    middle = (1.0 / 24.0 + rest * (1.0 / 120.0)) + two * (1.0 / 720.0 + rest * (1.0 / 5040.0))
    high = (1.0 / 40320.0 + rest * (1.0 / 362880.0)) + two * (
        1.0 / 3628800.0 + rest * (1.0 / 39916800.0)
    )
    high += four * (1.0 / 479001600.0)
    series = 1.0 + (rest + two * (low + two * (middle + four * high)))
    bits = np.int64((np.float64(shifted).view(np.int64) + 1023) << 52)
    return series * bits.view(np.float64) if x > -708.0 else 0.0


@inner_reordered
def _add_moments(
    gaps: Floats, share: Floats, size: int, weighted: Floats, sums: Floats, squares: Floats
) -> float:
    """Add the moments of a block of points for one component; return their mass.

    The loop over pairs of features takes four pairs at a time, so that it reads the weighted gaps
    once for four. `weighted` is scratch.
    """
    mass = 0.0
    for i in range(size):
        mass += share[i]
    for feature in range(gaps.shape[0]):
        gap = gaps[feature]
        total = 0.0
        for i in range(size):
            weighted[i] = share[i] * gap[i]
            total += weighted[i]
        sums[feature] += total
        if squares.shape[0] == 1:
            total = 0.0
            for i in range(size):
                total += weighted[i] * gap[i]
            squares[0, feature] += total
            continue
        whole = (feature + 1) // 4 * 4
        for other in range(0, whole, 4):
            g0, g1, g2, g3 = gaps[other], gaps[other + 1], gaps[other + 2], gaps[other + 3]
            t0 = t1 = t2 = t3 = 0.0
            for i in range(size):
                t0 += weighted[i] * g0[i]
                t1 += weighted[i] * g1[i]
                t2 += weighted[i] * g2[i]
                t3 += weighted[i] * g3[i]
            squares[other, feature] += t0
            squares[other + 1, feature] += t1
            squares[other + 2, feature] += t2
            squares[other + 3, feature] += t3
        for other in range(whole, feature + 1):
            beside = gaps[other]
            total = 0.0
            for i in range(size):
                total += weighted[i] * beside[i]
            squares[other, feature] += total
    return mass


@inner
def _log_density_in_plane(
    points: Floats,
    begin: int,
    size: int,
    mean: Floats,
    factor: Floats,
    offset: float,
    out: Floats,
    top: Floats,
) -> None:
    """`log_density` for two features and a whole covariance; `top` is the highest so far."""
    one, two = points[0, begin : begin + size], points[1, begin : begin + size]
    m0, m1, a, b, c = mean[0], mean[1], factor[0, 0], factor[0, 1], factor[1, 1]
    for i in range(size):
        g0, g1 = one[i] - m0, two[i] - m1
        first, second = g0 * a, g0 * b + g1 * c
        log = offset - 0.5 * (first * first + second * second)
        out[i] = log
        top[i] = log if log > top[i] else top[i]


@inner_reordered
def _add_moments_in_plane(
    points: Floats,
    begin: int,
    size: int,
    mean: Floats,
    density: Floats,
    inverse: Floats,
    sums: Floats,
    squares: Floats,
) -> float:
    """`_add_moments` for two features and a whole covariance; shares are density x inverse."""
    one, two = points[0, begin : begin + size], points[1, begin : begin + size]
    m0, m1 = mean[0], mean[1]
    mass = s0 = s1 = q00 = q01 = q11 = 0.0
    for i in range(size):
        g0, g1 = one[i] - m0, two[i] - m1
        share = density[i] * inverse[i]
        w0, w1 = share * g0, share * g1
        mass += share
        s0 += w0
        s1 += w1
        q00 += w0 * g0
        q01 += w0 * g1
        q11 += w1 * g1
    sums[0] += s0
    sums[1] += s1
    squares[0, 0] += q00
    squares[0, 1] += q01
    squares[1, 1] += q11
    return mass


@inner_reordered
def _log_likelihood(top: Floats, total: Floats, size: int, product: Floats) -> float:
    """Sum top + log(total) over points; products come before logarithms, which are slow.

    `product` is scratch of size `_LANES`.
    """
    result = 0.0
    for i in range(size):
        result += top[i]
    for lane in range(_LANES):
        product[lane] = 1.0
    for start in range(0, size, _LANES):
        part = total[start : min(start + _LANES, size)]
        for lane in range(part.shape[0]):
            product[lane] *= part[lane]
    for lane in range(0, _LANES, 4):
        result += np.log(
            (product[lane] * product[lane + 1]) * (product[lane + 2] * product[lane + 3])
        )
    return result


class Room(NamedTuple):
    """Scratch memory of the E step for a block of points."""

    logs: Floats
    gaps: Floats
    top: Floats
    total: Floats
    y: Floats
    product: Floats


@inner
def room_for(k: int, n_features: int) -> Room:
    """Memory for the E step of a mixture of k components."""
    block = block_size(n_features)
    return Room(
        np.empty((k, block)),
        np.empty((n_features, block)),
        np.empty(block),
        np.empty(block),
        np.empty(block),
        np.empty(_LANES),
    )


@inner
def expect(points: Floats, model: Gaussians, moments: Moments, room: Room) -> float:
    """Take the E step: write the moments, and return the mean log-likelihood of the points.

    The moments are about the present means, which are near the next means.
    """
    n_features, n = points.shape
    means, factors, offsets = model.means, model.factors, model.offsets
    masses, sums, squares = moments
    logs, gaps, top, total, y, product = room
    k, block = means.shape[0], top.shape[0]
    in_plane = n_features == 2 and factors.shape[1] == 2  # the most common case
    _zero(masses, sums, squares)
    likelihood = 0.0
    for begin in range(0, n, block):
        size = min(block, n - begin)
        for i in range(size):
            top[i] = -np.inf
            total[i] = 0.0
        for component in range(k):
            mean, factor, offset = means[component], factors[component], offsets[component]
            log = logs[component]
            if in_plane:
                _log_density_in_plane(points, begin, size, mean, factor, offset, log, top)
                continue
            gaps_to(points, begin, size, mean, gaps)
            log_density(gaps, factor, offset, size, y, log)
            for i in range(size):
                top[i] = log[i] if log[i] > top[i] else top[i]
        for component in range(k):
            log = logs[component]
            for i in range(size):
                log[i] = _exp(log[i] - top[i])
                total[i] += log[i]
        likelihood += _log_likelihood(top, total, size, product)
        for i in range(size):
            total[i] = 1.0 / total[i]
        for component in range(k):
            mean, share = means[component], logs[component]
            own_sums, own_squares = sums[component], squares[component]
            if in_plane:
                masses[component] += _add_moments_in_plane(
                    points, begin, size, mean, share, total, own_sums, own_squares
                )
                continue
            for i in range(size):
                share[i] *= total[i]
            gaps_to(points, begin, size, mean, gaps)
            masses[component] += _add_moments(gaps, share, size, y, own_sums, own_squares)
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
def hard_moments(points: Floats, labels: Ints, means: Floats, moments: Moments) -> None:
    """Write the means of labeled points, and the moments about these means."""
    n_features, n = points.shape
    masses, sums, squares = moments
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
    if n_features == 2 and squares.shape[1] == 2:
        _add_labeled_in_plane(points, labels, means, sums, squares)
        return
    _zero(masses, sums, squares)
    block = block_size(n_features)
    gaps, share, y = np.empty((n_features, block)), np.empty(block), np.empty(block)
    for begin in range(0, n, block):
        size = min(block, n - begin)
        own = labels[begin : begin + size]
        for component in range(k):
            for i in range(size):
                share[i] = 1.0 if own[i] == component else 0.0
            gaps_to(points, begin, size, means[component], gaps)
            masses[component] += _add_moments(
                gaps, share, size, y, sums[component], squares[component]
            )


@inner
def _add_labeled_in_plane(
    points: Floats, labels: Ints, means: Floats, sums: Floats, squares: Floats
) -> None:
    """Write the moments of labeled points with two features: one pass for all components."""
    sums[:] = 0.0
    for i in range(points.shape[1]):
        own = labels[i]
        g0, g1 = points[0, i] - means[own, 0], points[1, i] - means[own, 1]
        sums[own, 0] += g0
        sums[own, 1] += g1
        squares[own, 0, 0] += g0 * g0
        squares[own, 0, 1] += g0 * g1
        squares[own, 1, 1] += g1 * g1
