"""Format the numbers of the summary."""

from __future__ import annotations

from typing import Any

__all__ = ["number", "percentage"]


def number(value: Any, unknown: str = "") -> str:
    """Format a value for a table: at most four digits.

    Examples
    --------
    >>> number(0.123456), number(12), number(None), number("inf")
    ('0.1235', '12', '', '∞')
    >>> number(float("nan"), unknown="–")
    '–'
    """
    if value is None or value != value:
        return unknown
    if isinstance(value, float):
        return f"{value:.4g}"
    return {"inf": "∞", "-inf": "−∞"}.get(str(value), str(value))


def percentage(share: float | None) -> str:
    """Format a share as a percentage. Only 0 and 1 become 0% and 100%.

    Examples
    --------
    >>> percentage(0.97), percentage(0.999), percentage(0.001), percentage(None)
    ('97%', '>99%', '<1%', '')
    """
    if share is None:
        return ""
    if 0 < share < 0.005:
        return "<1%"
    if 0.995 <= share < 1:
        return ">99%"
    return f"{share:.0%}"
