"""Starts of K-means refits: what merged ones save, and what they lose or gain.

    STABLEK_DATA_DIR=... python -m benchmarks.merged_starts [n_init [n_starts ...]]
    STABLEK_DATA_DIR=... python -m benchmarks.merged_starts stadion [n_init [n_draws]]

The yardstick is the former rule of refits: `n_init` plain starts by k-means++ beside the reference
centers. Merged starts (`stablek.kernels.kmeans.merging`) are fewer, and the winner is polished.

The first form fits noisy copies at five noise levels: of all points (K from 2 to 60), and of the
clusters of the partition into ten (K from 2 to 10). For both it prints the CPU time of the
yardstick over that of the rule, mean inertia over that of the yardstick, and the mean ratio of
inertias. The second form fits standard Stadion with the paper's settings and both rules, and
prints the ratio of CPU times and both answers.
"""

from __future__ import annotations

import os
import sys
from time import process_time
from typing import Any
from unittest import mock

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from benchmarks.kmeans_quality import NAMES
from stablek import Stadion
from stablek.datasets import fetch_benchmark
from stablek.engines.kmeans import KMeansEngine
from stablek.engines.kmeans.fits import FitPlan, fit
from stablek.kernels.kmeans.records import KMeansParameters
from stablek.results import Request

LEVELS = np.array([0.1, 0.3, 0.6, 1.0, 1.5])
REPEATS = 2


def former(parameters: KMeansParameters, n_init: int) -> KMeansParameters:
    """Parameters of refits as they were: all starts, without swaps."""
    return parameters._replace(n_init=n_init, n_rounds=0, refit=False)


def work(X: Any, groups: list[Any], k_values: range) -> tuple[Any, FitPlan, Any]:
    """Noise, fits of all noisy copies of some groups of rows, and reference centers for each."""
    engine = KMeansEngine(KMeans(n_init=10))
    references = engine.references(X, [Request(rows, tuple(k_values)) for rows in groups], 0)
    noise = np.random.default_rng(1).uniform(-0.5, 0.5, X.shape)
    n_levels, sizes = len(LEVELS), np.array([len(rows) for rows in groups])
    n_sets = n_levels * len(groups)
    plan = FitPlan(
        np.concatenate(groups),
        np.repeat(np.cumsum(sizes) - sizes, n_levels),
        np.repeat(sizes, n_levels),
        np.tile(LEVELS, len(groups)),
        np.repeat(np.arange(n_sets), len(k_values)),
        np.tile(np.array(k_values), n_sets),
    )
    models = [p.model for own in references for _ in LEVELS for p in own]
    return noise, plan, np.concatenate(models)


def inertias(X: Any, noise: Any, plan: FitPlan, labels: Any, first_label: Any) -> Any:
    """Sum of squared distances from the means of the clusters, for each fit."""
    found = []
    for owner, k, first in zip(plan.fit_sets, plan.k_values, first_label, strict=True):
        own = slice(plan.first_row[owner], plan.first_row[owner] + plan.sizes[owner])
        points = (X + plan.epsilons[owner] * noise)[plan.rows[own]]
        points -= points.mean(axis=0)
        codes = labels[first : first + len(points)]
        counts = np.maximum(np.bincount(codes, minlength=k), 1)
        explained = sum(
            (np.bincount(codes, weights=column, minlength=k) ** 2 / counts).sum()
            for column in points.T
        )
        found.append((points**2).sum() - explained)
    return np.array(found)


def measured(X: Any, groups: list[Any], k_values: range, rules: Any) -> Any:
    """Speed, mean inertia and mean ratio of inertias of each rule, relative to the first."""
    noise, plan, guides = work(X, groups, k_values)
    seconds, inertia = np.full((REPEATS, len(rules)), np.inf), []
    for repeat in range(REPEATS):
        for i, parameters in enumerate(rules):
            start = process_time()
            fitted = fit(X, noise, plan, guides, parameters)
            seconds[repeat, i] = process_time() - start
            if repeat == 0:
                inertia.append(inertias(X, noise, plan, *fitted.labels()))
    seconds, found = seconds.min(axis=0), np.array(inertia)
    ratio = (found / np.maximum(found[0], 1e-12)).mean(axis=1)
    return np.stack([seconds[0] / seconds, found.mean(axis=1) / found[0].mean(), ratio], axis=1)


def fits(n_init: int, *n_starts: int) -> list[list[str]]:
    """One row for each data set and number of merged starts, and means over the sets."""
    found = {}
    for name in NAMES:
        X = StandardScaler().fit_transform(fetch_benchmark(name)[0])
        labels = KMeans(10, n_init=1, random_state=0).fit_predict(X)
        groups = [np.flatnonzero(labels == c) for c in range(10)]
        parameters = KMeansEngine(KMeans(n_init=n_init))._parameters(X.shape[1], 0, "refit", 1)
        merged = [parameters._replace(n_init=n) for n in n_starts] or [parameters]
        rules = [former(parameters, n_init), *merged]
        whole = measured(X, [np.arange(len(X))], range(2, 61), rules)
        parts = measured(X, [rows for rows in groups if len(rows) > 20], range(2, 11), rules)
        found[name] = np.concatenate([whole, parts], axis=1)
        _print(name, merged, found[name])
    return _print("mean", merged, np.mean(list(found.values()), axis=0))


def _print(name: str, rules: list[KMeansParameters], values: Any) -> list[list[str]]:
    rows = []
    for rule, own in zip(rules, values[1:], strict=True):
        texts = [f"{x:.1f}x" if i % 3 == 0 else f"{x:.4f}" for i, x in enumerate(own)]
        rows.append([name, str(rule.n_init), *texts])
        print("| " + " | ".join(rows[-1]) + " |", flush=True)
    return rows


def stadion(n_init: int = 35, n_draws: int = 1) -> None:
    """Standard Stadion at the paper's settings, with the former rule and with merged starts."""
    now = KMeansEngine._parameters

    def before(self: Any, n_features: int, entropy: int, *what: Any) -> KMeansParameters:
        parameters = now(self, n_features, entropy, *what)
        return former(parameters, n_init) if what[0] == "refit" else parameters

    ratios = []
    for name in NAMES:
        X = StandardScaler().fit_transform(fetch_benchmark(name)[0])
        model = Stadion(
            KMeans(n_init=n_init),
            k_range=range(1, 61),
            omega=range(2, 11),
            relabel="refit",
            one_cluster="crossing",
            n_perturbations=n_draws,
            n_jobs=1,
            random_state=0,
        )
        seconds, answers = [], []
        for parameters in (before, now):
            with mock.patch.object(KMeansEngine, "_parameters", parameters):
                start = process_time()
                answers.append(model.fit(X).n_clusters_)
                seconds.append(process_time() - start)
        ratios.append(seconds[0] / seconds[1])
        cells = [name, *(f"{s:.2f}" for s in seconds), f"{ratios[-1]:.1f}x", *map(str, answers)]
        print("| " + " | ".join(cells) + " |", flush=True)
    print(f"geometric mean of the ratios: {np.exp(np.mean(np.log(ratios))):.1f}x")


if __name__ == "__main__":
    if "STABLEK_DATA_DIR" not in os.environ:
        sys.exit("the data sets are read from STABLEK_DATA_DIR, which is not set")
    given = sys.argv[1:]
    if given and given[0] == "stadion":
        stadion(*map(int, given[1:]))
    else:
        fits(*map(int, given or ["35"]))
