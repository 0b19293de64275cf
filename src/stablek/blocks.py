"""Row blocks: consecutive slices that bound the memory of a pass over many rows."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["blocks", "rows_per_block"]

_NUMBERS = 1 << 20  # per block of rows
_LEAST_ROWS = 1 << 12


def blocks(n: int, size: int = _LEAST_ROWS) -> Iterator[slice]:
    """Consecutive slices of at most ``size`` rows.

    Examples
    --------
    >>> list(blocks(5, 2))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    return (slice(start, min(start + size, n)) for start in range(0, n, size))


def rows_per_block(n_features: int) -> int:
    """Rows that hold about a million numbers, but not fewer than 4096.

    Examples
    --------
    >>> rows_per_block(2), rows_per_block(1000)
    (524288, 4096)
    """
    return max(_LEAST_ROWS, _NUMBERS // n_features)
