"""What the displays share: matplotlib, imported when needed, axes and colors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "MARKERS",
    "OKABE_ITO",
    "axis_positions",
    "category_colors",
    "check_fitted",
    "import_pyplot",
    "label_k_axis",
    "new_axes",
]

Floats = NDArray[np.float64]

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#999933")
"""Colors of Okabe and Ito, which color-blind readers can tell apart. Yellow is darker than in
theirs, because it must be visible on white."""

MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
"""Shapes that tell categories apart when there are more categories than colors."""


def import_pyplot() -> Any:
    """Import matplotlib's pyplot on first use."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Displays need matplotlib; install it with: pip install 'stablek[plot]'"
        ) from error
    return plt


def new_axes(ax: Axes | None) -> Axes:
    """Return the given axes, or the axes of a new figure."""
    if ax is not None:
        return ax
    _, made = import_pyplot().subplots(layout="constrained")
    return made  # type: ignore[no-any-return]


def category_colors() -> list[str]:
    """Return the color cycle that the user has set, or a color-blind safe one."""
    import matplotlib as mpl

    cycle = mpl.rcParams["axes.prop_cycle"]
    if cycle == mpl.rcParamsDefault["axes.prop_cycle"]:
        return list(OKABE_ITO)
    return list(cycle.by_key().get("color", OKABE_ITO))


def axis_positions(values: Sequence[Any]) -> tuple[Floats, list[str] | None]:
    """Return where values lie on an axis: the numbers themselves, or 0, 1, ... and names.

    Examples
    --------
    >>> axis_positions([1, 2, 5])
    (array([1., 2., 5.]), None)
    >>> axis_positions(["a", "b"])
    (array([0., 1.]), ['a', 'b'])
    """
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        return np.arange(len(values), dtype=np.float64), [str(value) for value in values]
    return numbers, None


def check_fitted(estimator: Any, attribute: str, display: str) -> None:
    """Raise if the estimator lacks an attribute that a display needs."""
    if not hasattr(estimator, attribute):
        raise ValueError(
            f"{display}.from_estimator needs a fitted estimator with {attribute}; "
            f"{type(estimator).__name__} has none"
        )


def label_k_axis(ax: Axes, positions: Any, names: list[str] | None, parameter: str) -> None:
    """Label the axis of the candidates, with whole ticks for whole numbers."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel(parameter)
    if names is not None:
        ax.set_xticks(positions, names)
    elif (positions == np.round(positions)).all():
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
