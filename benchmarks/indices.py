"""Sweeps of internal indices over K = 2..20 against a loop of scikit-learn's silhouette_score.

    python -m benchmarks.indices                     # 20,000 points, 10 features
    python -m benchmarks.indices --n-samples 5000 --n-features 2 --all

Prints a Markdown table of ratios within the run. scikit-learn's loop is timed for three K and
scaled to nineteen, unless ``--all`` is given. Memory is the largest allocation above the data.
"""

from __future__ import annotations

import argparse
import tracemalloc
from time import perf_counter

import numpy as np
from sklearn.cluster import MiniBatchKMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_score

from stablek.indices import index_values

KS = range(2, 21)
TIMED = ("silhouette", "dunn", "xie_beni", "wemmert_gancarski")
CHEAP = ("davies_bouldin", "ray_turi", "calinski_harabasz")


def partitions(n_samples: int, n_features: int) -> tuple[np.ndarray, list[np.ndarray]]:
    X, _ = make_blobs(n_samples, n_features, centers=8, cluster_std=2.0, random_state=0)
    models = [MiniBatchKMeans(k, n_init=1, random_state=0) for k in KS]
    return X, [model.fit(X).labels_ for model in models]


def sklearn_loop(X: np.ndarray, labelings: list[np.ndarray], everything: bool) -> float:
    chosen = labelings if everything else labelings[:: len(labelings) // 2]
    started = perf_counter()
    for labels in chosen:
        silhouette_score(X, labels)
    return (perf_counter() - started) * len(labelings) / len(chosen)


def sweep(X: np.ndarray, labelings: list[np.ndarray], name: str, n_jobs: int) -> float:
    started = perf_counter()
    index_values(X, labelings, name, n_jobs=n_jobs)
    return perf_counter() - started


def peak_megabytes(n_samples: int, n_features: int, name: str) -> float:
    X = np.random.default_rng(0).normal(size=(n_samples, n_features))
    labelings = [np.arange(n_samples) % k for k in (2, 11, 20)]
    tracemalloc.start()
    index_values(X, labelings, name)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--n-samples", type=int, default=20_000)
    parser.add_argument("--n-features", type=int, default=10)
    parser.add_argument("--n-jobs", type=int, default=1)
    parser.add_argument("--all", action="store_true", help="time scikit-learn for every K")
    options = parser.parse_args()

    X, labelings = partitions(options.n_samples, options.n_features)
    for name in (*TIMED, *CHEAP):
        index_values(X[:100], [labels[:100] for labels in labelings], name)  # compile
    plain = sklearn_loop(X, labelings, options.all)
    print(f"{options.n_samples} points, {options.n_features} features, K = 2..20, ", end="")
    print(f"n_jobs = {options.n_jobs}\n")
    print("| sweep | seconds | scikit-learn's silhouette loop takes |")
    print("|---|---|---|")
    print(f"| scikit-learn silhouette_score | {plain:.1f} | 1.0 |")
    for name in (*TIMED, *CHEAP):
        seconds = sweep(X, labelings, name, options.n_jobs)
        print(f"| stablek {name} | {seconds:.2f} | {plain / seconds:.0f} times as long |")

    sizes = [options.n_samples // 4, options.n_samples // 2, options.n_samples]
    print("\n| peak memory, MB | " + " | ".join(f"N = {n}" for n in sizes) + " |")
    print("|---" * (len(sizes) + 1) + "|")
    for name in ("silhouette", "dunn", "wemmert_gancarski"):
        peaks = [f"{peak_megabytes(n, options.n_features, name):.1f}" for n in sizes]
        print(f"| {name} | " + " | ".join(peaks) + " |")
    print("| all distances at once | " + " | ".join(f"{8e-6 * n * n:.0f}" for n in sizes) + " |")


if __name__ == "__main__":
    main()
