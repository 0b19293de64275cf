"""Output files: checked before the work, replaced in one step after it."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator, Mapping

from stablek.reading import InputError

__all__ = ["check_outputs", "replacing"]


def check_outputs(outputs: Mapping[str, str | None], source: str | None = None) -> None:
    """Raise InputError if a file cannot be written.

    Parameters
    ----------
    outputs : mapping of str to str or None
        Path by option; None and "-" are no files.
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
    elif _is_special(path):
        reason = None
    else:
        folder = os.path.dirname(os.path.realpath(path))
        try:
            # Only writing tells for sure: permissions, read-only disks, special folders.
            with tempfile.NamedTemporaryFile(dir=folder, prefix=".stablek-"):
                reason = None
        except OSError as error:
            reason = f"folder {folder!r}: {error.strerror}"
    if reason is not None:
        raise InputError(f"{option}: cannot write {path!r}: {reason}")


@contextlib.contextmanager
def replacing(path: str) -> Iterator[str]:
    """A new file to write to, which takes the place of ``path`` at the end, or never.

    It is in the same folder and has the same suffix.
    """
    special = _is_special(path)
    target = os.path.realpath(path)
    folder = tempfile.gettempdir() if special else os.path.dirname(target)
    suffix = os.path.splitext(target)[1]
    handle, part = tempfile.mkstemp(dir=folder, prefix=".stablek-", suffix=suffix)
    os.close(handle)
    try:
        yield part
        if special:  # such as /dev/stdout: nothing to replace
            with open(part, "rb") as new, open(path, "wb") as device:
                shutil.copyfileobj(new, device)
        else:
            os.chmod(part, _mode(target))
            os.replace(part, target)
    except OSError as error:  # say which file, not the name of the new one
        raise OSError(error.errno, error.strerror, path) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def _is_special(path: str) -> bool:
    return os.path.exists(path) and not os.path.isfile(path)


def _mode(target: str) -> int:
    """Permissions of the file that is there, or those that a new one gets."""
    if os.path.exists(target):
        return stat.S_IMODE(os.stat(target).st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
