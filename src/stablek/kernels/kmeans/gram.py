"""The Gram matrix of a set of points, which has the products of all pairs, and its starts."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.race import SWAPS, restarts_memory
from stablek.kernels.kmeans.records import KMeansParameters, PairProducts, PointSets
from stablek.kernels.kmeans.starts import Draws, draws_memory, make_plus_plus, random_rows, stream
from stablek.kernels.kmeans.tiles import TILE, lanes_of, place, score_rows, tiles_of
from stablek.kernels.lean import inner

__all__ = [
    "GramRace",
    "combine_pairs",
    "draw_gram_starts",
    "fetch",
    "gram_race_memory",
    "load_vectors",
    "multiply",
    "multiply_pairs",
    "squared_distances",
]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


class GramRace(NamedTuple):
    """Products of the points of one set, and what the restarts of one fit hold.

    Row i of ``products`` has the products of point i with all points, ``squares`` those with
    itself. Restart s has rows ``s * stride`` and following in three arrays. ``sums`` has the
    products of all points with the sum of the points of a cluster, ``counts`` their number, and
    ``half_squares`` half the squared length of the center. Where its first label is -1, the
    centers were put on points, and the labels mean nothing yet.

    ``vectors`` has the points as rows, with three rows more, as `score_rows` reads them, and
    ``guides`` the centers of a start that is given. The other arrays are scratch memory.
    """

    stride: int
    products: Floats
    squares: Floats
    vectors: Floats
    guides: Floats
    zeros: Floats
    rows: Ints
    scores: Floats
    sums: Floats
    counts: Floats
    half_squares: Floats
    best: Floats
    found: Ints
    members: Floats
    common: Floats
    order: Ints
    draws: Draws
    labels: Ints
    inertia: Floats
    decrease: Floats
    running: Ints
    active: Ints
    distance: Floats
    cost: Floats
    state: NDArray[np.uint64]


def gram_race_memory(n: int, width: int, k: int, parameters: KMeansParameters) -> GramRace:
    """Room for fits of up to n points and k clusters."""
    n_init = parameters.n_init
    restarts = restarts_memory(n, k, n_init, n_init + SWAPS + 1)
    n_starts = len(restarts["inertia"])
    lanes, rows = -(-n // TILE) * TILE, max(n, k) + 3
    return GramRace(
        k,
        np.empty((n, lanes)),
        np.zeros(lanes),
        np.zeros((n + 3, width)),
        np.zeros((k + 3, width)),
        np.zeros(rows),
        np.arange(rows),
        np.empty(rows * TILE),
        np.empty((n_starts * k, lanes)),
        np.empty(n_starts * k),
        np.empty(n_starts * k),
        np.empty(lanes),
        np.empty(lanes, dtype=np.int64),
        np.empty(k),
        np.empty(k),
        np.empty(n_init * k, dtype=np.int64),
        draws_memory(n, k, parameters.plus_plus),
        **restarts,
    )


@inner
def load_vectors(sets: PointSets, which: int, vectors: Floats) -> None:
    """Copy the points of a set into rows."""
    n, start, width = sets.sizes[which], sets.tile_starts[which], sets.mean.shape[1]
    for i in range(n):
        x = place(start, i, width)
        for j in range(width):
            vectors[i, j] = sets.points[x + j * TILE]


@inner
def multiply_pairs(sets: PointSets, which: int, work: GramRace) -> None:
    """Multiply all pairs of points of a set, whose vectors have been loaded."""
    n = sets.sizes[which]
    zero: Any = np.int64(0)  # a literal 0 would compile the callee once more
    multiply(sets, which, work.vectors, n, work, work.products, zero)
    for i in range(n):
        work.squares[i] = work.products[i, i]


@inner
def combine_pairs(
    pairs: PairProducts,
    rows: Ints,
    first: int,
    n: int,
    epsilon: float,
    ratio: float,
    work: GramRace,
) -> None:
    """Find the products of all pairs of n points from those of X and of the noise.

    The points are ``rows[first:first + n]``. Products are ``ratio`` times as large in the units of
    the set, and relative to its mean.
    """
    products, margin, mean = work.products, work.best, 0.0
    plain, mixed, noise = pairs.plain, pairs.mixed, pairs.noise
    for i in range(n):
        row, total = rows[first + i], 0.0
        for j in range(n):
            other = rows[first + j]
            square = epsilon * (mixed[row, other] + epsilon * noise[row, other])
            products[i, j] = ratio * (plain[row, other] + square)
            total += products[i, j]
        margin[i] = total / n
        mean += margin[i] / n
    for i in range(n):
        for j in range(products.shape[1]):
            inside = products[i, j] - margin[i] - margin[j] + mean if j < n else 0.0
            products[i, j] = inside
        work.squares[i] = products[i, i]


@inner
def multiply(
    sets: PointSets,
    which: int,
    vectors: Floats,
    n_rows: int,
    work: GramRace,
    out: Floats,
    first: int,
) -> None:
    """Multiply the first vectors with all points of a set, into rows of ``out``."""
    n, start, width = sets.sizes[which], sets.tile_starts[which], sets.mean.shape[1]
    scores, zeros, rows = work.scores, work.zeros, work.rows
    zero: Any = np.int64(0)  # a literal 0 would compile the callee once more
    for t in range(tiles_of(n)):
        tile, lanes = start + t, lanes_of(n, t)
        score_rows(sets.points, tile, width, lanes, vectors, zeros, zero, rows, n_rows, scores)
        for r in range(n_rows):
            for i in range(TILE):
                value = -scores[r * TILE + i] if i < lanes else 0.0
                out[first + r, t * TILE + i] = value


@inner
def fetch(products: Floats, squares: Floats, first: int, x: int, t: int) -> None:
    """Nothing to do: the products have all that there is to know of point x."""


@inner
def squared_distances(
    products: Floats, squares: Floats, tile: int, lanes: int, x: int, t: int, buffer: Floats
) -> None:
    """Squared distances of the points of a tile from point x."""
    base = tile * TILE
    for i in range(lanes):
        square = squares[base + i] + squares[x] - 2.0 * products[x, base + i]
        buffer[i] = max(square, 0.0)


_plus_plus = make_plus_plus(fetch, squared_distances)


@inner
def draw_gram_starts(n: int, k: int, parameters: KMeansParameters, work: GramRace) -> None:
    """Draw ``n_init`` starts of k points into ``work.order``, start after start."""
    zero: Any = np.int64(0)  # a literal 0 would compile the callee once more
    for s in range(parameters.n_init):
        stream(parameters.seed, s, work.draws.state)
        if parameters.plus_plus:
            _plus_plus(work.products, work.squares, zero, n, k, work.draws, work.order, s * k)
        else:
            random_rows(n, k, work.draws, work.order, s * k)
