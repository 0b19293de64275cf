"""Packages that scikit-learn imports and that few commands use: loaded when they are used.

scipy.stats and pandas are half of the time that scikit-learn takes to import. Clustering uses
neither.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any

__all__ = ["quick_imports"]

_NAMES = {"chi2", "gmean", "rankdata", "spearmanr"}
"""What scikit-learn imports from scipy.stats by name."""


class _LaterStats(ModuleType):
    """Stands in for scipy.stats until somebody uses it."""

    def __getattr__(self, name: str) -> Any:
        return _Later(name) if name in _NAMES else getattr(_stats(), name)


class _Later:
    """Stands in for a function or a distribution of scipy.stats."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __call__(self, *args: Any, **options: Any) -> Any:
        return getattr(_stats(), self._name)(*args, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(getattr(_stats(), self._name), name)


def _stats() -> ModuleType:
    if isinstance(sys.modules.get("scipy.stats"), _LaterStats):
        del sys.modules["scipy.stats"]
    return import_module("scipy.stats")


def quick_imports() -> None:
    """Import scikit-learn without scipy.stats and pandas, which can be imported later."""
    stats = find_spec("scipy.stats")
    if "sklearn" in sys.modules or "scipy.stats" in sys.modules or stats is None:
        return
    later = _LaterStats("scipy.stats")
    later.__path__ = stats.submodule_search_locations  # type: ignore[assignment]
    sys.modules["scipy.stats"] = later
    with _hidden("pandas"):
        import_module("sklearn.utils.fixes")


@contextmanager
def _hidden(name: str) -> Iterator[None]:
    """Let imports of a package fail, as if it were not installed."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = None  # type: ignore[assignment]
    try:
        yield
    finally:
        del sys.modules[name]
