"""One reader for each format: a file to a data frame, and the ids as text."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import re
import sys
import zlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import PurePath
from typing import TYPE_CHECKING, Any, BinaryIO, cast

import numpy as np

from stablek.reading._columns import numbered
from stablek.reading._errors import InputError
from stablek.reading._text import MISSING, Layout, encoding_of, read_text

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["FORMATS", "format_of", "read_frame"]

FORMATS = ("csv", "tsv", "parquet", "arrow", "npy", "arff")

_SUFFIXES = {
    ".csv": "csv",
    ".txt": "csv",
    ".dat": "csv",
    ".data": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
    ".npy": "npy",
    ".arff": "arff",
}
_OPENERS: dict[str, Callable[[str, Any], Any]] = {
    ".gz": gzip.open,
    ".bz2": bz2.open,
    ".xz": lzma.open,
}


def format_of(source: str) -> str:
    """Format of a file by its suffix, also below that of a compressed file.

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
    if suffixes and suffixes[-1] in _SUFFIXES:
        return _SUFFIXES[suffixes[-1]]
    raise InputError(
        f"cannot tell the format of {source!r} by its suffix; name it with "
        f"--format {'|'.join(FORMATS)}"
    )


def read_frame(
    source: str, name: str, kind: str, layout: Layout, id_name: str | None
) -> tuple[pd.DataFrame, list[str] | None]:
    """All columns of the file, named by strings, and the ids as text if there is such a column.

    Parameters
    ----------
    source : str
        Path, or "-".
    name : str
        What messages call it.
    kind : str
        One of `FORMATS`.
    layout : Layout
        Of text files.
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
    except (ValueError, EOFError, zlib.error, lzma.LZMAError, pa.ArrowException) as error:
        reason = next(iter(str(error).strip().splitlines()), type(error).__name__)
        raise InputError(f"cannot read {name} as {kind}: {reason}") from error


def _open(source: str) -> io.BufferedReader:
    """A binary file that can be read from its beginning again."""
    if source == "-":
        return io.BufferedReader(io.BytesIO(sys.stdin.buffer.read()))
    opener = _OPENERS.get(PurePath(source).suffix.lower())
    file: Any = opener(source, "rb") if opener else open(source, "rb")  # noqa: SIM115
    if opener or not file.seekable():  # a pipe such as <(command) is read once
        with file:
            return io.BufferedReader(io.BytesIO(file.read()))
    return cast("io.BufferedReader", file)


def _read_tsv(
    file: BinaryIO, layout: Layout, id_name: str | None
) -> tuple[pd.DataFrame, list[str] | None]:
    return read_text(file, replace(layout, delimiter=layout.delimiter or "\t"), id_name)


def _read_parquet(
    file: BinaryIO, layout: Layout, id_name: str | None
) -> tuple[pd.DataFrame, list[str] | None]:
    import pyarrow.parquet as pq

    return _from_arrow(pq.read_table(file), id_name)


def _read_arrow(
    file: BinaryIO, layout: Layout, id_name: str | None
) -> tuple[pd.DataFrame, list[str] | None]:
    import pyarrow as pa
    from pyarrow import feather

    try:
        table = feather.read_table(file)  # Feather, and Arrow's file format
    except pa.ArrowInvalid:
        file.seek(0)
        table = pa.ipc.open_stream(file).read_all()
    return _from_arrow(table, id_name)


def _read_npy(
    file: BinaryIO, layout: Layout, id_name: str | None
) -> tuple[pd.DataFrame, list[str] | None]:
    import pandas as pd

    array = np.load(file, allow_pickle=False)
    if array.dtype.names is not None:
        frame = pd.DataFrame(array)
    elif array.ndim in (1, 2):
        array = array[:, None] if array.ndim == 1 else array
        frame = pd.DataFrame(array, columns=numbered(array.shape[1]))
    else:
        raise ValueError(f"the array has {array.ndim} dimensions, 2 are needed")
    return frame, _ids_of(frame, id_name)


def _read_arff(
    file: BinaryIO, layout: Layout, id_name: str | None
) -> tuple[pd.DataFrame, list[str] | None]:
    import pandas as pd

    content = file.read()
    lines = iter(content.decode(encoding_of(content)).splitlines())
    names, text = [], []
    for line in lines:
        if re.match(r"\s*@data\b", line, re.IGNORECASE):
            break
        declared = re.match(
            r"""\s*@attribute\s+('[^']*'|"[^"]*"|\S+)\s+(\S.*)""", line, re.IGNORECASE
        )
        if declared:
            names.append(declared[1].strip("'\""))
            if not re.match(r"(numeric|real|integer)\b", declared[2], re.IGNORECASE):
                text.append(names[-1])
    else:
        raise ValueError("there is no @data line")
    rows = [line for line in lines if line.strip() and not line.lstrip().startswith("%")]
    if not rows:
        raise ValueError("there are no rows after @data")
    if rows[0].lstrip().startswith("{"):
        raise ValueError("sparse ARFF is not supported")

    def parse(**options: Any) -> pd.DataFrame:
        parsed: pd.DataFrame = pd.read_csv(
            io.StringIO("\n".join(rows)),
            names=names,
            index_col=False,
            quotechar="'" if "'" in rows[0] else '"',
            na_values=MISSING,
            skipinitialspace=True,
            **options,
        )
        return parsed

    # What is declared nominal or text stays so, even if it looks like numbers.
    frame = parse(dtype=dict.fromkeys(text, "object"))
    ids = parse(dtype=str, na_filter=False)[id_name].tolist() if id_name in names else None
    return frame, ids


_READERS: dict[str, Callable[..., tuple[pd.DataFrame, list[str] | None]]] = {
    "csv": read_text,
    "tsv": _read_tsv,
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "npy": _read_npy,
    "arff": _read_arff,
}


def _from_arrow(table: Any, id_name: str | None) -> tuple[pd.DataFrame, list[str] | None]:
    import pyarrow as pa

    ids = None
    if table.column_names.count(id_name) == 1:
        # Before pandas, which turns whole numbers with gaps into decimals.
        ids = ["" if value is None else str(value) for value in table[id_name].to_pylist()]
    for j, field in enumerate(table.schema):
        if pa.types.is_decimal(field.type):
            table = table.set_column(j, field.name, table.column(j).cast(pa.float64()))
    # Without the metadata an index that pandas wrote is a column like any other.
    return table.to_pandas(ignore_metadata=True), ids


def _ids_of(frame: pd.DataFrame, id_name: str | None) -> list[str] | None:
    return [str(value) for value in frame[id_name]] if id_name in frame else None
