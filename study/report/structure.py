"""The structure test: false alarms on data without clusters, and power."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pandas as pd
from scipy import stats

from stablek.ranking import holm
from study import data
from study.experiments import structure
from study.protocol import Protocol
from study.report import paper
from study.report.blocks import Block, Drawing, Table

TITLE = "Any clusters at all? The structure test"

_METHODS = {
    "test": "structure test",
    "crossing": "the paper's rule",
    "gap_a": "Gap statistic (A)",
    "gap_b": "Gap statistic (B)",
    "dip": "dip test, first component",
}
_SHAPES = {
    "gaussian": "normal",
    "rotated_exponential": "exponential, rotated",
    "log_normal": "log-normal",
    "student": "t(5)",
    "student3": "t(3)",
    "correlated": "normal, correlation 0.9",
    "sphere": "golf ball",
}
_CELL = ["algorithm", "n", "kind", "p"]
_CLEAR = 4.0


def section(frame: pd.DataFrame, protocol: Protocol) -> Iterator[Block]:
    """All blocks: false alarms, power, the benchmark and known sets."""
    rows = frame[frame["experiment"] == structure.NAME].copy()
    if not len(rows):
        return
    rows["found"] = [_found(row) for row in rows.itertuples()]
    default, benchmark = rows["method"] == "stadion", rows["dataset"].isin(protocol.benchmark)
    drawn = rows[~default & ~benchmark].copy()
    sizes = [data.size(name) for name in drawn["dataset"]]
    drawn["p"], drawn["n"] = [p for p, _ in sizes], [n for _, n in sizes]
    drawn["kind"] = [name.rsplit("_", 2)[0] for name in drawn["dataset"]]
    paired = drawn["kind"].isin(data.ROTATED_PAIRS)
    yield (
        f"Stadion answers K = 1 if the structure test does not reject at "
        f"{structure.ALPHA:.0%}. This section measures that test: how often it finds structure in "
        "data without clusters (a false alarm), and how often it finds clusters that are there. "
        f"The test has its default settings, with K from 2 to {protocol.unclustered_k_max}. Each "
        "drawing is a new random data set, used as generated. A cell says how many drawings "
        "were found to have structure, of how many."
    )
    alarms = drawn[~paired]
    yield from _alarms(alarms[alarms["method"] == "test"])
    same = alarms[(alarms["n"] == min(protocol.sizes)) & (alarms["p"] < structure.WIDE)]
    yield from _alarm_figure(same)
    small = alarms[(alarms["algorithm"] == "kmeans") & (alarms["n"] == min(protocol.sizes))]
    few = small[(small["seed"] < protocol.n_few_drawings) & (small["p"] < structure.WIDE)]
    yield from _by_method(few)
    yield from _power(drawn[paired])
    yield from _benchmark(rows[benchmark & ~default], protocol)
    yield from _known(rows[default], protocol)


def _found(row: Any) -> bool:
    """Whether a method says that there are clusters. No answer says nothing of the kind."""
    if row.method in ("test", "dip"):
        return bool(row.details["pvalue"] < structure.ALPHA)
    return bool(pd.notna(row.k) and row.k > 1)


def _share(found: pd.Series) -> str | None:
    return f"{found.sum()} of {len(found)}" if len(found) else None


def _rate(found: pd.Series) -> str | None:
    return f"{found.mean():.1%}" if len(found) else None


def cells(rows: pd.DataFrame) -> pd.DataFrame:
    """False alarms of each cell, with the p-value of more than 5%, alone and after Holm.

    Holm's correction counts the cells of one clusterer.
    """
    table = rows.groupby(_CELL)["found"].agg(["sum", "size"]).reset_index()
    table["pvalue"] = [
        _more_than_allowed(*counts) for counts in zip(table["sum"], table["size"], strict=True)
    ]
    table["holm"] = table.groupby("algorithm")["pvalue"].transform(
        lambda each: holm(each.to_numpy())
    )
    return table


def _more_than_allowed(alarms: int, total: int) -> float:
    test = stats.binomtest(int(alarms), int(total), structure.ALPHA, alternative="greater")
    return float(test.pvalue)


def _alarms(rows: pd.DataFrame) -> Iterator[Table]:
    if not len(rows):
        return
    table = cells(rows)
    body = []
    for (algorithm, n), own in rows.groupby(["algorithm", "n"]):
        tested = table[(table["algorithm"] == algorithm) & (table["n"] == n)]
        pvalues = pd.Series([each["pvalue"] for each in own["details"]])
        levels = [_rate(pvalues < level) for level in (0.01, structure.ALPHA, 0.1)]
        body.append(
            [
                paper.ALGORITHMS[str(algorithm)],
                n,
                _share(own["found"]),
                *levels,
                _more_than_allowed(own["found"].sum(), len(own)),
                f"{(tested['pvalue'] < structure.ALPHA).sum()} of {len(tested)}",
                int((tested["holm"] < structure.ALPHA).sum()),
            ]
        )
    columns = ("clusterer", "N", "false alarms", "p < 0.01", "p < 0.05", "p < 0.1")
    columns += ("p of more than 5%", "cells with p < 0.05", "after Holm")
    note = (
        "Tests by clusterer. The last columns are binomial tests of the hypothesis that false "
        "alarms are at most 5%: of all drawings, of each cell below, and of each cell with Holm's "
        "correction over the cells of the clusterer."
    )
    yield Table("structure_summary", "False alarms of the structure test", columns, body, note)
    for algorithm, own in table.groupby("algorithm"):
        yield _cells(str(algorithm), own)


def _cells(algorithm: str, table: pd.DataFrame) -> Table:
    dimensions = sorted(table["p"].unique())
    body = []
    for (n, kind), own in table.groupby(["n", "kind"]):
        by_p = {row.p: row for row in own.itertuples()}
        shown = [_cell(by_p[p]) if p in by_p else None for p in dimensions]
        body.append([n, _SHAPES.get(str(kind), kind), *shown])
    note = "† more than 5% by a binomial test of this cell; ‡ also with Holm's correction."
    title = f"False alarms by distribution and dimension, {paper.ALGORITHMS[algorithm]}"
    columns = ("N", "distribution", *(f"p = {p}" for p in dimensions))
    return Table(f"structure_alarms_{algorithm}", title, columns, body, note)


def _cell(row: Any) -> str:
    mark = "‡" if row.holm < structure.ALPHA else "†" if row.pvalue < structure.ALPHA else ""
    return f"{row.sum} of {row.size}{mark}"


def _methods(rows: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    for method, name in _METHODS.items():
        own = rows[rows["method"] == method]
        if len(own):
            yield name, own


def _by_method(rows: pd.DataFrame) -> Iterator[Table]:
    dimensions = sorted(rows["p"].unique())
    body = [
        [name, *(_share(own.loc[own["p"] == p, "found"]) for p in dimensions), _rate(own["found"])]
        for name, own in _methods(rows)
    ]
    if len(body) > 1:
        columns = ("method", *(f"p = {p}" for p in dimensions), "all")
        title = f"False alarms of other methods, N = {rows['n'].iloc[0]}, all distributions"
        yield Table("structure_methods", title, columns, body)


def _alarm_figure(rows: pd.DataFrame) -> Iterator[Drawing]:
    """False alarms of every method and clusterer by dimension."""
    lines = dict(_methods(rows[rows["algorithm"] == "kmeans"]))
    lines |= {
        f"{_METHODS['test']}, {paper.ALGORITHMS[algorithm]}": own
        for algorithm in ("ward", "gmm")
        if len(own := rows[(rows["algorithm"] == algorithm) & (rows["method"] == "test")])
    }
    if lines:
        caption = (
            f"Share of data sets without clusters in which a method finds some, N = "
            f"{rows['n'].iloc[0]}, all distributions. The dotted line is the level of the test."
        )
        yield Drawing("structure_alarms", caption, lambda: _draw_alarms(lines))


def _power(rows: pd.DataFrame) -> Iterator[Block]:
    if not len(rows):
        return
    rows = rows.assign(distance=rows["kind"].map(data.ROTATED_PAIRS))
    dimensions = sorted(rows["p"].unique())
    body = []
    for name, of_method in _methods(rows):
        for (n, distance), own in of_method.groupby(["n", "distance"]):
            found = [own.loc[own["p"] == p, "found"] for p in dimensions]
            body.append([name, n, distance, *map(_share, found), _rate(own["found"])])
    columns = ("method", "N", "distance", *(f"p = {p}" for p in dimensions), "all")
    test = rows[(rows["method"] == "test") & (rows["distance"] >= _CLEAR)]
    found = [
        f"{_share(own['found'])} ({_rate(own['found'])}) at distance {distance:g} with N = {n}"
        for (distance, n), own in test.groupby(["distance", "n"])
    ]
    note = (
        "Two Gaussians of equal size, apart along a random direction; the distance is in "
        f"standard deviations. The target is 95% from distance {_CLEAR:g} on. The structure test "
        f"finds {'; '.join(found) or 'none yet'}."
    )
    yield Table("structure_power", "Power: two Gaussians found", columns, body, note)
    smallest = rows[rows["n"] == rows["n"].min()]
    caption = f"Share of pairs of Gaussians that are found, N = {rows['n'].min()}."
    yield Drawing("structure_power", caption, lambda: _draw(smallest))


def _benchmark(rows: pd.DataFrame, protocol: Protocol) -> Iterator[Table]:
    if not len(rows):
        return
    body = [[name, _share(own["found"]), _rate(own["found"])] for name, own in _methods(rows)]
    missed = rows[(rows["method"] == "test") & ~rows["found"]]
    listed = ", ".join(
        f"{row.dataset} (p = {row.details['pvalue']:.2g})" for row in missed.itertuples()
    )
    note = (
        f"All sets have clusters. They are standardized; K ranges up to "
        f"{protocol.structure_k_max}. The structure test finds none in: {listed or 'no set'}."
    )
    title = f"Structure found in the {len(protocol.benchmark)} benchmark sets"
    yield Table("structure_benchmark", title, ("method", "found", "share"), body, note)


def _known(rows: pd.DataFrame, protocol: Protocol) -> Iterator[Table]:
    if not len(rows):
        return
    body = []
    for names, truth in ((protocol.unclustered, "1"), (dict(protocol.real), "more")):
        for name in names:
            own = rows[rows["dataset"] == name]
            counts = own["k"].value_counts()
            answers = ", ".join(f"{k} ({count})" for k, count in counts.items())
            pvalues = [each["pvalue"] for each in own["details"]]
            if len(own):
                body.append([name, truth, answers, min(pvalues), max(pvalues)])
    columns = ("data set", "K expected", "K (runs)", "smallest p", "largest p")
    note = "Runs differ by the seed, and by the points where these are drawn."
    yield Table("structure_known", "Answers of Stadion with default settings", columns, body, note)


def _draw_alarms(lines: dict[str, pd.DataFrame]) -> Any:
    from matplotlib import pyplot as plt

    figure, ax = plt.subplots(figsize=(6, 3.5), layout="constrained")
    for name, own in lines.items():
        rates = own.groupby("p")["found"].mean()
        ax.plot(rates.index, rates, _style(name), label=name)
    ax.axhline(structure.ALPHA, color="gray", linestyle=":", linewidth=1)
    ax.set(xscale="log", xlabel="dimension p", ylabel="false alarms", ylim=(-0.03, 1.03))
    ax.legend(fontsize="x-small")
    return figure


def _style(name: str) -> str:
    """Lines of the structure test are drawn through, those of other methods are dotted."""
    return "-o" if name.startswith(_METHODS["test"]) else ":."


def _draw(rows: pd.DataFrame) -> Any:
    from matplotlib import pyplot as plt

    distances = sorted(rows["distance"].unique())
    figure, axes = plt.subplots(
        1,
        len(distances),
        figsize=(3 * len(distances), 3),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for ax, distance in zip(axes[0], distances, strict=True):
        for name, own in _methods(rows[rows["distance"] == distance]):
            rates = own.groupby("p")["found"].mean()
            ax.plot(rates.index, rates, _style(name), label=name)
        ax.set(xscale="log", xlabel="dimension p", title=f"{distance:g} deviations apart")
        ax.set(ylim=(-0.03, 1.03))
    axes[0, 0].set_ylabel("share found")
    axes[0, 0].legend(fontsize="x-small")
    return figure
