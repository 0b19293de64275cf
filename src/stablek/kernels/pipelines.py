"""numba's compiler, without work that our kernels do not need.

- numba optimizes every function and turns it into machine code, and then does both again for each
  kernel that contains a copy of it. A kernel runs its own copies, so the first time is wasted.
  With `InnerCompiler`, an inner function ends as LLVM code, and the kernels optimize their copies.
  So a process that compiles and one that reads the cache run the same machine code.
- numba simplifies each function before it joins those that it calls, which saves memory. Our
  kernels are small, and all of it happens again when they are optimized.
- numba looks for closures, for functions to inline and for expressions of whole arrays, and goes
  through the whole function again after each search. A kernel that allocates no arrays
  (`stablek.kernels.lean`) has none of these: numba refuses to compile what allocates.
- Python's garbage collector goes through millions of objects again and again, and numba makes few
  cycles. With `KernelCompiler` it rests while a kernel and its inner functions are compiled.
"""

from __future__ import annotations

import gc
from typing import Any

from numba.core import types
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler
from numba.core.typed_passes import InlineOverloads, NopythonRewrites
from numba.core.untyped_passes import InlineClosureLikes

__all__ = ["InnerCompiler", "KernelCompiler"]

_IN_VAIN = {InlineClosureLikes, InlineOverloads, NopythonRewrites}


class _LeanCompiler(Compiler):  # type: ignore[misc]  # numba has no types
    """numba's compiler with fewer passes for functions that allocate no arrays."""

    def define_pipelines(self) -> Any:
        """Return the passes, as numba does."""
        pipelines = super().define_pipelines()
        for pipeline in pipelines if not self.state.flags.nrt else []:
            pipeline.passes = [step for step in pipeline.passes if step[0] not in _IN_VAIN]
            pipeline.finalize()
        return pipelines

    def _compile_core(self) -> Any:
        result = super()._compile_core()
        if not self.state.flags.nrt and _holds_arrays(result.signature.return_type):
            # Nobody has counted the caller's reference.
            raise TypeError("a kernel that returns an array cannot be lean")
        return result


def _holds_arrays(kind: Any) -> bool:
    return isinstance(kind, types.Array) or any(map(_holds_arrays, getattr(kind, "types", ())))


class _KernelLibrary(JITCodeLibrary):  # type: ignore[misc]
    """The code of one kernel, which is optimized once, with all that it calls."""

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout


class KernelCompiler(_LeanCompiler):
    """numba's compiler without garbage collection: a ``pipeline_class`` for ``njit``."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function, as numba does."""
        if self.state.library is None and not self.state.flags.nrt:
            self.state.library = _KernelLibrary(self.state.targetctx.codegen(), func.__qualname__)
            self.state.library.enable_object_caching()
        enabled = gc.isenabled()
        gc.disable()
        try:
            return super().compile_extra(func)
        finally:
            if enabled:
                gc.enable()


class _InnerLibrary(_KernelLibrary):
    """The LLVM code of one function and of those that it calls."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True  # no machine code


class InnerCompiler(_LeanCompiler):
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
