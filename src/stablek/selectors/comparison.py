"""The table that `stablek.compare` returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from html import escape
from typing import Any, Literal

import numpy as np

from stablek import validation
from stablek.inspection import pvalue_text
from stablek.results import StructureTest
from stablek.selectors.assumptions import advice
from stablek.selectors.base import BaseSelector

__all__ = ["Comparison", "ComparisonRow"]


@dataclass(frozen=True)
class ComparisonRow:
    """What one method says about the partitions of one clusterer.

    Parameters
    ----------
    clusterer, method : str
        Names.
    n_clusters : int or None
        The answer; None for an abstention.
    score : float
        Score of the answer, on the method's own scale; NaN without an answer.
    own_value : float
        The quantity behind the score if that is not the score itself: the index that a method
        minimizes, or the inertia; else NaN.
    seconds : float
        Time of the method, without that of the reference partitions.
    agreement : float
        Mean adjusted Rand index with the partitions that the other methods chose.
    stadion_agreement : float
        Adjusted Rand index with the partition that Stadion chose.
    rows : str
        Which rows the method used: "all" in memory; of data in blocks all, or a sample, with
        their number.
    abstention : str or None
        Why there is no answer.
    selector : selector or None
        The fitted selector; None if the method is not defined.
    """

    clusterer: str
    method: str
    n_clusters: int | None = None
    score: float = np.nan
    own_value: float = np.nan
    seconds: float = 0.0
    agreement: float = np.nan
    stadion_agreement: float = np.nan
    rows: str = "all"
    abstention: str | None = None
    selector: BaseSelector | None = None


_COLUMNS = tuple(field.name for field in fields(ComparisonRow) if field.name != "selector")


@dataclass(frozen=True, repr=False)
class Comparison:
    """Answers of several methods, for one or more clusterers.

    Parameters
    ----------
    rows : tuple of ComparisonRow
        Sorted by clusterer; the methods of each are in the order of the call.
    reference_seconds : dict of str to float
        Time of each clusterer's reference partitions.
    """

    rows: tuple[ComparisonRow, ...]
    reference_seconds: Mapping[str, float]

    def __iter__(self) -> Iterator[ComparisonRow]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def row(self, method: str, clusterer: str | None = None) -> ComparisonRow:
        """Row of one method. With several clusterers, name the clusterer too."""
        found = [
            row for row in self.rows if row.method == method and clusterer in (None, row.clusterer)
        ]
        if len(found) == 1:
            return found[0]
        methods = list(dict.fromkeys(row.method for row in self.rows))
        raise KeyError(
            f"{len(found)} rows for method={method!r}, clusterer={clusterer!r}; methods are "
            f"{methods}, clusterers {list(self.reference_seconds)}"
        )

    @property
    def best(self) -> ComparisonRow:
        """The row of Stadion with the best score: which clusterer, and which K.

        Rows without a score, in which the structure test found nothing, are the best only if there
        are no others. The first of them counts.
        """
        rows = [row for row in self.rows if row.method == "stadion"]
        if not rows:
            raise ValueError(
                "best needs 'stadion' among the methods: only its scores are "
                "comparable between clusterers"
            )
        return max(rows, key=lambda row: -np.inf if np.isnan(row.score) else row.score)

    @property
    def structure_tests(self) -> dict[str, StructureTest]:
        """The structure test of each clusterer, if Stadion made one."""
        tests: dict[str, StructureTest] = {}
        for row in self.rows:
            test = getattr(row.selector, "structure_test_", None)
            if test is not None:
                tests.setdefault(row.clusterer, test)
        return tests

    @property
    def structure_pvalue(self) -> float:
        """The smallest p-value of the structure tests; NaN without any."""
        return min((test.pvalue for test in self.structure_tests.values()), default=np.nan)

    @property
    def header(self) -> str:
        """What the structure tests found; empty without any."""
        tests = self.structure_tests
        if not tests:
            return ""
        texts = {name: pvalue_text(test.pvalue) for name, test in tests.items()}
        said = list(dict.fromkeys(texts.values()))
        if len(said) > 1:
            said = [f"{text} for {name}" for name, text in texts.items()]
        found = any(test.rejected for test in tests.values())
        return f"Structure test: {', '.join(said)}; {'' if found else 'no '}clusters found"

    @property
    def advice(self) -> list[str]:
        """What differs between several clusterers, and whether the choice is clear; in words.

        Only Stadion's scores compare across clusterers, so without its rows this is empty.
        """
        return advice([row for row in self.rows if row.method == "stadion"])

    def votes(self, clusterer: str | None = None) -> dict[int, int]:
        """Number of methods that chose each K, the most frequent first."""
        chosen = [
            row.n_clusters
            for row in self.rows
            if row.n_clusters is not None and clusterer in (None, row.clusterer)
        ]
        counts = {k: chosen.count(k) for k in sorted(set(chosen))}
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    def frame(self, library: Literal["pandas", "polars"] = "pandas") -> Any:
        """The table as a data frame.

        Parameters
        ----------
        library : {"pandas", "polars"}, default="pandas"

        Returns
        -------
        pandas.DataFrame or polars.DataFrame
        """
        validation.check_choice("library", library, ["pandas", "polars"])
        columns = {name: [getattr(row, name) for row in self.rows] for name in _COLUMNS}
        if library == "pandas":
            import pandas as pd

            return pd.DataFrame(columns).astype({"n_clusters": "Int64"})
        import polars as pl

        return pl.DataFrame(columns, schema_overrides={"n_clusters": pl.Int64})

    @property
    def in_blocks(self) -> bool:
        """Whether the data were read in blocks, so that methods may have used different rows."""
        return any(row.rows != "all" for row in self.rows)

    def _cells(self) -> list[list[str]]:
        """Header and rows of the table that is shown."""
        names = [name for name in _COLUMNS if name != "rows" or self.in_blocks]
        cells = [[_text(getattr(row, name)) for name in names] for row in self.rows]
        return [names, *cells]

    def __repr__(self) -> str:
        table = self._cells()
        widths = [max(len(row[i]) for row in table) for i in range(len(table[0]))]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
            for row in table
        ]
        return "\n".join([*([self.header] if self.header else []), *lines, *self.advice])

    def _repr_html_(self) -> str:
        names, *cells = self._cells()
        head = "".join(f"<th>{name}</th>" for name in names)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row) + "</tr>" for row in cells
        )
        header = f"<p>{escape(self.header)}</p>" if self.header else ""
        words = "".join(f"<li>{escape(sentence)}</li>" for sentence in self.advice)
        words = f"<ul>{words}</ul>" if words else ""
        return f"{header}{words}<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _text(value: Any) -> str:
    if value is None:
        return ""
    return f"{value:.4g}" if isinstance(value, float) else str(value)
