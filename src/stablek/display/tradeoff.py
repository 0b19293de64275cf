"""Plot of the stability trade-off: mean between, within and Stadion against K."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stablek.display.base import (
    axis_positions,
    category_colors,
    check_fitted,
    label_k_axis,
    new_axes,
)
from stablek.inspection import parameter_label, path_index, selected_index

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["TradeoffDisplay"]

NAMES = {"between": "between stability", "within": "within stability", "stadion": "Stadion"}


class TradeoffDisplay:
    """Means of between stability, within stability and Stadion over the noise levels, against K.

    Parameters
    ----------
    k_values : sequence
        The candidates.
    between, within, stadion : array-like of shape (n_k,)
        Means over the noise levels that count.
    between_se, within_se, stadion_se : array-like of shape (n_k,), default=None
        Standard errors over the draws.
    selected : int, default=None
        Position of the chosen candidate.
    parameter : str, default="K"
        Name of the parameter that the candidates are values of.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    lines_ : dict
        From "between", "within" and "stadion" to the line.

    Examples
    --------
    >>> display = TradeoffDisplay(
    ...     k_values=[1, 2], between=[1.0, 0.9], within=[0.8, 0.2], stadion=[0.2, 0.7], selected=1)
    >>> display.frame()["selected"].tolist()
    [False, True]
    """

    def __init__(
        self,
        *,
        k_values: Sequence[Any],
        between: Any,
        within: Any,
        stadion: Any,
        between_se: Any = None,
        within_se: Any = None,
        stadion_se: Any = None,
        selected: int | None = None,
        parameter: str = "K",
    ) -> None:
        self.k_values = list(k_values)
        self.between = np.asarray(between, dtype=np.float64)
        self.within = np.asarray(within, dtype=np.float64)
        self.stadion = np.asarray(stadion, dtype=np.float64)
        unknown = np.full_like(self.between, np.nan)
        self.between_se = unknown if between_se is None else np.asarray(between_se)
        self.within_se = unknown if within_se is None else np.asarray(within_se)
        self.stadion_se = unknown if stadion_se is None else np.asarray(stadion_se)
        self.selected = selected
        self.parameter = parameter

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the trade-off of a fitted `stablek.Stadion`.

        Parameters
        ----------
        estimator : Stadion
        ax : Axes, default=None

        Returns
        -------
        TradeoffDisplay
        """
        check_fitted(estimator, "paths_", cls.__name__)
        paths, levels = estimator.paths_, estimator.counted_levels_
        index = path_index(estimator)
        numbers: dict[str, Any] = {}
        per_draw = {
            "between": paths.between,
            "within": paths.within_stability(),
            "stadion": paths.stadion,
        }
        for quantity, values in per_draw.items():
            # Average over the noise levels first: only the draws are independent.
            means = values[index][:, levels].mean(axis=1)
            n_draws = means.shape[1]
            numbers[quantity] = means.mean(axis=1)
            if n_draws > 1:
                numbers[f"{quantity}_se"] = means.std(axis=1, ddof=1) / np.sqrt(n_draws)
        display = cls(
            k_values=np.asarray(estimator.k_values_).tolist(),
            selected=selected_index(estimator),
            parameter=parameter_label(estimator),
            **numbers,
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
        positions, names = axis_positions(self.k_values)
        self.lines_: dict[str, Any] = {}
        for color, quantity in zip(category_colors(), NAMES, strict=False):
            mean, error = getattr(self, quantity), getattr(self, f"{quantity}_se")
            (line,) = self.ax_.plot(
                positions,
                mean,
                color=color,
                marker="o" if len(positions) <= 20 else None,
                linestyle="-" if quantity == "stadion" else "--",
                label=NAMES[quantity],
            )
            self.lines_[quantity] = line
            if not np.isnan(error).all():
                self.ax_.fill_between(
                    positions, mean - error, mean + error, color=color, alpha=0.2, linewidth=0
                )
        if self.selected is not None:
            self.ax_.axvline(
                positions[self.selected],
                color="0.5",
                linestyle=":",
                label=f"chosen: {self.parameter} = {self.k_values[self.selected]}",
            )
        label_k_axis(self.ax_, positions, names, self.parameter)
        self.ax_.set(title="Stability trade-off", ylabel="mean over noise levels")
        self.ax_.legend()
        return self

    def frame(self) -> pd.DataFrame:
        """Return the numbers, one row for each candidate."""
        import pandas as pd

        columns: dict[str, Any] = {"k": self.k_values}
        for quantity in NAMES:
            columns[quantity] = getattr(self, quantity)
            columns[f"{quantity}_se"] = getattr(self, f"{quantity}_se")
        columns["selected"] = np.arange(len(self.k_values)) == self.selected
        return pd.DataFrame(columns)
