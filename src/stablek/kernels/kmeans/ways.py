"""The ways to fit K-means, and the choice among them. All thresholds of K-means are here.

Plain Python: nothing here loads numba.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BOXES",
    "GRAM",
    "TILES",
    "choose_ways",
    "n_merged_starts",
    "shares_pairs",
    "uses_subspace",
]

Ints = NDArray[Any]

TILES, BOXES, GRAM = range(3)


def choose_ways(n: Ints, k_values: Ints, n_features: int, n_init: int) -> Ints:
    """Return the fastest way for each fit of n points with k clusters; see `kernels.kmeans`.

    The way of a fit must not depend on the fits beside it: each way rounds differently, and a fit
    must have the same bits in any company.

    Examples
    --------
    >>> n, k_values = np.array([5000, 5000, 300]), np.array([5, 20, 5])
    >>> choose_ways(n, k_values, 2, 10).tolist() == [TILES, BOXES, TILES]
    True
    >>> choose_ways(n, k_values, 200, 10).tolist() == [TILES, BOXES, GRAM]
    True
    """
    # It costs as much to find the near ones of fewer centers as to score them all. The tiles of
    # fewer points are wide: boxes gain at most a tenth there, and have a kernel to compile.
    ways = np.where((k_values >= 12) & (n > 1024), BOXES, TILES)
    # With fewer features, tiles are as fast. The matrix of more points does not fit into the
    # caches. It costs n^2 p to compute, and several k and all restarts share it; then a step costs
    # n k where it would cost n k p.
    shared = (k_values - 1) * min(n_features, 100 * n_init)
    ways[(n_features >= 32) & (n <= 2048) & (2 * n <= shared)] = GRAM
    return ways


def n_merged_starts(n_init: int) -> int:
    """Number of merged starts that do as well in refits as ``n_init`` plain ones.

    `benchmarks/merged_starts.py` measures it.

    Examples
    --------
    >>> [n_merged_starts(n_init) for n_init in (1, 2, 10, 35)]
    [1, 2, 3, 5]
    """
    return min(n_init, 2 + n_init // 10)


def shares_pairs(n: int, n_features: int) -> bool:
    """Whether the products of all pairs of n points are made once for all refits of a draw.

    They cost n^2 p, and three matrices of n^2 numbers are held.

    Examples
    --------
    >>> shares_pairs(1024, 1024), shares_pairs(1024, 64), shares_pairs(5000, 4000)
    (True, False, False)
    """
    return n_features >= 32 and n <= min(2048, 2 * n_features)


def uses_subspace(n: int, n_features: int) -> bool:
    """Whether n points and their noise are so few that refits use coordinates in their span.

    Examples
    --------
    >>> uses_subspace(25, 100), uses_subspace(26, 100)
    (True, False)
    """
    return 4 * n <= n_features
