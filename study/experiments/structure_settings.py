"""Experiment 8: which settings of the structure test matter?

One setting at a time differs from the defaults. All settings test the same drawings.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

from stablek import structure_test
from study import data
from study.experiments.structure import ALPHA, weight_of
from study.plan import Run, Task, canonical
from study.protocol import TEST_VERSION, Protocol

NAME = "structure_settings"

DEFAULT = {"n_reference_sets": 50, "n_epsilons": 10, "n_perturbations": 4}
VARIED = {
    "n_reference_sets": (4, 10, 100),
    "n_epsilons": (4, 20),
    "n_perturbations": (1, 16),
}
# Rough cost of a setting, relative to the defaults.
_COST = {"n_reference_sets": 0.3, "n_epsilons": 0.1, "n_perturbations": 0.25}


def variants() -> dict[str, dict[str, int]]:
    """Settings by the name of their rows, the defaults first."""
    found = {"default": DEFAULT}
    for name, values in VARIED.items():
        found |= {f"{name}={value}": DEFAULT | {name: value} for value in values}
    return found


def plan(protocol: Protocol) -> Iterator[Run]:
    """Every run of the experiment."""
    for dataset in protocol.tested_settings:
        for method, options in variants().items():
            common = {"alpha": ALPHA, "k_max": protocol.unclustered_k_max, "test": TEST_VERSION}
            for seed in range(protocol.n_few_drawings):
                run = (NAME, dataset, "kmeans", method, seed, method)
                yield Run(*run, canonical(common | options))


def weight(task: Task) -> float:
    """Expected cost, roughly in seconds."""
    ratios = [task.common[name] / DEFAULT[name] for name in DEFAULT]
    shares = zip(_COST.values(), ratios, strict=True)
    return weight_of(task.dataset) * (1.0 + sum(share * (ratio - 1) for share, ratio in shares))


def order(task: Task) -> tuple[float, ...]:
    """Every data set and setting once before any of them again."""
    return (task.seed, weight(task))


def compute(task: Task) -> dict[str, Any]:
    """The p-value of one setting."""
    X, _ = data.load(task.dataset, task.seed, standardize=False)
    started = perf_counter()
    found = structure_test(
        X,
        k_range=range(2, task.common["k_max"] + 1),
        alpha=task.common["alpha"],
        random_state=task.seed,
        **{name: task.common[name] for name in DEFAULT},
    )
    seconds = perf_counter() - started
    return {task.fit: {"seconds": seconds, "details": {"pvalue": found.pvalue}}}
