"""The note that kernels are compiled: in the log, and on standard error for those who watch."""

from __future__ import annotations

import logging
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Any

__all__ = ["COMPILING", "listen", "watched"]

COMPILING = "Compiling kernels once for this machine, about 10 s ..."

_lock = Lock()
_watchers = 0
_listening = _announced = False


@contextmanager
def watched(wanted: bool = True) -> Iterator[None]:
    """Show the note on standard error too, if ``wanted``, for as long as the block runs."""
    global _watchers
    with _lock:
        _watchers += wanted
    try:
        yield
    finally:
        with _lock:
            _watchers -= wanted


def listen() -> None:
    """Let numba tell when it compiles a kernel. Does nothing as long as numba is not imported."""
    global _listening
    with _lock:
        if _listening or "numba" not in sys.modules:
            return
        _listening = True
    from numba.core import event

    class Listener(event.Listener):  # type: ignore[misc]  # numba has no types
        def on_start(self, event: Any) -> None:
            if event.data["dispatcher"].py_func.__module__.startswith("stablek."):
                _announce()

        def on_end(self, event: Any) -> None:
            pass

    event.register("numba:compile", Listener())


def _announce() -> None:
    """Tell that a kernel was not on disk and is compiled; the first time in a process only."""
    global _announced
    with _lock:
        first, _announced = not _announced, True
        shown = _watchers > 0
    if first:
        logging.getLogger("stablek").info(COMPILING)
        if shown and sys.stderr is not None:
            print(f"stablek: {COMPILING}", file=sys.stderr, flush=True)
