"""Questions that displays, reports and the command line ask a fitted selector."""

from __future__ import annotations

from typing import Any

import numpy as np

__all__ = ["contenders", "parameter_label", "path_index", "selected_index"]

N_CONTENDERS = 6
"""Readers cannot tell more than this many emphasized curves apart."""


def contenders(scores: Any, selected: int | None, limit: int = N_CONTENDERS) -> list[int]:
    """Return the positions to emphasize: the selected one, then those of the highest scores.

    Parameters
    ----------
    scores : array-like of shape (n_k,)
        Higher is better; NaN is never a contender.
    selected : int or None
        Position of the chosen value.
    limit : int
        Most positions to return.

    Examples
    --------
    >>> contenders([0.1, 0.5, 0.9, float("nan")], selected=1, limit=2)
    [1, 2]
    """
    scores = np.asarray(scores, dtype=np.float64)
    order = np.argsort(-scores, kind="stable").tolist()
    ranked = [i for i in order if not np.isnan(scores[i]) and i != selected]
    return ([] if selected is None else [selected]) + ranked[: limit - (selected is not None)]


def parameter_label(estimator: Any) -> str:
    """Return "K", or the name of the parameter if its values do not count clusters."""
    name = getattr(estimator, "param_name", None)
    if name is None or name.rpartition("__")[2] in ("n_clusters", "n_components"):
        return "K"
    return str(name)


def selected_index(estimator: Any) -> int | None:
    """Return the position of the answer in ``k_values_``, or None if it is not among them."""
    chosen = getattr(estimator, "best_value_", getattr(estimator, "n_clusters_", None))
    values = np.asarray(estimator.k_values_).tolist()
    return values.index(chosen) if chosen is not None and chosen in values else None


def path_index(estimator: Any) -> list[int]:
    """Return the row in ``paths_`` of each of ``k_values_``."""
    row = {value: path for path, value in enumerate(estimator.paths_.k_values)}
    return [row[value] for value in np.asarray(estimator.k_values_).tolist()]
