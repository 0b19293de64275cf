"""The race on the Gram matrix: the way for about as many features as points.

A center is a mean of points. So its product with a point is a mean of products of points, and its
square is a mean of such means. Once all pairs of points have been multiplied, no step of Lloyd's
algorithm reads a feature again, and a point that changes its cluster costs one row of products.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.gram import (
    GramRace,
    draw_gram_starts,
    load_vectors,
    multiply,
    multiply_pairs,
)
from stablek.kernels.kmeans.race import (
    PATIENCE,
    SAME,
    SWAPS,
    Fit,
    draw_swap,
    drop,
    list_active,
    make_race,
)
from stablek.kernels.kmeans.records import Fits, KMeansParameters, PointSets
from stablek.kernels.kmeans.starts import stream
from stablek.kernels.lean import inner, jit

__all__ = ["copy_restart", "guide", "make_gram_lloyd", "means", "race_gram"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]


@inner
def guide(
    sets: PointSets, which: int, k: int, centers: Floats, first: int, s: int, work: GramRace
) -> None:
    """Put the centers of restart s where ``centers`` has them."""
    row = s * work.stride
    work.labels[s, 0] = -1
    for c in range(k):
        work.counts[row + c], work.half_squares[row + c] = 1.0, 0.0
        for j in range(centers.shape[1]):
            value = centers[first + c, j]
            work.guides[c, j] = value
            work.half_squares[row + c] += 0.5 * value * value
    multiply(sets, which, work.guides, k, work, work.sums, row)


@inner
def _put_center(work: GramRace, fit: Fit, s: int, c: int, x: int) -> None:
    """Put center c of restart s on point x."""
    row = s * work.stride + c
    for i in range(work.products.shape[1]):
        work.sums[row, i] = work.products[x, i]
    work.counts[row], work.half_squares[row] = 1.0, 0.5 * work.squares[x]
    work.labels[s, 0] = -1


@inner
def copy_restart(work: GramRace, fit: Fit, source: int, target: int) -> None:
    """Copy the centers and labels of a restart."""
    labels = work.labels
    for i in range(fit.n):
        labels[target, i] = labels[source, i]
    for c in range(fit.k):
        old, new = source * work.stride + c, target * work.stride + c
        work.counts[new], work.half_squares[new] = work.counts[old], work.half_squares[old]
        for i in range(work.sums.shape[1]):
            work.sums[new, i] = work.sums[old, i]


@inner
def _weigh_swaps(work: GramRace, fit: Fit) -> float:
    """Find the squared distances from the centers of restart 0, and the cost of losing each."""
    k = fit.k
    distance, cost, labels = work.distance, work.cost, work.labels
    counts, half_squares, common = work.counts, work.half_squares, work.common
    total = 0.0
    for i in range(fit.n):
        label = labels[0, i]
        half = half_squares[label] - work.sums[label, i] / counts[label]
        distance[i] = max(work.squares[i] + 2.0 * half, 0.0)
        total += distance[i]
    for c in range(k):
        for other in range(k):
            common[other] = 0.0
        for i in range(fit.n):
            if labels[0, i] == c:
                for other in range(k):
                    common[other] += work.sums[other, i]
        cost[c] = np.inf if counts[c] > 0.0 else 0.0
        for other in range(k):
            if other != c and counts[c] > 0.0 and counts[other] > 0.0:
                product = common[other] / (counts[c] * counts[other])
                square = 2.0 * (half_squares[c] + half_squares[other] - product)
                cost[c] = min(cost[c], square * counts[c])
    return total


def make_gram_lloyd(patience: float, first_drop: int) -> Callable[..., None]:
    """Make Lloyd's algorithm on products; `lloyd.make_lloyd` explains the arguments."""

    @inner
    def lloyd(work: GramRace, fit: Fit, low: int, high: int, max_iter: int, limit: float) -> None:
        """Run restarts low to high side by side until each has converged or is dropped.

        A restart has converged when the squared shift of its centers is at most ``limit``.
        """
        running, inertia, decrease, active = work.running, work.inertia, work.decrease, work.active
        for s in range(low, high):
            running[s] = 1
        for iteration in range(max_iter):
            n_active = list_active(low, high, running, active)
            if n_active == 0:
                break
            for a in range(n_active):
                s = active[a]
                _assign(fit.k, s, work)
                n_moved = _count_moved(fit.n, work.labels, s, work.found)
                settled = n_moved == 0
                if not settled:
                    relocated = _regroup(work, fit, s, n_moved)
                    shift, now = _update(work, fit, s)
                    decrease[s] = inertia[s] - now
                    inertia[s] = now
                    settled = shift <= limit and not relocated
                if settled:
                    running[s] = 0
            if iteration >= first_drop:
                drop(high, fit.square, patience, inertia, decrease, running)

    return lloyd


@inner
def _count_moved(n: int, labels: Ints, s: int, found: Ints) -> int:
    """Number of points whose label changes; all of them if restart s has no labels yet."""
    n_moved = 0
    for i in range(n):
        n_moved += labels[s, i] != found[i]
    return n if labels[s, 0] < 0 else n_moved


@inner
def _assign(k: int, s: int, work: GramRace) -> None:
    """Find the nearest center of each point; ties go to the lower label.

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
            half, share = work.half_squares[row], 1.0 / work.counts[row]
            for i in range(lanes):
                value, old, label = half - share * sums[row, i], best[i], found[i]
                closer = value < old
                best[i] = value if closer else old
                found[i] = c if closer else label


@inner
def _regroup(work: GramRace, fit: Fit, s: int, n_moved: int) -> bool:
    """Give restart s the labels found; tell whether an empty cluster was given a point."""
    n, k = fit.n, fit.k
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
    relocated = _relocate(work, fit)
    anew = 2 * n_moved > n
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
def _relocate(work: GramRace, fit: Fit) -> bool:
    """Give each empty cluster the point that is farthest from its own center, if any is."""
    members, found = work.members, work.found
    relocated = False
    for empty in range(fit.k):
        if members[empty] > 0.0:
            continue
        farthest, point = SAME * fit.square / fit.n, -1
        for i in range(fit.n):
            distance = 2.0 * work.best[i] + work.squares[i]
            if distance > farthest and members[found[i]] > 1.0:
                farthest, point = distance, i
        if point >= 0:
            relocated = True
            members[found[point]] -= 1.0
            members[empty] = 1.0
            found[point] = empty
            work.best[point] = -0.5 * work.squares[point]  # it is at home now
    return relocated


@inner
def _update(work: GramRace, fit: Fit, s: int) -> tuple[float, float]:
    """Move the centers to the means; return their squared shift and the inertia.

    On the sphere the sum of a cluster is divided by its length, not by the number of its points;
    see `_update` in `stablek.kernels.kmeans.lloyd`.
    """
    labels = work.labels
    at, members, half_squares = s * work.stride, work.members, work.half_squares
    for c in range(fit.k):
        members[c] = 0.0
    for i in range(fit.n):
        members[labels[s, i]] += work.sums[at + labels[s, i], i]
    shift, explained = 0.0, 0.0
    for c in range(fit.k):
        count = work.counts[at + c]
        if fit.spherical and count > 0.0:
            explained -= 0.5 * count
            length = math.sqrt(max(members[c], 0.0))
            # Points that cancel out leave any direction, so the count is as good a divisor.
            count = work.counts[at + c] = length if length > 0.0 else count
        if count > 0.0:
            explained += members[c] / count
            new = 0.5 * members[c] / (count * count)
            shift += 2.0 * (half_squares[at + c] + new - work.common[c] / count)
            half_squares[at + c] = new
    if fit.spherical:
        explained *= 2.0
    return shift, max(fit.square - explained, 0.0)


@inner
def means(n: int, k: int, work: GramRace, centers: Floats, first: int) -> None:
    """Write the centers of restart 0; the center of an empty cluster is on the first point."""
    vectors, counts, labels = work.vectors, work.counts, work.labels
    for c in range(k):
        for j in range(centers.shape[1]):
            centers[first + c, j] = 0.0 if counts[c] > 0.0 else vectors[0, j]
    for i in range(n):
        row = first + labels[0, i]
        for j in range(centers.shape[1]):
            centers[row, j] += vectors[i, j]
    for c in range(k):
        for j in range(centers.shape[1] if counts[c] > 0.0 else 0):
            centers[first + c, j] /= counts[c]


@inner
def _swap_centers(work: GramRace, fit: Fit) -> None:
    """Make the restarts after the winner, restart 0, copies of it with one center moved."""
    total = _weigh_swaps(work, fit)
    zero: Any = np.int64(0)  # a literal 0 would compile the callee once more
    for s in range(1, SWAPS + 1):
        lost, x = draw_swap(s, fit.n, fit.k, total, work.distance, work.cost, work.state)
        copy_restart(work, fit, zero, s)
        _put_center(work, fit, s, lost, x)


_race = make_race(make_gram_lloyd(PATIENCE, 1), copy_restart, _swap_centers)


@jit
def race_gram(
    sets: PointSets, fits: Fits, parameters: KMeansParameters, work: GramRace, centers: Floats
) -> None:
    """Draw starts and race them as `race_tiles` does; fits are in the order of the sets.

    On entry the centers of a fit are one more start, unless nan. On return they are the fitted
    centers. They are in the units of the set. All k exceed 1.
    """
    n_init, n_fits, most = parameters.n_init, len(fits.k_values), 0
    for f in range(n_fits):
        which, k, first = fits.sets[f], fits.k_values[f], fits.first_center[f]
        n = sets.sizes[which]
        if f == 0 or which != fits.sets[f - 1]:
            load_vectors(sets, which, work.vectors)
            multiply_pairs(sets, which, work)
            most, other = k, f + 1
            while other < n_fits and fits.sets[other] == which:
                most = max(most, fits.k_values[other])
                other += 1
            draw_gram_starts(n, most, parameters, work)
        fit = Fit(n, k, sets.square[which], sets.tile_starts[which], parameters.spherical)
        for s in range(n_init):
            for c in range(k):
                _put_center(work, fit, s, c, work.order[s * most + c])
        guided = not np.isnan(centers[first, 0])
        if guided:
            guide(sets, which, k, centers, first, n_init, work)
        stream(parameters.seed, -k, work.state)
        _race(work, fit, parameters, guided)
        means(n, k, work, centers, first)
