"""Output files: checked before any work is done."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping

from stablek.files import is_special
from stablek.reading import InputError

__all__ = ["check_outputs"]


def check_outputs(outputs: Mapping[str, str | None], source: str | None = None) -> None:
    """Raise InputError if a file cannot be written.

    Parameters
    ----------
    outputs : mapping of str to str or None
        Path of each option. None and "-" are not files.
    source : str, optional
        The input file, which is never overwritten.
    """
    option_of: dict[str, str] = {}
    for option, path in outputs.items():
        if path is None:
            continue
        key = "-" if path == "-" else os.path.realpath(path)
        if key in option_of:
            raise InputError(f"{option_of[key]} and {option} both write to {path!r}")
        option_of[key] = option
        if path == "-":
            continue
        if source is not None and key == os.path.realpath(source):
            raise InputError(f"{option} {path!r} is the input file; choose another name")
        _check_writable(option, path)


def _check_writable(option: str, path: str) -> None:
    reason: str | None
    if not path or os.path.isdir(path):
        reason = "it is a folder" if path else "it has no name"
    elif os.path.exists(path) and not os.access(path, os.W_OK):
        reason = "it is read-only"
    elif is_special(path):
        reason = None
    else:
        folder = os.path.dirname(os.path.realpath(path))
        try:
            # Permissions do not tell about read-only disks and special folders: try it.
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".stablek-"):
                reason = None
        except OSError as error:
            reason = f"folder {folder!r}: {error.strerror}"
    if reason is not None:
        raise InputError(f"{option}: cannot write {path!r}: {reason}")
