"""Delimited text: encoding, delimiter, decimal mark and header are detected.

The detection is our own because `csv.Sniffer` raises on a single column, takes a decimal comma for
the delimiter, and knows nothing of decimal marks. Then polars splits the file. It does not take
white space for a delimiter, and a quote inside a cell confuses it, so Python's csv module rewrites
such files first.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, BinaryIO

from stablek.reading._amounts import read_amounts
from stablek.reading._columns import text_columns
from stablek.reading._table import MISSING, Table, numbered, to_numbers

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Layout", "read_text"]

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
    """Read all columns of a text file, and the ids exactly as they are written."""
    content = file.read()
    head = content[:_HEAD]
    encoding = _encoding(head)
    found = _detect(
        head.decode(encoding, errors="ignore"), layout, whole=len(content) == len(head)
    )
    columns = _parse(content, encoding, found)
    names = numbered(len(columns))
    if found.header:
        names = [column[0] or f"Unnamed: {j}" for j, column in enumerate(columns)]
        columns = [column.slice(1) for column in columns]
    table = Table(names, [to_numbers(column, found.decimal or ".") for column in columns])
    text = text_columns(table, id_name)
    if text and layout.decimal is None and found.delimiter != ",":
        comma = Table(names, [to_numbers(column, ",") for column in columns])
        if len(text_columns(comma, id_name)) < len(text):
            table = comma
            found = replace(found, decimal=",")
    ids = None
    if id_name in names:
        # From the texts: 007 keeps its zeros, and NA may be a name.
        ids = columns[names.index(id_name)].fill_null("").to_list()
    notes = {}
    for name in text_columns(table, id_name):
        position = names.index(name)
        # A comma that stands between cells is no decimal mark inside them.
        sure = layout.decimal is not None or found.delimiter == ","
        amounts = read_amounts(columns[position], found.decimal or ".", sure=sure)
        if amounts is None and layout.decimal is None and found.delimiter != ",":
            amounts = read_amounts(columns[position], ",", sure=False)
        if amounts is not None:
            table.columns[position], notes[name] = amounts
    return Table(names, table.columns, ids, cells=columns, notes=notes)


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
        numbers = [bool(_NUMBER.fullmatch(cell)) for cell in first if cell not in MISSING]
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


def _parse(content: bytes, encoding: str, layout: Layout) -> list[pl.Series]:
    """Split a file into columns of texts; the first row may hold names."""
    import polars as pl

    delimiter = layout.delimiter or ","
    if encoding != "utf-8-sig" or delimiter == " " or b'"' in content:
        rows = _rows(content.decode(encoding), delimiter)
        delimiter = "\t" if delimiter == " " else delimiter
        buffer = io.StringIO(newline="")
        csv.writer(buffer, delimiter=delimiter, lineterminator="\n").writerows(rows)
        content = buffer.getvalue().encode()
    else:
        content = content.removeprefix(b"\xef\xbb\xbf")
        content = content.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
        content = re.sub(rb"\n *(?=\n|\Z)", b"", content).lstrip(b" \n")
    if not content.strip():
        raise ValueError("it has no rows")
    try:
        frame = pl.read_csv(content, separator=delimiter, has_header=False, infer_schema=False)
    except pl.exceptions.ComputeError as error:
        _refuse_long_rows(content.decode(), delimiter)
        raise ValueError(str(error)) from error
    return [column.str.strip_chars_start(" ") for column in frame.get_columns()]


def _rows(text: str, delimiter: str) -> Iterator[list[str]]:
    """Cells of the rows that are not empty."""
    blank = delimiter == " "
    lines: Iterable[str] = io.StringIO(text, newline=None if blank else "")
    if blank:
        lines = (line.strip().replace("\t", " ") for line in lines)
    reader = csv.reader(lines, delimiter=delimiter, skipinitialspace=True, strict=True)
    return (row for row in reader if row)


def _refuse_long_rows(text: str, delimiter: str) -> None:
    """Raise if a row has more cells than the first one."""
    width = 0
    for number, row in enumerate(_rows(text, delimiter), start=1):
        width = width or len(row)
        if len(row) > width:
            raise ValueError(f"row {number} has {len(row)} cells; the first row has {width}")
