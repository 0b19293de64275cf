"""Plot of the stability trade-off: mean between, within and Stadion against K."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from stablek.display.base import StabilityDisplay, category_colors
from stablek.inspection import path_index
from stablek.results import standard_error

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
        return {**super()._collect(estimator), **numbers}

    def _draw(self, ax: Any) -> None:
        positions = self._draw_axis(ax)
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
            chosen = f"chosen: {self._named(self.selected)}"
            ax.axvline(positions[self.selected], color="0.5", linestyle=":", label=chosen)
        ax.set(title="Stability trade-off", ylabel="mean over noise levels")
        ax.legend()

    def _columns(self) -> dict[str, Any]:
        return {"k": self.k_values, **super()._columns(), "selected": self._is_selected()}
