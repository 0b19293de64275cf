"""Plot of the stability inside each cluster of the chosen partition."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from stablek.display.base import SelectorDisplay, category_colors

__all__ = ["ClusterStabilityDisplay"]

MAX_NAMED = 30
"""Most clusters that get a name on the axis."""


@dataclass(kw_only=True, eq=False, repr=False)
class ClusterStabilityDisplay(SelectorDisplay):
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

    labels: Sequence[int]
    sizes: Sequence[int]
    within_stability: Any
    hidden_k: Sequence[Any]
    between: float | None = None

    needs = "cluster_stability_"

    def __post_init__(self) -> None:
        self.labels, self.sizes = list(self.labels), list(self.sizes)
        self.within_stability = np.asarray(self.within_stability, dtype=np.float64)
        self.hidden_k = list(self.hidden_k)

    @classmethod
    def _collect(cls, estimator: Any) -> dict[str, Any]:
        clusters, paths = estimator.cluster_stability_, estimator.paths_
        best = paths.k_values.index(estimator.best_value_)
        return {
            "labels": [cluster.label for cluster in clusters],
            "sizes": [cluster.size for cluster in clusters],
            "within_stability": [cluster.within_stability for cluster in clusters],
            "hidden_k": [cluster.hidden_k for cluster in clusters],
            "between": float(paths.between[best][estimator.counted_levels_].mean()),
        }

    def _draw(self, ax: Any) -> None:
        color, highlight, *_ = [*category_colors(), *category_colors()]
        hides = [hidden is not None for hidden in self.hidden_k]
        places = np.arange(len(self.labels))
        self.bars_ = ax.barh(
            places,
            self.within_stability,
            color=[highlight if hidden else color for hidden in hides],
            hatch=["//" if hidden else "" for hidden in hides],
        )
        for place, hidden in zip(places, self.hidden_k, strict=True):
            if hidden is not None:
                ax.annotate(
                    f" hides {hidden}",
                    (max(self.within_stability[place], 0.0), place),
                    va="center",
                    ha="right" if self.within_stability[place] > 0.75 else "left",
                    bbox={"boxstyle": "round", "facecolor": "white", "edgecolor": "none"},
                )
        if len(places) <= MAX_NAMED:
            names = [f"{k} (n = {n:,})" for k, n in zip(self.labels, self.sizes, strict=True)]
            ax.set_yticks(places, names)
        if self.between is not None:
            ax.axvline(
                self.between, color="0.3", linestyle="--", label="between stability of the whole"
            )
            ax.legend(loc="lower right", bbox_to_anchor=(1, 1), frameon=False)
        ax.set_title("Inside each cluster", loc="left")
        ax.set(
            # The first cluster is at the top. Room for four keeps the bars of a few narrow.
            ylim=(max(len(places), 4) - 0.5, -0.5),
            xlabel="within stability (low: nothing hidden)",
            ylabel="cluster",
            xlim=(min(0.0, float(self.within_stability.min(initial=0.0))), 1.05),
        )

    def _columns(self) -> dict[str, Any]:
        return {
            "label": self.labels,
            "size": self.sizes,
            "within_stability": self.within_stability,
            # dtype object keeps None, and 2 as an int.
            "hidden_k": np.array(self.hidden_k, dtype=object),
        }
