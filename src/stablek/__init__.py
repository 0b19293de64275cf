"""How many clusters does your data have, and does it have any?"""

from stablek.selectors.stadion import Stadion

__all__ = ["Stadion"]
__version__ = "0.1.0"
