"""Plot of the stability inside each cluster of the chosen partition."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stablek.display.base import category_colors, check_fitted, new_axes

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["ClusterStabilityDisplay"]

MAX_NAMED = 30
"""Most clusters that get a name on the axis."""


class ClusterStabilityDisplay:
    """Within stability of each cluster of the chosen partition; lower is better.

    A cluster that contains stable sub-clusters has a hatched bar with their number. The dashed
    line is the between stability of the chosen partition. A cluster whose within stability
    reaches this line contains structure that the partition misses.

    Parameters
    ----------
    labels : sequence of int
    sizes : sequence of int
    within_stability : array-like of shape (n_clusters,)
    hidden_k : sequence
        For each cluster, the re-clustering value that is stable inside it, or None.
    between : float, default=None
        Between stability of the partition.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    bars_ : BarContainer

    Examples
    --------
    >>> display = ClusterStabilityDisplay(
    ...     labels=[0, 1], sizes=[50, 100], within_stability=[0.1, 0.9], hidden_k=[None, 2])
    >>> display.frame()["hidden_k"].tolist()
    [None, 2]
    """

    def __init__(
        self,
        *,
        labels: Sequence[int],
        sizes: Sequence[int],
        within_stability: Any,
        hidden_k: Sequence[Any],
        between: float | None = None,
    ) -> None:
        self.labels = list(labels)
        self.sizes = list(sizes)
        self.within_stability = np.asarray(within_stability, dtype=np.float64)
        self.hidden_k = list(hidden_k)
        self.between = between

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Axes | None = None) -> Self:
        """Draw the clusters of a fitted `stablek.Stadion`.

        Parameters
        ----------
        estimator : Stadion
        ax : Axes, default=None

        Returns
        -------
        ClusterStabilityDisplay
        """
        check_fitted(estimator, "cluster_stability_", cls.__name__)
        clusters = estimator.cluster_stability_
        best = estimator.paths_.k_values.index(estimator.best_value_)
        display = cls(
            labels=[cluster.label for cluster in clusters],
            sizes=[cluster.size for cluster in clusters],
            within_stability=[cluster.within_stability for cluster in clusters],
            hidden_k=[cluster.hidden_k for cluster in clusters],
            between=float(estimator.paths_.between[best][estimator.counted_levels_].mean()),
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
        color, highlight, *_ = [*category_colors(), *category_colors()]
        hides = [hidden is not None for hidden in self.hidden_k]
        places = np.arange(len(self.labels))
        self.bars_ = self.ax_.barh(
            places,
            self.within_stability,
            color=[highlight if hidden else color for hidden in hides],
            hatch=["//" if hidden else "" for hidden in hides],
        )
        for place, hidden in zip(places, self.hidden_k, strict=True):
            if hidden is not None:
                self.ax_.annotate(
                    f" hides {hidden}",
                    (max(self.within_stability[place], 0.0), place),
                    va="center",
                    ha="right" if self.within_stability[place] > 0.75 else "left",
                    bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "none"},
                )
        if len(places) <= MAX_NAMED:
            names = [f"{k} (n = {n:,})" for k, n in zip(self.labels, self.sizes, strict=True)]
            self.ax_.set_yticks(places, names)
        if self.between is not None:
            self.ax_.axvline(
                self.between, color="0.3", linestyle="--", label="between stability of the whole"
            )
            self.ax_.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False)
        self.ax_.set_title("Inside each cluster", loc="left")
        self.ax_.set(
            # The first cluster is at the top. Room for four keeps the bars of a few narrow.
            ylim=(max(len(places), 4) - 0.5, -0.5),
            xlabel="within stability (low: nothing hidden)",
            ylabel="cluster",
            xlim=(min(0.0, float(self.within_stability.min(initial=0.0))), 1.05),
        )
        return self

    def frame(self) -> pd.DataFrame:
        """Return the numbers, one row for each cluster."""
        import pandas as pd

        return pd.DataFrame(
            {
                "label": self.labels,
                "size": self.sizes,
                "within_stability": self.within_stability,
                # dtype object keeps None, and 2 as an int.
                "hidden_k": pd.Series(self.hidden_k, dtype=object),
            }
        )
