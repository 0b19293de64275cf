"""Delimited text: encoding, delimiter, decimal mark and header are detected."""

from __future__ import annotations

import csv
import io
import re
import warnings
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, BinaryIO

from stablek.reading._columns import numbered, text_columns

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["MISSING", "Layout", "encoding_of", "read_text"]

MISSING = ["?"]
"""What stands for a missing value, besides what pandas takes for one."""

_HEAD = 1 << 16
_NUMBER = re.compile(r"[+-]?(\d+[.,]?\d*|[.,]\d+)([eE][+-]?\d+)?|[+-]?(nan|inf)", re.IGNORECASE)


@dataclass(frozen=True)
class Layout:
    """How a text file is cut into cells.

    Parameters
    ----------
    delimiter : str or None
        One character; " " stands for any white space. None is detected, as for the others.
    decimal : {".", ","} or None
        Decimal mark.
    header : bool or None
        Whether the first line holds names.
    """

    delimiter: str | None = None
    decimal: str | None = None
    header: bool | None = None


def read_text(
    file: BinaryIO, layout: Layout, id_name: str | None
) -> tuple[pd.DataFrame, list[str] | None]:
    """All columns of a text file, and the ids as the text that is in the file."""
    head = file.read(_HEAD)
    encoding = encoding_of(head)
    found = _detect(head.decode(encoding, errors="ignore"), layout, whole=len(head) < _HEAD)
    frame = _parse(file, encoding, found)
    text = text_columns(frame, id_name)
    if text and layout.decimal is None and found.delimiter != ",":
        comma = _parse(file, encoding, replace(found, decimal=","))
        if len(text_columns(comma, id_name)) < len(text):
            frame = comma
    ids = None
    if id_name in frame:
        # Read once more as text: 007 is no number, and NA is a name.
        column = frame.columns.get_loc(id_name)
        raw = _parse(file, encoding, found, usecols=[column], dtype=str, na_filter=False)
        ids = raw.iloc[:, 0].tolist()
    return frame, ids


def encoding_of(head: bytes) -> str:
    """Encoding of a text by its beginning; ValueError if it is no text."""
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    if b"\0" in head:
        raise ValueError("it holds binary data, not text")
    try:
        # A character may be cut at the end of the head.
        head[: head.rfind(b"\n") + 1 or len(head)].decode("utf-8")
    except UnicodeDecodeError:
        return "cp1252"  # what spreadsheets write on Windows
    return "utf-8-sig"


def _detect(head: str, layout: Layout, *, whole: bool) -> Layout:
    """Fill in what is not given."""
    delimiter = layout.delimiter or _delimiter(head, whole)
    header = layout.header
    if header is None:
        rows = _cells(head, delimiter, whole)
        first = [cell.strip() for cell in rows[0]] if rows else []
        numbers = [bool(_NUMBER.fullmatch(cell)) for cell in first if cell not in ("?", "NA")]
        header = not (numbers and all(numbers))
    return Layout(delimiter, layout.decimal or ".", header)


def _delimiter(head: str, whole: bool) -> str:
    """The candidate that cuts the most rows into the same number of cells."""
    best, most = ",", 0.0
    # The comma after the others: in "1,5;2,5" it would do as well.
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
        rows = list(csv.reader(io.StringIO(head), delimiter=delimiter, skipinitialspace=True))
    if not whole and len(rows) > 1:
        rows.pop()  # may be cut
    return [row for row in rows if row][:200]


def _parse(file: BinaryIO, encoding: str, layout: Layout, **options: Any) -> pd.DataFrame:
    import pandas as pd

    file.seek(0)
    with warnings.catch_warnings():
        # More cells than names: pandas would drop the last ones with this warning.
        warnings.simplefilter("error", pd.errors.ParserWarning)
        try:
            frame: pd.DataFrame = pd.read_csv(
                file,
                sep=r"\s+" if layout.delimiter == " " else layout.delimiter,
                decimal=layout.decimal or ".",
                encoding=encoding,
                header=0 if layout.header else None,
                index_col=False,
                na_values=MISSING,
                skipinitialspace=True,
                low_memory=False,
                **options,
            )
        except pd.errors.ParserWarning:
            raise ValueError("rows have more cells than the first line has names") from None
    if not layout.header:
        frame.columns = pd.Index(numbered(frame.shape[1]))
    return frame.rename(columns=str)
