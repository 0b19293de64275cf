"""What the displays share: the contract, matplotlib imported when needed, axes and colors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from stablek.inspection import parameter_label, selected_index

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = [
    "MARKERS",
    "OKABE_ITO",
    "CandidatesDisplay",
    "Display",
    "SelectorDisplay",
    "StabilityDisplay",
    "category_colors",
    "check_fitted",
    "import_pyplot",
]

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#999933")
"""Colors of Okabe and Ito, which color-blind readers can tell apart. Yellow is darker than in
theirs, because it must be visible on white."""

MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
"""Shapes that tell categories apart when there are more categories than colors."""


class Display:
    """Numbers that can be drawn. A subclass draws them, and names their columns."""

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
        self.ax_ = self._new_axes() if ax is None else ax
        self.figure_ = self.ax_.figure
        self._draw(self.ax_)
        return self

    def frame(self) -> pd.DataFrame:
        """Return the numbers as a table."""
        import pandas as pd

        return pd.DataFrame(self._columns())

    def _new_axes(self) -> Any:
        return import_pyplot().subplots(layout="constrained")[1]

    def _draw(self, ax: Any) -> None:
        raise NotImplementedError

    def _columns(self) -> dict[str, Any]:
        raise NotImplementedError


class SelectorDisplay(Display):
    """Display of a fitted selector. A subclass collects the arguments of its constructor."""

    needs: ClassVar[str]
    """Attribute that the fitted estimator must have."""

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw what a fitted selector found.

        Parameters
        ----------
        estimator : selector
            Fitted. A display of between and within stability needs a `stablek.Stadion`.
        ax : Axes, default=None
            As for ``plot``.

        Returns
        -------
        Display
        """
        check_fitted(estimator, cls.needs, cls)
        return cls(**cls._collect(estimator)).plot(ax=ax)

    @classmethod
    def _collect(cls, estimator: Any) -> dict[str, Any]:
        """Return the arguments of the constructor."""
        raise NotImplementedError


@dataclass(kw_only=True, eq=False, repr=False)
class CandidatesDisplay(SelectorDisplay):
    """Display of the candidates, one of which may be selected."""

    k_values: Sequence[Any]
    selected: int | None = None
    parameter: str = "K"

    def __post_init__(self) -> None:
        self.k_values = list(self.k_values)

    @classmethod
    def _collect(cls, estimator: Any) -> dict[str, Any]:
        return {
            "k_values": np.asarray(estimator.k_values_).tolist(),
            "selected": selected_index(estimator),
            "parameter": parameter_label(estimator),
        }

    def _is_selected(self) -> list[bool]:
        return [position == self.selected for position in range(len(self.k_values))]

    def _named(self, position: int) -> str:
        return f"{self.parameter} = {self.k_values[position]}"

    def _draw_axis(self, ax: Any) -> NDArray[np.float64]:
        """Draw the x axis, and return where the candidates lie on it: 0, 1, ... if not numbers."""
        from matplotlib.ticker import MaxNLocator

        ax.set_xlabel(self.parameter)
        try:
            positions = np.asarray(self.k_values, dtype=np.float64)
        except (TypeError, ValueError):
            positions = np.arange(len(self.k_values), dtype=np.float64)
            ax.set_xticks(positions, [str(value) for value in self.k_values])
        else:
            if (positions == np.round(positions)).all():
                ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
        return positions


@dataclass(kw_only=True, eq=False, repr=False)
class StabilityDisplay(CandidatesDisplay):
    """Between stability, within stability and Stadion of each candidate, with standard errors."""

    between: Any
    within: Any
    stadion: Any
    between_se: Any = None
    within_se: Any = None
    stadion_se: Any = None

    needs = "paths_"
    quantities: ClassVar[dict[str, str]]
    """From "between", "within" and "stadion" to what the display calls them."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for quantity in self.quantities:
            means = np.asarray(getattr(self, quantity), dtype=np.float64)
            errors = getattr(self, f"{quantity}_se")
            setattr(self, quantity, means)
            unknown = np.full_like(means, np.nan)
            setattr(self, f"{quantity}_se", unknown if errors is None else np.asarray(errors))

    def _columns(self) -> dict[str, Any]:
        names = [name for quantity in self.quantities for name in (quantity, f"{quantity}_se")]
        return {name: getattr(self, name).ravel() for name in names}

    @staticmethod
    def _draw_band(ax: Any, x: Any, means: Any, errors: Any, **style: Any) -> Any:
        """Draw a curve, and a band of one standard error where it is known."""
        (line,) = ax.plot(x, means, **style)
        if not np.isnan(errors).all():
            color = line.get_color()
            ax.fill_between(x, means - errors, means + errors, color=color, alpha=0.2, linewidth=0)
        return line


def import_pyplot() -> Any:
    """Import matplotlib's pyplot on first use."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Displays need matplotlib; install it with: pip install 'stablek[plot]'"
        ) from error
    return plt


def category_colors() -> list[str]:
    """Return the color cycle that the user has set, or a color-blind safe one."""
    import matplotlib as mpl

    cycle = mpl.rcParams["axes.prop_cycle"]
    if cycle == mpl.rcParamsDefault["axes.prop_cycle"]:
        return list(OKABE_ITO)
    return list(cycle.by_key().get("color", OKABE_ITO))


def check_fitted(estimator: Any, attribute: str, display: type) -> None:
    """Raise if the estimator lacks an attribute that a display needs."""
    if not hasattr(estimator, attribute):
        raise ValueError(
            f"{display.__name__}.from_estimator needs a fitted estimator with {attribute}; "
            f"{type(estimator).__name__} has none"
        )
