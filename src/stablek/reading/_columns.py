"""Choose the columns to cluster, and refuse values that cannot be clustered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.reading._errors import InputError, Message, Parameter, listed, short
from stablek.reading._table import Table, is_numeric
from stablek.suggesting import did_you_mean

__all__ = [
    "choose_columns",
    "describe_missing",
    "refuse_infinite",
    "refuse_text",
    "resolve_missing",
    "text_columns",
]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]


def text_columns(table: Table, id_name: str | None = None) -> list[str]:
    """Columns without numbers, except the id column."""
    pairs = zip(table.names, table.columns, strict=True)
    return [name for name, column in pairs if name != id_name and not is_numeric(column)]


def choose_columns(
    name: str,
    known: list[str],
    columns: Sequence[str] | None,
    drop: Sequence[str],
    id_name: str | None,
) -> list[str]:
    """Columns to cluster, in the order of ``columns`` or of the file."""
    if len(set(known)) < len(known):
        twice = sorted({column for column in known if known.count(column) > 1})
        raise InputError(f"{name} has several columns with the name {listed(twice)}; rename them")
    asked = {"columns": columns, "drop": drop, "id_name": [id_name] if id_name else []}
    for parameter, names in asked.items():
        for column in names or ():
            if column not in known:
                said = f": {name} has no column {short(column)!r}; it has {listed(known)}"
                meant = did_you_mean(column, known)
                raise InputError(Message(Parameter(parameter), said, meant))
    if columns is not None and id_name is not None and id_name in columns:
        both = Parameter("id_name", id_name), " is also among ", Parameter("columns")
        raise InputError(Message(*both, "; it cannot be both"))
    chosen = dict.fromkeys(known if columns is None else columns)
    left = [column for column in chosen if column not in drop and column != id_name]
    if not left:
        raise InputError(f"{name} has no columns left to cluster")
    return left


def refuse_text(name: str, table: Table) -> None:
    """Raise if a column is not numeric, and name its first bad value."""
    text = text_columns(table)
    if not text:
        return
    values = table.columns[table.names.index(text[0])].to_list()
    wrong = (row for row, value in enumerate(values) if not _is_number(value))
    row = next(wrong, 0)
    found = (
        f"{name} has columns that are not numeric: {listed(text)} (row {row + 1} of "
        f"{short(text[0])!r} is {short(str(values[row]))!r})"
    )
    if len(text) == len(table.names):
        raise InputError(
            f"{found}, and no others to cluster; turn the texts into numbers first, or, if these "
            f"are numbers, name the delimiter and the decimal mark of the file"
        )
    found += "; leave them out with "
    kept = ", or keep one as the row id with ", Parameter("id_name", text[0])
    raise InputError(Message(found, Parameter("drop", text), *kept))


def _is_number(value: Any) -> bool:
    """Whether a value is missing, or text that could be read as a number."""
    try:
        return value is None or float(str(value)) is not None
    except ValueError:
        return False


def refuse_infinite(name: str, X: Floats, columns: list[str]) -> None:
    """Raise if a value is infinite."""
    counts = np.isinf(X).sum(axis=0)
    if counts.any():
        found = f"{name} has numbers too large, or infinite values: {_counted(columns, counts)}"
        advice = "; correct them, or leave the columns out with "
        raise InputError(Message(found, advice, Parameter("drop")))


def describe_missing(name: str, X: Floats, columns: list[str]) -> str:
    """Count the missing values of each column, in words."""
    missing = np.isnan(X)
    rows = int(missing.any(axis=1).sum())
    counted = _counted(columns, missing.sum(axis=0))
    return f"{name} has missing values: {counted} (in {rows} of {len(X)} rows)"


def resolve_missing(
    X: Floats, columns: list[str], missing: str | None, described: str
) -> tuple[Floats, Flags]:
    """Return X without missing values, and which rows are left; raise if ``missing`` is None."""
    absent = np.isnan(X)
    n_absent = absent.sum(axis=0).tolist()
    empty = [column for column, n in zip(columns, n_absent, strict=True) if n == len(X)]
    if empty:
        advice = Message(described, "; leave out empty columns with ", Parameter("drop", empty))
        raise InputError(advice)
    if missing is None:
        leave_out = Parameter("missing", "drop"), " leaves these rows out, "
        fill_in = Parameter("missing", "mean"), " fills in the means of the columns"
        raise InputError(Message(f"{described}; ", *leave_out, *fill_in))
    if missing == "mean":
        return np.where(absent, np.nanmean(X, axis=0), X), np.ones(len(X), dtype=bool)
    kept = np.asarray(~absent.any(axis=1))
    return X[kept], kept


def _counted(columns: list[str], counts: NDArray[np.intp]) -> str:
    pairs = zip(columns, counts.tolist(), strict=True)
    some = [f"{short(column)!r} {count}" for column, count in pairs if count]
    return ", ".join(some[:10]) + (f" and {len(some) - 10} more columns" if some[10:] else "")
