"""Plot of the score of each candidate, for any selector."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stablek.display.base import (
    axis_positions,
    category_colors,
    check_fitted,
    import_pyplot,
    label_k_axis,
    new_axes,
)
from stablek.inspection import contenders, parameter_label, selected_index

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ScoresDisplay"]

N_NAMED = 4
"""Number of points on the curve that get a label."""


class ScoresDisplay:
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

    def __init__(
        self,
        *,
        k_values: Sequence[Any],
        scores: Any,
        selected: int | None = None,
        name: str = "score",
        parameter: str = "K",
    ) -> None:
        self.k_values = list(k_values)
        self.scores = np.asarray(scores, dtype=np.float64)
        self.selected = selected
        self.name = name
        self.parameter = parameter

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the scores of a fitted selector.

        Parameters
        ----------
        estimator : selector
            Fitted, with ``k_values_`` and ``scores_``.
        ax : Axes, default=None

        Returns
        -------
        ScoresDisplay
        """
        check_fitted(estimator, "scores_", cls.__name__)
        display = cls(
            k_values=np.asarray(estimator.k_values_).tolist(),
            scores=estimator.scores_,
            selected=selected_index(estimator),
            name=f"{type(estimator).__name__} score",
            parameter=parameter_label(estimator),
        )
        return display.plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, default=None
            None makes a new figure.

        Returns
        -------
        self
        """
        self.ax_ = new_axes(ax)
        self.figure_ = self.ax_.figure
        size = import_pyplot().rcParams["lines.markersize"]
        positions, names = axis_positions(self.k_values)
        finite = np.where(np.isfinite(self.scores), self.scores, np.nan)
        color, highlight, *_ = [*category_colors(), *category_colors()]
        (self.line_,) = self.ax_.plot(positions, finite, color=color, marker=".")
        if self.selected is not None:
            self.ax_.plot(
                positions[self.selected],
                finite[self.selected],
                color=highlight,
                marker="o",
                markersize=1.5 * size,
                linestyle="none",
                label=f"chosen: {self.parameter} = {self.k_values[self.selected]}",
            )
            self.ax_.legend()
        for k in contenders(finite, self.selected, limit=N_NAMED):
            self.ax_.annotate(
                str(self.k_values[k]),
                (positions[k], finite[k]),
                textcoords="offset points",
                xytext=(0, size),
                ha="center",
            )
        # Leave room for the labels above the points.
        self.ax_.margins(y=0.12)
        label_k_axis(self.ax_, positions, names, self.parameter)
        self.ax_.set_ylabel(self.name)
        return self

    def frame(self) -> pd.DataFrame:
        """Return the numbers, one row for each candidate."""
        import pandas as pd

        selected = np.arange(len(self.k_values)) == self.selected
        return pd.DataFrame({"k": self.k_values, "score": self.scores, "selected": selected})
