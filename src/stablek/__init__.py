"""How many clusters does your data have, and does it have any?

Public names and submodules are loaded when they are first used, so that ``import stablek`` is
quick.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from stablek import datasets, display, indices, ranking, report, selectors
    from stablek.display import (
        ClusterStabilityDisplay,
        CriticalDifferenceDisplay,
        PartitionDisplay,
        ScoresDisplay,
        StabilityPathsDisplay,
        StructureTestDisplay,
        TradeoffDisplay,
    )
    from stablek.mixture import KMeansGaussianMixture, SVDGaussianMixture
    from stablek.selectors.compare import compare
    from stablek.selectors.comparison import Comparison
    from stablek.selectors.evaluate import (
        PartitionEvaluation,
        between_stability,
        evaluate_partition,
        within_stability,
    )
    from stablek.selectors.registry import select_k
    from stablek.selectors.stadion import Stadion
    from stablek.selectors.structure import structure_test
    from stablek.selectors.subsamples import subsample_frequency
    from stablek.spherical import SphericalKMeans

__version__ = "0.1.0"

__all__ = [
    "ClusterStabilityDisplay",
    "Comparison",
    "CriticalDifferenceDisplay",
    "KMeansGaussianMixture",
    "PartitionDisplay",
    "PartitionEvaluation",
    "SVDGaussianMixture",
    "ScoresDisplay",
    "SphericalKMeans",
    "StabilityPathsDisplay",
    "Stadion",
    "StructureTestDisplay",
    "TradeoffDisplay",
    "between_stability",
    "compare",
    "datasets",
    "display",
    "evaluate_partition",
    "indices",
    "ranking",
    "report",
    "select_k",
    "selectors",
    "structure_test",
    "subsample_frequency",
    "within_stability",
]

_HOME = {
    "Comparison": "selectors.comparison",
    "KMeansGaussianMixture": "mixture",
    "PartitionEvaluation": "selectors.evaluate",
    "SVDGaussianMixture": "mixture",
    "SphericalKMeans": "spherical",
    "Stadion": "selectors.stadion",
    "between_stability": "selectors.evaluate",
    "compare": "selectors.compare",
    "evaluate_partition": "selectors.evaluate",
    "select_k": "selectors.registry",
    "structure_test": "selectors.structure",
    "subsample_frequency": "selectors.subsamples",
    "within_stability": "selectors.evaluate",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module 'stablek' has no attribute {name!r}")
    if name.endswith("Display"):
        return getattr(import_module("stablek.display"), name)
    if name in _HOME:
        return getattr(import_module(f"stablek.{_HOME[name]}"), name)
    return import_module(f"stablek.{name}")


def __dir__() -> list[str]:
    return [*__all__, "__version__"]
