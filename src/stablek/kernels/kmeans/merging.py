"""Starts that are merged: clusters around more points than centers, merged two by two.

Points are drawn one after the other, with probability proportional to the squared distance from
those drawn so far, and each point of the set belongs to the nearest of them. Ward's rule then
merges these clusters until k are left. A start of this kind is worth several plain ones, because
no two centers of it share a cluster that is far from the others.

The number of points drawn is a power of two that depends on k alone. So fits of neighboring k share
a start up to the last mergers, and still a fit does not depend on those beside it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner
from stablek.kernels.kmeans.starts import draw_point, random, stream
from stablek.kernels.kmeans.tiles import TILE, lanes_of, tiles_of

__all__ = [
    "Growth",
    "Merging",
    "cut",
    "growth_memory",
    "make_grow",
    "n_drawn",
    "plan_mergers",
]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_FEWEST = 16  # points that are drawn for any k


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

    ``gap`` has the squared distances of the means, ``counts`` the numbers of points, ``partner``
    the cheapest cluster to merge with and ``price`` what that costs; ``target`` is for `cut`.
    """

    gap: Floats
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
    """Number of points that starts with k centers draw: at least two for each, if there are."""
    drawn = _FEWEST
    while drawn < 2 * k:
        drawn *= 2
    return min(n, drawn)


n_drawn = inner(_n_drawn)


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
        s: int,
        growth: Growth,
    ) -> None:
        """Go on drawing until start s has ``goal`` of the n points from tile ``first`` on."""
        drawn, distance, tile_sum = growth.drawn, growth.distance[s], growth.tile_sum[s]
        label, state, buffer = growth.label[s], growth.state[s : s + 1], growth.buffer
        zero: Any = np.int64(0)  # a literal 0 would compile the callees once more
        if drawn[s] > goal:
            drawn[s] = 0
        if drawn[s] == 0:
            stream(seed, s, state)
        for c in range(drawn[s], goal):
            if c == 0 or not plus_plus:
                x = int(random(state) * n)
            else:
                total = 0.0
                for tile in range(tiles_of(n)):
                    total += tile_sum[tile]
                x = draw_point(n, random(state) * total, distance, tile_sum)
            fetch(points, centers, first, x, zero)
            for tile in range(tiles_of(n)):
                lanes = lanes_of(n, tile)
                squared_distances(points, centers, first + tile, lanes, x, zero, buffer)
                tile_sum[tile] = _approach(c, n, tile, lanes, buffer, distance, label)
        drawn[s] = goal

    return grow


@inner
def _approach(
    c: int, n: int, tile: int, lanes: int, buffer: Floats, distance: Floats, label: Ints
) -> float:
    """Let point c take over what is nearer to it than to all before; return the tile's sum."""
    base, total = np.uint64(tile * TILE), 0.0
    for i in range(np.uint64(lanes)):
        old, new, owner = distance[base + i], buffer[i], label[base + i]
        closer = c == 0 or new < old
        distance[base + i] = new if closer else old
        label[base + i] = c if closer else owner
    for i in range(n - tile * TILE, lanes):
        distance[tile * TILE + i] = 0.0
    for i in range(np.uint64(lanes)):
        total += distance[base + i]
    return total


@inner
def plan_mergers(m: int, sizes: Floats, merging: Merging, heirs: Ints, parts: Ints) -> None:
    """List the mergers of m clusters, each time of the two that cost least, until one is left.

    On entry ``merging.gap`` is set, with inf on its diagonal. Empty clusters cost nothing, so they
    go first.
    """
    gap, counts, partner, price, alive = merging
    for a in range(m):
        alive[a], counts[a] = 1, sizes[a]
        partner[a], price[a] = -1, np.inf
    for a in range(m):
        _offer(a, m, gap, counts, partner, price)
    for i in range(m - 1):
        best, lowest = 0, np.inf
        for a in range(m):
            if price[a] < lowest:
                best, lowest = a, price[a]
        low, high = min(best, partner[best]), max(best, partner[best])
        heirs[i], parts[i] = low, high
        _merge(low, high, m, gap, counts)
        alive[high], price[high] = 0, np.inf
        for a in range(m):
            if alive[a] == 1 and (a == low or partner[a] == low or partner[a] == high):
                _find_partner(a, m, gap, counts, partner, price)
        _offer(low, m, gap, counts, partner, price)


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
def _offer(b: int, m: int, gap: Floats, counts: Floats, partner: Ints, price: Floats) -> None:
    """Make cluster b the partner of those for which it is the cheapest; the first of equals is.

    The gap to a cluster that was merged, and to itself, is infinite.
    """
    row, size = np.uint64(b), counts[b]
    for a in range(np.uint64(m)):
        total = max(size + counts[a], 1.0)
        now, old, other = gap[row, a] * (size * counts[a] / total), price[a], partner[a]
        cheaper = now < old
        price[a] = now if cheaper else old
        partner[a] = b if cheaper else other


@inner
def _find_partner(
    a: int, m: int, gap: Floats, counts: Floats, partner: Ints, price: Floats
) -> None:
    """Find the cheapest cluster to merge with; the first of equals."""
    row, size = np.uint64(a), counts[a]
    lowest, found = np.inf, -1
    for b in range(np.uint64(m)):
        total = max(size + counts[b], 1.0)
        now = gap[row, b] * (size * counts[b] / total)
        if now < lowest:
            lowest, found = now, np.int64(b)
    partner[a], price[a] = found, lowest


@inner
def _merge(low: int, high: int, m: int, gap: Floats, counts: Floats) -> None:
    """Make a cluster a part of another one, and move that one's mean."""
    total = max(counts[low] + counts[high], 1.0)
    share = counts[high] / total
    between = share * (1.0 - share) * gap[low, high]
    counts[low] += counts[high]
    for a in range(m):
        square = (1.0 - share) * gap[low, a] + share * gap[high, a] - between
        gap[low, a] = max(square, 0.0)
    gap[low, low] = np.inf
    for a in range(m):
        gap[a, low] = gap[low, a]
        gap[a, high] = np.inf
