"""K-means on many sets of points: a race of restarts, whose winner is then challenged."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit
from stablek.kernels.kmeans_lloyd import SAME, Race, lloyd, race_memory
from stablek.kernels.kmeans_starts import random, stream
from stablek.kernels.kmeans_tiles import Clouds, place

__all__ = ["race_fits"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_SWAPS = 4  # challengers of a winner
_CHALLENGES = 2  # rounds of them, as long as one succeeds


@jit
def race_fits(
    clouds: Clouds,
    fit_cloud: Ints,
    ks: Ints,
    seed: int,
    n_init: int,
    order: Ints,
    order_at: Ints,
    order_k: Ints,
    max_iter: int,
    tol: float,
    n_features: int,
    centers: Floats,
) -> None:
    """Fit clouds with numbers of clusters: fit f is cloud ``fit_cloud[f]`` with ``ks[f]``.

    The starts of cloud c begin at ``order[order_at[c]]`` and are ``order_k[c]`` long. The
    centres of all fits follow each other. On entry they are an additional start, unless nan;
    on return the fitted centres. They are in the clouds' centred units.

    Dropping restarts early now and then loses the one that would have won. The additional start
    makes up for it; where there is none, the winner is challenged, for as long as that
    succeeds, by copies of itself in which one centre was moved elsewhere.
    """
    width = clouds.mean.shape[1]
    n_max, k_max = 1, 2
    for f in range(len(ks)):
        n_max = max(n_max, clouds.n[fit_cloud[f]])
        k_max = max(k_max, ks[f])
    work = race_memory(n_max, width, k_max, max(n_init, _SWAPS) + 1)
    batch = len(work.labels)
    state = np.empty(1, np.uint64)
    at = 0
    for f in range(len(ks)):
        cloud, k = fit_cloud[f], ks[f]
        n, tile, square = clouds.n[cloud], clouds.tile_at[cloud], clouds.square[cloud]
        limit = tol * square / (n * n_features)
        stream(seed, -k, state)
        best, first, n_starts = 0, 0, n_init
        guided = not np.isnan(centers[at, 0])
        rounds = 0 if k == 1 else 1 if guided else 1 + _CHALLENGES
        for challenge in range(rounds):
            if challenge == 0:
                for s in range(n_init):
                    for c in range(k):
                        index = order[order_at[cloud] + s * order_k[cloud] + c]
                        for j in range(width):
                            work.centers[s, c, j] = clouds.points[place(tile, index, j, width)]
                if guided:
                    n_starts += 1
                    for c in range(k):
                        for j in range(width):
                            work.centers[n_init, c, j] = centers[at + c, j]
                for s in range(n_starts):
                    _central_first(work.centers, s, k)
            else:
                # One more step of the winner finds its labels, which are not kept where points
                # are many, and sums that are free of the rounding of many moves.
                lloyd(clouds.points, tile, n, k, best, best + 1, 1, limit, square, work)
                _challenge(clouds.points, tile, n, k, best, state, work)
                best, first, n_starts = 0, 1, _SWAPS + 1
            for low in range(first, n_starts, batch):
                high = min(low + batch, n_starts)
                lloyd(clouds.points, tile, n, k, low, high, max_iter, limit, square, work)
            for s in range(1, n_starts):
                if work.inertia[s] < work.inertia[best] - SAME * square:
                    best = s
            if challenge > 0 and best == 0:
                break
        _central_first(work.centers, best, k)
        for c in range(k):
            for j in range(width):
                centers[at + c, j] = work.centers[best, c, j] if k > 1 else 0.0
        at += k


@inner
def _central_first(centers: Floats, s: int, k: int) -> None:
    """Exchange centre 0 with the one nearest to the mean of the centres.

    Scores are differences from centre 0: one far out would cost the others their precision.
    """
    width = centers.shape[2]
    mean = np.empty(width)
    for j in range(width):
        mean[j] = 0.0
        for c in range(k):
            mean[j] += centers[s, c, j] / k
    central, least = 0, np.inf
    for c in range(k):
        square = 0.0
        for j in range(width):
            gap = centers[s, c, j] - mean[j]
            square += gap * gap
        if square < least:
            central, least = c, square
    for j in range(width):
        centers[s, 0, j], centers[s, central, j] = centers[s, central, j], centers[s, 0, j]


@inner
def _challenge(
    points: Floats, start: int, n: int, k: int, best: int, state: NDArray[np.uint64], work: Race
) -> None:
    """Make the winner restart 0, and the following ones copies of it with one centre moved.

    The centre that is missed least goes to a point drawn with probability proportional to its
    squared distance from its own centre.
    """
    width = work.centers.shape[2]
    distance, cost = np.empty(n), np.empty(k)
    total = 0.0
    for i in range(n):
        distance[i] = 0.0
        for j in range(width):
            gap = points[place(start, i, j, width)] - work.centers[best, work.labels[0, i], j]
            distance[i] += gap * gap
        total += distance[i]
    # A cluster of m points whose nearest other centre is at distance d costs at most m d^2.
    for c in range(k):
        cost[c] = np.inf
        for other in range(k):
            square = 0.0
            for j in range(width):
                gap = work.centers[best, c, j] - work.centers[best, other, j]
                square += gap * gap
            if other != c:
                cost[c] = min(cost[c], square * work.sums[best, c, width])
    work.inertia[0] = total
    work.running[0] = 0
    for c in range(k):
        for j in range(width):
            work.centers[0, c, j] = work.centers[best, c, j]
    for s in range(1, _SWAPS + 1):
        missed = 0
        for c in range(k):
            if cost[c] < cost[missed]:
                missed = c
        taken, left = 0, random(state) * total
        while taken < n - 1 and left >= distance[taken]:
            left -= distance[taken]
            taken += 1
        for c in range(k):
            for j in range(width):
                work.centers[s, c, j] = work.centers[0, c, j]
                if c == missed:
                    work.centers[s, c, j] = points[place(start, taken, j, width)]
        if s % 2 == 0:  # two swaps for each centre that goes
            cost[missed] = np.inf
