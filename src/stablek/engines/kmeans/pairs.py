"""Products of all pairs of rows, made once for all groups and noise levels of a task.

The product of two rows of X + epsilon U is a polynomial in epsilon. Its three coefficients are
products of the rows of X and of U. A cluster has a part of the same matrices. So refits of few
points with many features multiply features three times for a task, which has one draw and some of
the groups, and not once for each cluster and noise level.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans.records import PairProducts, PointSets

__all__ = ["NO_PAIRS", "pair_products", "pair_ratio"]

Floats = NDArray[np.float64]

# Products are rounded relative to the spread of X. In a cluster whose mean square is smaller than
# this share of that of X, they would be too coarse.
_SMALLEST = 1e-4

NO_PAIRS = PairProducts(np.empty((0, 0)), np.empty((0, 0)), np.empty((0, 0)), 1.0)


def pair_products(X: Floats, noise: Floats | None = None) -> PairProducts | None:
    """Products of the rows of X and of the noise; None if the numbers are too large.

    Examples
    --------
    >>> X, U = np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([[0.0, 2.0], [0.0, 1.0]])
    >>> plain, mixed, noise, unit = pair_products(X, U)
    >>> noisy = X + 0.5 * U
    >>> bool(np.allclose(noisy @ noisy.T, unit**2 * (plain + 0.5 * mixed + 0.25 * noise)))
    True
    """
    with np.errstate(all="ignore"):
        centered = X - X.mean(axis=0)
        largest = np.abs(centered).max()
        if noise is not None:
            largest = max(largest, np.abs(noise).max())
        if not 0.0 < largest < 1e300:
            return None
        unit = float(np.ldexp(1.0, int(np.frexp(largest)[1])))  # exact to divide by
        centered /= unit
        plain = centered @ centered.T
        if noise is None:
            return PairProducts(plain, plain, plain, unit)
        scaled = noise / unit
        mixed = centered @ scaled.T
        return PairProducts(plain, mixed + mixed.T, scaled @ scaled.T, unit)


def pair_ratio(pairs: PairProducts, sets: PointSets, epsilons: Floats) -> Floats:
    """Factor from the products of pairs to those of each set; 0 for sets that are too narrow."""
    plain, mixed, noise = (np.trace(matrix) / len(matrix) for matrix in pairs[:3])
    spread: Any = plain + epsilons * (mixed + epsilons * noise)
    with np.errstate(all="ignore"):
        ratio = (pairs.unit / sets.unit) ** 2
        narrow = sets.square < _SMALLEST * sets.sizes * spread * ratio
    return np.where(np.isfinite(ratio) & ~narrow, ratio, 0.0)
