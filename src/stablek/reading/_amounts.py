"""Numbers as people write them: with thousands separators or percent signs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from stablek.reading._table import without_missing

if TYPE_CHECKING:
    import polars as pl

__all__ = ["read_amounts"]

_SEPARATORS = {".": (",", "'", "’", " ", "\u00a0", "\u202f")}
_SEPARATORS[","] = (".", *_SEPARATORS["."][1:])


def read_amounts(
    texts: pl.Series, decimal: str, *, sure: bool
) -> tuple[pl.Series, list[str]] | None:
    """Numbers of a column, and what was taken away; None if it holds other texts.

    All cells must have a percent sign, or none. A column has one separator, with three digits
    after it. "1,234" could be a decimal comma: unless ``sure`` that it is not, some cell must have
    two separators or a decimal mark besides.

    Examples
    --------
    >>> import polars as pl
    >>> numbers, done = read_amounts(pl.Series(["1,234.5", "-", "7"]), ".", sure=False)
    >>> numbers.to_list(), done
    ([1234.5, None, 7.0], ["thousands separator ',' removed"])
    >>> read_amounts(pl.Series(["12%", "8.5%"]), ".", sure=False)[0].to_list()
    [12.0, 8.5]
    """
    import polars as pl

    cells, done = without_missing(texts), []
    known = cells.drop_nulls()
    if not len(known):
        return None
    if known.str.ends_with("%").all():
        cells = cells.str.strip_suffix("%").str.strip_chars()
        known = cells.drop_nulls()
        done.append("percent signs removed")
    for mark in _SEPARATORS[decimal]:
        if not known.str.contains(mark, literal=True).any():
            continue
        m, d = (f"[{character}]" for character in (mark, decimal))
        if not known.str.contains(rf"^[+-]?(\d{{1,3}}({m}\d{{3}})+|\d+)({d}\d+)?$").all():
            continue
        plain = rf"({m}\d{{3}}){{2}}|{m}\d{{3}}{d}"
        if mark in ",." and not sure and not known.str.contains(plain).any():
            continue
        cells = cells.str.replace_all(mark, "", literal=True)
        done.append(f"thousands separator {mark!r} removed")
        break
    if not done:
        return None
    numbers = cells.str.replace(decimal, ".", literal=True).cast(pl.Float64, strict=False)
    return None if numbers.null_count() > cells.null_count() else (numbers, done)
