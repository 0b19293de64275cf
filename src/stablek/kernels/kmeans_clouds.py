"""Sets of points as tiles: copied out of X with their noise, centerd, and labeled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import jit
from stablek.kernels.kmeans_tiles import (
    TILE,
    Clouds,
    Scores,
    contrast,
    lanes_of,
    load_tile,
    nearest,
    score_rows,
)

__all__ = ["center_clouds", "label_fits", "load_clouds"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


@jit
def load_clouds(
    X: Floats, noise: Floats, epsilons: Floats, rows: Ints, row_at: Ints, clouds: Clouds
) -> None:
    """Copy ``clouds.n[c]`` points, from ``rows[row_at[c]]`` on, into each cloud.

    Cloud c gets noise times ``epsilons[c]``; the noise is not read where that is 0.
    """
    zero: Any = np.int64(0)  # a literal 0 would have callees compiled once more
    for c in range(len(clouds.n)):
        n = clouds.n[c]
        clouds.compact[c] = False
        for t in range((n + TILE - 1) // TILE):
            first, count = row_at[c] + t * TILE, min(TILE, n - t * TILE)
            tile = clouds.tile_at[c] + t
            load_tile(X, zero, noise, epsilons[c], rows, first, count, clouds.points, tile)
            for i in range(TILE):
                clouds.origin[tile * TILE + i] = t * TILE + i


def center_clouds(clouds: Clouds) -> None:
    """Center each cloud and divide it by a power of two: squares neither over- nor underflow."""
    width = clouds.mean.shape[1]
    tiles = clouds.points.reshape(-1, width, TILE)
    first, last = clouds.tile_at[:-1], clouds.tile_at[1:] - 1
    of = np.repeat(np.arange(len(first)), np.diff(clouds.tile_at))
    with np.errstate(all="ignore"):
        np.add.reduceat(tiles.sum(axis=2), first, axis=0, out=clouds.mean)
        clouds.mean[:] /= clouds.n[:, None]
        tiles -= clouds.mean[of, :, None]
        # What pads the last tile of a cloud goes back to 0.
        pad = np.arange(TILE) >= (clouds.n - (last - first) * TILE)[:, None]
        tiles[last] = np.where(pad[:, None, :], 0.0, tiles[last])
        spread = np.maximum(tiles.max(axis=(1, 2)), -tiles.min(axis=(1, 2)))
        _, exponent = np.frexp(np.maximum.reduceat(spread, first))
        clouds.unit[:] = np.ldexp(1.0, np.clip(exponent, -1000, 1000))
        tiles /= clouds.unit[of, None, None]
        squares = np.einsum("tji,tji->t", tiles, tiles)
        np.add.reduceat(squares, first, out=clouds.square)


@jit
def label_fits(
    clouds: Clouds,
    fit_cloud: Ints,
    ks: Ints,
    centers: Floats,
    scratch: Scores,
    labels: Ints,
    label_at: Ints,
) -> None:
    """Label of the nearest center of each point of cloud ``fit_cloud[f]``; ties to the lower.

    Fit f has ``ks[f]`` centers, which follow each other, in the units of its cloud; its labels
    begin at ``label_at[f]``.
    """
    width = clouds.mean.shape[1]
    weights, bias, scores, best, found, rows = scratch
    zero: Any = np.int64(0)  # a literal 0 would have callees compiled once more
    at = zero
    for f in range(len(ks)):
        cloud, k = fit_cloud[f], ks[f]
        n, start = clouds.n[cloud], clouds.tile_at[cloud]
        contrast(centers, at, k, weights, bias, zero)
        at += k
        for tile in range((n + TILE - 1) // TILE):
            lanes, count = lanes_of(n, tile), min(TILE, n - tile * TILE)
            score_rows(
                clouds.points, start + tile, width, lanes, weights, bias, zero, rows, k - 1, scores
            )
            nearest(scores, zero, rows, k - 1, 0.0, lanes, best, found)
            for i in range(count):
                labels[label_at[f] + clouds.origin[(start + tile) * TILE + i]] = found[i]
