"""Messages of `stablek.reading`, with the flags of the command line in place of parameters."""

from __future__ import annotations

import csv
import io
import shlex

from stablek.reading import Message, Parameter

__all__ = ["with_flags"]

_FLAGS = {
    "columns": "--columns",
    "drop": "--drop",
    "id_name": "--id",
    "kind": "--format",
    "missing": "--missing",
}


def with_flags(text: object) -> str:
    """Return a message that names flags where it named parameters of `read_points`.

    Examples
    --------
    >>> print(with_flags(Message("try ", Parameter("drop", ["a", "b, c"]))))
    try --drop 'a,"b, c"'
    """
    parts = text.parts if isinstance(text, Message) else (str(text),)
    return "".join(_flag(part) if isinstance(part, Parameter) else part for part in parts)


def _flag(parameter: Parameter) -> str:
    flag, value = _FLAGS[parameter.name], parameter.value
    if value is None:
        return flag
    if not isinstance(value, str):
        line = io.StringIO()
        csv.writer(line, lineterminator="").writerow(value)
        value = line.getvalue()
    return f"{flag} {shlex.quote(value)}"
