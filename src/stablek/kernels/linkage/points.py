"""Points laid out feature by feature, which is how the kernels that grow dendrograms read them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, inner_exact

__all__ = ["gather", "rescale"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@inner_exact
def gather(X: Floats, noise: Floats, epsilon: float, rows: Ints, points: Floats) -> None:
    """Write some rows of ``X + epsilon * noise`` to ``points``, with the rounding of numpy.

    Parameters
    ----------
    X, noise : ndarray of shape (n_samples, p)
    epsilon : float
    rows : ndarray of shape (n,)
    points : ndarray of shape (p, n)
        Output.
    """
    for feature in range(X.shape[1]):
        for i in range(rows.shape[0]):
            row = rows[i]
            points[feature, i] = X[row, feature] + epsilon * noise[row, feature]


@inner
def rescale(points: Floats) -> None:
    """Divide by a power of two, so that squares neither overflow nor vanish; this is exact."""
    largest = 0.0
    for feature in range(points.shape[0]):
        for i in range(points.shape[1]):
            largest = max(largest, abs(points[feature, i]))
    if not 0.0 < largest < np.inf:
        return
    # The factor itself can be out of range, so its two halves are applied in turn.
    exponent = np.floor(np.log2(largest))
    half = np.floor(exponent / 2.0)
    one, two = 2.0**-half, 2.0 ** (half - exponent)
    for feature in range(points.shape[0]):
        for i in range(points.shape[1]):
            points[feature, i] = points[feature, i] * one * two
