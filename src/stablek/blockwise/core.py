"""Blocks of rows, and how the results of blocks are put together.

A block is a fixed range of rows by their number in the whole data, whatever the chunks of the
source are. A pass calls a pure function on every block and merges the results two by two: block 0
with block 1, block 2 with block 3, then these pairs, and so on. The tree depends on the number of
blocks only. Aligned runs of 2, 4, 8, ... blocks are whole branches of it. So any worker can merge
any such run, and the bits are the same for any number of workers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields
from typing import Any, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "BLOCK_ROWS",
    "RUN_NUMBERS",
    "Blocks",
    "Partial",
    "Sums",
    "block_ranges",
    "fold",
    "measure_run",
    "pieces_of",
    "run_length",
]

BLOCK_ROWS = 1 << 16
"""Rows of a block."""

RUN_NUMBERS = 1 << 22
"""Numbers that a task reads at a time: 32 MB."""

Floats = NDArray[np.float64]


class Partial(Protocol):
    """The result of a block, or of several."""

    def merge(self, other: Self) -> Self:
        """Put the result of later blocks behind this one. It may change both."""
        ...


@dataclass
class Sums:
    """Base of results whose fields are arrays that add up over blocks."""

    def merge(self, other: Self) -> Self:
        """Add the sums of later blocks."""
        for field in fields(self):
            total = getattr(self, field.name)
            total += getattr(other, field.name)
        return self


P = TypeVar("P", bound=Partial)
Measure = Callable[[int, Floats], P]
"""``measure(start, X)``: the result of a block whose first row has the number ``start``."""


class Blocks(Protocol):
    """Data in blocks, and the engine that runs functions over them.

    This is all that an adapter for another engine (Ray, Spark) has to implement.
    """

    n_rows: int
    n_features: int
    names: tuple[str, ...] | None
    not_numeric: tuple[str, ...]
    """Names of columns whose type cannot hold numbers."""

    def reduce(self, measure: Measure[P], title: str | None = None) -> P:
        """Merge the results of all blocks in the order of `fold`."""
        ...

    def per_row(
        self,
        function: Callable[[int, Floats], NDArray[Any]],
        dtype: Any,
        n_columns: int | None = None,
        title: str | None = None,
    ) -> Any:
        """Array with what the function returns for each block: (n_rows,) or (n_columns, n_rows).

        It does not use memory: it is lazy, or mapped to a temporary file.
        """
        ...

    def in_memory(self) -> Any:
        """All data, in the form in which `stablek.validation.check_data` takes them."""
        ...


def fold(partials: Iterable[P]) -> P:
    """Merge results two by two, in their order.

    Examples
    --------
    >>> class Text(str):
    ...     def merge(self, other):
    ...         return Text(f"({self}{other})")
    >>> fold(map(Text, "abcdefg"))
    '(((ab)(cd))((ef)g))'
    >>> fold([fold(map(Text, "abcd")), fold(map(Text, "efg"))])
    '(((ab)(cd))((ef)g))'
    """
    waiting: list[tuple[int, P]] = []  # whole branches, the largest first
    for partial in partials:
        height = 0
        while waiting and waiting[-1][0] == height:
            partial = waiting.pop()[1].merge(partial)
            height += 1
        waiting.append((height, partial))
    _, result = waiting.pop()
    while waiting:
        result = waiting.pop()[1].merge(result)
    return result


def measure_run(measure: Measure[P], start: int, X: Floats, block_rows: int) -> P:
    """Merged results of consecutive blocks whose first row has the number ``start``."""
    ranges = block_ranges(len(X), block_rows)
    return fold(measure(start + low, X[low:high]) for low, high in ranges)


def block_ranges(n_rows: int, size: int) -> Iterator[tuple[int, int]]:
    """First row and end of each range of ``size`` rows."""
    return ((low, min(low + size, n_rows)) for low in range(0, n_rows, size))


def pieces_of(ends: NDArray[Any], start: int, stop: int) -> Iterator[tuple[int, int, int]]:
    """Where the rows from ``start`` to ``stop`` are in pieces (files, row groups).

    Parameters
    ----------
    ends : ndarray of shape (n_pieces,)
        Number of rows up to the end of each piece.
    start, stop : int
        Rows of the whole data.

    Yields
    ------
    position, offset, n : int
        A piece, its first row, and the number of rows; no piece without rows.

    Examples
    --------
    >>> list(pieces_of(np.array([10, 10, 15]), 8, 12))
    [(0, 8, 2), (2, 0, 2)]
    """
    first, last = np.searchsorted(ends, [start, stop - 1], side="right").tolist()
    for position in range(first, last + 1):
        begin = int(ends[position - 1]) if position else 0
        low, high = max(start, begin), min(stop, int(ends[position]))
        if high > low:
            yield position, low - begin, high - low


def run_length(n_features: int, block_rows: int) -> int:
    """Blocks that a task reads at a time: a power of two.

    Examples
    --------
    >>> run_length(10, BLOCK_ROWS), run_length(1000, BLOCK_ROWS)
    (4, 1)
    """
    most = RUN_NUMBERS // (block_rows * n_features)
    return 1 << max(0, most.bit_length() - 1) if most else 1
