"""Whether covariances or noise levels explain the wins of Stadion with mixtures (docs/study.md).

    python -m benchmarks.mixture_readings [n_sets]

Extended Stadion-max with Gaussian mixtures from the best of 35 K-means, on the benchmark's sets of
at most 16 features, the smallest first: the wins for each shape of the covariances, and how many
sets could be won at most if the last noise level were chosen for each set by knowing K*.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn.preprocessing import StandardScaler

from stablek import Stadion
from stablek.datasets import fetch_benchmark, list_benchmark
from stablek.mixture import KMeansGaussianMixture

SHAPES = ("full", "tied", "diag", "spherical")
MAX_FEATURES = 16
N_LEVELS = 25


def won(name: str, n_clusters: int, shape: str) -> tuple[bool, bool]:
    """Whether K* is the answer, and whether it is for some last noise level."""
    X = StandardScaler().fit_transform(fetch_benchmark(name)[0])
    model = Stadion(
        KMeansGaussianMixture(covariance_type=shape, n_init=35),
        k_range=range(1, 61),
        omega=range(2, 11),
        relabel="extend",
        epsilons=np.linspace(0, 1.2 * np.sqrt(X.shape[1]), N_LEVELS),
        random_state=0,
        n_jobs=1,
    )
    with warnings.catch_warnings():
        # Mixtures with many components on few points do not converge: here nobody reads it.
        warnings.simplefilter("ignore")
        model.fit(X)
    best_so_far = np.maximum.accumulate(model.stadion_paths_, axis=1).argmax(axis=0)
    right = model.k_values_[best_so_far] == n_clusters
    return model.n_clusters_ == n_clusters, bool(right.any())


def main() -> None:
    sets = [i for i in list_benchmark() if i.n_clusters > 1 and i.n_features <= MAX_FEATURES]
    sets.sort(key=lambda info: info.n_samples * info.n_features)
    if len(sys.argv) > 1:
        sets = sets[: int(sys.argv[1])]
    print(f"| covariances | wins of {len(sets)} | with the best last level of each set |")
    print("| --- | --- | --- |")
    for shape in SHAPES:
        found = Parallel(n_jobs=2)(delayed(won)(i.name, i.n_clusters, shape) for i in sets)
        wins, possible = np.sum(found, axis=0)
        print(f"| {shape} | {wins} | {possible} |", flush=True)


if __name__ == "__main__":
    main()
