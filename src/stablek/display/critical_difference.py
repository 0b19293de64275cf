"""Critical-difference diagram: which methods differ on many data sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from stablek.display.base import category_colors, import_pyplot
from stablek.ranking import Ranking, rank_methods

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes

__all__ = ["CriticalDifferenceDisplay"]


class CriticalDifferenceDisplay:
    """Average ranks of methods, the best on the left. A bar joins methods that do not differ.

    Parameters
    ----------
    ranking : Ranking
        From `stablek.ranking.rank_methods`.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    bars_ : list of Line2D
        One for each set of methods without a significant difference.

    Examples
    --------
    >>> from stablek.ranking import rank_methods
    >>> scores = [[0.9, 0.5, 0.1], [0.8, 0.6, 0.3], [0.7, 0.6, 0.2], [0.9, 0.8, 0.1]]
    >>> display = CriticalDifferenceDisplay(ranking=rank_methods(scores, ["a", "b", "c"]))
    >>> display.frame()["average_rank"].tolist()
    [1.0, 2.0, 3.0]
    """

    def __init__(self, *, ranking: Ranking) -> None:
        self.ranking = ranking

    @classmethod
    def from_scores(
        cls,
        scores: Any,
        methods: Sequence[str] | None = None,
        *,
        alpha: float = 0.05,
        zero_method: Literal["pratt", "wilcox"] = "pratt",
        ax: Axes | None = None,
    ) -> Self:
        """Compare methods and draw.

        Parameters
        ----------
        scores : array-like or data frame of shape (n_datasets, n_methods)
            Higher is better.
        methods : sequence of str, default=None
            Names. None uses the columns of the frame.
        alpha : float, default=0.05
        zero_method : {"pratt", "wilcox"}, default="pratt"
        ax : Axes, default=None

        Returns
        -------
        CriticalDifferenceDisplay
        """
        ranking = rank_methods(scores, methods, alpha=alpha, zero_method=zero_method)
        return cls(ranking=ranking).plot(ax=ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw.

        Parameters
        ----------
        ax : Axes, default=None
            None makes a new figure with room for all names.

        Returns
        -------
        self
        """
        plt = import_pyplot()
        ranks = self.ranking.average_ranks
        order = np.argsort(ranks, kind="stable")
        n_methods, half = len(ranks), (len(ranks) + 1) // 2
        # One unit of height is one line of text. A bar takes half a line.
        bars = sorted(self.ranking.cliques, key=lambda clique: ranks[list(clique)].min())
        first_name = 1.0 + 0.5 * len(bars)
        depth = first_name + half
        if ax is None:
            width, _ = plt.rcParams["figure.figsize"]
            line = 2.0 * plt.rcParams["font.size"] / 72
            _, ax = plt.subplots(figsize=(1.4 * width, line * (depth + 3)), layout="constrained")
        self.ax_, self.figure_ = ax, ax.figure
        color = plt.rcParams["axes.edgecolor"]

        ax.set(xlim=(1 - 0.02 * n_methods, 1.02 * n_methods), ylim=(depth, 0))
        ax.spines[["left", "right", "bottom"]].set_visible(False)
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("top")
        ax.set_xticks(range(1, n_methods + 1))
        ax.set_yticks([])
        ax.set_xlabel("average rank (1 is best)")

        for place, method in enumerate(order):
            left = place < half
            height = first_name + (place if left else n_methods - 1 - place)
            edge = 1 - 0.02 * n_methods if left else 1.02 * n_methods
            ax.plot([ranks[method]] * 2 + [edge], [0, height, height], color=color)
            name = self.ranking.methods[method]
            value = f"{ranks[method]:.2f}"
            ax.annotate(
                f"{name}  {value} " if left else f" {value}  {name}",
                (edge, height),
                ha="right" if left else "left",
                va="center",
                annotation_clip=False,
                parse_math=False,
            )
        width = plt.rcParams["lines.linewidth"]
        self.bars_ = []
        for row, clique in enumerate(bars):
            ends = ranks[list(clique)]
            (bar,) = ax.plot(
                [ends.min() - 0.03, ends.max() + 0.03],
                [0.5 + 0.5 * row] * 2,
                color=category_colors()[0],
                linewidth=3 * width,
                solid_capstyle="butt",
            )
            self.bars_.append(bar)
        ax.set_title(self._verdict())
        return self

    def _verdict(self) -> str:
        ranking = self.ranking
        if np.isnan(ranking.friedman_pvalue):
            return f"Wilcoxon signed-rank over {ranking.n_datasets} data sets"
        verdict = "" if ranking.rejected else ": no difference shown"
        return (
            f"Friedman p = {ranking.friedman_pvalue:.2g} over "
            f"{ranking.n_datasets} data sets{verdict}"
        )

    def frame(self) -> pd.DataFrame:
        """Return the average ranks, and the adjusted p-values of all pairs of methods."""
        import pandas as pd

        frame = pd.DataFrame(
            {"method": self.ranking.methods, "average_rank": self.ranking.average_ranks}
        )
        for column, name in enumerate(self.ranking.methods):
            frame[f"p vs {name}"] = self.ranking.pvalues[:, column]
        return frame.sort_values("average_rank", kind="stable", ignore_index=True)
