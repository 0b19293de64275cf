"""Plot of the score of each candidate, for any selector."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from stablek.display.base import CandidatesDisplay, category_colors, import_pyplot
from stablek.inspection import contenders, pvalue_text

__all__ = ["ScoresDisplay"]

N_NAMED = 4
"""Number of points on the curve that get a label."""


@dataclass(kw_only=True, eq=False, repr=False)
class ScoresDisplay(CandidatesDisplay):
    """Score of each candidate of any selector; higher is better.

    Parameters
    ----------
    k_values : sequence
        The candidates.
    scores : array-like of shape (n_k,)
        NaN and infinite scores are left out of the curve. One cluster has no score if the
        structure test decides.
    selected : int, default=None
        Position of the chosen candidate; None if there is none.
    name : str, default="score"
        What the score is.
    pvalue : float, default=None
        p-value of the structure test, if one was made.
    parameter : str, default="K"
        Name of the parameter that the candidates are values of.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    line_ : Line2D

    Examples
    --------
    >>> display = ScoresDisplay(k_values=[2, 3, 4], scores=[0.3, 0.6, 0.2], selected=1)
    >>> display.frame().values.tolist()
    [[2, 0.3, False], [3, 0.6, True], [4, 0.2, False]]
    """

    scores: Any
    name: str = "score"
    pvalue: float | None = None

    needs = "scores_"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.scores = np.asarray(self.scores, dtype=np.float64)

    @classmethod
    def _collect(cls, estimator: Any) -> dict[str, Any]:
        name = f"{type(estimator).__name__} score"
        test = getattr(estimator, "structure_test_", None)
        return {
            **super()._collect(estimator),
            "scores": estimator.scores_,
            "name": name,
            "pvalue": None if test is None else test.pvalue,
        }

    def _draw(self, ax: Any) -> None:
        size = import_pyplot().rcParams["lines.markersize"]
        positions = self._draw_axis(ax)
        finite = np.where(np.isfinite(self.scores), self.scores, np.nan)
        color, highlight, *_ = [*category_colors(), *category_colors()]
        (self.line_,) = ax.plot(positions, finite, color=color, marker=".")
        if self.selected is not None:
            label = f"chosen: {self._named(self.selected)}"
            if self.pvalue is not None:
                label += f" ({pvalue_text(self.pvalue)})"
            if np.isnan(finite[self.selected]):  # no point on the curve: mark its place
                ax.axvline(positions[self.selected], color=highlight, linestyle="--", label=label)
            else:
                ax.plot(
                    positions[self.selected],
                    finite[self.selected],
                    color=highlight,
                    marker="o",
                    markersize=1.5 * size,
                    linestyle="none",
                    label=label,
                )
            ax.legend()
        for k in contenders(finite, self.selected, limit=N_NAMED):
            if np.isnan(finite[k]):
                continue
            ax.annotate(
                str(self.k_values[k]),
                (positions[k], finite[k]),
                textcoords="offset points",
                xytext=(0, size),
                ha="center",
            )
        # Leave room for the labels above the points.
        ax.margins(y=0.12)
        ax.set_ylabel(self.name)

    def _columns(self) -> dict[str, Any]:
        return {"k": self.k_values, "score": self.scores, "selected": self._is_selected()}
