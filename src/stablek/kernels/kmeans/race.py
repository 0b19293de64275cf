"""A race of restarts, whose winner then defends its place: what both ways of fitting share.

A way holds points and centers in its own form: tiles, or products of all pairs. It has its own
`lloyd`, which moves the centers. What is decided on the way is decided here: which restarts go on,
which are dropped, which one wins, and which center is swapped.

Functions that are called once for each step of Lloyd's algorithm take arrays, not records: in
kernels that count references, numba counts those to all arrays of a record at each call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.records import KMeansParameters
from stablek.kernels.kmeans.starts import random
from stablek.kernels.kmeans.tiles import TILE
from stablek.kernels.lean import inner, inner_inlined

__all__ = [
    "PATIENCE",
    "REFIT_PATIENCE",
    "SAME",
    "SWAPS",
    "Fit",
    "draw_swap",
    "drop",
    "list_active",
    "make_race",
    "make_refit_race",
    "restarts_memory",
]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

SAME = 1e-12  # inertias that differ by less, relative to the total, belong to one solution
SWAPS = 4  # restarts that swap a center of the winner
_FINE = 0.01  # tolerance for a winner, relative to that for the race
_FINE_STEPS = 10  # steps that a winner may take to get there
# A restart is hopeless if this many decreases like the last leave it behind. Refits have better
# starts, whose lead says more.
PATIENCE, REFIT_PATIENCE = 4.0, 0.5


def restarts_memory(n: int, k: int, n_init: int, batch: int) -> dict[str, Any]:
    """Fields of every ``work``: what the race knows of the restarts of one fit.

    Lloyd's algorithm runs restarts low to high side by side, at most ``batch`` of them. Restart s
    has the labels in row ``s - low``. ``active`` lists those that still run. ``distance`` has the
    squared distance of each point from its center, and ``cost`` what the loss of each center would
    cost at most.
    """
    n_starts = max(n_init, SWAPS) + 1
    return {
        "labels": np.empty((min(n_starts, batch), n), dtype=np.int32),
        "inertia": np.empty(n_starts),
        "decrease": np.empty(n_starts),
        "running": np.empty(n_starts, dtype=np.int64),
        "active": np.empty(n_starts, dtype=np.int64),
        "distance": np.empty(max(n, k, TILE)),
        "cost": np.empty(k),
        "state": np.empty(1, dtype=np.uint64),
    }


class Fit(NamedTuple):
    """One fit: k clusters of the n points from tile ``tile`` on, whose sum of squares is known.

    If it is ``spherical``, all points and centers have length 1.
    """

    n: int
    k: int
    square: float
    tile: int
    spherical: bool


def make_race(lloyd: Any, copy_restart: Any, swap_centers: Any) -> Callable[..., None]:
    """Make the race of one way from its kernels.

    Their first argument, ``work``, holds points and centers in the form of the way, and the fields
    of `restarts_memory`. (numba does not cache kernels to which functions are passed, so the race
    is made in Python.)

    - ``lloyd(work, fit, low, high, max_iter, limit)`` runs restarts low to high side by side until
      each has converged or is dropped.
    - ``copy_restart(work, fit, source, target)`` copies the centers of a restart.
    - ``swap_centers(work, fit)`` makes the restarts after the winner, restart 0, copies of it with
      one center moved: the one that `draw_swap` names.
    """

    @inner_inlined
    def race(work: Any, fit: Fit, parameters: KMeansParameters, guided: bool) -> None:
        """Race the ``n_init`` starts, and one more if ``guided``; the winner becomes restart 0.

        Restarts are dropped early, and now and then this loses the one that would have won. A
        guided start makes up for it. Without one, the winner is refined, and copies of it in which
        one center was moved elsewhere race against it, for as long as one of them wins.
        """
        limit, inertia = parameters.tol * fit.square / fit.n, work.inertia
        batch = len(work.labels)
        zero: Any = np.int64(0)  # a literal 0 would compile the callees once more
        first, n_starts = zero, parameters.n_init + 1 if guided else parameters.n_init
        for stage in range(2 + 2 * parameters.n_rounds):
            fine = stage % 2 == 1  # the winner runs alone; this also leaves its labels in row 0
            if fine:
                first, n_starts = zero, zero + 1
            elif stage > 0:
                swap_centers(work, fit)
                first, n_starts = zero + 1, zero + SWAPS + 1
            steps = min(_FINE_STEPS, parameters.max_iter) if fine else parameters.max_iter
            shift = _FINE * limit if fine else limit
            for low in range(first, n_starts, batch):
                lloyd(work, fit, low, min(low + batch, n_starts), steps, shift)
            if not fine:
                best = _best_restart(n_starts, fit.square, inertia)
                if best > 0:
                    inertia[0] = inertia[best]
                    copy_restart(work, fit, best, zero)
                if (guided and parameters.n_rounds == 0) or (stage > 0 and best == 0):
                    break

    return race


def make_refit_race(lloyd: Any, adopt: Any, polish: Any) -> Callable[..., None]:
    """Make the race of refits from the kernels of one way.

    ``adopt(work, fit, source)`` copies centers, sums and, if they are held, labels of a restart to
    restart 0. ``polish(work, fit, n_passes)`` moves single points of it. `make_race` explains
    ``lloyd``. The inertia of each start, or inf, is known on entry.
    """

    @inner_inlined
    def race(work: Any, fit: Fit, parameters: KMeansParameters, n_starts: int) -> None:
        """Race the first restarts. The winner becomes restart 0 and is polished."""
        limit, inertia, batch = parameters.tol * fit.square / fit.n, work.inertia, len(work.labels)
        zero: Any = np.int64(0)  # a literal 0 would compile the callees once more
        stop, steps = zero + n_starts, parameters.max_iter
        for stage in range(2):
            if stage == 1:
                best = _best_restart(n_starts, fit.square, inertia)
                if best > 0:
                    inertia[0] = inertia[best]
                    adopt(work, fit, best)
                if n_starts <= batch:
                    break
                stop, steps = zero + 1, zero + 1  # one step finds its labels anew
            for low in range(zero, stop, batch):
                lloyd(work, fit, low, min(low + batch, stop), steps, limit)
        polish(work, fit, parameters.n_rounds)

    return race


@inner
def draw_swap(
    s: int, n: int, k: int, total: float, distance: Floats, cost: Floats, state: Any
) -> tuple[int, int]:
    """Draw swap s of a winner: the center that moves, and the point that it moves to.

    The center whose loss costs least goes to a point drawn with probability proportional to its
    squared distance from its own center; ``total`` is the sum of these.
    """
    lost = 0
    for c in range(k):
        if cost[c] < cost[lost]:
            lost = c
    left, x = random(state) * total, 0
    while x < n - 1 and left >= distance[x]:
        left -= distance[x]
        x += 1
    if s % 2 == 0:  # two swaps for each center that is lost
        cost[lost] = np.inf
    return lost, x


@inner
def _best_restart(n_starts: int, square: float, inertia: Floats) -> int:
    """Which restart is best; one that is as good as an earlier one is not."""
    best = 0
    for s in range(1, n_starts):
        if inertia[s] < inertia[best] - SAME * square:
            best = s
    return best


@inner
def list_active(low: int, high: int, running: Ints, active: Ints) -> int:
    """List the restarts that still run; return their number."""
    n_active = 0
    for s in range(low, high):
        if running[s] == 1:
            active[n_active] = s
            n_active += 1
    return n_active


@inner
def drop(
    high: int,
    square: float,
    patience: float,
    inertia: Floats,
    decrease: Floats,
    running: Ints,
) -> None:
    """Stop restarts that cannot win any more, or that repeat another one.

    The decrease of a restart shrinks from step to step, roughly geometrically. A restart is
    hopeless if ``patience`` decreases like the last leave it behind.
    """
    leader = inertia[0]
    for s in range(high):
        leader = min(leader, inertia[s])
    for s in range(high):
        if running[s] == 1:
            if inertia[s] - patience * decrease[s] > leader + SAME * square:
                running[s] = 0
            for other in range(s):
                if abs(inertia[s] - inertia[other]) <= SAME * square:
                    running[s] = 0
