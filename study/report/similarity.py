"""Sixteen similarity measures, inside Stadion and as measures of success."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
from scipy import stats

from study.experiments.similarity import EXTERNAL
from study.protocol import Protocol
from study.report import paper, scores
from study.report.blocks import Block, Table
from study.report.significance import sign_test
from study.report.table1 import main_methods

TITLE = "Similarity measures"


def section(frame: pd.DataFrame, protocol: Protocol) -> Iterator[Block]:
    """All blocks about both uses of the measures."""
    rows = frame[frame["experiment"] == "similarity"]
    if not len(rows):
        return
    yield (
        "The paper compared 16 measures as the similarity inside Stadion. It neither names them "
        "nor shows the comparison. It also says that the ranking of the methods hardly changes "
        "when another measure than the ARI measures success. We use the ARI, the NMI and the "
        "fourteen external criteria of clusterCrit, with K-means and the extended version."
    )
    external = rows[rows["method"] == EXTERNAL].set_index("dataset")["details"]
    yield _inside(rows, external, protocol.measures)
    yield from _success(frame, external, protocol.measures)


def _inside(rows: pd.DataFrame, external: pd.Series, measures: tuple[str, ...]) -> Table:
    """Wins of Stadion with each measure, compared with the ARI, and ranks among the measures."""
    truth = rows[rows["method"] == EXTERNAL].set_index("dataset")["k"]
    answers = rows[rows["method"] != EXTERNAL]
    answers = answers[answers["dataset"].isin(external.index)].copy()
    answers["ari"] = [
        external[dataset]["ari"][k - 1]
        for dataset, k in zip(answers["dataset"], answers["k"], strict=True)
    ]
    answers["win"] = [
        k == truth[dataset] for dataset, k in zip(answers["dataset"], answers["k"], strict=True)
    ]
    body = []
    tables = {}
    for aggregation in ("max", "mean"):
        methods = [f"{measure}_{aggregation}" for measure in measures]
        tables[aggregation] = scores.wide(answers.assign(algorithm=""), "", methods)
    wins = answers.pivot(index="dataset", columns="method", values="win").astype(float)
    for measure in measures:
        row: list = [measure]
        for aggregation, table in tables.items():
            method = f"{measure}_{aggregation}"
            own = answers[answers["method"] == method]
            full = scores.complete(table)
            rank = scores.average_ranks(full).get(method) if len(full) else None
            p = None
            if measure != "ari":
                *_, p = sign_test(wins[method], wins[f"ari_{aggregation}"])
            row += [f"{int(own['win'].sum())} of {len(own)}", rank, p]
        body.append(row)
    columns = ("similarity", "wins, max", "rank, max", "p, max")
    columns += ("wins, mean", "rank, mean", "p, mean")
    note = "p: sign test that compares the wins with those of the ARI."
    return Table("similarities", "Stadion with each similarity", columns, body, note)


def _success(
    frame: pd.DataFrame, external: pd.Series, measures: tuple[str, ...]
) -> Iterator[Table]:
    """The K-means column of Table 1, ranked by each measure of success."""
    rows = scores.judged(frame[frame["experiment"] == "table1"])
    # A method without an answer counts as K = 1, as in Table 1. A missing run stays missing.
    rows = rows[rows["dataset"].isin(external.index)].assign(k=rows["k"].astype(float).fillna(1.0))
    answers = scores.complete(scores.wide(rows, "kmeans", main_methods("kmeans"), value="k"))
    if not len(answers) or answers.shape[1] < 3:
        return
    ranks = {}
    for measure in measures:
        values = pd.DataFrame(
            {
                method: [external[d][measure][int(k) - 1] for d, k in answers[method].items()]
                for method in answers
            },
            index=answers.index,
        )
        ranks[measure] = scores.average_ranks(values)
    body = []
    for measure in measures:
        best = ranks[measure].drop("oracle", errors="ignore").idxmin()
        tau = float(stats.kendalltau(ranks["ari"], ranks[measure]).statistic)
        body.append([measure, tau, paper.title(best)])
    columns = ("measure of success", "Kendall's tau with the ranking by ARI", "best method")
    note = f"Average ranks of {answers.shape[1]} methods on {len(answers)} data sets."
    yield Table("success", "The ranking of Table 1 by other measures", columns, body, note)
