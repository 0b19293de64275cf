"""Plot of the structure test: the data beside simulated data without clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from stablek.display.base import SelectorDisplay, category_colors, check_fitted
from stablek.inspection import pvalue_text
from stablek.results import StructureTest

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["StructureTestDisplay"]


@dataclass(kw_only=True, eq=False, repr=False)
class StructureTestDisplay(SelectorDisplay):
    """Statistic of the structure test beside the statistics of the reference sets, by kind.

    The data have a diamond, and each reference set has a dot. Structure is found if the diamonds
    lie far to the right of the dots of every kind. The largest p-value counts.

    Parameters
    ----------
    statistics : dict of str to float
        Statistic of the data against each kind of reference sets.
    reference_statistics : dict of str to array-like
        Statistics of the reference sets of each kind.
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
    ...     pvalues={"box": 0.04})
    >>> display.frame()["statistic"].tolist()
    [0.3, 0.1, 0.2, 0.1]
    """

    statistics: Mapping[str, float]
    reference_statistics: Mapping[str, Any]
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
        color, highlight, *_ = [*category_colors(), *category_colors()]
        kinds = list(self.statistics)
        self.reference_points_ = {
            kind: ax.scatter(
                self.reference_statistics[kind],
                np.full(len(self.reference_statistics[kind]), row),
                color=color,
                alpha=0.6,
                label="data without clusters" if row == 0 else "_",
            )
            for row, kind in enumerate(kinds)
        }
        self.points_ = ax.scatter(
            list(self.statistics.values()),
            range(len(kinds)),
            color=highlight,
            marker="D",
            s=80,
            label="the data",
            zorder=3,
        )
        names = [f"{kind}\n{pvalue_text(self.pvalues[kind])}" for kind in kinds]
        ax.set_yticks(range(len(kinds)), names, parse_math=False)
        pvalue = max(self.pvalues.values())
        verdict = "cluster structure" if pvalue <= self.alpha else "no cluster structure found"
        ax.set_title(f"Structure test: {verdict} ({pvalue_text(pvalue)})")
        # The first kind is at the top.
        ax.set(xlabel="excess stability", ylim=(len(kinds) - 0.5, -0.5))
        ax.legend()

    def _columns(self) -> dict[str, Any]:
        rows = [
            (kind, source, float(statistic), self.pvalues[kind])
            for kind in self.statistics
            for source, values in (
                ("data", [self.statistics[kind]]),
                ("reference set", self.reference_statistics[kind]),
            )
            for statistic in values
        ]
        names = ("kind", "source", "statistic", "pvalue")
        return dict(zip(names, map(list, zip(*rows, strict=True)), strict=True))
