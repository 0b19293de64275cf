"""Questions that displays, reports and the command line ask a fitted selector."""

from __future__ import annotations

from typing import Any

import numpy as np

from stablek.results import StructureTest, standard_error

__all__ = [
    "contenders",
    "deciding_crossing",
    "own_values",
    "parameter_label",
    "path_columns",
    "path_index",
    "peak_level",
    "pvalue_text",
    "reference_band",
    "selected_index",
    "shown_rows",
    "single_choice",
    "stability_curves",
]

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


def own_values(estimator: Any) -> tuple[str, Any] | None:
    """Return the quantity behind the scores and its values; None if it is the scores themselves.

    Scores are always better if higher. Some methods minimize a quantity, such as the BIC, and
    score it with the sign flipped.
    """
    minimized = getattr(estimator, "minimized", None)
    if minimized is not None:
        return str(minimized), 0.0 - np.asarray(estimator.scores_)
    if hasattr(estimator, "inertia_"):
        return "inertia", estimator.inertia_
    return None


def single_choice(estimator: Any) -> bool:
    """Whether at most one candidate has a score, so that no other could have been chosen."""
    return int(np.count_nonzero(~np.isnan(estimator.scores_))) < 2


def path_index(estimator: Any) -> list[int]:
    """Return the row in ``paths_`` of each of ``k_values_``."""
    row = {value: path for path, value in enumerate(estimator.paths_.k_values)}
    return [row[value] for value in np.asarray(estimator.k_values_).tolist()]


def peak_level(estimator: Any) -> int:
    """Return the noise level, among those that count, where the path of the answer is highest.

    If the answer has no score, as one cluster has none by the structure test, the path of the
    best score counts.
    """
    levels = np.flatnonzero(estimator.counted_levels_)
    ranked = contenders(estimator.scores_, None)
    selected = selected_index(estimator)
    if selected is None or np.isnan(estimator.scores_[selected]):
        selected = ranked[0] if ranked else 0
    return int(levels[np.argmax(estimator.stadion_paths_[selected, levels])])


def deciding_crossing(estimator: Any) -> float:
    """Return the noise level beyond which no level counts; 0 if all positive levels count."""
    return float(estimator.crossing_epsilon_) if estimator.one_cluster == "crossing" else 0.0


def reference_band(test: StructureTest) -> tuple[Any, Any]:
    """Return the lowest and the highest Stadion of the reference sets, (n_k, n_epsilons) each.

    The sets are those of the kind with the largest p-value.
    """
    sets = test.reference_paths[test.kind]
    return sets.min(axis=0), sets.max(axis=0)


def pvalue_text(pvalue: float) -> str:
    """Return a p-value as readers expect it.

    Examples
    --------
    >>> pvalue_text(0.7), pvalue_text(0.03), pvalue_text(1e-7)
    ('p = 0.70', 'p = 0.03', 'p < 0.001')
    """
    if pvalue < 0.001:
        return "p < 0.001"
    return f"p = {pvalue:.2f}" if pvalue >= 0.1 else f"p = {pvalue:.2g}"


def stability_curves(estimator: Any) -> dict[str, Any]:
    """Return the mean paths of the candidates and of K = 1, and the candidates' standard errors.

    Keys are "between", "within", "stadion", the same with "_se", and "one_cluster", which is None
    if K = 1 is a candidate.
    """
    index, per_draw = path_index(estimator), estimator.paths_.quantities()
    means = (estimator.between_stability_, estimator.within_stability_, estimator.stadion_paths_)
    one = {name: draws[0].mean(axis=-1) for name, draws in per_draw.items()}
    return {
        "one_cluster": None if 0 in index else one,
        **dict(zip(per_draw, means, strict=True)),
        **{f"{name}_se": standard_error(draws)[index] for name, draws in per_draw.items()},
    }


def path_columns(estimator: Any) -> dict[str, Any]:
    """Return all paths as columns of a table with one row for each candidate and noise level."""
    n_k, n_epsilons = estimator.stadion_paths_.shape
    curves = stability_curves(estimator)
    names = ("between", "between_se", "within", "within_se", "stadion", "stadion_se")
    return {
        "k": np.repeat(estimator.k_values_, n_epsilons),
        "epsilon": np.tile(estimator.epsilons_, n_k),
        **{name: curves[name].ravel() for name in names},
        "score": np.repeat(estimator.scores_, n_epsilons),
        "counted": np.tile(estimator.counted_levels_, n_k),
        "selected": np.repeat(estimator.k_values_ == estimator.best_value_, n_epsilons),
    }


def shown_rows(estimator: Any, values: Any) -> Any:
    """Return the last axis of values for the rows that displays show.

    These are all rows, but only those of the sample if the data were read in blocks.
    """
    rows = getattr(estimator, "sample_indices_", None)
    if values is None or rows is None or values.shape[-1] == len(rows):
        return values
    return np.asarray(values[..., rows])
