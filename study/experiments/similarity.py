"""Experiment 6: sixteen similarity measures, inside Stadion and as measures of success."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.base import clone

from stablek import compare
from stablek.similarity import compare_labels
from study import data
from study.fitting import AGGREGATIONS, stadion, stadion_outcomes, stadion_settings
from study.plan import Run, Task, canonical
from study.protocol import Protocol

NAME = "similarity"
FIT = "measures"
EXTERNAL = "external"


def plan(protocol: Protocol) -> Iterator[Run]:
    """Two runs for each measure and data set, and one that compares every K with the truth."""
    # All measures use the same noise levels and the same reference partitions.
    common = stadion_settings(protocol, epsilons="sqrt")
    del common["similarity"]
    shared = canonical(common)
    for dataset in protocol.benchmark:
        where = (NAME, dataset, "kmeans")
        measures = canonical({"measures": protocol.measures})
        yield Run(*where, EXTERNAL, protocol.seeds[0], FIT, shared, measures)
        for measure in protocol.measures:
            for aggregation in AGGREGATIONS:
                own = canonical({"similarity": measure})
                yield Run(*where, f"{measure}_{aggregation}", protocol.seeds[0], FIT, shared, own)


def weight(task: Task) -> float:
    """Expected cost."""
    n_features, n_samples = data.size(task.dataset)
    return n_samples * n_features**0.5


def compute(task: Task) -> dict[str, Any]:
    """K chosen with each measure inside Stadion, and the success of every K by all measures."""
    X, y = data.load(task.dataset)
    methods = dict(task.methods)
    measures = methods.pop(EXTERNAL, {"measures": ()})["measures"]
    base = stadion(X, task.algorithm, task.seed, task.common)
    selectors = {own["similarity"]: clone(base).set_params(**own) for own in methods.values()} or {
        "ari": base
    }
    table = compare(
        X, selectors, {"": base.clusterer}, k_range=base.k_range, random_state=task.seed
    )
    shared = table.reference_seconds[""]
    outcomes: dict[str, Any] = {}
    for row in table:
        outcomes |= stadion_outcomes(row.selector, row.seconds + shared, f"{row.method}_", "")
    # All rows have the same reference partitions.
    partitions = table.rows[0].selector.reference_labels_
    success = {
        measure: [compare_labels(y, labels, measure) for labels in partitions]
        for measure in measures
    }
    outcomes[EXTERNAL] = {"k": len(np.unique(y)), "seconds": 0.0, "details": success}
    return outcomes
