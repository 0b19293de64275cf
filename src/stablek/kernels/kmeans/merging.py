"""Starts that are merged: clusters around more points than centers, merged two by two.

Points are drawn one after the other, with probability proportional to the squared distance from
those drawn so far, and each point of the set belongs to the nearest of them. Ward's rule then
merges these clusters until k are left. A start of this kind is worth several plain ones, because
no two centers of it share a cluster that is far from the others.

The number of points drawn depends on k by powers of two. So fits of neighboring k share a start up
to the last mergers, and still a fit does not depend on those beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.starts import draw_point, random, stream
from stablek.kernels.kmeans.tiles import TILE, lanes_of, tiles_of
from stablek.kernels.lean import inner, inner_reordered

__all__ = [
    "Growth",
    "Merging",
    "cut",
    "fewest_left",
    "growth_memory",
    "make_grow",
    "n_drawn",
    "plan_mergers",
]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_FEWEST = 8  # points that are drawn for any k


class Growth(NamedTuple):
    """The starts of one set of points: start s has drawn ``drawn[s]`` points so far.

    ``distance`` has the squared distance of each point from the nearest of those, ``tile_sum`` its
    sum over each tile, ``label`` the nearest one, and ``state`` the random stream. ``center`` has
    room for the point that is drawn.

    The clusters around the points drawn have their sums, as the way keeps them, in ``sums[s]`` and
    their numbers of points in ``sizes[s]``. In merger i, ``heirs[s, i]`` takes over
    ``parts[s, i]``.
    """

    drawn: Ints
    distance: Floats
    tile_sum: Floats
    label: Ints
    state: NDArray[np.uint64]
    buffer: Floats
    center: Floats
    sums: Floats
    sizes: Floats
    heirs: Ints
    parts: Ints


class Merging(NamedTuple):
    """Scratch memory for mergers.

    ``cost`` has what the merger of each pair would add to the inertia, and ``counts`` the numbers
    of points. ``partner`` is the cheapest cluster to merge with, and ``price`` what that costs.
    ``target`` is for `cut`; mergers keep the names of clusters there.
    """

    cost: Floats
    counts: Floats
    partner: Ints
    price: Floats
    target: Ints


def growth_memory(
    n: int, k: int, n_starts: int, width: int, columns: int
) -> tuple[Growth, Merging]:
    """Room for starts of up to n points and k clusters, whose sums have some columns."""
    n_tiles, most = -(-n // TILE), _n_drawn(n, k)
    growth = Growth(
        np.zeros(n_starts, dtype=np.int64),
        np.empty((n_starts, n_tiles * TILE)),
        np.empty((n_starts, n_tiles)),
        np.empty((n_starts, n_tiles * TILE), dtype=np.int64),
        np.empty(n_starts, dtype=np.uint64),
        np.empty(TILE),
        np.empty((1, width)),
        np.empty((n_starts, most, columns)),
        np.empty((n_starts, most)),
        np.empty((n_starts, most), dtype=np.int64),
        np.empty((n_starts, most), dtype=np.int64),
    )
    merging = Merging(
        np.empty((most, most)),
        np.empty(most),
        np.empty(most, dtype=np.int64),
        np.empty(most),
        np.empty(most, dtype=np.int64),
    )
    return growth, merging


def _n_drawn(n: int, k: int) -> int:
    """Number of points that starts with k centers draw: one and a half to three for each.

    They are at most half of all points, as starts from nearly all points would be all the same.
    """
    drawn = _FEWEST
    while 2 * drawn < 3 * k:
        drawn *= 2
    return max(k, min(n // 2, drawn))


n_drawn = inner(_n_drawn)


@inner
def fewest_left(n: int, k: int) -> int:
    """The smallest number of centers whose starts draw as many points as those with k."""
    drawn = n_drawn(n, k)
    while k > 1 and n_drawn(n, k - 1) == drawn:
        k -= 1
    return k


def make_grow(fetch: Any, squared_distances: Any) -> Callable[..., None]:
    """Make the drawing of points of one way; `starts.make_plus_plus` explains the arguments."""

    @inner
    def grow(
        points: Any,
        centers: Any,
        first: int,
        n: int,
        goal: int,
        plus_plus: bool,
        seed: int,
        n_starts: int,
        growth: Growth,
    ) -> None:
        """Go on drawing until each start has ``goal`` of the n points from tile ``first`` on."""
        buffer, n_tiles = growth.buffer, tiles_of(n)
        zero: Any = np.int64(0)  # a literal 0 would compile the callees once more
        for s in range(n_starts):
            distance, tile_sum = growth.distance[s], growth.tile_sum[s]
            label, state, begin = growth.label[s], growth.state[s : s + 1], growth.drawn[s]
            if begin == 0 or begin > goal:
                begin = 0
                stream(seed, s, state)
                for i in range(n_tiles * TILE):
                    distance[i], label[i] = np.inf, 0
            for c in range(begin, goal):
                if c == 0 or not plus_plus:
                    x = int(random(state) * n)
                else:
                    total = 0.0
                    for tile in range(n_tiles):
                        total += tile_sum[tile]
                    x = draw_point(n, random(state) * total, distance, tile_sum)
                fetch(points, centers, first, x, zero)
                for tile in range(n_tiles):
                    lanes = lanes_of(n, tile)
                    squared_distances(points, centers, first + tile, lanes, x, zero, buffer)
                    tile_sum[tile] = _approach(c, n, tile, lanes, buffer, distance, label)
            growth.drawn[s] = goal

    return grow


@inner
def _approach(
    c: int, n: int, tile: int, lanes: int, buffer: Floats, distance: Floats, label: Ints
) -> float:
    """Let point c take over what is nearer to it than to all before; return the tile's sum."""
    base = np.uint64(tile * TILE)
    for i in range(np.uint64(lanes)):
        old, new, owner = distance[base + i], buffer[i], label[base + i]
        # The sum keeps LLVM from stores under a mask, which take longer than all else here.
        distance[base + i] = min(new, old) + 0.0
        label[base + i] = c if new < old else owner
    for i in range(n - tile * TILE, lanes):
        distance[tile * TILE + i] = 0.0
    return _sum(base, lanes, distance)


@inner_reordered
def _sum(base: Any, lanes: int, values: Floats) -> float:
    total = 0.0
    for i in range(np.uint64(lanes)):
        total += values[base + i]
    return total


@inner
def plan_mergers(
    m: int, fewest: int, sizes: Floats, merging: Merging, heirs: Ints, parts: Ints
) -> None:
    """List the mergers of m clusters, each time of the two that cost least, until few are left.

    On entry ``cost`` has the squared distances of the means, and inf on its diagonal. Empty
    clusters cost nothing, so they go first. The clusters that are left stay at the front of all
    arrays: the last one takes the place of one that is merged into another.
    """
    cost, counts, partner, price, name = merging
    for a in range(m):
        name[a], counts[a] = a, sizes[a]
        partner[a], price[a] = -1, np.inf
    for b in range(m):
        _offer(b, m, cost, counts, partner, price)
    for i in range(m - fewest):
        last, best, lowest = m - i - 1, 0, np.inf
        for a in range(last + 1):
            if price[a] < lowest:
                best, lowest = a, price[a]
        low, high = min(best, partner[best]), max(best, partner[best])
        heirs[i], parts[i] = min(name[low], name[high]), max(name[low], name[high])
        _merge(low, high, last, cost, counts)
        name[low], name[high] = heirs[i], name[last]
        counts[high], partner[high], price[high] = counts[last], partner[last], price[last]
        for a in range(last):
            # The merged cluster is nearer to none than the nearer of its parts was, so that
            # those with other partners keep them.
            other = partner[a]
            lost = (other == low) | (other == high)
            if lost or a == low:
                _find_partner(a, last, cost, partner, price)
            elif other == last:
                partner[a] = high


@inner
def cut(m: int, k: int, heirs: Ints, parts: Ints, target: Ints) -> None:
    """Number the k clusters that m have been merged into: ``target`` has the number of each."""
    for a in range(m):
        target[a] = a
    for i in range(m - k):
        target[parts[i]] = heirs[i]
    number = 0
    for a in range(m):  # an heir comes before the parts that it takes over
        if target[a] == a:
            target[a] = number
            number += 1
        else:
            target[a] = target[target[a]]


@inner
def _offer(b: int, m: int, cost: Floats, counts: Floats, partner: Ints, price: Floats) -> None:
    """Turn distances from cluster b into costs, and offer it to the others as a partner."""
    row, size = np.uint64(b), counts[b]
    for a in range(np.uint64(m)):
        now = cost[row, a] * (size * counts[a] / max(size + counts[a], 1.0))
        old, other = price[a], partner[a]
        cheaper = now < old
        cost[row, a] = now
        price[a] = now if cheaper else old
        partner[a] = b if cheaper else other
    cost[b, b] = np.inf  # an empty cluster has made it nan


@inner
def _find_partner(a: int, m: int, cost: Floats, partner: Ints, price: Floats) -> None:
    """Find the cheapest of m clusters to merge with; the first of equals."""
    row, lowest, found = np.uint64(a), np.inf, -1
    for b in range(m):
        value = cost[row, np.uint64(b)]
        if value < lowest:
            lowest, found = value, b
    partner[a], price[a] = found, lowest


@inner
def _merge(low: int, high: int, last: int, cost: Floats, counts: Floats) -> None:
    """Make a cluster a part of another one, and put the last one in its place.

    Costs follow from the update of Lance and Williams for Ward's rule.
    """
    one, two, between = counts[low], counts[high], cost[low, high]
    heir, part, end = np.uint64(low), np.uint64(high), np.uint64(last)
    for a in range(np.uint64(last + 1)):
        size = counts[a]
        both = (one + size) * cost[heir, a] + (two + size) * cost[part, a] - size * between
        cost[heir, a] = max(both / max(one + two + size, 1.0), 0.0)
    counts[low] = one + two
    cost[low, high] = cost[low, last]
    for a in range(np.uint64(last)):
        cost[part, a] = cost[end, a]
    cost[high, low] = cost[low, high]
    cost[low, low] = cost[high, high] = np.inf
    for a in range(np.uint64(last)):
        cost[a, heir] = cost[heir, a]
        cost[a, part] = cost[part, a]
