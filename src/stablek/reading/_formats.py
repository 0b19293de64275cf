"""One reader for each format: it returns a `Table`."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
import os
import signal
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from itertools import chain
from pathlib import Path, PurePath
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from stablek.reading._amounts import read_amounts
from stablek.reading._errors import InputError, Message, Parameter, listed
from stablek.reading._table import Table, from_frame, numbered, to_numbers
from stablek.reading._text import Layout, read_text
from stablek.suggesting import did_you_mean

__all__ = ["FORMATS", "format_of", "read_table", "refuse_no_file"]

_SUFFIXES = {
    "csv": (".csv", ".txt", ".dat", ".data"),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "npy": (".npy",),
    "npz": (".npz",),
    "json": (".json",),
    "jsonl": (".jsonl", ".ndjson"),
    "xlsx": (".xlsx", ".xlsm", ".xls", ".ods"),
    "dta": (".dta",),
}
FORMATS = tuple(_SUFFIXES)
_OPENERS: dict[str, Callable[[str, Any], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}
_BROKEN = (ValueError, csv.Error, EOFError, zlib.error, lzma.LZMAError)


def format_of(source: str) -> str:
    """Return the format of a file by its suffix, after removing that of a compressed file.

    Examples
    --------
    >>> format_of("points.csv.gz"), format_of("points.feather"), format_of("-")
    ('csv', 'arrow', 'csv')
    """
    if source == "-":
        return "csv"
    suffixes = [suffix.lower() for suffix in PurePath(source).suffixes]
    if suffixes and suffixes[-1] in _OPENERS:
        suffixes.pop()
    for kind, known in _SUFFIXES.items():
        if suffixes and suffixes[-1] in known:
            return kind
    unknown = f"cannot tell the format of {source!r} by its suffix; name it with "
    raise InputError(Message(unknown, Parameter("kind"), f" {'|'.join(FORMATS)}"))


def refuse_no_file(source: str) -> None:
    """Raise if there is nothing under this path, or a folder."""
    if source == "-":
        return
    path = Path(source)
    if path.is_dir():
        inside = sorted(each.name for each in path.iterdir() if _is_known(each))
        some = f", such as {listed(inside[:3])}" if inside else ""
        raise InputError(f"{source!r} is a folder; name a file in it{some}")
    if not os.path.lexists(source):
        if "://" in source:
            raise InputError(f"{source!r} is no file but an address; download it first")
        near = [each.name for each in path.parent.iterdir()] if path.parent.is_dir() else []
        raise InputError(f"there is no file {source!r}{did_you_mean(path.name, near)}")


def _is_known(path: Path) -> bool:
    return path.suffix.lower() in chain(_OPENERS, *_SUFFIXES.values())


def read_table(source: str, name: str, kind: str, layout: Layout, id_name: str | None) -> Table:
    """Read all columns of a file.

    Parameters
    ----------
    source : str
        Path, or "-".
    name : str
        Name of the file in messages.
    kind : str
        One of `FORMATS`.
    layout : Layout
        Delimiter, decimal mark and header of a text file.
    id_name : str or None
        Name of the id column.
    """
    try:
        import polars as pl
    except ImportError:
        raise InputError(
            "reading files needs polars, which is not installed: pip install 'stablek[cli]'"
        ) from None
    if hasattr(signal, "siginterrupt"):  # not on Windows
        # polars lets reads go on after Ctrl-C: a command would wait for standard input for ever.
        signal.siginterrupt(signal.SIGINT, True)
    try:
        with _open(source) as file:
            if not file.peek(1):
                raise InputError(f"{name} is empty")
            return _READERS[kind](file, layout, id_name)
    except InputError:
        raise
    except pl.exceptions.DuplicateError as error:
        raise InputError(f"{name} has several columns with the same name: {error}") from error
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror or error}") from error
    except (*_BROKEN, pl.exceptions.PolarsError) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise InputError(f"cannot read {name} as {kind}: {reason}") from error


def _open(source: str) -> io.BufferedReader:
    """Open a binary file that can be read twice."""
    if source == "-":
        if sys.stdin is None:
            raise InputError("standard input is closed; name a file, or pipe data to stablek")
        return io.BufferedReader(io.BytesIO(sys.stdin.buffer.read()))
    opener = _OPENERS.get(PurePath(source).suffix.lower())
    file: Any = opener(source, "rb") if opener else open(source, "rb")  # noqa: SIM115
    if opener or not file.seekable():  # a pipe such as <(command) can be read only once
        with file:
            return io.BufferedReader(io.BytesIO(file.read()))
    return cast("io.BufferedReader", file)


def _read_tsv(file: BinaryIO, layout: Layout, id_name: str | None) -> Table:
    return read_text(file, replace(layout, delimiter=layout.delimiter or "\t"), id_name)


def _read_parquet(file: BinaryIO, layout: Layout, id_name: str | None) -> Table:
    import polars as pl

    return from_frame(pl.read_parquet(io.BytesIO(file.read())), id_name)


def _read_arrow(file: BinaryIO, layout: Layout, id_name: str | None) -> Table:
    import polars as pl

    content = file.read()
    # Feather is Arrow's file format. What is no such file may be Arrow's stream.
    read = pl.read_ipc if content.startswith(b"ARROW1") else pl.read_ipc_stream
    try:
        return from_frame(read(io.BytesIO(content)), id_name)
    except OSError as error:  # it is not about the disk: the content ends too early
        raise ValueError(str(error)) from error
    except pl.exceptions.PanicException as error:
        raise ValueError("polars cannot read it; do columns have the same name?") from error


def _read_npz(file: BinaryIO, layout: Layout, id_name: str | None) -> Table:
    arrays = np.load(file, allow_pickle=False)
    if isinstance(arrays, np.ndarray):
        return _from_array(arrays, id_name)
    tables = [name for name in arrays.files if arrays[name].ndim == 2]
    named = tables if len(tables) == 1 else [name for name in ("X", "data") if name in tables]
    if not named:
        shapes = ", ".join(f"{name!r} {arrays[name].shape}" for name in arrays.files)
        raise ValueError(
            f"it holds several arrays ({shapes}) and none of them is the table: save one with two "
            f"dimensions, or call it X"
        )
    return _from_array(arrays[named[0]], id_name)


def _read_json(file: BinaryIO, layout: Layout, id_name: str | None) -> Table:
    import polars as pl

    content = json.load(file)
    if not isinstance(content, (list, dict)) or not content:
        raise ValueError("it must hold a list of records, or columns by their names")
    if isinstance(content, list) and all(isinstance(row, list) for row in content):
        return _from_array(np.array(content, dtype=np.float64), id_name)
    return from_frame(pl.DataFrame(content, strict=False, infer_schema_length=None), id_name)


def _read_jsonl(file: BinaryIO, layout: Layout, id_name: str | None) -> Table:
    import polars as pl

    return from_frame(pl.read_ndjson(file.read(), infer_schema_length=None), id_name)


def _read_xlsx(file: BinaryIO, layout: Layout, id_name: str | None) -> Table:
    require("fastexcel", "Excel files", "stablek[excel]")
    import polars as pl

    frame = pl.read_excel(file.read(), engine="calamine", infer_schema_length=None)
    return _from_cells(frame, layout, id_name)


def _read_dta(file: BinaryIO, layout: Layout, id_name: str | None) -> Table:
    require("pandas", "Stata files", "pandas")
    import pandas as pd
    import polars as pl

    frame = pd.read_stata(file, convert_categoricals=False, convert_dates=False)
    columns = {str(name): frame[name].tolist() for name in frame}
    return from_frame(pl.DataFrame(columns, strict=False), id_name)


def _from_cells(frame: Any, layout: Layout, id_name: str | None) -> Table:
    """Make a table of a sheet, in which numbers may be texts."""
    import polars as pl

    table, notes = from_frame(frame, id_name), {}
    for j, (name, column) in enumerate(zip(table.names, table.columns, strict=True)):
        if column.dtype != pl.String or name == id_name:
            continue
        table.columns[j] = to_numbers(column, layout.decimal or ".")
        amounts = None
        if table.columns[j].dtype == pl.String:
            amounts = read_amounts(column, layout.decimal or ".", sure=True)
        if amounts is not None:
            table.columns[j], notes[name] = amounts
    return replace(table, notes=notes)


def require(module: str, what: str, install: str) -> None:
    """Raise InputError if a package is missing."""
    try:
        import_module(module)
    except ImportError:
        raise InputError(
            f"{what} need {module}, which is not installed: pip install {install!r}"
        ) from None


def _read_npy(file: BinaryIO, layout: Layout, id_name: str | None) -> Table:
    array = np.load(file, allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise ValueError("it is an .npz archive: name it .npz")
    return _from_array(array, id_name)


def _from_array(array: NDArray[Any], id_name: str | None) -> Table:
    fields = array.dtype.names or ()
    if array.ndim not in ((1,) if fields else (1, 2)):
        needed = 1 if fields else 2
        raise ValueError(f"the array has {array.ndim} dimensions, not {needed}")
    parts = {f"field {name!r}": array.dtype[name] for name in fields} or {"the array": array.dtype}
    for where, dtype in parts.items():
        if dtype.kind == "V":
            raise ValueError(f"{where} has the type {dtype}; one number for each row is needed")
    if fields:
        columns = {name: array[name] for name in fields}
    else:
        array = array[:, None] if array.ndim == 1 else array
        columns = dict(zip(numbered(array.shape[1]), array.T, strict=True))
    ids = [str(value) for value in columns[id_name].tolist()] if id_name in columns else None
    return Table(list(columns), [_series(values) for values in columns.values()], ids)


def _series(values: NDArray[Any]) -> Any:
    import polars as pl

    if values.dtype.kind in "biuf":
        return pl.Series(np.ascontiguousarray(values, dtype=np.float64))
    return pl.Series([str(value) for value in values.tolist()])


_READERS: dict[str, Callable[..., Table]] = {
    "csv": read_text,
    "tsv": _read_tsv,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "npy": _read_npy,
    "npz": _read_npz,
    "json": _read_json,
    "jsonl": _read_jsonl,
    "xlsx": _read_xlsx,
    "dta": _read_dta,
}
