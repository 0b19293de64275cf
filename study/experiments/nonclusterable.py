"""Experiment 3: data without clusters, and data with two clusters, in many dimensions.

The rate of K = 1 alone says little: a method that always answers 1 has the best rate. So the
methods also have to find pairs of separated Gaussians in the same dimensions.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from study import data
from study.fitting import (
    fit_selector,
    fit_stadion,
    stadion_affixes,
    stadion_names,
    stadion_outcomes,
    stadion_settings,
)
from study.plan import Run, Task, canonical
from study.protocol import Protocol

NAME = "nonclusterable"

# Selectors that can answer 1, with the options that they need for it.
_SELECTORS: dict[str, dict[str, dict[str, Any]]] = {
    "kmeans": {
        "g_means": {},
        "hofmeyr": {},
        "special_k": {},
        "gap_a": {},
        "gap_b": {},
        "hennig": {"rule": "stable"},
    },
    "ward": {},
    "gmm": {"bic": {}},
}
# Relabeling and noise levels of each fit, as in Table 1.
_STADION = {
    "kmeans": {
        "stadion_extend": ("extend", "auto"),
        "stadion_extend_sqrt": ("extend", "sqrt"),
        "stadion_refit": ("refit", "auto"),
    },
    "ward": {"stadion_refit": ("refit", "auto")},
    "gmm": {"stadion_extend": ("extend", "auto")},
}
_SLOW = {("kmeans", "stadion_refit"): 15.0, ("kmeans", "gap_a"): 2.0, ("kmeans", "gap_b"): 2.0}


def datasets(protocol: Protocol) -> list[str]:
    """Names of the data sets: the paper's five, the grid, and the separated pairs."""
    grid = [
        f"{kind}_{p}d_{n}"
        for kind in protocol.distributions
        for p in protocol.dimensions
        for n in protocol.sizes
    ]
    pairs = [
        f"{kind}_{p}d_{n}"
        for kind in data.PAIRS
        for p in protocol.separated
        for n in protocol.sizes
    ]
    return list(dict.fromkeys([*protocol.unclustered, *grid, *pairs]))


def plan(protocol: Protocol) -> Iterator[Run]:
    """Every run of the experiment."""
    for dataset in datasets(protocol):
        for algorithm in _STADION:
            for fit, common, methods in _fits(protocol, algorithm):
                for seed in range(protocol.n_samplings):
                    for method in methods:
                        run = (NAME, dataset, algorithm, method, seed, fit)
                        yield Run(*run, canonical(common))


def _fits(protocol: Protocol, algorithm: str) -> Iterator[tuple[str, dict, tuple[str, ...]]]:
    k_max = protocol.unclustered_k_max
    for fit, (relabel, epsilons) in _STADION[algorithm].items():
        settings = stadion_settings(protocol, relabel=relabel, epsilons=epsilons, k_max=k_max)
        yield fit, settings, tuple(stadion_names(fit))
    resamples = {
        "gap_a": {"n_references": protocol.n_references},
        "gap_b": {"n_references": protocol.n_references},
        "hennig": {"n_bootstraps": protocol.n_bootstraps},
    }
    for method, options in _SELECTORS[algorithm].items():
        n_init = protocol.n_init_resampled if method in resamples else protocol.n_init
        options = {**options, **resamples.get(method, {})}
        yield method, {"k_max": k_max, "n_init": n_init, **options}, (method,)


def weight(task: Task) -> float:
    """Expected cost."""
    n_features, n_samples = data.size(task.dataset)
    power = 1.0 if task.algorithm == "gmm" else 0.4
    return n_samples * n_features**power * _SLOW.get((task.algorithm, task.fit), 1.0)


def compute(task: Task) -> dict[str, Any]:
    """Answers of the task's methods. Each seed draws new points."""
    X, _ = data.load(task.dataset, task.seed)
    if task.fit.startswith("stadion"):
        model, seconds = fit_stadion(X, task.algorithm, task.seed, task.common)
        return stadion_outcomes(model, seconds, *stadion_affixes(task.fit))
    selector, seconds = fit_selector(X, task.fit, task.algorithm, task.seed, task.common)
    return {task.fit: {"k": selector.n_clusters_, "seconds": seconds}}
