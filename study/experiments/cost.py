"""Experiment 7: how the time grows with N, K, K', D and M, varied one at a time."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.datasets import make_blobs

from stablek import Stadion
from study import data
from study.plan import Run, Task, canonical
from study.protocol import Protocol

NAME = "cost"
BASE = {"N": 2000, "K": 8, "K'": 4, "D": 4, "M": 4}
MODES = {"kmeans": ("refit", "extend"), "ward": ("refit",)}
LARGER = {"extend": 10}  # times as many points, because a fit with few points is too short to time
SERIAL = True  # parallel runs would distort the times


def plan(protocol: Protocol) -> Iterator[Run]:
    """One run for each value of each axis."""
    for algorithm, relabels in MODES.items():
        for relabel in relabels:
            for axis, values in protocol.cost:
                for value in values:
                    common = {**BASE, axis: value, "n_init": 10, "n_timings": protocol.n_timings}
                    common["N"] *= LARGER.get(relabel, 1)
                    value = common[axis]
                    run = (NAME, "blobs", algorithm, f"{relabel} {axis}={value}", 0, relabel)
                    yield Run(*run, canonical(common))


def weight(task: Task) -> float:
    """Expected cost."""
    sizes = task.common
    return sizes["N"] * sizes["K"] * sizes["K'"] ** 2 * sizes["D"] * sizes["M"] / 1000


def compute(task: Task) -> dict[str, Any]:
    """Shortest of a few timings, for a single K."""
    sizes = task.common
    X, _ = make_blobs(sizes["N"], centers=8, random_state=0)
    model = Stadion(
        data.clusterer(task.algorithm, sizes["n_init"]),
        k_range=[sizes["K"]],
        omega=range(2, sizes["K'"] + 1),
        relabel=task.fit,
        n_perturbations=sizes["D"],
        epsilons=np.linspace(0.0, 1.0, sizes["M"]),
        one_cluster="crossing",
        random_state=0,
    )
    Stadion(**{**model.get_params(deep=False), "k_range": [2]}).fit(X[:50])  # compiles the kernels
    seconds = min(_time(model, X) for _ in range(sizes["n_timings"]))
    # All axes share the base point, so one timing serves all of them.
    return {method: {"seconds": seconds} for method in task.methods}


def _time(model: Stadion, X: np.ndarray) -> float:
    started = perf_counter()
    model.fit(X)
    return perf_counter() - started
