"""Restarts of K-means refits: what fewer of them save, and what they lose.

    STABLEK_DATA_DIR=... python -m benchmarks.refit_restarts [n_init,n_rounds ...]

Each rule has a number of random starts beside the reference centers, and a largest number of
rounds in which centers of the winner are swapped. The first rule, 35 starts and no swaps, is the
yardstick: refits use all `n_init` starts. For every data set: CPU time of the first rule over
that of the rule; mean inertia over that of the first rule; mean of the ratios of inertias. Three
numbers for noisy copies of all points (K from 2 to 60), and three for copies of the clusters of
the partition into ten (K from 2 to 10), at five noise levels.
"""

from __future__ import annotations

import os
import sys
from time import process_time
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from benchmarks.kmeans_quality import NAMES
from stablek.datasets import fetch_benchmark
from stablek.engines.kmeans import KMeansEngine
from stablek.engines.kmeans.fits import FitPlan, fit
from stablek.results import Request

LEVELS = np.array([0.1, 0.3, 0.6, 1.0, 1.5])
REPEATS = 2
OLD = (35, 0)
RULES = ((3, 0), (10, 0), (3, 3), (10, 3))


def work(X: Any, groups: list[Any], k_values: range) -> tuple[Any, FitPlan, Any]:
    """Noise, fits of all noisy copies of some groups of rows, and reference centers for each."""
    engine = KMeansEngine(KMeans(n_init=35))
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
        for i, (n_init, n_rounds) in enumerate(rules):
            parameters = KMeansEngine(KMeans(n_init=n_init))._parameters(X.shape[1], 0, "refit", 1)
            start = process_time()
            fitted = fit(X, noise, plan, guides, parameters._replace(n_rounds=n_rounds))
            seconds[repeat, i] = process_time() - start
            if repeat == 0:
                inertia.append(inertias(X, noise, plan, *fitted.labels()))
    seconds, found = seconds.min(axis=0), np.array(inertia)
    ratio = (found / np.maximum(found[0], 1e-12)).mean(axis=1)
    return np.stack([seconds[0] / seconds, found.mean(axis=1) / found[0].mean(), ratio], axis=1)


def table_rows(rules: Any = RULES) -> list[list[str]]:
    """One row for each data set and each rule but the first, and means over the sets."""
    rules = (OLD, *rules)
    found = {}
    for name in NAMES:
        X = StandardScaler().fit_transform(fetch_benchmark(name)[0])
        labels = KMeans(10, n_init=1, random_state=0).fit_predict(X)
        groups = [np.flatnonzero(labels == c) for c in range(10)]
        whole = measured(X, [np.arange(len(X))], range(2, 61), rules)
        parts = measured(X, [rows for rows in groups if len(rows) > 20], range(2, 11), rules)
        found[name] = np.concatenate([whole, parts], axis=1)
    found["mean"] = np.mean(list(found.values()), axis=0)
    rows = []
    for name, values in found.items():
        for (n_init, n_rounds), own in list(zip(rules, values, strict=True))[1:]:
            texts = [f"{x:.1f}x" if i % 3 == 0 else f"{x:.4f}" for i, x in enumerate(own)]
            rows.append([name, f"{n_init}, {n_rounds}", *texts])
            print(rows[-1], flush=True)
    return rows


if __name__ == "__main__":
    if "STABLEK_DATA_DIR" not in os.environ:
        sys.exit("the data sets are read from STABLEK_DATA_DIR, which is not set")
    given = [tuple(int(part) for part in rule.split(",")) for rule in sys.argv[1:]]
    table_rows(given or RULES)
