"""Warnings for the user's eyes: shown at the user's line, and silenced safely in threads."""

from __future__ import annotations

import re
import sys
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

__all__ = ["ignored", "warn_user"]

_OURS = ("stablek", "sklearn", "joblib")  # packages through which a user's call may pass

_lock = Lock()
_users: Counter[type[Warning]] = Counter()
_ANY_MESSAGE = re.compile("(?#stablek)")  # tells our filters from the user's


def warn_user(message: str) -> None:
    """Warn with the line of user code that led here, also through a Pipeline.

    Examples
    --------
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     warn_user("look here")
    >>> str(caught[0].message)
    'look here'
    """
    level, frame = 2, sys._getframe(1)
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        level, frame = level + 1, frame.f_back
    warnings.warn(message, UserWarning, stacklevel=level)


def _is_ours(module: str) -> bool:
    return module.partition(".")[0] in _OURS


@contextmanager
def ignored(category: type[Warning]) -> Iterator[None]:
    """Silence a category of warnings.

    `warnings.catch_warnings` puts back the filters that it found, so that threads which overlap
    leave each other's filters behind. Here the filter is added by the first user and removed by
    the last. While any thread is inside, the category is silent for the whole process.
    """
    item = ("ignore", _ANY_MESSAGE, category, None, 0)
    with _lock:
        if _users[category] == 0:
            warnings.filters.insert(0, item)  # type: ignore[attr-defined]
        _users[category] += 1
    try:
        yield
    finally:
        with _lock:
            _users[category] -= 1
            if _users[category] == 0 and item in warnings.filters:
                warnings.filters.remove(item)  # type: ignore[attr-defined]
