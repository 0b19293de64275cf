"""Blocks with standardized columns."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.blockwise.core import Blocks, Measure, P
from stablek.blockwise.survey import Survey

__all__ = ["ScaledBlocks"]

Floats = NDArray[np.float64]


class ScaledBlocks:
    """Blocks whose columns get mean 0 and variance 1 when they are read; constants become 0.

    Parameters
    ----------
    blocks : Blocks
        The data as they are.
    found : Survey
        Of these data.
    standardize : callable
        Does the same to data in memory.
    """

    def __init__(
        self, blocks: Blocks, found: Survey, standardize: Callable[[Floats], Floats]
    ) -> None:
        self._blocks, self._standardize = blocks, standardize
        self.n_rows, self.n_features = blocks.n_rows, blocks.n_features
        self.names, self.not_numeric = blocks.names, blocks.not_numeric
        self.mean = found.mean
        self.scale = np.where(found.deviation > 0.0, found.deviation, 1.0)

    def reduce(self, measure: Measure[P], title: str | None = None) -> P:
        """Merge the results of all blocks."""
        scaled: Measure[P] = partial(_scaled, self.mean, self.scale, measure)
        return self._blocks.reduce(scaled, title)

    def per_row(
        self,
        function: Callable[[int, Floats], NDArray[Any]],
        dtype: Any,
        n_columns: int | None = None,
        title: str | None = None,
    ) -> Any:
        """Array with what the function returns for each block."""
        scaled = partial(_scaled, self.mean, self.scale, function)
        return self._blocks.per_row(scaled, dtype, n_columns, title)

    def in_memory(self) -> Any:
        """All data, standardized in memory."""
        X = self._blocks.in_memory()
        floats = np.asarray(X.to_numpy() if hasattr(X, "to_numpy") else X, dtype=np.float64)
        return self._standardize(floats)

    def unscaled(self, X: Floats) -> Floats:
        """Values as they were before scaling."""
        return np.asarray(self.mean + X * self.scale)


def _scaled(
    mean: Floats, scale: Floats, function: Callable[[int, Floats], Any], start: int, X: Floats
) -> Any:
    return function(start, (X - mean) / scale)
