"""How many clusters does your data have, and does it have any?"""

from stablek.selectors.evaluate import between_stability, evaluate_partition, within_stability
from stablek.selectors.stadion import Stadion

__all__ = ["Stadion", "between_stability", "evaluate_partition", "within_stability"]
__version__ = "0.1.0"
