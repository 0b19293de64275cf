"""The cache of compiled kernels on disk.

numba's own cache compiles a kernel again only when the file of that kernel changes. But its
machine code also contains the inner kernels that it calls, from other files: after a change there,
the old code would run. Here the key of the cache covers every source file of `stablek.kernels`,
the versions of the libraries that shape the machine code, and whether bounds are checked.

numba chooses the folder: ``NUMBA_CACHE_DIR``, else ``__pycache__`` beside the kernel, else the
user's cache folder. There each key has a subfolder, and each kernel and signature has a file of
its own name, so processes that write at the same time cannot mix up their files.

A cache that fails never stops a fit. If a file is missing or damaged, its kernel is compiled
again. If there is no folder to write to, every process compiles, and one warning says so.
"""

from __future__ import annotations

import functools
import hashlib
import os
import pickle
import shutil
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba.core.caching import FunctionCache, IndexDataCacheFile
from numba.core.runtime import rtsys
from numba.extending import is_jitted

from stablek import __version__

__all__ = ["keep_on_disk"]

_SOURCES = Path(__file__).parent
_PREFIX = f"stablek-{sys.implementation.cache_tag}-"
_KEPT = 4  # newest subfolders: enough to switch between branches, or bounds checks, and back


def keep_on_disk(kernel: Any) -> None:
    """Give a kernel its cache on disk, or warn where there is no folder for it."""
    if not is_jitted(kernel):  # a plain function under NUMBA_DISABLE_JIT
        return
    try:
        kernel._cache = _KernelCache(kernel.py_func)
    except Exception as error:  # a RuntimeError when numba finds no folder to write to
        _warn_once(error)


def current_key() -> str:
    """Return a hash of all that the machine code depends on, beside signature and processor."""
    # Editors write files whose names begin with a dot.
    paths = sorted(_SOURCES.rglob("[!.]*.py"))
    if not paths:  # imported from an archive
        raise FileNotFoundError(f"no kernel sources in {_SOURCES}")
    versions = (__version__, numba.__version__, llvmlite.__version__, np.__version__)
    key = hashlib.sha256(repr((versions, numba.config.BOUNDSCHECK)).encode())
    for path in paths:
        source = path.read_bytes()
        key.update(f"\n{path.relative_to(_SOURCES).as_posix()} {len(source)}\n".encode())
        key.update(source)
    return key.hexdigest()[:16]


key_at_import = functools.cache(current_key)


class _KernelCache(FunctionCache):  # type: ignore[misc]  # numba has no types
    """numba's cache of one kernel, with our key and files."""

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func)
        self._cache_file = _KernelFiles(
            cache_path=os.path.join(self.cache_path, _PREFIX + key_at_import()),
            filename_base=self._impl.filename_base,
            source_stamp=None,
        )

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        try:
            # numba's own method makes its whole compiler ready, which takes longer than a small
            # fit. Loaded code needs only the runtime that allocates arrays.
            rtsys.initialize(target_context)
            return self._load_overload(sig, target_context)
        except Exception:  # most often the file is missing; a damaged one can raise anything
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        try:
            # If sources changed after the import, the code may come from old or new ones.
            if current_key() == key_at_import():
                super().save_overload(sig, data)
        except Exception as error:  # an OSError when the disk is full
            _warn_once(error)


class _KernelFiles(IndexDataCacheFile):  # type: ignore[misc]
    """One file for each signature of a kernel, numbered by a hash of the signature.

    numba counts the files and keeps the numbers in an index. There two processes that write at the
    same time can give the same number to two signatures.
    """

    def load(self, key: Any) -> Any:
        saved_key, checksum, payload = self._load_data(self._name(key))
        # Damaged machine code could crash the process.
        intact = saved_key == key and checksum == _checksum(payload)
        return pickle.loads(payload) if intact else None

    def save(self, key: Any, data: Any) -> None:
        with suppress(FileExistsError):
            os.mkdir(self._cache_path)
            _remove_old(Path(self._cache_path))
        payload = self._dump(data)
        self._save_data(self._name(key), (key, _checksum(payload), payload))

    def flush(self) -> None:
        names = self._data_name_pattern.replace("{number:d}", "*")
        for path in Path(self._cache_path).glob(names):
            path.unlink(missing_ok=True)

    def _name(self, key: Any) -> str:
        number = int.from_bytes(_checksum(repr(key).encode())[:8])
        return str(self._data_name(number))


def _checksum(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()


def _remove_old(newest: Path) -> None:
    """Remove all but the newest subfolders beside ``newest``."""
    with suppress(OSError):  # another process may be removing them too
        others = [path for path in newest.parent.glob(f"{_PREFIX}*") if path != newest]
        others.sort(key=lambda path: path.stat().st_mtime)
        for path in others[: 1 - _KEPT]:
            shutil.rmtree(path, ignore_errors=True)


_warned = False


def _warn_once(error: Exception) -> None:
    global _warned
    if not _warned:
        _warned = True
        warnings.warn(
            "The compiled kernels cannot be kept on disk, so every process compiles them again. "
            "Set the environment variable NUMBA_CACHE_DIR to a folder that can be written. "
            f"The reason: {error}",
            RuntimeWarning,
            stacklevel=2,
        )
