"""Harder truth: which method wins where, on data sets of chosen difficulty."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from stablek.ranking import rank_methods
from study import generator
from study.experiments import harder
from study.protocol import Protocol
from study.report import paper, scores
from study.report.blocks import Block, Drawing, Table

TITLE = "Harder truth: data sets of chosen difficulty"

LEAST = 0.6
"""Sets on which even the truth has a lower ARI are counted apart."""

DEFAULT = harder.DEFAULT[0]
ALGORITHMS = {"kmeans": "K-means", "ward": "Ward", "gmm_best": "GMM"}
FACTORS = {
    "overlap": "overlap",
    "n_features": "features",
    "n_clusters": "clusters",
    "aspect": "aspect",
    "radius_ratio": "radius ratio",
    "imbalance": "imbalance",
    "distribution": "distribution",
}
_GROUPS = ((1, "1"), (5, "2–5"), (10, "6–10"), (15, "11–15"), (20, "16–20"))
_NAMES = {"student": "t(5)", "elbow": "Elbow"}
_WHAT = {"win": "percentage with the right K", "ari": "mean ARI, times 100"}
_MOST = 0.5
"""Algorithms with a smaller share of the sets are left out where all are compared."""

_FEWEST = 5
"""A cell of the pictures with fewer sets is left empty."""


def section(frame: pd.DataFrame, protocol: Protocol) -> Iterator[Block]:
    """All blocks: methods, difficulty, algorithms."""
    rows = with_factors(frame[frame["experiment"] == harder.NAME])
    if not len(rows):
        return
    yield _introduction(protocol)
    fair = rows[rows["attainable"] >= LEAST]
    yield _sets(rows, protocol)
    for algorithm in ALGORITHMS:
        own = fair[fair["algorithm"] == algorithm]
        if len(own):
            yield from _methods(own, algorithm)
    yield from _resampled(fair, protocol)
    for value, caption in _CAPTIONS.items():
        yield Drawing(f"harder_{value}", caption + _FRAMES, partial(draw_winners, fair, value))
    yield from _algorithms(fair)
    yield _by_level(fair)


_CAPTIONS = {
    "win": "Percentage of the sets on which each method finds K*, by difficulty.",
    "ari": "Mean ARI (times 100) of the partitions that each method chooses, by difficulty.",
}
_FRAMES = " Red frames mark the best method of a column. Methods are sorted by their overall mean."


def _introduction(protocol: Protocol) -> str:
    levels = "; ".join(
        f"*{FACTORS.get(name, 'points')}* {', '.join(map(_level, values))}"
        for name, values in generator.LEVELS.items()
        if name != "n_clusters"
    )
    return (
        f"The plan has {protocol.n_archetypes} data sets with K\\* from 1 to 20, each drawn from "
        "a recipe of its own (`study/generator.py`), in the manner of repliclust (Zellinger and "
        "Bühlmann, 2023) and MDCGen (Iglesias et al., 2019). The recipes are a seeded random "
        f"design. {levels}. "
        f"Sets with many clusters get at least {generator.LEAST_SIZE} points for each. The "
        "overlap is that of the two closest clusters: the share of points beyond the boundary "
        "between them, if they were normal. Two round clusters four deviations apart have 0.05. "
        "The aspect is the longest axis of a cluster divided by its shortest. Radius ratio and "
        "imbalance compare the widest and the narrowest cluster, and the largest and the "
        "smallest.\n\n"
        f"All data are standardized. K ranges from 1 to {protocol.archetype_k_max}. Stadion and "
        "all other methods have the default settings of stablek, unless said otherwise. All judge "
        f"the same partitions: the best of {protocol.archetype_n_init} starts of K-means, Ward, "
        "and mixtures from the best K-means. One seed."
    )


def _level(value: Any) -> str:
    return _NAMES.get(value, str(value)) if isinstance(value, str) else f"{value:g}"


def with_factors(frame: pd.DataFrame) -> pd.DataFrame:
    """Judged rows with the factors of their sets, and the ARI that the truth attains."""
    oracle = frame[frame["method"] == "oracle"]
    attained = {
        (row.dataset, row.algorithm): row.details["attainable"] for row in oracle.itertuples()
    }
    rows = scores.judged(frame).drop(columns="details")
    where = zip(rows["dataset"], rows["algorithm"], strict=True)
    rows["attainable"] = [attained[each] for each in where]
    for factor in FACTORS:
        values = [getattr(generator.named(name), factor) for name in rows["dataset"]]
        rows[factor] = [_group(value) if factor == "n_clusters" else value for value in values]
    return rows


def _group(k: int) -> str:
    return next(name for last, name in _GROUPS if k <= last)


def levels_of(factor: str) -> list[Any]:
    """Levels of a factor, in order."""
    if factor == "n_clusters":
        return [name for _, name in _GROUPS]
    return list(generator.LEVELS[factor])


def _sets(rows: pd.DataFrame, protocol: Protocol) -> Table:
    body = []
    for algorithm, name in ALGORITHMS.items():
        own = rows[(rows["algorithm"] == algorithm) & (rows["method"] == "oracle")]
        low = own["attainable"] < LEAST
        answers = rows[(rows["algorithm"] == algorithm) & (rows["method"] == DEFAULT)]
        hopeless = answers[answers["attainable"] < LEAST]
        body.append(
            [
                name,
                f"{len(own)} of {protocol.n_archetypes}",
                int((~low).sum()),
                int(low.sum()),
                f"{int(hopeless['win'].sum())} of {len(hopeless)}",
                int((~low & (own["ari"] < LEAST)).sum()),
            ]
        )
    columns = ("algorithm", "sets run", "sets counted", "set apart", "of these found")
    columns += ("oracle below 0.6",)
    note = (
        "A set is counted apart if labels from the truth have an ARI below "
        f"{LEAST:g}: the nearest true center for K-means and Ward, the likeliest true component "
        "for mixtures. All other tables leave these sets out. *Of these found*: sets apart on "
        "which Stadion-max finds K\\*. *Oracle below 0.6*: counted sets on which the algorithm's "
        "own partition into K\\* clusters has such an ARI."
    )
    return Table("harder_sets", "The sets", columns, body, note)


def _full(own: pd.DataFrame) -> list[str]:
    """Methods that ran on nearly all sets of an algorithm."""
    counts = own["method"].value_counts()
    return sorted(counts.index[counts >= scores.RANKED * counts.max()])


def _methods(own: pd.DataFrame, algorithm: str) -> Iterator[Table]:
    table, body, n_sets = _compared(own, _full(own))
    columns = ("method", "found K*", "share", "mean ARI", "average rank", "too few", "too many")
    columns += ("p against the default",)
    note = (
        f"{n_sets} sets. Ranks are of the ARI, among all rows but the oracle. *Too few*, "
        "*too many*: sets with K below and above K\\*; an abstention is neither. The p-value is "
        "Wilcoxon's, of the ARIs, with Holm's correction for all pairs of methods."
    )
    title = f"Methods with {ALGORITHMS[algorithm]}"
    if len(table) > 1 and table.shape[1] > 2:
        yield Table(f"harder_{algorithm}", title, columns, body, note)


def _compared(
    own: pd.DataFrame, methods: Sequence[str]
) -> tuple[pd.DataFrame, list[list[Any]], int]:
    rows = own[own["method"].isin(methods)]
    table = rows.pivot(index="dataset", columns="method", values="ari").dropna()
    rows = rows[rows["dataset"].isin(table.index)]
    rivals = [method for method in table.columns if method != "oracle"]
    if len(rivals) < 3 or len(table) < 2:
        return table, [], len(table)
    ranking = rank_methods(table[rivals], rivals)
    place = {method: at for at, method in enumerate(rivals)}
    body = []
    for method, answers in rows.groupby("method"):
        k = answers["k"].astype(float)
        ranked = method in place
        body.append(
            [
                _title(str(method)),
                int(answers["win"].sum()),
                float(answers["win"].mean()),
                f"{answers['ari'].mean():.3f}",
                float(ranking.average_ranks[place[str(method)]]) if ranked else None,
                int((k < answers["truth"]).sum()),
                int((k > answers["truth"]).sum()),
                float(ranking.pvalues[place[str(method)], place[DEFAULT]])
                if ranked and method != DEFAULT and DEFAULT in place
                else None,
            ]
        )
    body.sort(key=lambda line: -float(line[3]))
    return table, body, len(table)


def _title(method: str) -> str:
    if method in harder.CROSSING:
        return f"Stadion-{method.split('_')[1]}, the paper's rule for K = 1"
    return _NAMES.get(method, paper.title(method))


def _resampled(fair: pd.DataFrame, protocol: Protocol) -> Iterator[Table]:
    """Methods that ran on the first sets only, beside the default on the same sets."""
    body = []
    for algorithm, name in ALGORITHMS.items():
        own = fair[fair["algorithm"] == algorithm]
        few = sorted(set(own["method"]) - set(_full(own))) if len(own) else []
        few = [each for each in few if (own["method"] == each).sum() >= _FEWEST]
        if not few:
            continue
        _, lines, n_sets = _compared(own, [*few, DEFAULT, "wemmert_gancarski", "oracle"])
        body += [[name, line[0], f"{line[1]} of {n_sets}", *line[3:]] for line in lines]
    if body:
        columns = ("algorithm", "method", "found K*", "mean ARI", "average rank", "too few")
        columns += ("too many", "p against the default")
        note = (
            f"These methods cluster many sets. They ran on the first "
            f"{protocol.n_archetypes_resampled} sets of the design only, with "
            f"{protocol.n_resamples} reference sets, bootstraps or pairs "
            f"({protocol.n_resamples // 2} splits for Lange) and "
            f"{min(protocol.n_init_resampled, protocol.archetype_n_init)} starts of K-means. "
            "The default and Wemmert-Gançarski are shown on the same sets."
        )
        yield Table("harder_resampled", "Methods that resample", columns, body, note)


def _algorithms(fair: pd.DataFrame) -> Iterator[Block]:
    """The default with each algorithm, on the sets that all algorithms with most sets have."""
    own = fair[fair["method"] == DEFAULT]
    every = own.pivot(index="dataset", columns="algorithm", values="ari")
    every = every[[name for name in ALGORITHMS if name in every.columns]]
    # The sets that count differ: mixtures have the likeliest component as their truth.
    table = every.loc[:, every.notna().sum() >= _MOST * len(every)].dropna()
    if len(table) < _FEWEST or table.shape[1] < 2:
        return
    factors = own.drop_duplicates("dataset").set_index("dataset").loc[table.index]
    body = [["all sets", "", len(table), *(f"{mean:.2f}" for mean in table.mean())]]
    for factor, title in FACTORS.items():
        for level in levels_of(factor):
            part = table[factors[factor] == level]
            if len(part):
                body.append([title, _level(level), len(part), *(f"{m:.2f}" for m in part.mean())])
    columns = ("factor", "level", "sets", *(ALGORITHMS[each] for each in table.columns))
    note = "Mean ARI of Stadion-max with its default, on the sets that all these algorithms have."
    common = every.dropna()
    if table.shape[1] < every.shape[1] and len(common):
        means = ", ".join(f"{ALGORITHMS[name]} {mean:.2f}" for name, mean in common.mean().items())
        note += f" On the {len(common)} sets that all algorithms have: {means}."
    yield Table("harder_algorithms", "Which algorithm?", columns, body, note)


def _by_level(fair: pd.DataFrame) -> Table:
    body = []
    for algorithm in ALGORITHMS:
        own = fair[fair["algorithm"] == algorithm]
        for factor in FACTORS:
            for level in levels_of(factor):
                part = own[own[factor] == level]
                for method, answers in part.groupby("method"):
                    wins, ari = answers["win"].mean(), answers["ari"].mean()
                    row = [algorithm, factor, level, method, len(answers)]
                    body.append([*row, f"{wins:.3f}", f"{ari:.3f}"])
    columns = ("algorithm", "factor", "level", "method", "sets", "share of wins", "mean ARI")
    return Table("harder_levels", "By level", columns, body, on_page=False)


def draw_winners(fair: pd.DataFrame, value: str) -> Any:
    """Mean wins or ARIs: a panel for each algorithm, methods by levels."""
    from matplotlib import pyplot as plt
    from matplotlib.patches import Rectangle

    present = [name for name in ALGORITHMS if (fair["algorithm"] == name).any()]
    columns = [(factor, level) for factor in FACTORS for level in levels_of(factor)]
    methods = {name: _sorted(fair[fair["algorithm"] == name], value) for name in present}
    heights = [len(methods[name]) + 1.5 for name in present]
    figure, axes = plt.subplots(
        len(present),
        1,
        figsize=(11, 0.21 * sum(heights) + 1.4),
        height_ratios=heights,
        squeeze=False,
        layout="constrained",
    )
    for ax, name in zip(axes[:, 0], present, strict=True):
        own = fair[fair["algorithm"] == name]
        shares = _means(own, methods[name], columns, value)
        ax.imshow(shares, cmap="viridis", vmin=0.0, vmax=1.0, aspect="auto")
        for column, best in enumerate(np.nanmax(shares, axis=0, initial=-1.0)):
            for row in range(len(shares)):
                share = shares[row, column]
                if np.isnan(share):
                    continue
                color = "white" if share < 0.6 else "black"
                text = f"{100 * share:.0f}"
                ax.text(column, row, text, ha="center", va="center", fontsize=6, color=color)
                if share == best:
                    frame = Rectangle(
                        (column - 0.5, row - 0.5), 1, 1, fill=False, edgecolor="red", linewidth=1.2
                    )
                    ax.add_patch(frame)
        ax.set_yticks(range(len(shares)), [_title(each) for each in methods[name]])
        ax.set_xticks(range(len(columns)), [_level(level) for _, level in columns], rotation=60)
        n_sets = own["dataset"].nunique()
        ax.set_title(f"{ALGORITHMS[name]}, {n_sets} sets: {_WHAT[value]}", pad=14)
        _head(ax, columns)
    return figure


def _sorted(own: pd.DataFrame, value: str) -> list[str]:
    """Methods on nearly all sets, best first, without the oracle."""
    full = [method for method in _full(own) if method != "oracle"]
    means = own[own["method"].isin(full)].groupby("method")[value].mean()
    return list(means.sort_values(ascending=False, kind="stable").index)


def _means(
    own: pd.DataFrame, methods: list[str], columns: list[tuple[str, Any]], value: str
) -> np.ndarray:
    means = np.full((len(methods), len(columns)), np.nan)
    for column, (factor, level) in enumerate(columns):
        part = own[own[factor] == level].groupby("method")[value]
        found, counts = part.mean(), part.count()
        for row, method in enumerate(methods):
            if counts.get(method, 0) >= _FEWEST:
                means[row, column] = found[method]
    return means


def _head(ax: Any, columns: list[tuple[str, Any]]) -> None:
    """Names of the factors above their columns, and lines between them."""
    factors = [factor for factor, _ in columns]
    for factor, name in FACTORS.items():
        first, count = factors.index(factor), factors.count(factor)
        ax.axvline(first - 0.5, color="white", linewidth=2)
        ax.text(first + (count - 1) / 2, -0.65, name, ha="center", va="bottom", fontsize=7)
