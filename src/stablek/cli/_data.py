"""The input file of a command, as points."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stablek.candidates import default_k_values
from stablek.cli._outputs import write_labels
from stablek.reading import InputError, Layout, Points, read_points, standardize
from stablek.validation import n_distinct

if TYPE_CHECKING:
    import polars as pl

__all__ = ["MemoryInput", "check_test_rows", "load", "resolve_k"]


def load(args: argparse.Namespace, *, keep_table: bool = False) -> tuple[Points, pl.DataFrame]:
    """Read the points of the file, and the table to cluster: standardized, or as it is."""
    points = read_points(args.file, keep_table=keep_table, **_options(args))
    X = points.X if args.no_scale else standardize(points.X)
    return points, _frame(X, points.columns)


def _options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of `read_points` that differ from their defaults."""
    layout = Layout(args.delimiter, args.decimal, args.header)
    options = {
        "kind": args.format,
        "layout": None if layout == Layout() else layout,
        "columns": args.columns,
        "drop": args.drop or None,
        "id_name": args.id,
        "missing": args.missing,
    }
    return {name: value for name, value in options.items() if value is not None}


def resolve_k(k: tuple[int, ...] | None, points: Points, source: str) -> list[int]:
    """Return the candidates: those given, or the default of the data."""
    if k is None:
        return list(default_k_values(points.X))
    distinct = n_distinct(points.X, k[-1])
    if distinct < k[-1]:
        raise InputError(
            f"--k asks for {k[-1]} clusters but {source!r} has only {distinct} distinct rows; "
            f"use --k 1:{distinct}"
        )
    return list(k)


def check_test_rows(points: Points, source: str, remedy: str = "use more data") -> None:
    """Raise InputError if there are too few rows for the structure test."""
    from stablek.selectors.structure import LEAST_ROWS

    if len(points.X) < LEAST_ROWS:
        raise InputError(
            f"{source!r} has {len(points.X)} rows, but the structure test needs at least "
            f"{LEAST_ROWS}; {remedy}"
        )


def original(points: Points) -> pl.DataFrame:
    """Return the values as they are in the file."""
    return _frame(points.X, points.columns)


def _frame(X: NDArray[np.float64], columns: Sequence[str]) -> pl.DataFrame:
    import polars as pl

    return pl.DataFrame(X, schema=list(columns))


def described(args: argparse.Namespace, points: Points) -> str:
    """Describe the data that were clustered."""
    n, p = points.X.shape
    return f"{n} rows, {p} column{'s' * (p > 1)}{'' if args.no_scale else ' standardized'}"


def loading_code(args: argparse.Namespace) -> str:
    """Return Python code that reads the same points, for the report."""
    options = _options(args)
    given = "".join(f", {name}={value!r}" for name, value in options.items())
    names = [*(["Layout"] if "layout" in options else []), "read_points"]
    code = f"read_points({args.file!r}{given}).X"
    if not args.no_scale:
        names.append("standardize")
        code = f"standardize({code})"
    return f"from stablek.reading import {', '.join(names)}\n\nX = {code}"


@dataclass
class MemoryInput:
    """The rows of a file in memory."""

    args: argparse.Namespace
    points: Points
    X: Any
    k_range: list[int]

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes of the reader."""
        return self.points.notes

    @property
    def ids(self) -> list[str] | None:
        """Row ids that the user chose."""
        if self.points.ids is None:
            return None
        return [self.points.ids[row] for row in self.points.kept.nonzero()[0]]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return len(self.points.X)

    def prepare(self, selector: Any) -> None:
        """Check that the rows suffice for a selector."""
        if getattr(selector, "one_cluster", None) == "test" and self.k_range[-1] > 1:
            remedy = "use more data, or --one-cluster never or crossing"
            check_test_rows(self.points, self.args.file, remedy)

    def original(self, selector: Any) -> Any:
        """Rows that the report shows, with the values of the file."""
        return original(self.points)

    def described(self) -> str:
        """Describe the data that were clustered."""
        return described(self.args, self.points)

    def loading_code(self) -> str:
        """Return Python code that reads the same rows."""
        return loading_code(self.args)

    def write_labels(self, labels: Any, path: str, *, safe: bool = False) -> None:
        """Write the cluster of every row."""
        write_labels(self.points, labels, path, append=self.args.append, safe=safe)
