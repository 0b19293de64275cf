"""Plot of the score of each candidate, for any selector."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from stablek.display.base import (
    SelectorDisplay,
    candidates,
    category_colors,
    draw_candidates_axis,
    import_pyplot,
)
from stablek.inspection import contenders

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ScoresDisplay"]

N_NAMED = 4
"""Number of points on the curve that get a label."""


@dataclass(kw_only=True, eq=False, repr=False)
class ScoresDisplay(SelectorDisplay):
    """Score of each candidate of any selector; higher is better.

    Parameters
    ----------
    k_values : sequence
        The candidates.
    scores : array-like of shape (n_k,)
        NaN and infinite scores are left out of the curve.
    selected : int, default=None
        Position of the chosen candidate; None if there is none.
    name : str, default="score"
        What the score is.
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

    k_values: Sequence[Any]
    scores: Any
    selected: int | None = None
    name: str = "score"
    parameter: str = "K"

    needs = "scores_"

    def __post_init__(self) -> None:
        self.k_values = list(self.k_values)
        self.scores = np.asarray(self.scores, dtype=np.float64)

    @classmethod
    def _collect(cls, estimator: Any) -> dict[str, Any]:
        name = f"{type(estimator).__name__} score"
        return {**candidates(estimator), "scores": estimator.scores_, "name": name}

    def _draw(self, ax: Axes) -> None:
        size = import_pyplot().rcParams["lines.markersize"]
        positions = draw_candidates_axis(ax, self.k_values, self.parameter)
        finite = np.where(np.isfinite(self.scores), self.scores, np.nan)
        color, highlight, *_ = [*category_colors(), *category_colors()]
        (self.line_,) = ax.plot(positions, finite, color=color, marker=".")
        if self.selected is not None:
            ax.plot(
                positions[self.selected],
                finite[self.selected],
                color=highlight,
                marker="o",
                markersize=1.5 * size,
                linestyle="none",
                label=f"chosen: {self.parameter} = {self.k_values[self.selected]}",
            )
            ax.legend()
        for k in contenders(finite, self.selected, limit=N_NAMED):
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
        selected = np.arange(len(self.k_values)) == self.selected
        return {"k": self.k_values, "score": self.scores, "selected": selected}
