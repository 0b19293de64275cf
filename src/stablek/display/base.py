"""What the displays share: matplotlib when it is needed, colors, who is a contender."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from stablek import aggregation

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = [
    "MARKERS",
    "OKABE_ITO",
    "axis_positions",
    "category_colors",
    "check_fitted",
    "contenders",
    "counted_levels",
    "import_pyplot",
    "label_k_axis",
    "new_axes",
    "parameter_label",
    "path_index",
    "selected_index",
]

Floats = NDArray[np.float64]

OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#56B4E9", "#CC79A7", "#999933")
"""Colors that people with any kind of color vision can tell apart (Okabe and Ito); their
yellow is darkened, to be seen on white."""

MARKERS = ("o", "s", "D", "^", "v", "P", "X", "*")
"""Shapes, for more categories than colors."""

N_CONTENDERS = 6
"""More than this many emphasized curves cannot be told apart."""


def import_pyplot() -> Any:
    """Matplotlib's pyplot, imported on first use."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError(
            "Displays need matplotlib; install it with: pip install 'stablek[plot]'"
        ) from error
    return plt


def new_axes(ax: Axes | None) -> Axes:
    """Axes to draw into: the given ones, or those of a new figure."""
    if ax is not None:
        return ax
    _, made = import_pyplot().subplots(layout="constrained")
    return made  # type: ignore[no-any-return]


def category_colors() -> list[str]:
    """The user's color cycle; a color-blind safe one where the user has not set any."""
    import matplotlib as mpl

    cycle = mpl.rcParams["axes.prop_cycle"]
    if cycle == mpl.rcParamsDefault["axes.prop_cycle"]:
        return list(OKABE_ITO)
    return list(cycle.by_key().get("color", OKABE_ITO))


def contenders(scores: Any, selected: int | None, limit: int = N_CONTENDERS) -> list[int]:
    """Positions to emphasize: the selected one, then those of the highest scores.

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


def axis_positions(values: Sequence[Any]) -> tuple[Floats, list[str] | None]:
    """Where values lie on an axis: themselves if numbers, else 0, 1, ... with their names.

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


def parameter_label(estimator: Any) -> str:
    """Name of what is searched: K, or the clusterer's parameter if it does not count clusters."""
    name = getattr(estimator, "param_name", None)
    if name is None or name.rpartition("__")[2] in ("n_clusters", "n_components"):
        return "K"
    return str(name)


def selected_index(estimator: Any) -> int | None:
    """Position of the answer among ``k_values_``; None if it is not there or there is none."""
    chosen = getattr(estimator, "best_value_", getattr(estimator, "n_clusters_", None))
    values = np.asarray(estimator.k_values_).tolist()
    return values.index(chosen) if chosen is not None and chosen in values else None


def path_index(estimator: Any) -> list[int]:
    """Row in ``paths_`` of each of ``k_values_``."""
    row = {value: path for path, value in enumerate(estimator.paths_.k_values)}
    return [row[value] for value in np.asarray(estimator.k_values_).tolist()]


def counted_levels(estimator: Any) -> NDArray[np.bool_]:
    """Noise levels that the scores are made of."""
    return aggregation.counted_levels(
        estimator.epsilons_, estimator.crossing_epsilon_, until_crossing=estimator.until_crossing
    )


def check_fitted(estimator: Any, attribute: str, display: str) -> None:
    """Tell what a display needs and the estimator does not have."""
    if not hasattr(estimator, attribute):
        raise ValueError(
            f"{display}.from_estimator needs a fitted estimator with {attribute}; "
            f"{type(estimator).__name__} has none"
        )


def label_k_axis(ax: Axes, positions: Any, names: list[str] | None, parameter: str) -> None:
    """Name the axis of the candidates; whole numbers get whole ticks."""
    from matplotlib.ticker import MaxNLocator

    ax.set_xlabel(parameter)
    if names is not None:
        ax.set_xticks(positions, names)
    elif (positions == np.round(positions)).all():
        ax.xaxis.set_major_locator(MaxNLocator(integer=True, steps=[1, 2, 5, 10]))
