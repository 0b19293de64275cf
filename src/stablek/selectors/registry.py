"""Every selector by name, and `select_k`."""

from __future__ import annotations

from typing import Any

from stablek.selectors.base import BaseSelector
from stablek.selectors.ben_hur import BenHur
from stablek.selectors.bic import BIC
from stablek.selectors.elbow import Elbow
from stablek.selectors.g_means import GMeans
from stablek.selectors.gap import GapA, GapB
from stablek.selectors.hennig import Hennig
from stablek.selectors.hofmeyr import Hofmeyr
from stablek.selectors.index import (
    CalinskiHarabasz,
    DaviesBouldin,
    Dunn,
    RayTuri,
    Silhouette,
    WemmertGancarski,
    XieBeni,
)
from stablek.selectors.lange import Lange
from stablek.selectors.special_k import SpecialK
from stablek.selectors.stadion import Stadion
from stablek.selectors.x_means import XMeans
from stablek.suggesting import METHOD_ALIASES, METHOD_HINTS, canonical, did_you_mean

__all__ = ["SELECTORS", "resolve_method", "select_k"]

SELECTORS: dict[str, type[BaseSelector]] = {
    "stadion": Stadion,
    "wemmert_gancarski": WemmertGancarski,
    "silhouette": Silhouette,
    "davies_bouldin": DaviesBouldin,
    "ray_turi": RayTuri,
    "calinski_harabasz": CalinskiHarabasz,
    "dunn": Dunn,
    "xie_beni": XieBeni,
    "elbow": Elbow,
    "gap_a": GapA,
    "gap_b": GapB,
    "bic": BIC,
    "x_means": XMeans,
    "g_means": GMeans,
    "hennig": Hennig,
    "lange": Lange,
    "ben_hur": BenHur,
    "hofmeyr": Hofmeyr,
    "special_k": SpecialK,
}


def resolve_method(method: str) -> str:
    """Name in `SELECTORS` of a method; ``"gap"`` and others are aliases."""
    found = canonical(method, SELECTORS, METHOD_ALIASES) if isinstance(method, str) else None
    if found is None:
        meant = did_you_mean(method, SELECTORS, METHOD_HINTS)
        raise ValueError(f"method must be one of {list(SELECTORS)}, got {method!r}{meant}")
    return found


def select_k(X: Any, method: str = "stadion", **options: Any) -> BaseSelector:
    """Choose the number of clusters of X in one line.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        Points.
    method : str
        A name in `SELECTORS`, in any case and with any separators (``"Calinski-Harabasz"``), or
        an alias: ``"gap"`` and ``"gap_statistic"`` are ``"gap_b"``, ``"ch"`` and
        ``"variance_ratio"`` are ``"calinski_harabasz"``, ``"db"`` is ``"davies_bouldin"``,
        ``"knee"`` and ``"kneedle"`` are ``"elbow"``.
    **options
        Parameters of the selector: ``clusterer``, ``k_range``, ``random_state``, and its own.

    Returns
    -------
    selector
        The fitted selector. ``n_clusters_`` is the answer, ``labels_`` the partition, and
        ``scores_`` has the score of each of ``k_values_``.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> select_k(X, method="calinski_harabasz", random_state=0).n_clusters_
    3
    """
    method = resolve_method(method)
    selector = SELECTORS[method]
    known = selector().get_params(deep=False)
    unknown = sorted(set(options) - set(known))
    if unknown:
        meant = did_you_mean(unknown[0], known)
        raise TypeError(
            f"method {method!r} has no option {unknown}; it has {sorted(known)}{meant}"
        )
    return selector(**options).fit(X)
