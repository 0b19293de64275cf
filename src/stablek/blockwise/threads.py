"""Blocks that threads of this process read from files."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from stablek.blockwise.core import Measure, P, block_ranges, fold, measure_run, run_length
from stablek.blockwise.files import mapped
from stablek.execution import stream

__all__ = ["Source", "ThreadBlocks"]

Floats = NDArray[np.float64]


class Source(Protocol):
    """Data that any thread can read by row numbers."""

    n_rows: int
    n_features: int
    names: tuple[str, ...] | None
    not_numeric: tuple[str, ...]

    def read(self, start: int, stop: int) -> Floats:
        """Rows from ``start`` to ``stop``, C-contiguous; NaN for missing values."""
        ...

    def in_memory(self) -> Any:
        """All data, as `stablek.validation.check_data` takes them."""
        ...


class ThreadBlocks:
    """`stablek.blockwise.core.Blocks` of a source, run in threads of this process.

    Parameters
    ----------
    source : Source
        What to read.
    block_rows : int
        Rows of a block.
    n_jobs : int or None
        Threads, as in joblib.
    """

    def __init__(self, source: Source, block_rows: int, n_jobs: int | None = None) -> None:
        self.source, self.block_rows, self.n_jobs = source, block_rows, n_jobs
        self.n_rows, self.n_features = source.n_rows, source.n_features
        self.names, self.not_numeric = source.names, source.not_numeric

    def reduce(self, measure: Measure[P], title: str | None = None) -> P:
        """Merge the results of all blocks."""
        run = partial(self._measured, measure)
        tasks = list(block_ranges(self.n_rows, self._run_rows()))
        return fold(stream(run, tasks, n_jobs=self.n_jobs, prefer="threads", progress=title))

    def per_row(
        self,
        function: Callable[[int, Floats], NDArray[Any]],
        dtype: Any,
        n_columns: int | None = None,
        title: str | None = None,
    ) -> Any:
        """Array, mapped to a temporary file, with what the function returns for each block."""
        shape = (self.n_rows,) if n_columns is None else (n_columns, self.n_rows)
        result = mapped(shape, dtype)
        write = partial(self._written, function, result)
        tasks = list(block_ranges(self.n_rows, self._run_rows()))
        for _ in stream(write, tasks, n_jobs=self.n_jobs, prefer="threads", progress=title):
            pass
        return result

    def in_memory(self) -> Any:
        """All data."""
        return self.source.in_memory()

    def _run_rows(self) -> int:
        return self.block_rows * run_length(self.n_features, self.block_rows)

    def _measured(self, measure: Measure[P], start: int, stop: int) -> P:
        return measure_run(measure, start, self.source.read(start, stop), self.block_rows)

    def _written(
        self, function: Callable[..., NDArray[Any]], result: Any, start: int, stop: int
    ) -> None:
        X = self.source.read(start, stop)
        for low, high in block_ranges(len(X), self.block_rows):
            result[..., start + low : start + high] = function(start + low, X[low:high])
