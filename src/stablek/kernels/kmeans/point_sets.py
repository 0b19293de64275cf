"""Sets of points in tiles: copied out of X with their noise, centered, and labeled."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.records import Fits, PointSets
from stablek.kernels.kmeans.tiles import (
    TILE,
    Scores,
    contrast,
    lanes_of,
    load_tile,
    nearest,
    score_rows,
    tiles_of,
)
from stablek.kernels.lean import jit

__all__ = ["center_sets", "label_fits", "load_sets", "normalize_sets"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


@jit
def load_sets(
    X: Floats, noise: Floats, epsilons: Floats, rows: Ints, first_row: Ints, sets: PointSets
) -> None:
    """Copy ``sets.sizes[i]`` points into each set: ``rows[first_row[i]]`` and the next ones.

    Noise times ``epsilons[i]`` is added. Where that is 0, the noise is not read.
    """
    zero: Any = np.int64(0)  # a literal 0 would compile the callees once more
    for i in range(len(sets.sizes)):
        n = sets.sizes[i]
        for t in range(tiles_of(n)):
            first, count = first_row[i] + t * TILE, min(TILE, n - t * TILE)
            tile = sets.tile_starts[i] + t
            load_tile(X, zero, noise, epsilons[i], rows, first, count, sets.points, tile)
            for j in range(TILE):
                sets.origin[tile * TILE + j] = t * TILE + j


def center_sets(sets: PointSets) -> None:
    """Center each set and divide it by a power of two: squares neither over- nor underflow."""
    width = sets.mean.shape[1]
    tiles = sets.points.reshape(-1, width, TILE)
    first, last = sets.tile_starts[:-1], sets.tile_starts[1:] - 1
    owner = np.repeat(np.arange(len(first)), np.diff(sets.tile_starts))
    with np.errstate(all="ignore"):
        np.add.reduceat(tiles.sum(axis=2), first, axis=0, out=sets.mean)
        sets.mean[:] /= sets.sizes[:, None]
        tiles -= sets.mean[owner, :, None]
        # The padding of the last tile of a set goes back to 0.
        pad = np.arange(TILE) >= (sets.sizes - (last - first) * TILE)[:, None]
        tiles[last] = np.where(pad[:, None, :], 0.0, tiles[last])
        spread = np.maximum(tiles.max(axis=(1, 2)), -tiles.min(axis=(1, 2)))
        _, exponent = np.frexp(np.maximum.reduceat(spread, first))
        sets.unit[:] = np.ldexp(1.0, np.clip(exponent, -1000, 1000))
        tiles /= sets.unit[owner, None, None]
        squares = np.einsum("tji,tji->t", tiles, tiles)
        np.add.reduceat(squares, first, out=sets.square)


def normalize_sets(sets: PointSets) -> None:
    """Divide each point by its length; the padding of tiles stays 0."""
    tiles = sets.points.reshape(-1, sets.mean.shape[1], TILE)
    length = np.sqrt(np.einsum("tji,tji->ti", tiles, tiles))
    tiles /= np.where(length > 0.0, length, 1.0)[:, None, :]
    sets.square[:] = sets.sizes


@jit
def label_fits(
    sets: PointSets, fits: Fits, centers: Floats, scratch: Scores, labels: Ints, first_label: Ints
) -> None:
    """Label each point of each fit by its nearest center; ties go to the lower label.

    Centers are in the units of the set. The labels of fit f begin at ``first_label[f]``.
    """
    width = sets.mean.shape[1]
    weights, bias, scores, best, found, rows = scratch
    zero: Any = np.int64(0)  # a literal 0 would compile the callees once more
    for f in range(len(fits.k_values)):
        k, n, start = fits.k_values[f], sets.sizes[fits.sets[f]], sets.tile_starts[fits.sets[f]]
        contrast(centers, fits.first_center[f], k, weights, bias, zero)
        for t in range(tiles_of(n)):
            tile, lanes = start + t, lanes_of(n, t)
            score_rows(sets.points, tile, width, lanes, weights, bias, zero, rows, k - 1, scores)
            nearest(scores, zero, rows, k - 1, 0.0, lanes, best, found)
            for i in range(min(TILE, n - t * TILE)):
                labels[first_label[f] + sets.origin[tile * TILE + i]] = found[i]
