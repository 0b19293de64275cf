"""One reader for each format: it returns a data frame, and the ids as text."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import lzma
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import Any, BinaryIO, cast

import numpy as np

from stablek.reading._columns import numbered
from stablek.reading._errors import InputError, Message, Parameter
from stablek.reading._text import Layout, Table, read_text

__all__ = ["FORMATS", "format_of", "read_frame"]

_SUFFIXES = {
    "csv": (".csv", ".txt", ".dat", ".data"),
    "tsv": (".tsv", ".tab"),
    "parquet": (".parquet", ".pq"),
    "arrow": (".arrow", ".feather", ".ipc"),
    "npy": (".npy",),
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


def read_frame(source: str, name: str, kind: str, layout: Layout, id_name: str | None) -> Table:
    """Read all columns of a file, and the ids as text if there is an id column.

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
        import pandas  # noqa: F401  all readers need it
        import pyarrow as pa
    except ImportError as error:
        raise InputError(
            f"reading files needs {error.name}, which is not installed: pip install 'stablek[cli]'"
        ) from None
    try:
        with _open(source) as file:
            if not file.peek(1):
                raise InputError(f"{name} is empty")
            return _READERS[kind](file, layout, id_name)
    except InputError:
        raise
    except OSError as error:
        raise InputError(f"cannot read {name}: {error.strerror or error}") from error
    except (
        ValueError,
        csv.Error,
        EOFError,
        zlib.error,
        lzma.LZMAError,
        pa.ArrowException,
    ) as error:
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
    import pyarrow.parquet as pq

    # Not read_table: it refuses files with several columns of one name.
    return _from_arrow(pq.ParquetFile(file).read(), id_name)


def _read_arrow(file: BinaryIO, layout: Layout, id_name: str | None) -> Table:
    import pyarrow as pa
    from pyarrow import feather

    try:
        table = feather.read_table(file)  # Feather, and Arrow's file format
    except pa.ArrowInvalid:
        file.seek(0)
        table = pa.ipc.open_stream(file).read_all()
    return _from_arrow(table, id_name)


def _read_npy(file: BinaryIO, layout: Layout, id_name: str | None) -> Table:
    import pandas as pd

    array = np.load(file, allow_pickle=False)
    if not isinstance(array, np.ndarray):
        raise ValueError("it is an .npz archive; save one array with numpy.save")
    fields = array.dtype.names or ()
    if array.ndim not in ((1,) if fields else (1, 2)):
        needed = 1 if fields else 2
        raise ValueError(f"the array has {array.ndim} dimensions, not {needed}")
    for name, dtype in [(name, array.dtype[name]) for name in fields] or [(None, array.dtype)]:
        if dtype.kind == "V":
            where = "the array" if name is None else f"field {name!r}"
            raise ValueError(f"{where} has the type {dtype}; one number for each row is needed")
    if fields:
        frame = pd.DataFrame(array)
    else:
        array = array[:, None] if array.ndim == 1 else array
        frame = pd.DataFrame(array, columns=numbered(array.shape[1]))
    ids = [str(value) for value in frame[id_name]] if id_name in frame else None
    return frame, ids


_READERS: dict[str, Callable[..., Table]] = {
    "csv": read_text,
    "tsv": _read_tsv,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "npy": _read_npy,
}


def _from_arrow(table: Any, id_name: str | None) -> Table:
    import pyarrow as pa

    ids = None
    if table.column_names.count(id_name) == 1:
        # Take the ids before pandas turns integers with missing values into floats.
        ids = ["" if value is None else str(value) for value in table[id_name].to_pylist()]
    for j, field in enumerate(table.schema):
        kind = field.type
        if pa.types.is_decimal(kind) or pa.types.is_boolean(kind):
            # pandas would make objects of decimals, and of booleans with missing values.
            number = pa.uint8() if pa.types.is_boolean(kind) else pa.float64()
            table = table.set_column(j, field.name, table.column(j).cast(number))
    # Without the metadata, an index that pandas wrote stays a normal column.
    return table.to_pandas(ignore_metadata=True), ids
