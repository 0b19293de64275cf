"""What could explain the wins of Stadion with Gaussian mixtures (docs/study/table1.md).

    python -m benchmarks.mixture_readings covariances [n_sets]
    python -m benchmarks.mixture_readings refits [n_sets]

Stadion-max with mixtures from the best of 35 K-means, on sets of the benchmark, smallest first.
"Extended" is the paper's extended version: ``relabel="predict"``.

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

from benchmarks.run import data
from stablek import Stadion
from stablek.datasets import list_benchmark
from stablek.mixture import KMeansGaussianMixture

N_LEVELS = 25


def sets(n_sets: int | None, n_features: int, n_samples: float, n_clusters: float) -> list[Any]:
    """Sets of the benchmark within these sizes, the smallest first."""
    found = [
        info
        for info in list_benchmark()
        if info.n_features <= n_features
        and info.n_samples <= n_samples
        and 1 < info.n_clusters <= n_clusters
    ]
    return sorted(found, key=lambda info: info.n_samples * info.n_features)[:n_sets]


def fitted(name: str, shape: str = "full", **parameters: Any) -> Stadion:
    mixture = KMeansGaussianMixture(covariance_type=shape, n_init=35)
    model = Stadion(
        mixture,
        omega=range(2, 11),
        one_cluster="crossing",
        random_state=0,
        n_jobs=1,
        **parameters,
    )
    with warnings.catch_warnings():
        # Mixtures with many components on few points do not converge: here nobody reads it.
        warnings.simplefilter("ignore")
        return model.fit(data(name))


def with_shape(info: Any, shape: str) -> tuple[bool, bool]:
    """Whether K* is the answer, and whether it is for some last noise level."""
    levels = np.linspace(0, 1.2 * np.sqrt(info.n_features), N_LEVELS)
    model = fitted(info.name, shape, k_range=range(1, 61), relabel="predict", epsilons=levels)
    best_so_far = np.maximum.accumulate(model.stadion_paths_, axis=1).argmax(axis=0)
    right = model.k_values_[best_so_far] == info.n_clusters
    return model.n_clusters_ == info.n_clusters, bool(right.any())


def both_ways(info: Any) -> tuple[bool, bool]:
    """Whether K* is the answer, extended and with refits."""
    reduced = {"k_range": range(1, 21), "n_perturbations": 3}
    models = [fitted(info.name, relabel=relabel, **reduced) for relabel in ("predict", "refit")]
    extended, refitted = (model.n_clusters_ == info.n_clusters for model in models)
    return extended, refitted


def covariances(n_sets: int | None) -> None:
    chosen = sets(n_sets, 16, np.inf, np.inf)
    print(f"| covariances | wins of {len(chosen)} | with the best last level of each set |")
    print("| --- | --- | --- |")
    for shape in ("full", "tied", "diag", "spherical"):
        found = Parallel(n_jobs=2)(delayed(with_shape)(info, shape) for info in chosen)
        wins, possible = np.sum(found, axis=0)
        print(f"| {shape} | {wins} | {possible} |", flush=True)


def refits(n_sets: int | None) -> None:
    chosen = sets(n_sets, 3, 1600, 16)
    found = Parallel(n_jobs=2)(delayed(both_ways)(info) for info in chosen)
    for info, (extended, refitted) in zip(chosen, found, strict=True):
        if extended != refitted:
            print(f"{info.name}: won only {'extended' if extended else 'with refits'}")
    extended, refitted = np.sum(found, axis=0)
    print(f"wins of {len(chosen)}: extended {extended}, with refits {refitted}")


if __name__ == "__main__":
    parts = {"covariances": covariances, "refits": refits}
    if len(sys.argv) < 2 or sys.argv[1] not in parts:
        sys.exit(f"which part? there are {list(parts)}")
    parts[sys.argv[1]](int(sys.argv[2]) if len(sys.argv) > 2 else None)
