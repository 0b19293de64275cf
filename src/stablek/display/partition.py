"""Scatter plot of a partition."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stablek.display.base import MARKERS, Display, category_colors, check_fitted
from stablek.display.projection import project
from stablek.inspection import shown_rows
from stablek.seeding import generator

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PartitionDisplay"]

MAX_POINTS = 20_000
"""Most points that are drawn. More points would only hide each other."""

MAX_NAMED = 12
"""Most clusters that get a name in the legend."""


@dataclass(kw_only=True, eq=False, repr=False)
class PartitionDisplay(Display):
    """Scatter plot of the points, colored by cluster. Unstable points are transparent.

    Parameters
    ----------
    coordinates : array-like of shape (n_samples, 2)
    labels : array-like of shape (n_samples,)
        Clusters; -1 is noise.
    point_stability : array-like of shape (n_samples,), default=None
        From 0 to 1: how often the point keeps its cluster.
    axis_names : tuple of two str, default=("", "")
        Labels of the axes. If the second is empty, its axis has no ticks.
    rows : array-like of shape (n_samples,), default=None
        Row number of each point in the data, if the points are a sample.
    n_total : int, default=None
        Number of points in the data.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    collections_ : dict
        From a cluster's label to its points.

    Examples
    --------
    >>> display = PartitionDisplay(coordinates=[[0, 0], [5, 5]], labels=[0, 1])
    >>> display.frame()["label"].tolist()
    [0, 1]
    """

    coordinates: Any
    labels: Any
    point_stability: Any = None
    axis_names: tuple[str, str] = ("", "")
    rows: Any = None
    n_total: Any = None

    def __post_init__(self) -> None:
        self.coordinates = np.asarray(self.coordinates, dtype=np.float64)
        self.labels = np.asarray(self.labels)
        n_drawn = len(self.labels)
        if self.point_stability is not None:
            self.point_stability = np.asarray(self.point_stability)
        self.rows = np.arange(n_drawn) if self.rows is None else np.asarray(self.rows)
        self.n_total = n_drawn if self.n_total is None else self.n_total

    @classmethod
    def from_estimator(
        cls, estimator: Any, X: Any = None, *, k: Any = None, ax: Axes | None = None
    ) -> Self:
        """Draw the partition of a fitted selector.

        Parameters
        ----------
        estimator : selector
        X : array-like of shape (n_samples, n_features), default=None
            The points. None uses the data that the selector was fitted on.
        k : object, default=None
            The candidate whose partition is drawn. None draws the chosen partition, the only
            one with point stability.
        ax : Axes, default=None

        Returns
        -------
        PartitionDisplay
            With at most 20,000 points: a random sample if the data have more.
        """
        check_fitted(estimator, "k_values_", cls)
        stability = shown_rows(estimator, getattr(estimator, "point_stability_", None))
        labels = shown_rows(estimator, getattr(estimator, "labels_", None))
        if k is not None:
            values = np.asarray(estimator.k_values_).tolist()
            check_fitted(estimator, "reference_labels_", cls)
            if k not in values:
                raise ValueError(f"k must be one of the candidates {values}, got {k!r}")
            wanted = shown_rows(estimator, estimator.reference_labels_[values.index(k)])
            if labels is None or not np.array_equal(wanted, labels):
                labels, stability = wanted, None
        if labels is None:
            raise ValueError(f"{type(estimator).__name__} chose no partition to draw; pass k")
        X = getattr(estimator, "_fit_X", None) if X is None else np.asarray(X, dtype=np.float64)
        if X is None:
            raise ValueError(f"{type(estimator).__name__} does not keep its data; pass X")
        if len(X) != len(labels):
            raise ValueError(f"X has {len(X)} rows, but the estimator was fitted on {len(labels)}")
        names = getattr(estimator, "feature_names_in_", None)
        coordinates, axis_names = project(X, None if names is None else [str(n) for n in names])
        rows = np.arange(len(X))
        if len(X) > MAX_POINTS:
            rows = np.sort(generator(0, "display sample").choice(rows, MAX_POINTS, replace=False))
        display = cls(
            coordinates=coordinates[rows],
            labels=np.asarray(labels)[rows],
            point_stability=None if stability is None else np.asarray(stability)[rows],
            axis_names=axis_names,
            rows=rows,
            n_total=len(X),
        )
        return display.plot(ax=ax)

    def _draw(self, ax: Any) -> None:
        colors = category_colors()
        clusters = [label for label in np.unique(self.labels).tolist() if label >= 0]
        alpha = np.ones(len(self.labels))
        if self.point_stability is not None:
            alpha = 0.15 + 0.85 * np.clip(self.point_stability, 0.0, 1.0)
        self.collections_: dict[int, Any] = {}
        for place, label in enumerate(clusters):
            here = self.labels == label
            color = colors[place % len(colors)]
            marker = MARKERS[place // len(colors) % len(MARKERS)]
            self.collections_[label] = ax.scatter(
                *self.coordinates[here].T,
                color=color,
                marker=marker,
                alpha=alpha[here],
                linewidths=0,
            )
            if len(clusters) <= MAX_NAMED:
                # An empty scatter gives the legend an entry that is not transparent.
                ax.scatter([], [], color=color, marker=marker, label=f"cluster {label}")
        if (self.labels < 0).any():
            here = self.labels < 0
            self.collections_[-1] = ax.scatter(
                *self.coordinates[here].T, color="0.5", marker="x", label="noise"
            )
        if ax.get_legend_handles_labels()[1]:
            ax.legend()
        # Column names are data: a dollar sign in them does not start a formula.
        ax.set_xlabel(self.axis_names[0], parse_math=False)
        ax.set_ylabel(self.axis_names[1], parse_math=False)
        if not self.axis_names[1] and self.axis_names[0]:
            ax.set_yticks([])
        title = f"{len(clusters)} cluster{'s' if len(clusters) != 1 else ''}"
        if len(self.labels) < self.n_total:
            title += f" ({len(self.labels):,} of {self.n_total:,} points drawn)"
        ax.set_title(title)

    def _columns(self) -> dict[str, Any]:
        return {
            "row": self.rows,
            "x": self.coordinates[:, 0],
            "y": self.coordinates[:, 1],
            "label": self.labels,
            "stability": np.nan if self.point_stability is None else self.point_stability,
        }
