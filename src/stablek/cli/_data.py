"""The input file of a command, ready to be clustered."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from stablek.reading import InputError, Layout, Points, n_distinct, read_points, standardize

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["described", "load", "loading_code", "original", "resolve_k"]

DEFAULT_LARGEST_K = 20


def load(args: argparse.Namespace) -> tuple[Points, pd.DataFrame]:
    """Points of the file, and the table to cluster: standardized unless told not to."""
    points = read_points(
        args.file,
        kind=args.format,
        layout=Layout(args.delimiter, args.decimal, args.header),
        columns=args.columns,
        drop=args.drop,
        id_name=args.id,
        missing=args.missing,
    )
    import pandas as pd

    X = points.X if args.no_scale else standardize(points.X)
    return points, pd.DataFrame(X, columns=list(points.columns))


def resolve_k(k: tuple[int, ...] | None, points: Points, source: str) -> tuple[int, ...]:
    """The candidates; without any given, 1 to 20, or to what the data allow."""
    largest = DEFAULT_LARGEST_K if k is None else k[-1]
    distinct = n_distinct(points.X, largest)
    if k is None:
        return tuple(range(1, distinct + 1))
    if distinct < largest:
        raise InputError(
            f"--k asks for {largest} clusters but {source!r} has only {distinct} distinct rows; "
            f"use --k 1:{distinct}"
        )
    return k


def original(points: Points) -> pd.DataFrame:
    """The values as they are in the file."""
    import pandas as pd

    return pd.DataFrame(points.X, columns=list(points.columns))


def described(args: argparse.Namespace, points: Points) -> str:
    """What was clustered, in words."""
    n, p = points.X.shape
    return f"{n} rows, {p} column{'s' * (p > 1)}{'' if args.no_scale else ' standardized'}"


def loading_code(args: argparse.Namespace) -> str:
    """Python that reads the same points, for the report."""
    layout = Layout(args.delimiter, args.decimal, args.header)
    given = {
        "kind": args.format,
        "layout": None if layout == Layout() else layout,
        "columns": args.columns,
        "drop": args.drop or None,
        "id_name": args.id,
        "missing": args.missing,
    }
    options = "".join(f", {name}={value!r}" for name, value in given.items() if value is not None)
    names = ["Layout"] * (given["layout"] is not None) + ["read_points"]
    read = f"read_points({args.file!r}{options}).X"
    if args.no_scale:
        return f"from stablek.reading import {', '.join(names)}\n\nX = {read}"
    names.append("standardize")
    return f"from stablek.reading import {', '.join(names)}\n\nX = standardize({read})"
