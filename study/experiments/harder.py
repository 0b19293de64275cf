"""Beyond the paper: data sets of chosen difficulty, with known K from 1 to 20."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from time import perf_counter
from typing import Any

import numpy as np

from stablek import Stadion, structure_test
from stablek.similarity import compare_labels
from study import data, generator
from study.experiments.table1 import INDICES
from study.fitting import AGGREGATIONS, fit_selector, judge
from study.plan import Run, Task, canonical
from study.protocol import TEST_VERSION, Protocol

NAME = "harder"

DESIGN = 1
"""Part of the settings of every run. Raise it when `study.generator` draws other sets."""

ALPHA = 0.05
ALGORITHMS = ("kmeans", "ward", "gmm_best")
DEFAULT = tuple(f"stadion_{aggregation}_default" for aggregation in AGGREGATIONS)
CROSSING = tuple(f"stadion_{aggregation}_crossing" for aggregation in AGGREGATIONS)
JUDGED = {
    "kmeans": (*INDICES, "elbow", "x_means", "g_means", "hofmeyr", "special_k"),
    "ward": (*INDICES, "elbow"),
    "gmm_best": (*INDICES, "bic"),
}
# Methods that cluster many sets, with the parameter that says how many.
RESAMPLED = {
    "gap_a": "n_references",
    "gap_b": "n_references",
    "hennig": "n_bootstraps",
    "ben_hur": "n_pairs",
    "lange": "n_splits",
}
RESAMPLING = {"kmeans": tuple(RESAMPLED), "ward": ("ben_hur", "lange"), "gmm_best": ()}
_WEIGHTS = {"stadion": 1.2, "judge": 0.6, "crossing": 1.0, "lange": 0.3}
_SHARES = {"ward": 0.5, "gmm_best": 4.0}
_FIRST, _FEW = 100, 40  # sets on which quick methods run first, and the others after them


def plan(protocol: Protocol) -> Iterator[Run]:
    """Every run of the experiment."""
    for number in range(protocol.n_archetypes):
        for algorithm in ALGORITHMS:
            if algorithm == "gmm_best" and number >= protocol.n_archetypes_mixtures:
                continue
            for fit, common, methods in _fits(protocol, algorithm, number):
                for method in methods:
                    dataset = f"{generator.PREFIX}{number:03d}"
                    yield Run(NAME, dataset, algorithm, method, 0, fit, canonical(common))


def _fits(
    protocol: Protocol, algorithm: str, number: int
) -> Iterator[tuple[str, dict[str, Any], tuple[str, ...]]]:
    """Name, settings and methods of each computation on one set."""
    common = {
        "k_max": protocol.archetype_k_max,
        "n_init": protocol.archetype_n_init,
        "design": DESIGN,
    }
    test = {"alpha": ALPHA, "n_reference_sets": protocol.n_reference_sets, "test": TEST_VERSION}
    yield "stadion", common | test, (*DEFAULT, "oracle")
    yield "judge", common, JUDGED[algorithm]
    if number < protocol.n_archetypes_resampled:
        if algorithm != "gmm_best":
            yield "crossing", common, CROSSING
        for method in RESAMPLING[algorithm]:
            count = protocol.n_resamples // (2 if method == "lange" else 1)
            n_init = min(protocol.n_init_resampled, protocol.archetype_n_init)
            yield method, common | {"n_init": n_init, RESAMPLED[method]: count}, (method,)


def weight(task: Task) -> float:
    """Expected cost, roughly in seconds."""
    p, n = data.size(task.dataset)
    share = _WEIGHTS.get(task.fit, 0.6) * _SHARES.get(task.algorithm, 1.0)
    return share * (n / 400) * (p / 5) ** 0.35


def order(task: Task) -> tuple[int, ...]:
    """All methods and algorithms on a few sets, then K-means and Ward on all, then the rest."""
    number = int(task.dataset.removeprefix(generator.PREFIX))
    quick = task.algorithm != "gmm_best" and task.fit in ("stadion", "judge")
    stages = (0, 2) if quick else (1, 3)
    stage = stages[number >= (_FIRST if quick else _FEW)]
    return stage, number, ALGORITHMS.index(task.algorithm)


def compute(task: Task) -> dict[str, Any]:
    """Answers of the task's methods."""
    X, y = data.load(task.dataset, task.seed)
    if task.fit in ("stadion", "crossing"):
        return _stadion(task, X, y)
    if task.fit == "judge":
        return judge(task, X)
    options = {name: value for name, value in task.common.items() if name != "design"}
    selector, seconds = fit_selector(X, task.fit, task.algorithm, task.seed, options)
    return {task.fit: {"k": selector.n_clusters_, "seconds": seconds}}


def _stadion(task: Task, X: np.ndarray, y: np.ndarray) -> dict[str, Any]:
    """Stadion with default settings, or with the paper's rule for K = 1; and the oracle."""
    shares_test = task.algorithm != "gmm_best"  # Ward's test uses the partitions of K-means
    rule = "crossing" if task.fit == "crossing" else "never" if shares_test else "test"
    tested = {name: task.common[name] for name in ("alpha", "n_reference_sets") if rule == "test"}
    started = perf_counter()
    model = Stadion(
        data.clusterer(task.algorithm, task.common["n_init"]),
        k_range=range(1, task.common["k_max"] + 1),
        one_cluster=rule,
        random_state=task.seed,
        **tested,
    ).fit(X)
    pvalue = _pvalue(task) if rule == "never" else float(model.structure_pvalue_)
    seconds = perf_counter() - started
    if rule == "crossing":
        return _answers(model, CROSSING, False, {"seconds": seconds, "details": {}})
    outcome = {"seconds": seconds, "details": {"pvalue": pvalue}}
    answers = _answers(model, DEFAULT, pvalue > task.common["alpha"], outcome)
    return answers | {"oracle": _oracle(task, y, model)}


def _answers(
    model: Stadion, names: tuple[str, ...], one_cluster: bool, outcome: dict[str, Any]
) -> dict[str, Any]:
    """Outcome of each aggregation with its K, which is 1 if that is known already."""
    best = [model.reselect(aggregation=aggregation).best_value for aggregation in AGGREGATIONS]
    return {
        name: {"k": 1 if one_cluster else int(k), **outcome}
        for name, k in zip(names, best, strict=True)
    }


def _pvalue(task: Task) -> float:
    """p-value of the structure test of Stadion: the same for K-means and for Ward."""
    common = task.common
    options = (common["alpha"], common["n_reference_sets"], common["k_max"])
    return _test(task.dataset, task.seed, *options)


@lru_cache(maxsize=4)
def _test(dataset: str, seed: int, alpha: float, n_sets: int, k_max: int) -> float:
    X, _ = data.load(dataset, seed)
    found = structure_test(
        X,
        k_range=range(2, k_max + 1),
        alpha=alpha,
        n_reference_sets=n_sets,
        random_state=seed,
    )
    return found.pvalue


def _oracle(task: Task, y: np.ndarray, model: Stadion) -> dict[str, Any]:
    """The true K, the ARI of the partition of every K, and the ARI that the truth reaches.

    The truth labels points by the nearest true center or, for mixtures, by the likeliest true
    component.
    """
    aris = [round(compare_labels(y, labels), 4) for labels in model.reference_labels_]
    archetype = generator.named(task.dataset)
    clusters = generator.draw(archetype, task.seed)
    mixture = task.algorithm == "gmm_best"
    best = clusters.by_components() if mixture else clusters.by_centers()
    details = {"ari": aris, "attainable": round(compare_labels(y, best), 4)}
    return {"k": archetype.n_clusters, "seconds": 0.0, "details": details}
