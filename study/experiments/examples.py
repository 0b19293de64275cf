"""Experiment 4: the paper's examples."""

from __future__ import annotations

from collections.abc import Iterator
from time import perf_counter
from typing import Any

import numpy as np

from stablek import datasets
from study import data
from study.fitting import fit_selector, fit_stadion, paths_outcome, stadion_settings
from study.plan import Run, Task, canonical
from study.protocol import Protocol

NAME = "examples"

# Initializations for the correlated Gaussians: number of starts by algorithm name.
INITIALIZATIONS = {"kmeans": 35, "kmeans_single": 1, "kmeans_random": 1}
SAMPLING = ("stadion_bootstrap", "ben_hur", "lange")
JUDGES = ("dunn", "silhouette", "wemmert_gancarski", "calinski_harabasz", "ben_hur", "lange")


def points(name: str, n_samples: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Standardized points and labels of an example."""
    if name in data.INFO:
        return data.load(name)
    maker = {
        "three_gaussians": datasets.make_three_gaussians,
        "k_to_n": datasets.make_three_gaussians,
        "correlated_gaussians": datasets.make_correlated_gaussians,
        "jump_symmetry": datasets.make_symmetric_triangle,
        "jump_init": datasets.make_three_gaussians,
    }[name]
    X, y = maker(n_samples, random_state=seed)
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def plan(protocol: Protocol) -> Iterator[Run]:
    """Every run of the experiment."""
    size = protocol.example_size
    paths = {
        "three_gaussians": (size, 6, protocol.omega_max),
        "k_to_n": (min(size, 50), min(size, 50), protocol.omega_max),
        "2d-4c": (size, 6, 6),
        "4clusters_corner": (size, 5, protocol.omega_max),
        "golfball": (size, 6, protocol.omega_max),
    }
    for name, (n_samples, k_max, omega) in paths.items():
        if name in data.INFO and name not in protocol.examples:
            continue
        yield _run(protocol, name, n_samples, "kmeans", "stadion", k_max=k_max, omega=[2, omega])
        if name in ("2d-4c", "4clusters_corner"):
            for method in JUDGES:
                yield _run(protocol, name, size, "kmeans", method, k_max=10)
    for seed in protocol.example_seeds:
        for algorithm in INITIALIZATIONS:
            for method in ("stadion", *SAMPLING):
                options = {"k_max": 6, "omega": [2, 6], "seed": seed}
                yield _run(protocol, "correlated_gaussians", size, algorithm, method, **options)
    for name in ("jump_symmetry", "jump_init"):
        common = {"n_samples": 3 * (size // 5), "n_jumps": protocol.n_jumps}
        yield Run(NAME, name, "kmeans", "jumps", 0, "jumps", canonical(common))


def _run(
    protocol: Protocol,
    name: str,
    n_samples: int,
    algorithm: str,
    method: str,
    *,
    seed: int = 0,
    **changes: Any,
) -> Run:
    n_init = min(INITIALIZATIONS[algorithm], protocol.n_init)
    if method.startswith("stadion"):
        kind = "bootstrap" if method == "stadion_bootstrap" else "uniform"
        changes |= {"n_init": n_init, "relabel": "refit", "perturbation": kind}
        common = stadion_settings(protocol, **changes)
    else:
        common = {"k_max": changes["k_max"], "n_init": n_init}
        if method == "silhouette":
            common["average"] = "macro"  # as in Table 1
        if method == "lange":
            common["n_splits"] = protocol.n_splits
        if method == "ben_hur":
            common["n_pairs"] = protocol.n_pairs
    common = {**common, "n_samples": n_samples}
    return Run(NAME, name, algorithm, method, seed, method, canonical(common))


def weight(task: Task) -> float:
    """Expected cost."""
    return float(task.common["n_samples"])


def compute(task: Task) -> dict[str, Any]:
    """Answer of the task's method."""
    options = dict(task.common)
    X, y = points(task.dataset, options.pop("n_samples"), task.seed)
    if task.fit == "jumps":
        return {"jumps": _jumps(task.dataset, X, y, options["n_jumps"])}
    if task.fit.startswith("stadion"):
        model, seconds = fit_stadion(X, task.algorithm, task.seed, options)
        return {task.fit: paths_outcome(model, y, seconds)}
    selector, seconds = fit_selector(X, task.fit, task.algorithm, task.seed, options)
    scores = [None if np.isnan(each) else float(each) for each in selector.scores_]
    details = {"scores": scores, "k_values": selector.k_values_.tolist()}
    return {task.fit: {"k": selector.n_clusters_, "seconds": seconds, "details": details}}


def _jumps(name: str, X: np.ndarray, y: np.ndarray, n_jumps: int) -> dict[str, Any]:
    """Kinds of solutions, by how they split the true clusters, and how often each was found."""
    started = perf_counter()
    found: dict[str, Any] = {}
    for jump in range(n_jumps):
        if name == "jump_symmetry":  # a little noise and good starts: the data decide
            X_jump = X + np.random.default_rng(jump).uniform(-0.05, 0.05, X.shape)
            model = data.clusterer("kmeans", 10).set_params(n_clusters=2, random_state=jump)
        else:  # no noise and one random start: the start decides
            X_jump = X
            model = data.clusterer("kmeans_random", 1).set_params(n_clusters=4, random_state=jump)
        labels = model.fit(X_jump).labels_
        # Share of each label in each true cluster. A few points across a border do not matter.
        shares = np.array([np.bincount(labels[y == c], minlength=4) for c in range(3)])
        shares = shares / shares.sum(axis=1, keepdims=True)
        kind = _joined(shares) if name == "jump_symmetry" else _split(shares)
        seen = found.setdefault(kind, {"count": 0, "labels": "".join(map(str, labels))})
        seen["count"] += 1
    return {"k": len(found), "seconds": perf_counter() - started, "details": found}


def _joined(shares: np.ndarray) -> str:
    main = shares.argmax(axis=1).tolist()
    alone = [cluster for cluster in range(3) if main.count(main[cluster]) == 1]
    return f"cluster {alone[0] + 1} alone" if len(alone) == 1 else "other"


def _split(shares: np.ndarray) -> str:
    parts = (shares > 0.1).sum(axis=1)
    return f"cluster {parts.argmax() + 1} split" if sorted(parts) == [1, 1, 2] else "other"
