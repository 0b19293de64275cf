"""numba's compiler, without work that our kernels do not need.

- numba optimizes every function and turns it into machine code, and then does both again for each
  kernel that contains a copy of it. A kernel runs its own copies, so the first time is wasted.
  With `InnerCompiler`, an inner function ends as LLVM code, and the kernels optimize their copies.
  So a process that compiles and one that reads the cache run the same machine code.
- Python's garbage collector goes through millions of objects again and again, and numba makes few
  cycles. With `KernelCompiler` it rests while a kernel and its inner functions are compiled.
"""

from __future__ import annotations

import gc
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler

__all__ = ["InnerCompiler", "KernelCompiler"]


class _InnerLibrary(JITCodeLibrary):  # type: ignore[misc]  # numba has no types
    """The LLVM code of one function and of those that it calls."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True  # no machine code


class KernelCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler without garbage collection: a ``pipeline_class`` for ``njit``."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function, as numba does."""
        enabled = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if enabled:
                gc.enable()


class InnerCompiler(Compiler):  # type: ignore[misc]
    """numba's compiler up to the LLVM code: a ``pipeline_class`` for ``njit``."""

    def __init__(
        self,
        typingctx: Any,
        targetctx: Any,
        library: Any,
        args: Any,
        return_type: Any,
        flags: Any,
        locals: Any,
    ) -> None:
        flags = flags.copy()
        flags.no_compile = True
        library = _InnerLibrary(targetctx.codegen(), "inner")
        super().__init__(typingctx, targetctx, library, args, return_type, flags, locals)

    def _compile_core(self) -> Any:
        result = super()._compile_core()
        # numba finds the code of a callee by its entry point, which must be a built-in function.
        # There is none, so this one stands for it; Python cannot call it by mistake.
        entry_point = object().__dir__
        self.state.targetctx.insert_user_function(entry_point, result.fndesc, [result.library])
        return result._replace(entry_point=entry_point)
