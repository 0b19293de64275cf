"""Experiment 6: sixteen similarities, inside Stadion and as measures of success."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from stablek.similarity import compare_labels
from study import data
from study.fitting import fit_stadion, stadion_outcomes, stadion_settings
from study.plan import Run, Task, canonical
from study.protocol import Protocol

NAME = "similarity"

EXTERNAL = "external"


def plan(protocol: Protocol) -> Iterator[Run]:
    """Two runs for each measure and data set, and one of all measures against the truth."""
    seed = protocol.seeds[0]
    shared = canonical({"k_max": protocol.k_max, "n_init": protocol.n_init})
    for dataset in protocol.benchmark:
        where = (NAME, dataset, "kmeans")
        yield Run(
            *where, EXTERNAL, seed, EXTERNAL, shared, canonical({"measures": protocol.measures})
        )
        for measure in protocol.measures:
            # The same noise levels for all measures.
            common = stadion_settings(protocol, similarity=measure, epsilons="sqrt")
            for aggregation in ("max", "mean"):
                yield Run(*where, f"{measure}_{aggregation}", seed, measure, canonical(common))


def weight(task: Task) -> float:
    """Expected cost."""
    n_features, n_samples = data.size(task.dataset)
    return n_samples * n_features**0.5


def compute(task: Task) -> dict[str, Any]:
    """K by one measure inside Stadion, or every K's success by all measures."""
    X, y = data.load(task.dataset)
    if task.fit != EXTERNAL:
        model, seconds = fit_stadion(X, task.algorithm, task.seed, task.common)
        return stadion_outcomes(model, seconds, f"{task.fit}_", "")
    model = data.clusterer(task.algorithm, task.common["n_init"])
    found = data.partitions(X, model, task.common["k_max"], task.seed)
    success = {
        measure: np.round([compare_labels(y, labels, measure) for labels in found.values()], 4)
        for measure in task.methods[EXTERNAL]["measures"]
    }
    details = {measure: values.tolist() for measure, values in success.items()}
    return {EXTERNAL: {"k": len(np.unique(y)), "seconds": 0.0, "details": details}}
