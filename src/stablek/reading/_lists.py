"""Columns of lists, such as embeddings: a column for each place of the list."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from stablek.reading._errors import InputError, short
from stablek.reading._table import Table

if TYPE_CHECKING:
    import polars as pl

__all__ = ["expand_lists"]


def expand_lists(table: Table) -> Table:
    """Replace each column of lists of numbers by one column for each place of the list.

    The columns of ``embedding`` are ``embedding_1``, ``embedding_2`` and so on. A missing list is
    a row of missing values.
    """
    names: list[str] = []
    columns: list[pl.Series] = []
    for name, column in zip(table.names, table.columns, strict=True):
        if not _holds_lists(column):
            names.append(name)
            columns.append(column)
            continue
        parts = _places(name, column)
        names += [f"{name}_{place}" for place in range(1, len(parts) + 1)]
        columns += parts
    return Table(names, columns)


def _holds_lists(column: pl.Series) -> bool:
    """Whether a column holds lists of numbers; lists of texts are left to be refused."""
    import polars as pl

    inner = getattr(column.dtype, "inner", None)
    return isinstance(column.dtype, (pl.List, pl.Array)) and bool(
        inner is not None and inner.is_numeric()
    )


def _places(name: str, column: pl.Series) -> list[pl.Series]:
    import polars as pl

    inner = column.dtype.inner  # type: ignore[attr-defined]
    lists = column.cast(pl.List(inner))
    lengths: set[int] = set(lists.drop_nulls().list.len().to_list())
    shortest, longest = (min(lengths, default=0), max(lengths, default=0))
    if shortest != longest or longest == 0:
        raise InputError(
            f"column {short(name)!r} holds lists of {shortest} to {longest} numbers; lists of one "
            f"length, above 0, are needed"
        )
    values = np.full((len(lists), longest), np.nan)
    present = lists.is_not_null().to_numpy()
    values[present] = lists.drop_nulls().explode().cast(pl.Float64).to_numpy().reshape(-1, longest)
    return [pl.Series(np.ascontiguousarray(place)) for place in values.T]
