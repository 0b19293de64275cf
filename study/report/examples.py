"""The paper's examples, as tables and figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from stablek.display import StabilityPathsDisplay, TradeoffDisplay
from study.experiments.examples import points
from study.protocol import Protocol
from study.report import paper
from study.report.blocks import Block, Drawing, Table

TITLE = "Examples"
_CAPTIONS = {
    "three_gaussians": "Three clusters: paths for K = 1 to 6.",
    "2d-4c": "`2d-4c`. The paper selects 4, then 3.",
    "4clusters_corner": "`4clusters_corner`. The paper selects 3.",
    "golfball": "`golfball`, no clusters. The paper selects 1.",
    "correlated_gaussians": "Two correlated Gaussians. The paper selects 2.",
}


def section(frame: pd.DataFrame, protocol: Protocol) -> Iterator[Block]:
    """All blocks about the examples that have rows."""
    rows = frame[frame["experiment"] == "examples"]
    if not len(rows):
        return
    yield from _jumps(rows)
    yield from _correlated(rows)
    paths = rows[(rows["method"] == "stadion") & (rows["algorithm"] == "kmeans")]
    paths = paths[paths["seed"] == 0].set_index("dataset")
    yield from _answers(rows, paths)
    for name, caption in _CAPTIONS.items():
        if name in paths.index:
            curves = paths.loc[name, "details"]
            chosen = f" Ours: max {paths.loc[name, 'k']}, mean {curves['mean_k']}."
            yield Drawing(f"paths_{name}", caption + chosen, _paths(curves, paths.loc[name, "k"]))
    if "4clusters_corner" in paths.index:
        yield _corner(paths.loc["4clusters_corner", "details"])
    if "k_to_n" in paths.index:
        yield from _k_to_n(paths.loc["k_to_n", "details"])


def _jumps(rows: pd.DataFrame) -> Iterator[Block]:
    jumps = rows[rows["method"] == "jumps"]
    body = [
        [row.dataset, kind, seen["count"]]
        for row in jumps.itertuples()
        for kind, seen in sorted(row.details.items())
    ]
    if not body:
        return
    title = "Jumping of K-means, by symmetry (K = 2) and by initialization (K = 4)"
    columns = ("example", "solution", "times found")
    note = "In each case, the paper shows three solutions that K-means finds at random."
    yield Table("jumps", title, columns, body, note)
    for row in jumps.itertuples():
        caption = f"Solutions of `{row.dataset}`."
        yield Drawing(row.dataset, caption, _solutions(row.dataset, row.details), "png")


def _solutions(name: str, found: dict[str, Any]) -> Any:
    def draw() -> Any:
        from matplotlib import pyplot as plt

        kinds = sorted(found)
        figure, axes = plt.subplots(
            1, len(kinds), figsize=(3 * len(kinds), 3), squeeze=False, layout="constrained"
        )
        for ax, kind in zip(axes[0], kinds, strict=True):
            labels = np.array([int(each) for each in found[kind]["labels"]])
            X, _ = points(name, len(labels), 0)
            ax.scatter(*X.T, c=labels, cmap="tab10", vmax=9, s=6)
            ax.set(title=f"{kind}, {found[kind]['count']} times", xticks=[], yticks=[])
        return figure

    return draw


def _correlated(rows: pd.DataFrame) -> Iterator[Table]:
    """Answers of the four methods for each drawing and initialization."""
    own = rows[rows["dataset"] == "correlated_gaussians"]
    body = []
    for (method, algorithm), group in own.groupby(["method", "algorithm"], sort=False):
        best, second = paper.CORRELATED[method]
        order = [_order(row.details) for row in group.itertuples()]
        answers = [int(k) for k in group["k"]]
        body.append(
            [
                {"stadion": "Stadion, noise", "stadion_bootstrap": "Stadion, bootstrap"}.get(
                    method, paper.title(method)
                ),
                _START[algorithm],
                best if second is None else f"{best}, then {second}",
                ", ".join(map(str, answers)),
                ", ".join(str(ks[1]) for ks in order),
                max(set(answers), key=answers.count) == best,
            ]
        )
    if body:
        columns = ("method", "K-means starts", "K, paper", "K by drawing, ours", "second best")
        title = "Two correlated Gaussians: answers with noise and with sampling"
        note = "The paper gives no parameters for its data. We use those of `stablek.datasets`."
        yield Table("correlated", title, (*columns, "agrees"), body, note)


_START = {
    "kmeans": "k-means++, best of many",
    "kmeans_single": "k-means++, one",
    "kmeans_random": "random, one",
}


def _order(details: dict[str, Any]) -> list[int]:
    """Candidates from the best score to the worst."""
    found = details.get("scores_", details.get("scores"))
    values = [-np.inf if each is None else each for each in found]
    return [details["k_values"][i] for i in np.argsort(-np.array(values), kind="stable")]


def _answers(rows: pd.DataFrame, paths: pd.DataFrame) -> Iterator[Table]:
    """Other methods on the two benchmark examples."""
    body = []
    for name in ("2d-4c", "4clusters_corner"):
        own = rows[(rows["dataset"] == name) & (rows["method"] != "stadion")]
        body += [[name, paper.title(row.method), row.k] for row in own.itertuples()]
    if body:
        title = "Other methods on these examples (K up to 10)"
        note = (
            "In the paper, Dunn and Silhouette select 3 on `2d-4c`. On `4clusters_corner` almost "
            "all indices select 2, and Ben-Hur and Lange select 4."
        )
        yield Table("example_answers", title, ("data set", "method", "K, ours"), body, note)


def _corner(curves: dict[str, Any]) -> Table:
    """The supplement's table for 4clusters_corner: means over the levels up to the crossing."""
    counted = _counted(curves)
    means = [np.array(curves[name])[:, counted].mean(axis=1) for name in _THREE]
    body = []
    for k, ari, *values in zip(curves["k_values"], curves["ari"], *means, strict=True):
        signs = paper.CORNER_SIGNS[k]
        cells = [f"{v:.2f} (paper {sign})" for v, sign in zip(values, signs, strict=True)]
        body.append([k, paper.CORNER_ARI[k], ari, *cells])
    by_ari = [curves["k_values"][i] for i in np.argsort(-np.array(curves["ari"]), kind="stable")]
    note = (
        f"Order of K by Stadion-max: {_order(curves)}. Order by ARI: {by_ari}. The paper's signs "
        "give the order 3, 2, then 1 and 5, then 4 for Stadion."
    )
    columns = ("K", "ARI, paper", "ARI, ours", "between", "within", "Stadion")
    return Table("corner", "`4clusters_corner`, means up to the crossing", columns, body, note)


_THREE = ("between_stability_", "within_stability_", "stadion_paths_")


def _counted(curves: dict[str, Any]) -> np.ndarray:
    epsilons = np.array(curves["epsilons_"])
    counted = (epsilons > 0) & (epsilons <= (curves["crossing"] * 1.0001 or np.inf))
    return counted if counted.any() else np.ones(len(epsilons), dtype=bool)


def _paths(curves: dict[str, Any], chosen: int) -> Any:
    def draw() -> Any:
        between, within, stadion = (curves[name] for name in _THREE)
        display = StabilityPathsDisplay(
            k_values=curves["k_values"],
            epsilons=curves["epsilons_"],
            between=between,
            within=within,
            stadion=stadion,
            scores=curves["scores_"],
            selected=curves["k_values"].index(chosen),
            crossing_epsilon=curves["crossing"],
        )
        return display.plot().figure_

    return draw


def _k_to_n(curves: dict[str, Any]) -> Iterator[Block]:
    """The trade-off up to K = N, and the supplement's statements about it."""
    counted = _counted(curves)
    between, within, stadion = (np.array(curves[n])[:, counted].mean(axis=1) for n in _THREE)

    def draw() -> Any:
        display = TradeoffDisplay(
            k_values=curves["k_values"],
            between=between,
            within=within,
            stadion=stadion,
            selected=curves["k_values"].index(curves["mean_k"]),
        )
        return display.plot().figure_

    n = curves["k_values"][-1]
    yield Drawing("k_to_n", f"K approaching N: three Gaussians, N = {n}.", draw)
    body = [
        [
            "between stability decreases toward 0, and is 1 at K = N",
            f"{between[-2]:.2f} at K = {n - 1}, {between[-1]:.2f} at K = {n}",
            between[-2] < 0.5 and between[-1] == 1.0,
        ],
        [
            "within stability increases toward 1",
            f"{within[-2]:.2f} at K = {n - 1}",
            within[-2] > 0.9,
        ],
        ["Stadion still selects 3", f"{curves['mean_k']}", curves["mean_k"] == 3],
        ["Stadion is 0 at K = N", f"{stadion[-1]:.2f}", abs(stadion[-1]) < 1e-9],
    ]
    yield Table("k_to_n", "K approaching N", ("the paper says", "ours", "agrees"), body)
