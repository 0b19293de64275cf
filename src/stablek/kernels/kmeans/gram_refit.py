"""The race of refits on the Gram matrix: merged starts, and a winner that is polished."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.gram import (
    GramRace,
    combine_pairs,
    fetch,
    load_vectors,
    multiply_pairs,
    squared_distances,
)
from stablek.kernels.kmeans.gram_race import copy_restart, guide, make_gram_lloyd, means
from stablek.kernels.kmeans.merging import (
    Growth,
    Merging,
    cut,
    fewest_left,
    make_grow,
    n_drawn,
    plan_mergers,
)
from stablek.kernels.kmeans.polish import GAIN
from stablek.kernels.kmeans.race import REFIT_PATIENCE, Fit, make_refit_race
from stablek.kernels.kmeans.records import Fits, KMeansParameters, PairProducts, PointSets
from stablek.kernels.lean import inner, jit

__all__ = ["refit_gram"]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_grow = make_grow(fetch, squared_distances)


@inner
def _merge_starts(
    work: GramRace, n: int, k: int, n_starts: int, growth: Growth, merging: Merging
) -> None:
    """Plan the mergers of all starts, from the points that they have drawn."""
    m, fewest = n_drawn(n, k), fewest_left(n, k)
    for s in range(n_starts):
        sums, sizes = growth.sums[s], growth.sizes[s]
        _measure(work.products, n, m, growth.label[s], sums, sizes, merging.cost)
        plan_mergers(m, fewest, sizes, merging, growth.heirs[s], growth.parts[s])


@inner
def _measure(
    products: Floats, n: int, m: int, label: Ints, sums: Floats, sizes: Floats, gap: Floats
) -> None:
    """Find sums and sizes of the m clusters of a start, and the gaps between their means."""
    lanes = np.uint64(products.shape[1])
    for c in range(m):
        sizes[c] = 0.0
        for i in range(lanes):
            sums[c, i] = 0.0
    for i in range(n):
        c = label[i]
        sizes[c] += 1.0
        for j in range(lanes):
            sums[c, j] += products[i, j]
    for a in range(m):
        for b in range(m):
            gap[a, b] = 0.0
        for i in range(n):
            gap[a, label[i]] += sums[a, i]
        for b in range(m):
            gap[a, b] /= max(sizes[a], 1.0) * max(sizes[b], 1.0)
    for a in range(m):
        for b in range(a):
            gap[a, b] = gap[b, a] = max(gap[a, a] + gap[b, b] - 2.0 * gap[a, b], 0.0)
    for a in range(m):
        gap[a, a] = np.inf


@inner
def _put_centers(work: GramRace, fit: Fit, m: int, s: int, target: Ints, growth: Growth) -> None:
    """Make restart s the merged clusters of start s."""
    labels, at, lanes = work.labels, s * work.stride, np.uint64(work.products.shape[1])
    for c in range(fit.k):
        work.counts[at + c] = work.half_squares[at + c] = 0.0
        for i in range(lanes):
            work.sums[at + c, i] = 0.0
    for a in range(m):
        work.counts[at + target[a]] += growth.sizes[s, a]
        for i in range(lanes):
            work.sums[at + target[a], i] += growth.sums[s, a, i]
    for i in range(fit.n):
        labels[s, i] = target[growth.label[s, i]]
        work.half_squares[at + labels[s, i]] += 0.5 * work.sums[at + labels[s, i], i]
    work.inertia[s] = fit.square
    for c in range(fit.k):
        count = work.counts[at + c]
        if count > 0.0:
            work.half_squares[at + c] /= count * count
            work.inertia[s] -= 2.0 * work.half_squares[at + c] * count
        else:
            labels[s, 0] = -1  # the first step counts all points as moved, and fills the cluster


@inner
def _polish(work: GramRace, fit: Fit, n_passes: int) -> None:
    """Move single points of restart 0 by Hartigan's rule; see `stablek.kernels.kmeans.polish`."""
    best = work.best
    for _ in range(n_passes):
        _rivals(work, fit.n, fit.k)
        n_moved = 0
        for i in range(fit.n):
            own = work.labels[0, i]
            if best[i] * (work.counts[own] - 1.0) < GAIN * work.counts[own] * _square(
                work, own, i
            ):
                n_moved += _move(work, fit.k, i)
        if n_moved == 0:
            break


@inner
def _square(work: GramRace, c: int, i: int) -> Any:
    """Squared distance of point i from a center that is not empty."""
    half = work.half_squares[c] - work.sums[c, i] / work.counts[c]
    return max(work.squares[i] + 2.0 * half, 0.0)


@inner
def _rivals(work: GramRace, n: int, k: int) -> None:
    """What it would cost each point to join the best of the other clusters."""
    best, labels, sums, squares = work.best, work.labels, work.sums, work.squares
    for i in range(np.uint64(n)):
        best[i] = np.inf
    for c in range(k):
        row, count = np.uint64(c), work.counts[c]
        share, half = count / (count + 1.0), work.half_squares[c]
        over = 1.0 / max(count, 1.0)
        for i in range(np.uint64(n)):
            cost = share * (squares[i] + 2.0 * (half - over * sums[row, i]))
            rival = np.inf if labels[0, i] == c else cost
            best[i] = min(rival, best[i]) + 0.0  # see `polish._candidates`


@inner
def _move(work: GramRace, k: int, x: int) -> int:
    """Move a point to the best of the other clusters if Hartigan's rule holds; 1 if it did."""
    own: Any = np.int64(work.labels[0, x])
    counts, new, lowest = work.counts, -1, np.inf
    for c in range(k):
        if c != own:
            join = 0.0
            if counts[c] > 0.0:
                join = _square(work, c, x) * counts[c] / (counts[c] + 1.0)
            if join < lowest:
                new, lowest = c, join
    size = counts[own]
    if size < 2.0 or not lowest * (size - 1.0) < GAIN * size * _square(work, own, x):
        return 0
    _shift(work, own, x, -1.0)
    _shift(work, new, x, 1.0)
    work.labels[0, x] = new
    return 1


@inner
def _shift(work: GramRace, c: int, x: int, sign: float) -> None:
    """Add point x to a cluster, or subtract it.

    The square of the sum changes by that of the point and twice their product.
    """
    counts, half_squares, sums, products = work.counts, work.half_squares, work.sums, work.products
    square = 2.0 * half_squares[c] * counts[c] * counts[c]
    square += work.squares[x] + sign * 2.0 * sums[c, x]
    counts[c] += sign
    half_squares[c] = 0.5 * max(square, 0.0) / (counts[c] * counts[c])
    for i in range(np.uint64(products.shape[1])):
        sums[c, i] += sign * products[x, i]


@inner
def _adopt(work: GramRace, fit: Fit, source: int) -> None:
    """Make a restart the winner: restart 0."""
    zero: Any = np.int64(0)  # a literal 0 would compile the callee once more
    copy_restart(work, fit, source, zero)


_race = make_refit_race(make_gram_lloyd(REFIT_PATIENCE, 0), _adopt, _polish)


@jit
def refit_gram(
    sets: PointSets,
    fits: Fits,
    parameters: KMeansParameters,
    pairs: PairProducts,
    ratio: Floats,
    epsilons: Floats,
    rows: Ints,
    first_row: Ints,
    growth: Growth,
    merging: Merging,
    work: GramRace,
    centers: Floats,
) -> None:
    """Draw merged starts for each fit, race them and polish the winner, as `refit_tiles` does.

    Fits are in the order of the sets, and all k exceed 1. Set i has the rows
    ``rows[first_row[i]]`` and following. Its products come from ``pairs``, times ``ratio[i]``;
    where that is 0, its points are multiplied.
    """
    seed, n_init, plus_plus = parameters.seed, parameters.n_init, parameters.plus_plus
    target = merging.target
    zero: Any = np.int64(0)  # a literal 0 would compile the callees once more
    for f in range(len(fits.k_values)):
        which, k, first = fits.sets[f], fits.k_values[f], fits.first_center[f]
        n = sets.sizes[which]
        if f == 0 or which != fits.sets[f - 1]:
            load_vectors(sets, which, work.vectors)
            if ratio[which] > 0.0:
                start, epsilon = first_row[which], epsilons[which]
                combine_pairs(pairs, rows, start, n, epsilon, ratio[which], work)
            else:
                multiply_pairs(sets, which, work)
            for s in range(n_init):
                growth.drawn[s] = 0
        fit = Fit(n, k, sets.square[which], sets.tile_starts[which], parameters.spherical)
        m = n_drawn(n, k)
        if n_init > 0 and growth.drawn[0] != m:
            _grow(work.products, work.squares, zero, n, m, plus_plus, seed, n_init, growth)
            _merge_starts(work, n, k, n_init, growth, merging)
        for s in range(n_init):
            cut(m, k, growth.heirs[s], growth.parts[s], target)
            _put_centers(work, fit, m, s, target, growth)
        guided = not np.isnan(centers[first, 0])
        if guided:
            guide(sets, which, k, centers, first, n_init, work)
            work.inertia[n_init] = np.inf  # not known, so the first step does not drop it
        _race(work, fit, parameters, n_init + 1 if guided else n_init)
        means(n, k, work, centers, first)
