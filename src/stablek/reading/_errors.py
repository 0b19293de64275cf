"""The error for input that cannot be used, and messages that suggest parameters."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

__all__ = ["InputError", "Message", "Parameter", "listed", "short"]


class InputError(ValueError):
    """The input cannot be used. The message is one line and says what to do."""


@dataclass(frozen=True)
class Parameter:
    """A parameter of `read_points` in a message, with the value to set if there is one.

    Examples
    --------
    >>> print(Parameter("drop", ["a", "b"]), Parameter("columns"))
    drop=['a', 'b'] columns
    """

    name: str
    value: str | Sequence[str] | None = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


class Message(str):
    """A text that keeps its parts, so that the command line can name flags for parameters.

    Examples
    --------
    >>> Message("try ", Parameter("missing", "mean"))
    "try missing='mean'"
    """

    parts: tuple[str | Parameter, ...]

    def __new__(cls, *parts: str | Parameter) -> Message:
        """Join the parts."""
        message = super().__new__(cls, "".join(map(str, parts)))
        message.parts = parts
        return message


def short(text: str) -> str:
    """Cut a text that is too long for a message."""
    return text if len(text) <= 60 else text[:57] + "..."


def listed(names: Iterable[str]) -> str:
    """Names for a message; repr keeps line breaks and control characters out of it."""
    shown = [repr(short(name)) for name in names]
    return ", ".join(shown[:10]) + (f" and {len(shown) - 10} more" if shown[10:] else "")
