"""K-means of about as many dimensions as points: by the products of all pairs of points.

A center is a mean of points: its product with a point is a mean of products of points, and its
square is a mean of such means. Once all pairs have been multiplied, no step of Lloyd's algorithm
reads a feature again, and a point that changes its cluster costs one row of products. The race is
the one of `kmeans`, with the same starts.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit
from stablek.kernels.kmeans import FINE, FINE_STEPS, SWAPS, best_restart, draw_swap
from stablek.kernels.kmeans_lloyd import SAME, drop
from stablek.kernels.kmeans_starts import draw_point, random, random_rows, stream
from stablek.kernels.kmeans_tiles import TILE, Clouds, lanes_of, place, score_rows

__all__ = ["gains_by_pairs", "pairs_memory", "race_pairs"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_FEATURES = 32  # with fewer, points in tiles are as fast
_POINTS = 2048  # with more, the products fill the caches
_SHARE = 100  # restarts times this are worth multiplying all pairs, as several k share them


def gains_by_pairs(n: Ints, ks: Ints, n_features: int, n_init: int) -> NDArray[np.bool_]:
    """Whether a fit of n points with k clusters is faster by products of pairs."""
    if n_features < _FEATURES:
        return np.zeros(len(n), dtype=np.bool_)
    return (n <= _POINTS) & (2 * n <= (ks - 1) * min(n_features, _SHARE * n_init))


class Pairs(NamedTuple):
    """Products of the points of one cloud, and what the restarts of one fit hold.

    Row i of ``products`` has those of point i with all points, ``squares`` those with itself.
    Restart s has rows ``s * stride`` and following in ``sums``, the products of all points with
    the sum of the points of a cluster, in ``counts``, their number, and in ``level``, half the
    squared length of the center. ``vectors`` has the points as rows, with three rows more, as
    `score_rows` reads them, and ``guides`` the centers of a start that is given.
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
    level: Floats
    labels: Ints
    inertia: Floats
    decrease: Floats
    running: Ints
    best: Floats
    found: Ints
    members: Floats
    common: Floats
    distance: Floats
    tile_sum: Floats
    gain: Floats
    trials: Ints
    order: Ints
    shuffled: Ints
    cost: Floats
    state: NDArray[np.uint64]


def pairs_memory(n: int, width: int, k: int, n_init: int) -> Pairs:
    """Room for fits of up to n points and k clusters."""
    lanes, n_starts = (n + TILE - 1) // TILE * TILE, max(n_init, SWAPS) + 1
    rows, most = max(n, k) + 3, 2 + int(math.log(k))
    return Pairs(
        k,
        np.empty((n, lanes)),
        np.empty(lanes),
        np.zeros((n + 3, width)),
        np.zeros((k + 3, width)),
        np.zeros(rows),
        np.arange(rows),
        np.empty(rows * TILE),
        np.empty((n_starts * k, lanes)),
        np.empty(n_starts * k),
        np.empty(n_starts * k),
        np.empty((n_starts, n), dtype=np.int32),
        np.empty(n_starts),
        np.empty(n_starts),
        np.empty(n_starts, dtype=np.int64),
        np.empty(lanes),
        np.empty(lanes, dtype=np.int64),
        np.empty(k),
        np.empty(k),
        np.empty(lanes),
        np.empty(lanes // TILE),
        np.empty(most),
        np.empty(most, dtype=np.int64),
        np.empty((n_init, k), dtype=np.int64),
        np.empty(n, dtype=np.int64),
        np.empty(k),
        np.empty(1, dtype=np.uint64),
    )


@jit
def race_pairs(
    clouds: Clouds,
    fit_cloud: Ints,
    ks: Ints,
    center_at: Ints,
    seed: int,
    n_init: int,
    plus_plus: bool,
    max_iter: int,
    tol: float,
    n_challenges: int,
    work: Pairs,
    centers: Floats,
) -> None:
    """Draw starts and race them as `kmeans.race_fits` does; fits are in the order of the clouds.

    The centers of fit f begin at ``center_at[f]``. On entry they are an additional start, unless
    nan; on return the fitted centers. They are in the clouds' centerd units. All k exceed 1.
    """
    for f in range(len(ks)):
        cloud, k, at = fit_cloud[f], ks[f], center_at[f]
        n, square = clouds.n[cloud], clouds.square[cloud]
        if f == 0 or cloud != fit_cloud[f - 1]:
            _multiply_pairs(clouds, cloud, work)
            at_most, other = k, f + 1
            while other < len(ks) and fit_cloud[other] == cloud:
                at_most = max(at_most, ks[other])
                other += 1
            for s in range(n_init):
                stream(seed, s, work.state)
                if plus_plus:
                    _plus_plus(n, at_most, s, work)
                else:
                    random_rows(n, at_most, work.state, work.shuffled, work.order[s], 0)
        guided = not np.isnan(centers[at, 0])
        for s in range(n_init):
            for c in range(k):
                _start_at_point(work, s * work.stride + c, work.order[s, c])
        if guided:
            _start_at_centers(clouds, cloud, k, centers, at, n_init * work.stride, work)
        stream(seed, -k, work.state)
        _race(n, k, n_init, guided, square, tol * square / n, max_iter, n_challenges, work)
        _means(n, k, work, centers, at)


@inner
def _race(
    n: int,
    k: int,
    n_init: int,
    guided: bool,
    square: float,
    limit: float,
    max_iter: int,
    n_challenges: int,
    work: Pairs,
) -> None:
    """Race the starts, and challenge their winner; it is restart 0 in the end."""
    for stage in range(2 + 2 * n_challenges):
        fine = stage % 2 == 1
        first, n_starts = 0, 1
        if not fine and stage == 0:
            n_starts = n_init + 1 if guided else n_init
        elif not fine:
            _challenge(n, k, work)
            first, n_starts = 1, SWAPS + 1
        steps = min(FINE_STEPS, max_iter) if fine else max_iter
        _lloyd(n, k, first, n_starts, fine, steps, FINE * limit if fine else limit, square, work)
        if not fine:
            best = best_restart(n_starts, square, work.inertia)
            _copy_restart(best, n, k, work)
            if guided or (stage > 0 and best == 0):
                break


@inner
def _multiply_pairs(clouds: Clouds, cloud: int, work: Pairs) -> None:
    """Multiply all pairs of points of a cloud."""
    n, start, width = clouds.n[cloud], clouds.tile_at[cloud], clouds.mean.shape[1]
    for i in range(n):
        x = place(start, i, 0, width)
        for j in range(width):
            work.vectors[i, j] = clouds.points[x + j * TILE]
    zero: Any = np.int64(0)  # a literal 0 would have the callee compiled once more
    _multiply(clouds, cloud, work.vectors, n, work, work.products, zero)
    for i in range(n):
        work.squares[i] = work.products[i, i]


@inner
def _multiply(
    clouds: Clouds,
    cloud: int,
    vectors: Floats,
    n_rows: int,
    work: Pairs,
    out: Floats,
    at: int,
) -> None:
    """Multiply the first vectors with all points of a cloud, into rows of ``out``."""
    n, start, width = clouds.n[cloud], clouds.tile_at[cloud], clouds.mean.shape[1]
    zero: Any = np.int64(0)  # a literal 0 would have the callee compiled once more
    for t in range((n + TILE - 1) // TILE):
        lanes = lanes_of(n, t)
        score_rows(
            clouds.points,
            start + t,
            width,
            lanes,
            vectors,
            work.zeros,
            zero,
            work.rows,
            n_rows,
            work.scores,
        )
        for r in range(n_rows):
            for i in range(TILE):
                value = -work.scores[r * TILE + i] if i < lanes else 0.0
                out[at + r, t * TILE + i] = value


@inner
def _plus_plus(n: int, k: int, s: int, work: Pairs) -> None:
    """Choose k points by greedy k-means++, as `kmeans_starts` does."""
    distance, tile_sum, trials, gain = work.distance, work.tile_sum, work.trials, work.gain
    products, squares, state = work.products, work.squares, work.state
    n_tiles = (n + TILE - 1) // TILE
    total = 0.0
    for c in range(k):
        n_trials = 1 if c == 0 else 2 + int(math.log(c + 1))
        best = 0
        for t in range(n_trials):
            gain[t] = 0.0
            if c == 0:
                trials[t] = int(random(state) * n)
            else:
                trials[t] = draw_point(n, n_tiles, random(state) * total, distance, tile_sum)
        for t in range(n_trials if c > 0 else 0):
            x = trials[t]
            for i in range(n):
                value = max(squares[i] + squares[x] - 2.0 * products[x, i], 0.0)
                gain[t] += distance[i] - min(distance[i], value)
            if gain[t] > gain[best]:
                best = t
        x = trials[best]
        work.order[s, c] = x
        total = 0.0
        for tile in range(n_tiles):
            tile_sum[tile] = 0.0
            for i in range(tile * TILE, min(n, (tile + 1) * TILE)):
                value = max(squares[i] + squares[x] - 2.0 * products[x, i], 0.0)
                distance[i] = value if c == 0 else min(distance[i], value)
                tile_sum[tile] += distance[i]
            total += tile_sum[tile]


@inner
def _start_at_point(work: Pairs, row: int, point: int) -> None:
    """Put a center on a point."""
    for i in range(work.products.shape[1]):
        work.sums[row, i] = work.products[point, i]
    work.counts[row] = 1.0
    work.level[row] = 0.5 * work.squares[point]


@inner
def _start_at_centers(
    clouds: Clouds, cloud: int, k: int, centers: Floats, at: int, row: int, work: Pairs
) -> None:
    """Put centers where ``centers`` has them."""
    for c in range(k):
        work.counts[row + c], work.level[row + c] = 1.0, 0.0
        for j in range(centers.shape[1]):
            value = centers[at + c, j]
            work.guides[c, j] = value
            work.level[row + c] += 0.5 * value * value
    _multiply(clouds, cloud, work.guides, k, work, work.sums, row)


@inner
def _lloyd(
    n: int,
    k: int,
    low: int,
    high: int,
    labeled: bool,
    max_iter: int,
    limit: float,
    square: float,
    work: Pairs,
) -> None:
    """Iterate restarts low to high side by side until each has converged or is dropped."""
    running, inertia, decrease = work.running, work.inertia, work.decrease
    for s in range(low, high):
        running[s] = 1
        if not labeled:
            inertia[s] = np.inf
            for i in range(n):
                work.labels[s, i] = -1
    for iteration in range(max_iter):
        n_running = 0
        for s in range(low, high):
            if running[s] == 1:
                n_running += 1
                _assign(k, s, work)
                moved = 0
                for i in range(n):
                    moved += work.labels[s, i] != work.found[i]
                if moved == 0:
                    running[s] = 0
                    continue
                relocated = _regroup(n, k, s, moved, square, work)
                shift, now = _update(n, k, s, square, work)
                decrease[s] = inertia[s] - now
                inertia[s] = now
                if shift <= limit and not relocated:
                    running[s] = 0
        if n_running == 0:
            break
        if iteration > 0:
            drop(high, square, inertia, decrease, running)


@inner
def _assign(k: int, s: int, work: Pairs) -> None:
    """Find the nearest center of each point, ties to the lower label.

    ``best`` becomes half the squared distance less half the square of the point.
    """
    best, found, sums = work.best, work.found, work.sums
    lanes = np.uint64(work.products.shape[1])
    for i in range(lanes):
        best[i] = np.inf
        found[i] = 0
    for c in range(k):
        row = np.uint64(s * work.stride + c)
        if work.counts[row] > 0.0:
            level, share = work.level[row], 1.0 / work.counts[row]
            for i in range(lanes):
                value, old, label = level - share * sums[row, i], best[i], found[i]
                closer = value < old
                best[i] = value if closer else old
                found[i] = c if closer else label


@inner
def _regroup(n: int, k: int, s: int, moved: int, square: float, work: Pairs) -> bool:
    """Give restart s the labels found; tell whether an empty cluster had to be given a point."""
    at, members, common, found = s * work.stride, work.members, work.common, work.found
    sums, labels, products = work.sums, work.labels, work.products
    lanes = np.uint64(products.shape[1])
    for c in range(k):
        members[c] = common[c] = 0.0
    for i in range(n):
        members[found[i]] += 1.0
        common[found[i]] += sums[at + found[i], i]
    for c in range(k):
        if members[c] > 0.0:
            common[c] /= work.counts[at + c]
    relocated = False
    for empty in range(k):
        if members[empty] > 0.0:
            continue
        farthest, point = SAME * square / n, -1
        for i in range(n):
            distance = 2.0 * work.best[i] + work.squares[i]
            if distance > farthest and members[found[i]] > 1.0:
                farthest, point = distance, i
        if point >= 0:
            relocated = True
            members[found[point]] -= 1.0
            members[empty] = 1.0
            found[point] = empty
            work.best[point] = -0.5 * work.squares[point]  # it is at home now
    anew = 2 * moved > n
    if anew:
        for c in range(k):
            for i in range(lanes):
                sums[at + c, i] = 0.0
    for i in range(n):
        old, new = labels[s, i], found[i]
        if anew:
            for j in range(lanes):
                sums[at + new, j] += products[i, j]
        elif old != new:
            for j in range(lanes):
                sums[at + new, j] += products[i, j]
                sums[at + old, j] -= products[i, j]
        labels[s, i] = new
    for c in range(k):
        work.counts[at + c] = members[c]
    return relocated


@inner
def _update(n: int, k: int, s: int, square: float, work: Pairs) -> tuple[float, float]:
    """Move the centers to the means; return their squared shift and the inertia."""
    at, members, common, level = s * work.stride, work.members, work.common, work.level
    for c in range(k):
        members[c] = 0.0
    for i in range(n):
        label = work.labels[s, i]
        members[label] += work.sums[at + label, i]
    shift, explained = 0.0, 0.0
    for c in range(k):
        count = work.counts[at + c]
        if count > 0.0:
            explained += members[c] / count
            new = 0.5 * members[c] / (count * count)
            shift += 2.0 * (level[at + c] + new - common[c] / count)
            level[at + c] = new
    return shift, max(square - explained, 0.0)


@inner
def _copy_restart(best: int, n: int, k: int, work: Pairs) -> None:
    """Make restart 0 a copy of another one."""
    if best == 0:
        return
    work.inertia[0] = work.inertia[best]
    for i in range(n):
        work.labels[0, i] = work.labels[best, i]
    _copy_centers(best, 0, k, work)


@inner
def _copy_centers(source: int, target: int, k: int, work: Pairs) -> None:
    for c in range(k):
        old, new = source * work.stride + c, target * work.stride + c
        work.counts[new], work.level[new] = work.counts[old], work.level[old]
        for i in range(work.sums.shape[1]):
            work.sums[new, i] = work.sums[old, i]


@inner
def _challenge(n: int, k: int, work: Pairs) -> None:
    """Make the restarts after the winner, restart 0, copies of it with one center moved.

    As in `kmeans`: the center that is missed least goes to a point drawn with probability
    proportional to its squared distance from its own center.
    """
    distance, cost, counts, level = work.distance, work.cost, work.counts, work.level
    total = 0.0
    for i in range(n):
        label = work.labels[0, i]
        half = level[label] - work.sums[label, i] / counts[label]
        distance[i] = max(work.squares[i] + 2.0 * half, 0.0)
        total += distance[i]
    common = work.common
    for c in range(k):
        for other in range(k):
            common[other] = 0.0
        for i in range(n):
            if work.labels[0, i] == c:
                for other in range(k):
                    common[other] += work.sums[other, i]
        cost[c] = np.inf if counts[c] > 0.0 else 0.0
        for other in range(k):
            if other != c and counts[c] > 0.0 and counts[other] > 0.0:
                product = common[other] / (counts[c] * counts[other])
                square = 2.0 * (level[c] + level[other] - product)
                cost[c] = min(cost[c], square * counts[c])
    for s in range(1, SWAPS + 1):
        missed, taken = draw_swap(n, k, cost, distance, random(work.state) * total)
        _copy_centers(0, s, k, work)
        _start_at_point(work, s * work.stride + missed, taken)
        if s % 2 == 0:  # two swaps for each center that goes
            cost[missed] = np.inf


@inner
def _means(n: int, k: int, work: Pairs, centers: Floats, at: int) -> None:
    """Centers of the clusters of restart 0; that of an empty one is on the first point."""
    vectors, counts = work.vectors, work.counts
    for c in range(k):
        for j in range(centers.shape[1]):
            centers[at + c, j] = 0.0 if counts[c] > 0.0 else vectors[0, j]
    for i in range(n):
        row = at + work.labels[0, i]
        for j in range(centers.shape[1]):
            centers[row, j] += vectors[i, j]
    for c in range(k):
        for j in range(centers.shape[1] if counts[c] > 0.0 else 0):
            centers[at + c, j] /= counts[c]
