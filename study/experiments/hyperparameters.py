"""Experiment 5: 160 settings of D, noise and omega, from two fits for each data set."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from stablek.similarity import compare_labels
from study import data
from study.fitting import AGGREGATIONS, fit_stadion, stadion_settings
from study.plan import Run, Task, canonical
from study.protocol import Protocol

NAME = "hyperparameters"
NOISES = ("uniform", "gaussian")
# The paper extends mixtures with fixed covariances. Those from the best start know the noise.
RELABEL = {"kmeans": "extend", "ward": "refit", "gmm": "extend", "gmm_best": "noise"}


def plan(protocol: Protocol) -> Iterator[Run]:
    """One run for each data set, algorithm and noise."""
    omega = [2, max(last for _, last in protocol.omegas)]
    own = {"draws": protocol.draws, "omegas": protocol.omegas}
    for dataset in protocol.benchmark:
        for algorithm, relabel in RELABEL.items():
            for noise in NOISES:
                # Fixed noise levels. The first version's search would have depended on omega.
                common = stadion_settings(
                    protocol, relabel=relabel, perturbation=noise, omega=omega, epsilons="sqrt"
                )
                run = (NAME, dataset, algorithm, noise, protocol.seeds[0], noise)
                yield Run(*run, canonical(common), canonical(own))


def weight(task: Task) -> float:
    """Expected cost."""
    n_features, n_samples = data.size(task.dataset)
    power = 1.2 if task.algorithm.startswith("gmm") else 0.55
    share = {"ward": 1.0, "gmm_best": 4.0}.get(task.algorithm, 2.0)
    return n_samples * n_features**power * share


def compute(task: Task) -> dict[str, Any]:
    """K of every setting, and ARI of every K.

    Each setting is a slice of one fit. The order is draws, omegas, aggregations.
    """
    X, y = data.load(task.dataset)
    model, seconds = fit_stadion(X, task.algorithm, task.seed, task.common)
    own = task.methods[task.fit]
    chosen = [
        int(
            model.reselect(
                n_perturbations=n_draws, omega=range(first, last + 1), aggregation=aggregation
            ).best_value
        )
        for n_draws in own["draws"]
        for first, last in own["omegas"]
        for aggregation in AGGREGATIONS
    ]
    aris = [compare_labels(y, labels) for labels in model.reference_labels_]
    return {task.fit: {"seconds": seconds, "details": {"k": chosen, "ari": aris}}}
