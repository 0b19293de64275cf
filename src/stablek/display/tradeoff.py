"""Plot of the stability trade-off: mean between, within and Stadion against K."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from stablek.display.base import (
    StabilityDisplay,
    candidates,
    category_colors,
    draw_candidates_axis,
)
from stablek.inspection import path_index
from stablek.results import standard_error

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["TradeoffDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class TradeoffDisplay(StabilityDisplay):
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

    quantities: ClassVar = {
        "between": "between stability",
        "within": "within stability",
        "stadion": "Stadion",
    }

    @classmethod
    def _collect(cls, estimator: Any) -> dict[str, Any]:
        levels, index = estimator.counted_levels_, path_index(estimator)
        numbers = {}
        for quantity, per_draw in estimator.paths_.quantities().items():
            # Average over the noise levels first: only the draws are independent.
            means = per_draw[index][:, levels].mean(axis=1)
            numbers[quantity] = means.mean(axis=1)
            numbers[f"{quantity}_se"] = standard_error(means)
        return {**candidates(estimator), **numbers}

    def _draw(self, ax: Axes) -> None:
        positions = draw_candidates_axis(ax, self.k_values, self.parameter)
        self.lines_ = {
            quantity: self._draw_band(
                ax,
                positions,
                getattr(self, quantity),
                getattr(self, f"{quantity}_se"),
                color=color,
                marker="o" if len(positions) <= 20 else None,
                linestyle="-" if quantity == "stadion" else "--",
                label=label,
            )
            for color, (quantity, label) in zip(
                category_colors(), self.quantities.items(), strict=False
            )
        }
        if self.selected is not None:
            ax.axvline(
                positions[self.selected],
                color="0.5",
                linestyle=":",
                label=f"chosen: {self.parameter} = {self.k_values[self.selected]}",
            )
        ax.set(title="Stability trade-off", ylabel="mean over noise levels")
        ax.legend()

    def _columns(self) -> dict[str, Any]:
        selected = np.arange(len(self.k_values)) == self.selected
        return {"k": self.k_values, **super()._columns(), "selected": selected}
