"""Inertia of stablek's k-means fits against scikit-learn's best of the same n_init.

    STABLEK_DATA_DIR=... python -m benchmarks.kmeans_quality [n_seeds]

For every K in 1..60 on ten data sets of the paper: mean inertia over seeds, both with
n_init = 10. A row tells for how many K stablek's mean is not above scikit-learn's, for how many
it is above by more than two standard errors of the difference (of 60 fair comparisons between
equals one or two would be), the mean ratio over K and the largest one.
"""

from __future__ import annotations

import os
import sys
import time

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from stablek.datasets import fetch_benchmark
from stablek.engines.base import Setting
from stablek.engines.kmeans import KMeansEngine
from stablek.perturbations import PERTURBATIONS
from stablek.results import Request
from stablek.similarity import SIMILARITIES

NAMES = (
    "hepta",
    "tetra",
    "sizes3",
    "long1",
    "dim032",
    "2d-4c",
    "exemples2_5g",
    "4clusters_corner",
    "elly-2d10c13s",
    "xclara",
)
KS = tuple(range(1, 61))
N_INIT = 10


def ours(X: np.ndarray, seed: int) -> list[float]:
    engine = KMeansEngine(KMeans(n_init=N_INIT))
    setting = Setting(
        seed, PERTURBATIONS["uniform"], np.ones(X.shape[1]), SIMILARITIES["ari"], "extend"
    )
    [partitions] = engine.references(X, [Request(None, KS)], setting.entropy)
    return [float(((X - p.model[p.labels]) ** 2).sum()) for p in partitions]


def theirs(X: np.ndarray, seed: int) -> list[float]:
    with threadpool_limits(1):
        return [float(KMeans(k, n_init=N_INIT, random_state=seed).fit(X).inertia_) for k in KS]


def measured(X: np.ndarray, seed: int) -> tuple[list[float], float, list[float], float]:
    start = time.process_time()
    mine = ours(X, seed)
    middle = time.process_time()
    other = theirs(X, seed)
    return mine, middle - start, other, time.process_time() - middle


def main() -> None:
    if "STABLEK_DATA_DIR" not in os.environ:
        print("skipped: the data sets are read from STABLEK_DATA_DIR, which is not set")
        return
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 5
    ours(np.random.default_rng(0).normal(size=(100, 2)), 0)  # compile before the clock runs
    print(f"K = 1..60, n_init = {N_INIT}, means over {n_seeds} seeds, CPU seconds per seed")
    print("| data | N | p | K not worse | K worse by > 2 se | mean ratio | max ratio | speed |")
    print("|---|---|---|---|---|---|---|---|")
    for name in NAMES:
        X = StandardScaler().fit_transform(fetch_benchmark(name)[0])
        runs = Parallel(n_jobs=-1)(delayed(measured)(X, seed) for seed in range(n_seeds))
        mine, seconds, other, their_seconds = (np.array(part) for part in zip(*runs, strict=True))
        ratio = mine.mean(axis=0) / other.mean(axis=0)
        variance = mine.var(axis=0, ddof=1) + other.var(axis=0, ddof=1)
        error = np.sqrt(variance / n_seeds) / other.mean(axis=0)
        print(
            f"| {name} | {len(X)} | {X.shape[1]} | {(ratio <= 1 + 1e-9).sum()} of {len(KS)} | "
            f"{(ratio > 1 + 2 * error + 1e-9).sum()} | {ratio.mean():.4f} | {ratio.max():.4f} | "
            f"{np.median(their_seconds) / np.median(seconds):.0f}x |",
            flush=True,
        )


if __name__ == "__main__":
    main()
