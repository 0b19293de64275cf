"""Effective degrees of freedom of K-means, beyond those of its centers."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import jit

__all__ = ["excess_degrees_of_freedom"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@jit
def excess_degrees_of_freedom(
    X: Floats, codes: Ints, centers: Floats, sizes: Ints, means: Floats, sigma: float
) -> float:
    """Sum, over all changes of cluster, the jump of the fitted value times its density.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Points.
    codes : ndarray of shape (n,)
        Their clusters.
    centers : ndarray of shape (n_clusters, p)
        Means of the clusters.
    sizes : ndarray of shape (n_clusters,)
        Sizes of the clusters.
    means : ndarray of shape (n, p)
        Mean of each point under the reference model.
    sigma : float
        Standard deviation of the reference model.
    """
    total = 0.0
    n, p = X.shape
    n_clusters = len(sizes)
    for i in range(n):
        own = codes[i]
        n_own = sizes[own]
        shrink = (n_own - 1.0) / n_own
        a = 1.0 - shrink * shrink
        to_own = 0.0
        for j in range(p):
            to_own += (X[i, j] - centers[own, j]) ** 2
        for other in range(n_clusters):
            if other == own:
                continue
            n_other = sizes[other]
            e = -to_own
            for j in range(p):
                e += (X[i, j] - centers[other, j]) ** 2
            for j in range(p):
                x = X[i, j]
                b = 2.0 * (x - centers[other, j] - (x - centers[own, j]) * shrink)
                discriminant = b * b - 4.0 * a * e
                if discriminant < 0.0:
                    continue
                # The smallest shift of this coordinate that makes the point change cluster. If
                # both roots are equally far, it is the second one.
                root = np.sqrt(discriminant)
                first, second = (-b - root) / (2.0 * a), (-b + root) / (2.0 * a)
                shift = first if abs(first) < abs(second) else second
                jump = (
                    centers[own, j]
                    - centers[other, j] * n_other / (n_other + 1.0)
                    - x / (n_other + 1.0)
                    + shift * (n_other - n_own + 1.0) / (n_own * (n_other + 1.0))
                )
                z = (x + shift - means[i, j]) / sigma
                density = np.exp(-0.5 * z * z) / (np.sqrt(2.0 * np.pi) * sigma)
                total += jump * density if shift < 0.0 else -jump * density
    return total
