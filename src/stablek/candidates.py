"""The numbers of clusters to choose from: the default ones, and checks of those given."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek import validation
from stablek.warning import warn_user

__all__ = ["LARGEST_K", "default_k_values", "resolve_k_values"]

Floats = NDArray[np.float64]

LARGEST_K = 20
"""Largest candidate if the user names none."""


def default_k_values(X: Floats) -> tuple[int, ...]:
    """1 to 20, or to the number of distinct rows of X if there are fewer.

    Examples
    --------
    >>> default_k_values(np.array([[1.0], [1.0], [2.0], [5.0]]))
    (1, 2, 3)
    """
    return tuple(range(1, validation.n_distinct(X, LARGEST_K) + 1))


def resolve_k_values(k_range: Any, X: Floats, *, values_are_k: bool = True) -> tuple[Any, ...]:
    """Candidates as a tuple; None is the default of numbers of clusters."""
    if k_range is None:
        if values_are_k:
            return default_k_values(X)
        raise ValueError(
            "k_range must name the values to try of the parameter param_name, such as "
            "k_range=[5, 10, 20]; there is no default for it"
        )
    if values_are_k:
        _warn_of_ends(k_range)
    k_values = validation.check_k_range(k_range, len(X), values_are_k=values_are_k)
    if values_are_k:
        validation.check_distinct(X, k_values[-1])
    return k_values


def _warn_of_ends(k_range: Any) -> None:
    """Warn of a pair such as (2, 10), with which other libraries mean all numbers between."""
    if not isinstance(k_range, tuple) or len(k_range) != 2:
        return
    try:
        first, last = (int(k) for k in k_range)
    except (TypeError, ValueError):
        return  # the check of the values says what is wrong
    if last - first > 1:
        warn_user(
            f"k_range={k_range!r} tries K = {first} and K = {last} only; use "
            f"k_range=range({first}, {last + 1}) for all from {first} to {last}, or a list for "
            f"these two"
        )
