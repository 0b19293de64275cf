"""Parquet files, read by row numbers with polars or pyarrow, whichever is installed."""

from __future__ import annotations

import glob
import os
import tempfile
import weakref
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.blockwise.core import pieces_of
from stablek.blockwise.files import Watched, remove
from stablek.files import PREFIX

__all__ = ["ParquetSource", "arrow_floats", "is_arrow_numeric", "parquet_files", "spooled"]

Floats = NDArray[np.float64]

_SUFFIXES = (".parquet", ".pq", ".parq")


class _Library(NamedTuple):
    """How a library reads Parquet.

    Parameters
    ----------
    describe : callable
        Number of rows of a file, and whether each column is numeric, by its name.
    read : callable
        ``read(path, columns, offset, n)``: rows of a file as an array of floats.
    frame : callable
        ``frame(paths, columns)``: all rows as a frame.
    """

    describe: Callable[[str], tuple[int, dict[str, bool]]]
    read: Callable[[str, list[str], int, int], Floats]
    frame: Callable[[list[str], list[str]], Any]


def parquet_files(path: str | os.PathLike[str]) -> list[str]:
    """Files of a path to a file or folder, or of a glob, in the order of their names."""
    given = os.fspath(path)
    if not isinstance(given, str):
        raise ValueError(f"X must be data or a path to Parquet files, got {path!r}")
    if os.path.isdir(given):
        below = (str(p) for p in Path(given).rglob("*") if p.is_file())
        files = [p for p in below if _is_parquet(os.path.relpath(p, given))]
        what = "a folder without Parquet files"
    elif os.path.isfile(given):
        if not given.lower().endswith(_SUFFIXES):
            raise ValueError(
                f"X: {given!r} is not a Parquet file; paths must name files that end in "
                f"{', '.join(_SUFFIXES)}; read other files first, as with pandas.read_csv, or use "
                f"the command line: stablek select {given}"
            )
        return [given]
    else:
        files = [p for p in glob.glob(given, recursive=True) if os.path.isfile(p)]
        what = "no file or folder, and no file matches it"
    if not files:
        raise ValueError(f"X: {given!r} is {what}")
    wrong = [p for p in files if not p.lower().endswith(_SUFFIXES)]
    if wrong:
        raise ValueError(f"X: {given!r} matches {wrong[0]!r}, which is not a Parquet file")
    return sorted(files)


def _is_parquet(name: str) -> bool:
    # Names with a dot or an underscore in front are markers and parts of unfinished writes.
    hidden = any(part.startswith((".", "_")) for part in Path(name).parts)
    return name.lower().endswith(_SUFFIXES) and not hidden


class _RepeatedNamesError(ValueError):
    """Columns of a file have the same name."""


class ParquetSource:
    """Parquet files with the same columns, one after the other.

    Parameters
    ----------
    paths : list of str
        The files.
    columns : sequence of str or None
        The columns to read, in this order; None for all.
    """

    def __init__(self, paths: list[str], columns: Sequence[str] | None = None) -> None:
        self._library = _library()
        self._watched = Watched(paths)
        described = [self._describe(path) for path in paths]
        counts = [n for n, _ in described]
        self._ends = np.cumsum(counts)
        self.n_rows = int(self._ends[-1])
        known = described[0][1]
        for path, (_, own) in zip(paths, described, strict=True):
            _check_same_columns(paths[0], known, path, own)
        self.columns = list(known) if columns is None else list(columns)
        self.not_numeric = tuple(name for name in self.columns if not known[name])
        self.n_features = len(self.columns)
        self.names: tuple[str, ...] | None = tuple(self.columns)

    def read(self, start: int, stop: int) -> Floats:
        """Rows from ``start`` to ``stop``."""
        parts = [self._read_file(*piece) for piece in pieces_of(self._ends, start, stop)]
        return parts[0] if len(parts) == 1 else np.concatenate(parts)

    def files(self) -> list[tuple[str, int]]:
        """Paths and numbers of rows of the files."""
        sizes = np.diff(self._ends, prepend=0).tolist()
        return list(zip(self._watched.paths, sizes, strict=True))

    def in_memory(self) -> Any:
        """All data, as a frame of the library that read them."""
        paths = self._watched.paths
        try:
            return self._library.frame(paths, self.columns)
        except Exception as error:
            raise ValueError(f"X: {_named(paths)} cannot be read: {_brief(error)}") from error

    def _describe(self, path: str) -> tuple[int, dict[str, bool]]:
        try:
            return self._library.describe(path)
        except _RepeatedNamesError as error:
            raise ValueError(
                f"X: {path!r} has several columns with the same name: {error}. Rename them"
            ) from error
        except Exception as error:
            raise ValueError(
                f"X: {path!r} cannot be read as Parquet: {_brief(error)}. Is it complete?"
            ) from error

    def _read_file(self, position: int, offset: int, n: int) -> Floats:
        path = self._watched.check(position)
        try:
            rows = self._library.read(path, self.columns, offset, n)
        except Exception as error:
            self._watched.check(position)
            raise ValueError(
                f"X: rows {offset} to {offset + n - 1} of {path!r} cannot be read: {_brief(error)}"
            ) from error
        self._watched.check(position)
        return np.ascontiguousarray(rows)


def spooled(frame: Any) -> ParquetSource:
    """Rows of a polars LazyFrame in a temporary Parquet file, which is deleted with the source.

    The query runs once. Every pass then reads the same rows in the same order.
    """
    import polars as pl

    handle, path = tempfile.mkstemp(prefix=PREFIX, suffix=".parquet")
    os.close(handle)
    try:
        frame.sink_parquet(path, row_group_size=1 << 16)
        source = ParquetSource([path])
    except pl.exceptions.PolarsError as error:
        remove(path)
        raise ValueError(f"X: the LazyFrame cannot be collected: {_brief(error)}") from error
    except BaseException:
        remove(path)
        raise
    weakref.finalize(source, remove, path)
    return source


def _check_same_columns(
    first: str, known: dict[str, bool], path: str, own: dict[str, bool]
) -> None:
    if list(own) != list(known):
        missing = [name for name in known if name not in own]
        more = [name for name in own if name not in known]
        said = [f"it lacks {missing}" if missing else "", f"it adds {more}" if more else ""]
        what = " and ".join(part for part in said if part) or "they are in another order"
        raise ValueError(
            f"X: {path!r} has other columns than {first!r}: {what}. All files must have the same "
            f"columns in the same order"
        )
    changed = [name for name in known if known[name] and not own[name]]
    if changed:
        raise ValueError(
            f"X: {path!r} has columns that are not numeric: {changed}. They are numeric in "
            f"{first!r}"
        )
    for name, numeric in own.items():
        known[name] = known[name] and numeric


def _library() -> _Library:
    if find_spec("polars") is not None:
        return _Library(_describe_polars, _read_polars, _frame_polars)
    if find_spec("pyarrow") is not None:
        return _Library(_describe_arrow, _read_arrow, _frame_arrow)
    raise ImportError(
        "Parquet files need polars or pyarrow, and neither is installed: pip install polars"
    )


def _describe_polars(path: str) -> tuple[int, dict[str, bool]]:
    import polars as pl

    scan = pl.scan_parquet(path, glob=False)
    try:
        schema = scan.collect_schema()
    except pl.exceptions.DuplicateError as error:
        raise _RepeatedNamesError(_brief(error)) from error
    n = int(scan.select(pl.len()).collect().item())
    return n, {name: kind.is_numeric() or kind == pl.Boolean for name, kind in schema.items()}


def _read_polars(path: str, columns: list[str], offset: int, n: int) -> Floats:
    import polars as pl

    scan = pl.scan_parquet(path, glob=False).select(columns).slice(offset, n)
    frame = scan.collect().select(pl.all().cast(pl.Float64))
    return np.asarray(frame.to_numpy(order="c"))


def _frame_polars(paths: list[str], columns: list[str]) -> Any:
    import polars as pl

    frames = [pl.read_parquet(path, columns=columns, glob=False) for path in paths]
    return frames[0] if len(frames) == 1 else pl.concat(frames, how="vertical_relaxed")


def _describe_arrow(path: str) -> tuple[int, dict[str, bool]]:
    import pyarrow.parquet as pq

    file = pq.ParquetFile(path)
    names = file.schema_arrow.names
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise _RepeatedNamesError(", ".join(map(repr, repeated)))
    return file.metadata.num_rows, {
        field.name: is_arrow_numeric(field.type) for field in file.schema_arrow
    }


def is_arrow_numeric(kind: Any) -> bool:
    """Whether a type of pyarrow holds real numbers."""
    from pyarrow import types

    tests = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return any(test(kind) for test in tests)


def arrow_floats(table: Any) -> Floats:
    """Columns of a table or batch of pyarrow as an array of floats."""
    import pyarrow as pa

    columns = [
        column.cast(pa.float64()).to_numpy(zero_copy_only=False)
        if isinstance(column, pa.Array)
        else column.cast(pa.float64()).to_numpy()
        for column in table.columns
    ]
    return np.column_stack(columns).astype(np.float64, copy=False)


def _read_arrow(path: str, columns: list[str], offset: int, n: int) -> Floats:
    import pyarrow.parquet as pq

    with pq.ParquetFile(path) as file:
        sizes = [file.metadata.row_group(i).num_rows for i in range(file.num_row_groups)]
        pieces = list(pieces_of(np.cumsum(sizes), offset, offset + n))
        table = file.read_row_groups([group for group, _, _ in pieces], columns=columns)
    return arrow_floats(table.slice(pieces[0][1], n))


def _frame_arrow(paths: list[str], columns: list[str]) -> Any:
    import pyarrow as pa
    import pyarrow.parquet as pq

    tables = [pq.read_table(path, columns=columns) for path in paths]
    return pa.concat_tables(tables, promote_options="permissive")


def _named(paths: list[str]) -> str:
    return repr(paths[0]) if len(paths) == 1 else f"{paths[0]!r} and {len(paths) - 1} more files"


def _brief(error: Exception) -> str:
    """First line of an error."""
    return str(error).strip().partition("\n")[0].rstrip(".")
