"""Data without clusters: how often each method answers K = 1, by dimension."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from study import data
from study.protocol import Protocol
from study.report import paper
from study.report.blocks import Block, Drawing, Table

TITLE = "Data without clusters"


def section(frame: pd.DataFrame, protocol: Protocol) -> Iterator[Block]:
    """All blocks: rates of the right answer, and margins."""
    rows = frame[frame["experiment"] == "nonclusterable"].copy()
    if not len(rows):
        return
    rows["name"] = [
        f"{paper.title(method)}, {paper.ALGORITHMS[algorithm]}"
        for method, algorithm in zip(rows["method"], rows["algorithm"], strict=True)
    ]
    sizes = [data.size(name) for name in rows["dataset"]]
    rows["p"], rows["n"] = [p for p, _ in sizes], [n for _, n in sizes]
    rows["kind"] = [name.rsplit("_", 2)[0] for name in rows["dataset"]]
    yield (
        f"K ranges from 1 to {protocol.unclustered_k_max}. Each distribution has up to "
        f"{protocol.n_samplings} drawings (random data sets); the tables count the runs. A method "
        "that gives no answer counts as wrong. The paper gives Stadion's K for five sets, and it "
        "is 1 for all of them. The paper names neither the version of Stadion nor the candidates."
    )
    yield _five(rows, protocol)
    alone = rows[rows["kind"].isin(protocol.distributions)]
    panels = {"no clusters": (alone, 1)}
    yield _rates("k1_dimension", "Rate of K = 1 on data without clusters", alone, 1)
    for kind, distance in data.PAIRS.items():
        title = f"two Gaussians, {distance:g} standard deviations apart"
        pairs = rows[rows["kind"] == kind]
        if len(pairs):
            panels[title] = (pairs, 2)
            yield _rates(f"k2_{kind}", f"Rate of K = 2 on {title}", pairs, 2)
    yield _margins(rows)
    yield from _by_distribution(alone)
    caption = "Rate of the right answer by dimension."
    yield Drawing("dimension", caption, lambda: _draw(panels))


def _five(rows: pd.DataFrame, protocol: Protocol) -> Table:
    stadion = rows[rows["method"].str.startswith("stadion")]
    names = sorted(stadion["name"].unique())
    body = []
    for dataset in protocol.unclustered:
        own = stadion[stadion["dataset"] == dataset]
        cells = [_share(own[own["name"] == name], 1) for name in names]
        body.append([dataset, paper.UNCLUSTERED_K, *cells])
    title = "The paper's five sets: how often Stadion answers K = 1"
    return Table("k1_paper", title, ("data set", "K, paper", *names), body)


def _share(rows: pd.DataFrame, k: int) -> str | None:
    return f"{(rows['k'] == k).sum()} of {len(rows)}" if len(rows) else None


def rates(rows: pd.DataFrame, k: int) -> pd.DataFrame:
    """Share of the answers K = k, as a table of methods by dimension."""
    right = rows.assign(right=(rows["k"] == k).fillna(False).astype(float))
    return right.pivot_table(index="name", columns="p", values="right", aggfunc="mean")


def _rates(name: str, title: str, rows: pd.DataFrame, k: int) -> Table:
    table = rates(rows, k)
    counts = rows.groupby("name").size()
    body = [[method, *table.loc[method].tolist(), counts[method]] for method in table.index]
    columns = ("method", *(f"p = {p}" for p in table.columns), "runs")
    return Table(name, title, columns, body)


def _by_distribution(rows: pd.DataFrame) -> Iterator[Table]:
    """Rate of K = 1 for each distribution and size, for the Stadion rows."""
    body = []
    stadion = rows[rows["method"].str.startswith("stadion")]
    for (name, kind, n), own in stadion.groupby(["name", "kind", "n"]):
        own_rates = rates(own, 1).loc[name]
        body.append([name, kind, n, *(own_rates.get(p) for p in sorted(rows["p"].unique()))])
    columns = ("method", "distribution", "N", *(f"p = {p}" for p in sorted(rows["p"].unique())))
    title = "Rate of K = 1 by distribution and size"
    yield Table("k1_distribution", title, columns, body)


def _margins(rows: pd.DataFrame) -> Table:
    """Whether margin and frequency tell right answers from wrong ones."""
    rows = rows[rows["method"].str.startswith("stadion") & rows["k"].notna()]
    body = []
    for name, own in rows.groupby("name"):
        pairs = own["kind"].isin(data.PAIRS)
        for what, chosen, truth in (("none", ~pairs, 1), ("two", pairs, 2)):
            for right in (True, False):
                group = own[chosen & ((own["k"] == truth) == right)]
                margins = [each["margin"] for each in group["details"]]
                certain = [each["frequency"] > 0.95 for each in group["details"]]
                if len(group):
                    quantiles = np.quantile(margins, [0.05, 0.5, 0.95]).tolist()
                    body.append([name, what, right, len(group), *quantiles, np.mean(certain)])
    columns = ("method", "clusters", "right", "answers", "margin, 5%", "median", "95%")
    columns += ("share with frequency above 0.95",)
    note = "The table of seeds in the section on Table 1 explains margin and frequency."
    return Table("k1_margins", "Margins of right and wrong answers", columns, body, note)


def _draw(panels: dict[str, tuple[pd.DataFrame, int]]) -> Any:
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(
        1,
        len(panels),
        figsize=(4 * len(panels) + 3, 4),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    names = sorted({name for rows, _ in panels.values() for name in rows["name"]})
    colors = dict(zip(names, plt.get_cmap("tab20").colors, strict=False))
    handles = {}
    for ax, (title, (rows, k)) in zip(axes[0], panels.items(), strict=True):
        table = rates(rows, k)
        for method in table.index:
            style = "-o" if method.startswith("Stadion") else ":."
            [handles[method]] = ax.plot(
                table.columns, table.loc[method], style, color=colors[method]
            )
        ax.set(xscale="log", xlabel="dimension p", ylabel=f"rate of K = {k}", title=title)
        ax.set(ylim=(-0.03, 1.03))
    shown = sorted(handles)
    lines = [handles[name] for name in shown]
    figure.legend(lines, shown, loc="outside right center", fontsize="x-small")
    return figure
