"""Read a file as points that can be clustered."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from stablek.reading._columns import (
    choose_columns,
    describe_missing,
    refuse_infinite,
    refuse_text,
    resolve_missing,
)
from stablek.reading._errors import InputError, Message, Parameter
from stablek.reading._formats import format_of, read_table, refuse_no_file
from stablek.reading._lists import expand_lists
from stablek.reading._table import Table, to_floats
from stablek.reading._text import Layout

__all__ = ["Points", "read_points", "standardize"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Points:
    """The rows of a file as points.

    Parameters
    ----------
    X : ndarray of shape (n_points, n_columns)
        The numbers as they are in the file, without missing values.
    columns : tuple of str
        Names of the columns of X.
    kept : ndarray of bool, shape (n_rows,)
        Which rows of the file are points. The other rows had missing values.
    id_name : str or None
        Name of the id column.
    ids : list of str or None
        The id of every row of the file.
    notes : tuple of str
        What the user should know about the data.
    table : Table or None
        All columns of the file, if they were asked for.
    """

    X: Floats
    columns: tuple[str, ...]
    kept: NDArray[np.bool_]
    id_name: str | None = None
    ids: list[str] | None = None
    notes: tuple[str, ...] = ()
    table: Table | None = None


LABEL_NAMES = ("class", "classes", "cluster", "group", "label", "labels", "species", "target", "y")
MOST_LABELS = 30
"""A column with one of these names and at most so many distinct integers looks like labels."""


def read_points(
    source: str,
    *,
    kind: str | None = None,
    layout: Layout | None = None,
    columns: Sequence[str] | None = None,
    drop: Sequence[str] = (),
    id_name: str | None = None,
    missing: str | None = None,
    keep_table: bool = False,
) -> Points:
    """Read a file as points.

    Parameters
    ----------
    source : str
        Path of the file; "-" for standard input.
    kind : str or None
        One of `FORMATS`. None uses the suffix; standard input is CSV.
    layout : Layout or None
        Delimiter, decimal mark and header of a text file. None detects them.
    columns, drop : sequence of str
        The columns to use (None for all), and the columns to leave out.
    id_name : str or None
        The column that names the rows. It is not clustered.
    missing : {"drop", "mean"} or None
        What to do about missing values. "drop" leaves out rows with missing values, "mean" fills
        in the mean of the column, None refuses them.
    keep_table : bool
        Whether the points keep all columns of the file.

    Returns
    -------
    Points

    Raises
    ------
    InputError
        If the file cannot be read, a column is not numeric or values are missing.
    """
    name = "standard input" if source == "-" else repr(source)
    refuse_no_file(source)
    table = read_table(source, name, kind or format_of(source), layout or Layout(), id_name)
    chosen = choose_columns(name, table.names, columns, drop, id_name)
    column_of = dict(zip(table.names, table.columns, strict=True))
    used = expand_lists(Table(chosen, [column_of[column] for column in chosen]))
    chosen = used.names
    if len(used.columns[0]):
        refuse_text(name, used)
    X: Floats = np.column_stack([to_floats(column) for column in used.columns])
    refuse_infinite(name, X, chosen)
    kept = np.ones(len(X), dtype=bool)
    notes: list[str] = [
        f"column {column!r}: {' and '.join(done)}"
        for column, done in table.notes.items()
        if column in chosen
    ]
    if np.isnan(X).any():
        described = describe_missing(name, X, chosen)
        X, kept = resolve_missing(X, chosen, missing, described)
        done = "filled in with column means" if missing == "mean" else "these rows are left out"
        notes.append(f"{described}; {done}")
    if len(X) < 2:
        raise InputError(f"{name} has {len(X)} rows to cluster; at least 2 are needed")
    if len(chosen) > 1 and len(X) > 2:
        advice = "counts the rows; if it measures nothing, keep it out with "
        notes += [
            Message(f"column {column!r} {advice}", Parameter("id_name", column))
            for column, values in zip(chosen, X.T, strict=True)
            if (np.diff(values) == 1).all()
        ]
        notes += _labels_noted(X, chosen)
    return Points(
        np.ascontiguousarray(X),
        tuple(chosen),
        kept,
        id_name,
        table.ids,
        tuple(notes),
        table if keep_table else None,
    )


def _labels_noted(X: Floats, columns: list[str]) -> list[str]:
    """Notes of columns that look like labels, which would give the answer away."""
    notes: list[str] = []
    for column, values in zip(columns, X.T, strict=True):
        if column.strip().casefold() not in LABEL_NAMES or (values != np.round(values)).any():
            continue
        n_labels = len(np.unique(values))
        if n_labels <= min(MOST_LABELS, len(values) / 2):
            found = (
                f"column {column!r} looks like labels ({n_labels} distinct integers); if it is "
            )
            advice = "no measurement, leave it out with "
            notes.append(Message(found, advice, Parameter("drop", [column])))
    return notes


def standardize(X: Floats) -> Floats:
    """Give every column mean 0 and variance 1; constant columns become 0.

    Examples
    --------
    >>> standardize(np.array([[1.0, 7.0], [3.0, 7.0]])).tolist()
    [[-1.0, 0.0], [1.0, 0.0]]
    """
    # Not StandardScaler: it overflows on huge units and takes tiny ones for constant columns.
    # Dividing by a power of two is exact and keeps the squares in range.
    _, exponent = np.frexp(np.abs(X).max(axis=0))
    Z = np.ldexp(X, -exponent)
    constant = np.ptp(Z, axis=0) == 0
    Z -= Z.mean(axis=0)
    Z /= np.where(constant, 1.0, Z.std(axis=0))
    Z[:, constant] = 0.0
    return np.asarray(Z)
