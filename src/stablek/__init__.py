"""How many clusters does your data have, and does it have any?

Public names are loaded when they are first used, so that ``import stablek`` is quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stablek.selectors.evaluate import (
        PartitionEvaluation,
        between_stability,
        evaluate_partition,
        within_stability,
    )
    from stablek.selectors.stadion import Stadion

__version__ = "0.1.0"

_HOME = {
    "PartitionEvaluation": "selectors.evaluate",
    "Stadion": "selectors.stadion",
    "between_stability": "selectors.evaluate",
    "evaluate_partition": "selectors.evaluate",
    "within_stability": "selectors.evaluate",
}

__all__ = [
    "PartitionEvaluation",
    "Stadion",
    "between_stability",
    "evaluate_partition",
    "within_stability",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'stablek' has no attribute {name!r}")
    return getattr(import_module(f"stablek.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted({*globals(), *_HOME})
