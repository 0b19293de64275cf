"""The parts of a page: text, tables and drawings."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Table:
    """A table of the page, which is also written to a CSV file of that name."""

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Any]]
    note: str = ""
    on_page: bool = field(default=True, kw_only=True)

    def markdown(self) -> str:
        """The table as Markdown, for the page."""
        lines = [list(self.columns), ["---"] * len(self.columns)]
        lines += [[show(cell) for cell in row] for row in self.rows]
        body = "\n".join(f"| {' | '.join(line)} |" for line in lines)
        return f"**{self.title}**\n\n{body}" + (f"\n\n{self.note}" if self.note else "")

    def csv(self) -> str:
        """The table as the text of a CSV file."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(self.columns)
        writer.writerows([[show(cell) for cell in row] for row in self.rows])
        return text.getvalue()


@dataclass(frozen=True)
class Drawing:
    """A figure that is drawn only when needed."""

    name: str
    caption: str
    draw: Callable[[], Any] = field(repr=False)
    suffix: str = "svg"

    @property
    def file(self) -> str:
        """File name."""
        return f"{self.name}.{self.suffix}"


Block = str | Table | Drawing


def show(cell: Any) -> str:
    """A cell as text: numbers are shortened, missing values become a dash."""
    if cell is None or (isinstance(cell, float | np.floating) and np.isnan(cell)):
        return "–"
    if isinstance(cell, bool | np.bool_):
        return "yes" if cell else "no"
    if isinstance(cell, float | np.floating):
        return f"{cell:.2f}" if 0.01 <= abs(cell) < 1e4 or cell == 0 else f"{cell:.2g}"
    return str(cell)
