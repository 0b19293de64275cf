"""What all commands share: warnings, notes, the progress bar, missing packages."""

from __future__ import annotations

import contextlib
import importlib
import sys
import warnings
from collections.abc import Iterable, Iterator

from stablek.cli._flags import with_flags
from stablek.cli._tables import printable
from stablek.reading import InputError

__all__ = ["collected_warnings", "require", "tell", "wants_progress"]


@contextlib.contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect the warnings that are meant for users, each once, instead of showing them."""
    messages: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", UserWarning)
        yield messages
    found = (str(warning.message) for warning in caught if warning.category is UserWarning)
    messages.extend(dict.fromkeys(found))


def tell(notes: Iterable[str]) -> None:
    """Print notes to standard error, one line each."""
    for note in notes:
        print(f"stablek: note: {printable(' '.join(with_flags(note).split()))}", file=sys.stderr)


def wants_progress() -> bool:
    """Whether standard error is a terminal and tqdm is installed."""
    if not sys.stderr.isatty():
        return False
    try:
        importlib.import_module("tqdm")
    except ImportError:
        return False
    return True


def require(*modules: str, purpose: str, extra: str = "cli") -> None:
    """Raise InputError if a package is missing, before any work is done."""
    for module in modules:
        try:
            importlib.import_module(module)
        except ImportError:
            raise InputError(
                f"{purpose} needs {module}, which is not installed: pip install 'stablek[{extra}]'"
            ) from None
