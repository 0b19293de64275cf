"""The command line.

Exit status: 0 with an answer, 1 for an error in stablek itself, 2 for bad input (one line on
standard error says what is wrong), 130 after Ctrl-C, 143 after SIGTERM. Heavy packages are
imported only by the commands that need them.
"""

from __future__ import annotations

import atexit
import contextlib
import errno
import gc
import io
import os
import signal
import sys
import threading
import traceback
from collections.abc import Iterator, Sequence
from concurrent.futures import BrokenExecutor
from importlib import import_module
from types import FrameType

from stablek.announcing import watched
from stablek.cli._parser import build_parser
from stablek.cli._postponing import quick_imports

__all__ = ["main"]

OK, INTERNAL_ERROR, BAD_INPUT = 0, 1, 2
INTERRUPTED, TERMINATED = 128 + signal.SIGINT, 128 + signal.SIGTERM


class _Terminated(KeyboardInterrupt):
    """SIGTERM, as ``timeout`` and job schedulers send it. The clean-up is that of Ctrl-C."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command.

    Parameters
    ----------
    argv : sequence of str, optional
        Arguments without the program's name. None uses those of the process.

    Returns
    -------
    int
        The exit status.

    Examples
    --------
    >>> main(["--version"])
    stablek 0.1.0
    0
    """
    if sys.stderr is None:  # closed; print would write to standard output instead
        sys.stderr = open(os.devnull, "w", encoding="utf-8")  # noqa: SIM115
    if sys.stdout is None:
        return _fail("standard output is closed; redirect it, as in > /dev/null", INTERNAL_ERROR)
    if isinstance(sys.stdout, io.TextIOWrapper):
        # Escape the characters that the terminal's encoding does not have.
        sys.stdout.reconfigure(errors="backslashreplace")
    try:
        with _catching_terminate():
            status = _run(argv)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader, such as head, has stopped. All files are already written.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return OK
    except OSError as error:
        return _fail(f"cannot write to standard output: {error.strerror}", INTERNAL_ERROR)
    return status


def _collect_seldom() -> None:
    """Let Python's garbage collector rest while packages are imported and when the process ends.

    It would search the same objects again and again, all of which stay until the end. That takes
    a quarter of the time of a small `select`.
    """
    gc.set_threshold(100_000)
    atexit.register(gc.freeze)


def _quiet_tracker() -> None:
    """Keep joblib's tracker from warning of semaphores that an interrupt left behind.

    It is a process of its own, which reads its filters from the environment. It removes the
    semaphores, so there is nothing for the user to do.
    """
    rule = "ignore::UserWarning:joblib.externals.loky.backend.resource_tracker"
    given = os.environ.get("PYTHONWARNINGS")
    os.environ["PYTHONWARNINGS"] = f"{given},{rule}" if given else rule


def _run(argv: Sequence[str] | None) -> int:
    try:
        args = build_parser().parse_args(argv)
        with watched(sys.stderr.isatty()):
            if argv is None:  # a process of our own
                _collect_seldom()
                quick_imports()
                _quiet_tracker()
            import_module(f"stablek.cli._{args.command}").run(args)
    except SystemExit as exit_:  # argparse has printed the reason
        return exit_.code if isinstance(exit_.code, int) else OK
    except KeyboardInterrupt as signaled:
        _stop_workers()
        terminated = isinstance(signaled, _Terminated)
        return _fail("interrupted", TERMINATED if terminated else INTERRUPTED)
    except (ValueError, ConnectionError) as error:
        if isinstance(error, BrokenPipeError):
            raise
        from stablek.cli._flags import with_flags

        said = error.args[0] if len(error.args) == 1 else error
        return _fail(with_flags(said), BAD_INPUT)
    except OSError as error:
        if error.errno == errno.ENOSPC and error.filename is None:
            raise  # a file has a name: this is standard output
        where = "" if error.filename is None else f"{error.filename!r}: "
        return _fail(f"{where}{error.strerror or error}", INTERNAL_ERROR)
    except BrokenExecutor:
        return _fail(
            "a worker process was killed; perhaps memory ran out: try fewer workers with --jobs",
            INTERNAL_ERROR,
        )
    except MemoryError as error:
        return _fail(f"not enough memory: {error}", INTERNAL_ERROR)
    except Exception as error:
        traceback.print_exc()
        return _fail(f"internal error: {type(error).__name__}: {error}", INTERNAL_ERROR)
    return OK


def _fail(message: str, status: int) -> int:
    """Print the reason in one line, without control characters."""
    line = " ".join(message.split())
    print(f"stablek: {''.join(c for c in line if c.isprintable())}", file=sys.stderr)
    return status


@contextlib.contextmanager
def _catching_terminate() -> Iterator[None]:
    def terminate(number: int, frame: FrameType | None) -> None:
        raise _Terminated

    if threading.current_thread() is not threading.main_thread():
        yield  # only the main thread gets signals
        return
    previous = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, previous)


def _stop_workers() -> None:
    """End joblib's worker processes, which would wait for more work after an interrupt."""
    reusable = sys.modules.get("joblib.externals.loky.reusable_executor")
    executor = getattr(reusable, "_executor", None)
    if executor is not None:
        executor.shutdown(wait=False, kill_workers=True)
