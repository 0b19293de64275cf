"""Files that must stay as they are while they are read, and NumPy memory maps."""

from __future__ import annotations

import contextlib
import os
import tempfile
import weakref
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.files import PREFIX

__all__ = ["MapSource", "Watched", "mapped", "remove"]

Floats = NDArray[np.float64]


class Watched:
    """Files whose size and time of change are compared before each read.

    All passes must see the same rows: otherwise the answer would be that of no data at all.
    """

    def __init__(self, paths: list[str]) -> None:
        self.paths = paths
        self._states = [_state(path) for path in paths]

    def check(self, position: int) -> str:
        """Path of a file, or an error if it has changed."""
        path = self.paths[position]
        try:
            same = _state(path) == self._states[position]
        except OSError as error:
            raise ValueError(f"X: {path!r} cannot be read any more: {error.strerror}") from error
        if not same:
            raise ValueError(
                f"X: {path!r} changed while it was read; fit again when nothing writes to it"
            )
        return path


def _state(path: str) -> tuple[int, int]:
    status = os.stat(path)
    return status.st_size, status.st_mtime_ns


class MapSource:
    """A two-dimensional NumPy memory map.

    Parameters
    ----------
    X : memmap of shape (n_samples, n_features)
    """

    names = None

    def __init__(self, X: Any) -> None:
        self._X = X
        self.n_rows, self.n_features = X.shape
        numeric = X.dtype.kind in "iufb"
        self.not_numeric = () if numeric else tuple(str(j) for j in range(self.n_features))
        # Only a file that was opened for reading must not change: others are the user's memory.
        watched = X.filename is not None and X.mode in ("r", "c")
        self._watched = Watched([os.fspath(X.filename)]) if watched else None

    def read(self, start: int, stop: int) -> Floats:
        """Rows from ``start`` to ``stop``."""
        if self._watched is not None:
            self._watched.check(0)
        return np.array(self._X[start:stop], dtype=np.float64, order="C")

    def in_memory(self) -> Any:
        """All data."""
        return self._X


def mapped(shape: tuple[int, ...], dtype: Any) -> Any:
    """Array of zeros in a temporary file, which is deleted with the array."""
    handle, path = tempfile.mkstemp(prefix=PREFIX, suffix=".rows")
    os.close(handle)
    try:
        array = np.memmap(path, dtype=dtype, mode="w+", shape=shape)
    except BaseException:
        remove(path)
        raise
    if os.name == "posix":
        remove(path)  # the map keeps the file alive, and a crash leaves nothing behind
    else:
        weakref.finalize(array, remove, path)
    return array


def remove(path: str) -> None:
    """Delete a temporary file, unless that is not possible."""
    with contextlib.suppress(OSError):
        os.unlink(path)
