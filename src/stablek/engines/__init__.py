"""Engines: one algorithm answering for many K at once, and the choice among them."""

from __future__ import annotations

from typing import Any, Literal

from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture

from stablek.engines.base import Engine, Setting
from stablek.engines.generic import GenericEngine
from stablek.spherical import SphericalKMeans

__all__ = ["Engine", "GenericEngine", "Setting", "engine_for"]


def engine_for(
    clusterer: Any,
    param_name: str,
    *,
    values_are_k: bool = True,
    engine: Literal["auto", "generic"] = "auto",
) -> Engine:
    """Engine for a clusterer: a fast one where it honors every parameter, else the generic.

    Parameters
    ----------
    clusterer : estimator
        Not changed. It may bring its own engine: its method ``__stablek_engine__()`` returns an
        `Engine`, or None for the generic one.
    param_name : str
        The parameter that is searched.
    values_are_k : bool
        Whether its values are numbers of clusters.
    engine : {"auto", "generic"}
        "generic" never takes a fast engine, nor one that the clusterer brings.

    Examples
    --------
    >>> type(engine_for(KMeans(), "n_clusters")).__name__
    'KMeansEngine'
    >>> type(engine_for(KMeans(), "n_clusters", engine="generic")).__name__
    'GenericEngine'
    """
    fast = _fast_engine(clusterer) if engine == "auto" and values_are_k else None
    return (
        GenericEngine(clusterer, param_name, values_are_k=values_are_k) if fast is None else fast
    )


def _fast_engine(clusterer: Any) -> Engine | None:
    if hasattr(clusterer, "__stablek_engine__"):
        brought: Engine | None = clusterer.__stablek_engine__()
        return brought
    # Imported here: numba is loaded by those who use it only.
    if isinstance(clusterer, KMeans):
        from stablek.engines import kmeans

        return kmeans.KMeansEngine(clusterer) if kmeans.unsupported(clusterer) is None else None
    if isinstance(clusterer, SphericalKMeans):
        from stablek.engines import spherical

        if spherical.unsupported(clusterer) is None:
            return spherical.SphericalEngine(clusterer)
    if isinstance(clusterer, AgglomerativeClustering):
        from stablek.engines import agglomerative

        if agglomerative.unsupported(clusterer) is None:
            return agglomerative.AgglomerativeEngine(clusterer)
    if isinstance(clusterer, GaussianMixture):
        from stablek.engines import mixture

        if mixture.unsupported(clusterer) is None:
            return mixture.MixtureEngine(clusterer)
    return None
