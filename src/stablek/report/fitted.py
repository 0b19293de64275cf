"""The same view of every fitted selector: what a selector does not have is None."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.aggregation import TIE
from stablek.inspection import parameter_label, path_index, selected_index
from stablek.results import StabilityPaths

__all__ = ["Curves", "Fitted", "view"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Curves:
    """What Stadion measured.

    Parameters
    ----------
    paths : StabilityPaths
    index : list of int
        Row in ``paths`` of each candidate.
    epsilons : ndarray of shape (n_epsilons,)
    between, within, stadion : ndarray of shape (n_k, n_epsilons)
    counted : ndarray of bool of shape (n_epsilons,)
        Levels that the scores use.
    crossing_epsilon : float
    aggregation : object
        Name or function.
    """

    paths: StabilityPaths
    index: list[int]
    epsilons: Floats
    between: Floats
    within: Floats
    stadion: Floats
    counted: NDArray[np.bool_]
    crossing_epsilon: float
    aggregation: Any


@dataclass(frozen=True)
class Fitted:
    """A fitted selector as the report sees it.

    Parameters
    ----------
    selector : object
        The selector itself, for its parameters.
    values : list
        The candidates.
    scores : ndarray of shape (n_k,)
    selected : int or None
        Position of the answer among the candidates.
    n_clusters : int or None
        The answer; None if the selector abstains.
    best_value : object
    abstention : str or None
        Why there is no answer.
    frequency : ndarray of shape (n_k,) or None
        Selection frequency.
    labels : ndarray of shape (n_samples,) or None
        The chosen partition.
    reference_labels : ndarray of shape (n_k, n_samples) or None
    point_stability : ndarray of shape (n_samples,) or None
    X : ndarray or None
        The data that it was fitted on.
    feature_names : list of str or None
    seconds : float or None
    curves : Curves or None
    parameter : str
        "K", or the name of the parameter that the candidates are values of.
    """

    selector: Any
    values: list[Any]
    scores: Floats
    selected: int | None
    n_clusters: int | None
    best_value: Any
    abstention: str | None
    frequency: Floats | None
    labels: Ints | None
    reference_labels: Ints | None
    point_stability: Floats | None
    X: Floats | None
    feature_names: list[str] | None
    seconds: float | None
    curves: Curves | None
    parameter: str

    @property
    def method(self) -> str:
        """Name of the selector's class."""
        return type(self.selector).__name__

    @property
    def runner_up(self) -> int | None:
        """Position of the second best score; None if the answer does not have the best score.

        Some methods do not choose the highest score. They have no runner-up.
        """
        if self.selected is None:
            return None
        others = np.where(np.isnan(self.scores), -np.inf, self.scores)
        chosen = others[self.selected]
        others[self.selected] = -np.inf
        if not len(others) or others.max() == -np.inf or others.max() > chosen + TIE:
            return None
        return int(np.argmax(others))

    @property
    def answer_frequency(self) -> float | None:
        """Share of resamplings with the same answer; None for a single draw."""
        if self.frequency is None or (self.curves and self.curves.paths.n_draws < 2):
            return None
        if self.selected is None:
            return float(1.0 - self.frequency.sum())
        return float(self.frequency[self.selected])

    def named(self, position: int) -> str:
        """Return a candidate with the name of its parameter, such as "K = 3"."""
        return f"{self.parameter} = {self.values[position]}"


def view(selector: Any) -> Fitted:
    """Collect what the report needs from a fitted selector.

    Parameters
    ----------
    selector : selector
        Fitted, with ``k_values_``, ``scores_`` and ``n_clusters_`` at least.
    """
    missing = [
        name for name in ("k_values_", "scores_", "n_clusters_") if not hasattr(selector, name)
    ]
    if missing:
        raise ValueError(
            f"A report needs a fitted selector; {type(selector).__name__} has no "
            f"{', '.join(missing)}: call fit first"
        )
    curves = None
    if hasattr(selector, "paths_"):
        curves = Curves(
            paths=selector.paths_,
            index=path_index(selector),
            epsilons=selector.epsilons_,
            between=selector.between_stability_,
            within=selector.within_stability_,
            stadion=selector.stadion_paths_,
            counted=selector.counted_levels_,
            crossing_epsilon=float(selector.crossing_epsilon_),
            aggregation=selector.aggregation,
        )
    n_clusters = selector.n_clusters_
    names = getattr(selector, "feature_names_in_", None)
    seconds = getattr(selector, "_seconds", None)
    return Fitted(
        selector=selector,
        values=np.asarray(selector.k_values_).tolist(),
        scores=np.asarray(selector.scores_, dtype=np.float64),
        selected=None if n_clusters is None else selected_index(selector),
        n_clusters=None if n_clusters is None else int(n_clusters),
        best_value=getattr(selector, "best_value_", n_clusters),
        abstention=getattr(selector, "abstention_", None),
        frequency=getattr(selector, "selection_frequency_", None),
        labels=None if n_clusters is None else getattr(selector, "labels_", None),
        reference_labels=getattr(selector, "reference_labels_", None),
        point_stability=getattr(selector, "point_stability_", None),
        X=getattr(selector, "_fit_X", None),
        feature_names=None if names is None else [str(name) for name in names],
        seconds=None if seconds is None else float(seconds),
        curves=curves,
        parameter=parameter_label(selector),
    )
