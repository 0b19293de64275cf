"""What each method costs: CPU seconds of one core, all measured in one go."""

from __future__ import annotations

from collections.abc import Iterator
from time import process_time
from typing import Any

from sklearn.base import clone

from stablek import Stadion
from stablek.selectors import SELECTORS
from study import data
from study.experiments.table1 import INDICES
from study.plan import Run, Task, canonical
from study.protocol import TEST_VERSION, Protocol

NAME = "seconds"
SERIAL = True  # parallel runs would distort the times

_STADION = {
    "stadion_default": {},
    "stadion_predict": {"relabel": "predict", "one_cluster": "crossing"},
    "stadion_refit": {"relabel": "refit", "one_cluster": "crossing"},
}
_OTHERS = {
    "kmeans": (
        "x_means",
        "g_means",
        "hofmeyr",
        "special_k",
        "gap_a",
        "gap_b",
        "hennig",
        "lange",
        "ben_hur",
    ),
    "ward": ("lange", "ben_hur"),
    "gmm_best": ("bic", "lange", "ben_hur"),
}
_FITS = {
    "kmeans": ("stadion_default", "stadion_predict", "stadion_refit"),
    "ward": ("stadion_default", "stadion_refit"),
    "gmm_best": ("stadion_default", "stadion_predict"),
}
_LAST = {("kmeans", "stadion_refit"), ("gmm_best", "ben_hur"), ("gmm_best", "lange")}


def methods_of(algorithm: str) -> tuple[str, ...]:
    """Methods that are timed with an algorithm."""
    return (*_FITS[algorithm], *INDICES, *_OTHERS[algorithm])


def plan(protocol: Protocol) -> Iterator[Run]:
    """One run for each method and data set."""
    for dataset in protocol.timed:
        for algorithm in _FITS:
            for method in methods_of(algorithm):
                common: dict[str, Any] = {
                    "k_max": protocol.timed_k_max,
                    "n_init": protocol.archetype_n_init,
                }
                if method == "stadion_default":
                    common["test"] = TEST_VERSION
                yield Run(NAME, dataset, algorithm, method, 0, method, canonical(common))


def weight(task: Task) -> float:
    """Expected cost."""
    p, n = data.size(task.dataset)
    return n * p * (10.0 if order(task)[0] else 1.0)


def order(task: Task) -> tuple[int, int]:
    """The slowest methods last, and small sets first."""
    p, n = data.size(task.dataset)
    return int((task.algorithm, task.fit) in _LAST), n * p


def compute(task: Task) -> dict[str, Any]:
    """CPU seconds of a fit that makes its own partitions, with the defaults of the method."""
    X, _ = data.load(task.dataset)
    ks = range(1, task.common["k_max"] + 1)
    own = data.clusterer(task.algorithm, task.common["n_init"])
    options = {"k_range": ks, "random_state": task.seed, "n_jobs": 1}
    if task.fit in _STADION:
        model: Any = Stadion(own, **options, **_STADION[task.fit])
    else:
        model = SELECTORS[task.fit](own, **options)
    clone(model).set_params(k_range=range(1, 4)).fit(X[::3])  # compiles the kernels
    started = process_time()
    model.fit(X)
    return {task.fit: {"k": model.n_clusters_, "seconds": process_time() - started}}
