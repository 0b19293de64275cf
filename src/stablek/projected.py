"""The Gaussian cloud whose directions are most like those of a sample.

Rows of a Gaussian cloud that are divided by their lengths follow a projected normal distribution.
Its parameters are estimated by EM: the lengths are what is missing. With mean 0 this is Tyler's
estimate of the shape of a cloud.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.extmath import svd_flip

__all__ = ["Cloud", "expected_lengths", "nearest_cloud"]

Floats = NDArray[np.float64]

_ROWS_PER_AXIS = 10
_MOST_STEPS = 100
_CONVERGED = 1e-3  # largest relative change of a length
_NODES = np.linspace(-6.0, 6.0, 61)  # of an integral, in standard deviations


class Cloud(NamedTuple):
    """A Gaussian cloud: its mean, and a root of its covariance matrix."""

    mean: Floats
    root: Floats

    def directions(self, n: int, rng: np.random.Generator) -> Floats:
        """Draw n rows of the cloud and divide them by their lengths."""
        points: Floats = rng.standard_normal((n, len(self.root))) @ self.root + self.mean
        points /= np.linalg.norm(points, axis=1, keepdims=True)
        return points


def nearest_cloud(units: Floats) -> Cloud:
    """Estimate the cloud whose directions the unit rows are.

    The lengths are estimated along the leading axes, one for every ten rows. The rest of a row
    has the same variance along all other axes: few rows cannot tell these apart. The cloud has
    the mean and the covariance of the rows with these lengths, along all axes.

    Parameters
    ----------
    units : ndarray of shape (n_samples, n_features)
        Rows of length 1.
    """
    n, n_features = units.shape
    left, spread, axes = np.linalg.svd(units, full_matrices=False)
    left, axes = svd_flip(left, axes)  # so that rotated rows have a rotated cloud
    seen = spread > 1e-9 * spread[0]
    rows, axes = (left * spread)[:, seen], axes[seen]
    # Rows that span as many axes as they can might have more of them.
    n_axes = rows.shape[1] if rows.shape[1] < n else n_features
    first, second = _lengths(rows, n_axes)
    mean = first @ rows / n
    covariance = (second[:, None] * rows).T @ rows / n - np.outer(mean, mean)
    variances, turn = np.linalg.eigh(covariance)
    root = (turn * np.sqrt(np.maximum(variances, 0.0))) @ turn.T
    return Cloud(mean @ axes, root @ axes)


def _lengths(rows: Floats, n_axes: int) -> tuple[Floats, Floats]:
    """Expected lengths of the rows of the cloud, and expected squares of them, by EM."""
    n = len(rows)
    n_leading = min(rows.shape[1], max(1, n // _ROWS_PER_AXIS))
    leading, n_others = rows[:, :n_leading], n_axes - n_leading
    rest = np.maximum(1.0 - np.einsum("ij,ij->i", leading, leading), 0.0)
    first = second = np.ones(n)
    for _ in range(_MOST_STEPS if n_axes > 1 else 0):
        # Only ratios of lengths matter: their mean square stays 1.
        unit = np.sqrt(second.mean())
        before, first, second = first / unit, first / unit, second / unit**2
        mean = first @ leading / n
        covariance = (second[:, None] * leading).T @ leading / n - np.outer(mean, mean)
        covariance[np.diag_indices(n_leading)] += 1e-9 / n_leading
        solved = np.linalg.solve(covariance, leading.T).T
        square = np.einsum("ij,ij->i", solved, leading)
        if n_others:
            square = square + rest * n_others / max(float((second * rest).mean()), 1e-9)
        first, second = expected_lengths(square, solved @ mean, n_axes)
        shown = first / np.sqrt(second.mean())
        if np.abs(shown - before).max() < _CONVERGED:
            break
    return first, second


def expected_lengths(square: Floats, product: Floats, n_axes: int) -> tuple[Floats, Floats]:
    """Mean and mean square of unknown lengths.

    A length r has the density r^(n_axes - 1) exp(product * r - square * r^2 / 2). This is what is
    known of the length of a Gaussian row when its direction u is known: ``square`` is u'Su and
    ``product`` is u'Sm, with the mean m and the inverse S of the covariance.

    Examples
    --------
    With mean 0, the square of the length has as many degrees of freedom as there are axes.

    >>> _, second = expected_lengths(np.array([1.0]), np.array([0.0]), 5)
    >>> round(float(second[0]), 6)
    5.0
    """
    power = n_axes - 1
    mode = (product + np.sqrt(product**2 + 4.0 * square * power)) / (2.0 * square)
    deviation = 1.0 / np.sqrt(square + power / mode**2)
    steps = deviation[:, None] * _NODES
    lengths = np.maximum(mode[:, None] + steps, 0.0)
    with np.errstate(divide="ignore"):
        logs = power * np.log(lengths / mode[:, None])
    # square * mode - product = power / mode, which cancels nothing.
    logs -= 0.5 * square[:, None] * steps**2 + (power / mode)[:, None] * steps
    weights = np.exp(logs)
    first = (weights * lengths).sum(axis=1) / weights.sum(axis=1)
    # By parts: the derivative of r^n_axes exp(...) integrates to 0.
    return first, (n_axes + product * first) / square
