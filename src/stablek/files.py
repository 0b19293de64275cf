"""Atomic file replacement: a file is written whole or not at all."""

from __future__ import annotations

import contextlib
import os
import shutil
import stat
import tempfile
from collections.abc import Iterator

__all__ = ["PREFIX", "is_special", "replacing"]

PREFIX = ".stablek-"
"""Beginning of the names of temporary files."""


@contextlib.contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[str]:
    """Yield the name of a new file that replaces ``path`` when the block ends without an error.

    The new file is in the same folder and has the same suffix. It gets the permissions of the
    file that it replaces. If the block fails, the new file is removed and ``path`` stays as it is.

    Parameters
    ----------
    path : str or path
        File to replace. Links are followed. Devices and pipes, such as ``/dev/stdout``, are
        written to and not replaced.

    Yields
    ------
    str
        Name of the file to write.

    Examples
    --------
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(f"{folder}/a.txt") as part, open(part, "w") as file:
    ...         _ = file.write("whole")
    ...     os.listdir(folder)
    ['a.txt']
    """
    special = is_special(path)
    target = os.path.realpath(path)
    folder = tempfile.gettempdir() if special else os.path.dirname(target)
    suffix = os.path.splitext(target)[1]
    handle, part = tempfile.mkstemp(dir=folder, prefix=PREFIX, suffix=suffix)
    os.close(handle)
    try:
        yield part
        if special:
            with open(part, "rb") as new, open(path, "wb") as device:
                shutil.copyfileobj(new, device)
        else:
            os.chmod(part, _mode(target))
            os.replace(part, target)
    except OSError as error:
        # Name the file that the user knows, not the temporary one.
        raise OSError(error.errno, error.strerror or str(error), os.fspath(path)) from error
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(part)


def is_special(path: str | os.PathLike[str]) -> bool:
    """Whether the path is a device, a pipe or a folder."""
    return os.path.exists(path) and not os.path.isfile(path)


def _mode(target: str) -> int:
    """Permissions of the old file, or those that a new file gets."""
    if os.path.exists(target):
        return stat.S_IMODE(os.stat(target).st_mode)
    umask = os.umask(0)
    os.umask(umask)
    return 0o666 & ~umask
