"""Points in tiles, and the nearest center of each point: the arithmetic under all of K-means.

A tile holds 64 points, feature after feature. One vector instruction handles several points, and
a tile stays in the fastest cache while many centers pass over it. The number of features is
padded with zeros to an even `width`.

The score of center k is half the difference of its squared distance and that of center 0:

    score_k(x) = w_k . (c_k + c_0) / 2 - x . w_k,    w_k = c_k - c_0

Center 0 scores 0, and the nearest center has the lowest score. A score takes one product per
feature; a distance takes a difference and a product. Only differences of centers are multiplied,
so data far from the origin lose no more precision than their own rounding cost them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.lean import inner, inner_exact

__all__ = [
    "TILE",
    "Scores",
    "contrast",
    "lanes_of",
    "load_tile",
    "nearest",
    "nearest_noisy",
    "place",
    "score_rows",
    "scores_memory",
    "tiles_of",
]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

TILE = 64
_FEATURES = 128  # features per pass over a tile: what stays in the cache for all centers

# Unsigned offsets: numba tests a signed index for wrap-around, which stops vector code.
_1 = np.uint64(TILE)
_2 = np.uint64(2 * TILE)
_3 = np.uint64(3 * TILE)


@inner
def place(tile: int, index: int, width: int) -> int:
    """Position of the first feature of a point, in a set that begins at a tile."""
    return (tile + index // TILE) * width * TILE + index % TILE


class Scores(NamedTuple):
    """Scratch memory for the scores of some centers on one tile; ``rows`` counts from 0."""

    weights: Floats
    bias: Floats
    scores: Floats
    best: Floats
    found: Ints
    rows: Ints


def scores_memory(n_rows: int, width: int, at_once: int) -> Scores:
    """Room for the weights of ``n_rows`` centers and the scores of ``at_once`` of them."""
    return Scores(
        np.zeros((n_rows + 3, width)),
        np.zeros(n_rows + 3),
        np.empty((at_once + 3) * TILE),
        np.empty(TILE),
        np.empty(TILE, dtype=np.int64),
        np.arange(at_once + 3),
    )


@inner
def tiles_of(n: int) -> int:
    """Number of tiles that hold n points."""
    return (n + TILE - 1) // TILE


@inner
def lanes_of(n: int, tile: int) -> int:
    """Number of points in a tile, rounded up to whole vectors."""
    left = n - tile * TILE
    return TILE if left >= TILE else (left + 7) // 8 * 8


@inner_exact
def load_tile(
    X: Floats,
    offset: int,
    noise: Floats,
    epsilon: float,
    rows: Ints,
    first: int,
    count: int,
    points: Floats,
    tile: int,
) -> None:
    """Copy points ``rows[first:first + count]`` into a tile; X starts at row ``offset``.

    ``epsilon`` times the noise is added, with the rounding of numpy. If epsilon is 0, the noise
    is not read.
    """
    n_features = X.shape[1]
    base = tile * (n_features + n_features % 2) * TILE
    for i in range(TILE):
        row = rows[first + i] - offset if i < count else 0
        for j in range(n_features):
            value = X[row, j] if i < count else 0.0
            if epsilon != 0.0 and i < count:
                value += epsilon * noise[row, j]
            points[base + j * TILE + i] = value
        if n_features % 2 == 1:
            points[base + n_features * TILE + i] = 0.0


@inner
def contrast(centers: Floats, first: int, k: int, weights: Floats, bias: Floats, row: int) -> None:
    """Write the weights and constants of the scores of ``centers[first:first + k]``.

    Center 0 scores 0, so that there are k - 1 rows, from ``row`` on.
    """
    n_features, width = centers.shape[1], weights.shape[1]
    for c in range(1, k):
        constant = 0.0
        for j in range(width):
            zero = one = 0.0
            if j < n_features:
                zero, one = centers[first, j], centers[first + c, j]
            weights[row + c - 1, j] = one - zero
            constant += (one - zero) * (0.5 * (one + zero))
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
    rows: Ints,
    n_rows: int,
    scores: Floats,
) -> None:
    """Write ``bias - points . weights`` of one tile for some rows: ``first + rows[:n_rows]``.

    Rows are taken in steps of four, so up to three more rows are read and written. The arrays
    must have them.
    """
    n_lanes = np.uint64(lanes)
    for low in range(0, width, _FEATURES):
        for r in range(0, n_rows, 4):
            at = np.uint64(r * TILE)
            row, row_1 = first + rows[r], first + rows[r + 1]
            row_2, row_3 = first + rows[r + 2], first + rows[r + 3]
            for j in range(low, min(low + _FEATURES, width), 2):
                x = np.uint64((tile * width + j) * TILE)
                a0, b0 = weights[row, j], weights[row, j + 1]
                a1, b1 = weights[row_1, j], weights[row_1, j + 1]
                a2, b2 = weights[row_2, j], weights[row_2, j + 1]
                a3, b3 = weights[row_3, j], weights[row_3, j + 1]
                if j == 0:
                    c0, c1, c2, c3 = bias[row], bias[row_1], bias[row_2], bias[row_3]
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
    scores: Floats,
    first: int,
    rows: Ints,
    n_rows: int,
    bound: float,
    lanes: int,
    best: Floats,
    labels: Ints,
) -> None:
    """Find the label of the lowest score below ``bound``, else 0; ties go to the lower label.

    Row r belongs to center ``rows[r] + 1``. Rows are taken in pairs, and a lone row comes first:
    a lone row later would become a masked store, which is slow on some processors.
    """
    n_lanes = np.uint64(lanes)
    at = np.uint64(first * TILE)
    done = n_rows % 2
    if done == 1:
        one = rows[0] + 1
        for i in range(n_lanes):
            s = scores[at + i]
            closer = s < bound
            best[i] = s if closer else bound
            labels[i] = one if closer else 0
    else:
        for i in range(n_lanes):
            best[i] = bound
            labels[i] = 0
    for r in range(done, n_rows, 2):
        at = np.uint64((first + r) * TILE)
        one, two = rows[r] + 1, rows[r + 1] + 1
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
