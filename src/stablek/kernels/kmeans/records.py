"""What Python hands to the kernels. This module does not load numba."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Fits", "KMeansParameters", "PairProducts", "PointSets"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


class KMeansParameters(NamedTuple):
    """Parameters of scikit-learn's KMeans, and a seed for the starts.

    ``tol`` bounds the squared shift of the centers, relative to the sum of all variances.
    ``n_rounds`` is the largest number of rounds in which the best restart is improved: by swaps of
    centers or, with ``refit``, by moves of single points. ``refit`` also means merged starts.
    ``spherical`` keeps points and centers on the unit sphere.
    """

    seed: int
    n_init: int
    plus_plus: bool
    max_iter: int
    tol: float
    n_rounds: int = 3
    refit: bool = False
    spherical: bool = False


class PointSets(NamedTuple):
    """Sets of points in tiles.

    Set i has ``sizes[i]`` points, from tile ``tile_starts[i]`` on. Its points were centered at
    ``mean[i]`` and divided by ``unit[i]``; then ``square[i]`` is their sum of squares.

    Place j of a tile holds point ``origin[tile * TILE + j]`` of the set. In sets that
    `boxes.compact_sets` has ordered, each tile holds neighbors: ``boxes[tile]`` has the lower and
    the upper corner of their box, and ``totals[tile]`` has their sum.
    """

    points: Floats
    tile_starts: Ints
    sizes: Ints
    mean: Floats
    unit: Floats
    square: Floats
    boxes: Floats
    totals: Floats
    origin: Ints


class Fits(NamedTuple):
    """Fit f clusters the points of set ``sets[f]`` into ``k_values[f]`` clusters.

    Its centers begin at row ``first_center[f]`` of an array of centers.
    """

    sets: Ints
    k_values: Ints
    first_center: Ints


class PairProducts(NamedTuple):
    """Products of all pairs of rows of X and of its noise, for all groups and noise levels.

    The product of rows i and j of ``X + epsilon * U`` is ``plain[i, j] + epsilon * mixed[i, j] +
    epsilon ** 2 * noise[i, j]``, relative to the mean of X and in squares of ``unit``.
    """

    plain: Floats
    mixed: Floats
    noise: Floats
    unit: float
