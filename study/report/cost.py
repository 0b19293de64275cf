"""Compare the measured growth of the time with the complexity in the supplement."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from study.experiments import seconds as method_seconds
from study.experiments import table1
from study.experiments.cost import BASE
from study.protocol import Protocol
from study.report import paper, timing
from study.report.blocks import Block, Drawing, Table
from study.report.harder import ALGORITHMS

TITLE = "Cost"

_TITLES = {
    "stadion_default": "Stadion, default",
    "stadion_predict": "Stadion, extended, the paper's rule for K = 1",
    "stadion_refit": "Stadion, standard (refits), the paper's rule for K = 1",
}


def section(frame: pd.DataFrame, protocol: Protocol) -> Iterator[Block]:
    """All blocks: each method, exponents along each axis, and the time that Table 1 took."""
    yield from _methods(frame[frame["experiment"] == method_seconds.NAME], protocol)
    yield from _growth(frame)
    yield from _table1(frame, protocol)


def _methods(rows: pd.DataFrame, protocol: Protocol) -> Iterator[Table]:
    """CPU seconds of each method: the mean over the sets that it has."""
    body = []
    for algorithm in ("kmeans", "ward", "gmm_best"):
        own = rows[rows["algorithm"] == algorithm]
        table = own.pivot(index="dataset", columns="method", values="seconds")
        for method in method_seconds.methods_of(algorithm):
            if method in table:
                times = table[method].dropna()
                name = _TITLES.get(method, paper.title(method))
                line = [ALGORITHMS[algorithm], name, len(times)]
                body.append([*line, *(float(f(times)) for f in (np.median, np.max))])
    body.sort(key=lambda line: (list(ALGORITHMS.values()).index(line[0]), line[3]))
    columns = ("algorithm", "method", "data sets", "median seconds", "longest")
    listed = ", ".join(f"`{name}`" for name in protocol.timed)
    note = (
        f"CPU seconds of one core on those of {listed} that have been run, with one version and "
        "on a busy machine. Each method "
        "has its default settings, makes its own partitions for K from 1 to "
        f"{protocol.timed_k_max}, and has its kernels compiled before. Command: "
        "`python -m study run --only seconds`."
    )
    if body:
        yield Table("cost_methods", "What each method costs", columns, body, note)


def _growth(frame: pd.DataFrame) -> Iterator[Block]:
    curves = _curves(frame[frame["experiment"] == "cost"])
    if not curves:
        return
    base = ", ".join(f"{axis} = {value}" for axis, value in BASE.items())
    yield (
        f"The data are Gaussian clusters in the plane. One axis varies around {base}, with ten "
        "times as many points for the extended version. Each fit has a single K, K' from 2 on and "
        "one worker. The time is the shortest of a few fits. The exponent is the slope over the "
        "last three values of an axis, on log scales, because the bound of the supplement, "
        "O(K K'² N T I D M), is for large values."
    )
    body = []
    for (mode, axis), (values, seconds) in curves.items():
        slope = np.polyfit(np.log(values[-3:]), np.log(seconds[-3:]), 1)[0]
        times = ", ".join(f"{s:.3g} s at {v}" for v, s in zip(values, seconds, strict=True))
        body.append([mode, axis, times, float(slope), paper.COMPLEXITY[axis]])
    columns = ("Stadion", "axis", "times", "exponent, measured", "exponent, bound for K-means")
    yield Table("cost", "How the time grows", columns, body)
    yield Drawing("cost", "Time along each axis.", lambda: _draw(curves))


def _table1(frame: pd.DataFrame, protocol: Protocol) -> Iterator[Table]:
    seconds = timing.task_seconds(
        frame[(frame["experiment"] == "table1") & (frame["seed"] == protocol.seeds[0])],
        table1.plan(protocol),
    )
    body = []
    for (algorithm, fit), own in seconds.groupby(["algorithm", "fit"]):
        slowest = own.idxmax()[3]
        minutes = own.sum() / 60.0
        body.append(
            [paper.ALGORITHMS[algorithm], fit, len(own), minutes, f"{slowest} ({own.max():.3g} s)"]
        )
    if body:
        columns = ("algorithm", "computation", "data sets", "minutes of one core", "longest")
        note = (
            f"Together {seconds.sum() / 3600.0:.1f} hours, for one seed. The times are those of "
            "the versions of stablek that computed the rows, with two runs at a time."
        )
        yield Table("cost_table1", "Time for Table 1", columns, body, note)


def _curves(rows: pd.DataFrame) -> dict[tuple[str, str], tuple[list[int], list[float]]]:
    points: dict[tuple[str, str], list[tuple[int, float]]] = {}
    for row in rows.itertuples():
        mode, _, where = row.method.partition(" ")
        axis, _, value = where.partition("=")
        name = f"{paper.ALGORITHMS[row.algorithm]}, {mode}"
        points.setdefault((name, axis), []).append((int(value), row.seconds))
    return {
        curve: tuple(zip(*sorted(found), strict=True))
        for curve, found in points.items()
        if len(found) > 1
    }


def _draw(curves: dict[tuple[str, str], tuple[list[int], list[float]]]) -> Any:
    from matplotlib import pyplot as plt

    axes_names = list(dict.fromkeys(axis for _, axis in curves))
    figure, axes = plt.subplots(
        1,
        len(axes_names),
        figsize=(3 * len(axes_names), 3),
        sharey=True,
        squeeze=False,
        layout="constrained",
    )
    for (mode, axis), (values, seconds) in curves.items():
        ax = axes[0, axes_names.index(axis)]
        ax.loglog(values, seconds, "o-", label=mode)
        ax.set(xlabel=axis)
    axes[0, 0].set(ylabel="seconds")
    axes[0, 0].legend(fontsize="x-small")
    return figure
