"""The codes of the linkages, the ways to grow a dendrogram, and the choice among the ways.

Plain Python: nothing here loads numba.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "AVERAGE",
    "CENTROIDS",
    "COMPLETE",
    "EXPANSION",
    "LINKAGES",
    "MATRIX",
    "SINGLE",
    "TREE",
    "WARD",
    "choose_way",
    "distances_of_heights",
]

LINKAGES = ("ward", "average", "complete", "single")
"""Names in scikit-learn, in the order of the codes."""

WARD, AVERAGE, COMPLETE, SINGLE = range(4)

CENTROIDS, MATRIX, EXPANSION, TREE = range(4)


def choose_way(linkage: int, n: int, n_features: int) -> int:
    """Return the fastest way to grow the dendrogram of n points; see `stablek.kernels.linkage`.

    All thresholds of this package are here.

    Examples
    --------
    >>> choose_way(WARD, 1000, 2) == CENTROIDS
    True
    >>> choose_way(WARD, 1000, 64) == choose_way(AVERAGE, 1000, 64) == EXPANSION
    True
    """
    if linkage == SINGLE:
        return TREE
    # With fewer features it is as fast to compute the distances anew. With more points the
    # three coefficients of each pair need more than 100 MB, and reading them takes the time.
    if n_features >= 32 and n <= 2048:
        return EXPANSION
    return CENTROIDS if linkage == WARD else MATRIX


def distances_of_heights(heights: NDArray[np.float64], linkage: int) -> NDArray[np.float64]:
    """Return the distances of merges, as scikit-learn has them, from the heights of edges."""
    if linkage == WARD:
        return np.sqrt(2.0 * heights)
    return np.sqrt(heights) if linkage == SINGLE else heights
