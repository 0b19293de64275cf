"""One switch for all kernels: how numba compiles them.

Kernels release the GIL, so that tasks run in threads, and are kept on disk, so that only the
first use in an environment compiles. None is ``parallel=True``: the threads are over tasks, and
compilation stays short. Division by zero gives inf or nan as in numpy, which lets loops become
vector instructions. Of fast-math only fused multiply-adds are on, unless a kernel asks for more or
less: infinities and nan always keep their meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

__all__ = ["inner", "inner_exact", "jit", "jit_exact", "jit_sums", "spliced"]

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


_COMMON: dict[str, Any] = {"nogil": True, "error_model": "numpy", "fastmath": {"contract"}}
_INNER = {**_COMMON, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}


def jit(kernel: Kernel) -> Kernel:
    """Compile a kernel that Python calls; the result is cached on disk."""
    return cast(Kernel, njit(cache=True, **_COMMON)(kernel))


def jit_exact(kernel: Kernel) -> Kernel:
    """`jit` with every operation rounded on its own: for bits that must equal numpy's."""
    return cast(Kernel, njit(cache=True, **{**_COMMON, "fastmath": False})(kernel))


def jit_sums(kernel: Kernel) -> Kernel:
    """`jit` that may reorder sums into vector lanes: for loops that reduce many numbers."""
    flags = {"contract", "reassoc", "nsz"}
    return cast(Kernel, njit(cache=True, **{**_COMMON, "fastmath": flags})(kernel))


def inner(kernel: Kernel) -> Kernel:
    """Compile a function that only other kernels call: it becomes a part of theirs.

    Without a cache entry and Python wrappers of its own it compiles in a fraction of the time.
    """
    return cast(Kernel, njit(**_INNER)(kernel))


def inner_exact(kernel: Kernel) -> Kernel:
    """`inner` with every operation rounded on its own: for bits that must equal numpy's."""
    return cast(Kernel, njit(**{**_INNER, "fastmath": False})(kernel))


def spliced(kernel: Kernel) -> Kernel:
    """`inner` for a function that calls others, deep in a loop: put in place of its call.

    A call of such a function counts references to its arrays, which costs more than short work.
    """
    return cast(Kernel, njit(inline="always", **_INNER)(kernel))
