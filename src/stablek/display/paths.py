"""Stability paths: between, within and Stadion against the noise level."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from stablek.display.base import StabilityDisplay, category_colors, import_pyplot
from stablek.inspection import (
    contenders,
    deciding_crossing,
    reference_band,
    stability_curves,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["StabilityPathsDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class StabilityPathsDisplay(StabilityDisplay):
    """Between stability, within stability and Stadion against the noise level epsilon.

    The chosen candidate has a thick line. The other contenders have a color and a name in the
    legend, and all other candidates a thin gray line. K = 1 is dotted. Bands are one standard
    error over the draws. A gray band behind the Stadion paths shows what data without clusters
    reach, if a structure test was made. By the paper's rule (``one_cluster="crossing"``), a dashed
    line marks the crossing. The levels beyond it do not count and are shaded.

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
        0 if there is no crossing, or if it decides nothing.
    one_cluster : array-like of shape (3, n_epsilons), default=None
        Between, within and Stadion path of K = 1, if it is not a candidate.
    reference_band : array-like of shape (2, n_reference_epsilons), default=None
        Lowest and highest Stadion of the reference sets of the structure test.
    reference_epsilons : array-like of shape (n_reference_epsilons,), default=None
        Noise levels of the structure test.
    reference_k : int, default=None
        Number of clusters that the band belongs to.
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
    band_ : PolyCollection or None
        What data without clusters reach.

    Examples
    --------
    >>> display = StabilityPathsDisplay(
    ...     k_values=[1, 2], epsilons=[0.0, 0.5], selected=1, crossing_epsilon=0.5,
    ...     between=[[1.0, 1.0], [1.0, 0.9]], within=[[1.0, 0.6], [1.0, 0.2]],
    ...     stadion=[[0.0, 0.4], [0.0, 0.7]])
    >>> display.frame()[["k", "epsilon", "stadion"]].values.tolist()
    [[1.0, 0.0, 0.0], [1.0, 0.5, 0.4], [2.0, 0.0, 0.0], [2.0, 0.5, 0.7]]
    """

    epsilons: Any
    scores: Any = None
    crossing_epsilon: float = 0.0
    one_cluster: Any = None
    reference_band: Any = None
    reference_epsilons: Any = None
    reference_k: Any = None

    quantities: ClassVar = {
        "between": "Between stability",
        "within": "Within stability",
        "stadion": "Stadion (between − within)",
    }

    def __post_init__(self) -> None:
        super().__post_init__()
        self.epsilons = np.asarray(self.epsilons, dtype=np.float64)
        self.scores = self.stadion.max(axis=1) if self.scores is None else np.asarray(self.scores)
        if self.one_cluster is not None:
            self.one_cluster = np.asarray(self.one_cluster)

    @classmethod
    def _collect(cls, estimator: Any) -> dict[str, Any]:
        curves = stability_curves(estimator)
        one_cluster = curves.pop("one_cluster")
        candidates = super()._collect(estimator)
        return {
            **candidates,
            **curves,
            "epsilons": estimator.epsilons_,
            "scores": estimator.scores_,
            "crossing_epsilon": deciding_crossing(estimator),
            "one_cluster": None if one_cluster is None else np.stack(list(one_cluster.values())),
            **(cls._collect_band(estimator, **candidates) if estimator.structure_test_ else {}),
        }

    @staticmethod
    def _collect_band(
        estimator: Any, k_values: list[Any], selected: int | None, parameter: str
    ) -> dict[str, Any]:
        """Reference sets of the answer, or of the best other K that was tested."""
        test = estimator.structure_test_
        shown = [k_values[i] for i in contenders(estimator.scores_, selected)]
        tested = [k for k in shown if parameter == "K" and k in test.k_values]
        if not tested:
            return {}
        row = test.k_values.tolist().index(tested[0])
        return {
            "reference_band": [bound[row] for bound in reference_band(test)],
            "reference_epsilons": test.epsilons,
            "reference_k": tested[0],
        }

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
        given: Any = self._new_axes() if ax is None else ax
        self.ax_ = given if hasattr(given, "plot") else np.asarray(given)
        axes = np.atleast_1d(self.ax_)
        if len(axes) not in (1, 3):
            raise ValueError(f"ax must be one Axes or three, got {len(axes)}")
        self.figure_ = axes[0].figure
        self.lines_: dict[tuple[str, int], Any] = {}
        self.band_ = None
        for drawn, quantity in zip(axes, list(self.quantities)[-len(axes) :], strict=True):
            self._draw_paths(drawn, quantity)
        named = [(k, line) for (q, k), line in self.lines_.items() if q == "stadion"]
        handles = [line for _, line in sorted(named, key=itemgetter(0)) if line.get_label() != "_"]
        handles += [line for line in axes[-1].get_lines() if line.get_label() == "one cluster"]
        handles += [] if self.band_ is None else [self.band_]
        if ax is None:
            self.legend_ = self.figure_.legend(handles=handles, loc="outside right upper")
        else:
            self.legend_ = axes[-1].legend(handles=handles)
        return self

    def _new_axes(self) -> Any:
        plt = import_pyplot()
        width, height = plt.rcParams["figure.figsize"]
        size = (2.25 * width, height)
        return plt.subplots(1, 3, sharex=True, layout="constrained", figsize=size)[1]

    def _draw_paths(self, ax: Any, quantity: str) -> None:
        means, errors = getattr(self, quantity), getattr(self, f"{quantity}_se")
        shown = contenders(self.scores, self.selected)
        colors = category_colors()
        width = import_pyplot().rcParams["lines.linewidth"]
        one = self.k_values.index(1) if self.parameter == "K" and 1 in self.k_values else None
        for k in range(len(self.k_values)):
            if k not in shown:
                style = {"color": "0.75", "linewidth": width / 2, "label": "_"}
                if k == one:
                    style = {"color": "0.3", "linestyle": ":", "label": self._named(k)}
                (self.lines_[quantity, k],) = ax.plot(self.epsilons, means[k], **style)
        # Draw the selected candidate last, on top of the others.
        for place, k in reversed(list(enumerate(shown))):
            chosen = k == self.selected
            self.lines_[quantity, k] = self._draw_band(
                ax,
                self.epsilons,
                means[k],
                errors[k],
                color=colors[place % len(colors)],
                linewidth=2 * width if chosen else width,
                linestyle=":" if k == one else "-",
                label=self._named(k) + (" (chosen)" if chosen else ""),
            )
        if self.one_cluster is not None:
            path = self.one_cluster[list(self.quantities).index(quantity)]
            ax.plot(self.epsilons, path, color="0.3", linestyle=":", label="one cluster")
        if quantity == "stadion" and self.reference_band is not None:
            self.band_ = ax.fill_between(
                self.reference_epsilons,
                *self.reference_band,
                color="0.5",
                alpha=0.3,
                linewidth=0,
                zorder=0,
                label=f"K = {self.reference_k}, no clusters",
            )
        if self.crossing_epsilon > 0:
            ax.axvline(self.crossing_epsilon, color="0.3", linestyle="--", label="_crossing")
            if self.crossing_epsilon < self.epsilons[-1]:
                ax.axvspan(self.crossing_epsilon, self.epsilons[-1], color="0.5", alpha=0.1)
        ax.margins(x=0)
        ax.set(title=self.quantities[quantity], xlabel="noise level ε")

    def _columns(self) -> dict[str, Any]:
        n_k, n_epsilons = self.stadion.shape
        return {
            "k": np.repeat(np.asarray(self.k_values), n_epsilons),
            "epsilon": np.tile(self.epsilons, n_k),
            **super()._columns(),
            "selected": np.repeat(self._is_selected(), n_epsilons),
        }
