"""The error for input that cannot be used, and the wording of lists of names in it."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterable

__all__ = ["InputError", "as_option", "listed", "short"]


class InputError(ValueError):
    """The input cannot be used; the message is one line and says what to do."""


def short(text: str) -> str:
    """Cut a text that is too long for a message."""
    return text if len(text) <= 60 else text[:57] + "..."


def listed(names: Iterable[str]) -> str:
    """Names for a message; repr keeps line breaks and control characters out of it."""
    shown = [repr(short(name)) for name in names]
    return ", ".join(shown[:10]) + (f" and {len(shown) - 10} more" if shown[10:] else "")


def as_option(names: list[str]) -> str:
    """Names as an option such as --drop takes them, quoted for the shell.

    Examples
    --------
    >>> print(as_option(["a", "b, c"]))
    'a,"b, c"'
    """
    line = io.StringIO()
    csv.writer(line, lineterminator="").writerow(names)
    return shlex.quote(line.getvalue())
