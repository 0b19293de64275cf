"""Critical-difference diagram: which methods differ on many data sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from stablek.display.base import Display, category_colors, import_pyplot
from stablek.ranking import Ranking, rank_methods

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CriticalDifferenceDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class CriticalDifferenceDisplay(Display):
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

    ranking: Ranking

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

    def _new_axes(self) -> Any:
        """Make a figure with room for all names."""
        plt = import_pyplot()
        width, _ = plt.rcParams["figure.figsize"]
        line = 2.0 * plt.rcParams["font.size"] / 72
        size = (1.4 * width, line * (self._depth() + 3))
        return plt.subplots(figsize=size, layout="constrained")[1]

    def _depth(self) -> float:
        """Return the height in lines of text. A bar takes half a line."""
        return 1.0 + 0.5 * len(self.ranking.cliques) + (len(self.ranking.methods) + 1) // 2

    def _draw(self, ax: Any) -> None:
        style = import_pyplot().rcParams
        ranks = self.ranking.average_ranks
        n_methods, half, depth = len(ranks), (len(ranks) + 1) // 2, self._depth()
        left_edge, right_edge = 1 - 0.02 * n_methods, 1.02 * n_methods
        ax.set(xlim=(left_edge, right_edge), ylim=(depth, 0))
        ax.spines[["left", "right", "bottom"]].set_visible(False)
        ax.xaxis.tick_top()
        ax.xaxis.set_label_position("top")
        ax.set_xticks(range(1, n_methods + 1))
        ax.set_yticks([])
        ax.set_xlabel("average rank (1 is best)")

        for place, method in enumerate(np.argsort(ranks, kind="stable")):
            left = place < half
            height = depth - half + (place if left else n_methods - 1 - place)
            edge = left_edge if left else right_edge
            ax.plot(
                [ranks[method]] * 2 + [edge], [0, height, height], color=style["axes.edgecolor"]
            )
            name, value = self.ranking.methods[method], f"{ranks[method]:.2f}"
            ax.annotate(
                f"{name}  {value} " if left else f" {value}  {name}",
                (edge, height),
                ha="right" if left else "left",
                va="center",
                annotation_clip=False,
                parse_math=False,
            )
        self.bars_ = []
        groups = [ranks[list(clique)] for clique in self.ranking.cliques]
        for row, ends in enumerate(sorted(groups, key=np.min)):
            (bar,) = ax.plot(
                [ends.min() - 0.03, ends.max() + 0.03],
                [0.5 + 0.5 * row] * 2,
                color=category_colors()[0],
                linewidth=3 * style["lines.linewidth"],
                solid_capstyle="butt",
            )
            self.bars_.append(bar)
        ax.set_title(self._verdict())

    def _verdict(self) -> str:
        ranking = self.ranking
        if np.isnan(ranking.friedman_pvalue):
            return f"Wilcoxon signed-rank over {ranking.n_datasets} data sets"
        verdict = "" if ranking.rejected else ": no difference shown"
        return (
            f"Friedman p = {ranking.friedman_pvalue:.2g} over "
            f"{ranking.n_datasets} data sets{verdict}"
        )

    def _columns(self) -> dict[str, Any]:
        ranking = self.ranking
        order = np.argsort(ranking.average_ranks, kind="stable")
        return {
            "method": [ranking.methods[method] for method in order],
            "average_rank": ranking.average_ranks[order],
            **{
                f"p vs {name}": ranking.pvalues[order, j] for j, name in enumerate(ranking.methods)
            },
        }
