"""pyarrow data sets, read by row numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.blockwise.core import pieces_of
from stablek.blockwise.parquet import arrow_floats, is_arrow_numeric

__all__ = ["ArrowSource"]

Floats = NDArray[np.float64]


class ArrowSource:
    """A pyarrow data set. Its fragments (files) are read one by one.

    Parameters
    ----------
    dataset : pyarrow.dataset.Dataset
    """

    def __init__(self, dataset: Any) -> None:
        self._dataset = dataset
        self._pieces: list[Any] = []
        counts = []
        for fragment in dataset.get_fragments():
            try:
                pieces = _pieces(fragment)
                counts += [n for _, n in pieces]
            except Exception as error:
                raise ValueError(f"X: {_name(fragment)} cannot be read: {error}") from error
            self._pieces += [piece for piece, _ in pieces]
        self._ends = np.cumsum(counts, dtype=np.int64)
        self.n_rows = int(self._ends[-1]) if counts else 0
        self.n_features = len(dataset.schema.names)
        self.names: tuple[str, ...] | None = tuple(dataset.schema.names)
        self.not_numeric = tuple(f.name for f in dataset.schema if not is_arrow_numeric(f.type))

    def read(self, start: int, stop: int) -> Floats:
        """Rows from ``start`` to ``stop``."""
        parts = [self._read_piece(*piece) for piece in pieces_of(self._ends, start, stop)]
        return np.ascontiguousarray(np.concatenate(parts))

    def in_memory(self) -> Any:
        """All data, as a table."""
        return self._dataset.to_table()

    def _read_piece(self, position: int, offset: int, n: int) -> Floats:
        piece = self._pieces[position]
        try:
            table = piece.to_table(schema=self._dataset.schema)
            rows = arrow_floats(table.slice(offset, n))
        except Exception as error:
            raise ValueError(f"X: {_name(piece)} cannot be read: {error}") from error
        if len(rows) != n:
            raise ValueError(f"X: {_name(piece)} changed while it was read; fit again")
        return rows


def _pieces(fragment: Any) -> list[tuple[Any, int]]:
    """Row groups of a Parquet file, or the whole of another file, with their numbers of rows."""
    groups = getattr(fragment, "row_groups", None)
    if groups:
        return [(fragment.subset(row_group_ids=[g.id]), g.num_rows) for g in groups]
    return [(fragment, fragment.count_rows())]


def _name(fragment: Any) -> str:
    return repr(getattr(fragment, "path", "a fragment of the data set"))
