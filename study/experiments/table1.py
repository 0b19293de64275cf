"""Experiment 1: all methods of the paper's Table 1 on the benchmark."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from stablek import compare
from stablek.selectors import SELECTORS
from stablek.similarity import compare_labels
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
from study.protocol import TEST_VERSION, Protocol

NAME = "table1"

INDICES = (
    "wemmert_gancarski",
    "silhouette",
    "davies_bouldin",
    "ray_turi",
    "calinski_harabasz",
    "dunn",
    "xie_beni",
)
# The paper uses the indices of clusterCrit, whose Silhouette is the mean over clusters.
_INDICES = {name: {} for name in INDICES} | {"silhouette": {"average": "macro"}}
_OWN_SEARCH = {name: {} for name in ("x_means", "g_means", "hofmeyr", "special_k")}
# Other readings of a method: the same selector with other options and another name.
READINGS: dict[str, tuple[str, dict[str, Any]]] = {
    "silhouette_micro": ("silhouette", {"average": "micro"}),
    "x_means_original": ("x_means", {"formula": "original"}),
    "g_means_0.01": ("g_means", {"alpha": 0.01}),
    "hofmeyr_raw": ("hofmeyr", {"smoothing": False}),
    "special_k_neighbors": ("special_k", {"graph": "neighbors"}),
}
_GAP_RULES = ("firstSEmax", "Tibs2001SEmax", "globalSEmax", "firstmax", "globalmax")
_HENNIG_RULES = ("mean", "min", "stable")
# Relabeling and noise levels of each fit. "sqrt" are even levels from 0 to the square root of p.
# Today "auto" is the same grid; in the committed rows it is the search of the first version.
_STADION = {
    "stadion_extend": ("extend", "auto"),
    "stadion_extend_sqrt": ("extend", "sqrt"),
    "stadion_extend_noise": ("noise", "auto"),
    "stadion_refit": ("refit", "auto"),
    "stadion_refit_sqrt": ("refit", "sqrt"),
    "stadion_default": ("auto", "auto"),
}
_STADION_FITS = {
    "kmeans": ("stadion_extend", "stadion_extend_sqrt", "stadion_refit", "stadion_default"),
    "ward": ("stadion_refit", "stadion_refit_sqrt", "stadion_default"),
    "gmm": ("stadion_extend", "stadion_extend_sqrt", "stadion_extend_noise", "stadion_default"),
    "gmm_best": ("stadion_extend", "stadion_extend_noise", "stadion_default"),
    "gmm_svd": ("stadion_extend",),
}
# What the default of stablek changes: the structure test decides about K = 1, and noise levels are
# geometric. Omega, restarts and candidates are the paper's.
_DEFAULT = {"one_cluster": "test", "levels": "geometric", "test": TEST_VERSION}
# Rough cost of a fit, relative to judging one set of partitions.
_WEIGHTS = {
    "judge": 1.0,
    "readings": 1.0,
    "stadion_extend": 1.5,
    "stadion_extend_sqrt": 1.0,
    "stadion_extend_noise": 1.5,
    "stadion_refit": 15.0,
    "stadion_refit_sqrt": 15.0,
    "stadion_default": 1.5,
    "lange": 2.0,
    "hennig": 5.0,
    "ben_hur": 11.0,
}
_GAP_WEIGHT = 6.0


def plan(protocol: Protocol) -> Iterator[Run]:
    """Every run of the experiment."""
    for dataset in protocol.benchmark:
        for algorithm in protocol.algorithms:
            for fit, common, methods, seeds in _fits(protocol, algorithm):
                for seed in seeds:
                    for method, own in methods.items():
                        run = (NAME, dataset, algorithm, method, seed, fit)
                        yield Run(*run, canonical(common), canonical(own))


def _fits(protocol: Protocol, algorithm: str) -> Iterator[tuple[str, dict, dict, tuple]]:
    """Name, settings, methods and seeds of each computation for an algorithm."""
    common = {"k_max": protocol.k_max, "n_init": protocol.n_init}
    resampled = {"k_max": protocol.k_max, "n_init": protocol.n_init_resampled}
    kmeans, one = algorithm == "kmeans", protocol.seeds[:1]

    for position, fit in enumerate(_STADION_FITS[algorithm]):
        relabel, epsilons = _STADION[fit]
        own = _DEFAULT if fit == "stadion_default" else {}
        settings = stadion_settings(protocol, relabel=relabel, epsilons=epsilons, **own)
        names = stadion_names(fit) + (["oracle"] if position == 0 else [])
        yield fit, settings, {name: {} for name in names}, protocol.seeds

    judged = _INDICES
    if kmeans:
        judged = judged | _OWN_SEARCH
    if algorithm.startswith("gmm"):
        judged = judged | {"bic": {}}
    yield "judge", common, judged, one if algorithm == "ward" else protocol.seeds

    if kmeans:
        yield "readings", common, {name: each[1] for name, each in READINGS.items()}, one
        for gap in ("gap_a", "gap_b"):
            for power in (1, 2):
                settings = {**resampled, "n_references": protocol.n_references, "power": power}
                names = {_gap_name(gap, power, rule): {"rule": rule} for rule in _GAP_RULES}
                yield f"{gap}_{power}", settings, names, one
        hennig = {**resampled, "n_bootstraps": protocol.n_bootstraps}
        names = {_hennig_name(rule): {"rule": rule} for rule in _HENNIG_RULES}
        yield "hennig", hennig, names, one
    if algorithm != "gmm_svd":
        yield "lange", {**resampled, "n_splits": protocol.n_splits}, {"lange": {}}, one
        yield "ben_hur", {**resampled, "n_pairs": protocol.n_pairs}, {"ben_hur": {}}, one


def _gap_name(gap: str, power: int, rule: str) -> str:
    name = gap if power == 1 else f"{gap}_power2"
    return name if rule == "firstSEmax" else f"{name}_{rule}"


def _hennig_name(rule: str) -> str:
    return "hennig" if rule == "mean" else f"hennig_{rule}"


def weight(task: Task) -> float:
    """Expected cost."""
    n_features, n_samples = data.size(task.dataset)
    power = 1.2 if task.algorithm.startswith("gmm") else 0.55
    share = {"ward": 0.1, "gmm_svd": 2.0}.get(task.algorithm, 1.0)
    return n_samples * n_features**power * share * _WEIGHTS.get(task.fit, _GAP_WEIGHT)


def compute(task: Task) -> dict[str, Any]:
    """Answers of the task's methods."""
    X, y = data.load(task.dataset)
    if task.fit.startswith("stadion"):
        return _stadion(task, X, y)
    if task.fit in ("judge", "readings"):
        return _judge(task, X)
    return _resample(task, X)


def _stadion(task: Task, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Both aggregations, and the oracle: the true K, with the ARI of the partition of every K."""
    model, seconds = fit_stadion(X, task.algorithm, task.seed, task.common)
    outcomes = stadion_outcomes(model, seconds, *stadion_affixes(task.fit))
    aris = [compare_labels(y, labels) for labels in model.reference_labels_]
    truth = len(np.unique(y))
    return outcomes | {"oracle": {"k": truth, "seconds": 0.0, "details": {"ari": aris}}}


def _judge(task: Task, X: np.ndarray) -> dict[str, Any]:
    """Methods that judge given partitions. The time of each includes making the partitions."""
    model = data.clusterer(task.algorithm, task.common["n_init"])
    ks = range(1, task.common["k_max"] + 1)
    selectors = {
        name: SELECTORS[READINGS.get(name, (name,))[0]](**own)
        for name, own in task.methods.items()
    }
    table = compare(X, selectors, {"": model}, k_range=ks, random_state=task.seed)
    shared = table.reference_seconds[""]
    return {
        row.method: _outcome(row.n_clusters, row.seconds + shared, row.abstention) for row in table
    }


def _outcome(k: int | None, seconds: float, abstention: str | None) -> dict[str, Any]:
    details = {} if abstention is None else {"abstention": abstention}
    return {"k": k, "seconds": seconds, "details": details}


def _resample(task: Task, X: np.ndarray) -> dict[str, Any]:
    """Gap, Hennig, Lange, Ben-Hur: one fit gives the answers of every rule."""
    method = task.fit.removesuffix("_1").removesuffix("_2")
    selector, seconds = fit_selector(X, method, task.algorithm, task.seed, task.common)
    answers = {
        name: selector.answers_.get(own["rule"]) if own else selector.n_clusters_
        for name, own in task.methods.items()
    }
    return {
        name: _outcome(k, seconds, None if k is not None else selector.abstention_)
        for name, k in answers.items()
    }
