"""The decorators of `stablek.kernels.compiling` for kernels that allocate no arrays.

Such a kernel writes to arrays that it is given. Then numba need not count references to arrays,
which makes its code shorter to compile and to run, and `stablek.kernels.pipelines` can leave out
more. numba refuses to compile a lean kernel that allocates.
"""

from __future__ import annotations

from stablek.kernels import compiling
from stablek.kernels.compiling import Kernel, inner_inlined

__all__ = ["inner", "inner_exact", "inner_inlined", "inner_reordered", "jit"]

_LEAN = {"_nrt": False}  # without numba's run time, which allocates arrays and counts references


def jit(kernel: Kernel) -> Kernel:
    """`compiling.jit` without allocation."""
    return compiling.jit(kernel, **_LEAN)


def inner(kernel: Kernel) -> Kernel:
    """`compiling.inner` without allocation."""
    return compiling.inner(kernel, **_LEAN)


def inner_exact(kernel: Kernel) -> Kernel:
    """`compiling.inner_exact` without allocation."""
    return compiling.inner_exact(kernel, **_LEAN)


def inner_reordered(kernel: Kernel) -> Kernel:
    """`compiling.inner_reordered` without allocation."""
    return compiling.inner_reordered(kernel, **_LEAN)
