"""K-means on many sets of points: a race of restarts, whose winner is then challenged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit
from stablek.kernels.kmeans_lloyd import SAME, Race, lloyd
from stablek.kernels.kmeans_starts import random, stream
from stablek.kernels.kmeans_tiles import TILE, Clouds, place

__all__ = ["CHALLENGES", "FINE", "FINE_STEPS", "SWAPS", "best_restart", "draw_swap", "race_fits"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

SWAPS = 4  # challengers of a winner
CHALLENGES = 3  # rounds of them, as long as one succeeds, unless the caller asks for fewer
FINE = 0.01  # tolerance for a winner, relative to that for the race
FINE_STEPS = 10  # steps that a winner may take to get there


@jit
def race_fits(
    clouds: Clouds,
    fit_cloud: Ints,
    ks: Ints,
    center_at: Ints,
    seed: int,
    n_init: int,
    order: Ints,
    order_at: Ints,
    order_k: Ints,
    max_iter: int,
    tol: float,
    n_challenges: int,
    work: Race,
    centers: Floats,
) -> None:
    """Fit clouds with numbers of clusters: fit f is cloud ``fit_cloud[f]`` with ``ks[f]``.

    The starts of cloud c begin at ``order[order_at[c]]`` and are ``order_k[c]`` long. The
    centers of fit f begin at ``center_at[f]``. On entry they are an additional start, unless
    nan; on return the fitted centers. They are in the clouds' centerd units.

    Dropping restarts early now and then loses the one that would have won. The additional start
    makes up for it; where there is none, the winner is refined, and is challenged, for as long
    as that succeeds, by copies of itself in which one center was moved elsewhere.
    """
    width = clouds.mean.shape[1]
    batch, stride = len(work.labels), work.stride
    points, origin, slot, raced = clouds.points, clouds.origin, work.slot, work.centers
    for f in range(len(ks)):
        cloud, k, at = fit_cloud[f], ks[f], center_at[f]
        n, tile, square = clouds.n[cloud], clouds.tile_at[cloud], clouds.square[cloud]
        limit = tol * square / n
        for i in range((n + TILE - 1) // TILE * TILE):
            slot[origin[tile * TILE + i]] = i
        stream(seed, -k, work.state)
        first, n_starts = 0, n_init
        guided = not np.isnan(centers[at, 0])
        for stage in range(2 + 2 * n_challenges if k > 1 else 0):
            fine = stage % 2 == 1  # the winner goes on alone; this also leaves its labels in work
            if fine:
                first, n_starts = 0, 1
            elif stage > 0:
                _challenge(points, tile, n, k, work)
                first, n_starts = 1, SWAPS + 1
            else:
                for s in range(n_init):
                    for c in range(k):
                        index = order[order_at[cloud] + s * order_k[cloud] + c]
                        x = place(tile, slot[index], 0, width)
                        for j in range(width):
                            raced[s * stride + c, j] = points[x + j * TILE]
                if guided:
                    n_starts += 1
                    for c in range(k):
                        for j in range(width):
                            raced[n_init * stride + c, j] = centers[at + c, j]
            for low in range(first, n_starts, batch):
                high = min(low + batch, n_starts)
                steps = min(FINE_STEPS, max_iter) if fine else max_iter
                shift = FINE * limit if fine else limit
                lloyd(clouds, cloud, k, low, high, steps, shift, work)
            if not fine:
                best = best_restart(n_starts, square, work.inertia)
                work.inertia[0] = work.inertia[best]
                for c in range(k):
                    for j in range(width):
                        raced[c, j] = raced[best * stride + c, j]
                if guided or (stage > 0 and best == 0):
                    break
        for c in range(k):
            for j in range(width):
                centers[at + c, j] = raced[c, j] if k > 1 else 0.0


@inner
def best_restart(n_starts: int, square: float, inertia: Floats) -> int:
    """Which of the restarts is best; one that is as good as an earlier one is not."""
    best = 0
    for s in range(1, n_starts):
        if inertia[s] < inertia[best] - SAME * square:
            best = s
    return best


@inner
def draw_swap(n: int, k: int, cost: Floats, distance: Floats, left: float) -> tuple[int, int]:
    """The center that is missed least, and the point at which the distances add up to ``left``."""
    missed = 0
    for c in range(k):
        if cost[c] < cost[missed]:
            missed = c
    taken = 0
    while taken < n - 1 and left >= distance[taken]:
        left -= distance[taken]
        taken += 1
    return missed, taken


@inner
def _challenge(points: Floats, start: int, n: int, k: int, work: Race) -> None:
    """Make the restarts after the winner, restart 0, copies of it with one center moved.

    The center that is missed least goes to a point drawn with probability proportional to its
    squared distance from its own center.
    """
    centers, distance, cost, slot = work.centers, work.distance, work.cost, work.slot
    width = centers.shape[1]
    total = 0.0
    for i in range(n):
        distance[i] = 0.0
        label, x = work.labels[0, slot[i]], place(start, slot[i], 0, width)
        for j in range(width):
            gap = points[x + j * TILE] - centers[label, j]
            distance[i] += gap * gap
        total += distance[i]
    # A cluster of m points whose nearest other center is at distance d costs at most m d^2.
    for c in range(k):
        cost[c] = np.inf
        for other in range(k):
            square = 0.0
            for j in range(width):
                gap = centers[c, j] - centers[other, j]
                square += gap * gap
            if other != c:
                cost[c] = min(cost[c], square * work.sums[c, width])
    for s in range(1, SWAPS + 1):
        missed, taken = draw_swap(n, k, cost, distance, random(work.state) * total)
        for j in range(width):
            for c in range(k):
                centers[s * work.stride + c, j] = centers[c, j]
            centers[s * work.stride + missed, j] = points[place(start, slot[taken], j, width)]
        if s % 2 == 0:  # two swaps for each center that goes
            cost[missed] = np.inf
