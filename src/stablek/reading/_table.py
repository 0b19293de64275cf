"""The columns of a file, and which of them hold numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import polars as pl

__all__ = [
    "Table",
    "from_frame",
    "is_numeric",
    "numbered",
    "to_floats",
    "to_numbers",
    "without_missing",
]

MISSING = (
    *(
        "",
        "?",
        "-",
        "--",
        "NA",
        "na",
        "N/A",
        "n/a",
        "n.a.",
        "#N/A",
        "#N/A N/A",
        "#NA",
        "<NA>",
        "NaN",
        "nan",
        "-NaN",
        "-nan",
    ),
    *("NULL", "null", "None", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"),
)
"""Texts that mean a missing value: those of pandas, and others that people write."""
_FLAGS = {"true": 1.0, "false": 0.0}


@dataclass(frozen=True)
class Table:
    """All columns of a file.

    Parameters
    ----------
    names : list of str
        Name of each column. A name may occur twice; `choose_columns` refuses such a table.
    columns : list of polars.Series
        The columns, in the order of the file.
    ids : list of str or None
        The id column as text, if there is one.
    cells : list of polars.Series or None
        The columns of a text file as they are written.
    notes : dict of str to list of str
        What was done to a column to read its numbers.
    """

    names: list[str]
    columns: list[pl.Series]
    ids: list[str] | None = None
    cells: list[pl.Series] | None = None
    notes: dict[str, list[str]] = field(default_factory=dict)

    def texts(self) -> list[list[str]]:
        """All columns as texts: as they are written in a text file, else as Python shows them."""
        cells = self.columns if self.cells is None else self.cells
        return [
            ["" if value is None else str(value) for value in column.to_list()] for column in cells
        ]


def from_frame(frame: pl.DataFrame, id_name: str | None) -> Table:
    """Make a table of a polars frame."""
    ids = None
    if id_name in frame.columns:
        values = frame[id_name].to_list()
        ids = ["" if value is None else str(value) for value in values]
    return Table(frame.columns, frame.get_columns(), ids)


def numbered(n: int) -> list[str]:
    """Names for columns that have none."""
    return [f"x{j}" for j in range(1, n + 1)]


def is_numeric(column: pl.Series) -> bool:
    """Whether a column holds numbers or booleans, or is empty."""
    import polars as pl

    return bool(column.dtype.is_numeric() or column.dtype in (pl.Boolean, pl.Null))


def to_floats(column: pl.Series) -> NDArray[np.float64]:
    """Values of a numeric column; missing ones are nan."""
    import polars as pl

    floats: NDArray[np.float64] = column.cast(pl.Float64).to_numpy()
    return floats


def without_missing(texts: pl.Series) -> pl.Series:
    """Stripped texts; those that mean a missing value become null."""
    stripped = texts.str.strip_chars()
    return stripped.set(stripped.is_in(MISSING), None)


def to_numbers(texts: pl.Series, decimal: str) -> pl.Series:
    """Numbers of a column of texts; the stripped texts where one of them is no number.

    Booleans become 0 and 1. Texts that mean a missing value become null.
    """
    import polars as pl

    if decimal == ".":
        numbers = texts.cast(pl.Float64, strict=False)
        if numbers.null_count() == texts.null_count():
            return numbers
    written = stripped = without_missing(texts)
    if decimal == ",":
        # A point is no decimal mark here: "1.5" must not become 1.5.
        written = stripped.str.replace_many([",", "."], [".", ","])
    flags = written.str.to_lowercase().replace_strict(
        _FLAGS, default=None, return_dtype=pl.Float64
    )
    readings: list[pl.Series] = [written.cast(pl.Float64, strict=False), flags]
    return next((r for r in readings if r.null_count() == stripped.null_count()), stripped)
