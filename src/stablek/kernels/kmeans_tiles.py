"""Points in tiles, and which centre is nearest to each: the arithmetic under all of k-means.

A tile holds 64 points, feature after feature, so that one vector instruction handles several
points and a tile stays in the fastest cache while many centres pass over it. The number of
features is padded to an even `width` with zeros.

Centre k is compared with centre 0 by half the difference of squared distances,

    score_k(x) = w_k . (c_k + c_0) / 2 - x . w_k,    w_k = c_k - c_0,

so centre 0 scores 0 and the lowest score is the nearest centre. It takes one product per
feature where the distance takes a difference and a product; and as only differences of centres
are multiplied, rounding does not grow with the distance of the data from the origin any faster
than the rounding of the data itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, inner_exact

__all__ = [
    "TILE",
    "Clouds",
    "add_noise",
    "contrast",
    "lanes_of",
    "load_tile",
    "nearest",
    "nearest_noisy",
    "padded",
    "place",
    "score_rows",
]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

TILE = 64
_FEATURES = 128  # features per pass over a tile: what stays in the cache for all centres

# Unsigned offsets: numba tests a signed index for wrap-around, which stops vector code.
_1 = np.uint64(TILE)
_2 = np.uint64(2 * TILE)
_3 = np.uint64(3 * TILE)


@inner
def place(tile: int, index: int, feature: int, width: int) -> int:
    """Where a feature of a point is, in a set of points that begins at a tile."""
    return ((tile + index // TILE) * width + feature) * TILE + index % TILE


class Clouds(NamedTuple):
    """Sets of points in tiles.

    Cloud c has ``n[c]`` points from tile ``tile_at[c]`` on. They were centred at ``mean[c]``
    and divided by ``unit[c]``; ``square[c]`` is the sum of squares that is left.
    """

    points: Floats
    tile_at: Ints
    n: Ints
    mean: Floats
    unit: Floats
    square: Floats


@inner
def padded(n_features: int) -> int:
    """Even number of features that tiles hold."""
    return n_features + n_features % 2


@inner
def lanes_of(n: int, tile: int) -> int:
    """Number of points in a tile, rounded up to whole vectors."""
    left = n - tile * TILE
    return TILE if left >= TILE else (left + 7) // 8 * 8


@inner
def load_tile(
    X: Floats, offset: int, rows: Ints, first: int, count: int, points: Floats, tile: int
) -> None:
    """Copy points ``rows[first:first + count]`` into a tile; X starts at row ``offset``."""
    n_features = X.shape[1]
    base = tile * padded(n_features) * TILE
    for i in range(count):
        row = rows[first + i] - offset
        for j in range(n_features):
            points[base + j * TILE + i] = X[row, j]
    for j in range(padded(n_features)):
        for i in range(count if j < n_features else 0, TILE):
            points[base + j * TILE + i] = 0.0


@inner_exact
def add_noise(
    noise: Floats, epsilon: float, rows: Ints, first: int, count: int, points: Floats, tile: int
) -> None:
    """Add ``epsilon * noise`` to a tile, rounded as numpy rounds: no fused multiply-add."""
    n_features = noise.shape[1]
    base = tile * padded(n_features) * TILE
    for i in range(count):
        row = rows[first + i]
        for j in range(n_features):
            points[base + j * TILE + i] += epsilon * noise[row, j]


@inner
def contrast(
    centers: Floats, s: int, first: int, k: int, weights: Floats, bias: Floats, row: int
) -> None:
    """Write the k - 1 rows (w_k, constant of the score) of ``centers[s, first:first + k]``."""
    n_features = centers.shape[2]
    for c in range(1, k):
        constant = 0.0
        for j in range(n_features):
            zero, one = centers[s, first, j], centers[s, first + c, j]
            weights[row + c - 1, j] = one - zero
            constant += (one - zero) * (0.5 * (one + zero))
        for j in range(n_features, weights.shape[1]):
            weights[row + c - 1, j] = 0.0
        bias[row + c - 1] = constant


@inner
def score_rows(
    points: Floats,
    tile: int,
    width: int,
    lanes: int,
    weights: Floats,
    bias: Floats,
    first: int,
    n_rows: int,
    scores: Floats,
) -> None:
    """``bias - points . weights`` of one tile for rows from ``first`` on, in steps of four.

    Up to three rows more than asked are read and written: the arrays must have them.
    """
    n_lanes = np.uint64(lanes)
    for low in range(0, width, _FEATURES):
        for r in range(0, n_rows, 4):
            at = np.uint64(r * TILE)
            row = first + r
            for j in range(low, min(low + _FEATURES, width), 2):
                x = np.uint64((tile * width + j) * TILE)
                a0, b0 = weights[row, j], weights[row, j + 1]
                a1, b1 = weights[row + 1, j], weights[row + 1, j + 1]
                a2, b2 = weights[row + 2, j], weights[row + 2, j + 1]
                a3, b3 = weights[row + 3, j], weights[row + 3, j + 1]
                if j == 0:
                    c0, c1, c2, c3 = bias[row], bias[row + 1], bias[row + 2], bias[row + 3]
                    for i in range(n_lanes):
                        u, v = points[x + i], points[x + _1 + i]
                        scores[at + i] = c0 - u * a0 - v * b0
                        scores[at + _1 + i] = c1 - u * a1 - v * b1
                        scores[at + _2 + i] = c2 - u * a2 - v * b2
                        scores[at + _3 + i] = c3 - u * a3 - v * b3
                else:
                    for i in range(n_lanes):
                        u, v = points[x + i], points[x + _1 + i]
                        scores[at + i] = scores[at + i] - u * a0 - v * b0
                        scores[at + _1 + i] = scores[at + _1 + i] - u * a1 - v * b1
                        scores[at + _2 + i] = scores[at + _2 + i] - u * a2 - v * b2
                        scores[at + _3 + i] = scores[at + _3 + i] - u * a3 - v * b3


@inner
def nearest(
    scores: Floats, first: int, n_rows: int, lanes: int, best: Floats, labels: Ints
) -> None:
    """Label of the lowest score among 0 (centre 0) and ``n_rows`` rows; ties to the lower label.

    Rows are taken in pairs, the odd one first: a lone row later on would become a masked store,
    which is slow on some processors.
    """
    n_lanes = np.uint64(lanes)
    at = np.uint64(first * TILE)
    done = n_rows % 2
    if done == 1:
        for i in range(n_lanes):
            s = scores[at + i]
            closer = s < 0.0
            best[i] = s if closer else 0.0
            labels[i] = 1 if closer else 0
    else:
        for i in range(n_lanes):
            best[i] = 0.0
            labels[i] = 0
    for r in range(done, n_rows, 2):
        at = np.uint64((first + r) * TILE)
        one, two = r + 1, r + 2
        for i in range(n_lanes):
            s, t, b, label = scores[at + i], scores[at + _1 + i], best[i], labels[i]
            closer = s < b
            b = s if closer else b
            label = one if closer else label
            closer = t < b
            best[i] = t if closer else b
            labels[i] = two if closer else label


@inner
def nearest_noisy(
    scores: Floats,
    slopes: Floats,
    epsilon: float,
    first: int,
    n_rows: int,
    lanes: int,
    best: Floats,
    labels: Ints,
) -> None:
    """`nearest` for the scores ``scores + epsilon * slopes``: scores are linear in the noise."""
    n_lanes = np.uint64(lanes)
    at = np.uint64(first * TILE)
    done = n_rows % 2
    if done == 1:
        for i in range(n_lanes):
            s = scores[at + i] + epsilon * slopes[at + i]
            closer = s < 0.0
            best[i] = s if closer else 0.0
            labels[i] = 1 if closer else 0
    else:
        for i in range(n_lanes):
            best[i] = 0.0
            labels[i] = 0
    for r in range(done, n_rows, 2):
        at = np.uint64((first + r) * TILE)
        one, two = r + 1, r + 2
        for i in range(n_lanes):
            s = scores[at + i] + epsilon * slopes[at + i]
            t = scores[at + _1 + i] + epsilon * slopes[at + _1 + i]
            b, label = best[i], labels[i]
            closer = s < b
            b = s if closer else b
            label = one if closer else label
            closer = t < b
            best[i] = t if closer else b
            labels[i] = two if closer else label
