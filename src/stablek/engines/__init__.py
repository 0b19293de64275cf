"""Engines: one algorithm answering for many K at once, and the choice among them."""

from __future__ import annotations

from typing import Any, Literal

from stablek.engines.base import Engine, Setting
from stablek.engines.generic import GenericEngine

__all__ = ["Engine", "GenericEngine", "Setting", "engine_for"]


def engine_for(
    clusterer: Any,
    param_name: str,
    *,
    counts: bool = True,
    engine: Literal["auto", "generic"] = "auto",
) -> Engine:
    """Engine for a clusterer: a fast one where it honours every parameter, else the generic.

    Parameters
    ----------
    clusterer : estimator
        Not changed.
    param_name : str
        The parameter that is searched.
    counts : bool
        Whether its values are numbers of clusters.
    engine : {"auto", "generic"}
        "generic" never takes a fast engine.
    """
    return GenericEngine(clusterer, param_name, counts=counts)
