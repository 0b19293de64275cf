"""Tables: drawn by rich on a terminal, plain text in a pipe."""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TextIO

__all__ = ["Table", "number", "printable", "show"]


@dataclass(frozen=True)
class Table:
    """Rows of text, with one of them emphasized.

    Parameters
    ----------
    headers : sequence of str
        Names of the columns.
    rows : sequence of sequences of str
        The cells.
    chosen : int or None
        The row to emphasize.
    left : collection of str
        Columns to align to the left. The others are aligned to the right.
    """

    headers: Sequence[str]
    rows: Sequence[Sequence[str]]
    chosen: int | None = None
    left: Sequence[str] = ()


def number(value: float, digits: int = 3) -> str:
    """Format a number for a table; "-" if it is not finite.

    Examples
    --------
    >>> number(0.12345), number(float("nan"))
    ('0.123', '-')
    """
    if not math.isfinite(value):
        return "-"
    return f"{value:.{digits}f}" if abs(value) < 1e5 else f"{value:.{digits + 1}g}"


def printable(text: str) -> str:
    """Replace control characters, which a terminal would obey."""
    return "".join(c if c.isprintable() else "?" for c in text)


def show(table: Table, stream: TextIO | None = None) -> None:
    """Print a table, with a star at the chosen row."""
    stream = sys.stdout if stream is None else stream
    if stream.isatty() and _show_rich(table, stream):
        return
    cells = [["", *table.headers]]
    cells += [["*" if i == table.chosen else "", *row] for i, row in enumerate(table.rows)]
    cells = [[printable(cell) for cell in row] for row in cells]
    widths = [max(len(row[j]) for row in cells) for j in range(len(cells[0]))]
    left = [True, *(header in table.left for header in table.headers)]
    for row in cells:
        aligned = [
            cell.ljust(width) if to_left else cell.rjust(width)
            for cell, width, to_left in zip(row, widths, left, strict=True)
        ]
        print("  ".join(aligned).rstrip(), file=stream)


def _show_rich(table: Table, stream: TextIO) -> bool:
    try:
        from rich import box
        from rich.console import Console
        from rich.table import Table as RichTable
        from rich.text import Text
    except ImportError:
        return False
    drawn: Any = RichTable(box=box.SIMPLE_HEAD)
    drawn.add_column("")
    for header in table.headers:
        drawn.add_column(header, justify="left" if header in table.left else "right")
    for i, row in enumerate(table.rows):
        star = "*" if i == table.chosen else ""
        # Text, not str: rich reads brackets in str as markup.
        drawn.add_row(
            *(Text(printable(cell)) for cell in (star, *row)), style="bold" if star else None
        )
    Console(file=stream).print(drawn)
    return True
