"""Beyond the paper: the real data that come with scikit-learn, whose true K nobody knows."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from stablek import Stadion, subsample_frequency
from stablek.similarity import compare_labels
from study import data
from study.experiments.harder import ALGORITHMS, DEFAULT, JUDGED, RESAMPLED, RESAMPLING
from study.fitting import AGGREGATIONS, fit_selector, judge
from study.plan import Run, Task, canonical
from study.protocol import TEST_VERSION, Protocol

NAME = "real"

_WEIGHTS = {"stadion": 3.0, "judge": 1.0, "subsamples": 25.0}
_SHARES = {"gmm_best": 6.0}


def plan(protocol: Protocol) -> Iterator[Run]:
    """Every run of the experiment."""
    for dataset, standardize in (*protocol.real, *protocol.real_unlabeled):
        for algorithm in ALGORITHMS:
            for fit, options, methods in _fits(protocol, algorithm):
                common = {"standardize": standardize, **options}
                for method in methods:
                    yield Run(NAME, dataset, algorithm, method, 0, fit, canonical(common))


def _fits(protocol: Protocol, algorithm: str) -> Iterator[tuple[str, dict[str, Any], tuple]]:
    common = {"k_max": protocol.real_k_max, "n_init": protocol.archetype_n_init}
    test = {"n_reference_sets": protocol.n_reference_sets, "test": TEST_VERSION}
    yield "stadion", common | test, DEFAULT
    yield "judge", common, JUDGED[algorithm]
    for method in RESAMPLING[algorithm]:
        count = protocol.n_resamples // (2 if method == "lange" else 1)
        n_init = min(protocol.n_init_resampled, protocol.archetype_n_init)
        yield method, common | {"n_init": n_init, RESAMPLED[method]: count}, (method,)
    subsamples = {"n_subsamples": protocol.n_subsamples}
    yield "subsamples", common | test | subsamples, ("subsamples",)


def weight(task: Task) -> float:
    """Expected cost."""
    p, n = data.size(task.dataset)
    share = _WEIGHTS.get(task.fit, 1.0) * _SHARES.get(task.algorithm, 1.0)
    return share * n * p**0.5 / 1000


def compute(task: Task) -> dict[str, Any]:
    """Answers of the task's methods."""
    X, y = data.load(task.dataset, task.seed, task.common["standardize"])
    if task.fit == "stadion":
        return _stadion(task, X, y)
    if task.fit == "subsamples":
        started = perf_counter()
        found = subsample_frequency(_model(task), X, task.common["n_subsamples"])
        counts = {str(k): count for k, count in found.counts.items()}
        return {"subsamples": {"seconds": perf_counter() - started, "details": counts}}
    if task.fit == "judge":
        return judge(task, X)
    options = {name: value for name, value in task.common.items() if name != "standardize"}
    selector, seconds = fit_selector(X, task.fit, task.algorithm, task.seed, options)
    return {task.fit: {"k": selector.n_clusters_, "seconds": seconds}}


def _model(task: Task) -> Stadion:
    return Stadion(
        data.clusterer(task.algorithm, task.common["n_init"]),
        k_range=range(1, task.common["k_max"] + 1),
        n_reference_sets=task.common["n_reference_sets"],
        random_state=task.seed,
    )


def _stadion(task: Task, X: np.ndarray, y: np.ndarray | None) -> dict[str, Any]:
    started = perf_counter()
    model = _model(task).fit(X)
    seconds = perf_counter() - started
    outcomes = {}
    for method, aggregation in zip(DEFAULT, AGGREGATIONS, strict=True):
        chosen = model.reselect(aggregation=aggregation)
        details = {"pvalue": float(model.structure_pvalue_)}
        if y is not None:
            labels = model.reference_labels_[list(model.k_values_).index(chosen.best_value)]
            details["ari"] = round(compare_labels(y, labels), 4)
        outcomes[method] = {
            "k": int(chosen.best_value),
            "seconds": seconds,
            "details": details,
        }
    return outcomes
