"""Plots of fitted selectors, following scikit-learn's Display convention.

``from_estimator`` draws, ``plot`` draws again into any axes, and ``frame`` returns the numbers.
Matplotlib is imported only when something is drawn.
"""

from stablek.display.clusters import ClusterStabilityDisplay
from stablek.display.critical_difference import CriticalDifferenceDisplay
from stablek.display.partition import PartitionDisplay
from stablek.display.paths import StabilityPathsDisplay
from stablek.display.scores import ScoresDisplay
from stablek.display.structure import StructureTestDisplay
from stablek.display.tradeoff import TradeoffDisplay

__all__ = [
    "ClusterStabilityDisplay",
    "CriticalDifferenceDisplay",
    "PartitionDisplay",
    "ScoresDisplay",
    "StabilityPathsDisplay",
    "StructureTestDisplay",
    "TradeoffDisplay",
]
