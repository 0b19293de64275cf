"""The decorators of all kernels: one place that says how numba compiles them.

- Kernels release the GIL, so that tasks run in threads. None is ``parallel=True``: the threads
  work on different tasks, and compilation stays short.
- A kernel that Python calls is kept on disk (see `stablek.kernels.caching`), so that only the
  first use in an environment compiles.
- Division by zero gives inf or nan, as in numpy. This lets loops become vector instructions.
- The only part of fast-math that is on is the fused multiply-add, unless the decorator says
  otherwise. Infinities and nan always keep their meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, cast

from numba import njit

from stablek.kernels.caching import keep_on_disk
from stablek.kernels.pipelines import InnerCompiler, KernelCompiler

__all__ = [
    "inner",
    "inner_exact",
    "inner_inlined",
    "inner_reordered",
    "jit",
    "jit_reordered",
]

Kernel = TypeVar("Kernel", bound=Callable[..., Any])


_COMMON: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "fastmath": {"contract"},
    "no_cfunc_wrapper": True,  # no C code calls the kernels
}
_REORDERED = {"contract", "reassoc", "nsz"}
_INNER = {**_COMMON, "no_cpython_wrapper": True, "pipeline_class": InnerCompiler}


def jit(kernel: Kernel, **options: Any) -> Kernel:
    """Compile a kernel that Python calls; the result is kept on disk."""
    return _outer(kernel, {**_COMMON, **options})


def jit_reordered(kernel: Kernel) -> Kernel:
    """`jit` that may change the order of sums: loops that add many numbers use vector lanes."""
    return _outer(kernel, {**_COMMON, "fastmath": _REORDERED})


def inner(kernel: Kernel, **options: Any) -> Kernel:
    """Compile a function that only other kernels call: it becomes a part of their code.

    It is not kept on disk and has no Python wrapper, so it compiles in a fraction of the time.
    """
    return cast(Kernel, njit(**_INNER, **options)(kernel))


def inner_exact(kernel: Kernel, **options: Any) -> Kernel:
    """`inner` that rounds after every operation: for results that must equal numpy's bits."""
    return cast(Kernel, njit(**{**_INNER, "fastmath": False, **options})(kernel))


def inner_reordered(kernel: Kernel, **options: Any) -> Kernel:
    """`inner` that may change the order of sums; it always becomes a part of its caller.

    LLVM chooses the order anew wherever it optimizes the function, so there is no copy beside the
    one in its caller.
    """
    reordered = {**_INNER, "fastmath": _REORDERED, "forceinline": True}
    return cast(Kernel, njit(**reordered, **options)(kernel))


def inner_inlined(kernel: Kernel) -> Kernel:
    """`inner` that replaces its calls: for a short function, deep in a loop, that calls others.

    A real call would count references to the arrays, which costs more than short work.
    """
    return cast(Kernel, njit(inline="always", **_INNER)(kernel))


def _outer(kernel: Kernel, options: dict[str, Any]) -> Kernel:
    compiled = njit(**options, pipeline_class=KernelCompiler)(kernel)
    keep_on_disk(compiled)
    return cast(Kernel, compiled)
