"""What a user passed as X: data in memory, or something to read in blocks."""

from __future__ import annotations

import os
import sys
from typing import Any

import numpy as np

from stablek.blockwise.core import Blocks

__all__ = ["open_blocks"]


def open_blocks(X: Any, block_rows: int, n_jobs: int | None = None) -> Blocks | None:
    """Blocks of data that may not fit into memory; None for data that are in memory.

    Parameters
    ----------
    X : object
        A NumPy memory map, a Dask array or data frame, a path (str or Path) to a Parquet file, a
        folder of them or a glob, a pyarrow data set, a polars LazyFrame, or anything else. Blocks
        are returned as they are.
    block_rows : int
        Rows of a block.
    n_jobs : int or None
        Threads, as in joblib. A Dask cluster has its own number of workers.
    """
    blocks: Blocks | None = X if hasattr(X, "per_row") else _open(X, block_rows, n_jobs)
    if blocks is None:
        return None
    if not blocks.n_features:
        raise ValueError("X has no columns")
    if not blocks.n_rows:
        raise ValueError(f"X has 0 rows (shape=(0, {blocks.n_features})); at least 2 are needed")
    return blocks


def _open(X: Any, block_rows: int, n_jobs: int | None) -> Blocks | None:
    source: Any = None
    if isinstance(X, (str, os.PathLike)):
        from stablek.blockwise.parquet import ParquetSource, parquet_files

        source = ParquetSource(parquet_files(X))
    elif isinstance(X, np.memmap) and X.ndim == 2:
        from stablek.blockwise.files import MapSource

        source = MapSource(X)
    elif _is(X, "polars", "LazyFrame"):
        from stablek.blockwise.parquet import spooled

        source = spooled(X)
    elif _is(X, "pyarrow.dataset", "Dataset"):
        from stablek.blockwise.arrow import ArrowSource

        source = ArrowSource(X)
    elif _is(X, "dask.array", "Array") or _is(X, "dask.dataframe", "DataFrame"):
        return _dask_blocks(X, block_rows)
    if source is None:
        return None
    from stablek.blockwise.threads import ThreadBlocks

    return ThreadBlocks(source, block_rows, n_jobs)


def _is(X: Any, module: str, name: str) -> bool:
    """Whether X is of a class of a module that was imported: who passes one has imported it."""
    kind = getattr(sys.modules.get(module), name, None)
    return kind is not None and isinstance(X, kind)


def _dask_blocks(X: Any, block_rows: int) -> Blocks:
    from stablek.blockwise.dask import DaskBlocks, array_of, frame_array

    if hasattr(X, "to_dask_array"):
        names = tuple(str(name) for name in X.columns)
        return DaskBlocks(frame_array(X), block_rows, names, X)
    array = array_of(X)
    return DaskBlocks(array, block_rows, None, array)
