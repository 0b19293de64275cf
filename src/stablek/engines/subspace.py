"""Few points in many dimensions: as many axes as points hold all that there is between them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Subspace", "is_worthwhile"]

Floats = NDArray[np.float64]


def is_worthwhile(n: int, n_features: int) -> bool:
    """Whether n points are so few that a subspace pays.

    Examples
    --------
    >>> is_worthwhile(50, 100), is_worthwhile(51, 100)
    (True, False)
    """
    return 2 * n <= n_features


@dataclass(frozen=True)
class Subspace:
    """Axes that span few points in many dimensions.

    Examples
    --------
    >>> points = np.random.default_rng(0).normal(size=(4, 50))
    >>> subspace = Subspace.of(points)
    >>> coordinates = subspace.coordinates(points)
    >>> coordinates.shape
    (4, 4)
    >>> np.allclose(subspace.points(coordinates), points)
    True
    """

    center: Floats
    axes: Floats

    @classmethod
    def of(cls, points: Floats, moves: Floats | None = None) -> Subspace:
        """Subspace of these points, and of vectors that they may move along.

        It has as many axes as it is given points and vectors.
        """
        center = points.mean(axis=0)
        spanned = points - center
        if moves is not None:
            spanned = np.concatenate([spanned, moves])
        return cls(center, np.ascontiguousarray(np.linalg.qr(spanned.T)[0]))

    def coordinates(self, points: Floats) -> Floats:
        """Of points along the axes."""
        return np.asarray((points - self.center) @ self.axes)

    def points(self, coordinates: Floats) -> Floats:
        """The points of the span that have these coordinates."""
        return np.asarray(coordinates @ self.axes.T + self.center)
