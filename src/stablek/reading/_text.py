"""Delimited text: encoding, delimiter, decimal mark and header are detected.

The detection is our own because `csv.Sniffer` (and so pandas' ``sep=None``) raises on a single
column, takes a decimal comma for the delimiter, and knows nothing of decimal marks.
"""

from __future__ import annotations

import csv
import io
import re
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from stablek.reading._columns import numbered, text_columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Layout", "Table", "read_text"]

Table: TypeAlias = "tuple[pd.DataFrame, list[str] | None]"
"""All columns of a file, and the ids as text if there is an id column."""

_MISSING = ["?"]  # besides the values that pandas takes for missing
_HEAD = 1 << 16
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?|[+-]?(nan|inf)", re.IGNORECASE)


@dataclass(frozen=True)
class Layout:
    """How a text file is split into cells. None means that a setting is detected.

    Parameters
    ----------
    delimiter : str or None
        One character; " " stands for any white space.
    decimal : {".", ","} or None
        Decimal mark.
    header : bool or None
        Whether the first line holds names.
    """

    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None


def read_text(file: BinaryIO, layout: Layout, id_name: str | None) -> Table:
    """Read all columns of a text file, and the ids exactly as they are written.

    If the file repeats a name, the columns of the frame do too.
    """
    import pandas as pd

    head = file.read(_HEAD)
    encoding = _encoding(head)
    found = _detect(head.decode(encoding, errors="ignore"), layout, whole=len(head) < _HEAD)
    frame = _parse(file, encoding, found)
    text = text_columns(frame, id_name)
    if text and layout.decimal is None and found.delimiter != ",":
        comma = _parse(file, encoding, replace(found, decimal=","))
        if len(text_columns(comma, id_name)) < len(text):
            frame = comma
    for name in text_columns(frame, id_name):
        frame[name] = _as_numbers(frame[name])
    ids = None
    if id_name in frame:
        # Read the ids again as text: 007 keeps its zeros, and NA may be a name.
        column = frame.columns.get_loc(id_name)
        raw = _parse(file, encoding, found, usecols=[column], dtype=str, na_filter=False)
        ids = raw.iloc[:, 0].tolist()
    if found.header:
        frame.columns = pd.Index(_names(file, encoding, found, list(frame.columns)))
    return frame, ids


def _encoding(head: bytes) -> str:
    """Guess the encoding from the beginning of a file; raise ValueError if it is not text."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in head:
        raise ValueError("it holds binary data, not text")
    try:
        # Decode whole lines only: the head may end inside a character.
        ends = max(head.rfind(b"\n"), head.rfind(b"\r")) + 1
        head[: ends or len(head)].decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"  # what spreadsheets write on Windows
    return "utf-8-sig"


def _detect(head: str, layout: Layout, *, whole: bool) -> Layout:
    """Fill in the settings that are None."""
    delimiter = layout.delimiter or _delimiter(head, whole)
    header = layout.header
    if header is None:
        rows = _cells(head, delimiter, whole)
        first = [cell.strip() for cell in rows[0]] if rows else []
        numbers = [bool(_NUMBER.fullmatch(cell)) for cell in first if cell not in ("?", "NA")]
        header = not (numbers and all(numbers))
    return Layout(delimiter, layout.decimal or ".", header)


def _delimiter(head: str, whole: bool) -> str:
    """Return the candidate that splits the most rows into the same number of cells."""
    best, most = ",", 0.0
    # Try the comma late: it would also split "1,5;2,5".
    for candidate in ("\t", ";", "|", ",", " "):
        widths = [len(row) for row in _cells(head, candidate, whole)]
        common = max(set(widths), key=widths.count, default=1)
        share = widths.count(common) / len(widths) if widths else 0.0
        if common > 1 and share > most:
            best, most = candidate, share
    return best


def _cells(head: str, delimiter: str, whole: bool) -> list[list[str]]:
    if delimiter == " ":
        rows = [line.split() for line in head.splitlines()]
    else:
        lines = io.StringIO(head, newline="")  # CR alone may end a line
        rows = list(csv.reader(lines, delimiter=delimiter, skipinitialspace=True))
    if not whole and len(rows) > 1:
        rows.pop()  # the last row may be incomplete
    return [row for row in rows if row][:200]


def _parse(file: BinaryIO, encoding: str, layout: Layout, **options: Any) -> pd.DataFrame:
    import pandas as pd

    file.seek(0)
    with warnings.catch_warnings():
        # With more cells than names, pandas drops the last cells and gives this warning.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            frame: pd.DataFrame = pd.read_csv(
                file,
                sep=r"\s+" if layout.delimiter == " " else layout.delimiter,
                decimal=layout.decimal or ".",
                encoding=encoding,
                header=0 if layout.header else None,
                index_col=False,
                na_values=_MISSING,
                skipinitialspace=True,
                low_memory=False,
                **options,
            )
        except pd.errors.ParserWarning:
            raise ValueError("rows have more cells than the first line has names") from None
    if not layout.header:
        frame.columns = pd.Index(numbered(frame.shape[1]))
    return frame.rename(columns=str)


def _as_numbers(column: pd.Series[Any]) -> pd.Series[Any]:
    """Numbers that pandas left as text or objects; any other column as it is.

    These are integers of more than 64 bits, and booleans with missing values.
    """
    import pandas as pd

    texts = column.astype(str).replace({"True": "1", "False": "0"})
    numbers = pd.to_numeric(texts, errors="coerce")
    return column if (numbers.isna() & column.notna()).any() else numbers


def _names(file: BinaryIO, encoding: str, layout: Layout, names: list[str]) -> list[str]:
    """Return the names of pandas, or those of the file if it repeats one: pandas numbers these."""
    without = replace(layout, header=False)
    line = _parse(file, encoding, without, nrows=1, dtype=str, na_filter=False)
    written = [str(name) for name in line.iloc[0]]
    named = [name for name in written if name]
    return written if len(set(named)) < len(named) else names
