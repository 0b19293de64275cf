"""Experiment 2, beyond the paper: do the methods of Table 1 differ significantly?"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

import pandas as pd
from scipy import stats

from stablek.display import CriticalDifferenceDisplay
from stablek.ranking import Ranking, rank_methods
from study.protocol import Protocol
from study.report import paper, scores
from study.report.blocks import Block, Drawing, Table
from study.report.table1 import COMPARED, main_methods

TITLE = "Beyond the paper: tests between the methods"


def section(frame: pd.DataFrame, protocol: Protocol) -> Iterator[Block]:
    """All blocks: Friedman, Wilcoxon-Holm, critical differences, sign tests."""
    rows = scores.judged(frame[frame["experiment"] == "table1"])
    yield (
        "All tests use the ARI of seed 0 and a level of 5%. The first is Friedman's test. Where "
        "it rejects, Wilcoxon's signed-rank test compares every pair (Pratt's treatment of ties, "
        "Holm's correction). A bar in a diagram joins methods that do not differ. The oracle is "
        "left out."
    )
    summary, differing = [], []
    for algorithm in COMPARED:
        table = scores.complete(scores.wide(rows, algorithm, main_methods(algorithm)[1:]))
        if table.shape[1] < 3 or len(table) < 2:
            continue
        ranking = rank_methods(table, [paper.title(each) for each in table.columns])
        name = paper.ALGORITHMS[algorithm]
        count = f"{table.shape[1]} methods, {len(table)} data sets"
        summary.append([name, count, ranking.friedman_statistic, ranking.friedman_pvalue])
        differing += [[name, *each] for each in _pairs(ranking)]
        caption = f"Critical differences, {name}."
        yield Drawing(f"differences_{algorithm}", caption, _diagram(ranking))
    columns = ("algorithm", "compared", "Friedman's statistic", "p")
    yield Table("friedman", "Friedman's test between the methods", columns, summary)
    columns = ("algorithm", "better", "worse", "p, Holm")
    note = "No other pair with a Stadion row differs at 5%."
    title = "Pairs with a Stadion row that differ"
    yield Table("differences", title, columns, differing, note)
    yield from _sign_tests(rows)


def _diagram(ranking: Ranking) -> Any:
    return lambda: CriticalDifferenceDisplay(ranking=ranking).plot().figure_


def _pairs(ranking: Ranking) -> Iterator[list[Any]]:
    for pair in combinations(range(len(ranking.methods)), 2):
        better, worse = sorted(pair, key=lambda method: ranking.average_ranks[method])
        names = ranking.methods[better], ranking.methods[worse]
        p = float(ranking.pvalues[pair])
        if p <= ranking.alpha and any("Stadion" in name for name in names):
            yield [*names, p]


def _sign_tests(rows: pd.DataFrame) -> Iterator[Table]:
    """Compare Stadion with Wemmert-Gançarski, the best index in the paper."""
    body = []
    rival = "wemmert_gancarski"
    for algorithm in COMPARED:
        for method in main_methods(algorithm):
            table = scores.wide(rows, algorithm, [method, rival]).dropna()
            wins = scores.wide(rows, algorithm, [method, rival], value="win").dropna()
            if not method.startswith("stadion") or table.shape[1] < 2 or not len(table):
                continue
            name = f"{paper.ALGORITHMS[algorithm]}, {paper.title(method)}"
            body.append([name, *sign_test(table[method], table[rival]), "ARI"])
            body.append([name, *sign_test(wins[method], wins[rival]), "finding K*"])
    columns = ("Stadion", "better", "equal", "worse", "p", "by")
    yield Table("sign_tests", "Sign tests against Wemmert-Gançarski", columns, body)


def sign_test(ours: pd.Series, theirs: pd.Series) -> tuple[int, int, int, float]:
    """Numbers of better, equal and worse results, and the two-sided p of the exact sign test."""
    difference = ours.astype(float) - theirs.astype(float)
    better, worse = int((difference > 0).sum()), int((difference < 0).sum())
    p = stats.binomtest(better, better + worse).pvalue if better + worse else 1.0
    return better, len(difference) - better - worse, worse, float(p)
