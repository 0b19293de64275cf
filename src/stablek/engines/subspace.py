"""The subspace that few points in many dimensions span: one axis per point is enough."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Subspace"]

Floats = NDArray[np.float64]


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
        """Subspace of these points, and of vectors along which they may move.

        It has one axis for each point and each vector.
        """
        center = points.mean(axis=0)
        spanned = points - center
        if moves is not None:
            spanned = np.concatenate([spanned, moves])
        return cls(center, np.ascontiguousarray(np.linalg.qr(spanned.T)[0]))

    def coordinates(self, points: Floats) -> Floats:
        """Coordinates of points along the axes."""
        return np.asarray((points - self.center) @ self.axes)

    def points(self, coordinates: Floats) -> Floats:
        """Points that have these coordinates."""
        return np.asarray(coordinates @ self.axes.T + self.center)
