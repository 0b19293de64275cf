"""What could explain the wins of Stadion with Gaussian mixtures (docs/study.md, Table 1).

    python -m benchmarks.mixture_readings covariances [n_sets]
    python -m benchmarks.mixture_readings refits [n_sets]

Stadion-max with mixtures from the best of 35 K-means, on sets of the benchmark, smallest first.

covariances: extended, for each shape of the covariances, on sets of at most 16 features; and how
many sets could be won at most if the last noise level were chosen for each set by knowing K*.

refits: extended against mixtures fitted again to every noisy copy, on sets of at most 3 features,
1600 points and 16 clusters; K up to 20 and three draws, as refits cost much more.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.preprocessing import StandardScaler

from stablek import Stadion
from stablek.datasets import fetch_benchmark, list_benchmark
from stablek.mixture import KMeansGaussianMixture

N_LEVELS = 25


def fitted(name: str, shape: str = "full", **parameters: Any) -> Stadion:
    X = StandardScaler().fit_transform(fetch_benchmark(name)[0])
    if "n_epsilons" in parameters:
        n_levels = parameters.pop("n_epsilons")
        parameters["epsilons"] = np.linspace(0, 1.2 * np.sqrt(X.shape[1]), n_levels)
    mixture = KMeansGaussianMixture(covariance_type=shape, n_init=35)
    model = Stadion(mixture, omega=range(2, 11), random_state=0, n_jobs=1, **parameters)
    with warnings.catch_warnings():
        # Mixtures with many components on few points do not converge: here nobody reads it.
        warnings.simplefilter("ignore")
        return model.fit(X)


def with_shape(name: str, n_clusters: int, shape: str) -> tuple[bool, bool]:
    """Whether K* is the answer, and whether it is for some last noise level."""
    model = fitted(name, shape, k_range=range(1, 61), relabel="extend", n_epsilons=N_LEVELS)
    best_so_far = np.maximum.accumulate(model.stadion_paths_, axis=1).argmax(axis=0)
    right = model.k_values_[best_so_far] == n_clusters
    return model.n_clusters_ == n_clusters, bool(right.any())


def both_ways(name: str, n_clusters: int) -> tuple[bool, bool]:
    """Whether K* is the answer, extended and with refits."""
    reduced = {"k_range": range(1, 21), "n_perturbations": 3}
    extended = fitted(name, relabel="extend", **reduced).n_clusters_ == n_clusters
    return extended, fitted(name, relabel="refit", **reduced).n_clusters_ == n_clusters


def covariances(n_sets: int | None) -> None:
    sets = [i for i in list_benchmark() if i.n_clusters > 1 and i.n_features <= 16]
    sets = sorted(sets, key=lambda info: info.n_samples * info.n_features)[:n_sets]
    print(f"| covariances | wins of {len(sets)} | with the best last level of each set |")
    print("| --- | --- | --- |")
    for shape in ("full", "tied", "diag", "spherical"):
        found = Parallel(n_jobs=2)(delayed(with_shape)(i.name, i.n_clusters, shape) for i in sets)
        wins, possible = np.sum(found, axis=0)
        print(f"| {shape} | {wins} | {possible} |", flush=True)


def refits(n_sets: int | None) -> None:
    sets = [i for i in list_benchmark() if i.n_features <= 3 and i.n_samples <= 1600]
    sets = [i for i in sets if 1 < i.n_clusters <= 16]
    sets = sorted(sets, key=lambda info: info.n_samples * info.n_features)[:n_sets]
    runs = Parallel(n_jobs=2, return_as="generator")(
        delayed(both_ways)(i.name, i.n_clusters) for i in sets
    )
    found = []
    for info, result in zip(sets, runs, strict=True):
        found.append(result)
        if result[0] != result[1]:
            print(
                f"{info.name}: won only {'extended' if result[0] else 'with refits'}", flush=True
            )
    extended, refitted = np.sum(found, axis=0)
    print(f"wins of {len(sets)}: extended {extended}, with refits {refitted}")


if __name__ == "__main__":
    parts = {"covariances": covariances, "refits": refits}
    parts[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else None)
