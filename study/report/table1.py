"""Table 1: our numbers beside the paper's."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from study.protocol import Protocol
from study.report import paper, scores
from study.report.blocks import Block, Table

TITLE = "Table 1: all methods on the benchmark"

COMPARED = ("kmeans", "ward", "gmm", "gmm_best")
"""Algorithms for which we check the paper's statements. GMM is here in both readings."""


DEFAULTS = ("stadion_max_default", "stadion_mean_default")
"""The default of stablek: geometric noise levels, and the structure test for K = 1."""


def main_methods(algorithm: str) -> list[str]:
    """Methods of the paper's column for an algorithm. The oracle comes first."""
    column = paper.column(algorithm)
    return [method for method, columns in paper.TABLE1.items() if column in columns]


def section(frame: pd.DataFrame, protocol: Protocol) -> Iterator[Block]:
    """All blocks about Table 1."""
    rows = scores.judged(frame[frame["experiment"] == "table1"])
    yield (
        "The tables show the average rank of the ARI and the wins. A win is a data set on which "
        "a method answers K\\*. Rank 1 is best, ties share their ranks, and the oracle is ranked "
        "too. Every answer is judged by the algorithm's own partition at that K. A method that "
        "gives no answer gets ARI 0. A method is ranked if it has at least "
        f"{scores.RANKED:.0%} of the data sets; the ranks use the data sets that all ranked "
        "methods have. `exemples8_Overlap_Uvar_5g` and `exemples9_YoD_6g` are the same file, so "
        "wins are counted over all sets and over the distinct ones."
    )
    for algorithm in paper.ALGORITHMS:
        column = rows[rows["algorithm"] == algorithm]
        if len(column):
            yield _column(column, algorithm, protocol)
    yield from _defaults(rows)
    yield from _default_seeds(rows)
    yield from _readings(rows)
    yield from _versions(rows)
    yield from _noise(rows)
    yield from _seeds(rows)
    yield from _claims(rows)
    yield _per_dataset(rows)


def _column(rows: pd.DataFrame, algorithm: str, protocol: Protocol) -> Table:
    methods = main_methods(algorithm)
    table = scores.wide(rows, algorithm, methods)
    ranked = scores.complete(table)
    ranks = scores.average_ranks(ranked) if len(ranked) else pd.Series(dtype=float)
    wins = scores.wide(rows, algorithm, methods, value="win")
    unique = scores.distinct(table.index)
    body = []
    for method in methods:
        theirs = paper.TABLE1[method][paper.column(algorithm)]
        if method not in table:
            body.append([paper.title(method), theirs[0], None, theirs[1], *[None] * 5])
            continue
        own = rows[rows["method"] == method]
        body.append(
            [
                paper.title(method),
                theirs[0],
                ranks.get(method),
                theirs[1],
                _count(wins[method]),
                _count(wins.loc[unique, method]),
                _spread(own),
                float(table[method].mean()),
                None if method == "oracle" else float(own["seconds"].median()),
            ]
        )
    columns = ("method", "rank, paper", "rank, ours", "wins, paper", "wins, ours", "distinct sets")
    columns += ("wins over seeds", "mean ARI", "seconds")
    note = (
        f"Ranks among {ranked.shape[1]} of {len(methods)} methods on {len(ranked)} of "
        f"{len(protocol.benchmark)} data sets. Seconds are the median over data sets and include "
        "making the partitions; two runs ran at a time."
    )
    name = f"table1_{algorithm}"
    return Table(name, paper.ALGORITHMS[algorithm], columns, body, note)


def _defaults(rows: pd.DataFrame) -> Iterator[Table]:
    """The default of stablek, ranked among the methods of the paper."""
    body = []
    for algorithm in COMPARED:
        own = rows[rows["algorithm"] == algorithm]
        for method in DEFAULTS:
            answers = own[own["method"] == method]
            if answers.empty:
                continue
            compared = [*main_methods(algorithm), method]
            ranked = scores.complete(scores.wide(rows, algorithm, compared))
            ranks = scores.average_ranks(ranked) if len(ranked) else pd.Series(dtype=float)
            rivals = ranks.drop(["oracle", method], errors="ignore")
            aris = ranked.mean()
            first = answers[answers["seed"] == 0]
            body.append(
                [
                    paper.ALGORITHMS[algorithm],
                    paper.title(method),
                    ", ".join(f"{w.sum()} of {len(w)}" for _, w in answers.groupby("seed")["win"]),
                    f"{aris.get(method, first['ari'].mean()):.3f}",
                    ", ".join(str(int((k == 1).sum())) for _, k in answers.groupby("seed")["k"]),
                    ranks.get(method),
                    1 + int((ranks < ranks[method]).sum()) if method in ranks else None,
                    len(ranked) if method in ranks else None,
                    _named(rivals, rivals.idxmin(), 2) if len(rivals) else None,
                    _named(aris, aris[rivals.index].idxmax(), 3) if len(rivals) else None,
                    f"{aris['oracle']:.3f}" if "oracle" in aris else None,
                ]
            )
    if body:
        columns = ("algorithm", "method", "wins by seed", "mean ARI", "answered K = 1", "rank")
        columns += ("place", "data sets ranked", "best rank of the others")
        columns += ("best mean ARI of the others", "mean ARI of the oracle")
        note = (
            "Geometric noise levels, the structure test for K = 1, and mixtures that know the "
            "noise; K, Ω, D and restarts are the paper's. The rank is among the paper's methods "
            "and the oracle, with the first seed. Place 1 is the lowest rank. Mean "
            "ARIs are over the data sets ranked."
        )
        yield Table("table1_default", "The default of stablek", columns, body, note)


def _default_seeds(rows: pd.DataFrame) -> Iterator[Table]:
    """The default of stablek with each seed, beside others on the same data sets."""
    body = []
    for algorithm in COMPARED:
        for method in DEFAULTS:
            own = rows[(rows["algorithm"] == algorithm) & (rows["method"] == method)]
            for seed, answers in own.groupby("seed"):
                compared = [*main_methods(algorithm), method]
                table = scores.wide(rows, algorithm, compared, seed=int(seed))
                table = scores.complete(table.loc[answers["dataset"]])
                if not {"oracle", method} <= set(table):
                    continue
                means = table.mean()
                rivals = means.drop(["oracle", method])
                body.append(
                    [
                        paper.ALGORITHMS[algorithm],
                        paper.title(method),
                        int(seed),
                        _count(answers["win"]),
                        int((answers["k"] == 1).sum()),
                        len(table),
                        f"{means[method]:.3f}",
                        _named(rivals, rivals.idxmax(), 3) if len(rivals) else None,
                        f"{means['oracle']:.3f}",
                    ]
                )
    if body:
        columns = ("algorithm", "method", "seed", "wins", "answered K = 1", "data sets compared")
        columns += ("mean ARI", "best mean ARI of the others", "mean ARI of the oracle")
        note = (
            "A seed may have been run on some of the data sets only. Methods that ran with the "
            "first seed only stand in with that."
        )
        yield Table("table1_default_seeds", "The default by seed", columns, body, note)


def _named(values: pd.Series, method: str, digits: int) -> str:
    return f"{values[method]:.{digits}f}, {paper.title(method)}"


def _count(wins: pd.Series) -> str:
    return f"{int(wins.sum())} of {wins.notna().sum()}"


def _spread(own: pd.DataFrame) -> str | None:
    """Lowest and highest number of wins, over the seeds that have all data sets."""
    by_seed = own.groupby("seed")["win"].agg(["sum", "count"])
    full = by_seed[by_seed["count"] == by_seed["count"].max()]["sum"]
    return f"{full.min()}–{full.max()} ({len(full)} seeds)" if len(full) > 1 else None


def _readings(rows: pd.DataFrame) -> Iterator[Table]:
    """Other readings of a method. Each is ranked in place of the main reading."""
    body = []
    rows = rows[rows["seed"] == 0]
    for algorithm in COMPARED:
        main = main_methods(algorithm)
        others = rows[(rows["algorithm"] == algorithm) & ~rows["method"].isin([*main, *DEFAULTS])]
        for method in sorted(others["method"].unique()):
            stands_for = max((m for m in main if method.startswith(m)), key=len)
            kept = [method if m == stands_for else m for m in main]
            ranked = scores.complete(scores.wide(rows, algorithm, kept))
            ranks = scores.average_ranks(ranked) if len(ranked) else pd.Series(dtype=float)
            own = scores.wide(rows, algorithm, [method], value="win")[method]
            column = scores.wide(rows, algorithm, [stands_for], value="win")
            body.append(
                [
                    paper.ALGORITHMS[algorithm],
                    paper.title(method),
                    *paper.TABLE1[stands_for][paper.column(algorithm)],
                    _count(column[stands_for]) if stands_for in column else None,
                    ranks.get(method),
                    _count(own),
                ]
            )
    if body:
        columns = ("algorithm", "reading", "rank, paper", "wins, paper", "wins, main reading")
        columns += ("rank in its place", "wins")
        yield Table("table1_readings", "Other readings of the same methods", columns, body)


def _versions(rows: pd.DataFrame) -> Iterator[Table]:
    """Compare standard and extended Stadion on the data sets that have both."""
    methods = main_methods("kmeans")
    answers = scores.wide(rows, "kmeans", methods, value="k")
    wins = scores.wide(rows, "kmeans", methods, value="win")
    rival = "wemmert_gancarski"
    body = []
    for standard in ("stadion_max", "stadion_mean"):
        pair = [standard, f"{standard}_extended"]
        if not set(pair) <= set(wins):
            continue
        both = wins[pair].dropna().index
        body.append(
            [
                paper.title(standard),
                len(both),
                *(paper.TABLE1[method]["kmeans"][1] for method in pair),
                *(int(wins.loc[both, method].sum()) for method in pair),
                _count(wins.loc[both, rival]) if rival in wins else None,
                int((answers.loc[both, pair[0]] == answers.loc[both, pair[1]]).sum()),
            ]
        )
    if body:
        columns = (
            "K-means",
            "data sets with both",
            "wins of 73, paper: standard",
            "wins of 73, paper: extended",
            "wins, ours: standard",
            "wins, ours: extended",
            "Wemmert-Gançarski there",
            "same K in both",
        )
        yield Table("table1_versions", "Standard and extended Stadion", columns, body)


def _noise(rows: pd.DataFrame) -> Iterator[Table]:
    """Mixtures that know the noise, on the data sets and seeds that have both."""
    body = []
    for algorithm in ("gmm", "gmm_best"):
        own = rows[rows["algorithm"] == algorithm]
        for standard in ("stadion_max_extended", "stadion_mean_extended"):
            methods = [standard, f"{standard}_noise", "wemmert_gancarski"]
            chosen = own[own["method"].isin(methods)]
            if not set(methods) <= set(chosen["method"]):
                continue
            table = chosen.pivot(
                index=["dataset", "seed"], columns="method", values=["win", "ari"]
            )
            both = table.dropna()
            body.append(
                [
                    paper.ALGORITHMS[algorithm],
                    paper.title(standard),
                    both.index.get_level_values("dataset").nunique(),
                    len(both),
                    *(int(both["win", method].sum()) for method in methods),
                    *(float(both["ari", method].mean()) for method in methods),
                ]
            )
    if body:
        columns = ("algorithm", "method", "data sets", "runs")
        for value in ("wins", "mean ARI"):
            columns += tuple(
                f"{value}, {each}" for each in ("fixed", "knows the noise", "Wemmert-Gançarski")
            )
        note = (
            "Only data sets and seeds for which all three have been run. Fixed: the paper's "
            'extended version, `relabel="predict"`. Knows the noise: `relabel="extend"`, which '
            "adds the covariance of the noise to that of each component."
        )
        title = "Mixtures that know the noise"
        yield Table("table1_noise", title, columns, body, note)


def _seeds(rows: pd.DataFrame) -> Iterator[Table]:
    """How much the results of Stadion vary over seeds."""
    body = []
    stadion = rows[rows["method"].str.startswith("stadion")]
    for (algorithm, method), own in stadion.groupby(["algorithm", "method"]):
        answers = own.pivot(index="dataset", columns="seed", values="k")
        repeated = answers.dropna()
        if answers.shape[1] < 2 or not len(repeated):
            continue
        moved = int((repeated.nunique(axis=1) > 1).sum())
        wins = [f"{each.sum()} of {len(each)}" for _, each in own.groupby("seed")["win"]]
        details = own["details"]
        ones = (own["k"] == 1).groupby(own["seed"]).sum()
        body.append(
            [
                paper.ALGORITHMS[algorithm],
                paper.title(method),
                ", ".join(wins),
                _ranks_by_seed(rows, algorithm, method, sorted(own["seed"].unique())),
                ", ".join(str(int(each)) for each in ones),
                _without_one(own),
                f"{moved} of {len(repeated)}",
                float(np.median([each["margin"] for each in details])),
                float(np.mean([each["frequency"] > 0.95 for each in details])),
            ]
        )
    if body:
        columns = (
            "algorithm",
            "method",
            "wins by seed",
            "rank and place by seed",
            "data sets answered K = 1",
            "wins if 1 were no candidate",
            "data sets whose K changes with the seed",
        )
        columns += ("median margin of the score", "share of answers with frequency above 0.95")
        note = (
            "Rank: average rank among the methods of the algorithm. A method that did not run "
            "with a seed enters with its first seed. Place: position of that rank, with the "
            "oracle counted. None of the benchmark sets has one cluster. Margin: best score minus "
            "second best. Frequency: how often the answer wins when the draws are resampled."
        )
        yield Table("table1_seeds", "Stadion over seeds", columns, body, note)


def _ranks_by_seed(
    rows: pd.DataFrame, algorithm: str, method: str, seeds: list[int]
) -> str | None:
    """Rank with each seed, and the place of that rank among all methods."""
    main = main_methods(algorithm)
    if method not in main:
        return None
    found = []
    for seed in seeds:
        table = scores.complete(scores.wide(rows, algorithm, main, seed=seed))
        ranks = scores.average_ranks(table) if len(table) else pd.Series(dtype=float)
        if method in ranks:
            place = 1 + int((ranks < ranks[method]).sum())
            found.append(f"{ranks[method]:.2f} ({place})")
    return ", ".join(found) or None


def _without_one(own: pd.DataFrame) -> str | None:
    """Wins by seed if 1 were no candidate."""
    above = [each.get("best_above_1") for each in own["details"]]
    best = pd.Series(above, index=own.index, dtype="Int64")
    best = best.fillna(own["k"].where(own["k"] > 1))  # an answer above 1 is also the best above 1
    known = best.notna().groupby(own["seed"]).all()
    wins = (best == own["truth"]).groupby(own["seed"]).sum()[known]
    return ", ".join(map(str, wins)) or None


def _claims(rows: pd.DataFrame) -> Iterator[Table]:
    """The paper's statements about Table 1, and what our rows say."""
    body = []
    for algorithm in COMPARED:
        ranked = scores.complete(scores.wide(rows, algorithm, main_methods(algorithm)))
        if ranked.shape[1] < 3 or "oracle" not in ranked or not len(ranked):
            continue
        ranks = scores.average_ranks(ranked)
        best = ranks.drop("oracle").sort_values(kind="stable")
        name = paper.ALGORITHMS[algorithm]
        found = paper.title(best.index[0])
        agrees = best.index[0].startswith("stadion_max")
        body.append([f"{name}: Stadion-max ranks best of all methods", f"best is {found}", agrees])
        if algorithm == "kmeans":
            better = [m for m in best.index if best[m] < ranks["oracle"]]
            text = ", ".join(map(paper.title, better)) or "none"
            claim = f"{name}: Stadion-max ranks above the oracle"
            agrees = any(method.startswith("stadion_max") for method in better)
            body.append([claim, f"above it: {text}", agrees])
        others = [m for m in best.index if not m.startswith("stadion")]
        if others:
            agrees = others[0] == "wemmert_gancarski"
            claim = f"{name}: Wemmert-Gançarski is the best of the others"
            body.append([claim, f"best is {paper.title(others[0])}", agrees])
    failures = rows[(rows["method"] == "special_k") & (rows["seed"] == 0)]
    if len(failures):
        failed = int(failures["k"].isna().sum())
        text = f"fails on {failed} of {len(failures)}"
        claim = f"SpecialK fails on {paper.SPECIAL_K_FAILURES} data sets"
        body.append([claim, text, failed == paper.SPECIAL_K_FAILURES])
    if body:
        columns = ("the paper says", "ours", "agrees")
        yield Table("table1_claims", "Statements about Table 1", columns, body)


def _per_dataset(rows: pd.DataFrame) -> Table:
    order = ["dataset", "algorithm", "method", "seed"]
    columns = (*order, "truth", "k", "ari")
    body = rows.sort_values(order)[list(columns)].to_numpy().tolist()
    body = [[*row[:-1], f"{row[-1]:.4f}"] for row in body]
    return Table("table1_datasets", "Answers per data set", columns, body, on_page=False)
