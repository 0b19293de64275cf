"""Output files: checked before any work is done."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping

from stablek.files import PREFIX, is_special
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
        if source is not None and _is_input(path, source):
            raise InputError(f"{option} {path!r} is the input file; choose another name")
        _check_writable(option, path)


def _is_input(path: str, source: str) -> bool:
    if source != "-":
        return os.path.realpath(path) == os.path.realpath(source)
    try:
        return os.path.isfile(path) and os.path.samestat(os.fstat(0), os.stat(path))
    except OSError:  # standard input is closed
        return False


def _check_writable(option: str, path: str) -> None:
    reason: str | None
    if not path or os.path.isdir(path):
        reason = "it is a folder" if path else "it has no name"
    elif not _is_utf8(path):
        reason = "its name is not valid UTF-8"
    elif os.path.exists(path) and not os.access(path, os.W_OK):
        reason = "it is read-only"
    elif is_special(path):
        reason = None
    else:
        folder = os.path.dirname(os.path.realpath(path))
        try:
            # Permissions do not tell about read-only disks and special folders: try it.
            suffix = os.path.splitext(path)[1]
            with tempfile.NamedTemporaryFile(dir=folder, prefix=PREFIX, suffix=suffix):
                reason = _name_error(path)
        except OSError as error:
            reason = f"folder {folder!r}: {error.strerror}"
    if reason is not None:
        raise InputError(f"{option}: cannot write {path!r}: {reason}")


def _is_utf8(path: str) -> bool:
    try:
        path.encode("utf-8")
    except UnicodeEncodeError:  # Python keeps the other bytes of a name as lone surrogates
        return False
    return True


def _name_error(path: str) -> str | None:
    """Why no file can have this name, for example because it is too long."""
    try:
        os.lstat(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        return error.strerror
    return None
