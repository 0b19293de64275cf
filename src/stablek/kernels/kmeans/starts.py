"""First centers of K-means: greedy k-means++, or points at random.

A start for k centers is the first k points of one long sequence, so that one sequence serves
every k of the same points. Both ways share the draws; each finds the distances in its own way.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.records import KMeansParameters, PointSets
from stablek.kernels.kmeans.tiles import TILE, lanes_of, place, tiles_of
from stablek.kernels.lean import inner, jit

__all__ = [
    "draw_point",
    "draw_starts",
    "draws_memory",
    "fetch",
    "make_plus_plus",
    "random",
    "random_rows",
    "squared_distances",
    "stream",
]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_1 = np.uint64(TILE)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_30, _27, _31, _11 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11)


@inner
def _mix(z: Any) -> Any:
    """The finalizer of SplitMix64: neighboring counters become unrelated words."""
    z = (z ^ (z >> _30)) * _MIX_1
    z = (z ^ (z >> _27)) * _MIX_2
    return z ^ (z >> _31)


@inner
def stream(seed: int, number: int, state: NDArray[np.uint64]) -> None:
    """Begin the random stream of one start."""
    state[0] = _mix(_mix(np.uint64(seed) + _GOLDEN) + np.uint64(number))


@inner
def random(state: NDArray[np.uint64]) -> float:
    """Next number of the stream, uniform on [0, 1)."""
    state[0] += _GOLDEN
    return float(_mix(state[0]) >> _11) * 2.0**-53


class Draws(NamedTuple):
    """Scratch memory for the draws of a start.

    ``distance`` has the squared distance of each point from the nearest point chosen so far, and
    ``tile_sum`` its sum over each tile.
    """

    state: NDArray[np.uint64]
    distance: Floats
    tile_sum: Floats
    buffer: Floats
    gain: Floats
    trials: Ints
    shuffled: Ints


def draws_memory(n: int, k: int, plus_plus: bool) -> Draws:
    """Room for starts of up to k of n points."""
    n_tiles, most = -(-n // TILE), 2 + int(math.log(k))
    return Draws(
        np.empty(1, dtype=np.uint64),
        np.empty(n_tiles * TILE if plus_plus else 0),
        np.empty(n_tiles),
        np.empty(TILE),
        np.empty(most * TILE),
        np.empty(most, dtype=np.int64),
        np.empty(0 if plus_plus else n, dtype=np.int64),
    )


@inner
def random_rows(n: int, k: int, scratch: Draws, order: Ints, first: int) -> None:
    """Draw k of n points without replacement."""
    shuffled = scratch.shuffled
    for i in range(n):
        shuffled[i] = i
    for c in range(k):
        other = c + int(random(scratch.state) * (n - c))
        order[first + c] = shuffled[other]
        shuffled[other] = shuffled[c]


def make_plus_plus(fetch: Any, squared_distances: Any) -> Callable[..., None]:
    """Make greedy k-means++ of one way from the two kernels that know its points.

    - ``fetch(points, centers, first, x, t)`` makes point x the trial t.
    - ``squared_distances(points, centers, tile, lanes, x, t, buffer)`` writes the squared
      distances of the points of a tile from point x, which is trial t.
    """

    @inner
    def best_trial(
        points: Any, centers: Any, first: int, n: int, n_trials: int, scratch: Draws
    ) -> int:
        """Which trial lowers the sum of squared distances most."""
        _, distance, _, buffer, gain, trials, _ = scratch
        used = min(n, TILE)  # lanes beyond gain nothing
        for t in range(n_trials):
            for i in range(used):
                gain[t * TILE + i] = 0.0
        for tile in range(tiles_of(n)):
            lanes, base = lanes_of(n, tile), np.uint64(tile * TILE)
            for t in range(n_trials):
                squared_distances(points, centers, first + tile, lanes, trials[t], t, buffer)
                at = np.uint64(t * TILE)
                for i in range(np.uint64(lanes)):
                    old, new = distance[base + i], buffer[i]
                    gain[at + i] += old - new if new < old else 0.0
        best, highest = 0, -1.0
        for t in range(n_trials):
            total = 0.0
            for i in range(used):
                total += gain[t * TILE + i]
            if total > highest:
                best, highest = t, total
        return best

    @inner
    def plus_plus(
        points: Any,
        centers: Any,
        first: int,
        n: int,
        k: int,
        scratch: Draws,
        order: Ints,
        begin: int,
    ) -> None:
        """Choose k of the n points from tile ``first`` on, by greedy k-means++.

        Each next point is the best of a few that are drawn with probability proportional to the
        squared distance from the points chosen so far. For c centers there are 2 + log(c) trials,
        as in scikit-learn.
        """
        state, distance, tile_sum, buffer, _, trials, _ = scratch
        total = 0.0
        for c in range(k):
            n_trials = 1 if c == 0 else 2 + int(math.log(c + 1))
            for t in range(n_trials):
                if c == 0:
                    trials[t] = int(random(state) * n)
                else:
                    trials[t] = draw_point(n, random(state) * total, distance, tile_sum)
                fetch(points, centers, first, trials[t], t)
            best = 0
            if c > 0:
                best = best_trial(points, centers, first, n, n_trials, scratch)
            x = order[begin + c] = trials[best]
            total = 0.0
            for tile in range(tiles_of(n)):
                lanes = lanes_of(n, tile)
                squared_distances(points, centers, first + tile, lanes, x, best, buffer)
                tile_sum[tile] = _approach(c == 0, n, tile, lanes, buffer, distance)
                total += tile_sum[tile]

    return plus_plus


@inner
def _approach(
    initial: bool, n: int, tile: int, lanes: int, buffer: Floats, distance: Floats
) -> float:
    """Lower the squared distances of a tile to those in ``buffer``; return their sum."""
    base = tile * TILE
    total = 0.0
    for i in range(lanes):
        value = 0.0
        if i < n - base:
            value = buffer[i] if initial else min(distance[base + i], buffer[i])
        distance[base + i] = value
        total += value
    return total


@inner
def draw_point(n: int, target: float, distance: Floats, tile_sum: Floats) -> int:
    """Index at which the running sum of the squared distances passes ``target``."""
    running = 0.0
    tile = 0
    while tile < tiles_of(n) - 1 and running + tile_sum[tile] <= target:
        running += tile_sum[tile]
        tile += 1
    last = tile * TILE
    for i in range(tile * TILE, min(n, (tile + 1) * TILE)):
        running += distance[i]
        if distance[i] > 0.0:
            last = i
            if running > target:
                break
    return last


@inner
def fetch(points: Floats, centers: Floats, first: int, x: int, t: int) -> None:
    """Copy point x into row t of the centers."""
    width = centers.shape[1]
    base = place(first, x, width)
    for j in range(width):
        centers[t, j] = points[base + j * TILE]


@inner
def squared_distances(
    points: Floats, centers: Floats, tile: int, lanes: int, x: int, t: int, buffer: Floats
) -> None:
    """Squared distances of the points of a tile from row t of the centers, which is point x."""
    n_lanes, width = np.uint64(lanes), centers.shape[1]
    for j in range(0, width, 2):
        at = np.uint64((tile * width + j) * TILE)
        a, b = centers[t, j], centers[t, j + 1]
        if j == 0:
            for i in range(n_lanes):
                u, v = points[at + i] - a, points[at + _1 + i] - b
                buffer[i] = u * u + v * v
        else:
            for i in range(n_lanes):
                u, v = points[at + i] - a, points[at + _1 + i] - b
                buffer[i] = buffer[i] + u * u + v * v


_plus_plus = make_plus_plus(fetch, squared_distances)


@jit
def draw_starts(
    sets: PointSets,
    k_values: Ints,
    parameters: KMeansParameters,
    scratch: Draws,
    centers: Floats,
    order: Ints,
    first_order: Ints,
) -> None:
    """Draw ``n_init`` starts of ``k_values[i]`` points in each set: indices, start after start.

    ``centers`` has room for all trials of one center.
    """
    for i in range(len(k_values)):
        n, k = sets.sizes[i], k_values[i]
        for s in range(parameters.n_init if k > 0 else 0):
            stream(parameters.seed, s, scratch.state)
            first = first_order[i] + s * k
            if parameters.plus_plus:
                tile = sets.tile_starts[i]
                _plus_plus(sets.points, centers, tile, n, k, scratch, order, first)
            else:
                random_rows(n, k, scratch, order, first)
