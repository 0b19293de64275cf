"""Compare methods over many data sets: average ranks, Friedman, Wilcoxon with Holm, cliques."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy import stats

__all__ = [
    "Ranking",
    "average_ranks",
    "cliques",
    "friedman",
    "holm",
    "rank_methods",
    "wilcoxon",
    "wilcoxon_pairs",
]

Floats = NDArray[np.float64]
ZeroMethod = Literal["pratt", "wilcox"]

MAX_EXACT = 50
"""Signed-rank p-values are exact up to this number of data sets."""


@dataclass(frozen=True)
class Ranking:
    """The result of a comparison of methods over data sets.

    Parameters
    ----------
    methods : tuple of str
        Names, in the order of the score table's columns.
    average_ranks : ndarray of shape (n_methods,)
        Rank 1 is best; ties share their mean rank.
    friedman_statistic, friedman_pvalue : float
        Test of the hypothesis that all methods perform equally; NaN for two methods.
    pvalues : ndarray of shape (n_methods, n_methods)
        Wilcoxon signed-rank p-values, adjusted by Holm; 1 on the diagonal.
    cliques : tuple of tuples of int
        Maximal sets of methods without a significant difference between any two.
    alpha : float
        Significance level of both tests.
    n_datasets : int
        Number of data sets.
    """

    methods: tuple[str, ...]
    average_ranks: Floats
    friedman_statistic: float
    friedman_pvalue: float
    pvalues: Floats
    cliques: tuple[tuple[int, ...], ...]
    alpha: float
    n_datasets: int

    @property
    def rejected(self) -> bool:
        """Whether the methods differ at all. If not, no pair is called different."""
        return not self.friedman_pvalue >= self.alpha


def rank_methods(
    scores: Any,
    methods: Sequence[str] | None = None,
    *,
    alpha: float = 0.05,
    zero_method: ZeroMethod = "pratt",
) -> Ranking:
    """Compare methods by their scores on many data sets.

    Parameters
    ----------
    scores : array-like or data frame of shape (n_datasets, n_methods)
        Higher is better. A failed method needs a score too.
    methods : sequence of str, default=None
        Names. None uses the columns of a data frame, else numbers.
    alpha : float, default=0.05
        Significance level.
    zero_method : {"pratt", "wilcox"}, default="pratt"
        Whether equal scores count in the signed ranks ("pratt") or are left out ("wilcox").

    Returns
    -------
    Ranking

    Examples
    --------
    >>> scores = [[0.9, 0.5, 0.1], [0.8, 0.6, 0.3], [0.7, 0.6, 0.2], [0.9, 0.8, 0.1]]
    >>> ranking = rank_methods(scores, ["a", "b", "c"])
    >>> ranking.average_ranks.tolist()
    [1.0, 2.0, 3.0]
    >>> ranking.rejected
    True
    """
    if methods is None:
        columns = getattr(scores, "columns", None)
        names = None if columns is None else tuple(str(name) for name in columns)
    else:
        names = tuple(str(name) for name in methods)
    table = np.asarray(scores, dtype=np.float64)
    if names is None and table.ndim == 2:
        names = tuple(str(column) for column in range(table.shape[1]))
    names = _check(table, names or (), alpha)

    n_methods = len(names)
    statistic, pvalue = friedman(table) if n_methods > 2 else (np.nan, np.nan)
    pvalues = np.ones((n_methods, n_methods))
    if not pvalue >= alpha:
        pairs = list(combinations(range(n_methods), 2))
        for (i, j), p in zip(pairs, holm(wilcoxon_pairs(table, zero_method)), strict=True):
            pvalues[i, j] = pvalues[j, i] = p
    return Ranking(
        methods=names,
        average_ranks=average_ranks(table),
        friedman_statistic=statistic,
        friedman_pvalue=pvalue,
        pvalues=pvalues,
        cliques=cliques(pvalues > alpha),
        alpha=alpha,
        n_datasets=len(table),
    )


def average_ranks(scores: Floats) -> Floats:
    """Mean rank of each column. The highest score of a row has rank 1; ties share their mean rank.

    Examples
    --------
    >>> average_ranks(np.array([[0.9, 0.1], [0.5, 0.5]])).tolist()
    [1.25, 1.75]
    """
    return np.asarray(stats.rankdata(-scores, axis=1).mean(axis=0))


def friedman(scores: Floats) -> tuple[float, float]:
    """Friedman statistic, corrected for ties, and its p-value; (0, 1) if every row is constant."""
    if (scores == scores[:, :1]).all():
        return 0.0, 1.0
    result = stats.friedmanchisquare(*scores.T)
    return float(result.statistic), float(result.pvalue)


def wilcoxon_pairs(scores: Floats, zero_method: ZeroMethod = "pratt") -> Floats:
    """Two-sided Wilcoxon signed-rank p-values of the pairs of columns (0, 1), (0, 2), ..."""
    pairs = combinations(range(scores.shape[1]), 2)
    # Rounding makes equal differences of decimal scores ties.
    return np.array(
        [wilcoxon(np.round(scores[:, i] - scores[:, j], 12), zero_method) for i, j in pairs]
    )


def wilcoxon(difference: Floats, zero_method: ZeroMethod = "pratt") -> float:
    """Two-sided Wilcoxon signed-rank p-value; 1 if all differences are 0.

    It is exact for up to `MAX_EXACT` differences, with or without ties and zeros. SciPy's test is
    exact only without ties and zeros, so it serves only for more differences, where this is the
    normal approximation.

    Examples
    --------
    >>> wilcoxon(np.array([1.0, 2.0, 3.0, 4.0, 5.0]))
    0.0625
    """
    if not difference.any():
        return 1.0
    if len(difference) > MAX_EXACT:
        return float(stats.wilcoxon(difference, zero_method=zero_method).pvalue)
    if zero_method == "wilcox":
        difference = difference[difference != 0]
    # The mean rank of a tie is a multiple of 1/2, so twice a rank is an integer.
    doubled = np.round(2 * stats.rankdata(np.abs(difference))).astype(int)
    doubled, positive = doubled[difference != 0], difference[difference != 0] > 0
    # Probability of each sum of positive ranks, if both signs are equally likely.
    chance = np.ones(1)
    for rank in doubled:
        shifted = np.concatenate([np.zeros(rank), chance])
        chance = (shifted + np.concatenate([chance, np.zeros(rank)])) / 2
    observed = int(doubled[positive].sum())
    tails = chance[: observed + 1].sum(), chance[observed:].sum()
    return float(min(1.0, 2 * min(tails)))


def holm(pvalues: Floats) -> Floats:
    """Adjust p-values by Holm's step-down rule.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(pvalues, kind="stable")
    steps = np.arange(len(pvalues), 0, -1)
    adjusted = np.empty_like(pvalues)
    adjusted[order] = np.minimum(np.maximum.accumulate(steps * pvalues[order]), 1.0)
    return adjusted


def cliques(linked: NDArray[np.bool_]) -> tuple[tuple[int, ...], ...]:
    """Maximal cliques of two or more nodes, in lexical order (Bron and Kerbosch).

    Parameters
    ----------
    linked : ndarray of bool of shape (n, n)
        Symmetric. The diagonal is ignored.

    Examples
    --------
    >>> linked = np.array([[1, 1, 0], [1, 1, 1], [0, 1, 1]], dtype=bool)
    >>> cliques(linked)
    ((0, 1), (1, 2))
    """
    neighbors = [set(np.flatnonzero(row).tolist()) - {node} for node, row in enumerate(linked)]
    found: list[tuple[int, ...]] = []

    def grow(clique: set[int], open_: set[int], done: set[int]) -> None:
        if not open_ and not done and len(clique) > 1:
            found.append(tuple(sorted(clique)))
        if not open_:
            return
        pivot = max(open_ | done, key=lambda node: len(neighbors[node] & open_))
        for node in sorted(open_ - neighbors[pivot]):
            grow(clique | {node}, open_ & neighbors[node], done & neighbors[node])
            open_ = open_ - {node}
            done = done | {node}

    grow(set(), set(range(len(linked))), set())
    return tuple(sorted(found))


def _check(table: Floats, names: tuple[str, ...], alpha: float) -> tuple[str, ...]:
    if table.ndim != 2 or table.shape[0] < 2 or table.shape[1] < 2:
        raise ValueError(
            f"scores must have a row for each of two or more data sets and a column for each of "
            f"two or more methods, got shape {table.shape}"
        )
    if len(names) != table.shape[1]:
        raise ValueError(f"methods has {len(names)} names for {table.shape[1]} columns of scores")
    if not np.isfinite(table).all():
        row, column = np.argwhere(~np.isfinite(table))[0]
        raise ValueError(
            f"scores must be finite, got {table[row, column]} for {names[column]!r} on data set "
            f"{row}; give a failed method the score of the one-cluster partition"
        )
    if not 0 < alpha < 1:
        raise ValueError(f"alpha must be between 0 and 1, got {alpha!r}")
    return names
