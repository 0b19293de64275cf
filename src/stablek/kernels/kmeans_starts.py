"""First centers of k-means: greedy k-means++, or points at random.

A start for k centers is the first k of one long sequence, so that one sequence serves every k
that is asked of the same points.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit
from stablek.kernels.kmeans_tiles import TILE, Clouds, lanes_of

__all__ = [
    "draw_point",
    "draw_starts",
    "draws_memory",
    "random",
    "random_rows",
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
    """Scratch memory for the draws of a start."""

    state: NDArray[np.uint64]
    distance: Floats
    tile_sum: Floats
    buffer: Floats
    gain: Floats
    centers: Floats
    trials: Ints
    shuffled: Ints


def draws_memory(n: int, width: int, k: int, plus_plus: bool) -> Draws:
    """Room for starts of up to k of n points."""
    n_tiles, most = (n + TILE - 1) // TILE, 2 + int(math.log(k))
    return Draws(
        np.empty(1, dtype=np.uint64),
        np.empty(n_tiles * TILE if plus_plus else 0),
        np.empty(n_tiles),
        np.empty(TILE),
        np.empty(most * TILE),
        np.empty((most, width)),
        np.empty(most, dtype=np.int64),
        np.empty(0 if plus_plus else n, dtype=np.int64),
    )


@jit
def draw_starts(
    clouds: Clouds,
    ks: Ints,
    seed: int,
    n_init: int,
    plus_plus: bool,
    scratch: Draws,
    order: Ints,
    order_at: Ints,
) -> None:
    """Draw ``n_init`` starts of ``ks[c]`` points in each cloud: indices, start after start."""
    state = scratch.state
    for c in range(len(ks)):
        for s in range(n_init if ks[c] > 0 else 0):
            stream(seed, s, state)
            at = order_at[c] + s * ks[c]
            if plus_plus:
                _plus_plus(clouds, c, ks[c], scratch, order, at)
            else:
                random_rows(clouds.n[c], ks[c], state, scratch.shuffled, order, at)


@inner
def random_rows(
    n: int, k: int, state: NDArray[np.uint64], shuffled: Ints, order: Ints, at: int
) -> None:
    """Draw k of n points without replacement."""
    for i in range(n):
        shuffled[i] = i
    for c in range(k):
        other = c + int(random(state) * (n - c))
        order[at + c] = shuffled[other]
        shuffled[other] = shuffled[c]


@inner
def _plus_plus(clouds: Clouds, cloud: int, k: int, scratch: Draws, order: Ints, at: int) -> None:
    """Choose k points by greedy k-means++.

    Each next point is the best of a few that are drawn with probability proportional to the
    squared distance from the points chosen so far: 2 + log(number of centers), as scikit-learn
    takes for that number of centers.
    """
    points, n, width = clouds.points, clouds.n[cloud], clouds.mean.shape[1]
    first = clouds.tile_at[cloud]
    n_tiles = (n + TILE - 1) // TILE
    state, distance, tile_sum, buffer, gain, centers, trials, _ = scratch
    total, best = 0.0, 0
    for c in range(k):
        n_trials = 1 if c == 0 else 2 + int(math.log(c + 1))
        for t in range(n_trials):
            if c == 0:
                trials[t] = int(random(state) * n)
            else:
                trials[t] = draw_point(n, n_tiles, random(state) * total, distance, tile_sum)
            x = (first + trials[t] // TILE) * width * TILE + trials[t] % TILE
            for j in range(width):
                centers[t, j] = points[x + j * TILE]
        best = 0
        if c > 0:
            best = _best_trial(points, first, n, width, centers, n_trials, buffer, distance, gain)
        order[at + c] = trials[best]
        total = 0.0
        for tile in range(n_tiles):
            lanes = lanes_of(n, tile)
            _squared_distances(points, first + tile, width, lanes, centers, best, buffer)
            tile_sum[tile] = _approach(c == 0, n, tile, lanes, buffer, distance)
            total += tile_sum[tile]


@inner
def draw_point(n: int, n_tiles: int, target: float, distance: Floats, tile_sum: Floats) -> int:
    """Index at which the running sum of the squared distances passes ``target``."""
    running = 0.0
    tile = 0
    while tile < n_tiles - 1 and running + tile_sum[tile] <= target:
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
def _squared_distances(
    points: Floats, tile: int, width: int, lanes: int, centers: Floats, c: int, out: Floats
) -> None:
    n_lanes = np.uint64(lanes)
    for j in range(0, width, 2):
        x = np.uint64((tile * width + j) * TILE)
        a, b = centers[c, j], centers[c, j + 1]
        if j == 0:
            for i in range(n_lanes):
                u, v = points[x + i] - a, points[x + _1 + i] - b
                out[i] = u * u + v * v
        else:
            for i in range(n_lanes):
                u, v = points[x + i] - a, points[x + _1 + i] - b
                out[i] = out[i] + u * u + v * v


@inner
def _approach(
    initial: bool, n: int, tile: int, lanes: int, buffer: Floats, distance: Floats
) -> float:
    """Lower the squared distances of a tile to a new center's; return their sum."""
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
def _best_trial(
    points: Floats,
    first: int,
    n: int,
    width: int,
    centers: Floats,
    n_trials: int,
    buffer: Floats,
    distance: Floats,
    gain: Floats,
) -> int:
    """Which candidate lowers the sum of squared distances most."""
    used = min(n, TILE)  # lanes beyond gain nothing
    for t in range(n_trials):
        for i in range(used):
            gain[t * TILE + i] = 0.0
    for tile in range((n + TILE - 1) // TILE):
        lanes = lanes_of(n, tile)
        base = np.uint64(tile * TILE)
        for t in range(n_trials):
            _squared_distances(points, first + tile, width, lanes, centers, t, buffer)
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
