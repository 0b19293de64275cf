"""Stability paths: between, within and Stadion against the noise level."""

from __future__ import annotations

from collections.abc import Sequence
from operator import itemgetter
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from stablek.display.base import category_colors, check_fitted, import_pyplot
from stablek.inspection import contenders, parameter_label, path_index, selected_index

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["StabilityPathsDisplay"]

Floats = NDArray[np.float64]

TITLES = {
    "between": "Between stability",
    "within": "Within stability",
    "stadion": "Stadion (between − within)",
}


class StabilityPathsDisplay:
    """Between stability, within stability and Stadion against the noise level epsilon.

    The chosen candidate has a thick line. The other contenders have a color and a name in the
    legend, and all other candidates a thin gray line. K = 1 is dotted, because the crossing is
    measured against it. Bands are one standard error over the draws. A dashed line marks the
    crossing. The levels beyond it do not count and are shaded.

    Parameters
    ----------
    k_values : sequence
        The candidates.
    epsilons : array-like of shape (n_epsilons,)
    between, within, stadion : array-like of shape (n_k, n_epsilons)
    between_se, within_se, stadion_se : array-like of shape (n_k, n_epsilons), default=None
        Standard errors; NaN where one is not known.
    scores : array-like of shape (n_k,), default=None
        The contenders have the highest scores. None uses the maximum of each Stadion path.
    selected : int, default=None
        Position of the chosen candidate.
    crossing_epsilon : float, default=0
        0 if there is no crossing.
    one_cluster : array-like of shape (3, n_epsilons), default=None
        Between, within and Stadion path of K = 1, if it is not a candidate.
    parameter : str, default="K"
        Name of the parameter that the candidates are values of.

    Attributes
    ----------
    ax_ : ndarray of Axes, or Axes
        Three axes, or the one that was given.
    figure_ : Figure
    legend_ : Legend
    lines_ : dict
        From (quantity, position of the candidate) to the line.

    Examples
    --------
    >>> display = StabilityPathsDisplay(
    ...     k_values=[1, 2], epsilons=[0.0, 0.5], selected=1, crossing_epsilon=0.5,
    ...     between=[[1.0, 1.0], [1.0, 0.9]], within=[[1.0, 0.6], [1.0, 0.2]],
    ...     stadion=[[0.0, 0.4], [0.0, 0.7]])
    >>> display.frame()[["k", "epsilon", "stadion"]].values.tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.5, 0.4], [2.0, 0.0, 0.0], [2.0, 0.5, 0.7]]
    """

    def __init__(
        self,
        *,
        k_values: Sequence[Any],
        epsilons: Any,
        between: Any,
        within: Any,
        stadion: Any,
        between_se: Any = None,
        within_se: Any = None,
        stadion_se: Any = None,
        scores: Any = None,
        selected: int | None = None,
        crossing_epsilon: float = 0.0,
        one_cluster: Any = None,
        parameter: str = "K",
    ) -> None:
        self.k_values = list(k_values)
        self.epsilons = np.asarray(epsilons, dtype=np.float64)
        self.between = np.asarray(between, dtype=np.float64)
        self.within = np.asarray(within, dtype=np.float64)
        self.stadion = np.asarray(stadion, dtype=np.float64)
        unknown = np.full_like(self.between, np.nan)
        self.between_se = unknown if between_se is None else np.asarray(between_se)
        self.within_se = unknown if within_se is None else np.asarray(within_se)
        self.stadion_se = unknown if stadion_se is None else np.asarray(stadion_se)
        self.scores = self.stadion.max(axis=1) if scores is None else np.asarray(scores)
        self.selected = selected
        self.crossing_epsilon = crossing_epsilon
        self.one_cluster = None if one_cluster is None else np.asarray(one_cluster)
        self.parameter = parameter

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | Sequence[Axes] | None = None) -> Self:
        """Draw the paths of a fitted `stablek.Stadion`.

        Parameters
        ----------
        estimator : Stadion
        ax : Axes or sequence of three Axes, default=None

        Returns
        -------
        StabilityPathsDisplay
        """
        check_fitted(estimator, "paths_", cls.__name__)
        paths, index = estimator.paths_, path_index(estimator)
        one_cluster = None
        if 0 not in index:
            quantities = (paths.between, paths.within_stability(), paths.stadion)
            one_cluster = np.stack([quantity[0].mean(axis=-1) for quantity in quantities])
        display = cls(
            k_values=np.asarray(estimator.k_values_).tolist(),
            epsilons=estimator.epsilons_,
            between=estimator.between_stability_,
            within=estimator.within_stability_,
            stadion=estimator.stadion_paths_,
            between_se=paths.between_standard_error[index],
            within_se=paths.within_standard_error[index],
            stadion_se=paths.stadion_standard_error[index],
            scores=estimator.scores_,
            selected=selected_index(estimator),
            crossing_epsilon=estimator.crossing_epsilon_,
            one_cluster=one_cluster,
            parameter=parameter_label(estimator),
        )
        return display.plot(ax=ax)

    def plot(self, ax: Axes | Sequence[Axes] | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes or sequence of three Axes, default=None
            A single Axes gets only the Stadion paths. None makes a figure with all three.

        Returns
        -------
        self
        """
        plt = import_pyplot()
        if ax is None:
            width, height = plt.rcParams["figure.figsize"]
            _, self.ax_ = plt.subplots(
                1, 3, sharex=True, layout="constrained", figsize=(2.25 * width, height)
            )
        else:
            self.ax_ = ax if hasattr(ax, "plot") else np.asarray(ax)
        axes = np.atleast_1d(self.ax_)
        if len(axes) not in (1, 3):
            raise ValueError(f"ax must be one Axes or three, got {len(axes)}")
        self.figure_ = axes[0].figure
        self.lines_: dict[tuple[str, int], Any] = {}
        for drawn, quantity in zip(axes, list(TITLES)[-len(axes) :], strict=True):
            self._draw(drawn, quantity)
        named = [(k, line) for (q, k), line in self.lines_.items() if q == "stadion"]
        handles = [line for _, line in sorted(named, key=itemgetter(0)) if line.get_label() != "_"]
        handles += [line for line in axes[-1].get_lines() if line.get_label() == "one cluster"]
        if ax is None:
            self.legend_ = self.figure_.legend(handles=handles, loc="outside right upper")
        else:
            self.legend_ = axes[-1].legend(handles=handles)
        return self

    def _draw(self, ax: Axes, quantity: str) -> None:
        means, errors = getattr(self, quantity), getattr(self, f"{quantity}_se")
        shown = contenders(self.scores, self.selected)
        colors = category_colors()
        width = import_pyplot().rcParams["lines.linewidth"]
        one = self._one_position()
        for k in range(len(self.k_values)):
            if k not in shown:
                style = {"color": "0.75", "linewidth": width / 2, "label": "_"}
                if k == one:
                    style = {"color": "0.3", "linestyle": ":", "label": f"{self.parameter} = 1"}
                (self.lines_[quantity, k],) = ax.plot(self.epsilons, means[k], **style)
        # Draw the selected candidate last, on top of the others.
        for place, k in reversed(list(enumerate(shown))):
            chosen = k == self.selected
            name = f"{self.parameter} = {self.k_values[k]}" + (" (chosen)" if chosen else "")
            (line,) = ax.plot(
                self.epsilons,
                means[k],
                color=colors[place % len(colors)],
                linewidth=2 * width if chosen else width,
                linestyle=":" if k == one else "-",
                label=name,
            )
            self.lines_[quantity, k] = line
            if not np.isnan(errors[k]).all():
                low, high = means[k] - errors[k], means[k] + errors[k]
                ax.fill_between(
                    self.epsilons, low, high, color=line.get_color(), alpha=0.2, linewidth=0
                )
        if self.one_cluster is not None:
            path = self.one_cluster[list(TITLES).index(quantity)]
            ax.plot(self.epsilons, path, color="0.3", linestyle=":", label="one cluster")
        if self.crossing_epsilon > 0:
            ax.axvline(self.crossing_epsilon, color="0.3", linestyle="--", label="_crossing")
            if self.crossing_epsilon < self.epsilons[-1]:
                ax.axvspan(self.crossing_epsilon, self.epsilons[-1], color="0.5", alpha=0.1)
        ax.margins(x=0)
        ax.set(title=TITLES[quantity], xlabel="noise level ε")

    def _one_position(self) -> int | None:
        counts = self.parameter == "K" and 1 in self.k_values
        return self.k_values.index(1) if counts else None

    def frame(self) -> pd.DataFrame:
        """Return the numbers, one row for each candidate and noise level."""
        import pandas as pd

        n_k, n_epsilons = self.stadion.shape
        columns: dict[str, Any] = {
            "k": np.repeat(np.asarray(self.k_values), n_epsilons),
            "epsilon": np.tile(self.epsilons, n_k),
        }
        for quantity in TITLES:
            columns[quantity] = getattr(self, quantity).ravel()
            columns[f"{quantity}_se"] = getattr(self, f"{quantity}_se").ravel()
        columns["selected"] = np.repeat(np.arange(n_k) == self.selected, n_epsilons)
        return pd.DataFrame(columns)
