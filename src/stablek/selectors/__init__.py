"""Everything that chooses a number of clusters, behind one interface."""

from stablek.selectors.base import BaseSelector
from stablek.selectors.ben_hur import BenHur
from stablek.selectors.bic import BIC
from stablek.selectors.compare import compare
from stablek.selectors.comparison import Comparison, ComparisonRow
from stablek.selectors.criterion import CannotJudgeError
from stablek.selectors.elbow import Elbow
from stablek.selectors.g_means import GMeans
from stablek.selectors.gap import GapA, GapB
from stablek.selectors.hennig import Hennig
from stablek.selectors.hofmeyr import Hofmeyr
from stablek.selectors.index import (
    CalinskiHarabasz,
    DaviesBouldin,
    Dunn,
    IndexSelector,
    RayTuri,
    Silhouette,
    WemmertGancarski,
    XieBeni,
)
from stablek.selectors.lange import Lange
from stablek.selectors.registry import SELECTORS, select_k
from stablek.selectors.special_k import SpecialK
from stablek.selectors.stadion import Stadion
from stablek.selectors.x_means import XMeans

__all__ = [
    "BIC",
    "SELECTORS",
    "BaseSelector",
    "BenHur",
    "CalinskiHarabasz",
    "CannotJudgeError",
    "Comparison",
    "ComparisonRow",
    "DaviesBouldin",
    "Dunn",
    "Elbow",
    "GMeans",
    "GapA",
    "GapB",
    "Hennig",
    "Hofmeyr",
    "IndexSelector",
    "Lange",
    "RayTuri",
    "Silhouette",
    "SpecialK",
    "Stadion",
    "WemmertGancarski",
    "XMeans",
    "XieBeni",
    "compare",
    "select_k",
]
