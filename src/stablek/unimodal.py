"""The unimodal distribution nearest to a sample."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

__all__ = ["Unimodal", "nearest_unimodal"]

Floats = NDArray[np.float64]


class Unimodal(NamedTuple):
    """A distribution function that is linear between knots.

    It is convex up to the mode and concave beyond it. At the mode it may jump: then two knots have
    the same value. ``distance`` is its largest distance from the sample's distribution function.
    """

    values: Floats
    levels: Floats
    distance: float

    def quantiles(self, levels: Floats) -> Floats:
        """Values that the distribution function gives these levels."""
        return np.interp(levels, self.levels, self.values)


def nearest_unimodal(sample: Floats) -> Unimodal:
    """Fit the unimodal distribution function that is nearest to that of the sample.

    Up to a mode, the greatest convex minorant of the sample's distribution function is nearest
    among the convex functions below it. Beyond the mode, the least concave majorant is nearest.
    The mode is the value of the sample with the smallest largest distance.

    The distance left of the mode can only grow as the mode moves right, and the distance right of
    it can only shrink. So bisection finds the mode.

    Examples
    --------
    >>> fit = nearest_unimodal(np.array([0.0, 1.0, 2.0, 2.0, 3.0]))
    >>> fit.values.tolist(), fit.levels.tolist()
    ([0.0, 1.0, 2.0, 2.0, 3.0], [0.0, 0.2, 0.4, 0.8, 1.0])
    """
    values, counts = np.unique(sample, return_counts=True)
    above = np.cumsum(counts) / len(sample)
    below = above - counts / len(sample)
    low, high = 0, len(values) - 1
    while low < high:
        middle = (low + high) // 2
        if _left(values, below, above, middle)[1] >= _right(values, below, above, middle)[1]:
            high = middle
        else:
            low = middle + 1
    # The two distances cross between the last mode with a smaller one on the left and the next.
    modes = [mode for mode in (low - 1, low) if mode >= 0]
    fits = [(_left(values, below, above, m), _right(values, below, above, m)) for m in modes]
    distances = [max(left[1], right[1]) for left, right in fits]
    best = int(np.argmin(distances))
    mode, (left, right) = modes[best], fits[best]
    return Unimodal(
        np.concatenate([values[: mode + 1], values[mode:]]),
        np.concatenate([left[0], right[0]]),
        distances[best],
    )


def _left(values: Floats, below: Floats, above: Floats, mode: int) -> tuple[Floats, float]:
    """Convex part up to the mode, and its largest distance from the sample's function."""
    convex = _bent(values[: mode + 1], below[: mode + 1], increasing=True)
    return convex, float(np.max(above[:mode] - convex[:mode], initial=0.0))


def _right(values: Floats, below: Floats, above: Floats, mode: int) -> tuple[Floats, float]:
    """Concave part from the mode on, and its largest distance from the sample's function."""
    concave = _bent(values[mode:], above[mode:], increasing=False)
    return concave, float(np.max(concave[1:] - below[mode + 1 :], initial=0.0))


def _bent(values: Floats, levels: Floats, *, increasing: bool) -> Floats:
    """Greatest convex minorant (slopes increase) or least concave majorant of some points."""
    widths = np.diff(values)
    if not len(widths):
        return levels
    # Slopes of nearly equal values would overflow, so widths are in units of the widest.
    widths = np.maximum(widths / widths.max(), np.finfo(float).tiny ** 0.5)
    slopes = isotonic_regression(np.diff(levels) / widths, weights=widths, increasing=increasing).x
    bent = levels[0] + np.concatenate([[0.0], np.cumsum(slopes * widths)])
    bent[-1] = levels[-1]
    return np.asarray(bent)
