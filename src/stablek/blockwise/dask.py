"""Dask collections: blocks that the user's own cluster reads and measures."""

from __future__ import annotations

import sys
from asyncio import CancelledError
from collections.abc import Callable, Iterable
from contextlib import nullcontext
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.blockwise.core import Measure, P, block_ranges, fold, measure_run, run_length
from stablek.execution import run

__all__ = ["DaskBlocks", "array_of", "frame_array"]

Floats = NDArray[np.float64]

_FAN_IN = 8  # results that one task merges: a power of two


class DaskBlocks:
    """`stablek.blockwise.core.Blocks` of a Dask array.

    All work goes through ``dask.compute``: to the cluster of the current client if there is one,
    else to Dask's own threads. Dask schedules, ships and repeats tasks of lost workers.

    Parameters
    ----------
    array : dask.array.Array of shape (n_samples, n_features)
        With known chunks; see `array_of`.
    block_rows : int
        Rows of a block.
    names : tuple of str or None
        Names of the columns.
    original : object
        What the user passed.
    """

    def __init__(
        self, array: Any, block_rows: int, names: tuple[str, ...] | None, original: Any
    ) -> None:
        self.n_rows, self.n_features = (int(n) for n in array.shape)
        self.names, self._original, self.block_rows = names, original, block_rows
        self.not_numeric = _not_numeric(original)
        rows = block_rows * run_length(self.n_features, block_rows)
        self._runs = array.rechunk((rows, -1))
        self._starts = [low for low, _ in block_ranges(self.n_rows, rows)]

    def reduce(self, measure: Measure[P], title: str | None = None) -> P:
        """Merge the results of all blocks, in tasks of the cluster."""
        from dask.delayed import delayed

        shared = delayed(measure, pure=False)  # sent to each worker once
        run_on = delayed(_measured, pure=False)
        merge = delayed(_folded, pure=False)
        chunks = self._runs.to_delayed().ravel().tolist()
        level = [
            run_on(shared, start, chunk, self.block_rows)
            for start, chunk in zip(self._starts, chunks, strict=True)
        ]
        while len(level) > 1:
            ranges = block_ranges(len(level), _FAN_IN)
            level = [merge(level[low:high]) for low, high in ranges]
        result: P = _computed(level[0], title)
        return result

    def per_row(
        self,
        function: Callable[[int, Floats], NDArray[Any]],
        dtype: Any,
        n_columns: int | None = None,
        title: str | None = None,
    ) -> Any:
        """Lazy Dask array with what the function returns for each block."""
        rows = self._runs.chunks[0]
        options: dict[str, Any] = {"function": function, "dtype": dtype}
        options["block_rows"] = self.block_rows
        if n_columns is None:
            meta = np.empty(0, dtype=dtype)
            return self._runs.map_blocks(_on_rows, drop_axis=1, meta=meta, **options)
        meta = np.empty((0, 0), dtype=dtype)
        chunks = (rows, (n_columns,))
        return self._runs.map_blocks(_on_rows, chunks=chunks, meta=meta, **options).T

    def in_memory(self) -> Any:
        """All data."""
        return _computed(self._original, None)


def array_of(X: Any) -> Any:
    """Dask array with known chunks of rows, from an array of any chunks."""
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, got a Dask array of shape {X.shape}")
    if any(np.isnan(size) for sizes in X.chunks for size in sizes):
        X = X.compute_chunk_sizes()
    return X


def frame_array(X: Any) -> Any:
    """Dask array of the rows of a Dask data frame."""
    return X.to_dask_array(lengths=True)


def _not_numeric(X: Any) -> tuple[str, ...]:
    """Columns that cannot hold numbers by their type; objects may hold numbers."""
    if hasattr(X, "dtypes"):
        kinds = {str(name): kind for name, kind in zip(X.columns, X.dtypes, strict=True)}
    else:
        kinds = {f"0 to {X.shape[1] - 1}": X.dtype}
    return tuple(
        name
        for name, kind in kinds.items()
        if getattr(kind, "kind", "O") not in "iufbO"
        or str(kind).startswith(("string", "str", "category"))
    )


def _computed(collection: Any, title: str | None) -> Any:
    """Result of a collection, from the cluster of the current client if there is one.

    The progress bar is that of Dask's own threads. A cluster shows progress on its dashboard.
    """
    import dask.base
    from dask.diagnostics.progress import ProgressBar

    compute: Any = dask.base.compute
    make_bar: Any = ProgressBar
    bar = nullcontext() if title is None else make_bar(out=sys.stderr)
    if title is not None:
        print(title, file=sys.stderr, flush=True)
    try:
        with bar:
            [result] = compute(collection)
    except (Exception, CancelledError) as error:
        if isinstance(error, (OSError, CancelledError)) or _is_of_cluster(error):
            raise RuntimeError(
                f"X: the Dask cluster failed ({type(error).__name__}: {error}); connect to a "
                f"running cluster and fit again"
            ) from error
        raise
    return result


def _is_of_cluster(error: BaseException) -> bool:
    return any(kind.__module__.startswith("distributed") for kind in type(error).__mro__)


def _measured(measure: Measure[Any], start: int, X: Any, block_rows: int) -> Any:
    task = (measure, start, _floats(X, start), block_rows)
    [result] = run(measure_run, [task])
    return result


def _folded(partials: Iterable[P]) -> P:
    return fold(partials)


def _on_rows(
    X: Any,
    function: Callable[[int, Floats], NDArray[Any]],
    block_rows: int,
    block_info: Any = None,
) -> NDArray[Any]:
    start = int(block_info[0]["array-location"][0][0])
    rows = _floats(X, start)
    ranges = block_ranges(len(rows), block_rows)
    results = run(function, [(start + low, rows[low:high]) for low, high in ranges])
    return np.concatenate(results, axis=-1).T


def _floats(X: Any, start: int) -> Floats:
    """Rows of a chunk as floats; NaN for missing values."""
    try:
        return np.ascontiguousarray(X, dtype=np.float64)
    except (TypeError, ValueError):
        pass
    for j, column in enumerate(np.asarray(X).T):
        for i, value in enumerate(column):
            try:
                float(value)
            except (TypeError, ValueError):
                raise ValueError(
                    f"X has columns that are not numeric: row {start + i} of column {j} is "
                    f"{value!r}. Drop or encode the column first"
                ) from None
    raise ValueError(f"X cannot be turned into numbers in the rows from {start} on")
