"""Noisy copies of points, laid out feature by feature."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner_exact

__all__ = ["gather"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@inner_exact
def gather(X: Floats, noise: Floats, epsilon: float, rows: Ints, points: Floats) -> None:
    """Write rows of ``X + epsilon * noise``, with the rounding of numpy, feature by feature."""
    for feature in range(X.shape[1]):
        for i in range(rows.shape[0]):
            row = rows[i]
            points[feature, i] = X[row, feature] + epsilon * noise[row, feature]
