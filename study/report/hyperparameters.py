"""D, noise and omega: their importance, their influence, and the paper's conclusions."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from stablek.display import CriticalDifferenceDisplay
from stablek.ranking import friedman, rank_methods, wilcoxon_pairs
from study.experiments.hyperparameters import AGGREGATIONS, NOISES, RELABEL
from study.fanova import fanova
from study.protocol import Protocol
from study.report import paper
from study.report.blocks import Block, Drawing, Table

TITLE = "Hyperparameters: D, noise and omega"
EFFECTS = {
    (0,): "D",
    (1,): "noise",
    (2,): "Ω",
    (0, 1): "D, noise",
    (0, 2): "D, Ω",
    (1, 2): "noise, Ω",
    (0, 1, 2): "D, noise, Ω",
}
Results = dict[tuple[str, str], np.ndarray]


def results(frame: pd.DataFrame, protocol: Protocol) -> Results:
    """ARI by (algorithm, aggregation), as arrays of shape (data sets, D, noise, omega)."""
    rows = frame[frame["experiment"] == "hyperparameters"]
    found: Results = {}
    shape = (len(protocol.draws), len(protocol.omegas), len(AGGREGATIONS))
    for algorithm in RELABEL:
        own = rows[rows["algorithm"] == algorithm].pivot(
            index="dataset", columns="method", values="details"
        )
        own = own.reindex(columns=list(NOISES)).dropna()
        if not len(own):
            continue
        aris = np.array(
            [
                [np.array(d["ari"])[np.array(d["k"]) - 1].reshape(shape) for d in sets]
                for sets in own.to_numpy()
            ]
        )  # data set, noise, D, omega, aggregation
        for position, aggregation in enumerate(AGGREGATIONS):
            found[algorithm, aggregation] = aris[..., position].transpose(0, 2, 1, 3)
    return found


def importances(found: Results, n_trees: int) -> dict[tuple[str, str], np.ndarray]:
    """Importance of each effect, as arrays of shape (data sets with variance, effects)."""
    table = {}
    for setting, aris in found.items():
        shares = [fanova(each, n_trees=n_trees) for each in aris]
        listed = [[share[axes] for axes in EFFECTS] for share in shares if share]
        table[setting] = np.array(listed).reshape(-1, len(EFFECTS))
    return table


def section(frame: pd.DataFrame, protocol: Protocol) -> Iterator[Block]:
    """All blocks about the hyperparameters."""
    found = results(frame, protocol)
    if not found:
        return
    counts = ", ".join(
        f"{paper.ALGORITHMS[a]} {len(found[a, 'max'])}" for a in RELABEL if (a, "max") in found
    )
    yield (
        f"Data sets finished: {counts}. Each fit has D = {max(protocol.draws)} draws, omega up to "
        f"{max(last for _, last in protocol.omegas)} and {protocol.n_epsilons} even noise levels "
        "from 0 to √p. All settings are slices of these fits. K-means and GMM use the extended "
        "version, as in the paper. Mixtures from the best of 35 K-means know the noise, which is "
        "what stablek does by default; the paper's statements about GMM stand beside both."
    )
    share = importances(found, protocol.n_trees)
    yield _importance(share, protocol)
    yield Drawing("importance", "Importance by fANOVA.", lambda: _boxes_importance(share))
    base = _base(protocol)
    for axis, name, caption in (
        (1, "influence_D", "ARI by D (uniform noise, Ω = {2..10})."),
        (2, "influence_noise", "ARI by noise (D = 10, Ω = {2..10})."),
        (3, "influence_omega", "ARI by Ω (uniform noise, D = 10)."),
    ):
        yield Drawing(name, caption, lambda axis=axis: _boxes(found, axis, base, protocol))
    yield _friedman("friedman_D", "D", found, 1, base, paper.FRIEDMAN_D)
    yield _friedman("friedman_omega", "Ω", found, 3, base, paper.FRIEDMAN_OMEGA)
    yield from _diagrams(found, base, protocol)
    yield _noise(found, base)
    yield _claims(found, share, base, protocol)


def _base(protocol: Protocol) -> dict[int, int]:
    """Position of the paper's base value on each axis: D = 10, uniform noise, omega 2..10."""
    wanted = (2, protocol.omega_max)
    return {1: len(protocol.draws) - 1, 2: 0, 3: protocol.omegas.index(wanted)}


def along(aris: np.ndarray, axis: int, base: dict[int, int], **fixed: int) -> np.ndarray:
    """ARI of shape (data sets, values of the axis), with the other axes at their base values."""
    at: list[Any] = [slice(None)] * 4
    for other, position in base.items():
        if other != axis:
            at[other] = fixed.get("noise", position) if other == 2 else position
    return aris[tuple(at)]


def labels(axis: int, protocol: Protocol) -> list[str]:
    """Names of the values of an axis."""
    if axis == 1:
        return [str(each) for each in protocol.draws]
    if axis == 2:
        return list(NOISES)
    return [str(a) if a == b else f"{a}..{b}" for a, b in protocol.omegas]


def _name(setting: tuple[str, ...]) -> str:
    return ", ".join([paper.ALGORITHMS[setting[0]], *setting[1:]])


def _importance(share: dict[tuple[str, str], np.ndarray], protocol: Protocol) -> Table:
    body = [
        [_name(setting), len(each), *(np.median(each, axis=0) if len(each) else [None] * 7)]
        for setting, each in share.items()
    ]
    columns = ("Stadion", "data sets with variance", *EFFECTS.values())
    title = f"Median importance by fANOVA ({protocol.n_trees} trees)"
    return Table("importance", title, columns, body)


def _friedman(
    name: str,
    symbol: str,
    found: Results,
    axis: int,
    base: dict[int, int],
    theirs: dict[tuple[str, str, str], bool],
) -> Table:
    body = []
    for setting, aris in found.items():
        for position, noise in enumerate(NOISES):
            table = along(aris, axis, base, noise=position)
            if len(table) < 2 or table.shape[1] < 3:
                continue
            p = friedman(table)[1]
            pairs = "–"
            if p < 0.05:
                pvalues = rank_methods(table).pvalues
                pairs = str(int(np.triu(pvalues <= 0.05, 1).sum()))
            differs = theirs[paper.column(setting[0]), setting[1], noise]
            body.append(
                [_name((*setting, noise)), differs, p < 0.05, p, pairs, differs == (p < 0.05)]
            )
    columns = ("Stadion", "differ, paper", "differ, ours", "p", "pairs that differ", "agrees")
    return Table(name, f"Friedman's test over the values of {symbol}", columns, body)


def _diagrams(found: Results, base: dict[int, int], protocol: Protocol) -> Iterator[Drawing]:
    """Diagrams of critical differences where Friedman's test rejects."""
    for axis, symbol in ((1, "D"), (3, "omega")):
        for setting, aris in found.items():
            for position, noise in enumerate(NOISES):
                table = along(aris, axis, base, noise=position)
                if len(table) < 2 or table.shape[1] < 3:
                    continue
                ranking = rank_methods(table, labels(axis, protocol))
                if ranking.rejected:
                    name = "_".join(("cd", symbol, *setting, noise))
                    caption = f"Critical differences of {symbol}: {_name((*setting, noise))}."
                    yield Drawing(name, caption, _diagram(ranking))


def _diagram(ranking: Any) -> Any:
    return lambda: CriticalDifferenceDisplay(ranking=ranking).plot().figure_


def _noise(found: Results, base: dict[int, int]) -> Table:
    body = []
    for setting, aris in found.items():
        table = along(aris, 2, base)
        [p] = wilcoxon_pairs(table)
        body.append([_name(setting), *table.mean(axis=0), float(p), False, p < 0.05, p >= 0.05])
    columns = ("Stadion", "mean ARI, uniform", "mean ARI, Gaussian", "p, Wilcoxon")
    columns += ("differ, paper", "differ, ours", "agrees")
    return Table("noise", "Uniform or Gaussian noise", columns, body)


def _claims(
    found: Results,
    share: dict[tuple[str, str], np.ndarray],
    base: dict[int, int],
    protocol: Protocol,
) -> Table:
    names = list(EFFECTS.values())
    first, second = [], []
    for each in share.values():
        if len(each):
            order = np.argsort(-np.median(each, axis=0))
            first.append(names[order[0]])
            second.append(names[order[1]])
    low = [along(aris, 1, base).mean(axis=0) for aris in found.values()]
    gain = float(np.mean([curve[-1] - curve[0] for curve in low]))
    spreads = {
        setting: float(np.ptp(along(aris, 3, base).mean(axis=0)))
        for setting, aris in found.items()
    }
    widest = max(spreads, key=lambda setting: spreads[setting])
    means = np.mean([along(aris, 3, base).mean(axis=0) for aris in found.values()], axis=0)
    omegas = labels(3, protocol)
    body = [
        [
            "Ω is by far the most important",
            f"first in {first.count('Ω')} of {len(first)}",
            first.count("Ω") == len(first),
        ],
        [
            "the interaction of D and Ω is second",
            f"second in {second.count('D, Ω')} of {len(second)}",
            second.count("D, Ω") == len(second),
        ],
        [
            "performance grows only slightly with D",
            f"mean ARI at the largest D minus that at the smallest: {gain:+.3f}",
            0.0 <= gain < 0.05,
        ],
        [
            "Ward is the most influenced by Ω",
            f"widest range of the mean ARI: {_name(widest)} ({spreads[widest]:.3f})",
            widest[0] == "ward",
        ],
        [
            "{2..10} performs well; large K' values hurt",
            f"mean ARI best for Ω = {omegas[int(means.argmax())]}, "
            f"worst for {omegas[int(means.argmin())]}",
            means[base[3]] >= np.median(means),
        ],
    ]
    columns = ("the paper says", "ours", "agrees")
    return Table("hyperparameter_claims", "Conclusions about the hyperparameters", columns, body)


def _grid(n_columns: int) -> Any:
    from matplotlib import pyplot as plt

    return plt.subplots(
        len(AGGREGATIONS),
        n_columns,
        figsize=(4 * n_columns, 6),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )


def _boxes(found: Results, axis: int, base: dict[int, int], protocol: Protocol) -> Any:
    tables = {setting: along(aris, axis, base) for setting, aris in found.items()}
    return _box_figure(tables, labels(axis, protocol), "ARI")


def _boxes_importance(share: dict[tuple[str, str], np.ndarray]) -> Any:
    return _box_figure(share, list(EFFECTS.values()), "share of the variance")


def _box_figure(tables: dict[tuple[str, str], np.ndarray], ticks: list[str], what: str) -> Any:
    algorithms = list(dict.fromkeys(algorithm for algorithm, _ in tables))
    figure, axes = _grid(len(algorithms))
    for (algorithm, aggregation), table in tables.items():
        ax = axes[AGGREGATIONS.index(aggregation), algorithms.index(algorithm)]
        ax.boxplot(table, tick_labels=ticks, flierprops={"markersize": 2})
        ax.tick_params(axis="x", rotation=45)
        ax.set(title=f"{paper.ALGORITHMS[algorithm]}, {aggregation}", ylabel=what)
    return figure
