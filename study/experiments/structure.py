"""Experiment 7: is there any cluster structure? False alarms and power of the structure test.

The drawings come in blocks of ten, so that a partial run covers every distribution and dimension
before any of them gets more drawings.
"""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from stablek import Stadion, structure_test
from study import data
from study.fitting import fit_selector
from study.plan import Run, Task, canonical
from study.protocol import TEST_VERSION, Protocol

NAME = "structure"

ALPHA = 0.05
WIDE = 100
"""From this dimension on, only the test with K-means runs, and only on few points."""

RIVALS = ("dip", "crossing", "gap_a", "gap_b")
_ROTATED_ONLY = ("rotated_exponential", "correlated", "ball", "sphere")
_BLOCK = 10
_SLOW = {"ward": 8.0, "gmm": 8.0}
_WEIGHTS = {"dip": 0.01, "crossing": 0.5, "gap_a": 1.5, "gap_b": 1.5, "stadion": 3.0}


def shapes(protocol: Protocol) -> list[str]:
    """Names of the data sets without clusters. Some shapes need two dimensions."""
    return [
        f"{kind}_{p}d_{n}"
        for kind in protocol.shapes
        for p in protocol.shape_dimensions
        for n in (*protocol.sizes, protocol.tested_rows)
        if not (p == 1 and kind in _ROTATED_ONLY) and not (p >= WIDE and n >= 1000)
    ]


def pairs(protocol: Protocol) -> list[str]:
    """Names of the pairs of Gaussians."""
    return [
        f"{kind}_{p}d_{n}"
        for kind in data.ROTATED_PAIRS
        for p in protocol.pair_dimensions
        for n in protocol.sizes
    ]


def plan(protocol: Protocol) -> Iterator[Run]:
    """Every run of the experiment."""
    many, few = protocol.n_shape_drawings, protocol.n_few_drawings
    k_max = protocol.unclustered_k_max
    for name in shapes(protocol):
        p, n = data.size(name)
        drawings = few if n == protocol.tested_rows else many
        yield from _runs(protocol, name, "kmeans", ("test",), range(drawings), k_max)
        if p < WIDE and n in protocol.sizes:
            yield from _runs(protocol, name, "gmm", ("test",), range(few), k_max)
        if p < WIDE and n == min(protocol.sizes):
            yield from _runs(protocol, name, "ward", ("test",), range(few), k_max)
            yield from _runs(protocol, name, "kmeans", RIVALS, range(few), k_max)
    for name in pairs(protocol):
        yield from _runs(protocol, name, "kmeans", ("test", *RIVALS), range(few), k_max)
    for name in protocol.benchmark:
        fits = ("test", *RIVALS)
        yield from _runs(
            protocol, name, "kmeans", fits, range(1), protocol.structure_k_max, standardize=True
        )
    known = (*((name, True) for name in protocol.unclustered), *protocol.real)
    for name, standardize in known:
        yield from _runs(
            protocol, name, "kmeans", ("stadion",), range(few), k_max, standardize=standardize
        )


def _runs(
    protocol: Protocol,
    dataset: str,
    algorithm: str,
    fits: tuple[str, ...],
    seeds: range,
    k_max: int,
    *,
    standardize: bool = False,
) -> Iterator[Run]:
    for fit in fits:
        common: dict[str, Any] = {"standardize": standardize}
        if fit != "dip":
            common["k_max"] = k_max
        if fit in ("test", "stadion"):
            common |= {
                "alpha": ALPHA,
                "n_reference_sets": protocol.n_reference_sets,
                "test": TEST_VERSION,
            }
        if fit.startswith("gap"):
            common |= {
                "n_init": protocol.n_init_resampled,
                "n_references": protocol.n_references,
            }
        for seed in seeds:
            yield Run(NAME, dataset, algorithm, fit, seed, fit, canonical(common))


def weight(task: Task) -> float:
    """Expected cost, roughly in seconds."""
    share = _WEIGHTS.get(task.fit, 1.0) * _SLOW.get(task.algorithm, 1.0)
    return share * weight_of(task.dataset, 1000 if task.fit == "test" else None)


def weight_of(dataset: str, most_rows: int | None = None) -> float:
    """Expected seconds of a test with K-means on a data set, or on so many of its rows."""
    p, n = data.size(dataset)
    return 0.008 * min(n, most_rows or n) ** 0.7 * p**0.35


def order(task: Task) -> tuple[float, ...]:
    """Blocks of ten drawings; in a block first what matters most, in every cell once."""
    return (task.seed // _BLOCK, _stage(task), task.seed, weight(task))


def _stage(task: Task) -> int:
    p, n = data.size(task.dataset)
    pair = task.dataset.startswith("rotated_pair")
    known = task.common["standardize"] or task.fit == "stadion"
    if task.algorithm == "kmeans" and task.fit in ("test", "stadion"):
        if known:
            return 2 if task.seed == 0 else 5
        if p >= WIDE and not pair:
            return 7
        return int(pair) if n <= 200 else 3
    if task.fit == "dip":  # takes no time
        return 1
    if task.fit != "test":
        return 5 if pair and n <= 200 else 8
    return {"ward": 6, "gmm": 6}[task.algorithm] if n <= 200 else 9


def compute(task: Task) -> dict[str, Any]:
    """Answer of the task's method. Each seed draws new points, if the points are drawn."""
    X, _ = data.load(task.dataset, task.seed, task.common["standardize"])
    if task.fit.startswith("gap"):
        options = {name: task.common[name] for name in ("k_max", "n_init", "n_references")}
        selector, seconds = fit_selector(X, task.fit, task.algorithm, task.seed, options)
        return {task.fit: {"k": selector.n_clusters_, "seconds": seconds}}
    started = perf_counter()
    outcome = _FITS[task.fit](X, task)
    return {task.fit: {"seconds": perf_counter() - started, **outcome}}


def _test(X: np.ndarray, task: Task) -> dict[str, Any]:
    if task.algorithm == "gmm":  # Stadion decides whether the test uses the mixture's partitions
        return {"details": _stadion(X, task)["details"]}
    found = structure_test(
        X,
        _own_clusterer(task),
        k_range=range(2, task.common["k_max"] + 1),
        alpha=task.common["alpha"],
        n_reference_sets=task.common["n_reference_sets"],
        random_state=task.seed,
    )
    return {"details": _evidence(found)}


def _own_clusterer(task: Task) -> Any:
    return None if task.algorithm == "kmeans" else data.clusterer(task.algorithm)


def _evidence(found: Any) -> dict[str, Any]:
    """What the rows keep of a test."""
    n_sets = {len(each) for each in found.reference_statistics.values()}
    return {"pvalue": found.pvalue, "pvalues": found.pvalues, "n_sets": max(n_sets)}


def _stadion(X: np.ndarray, task: Task) -> dict[str, Any]:
    """Stadion with default settings."""
    model = Stadion(
        _own_clusterer(task),
        k_range=range(1, task.common["k_max"] + 1),
        alpha=task.common["alpha"],
        n_reference_sets=task.common["n_reference_sets"],
        random_state=task.seed,
    ).fit(X)
    return {"k": model.n_clusters_, "details": _evidence(model.structure_test_)}


def _crossing(X: np.ndarray, task: Task) -> dict[str, Any]:
    """The paper's rule."""
    ks = range(1, task.common["k_max"] + 1)
    model = Stadion(k_range=ks, one_cluster="crossing", random_state=task.seed).fit(X)
    return {"k": model.n_clusters_}


def _dip(X: np.ndarray, task: Task) -> dict[str, Any]:
    """Hartigan's dip test of the first principal component."""
    from diptest import diptest

    centered = X - X.mean(axis=0)
    _, _, axes = np.linalg.svd(centered, full_matrices=False)
    _, pvalue = diptest(centered @ axes[0])
    return {"details": {"pvalue": float(pvalue)}}


_FITS = {"test": _test, "stadion": _stadion, "crossing": _crossing, "dip": _dip}
