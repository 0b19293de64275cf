"""Sets of points as tiles: copied out of X with their noise, centred, and labelled."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit
from stablek.kernels.kmeans_tiles import (
    TILE,
    Clouds,
    add_noise,
    contrast,
    lanes_of,
    load_tile,
    nearest,
    score_rows,
)

__all__ = ["label_fits", "load_clouds"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


@jit
def load_clouds(
    X: Floats,
    noise: Floats,
    epsilons: Floats,
    rows: Ints,
    row_at: Ints,
    clouds: Clouds,
    centre: bool,
) -> None:
    """Copy ``clouds.n[c]`` points, from ``rows[row_at[c]]`` on, into each cloud.

    Cloud c gets noise times ``epsilons[c]``; the noise is not read where that is 0. Points are
    left as they are unless ``centre`` asks to centre and scale them.
    """
    for c in range(len(clouds.n)):
        n = clouds.n[c]
        for tile in range((n + TILE - 1) // TILE):
            first, count = row_at[c] + tile * TILE, min(TILE, n - tile * TILE)
            to = clouds.tile_at[c] + tile
            load_tile(X, 0, rows, first, count, clouds.points, to)
            if epsilons[c] != 0.0:
                add_noise(noise, epsilons[c], rows, first, count, clouds.points, to)
        if centre:
            _centre(clouds, c)


@inner
def _centre(clouds: Clouds, c: int) -> None:
    """Centre a cloud and divide it by a power of two: squares neither over- nor underflow."""
    points, mean = clouds.points, clouds.mean
    n, width, start = clouds.n[c], mean.shape[1], clouds.tile_at[c]
    n_tiles = (n + TILE - 1) // TILE
    for j in range(width):
        mean[c, j] = 0.0
    for tile in range(n_tiles):
        for j in range(width):
            base = ((start + tile) * width + j) * TILE
            for i in range(TILE):
                mean[c, j] += points[base + i]
    for j in range(width):
        mean[c, j] /= n
    largest = 0.0
    for tile in range(n_tiles):
        for j in range(width):
            base = ((start + tile) * width + j) * TILE
            for i in range(min(TILE, n - tile * TILE)):
                points[base + i] -= mean[c, j]
                largest = max(largest, abs(points[base + i]))
    exponent = math.frexp(largest)[1] if 0.0 < largest < np.inf else 0
    unit = math.ldexp(1.0, min(max(exponent, -1000), 1000))
    square = 0.0
    for i in range(start * width * TILE, (start + n_tiles) * width * TILE):
        points[i] /= unit
        square += points[i] * points[i]
    clouds.unit[c] = unit
    clouds.square[c] = square


@jit
def label_fits(
    clouds: Clouds, fit_cloud: Ints, ks: Ints, centers: Floats, labels: Ints, label_at: Ints
) -> None:
    """Label of the nearest centre of each point of cloud ``fit_cloud[f]``; ties to the lower.

    Fit f has ``ks[f]`` centres, which follow each other, in the units of its cloud; its labels
    begin at ``label_at[f]``.
    """
    width = clouds.mean.shape[1]
    k_max = 1
    for f in range(len(ks)):
        k_max = max(k_max, ks[f])
    weights, bias = np.empty((k_max + 3, width)), np.empty(k_max + 3)
    scores, best = np.empty((k_max + 3) * TILE), np.empty(TILE)
    found = np.empty(TILE, np.int64)
    at = 0
    for f in range(len(ks)):
        k, n, start = ks[f], clouds.n[fit_cloud[f]], clouds.tile_at[fit_cloud[f]]
        contrast(centers, 0, at, k, weights, bias, 0)
        at += k
        for tile in range((n + TILE - 1) // TILE):
            lanes, count = lanes_of(n, tile), min(TILE, n - tile * TILE)
            score_rows(clouds.points, start + tile, width, lanes, weights, bias, 0, k - 1, scores)
            nearest(scores, 0, k - 1, lanes, best, found)
            for i in range(count):
                labels[label_at[f] + tile * TILE + i] = found[i]
