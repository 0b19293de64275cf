"""Plot of the structure test: the data beside simulated data without clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import cycle
from typing import TYPE_CHECKING, Any, Self

from stablek.display.base import SelectorDisplay, category_colors, check_fitted
from stablek.inspection import pvalue_text
from stablek.results import StructureTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["StructureTestDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class StructureTestDisplay(SelectorDisplay):
    """Statistic and valley of the structure test beside those of the reference sets, by kind.

    The data have a diamond for each kind, and each reference set has a dot. Structure is found if
    the diamonds lie far to the right of the dots of every kind, or far above them. The largest
    p-value counts.

    Parameters
    ----------
    statistics : dict of str to float
        Statistic of the data against each kind of reference sets.
    reference_statistics : dict of str to array-like
        Statistics of the reference sets of each kind.
    valley : float
        Valley of the data.
    reference_valleys : dict of str to array-like
        Valleys of the reference sets of each kind.
    pvalues : dict of str to float
    alpha : float, default=0.05
        Level of the test.

    Attributes
    ----------
    ax_ : Axes
    figure_ : Figure
    points_ : PathCollection
        The data, one point for each kind.
    reference_points_ : dict
        From a kind to the points of its reference sets.

    Examples
    --------
    >>> display = StructureTestDisplay(
    ...     statistics={"box": 0.3}, reference_statistics={"box": [0.1, 0.2, 0.1]},
    ...     valley=0.9, reference_valleys={"box": [0.5, 0.4, 0.6]}, pvalues={"box": 0.04})
    >>> display.frame()["statistic"].tolist()
    [0.3, 0.1, 0.2, 0.1]
    """

    statistics: Mapping[str, float]
    reference_statistics: Mapping[str, Any]
    valley: float
    reference_valleys: Mapping[str, Any]
    pvalues: Mapping[str, float]
    alpha: float = 0.05

    needs = "structure_test_"

    @classmethod
    def from_test(cls, test: StructureTest, *, ax: Axes | None = None) -> Self:
        """Draw the result of `stablek.structure_test`.

        Parameters
        ----------
        test : StructureTest
        ax : Axes, default=None
            As for ``plot``.

        Returns
        -------
        StructureTestDisplay
        """
        display = cls(
            statistics=test.statistics,
            reference_statistics=test.reference_statistics,
            valley=test.valley,
            reference_valleys=test.reference_valleys,
            pvalues=test.pvalues,
            alpha=test.alpha,
        )
        return display.plot(ax=ax)

    @classmethod
    def from_estimator(cls, estimator: Any, *, ax: Any = None) -> Self:
        """Draw the structure test of a fitted `stablek.Stadion`.

        Parameters
        ----------
        estimator : Stadion
            Fitted with ``one_cluster="test"``.
        ax : Axes, default=None
            As for ``plot``.

        Returns
        -------
        StructureTestDisplay
        """
        check_fitted(estimator, cls.needs, cls)
        if estimator.structure_test_ is None:
            raise ValueError(
                "No structure test was made; fit with one_cluster='test' and some K above 1, or "
                "use stablek.structure_test"
            )
        return cls.from_test(estimator.structure_test_, ax=ax)

    def _draw(self, ax: Any) -> None:
        colors = dict(zip(self.statistics, cycle(category_colors())))
        self.reference_points_ = {
            kind: ax.scatter(
                self.reference_statistics[kind],
                self.reference_valleys[kind],
                color=color,
                alpha=0.6,
                label=f"{kind}: {pvalue_text(self.pvalues[kind])}",
            )
            for kind, color in colors.items()
        }
        self.points_ = ax.scatter(
            list(self.statistics.values()),
            [self.valley] * len(colors),
            color=list(colors.values()),
            edgecolor="black",
            marker="D",
            s=80,
            zorder=3,
        )
        pvalue = max(self.pvalues.values())
        verdict = "cluster structure" if pvalue <= self.alpha else "no cluster structure found"
        ax.set_title(f"Structure test: {verdict} ({pvalue_text(pvalue)})")
        ax.set(xlabel="excess stability", ylabel="valley between two halves")
        ax.scatter([], [], marker="D", color="none", edgecolor="black", label="the data")
        ax.legend(title="data without clusters")

    def _columns(self) -> dict[str, Any]:
        rows = [
            (kind, source, float(statistic), float(valley), self.pvalues[kind])
            for kind in self.statistics
            for source, statistics, valleys in (
                ("data", [self.statistics[kind]], [self.valley]),
                ("reference set", self.reference_statistics[kind], self.reference_valleys[kind]),
            )
            for statistic, valley in zip(statistics, valleys, strict=True)
        ]
        names = ("kind", "source", "statistic", "valley", "pvalue")
        return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
