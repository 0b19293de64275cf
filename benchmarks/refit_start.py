"""What refits owe to the reference centers, which stablek adds to the random starts.

    python -m benchmarks.refit_start [n_seeds]

Standard Stadion with K-means on pairs of Gaussians four standard deviations apart, 200 points, in
growing dimension: with that additional start and without it.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from unittest import mock

import numpy as np
from joblib import Parallel, delayed
from sklearn.cluster import KMeans
from sklearn.preprocessing import StandardScaler

from stablek import Stadion
from stablek.engines.kmeans import similarities
from study.data import two_gaussians

DIMENSIONS = (2, 10, 30)
N_SAMPLES, DISTANCE = 200, 4.0


@contextmanager
def unguided() -> Iterator[None]:
    """Fits from the random starts alone."""
    fit = similarities.fit

    def plain(X: Any, noise: Any, plan: Any, guides: Any, parameters: Any) -> Any:
        return fit(X, noise, plan, None, parameters)

    with mock.patch.object(similarities, "fit", plain):
        yield


def fitted(n_features: int, seed: int, guided: bool) -> tuple[int, float, float]:
    """Answer, and the scores of K = 1 and K = 2."""
    X, _ = two_gaussians(N_SAMPLES, n_features, DISTANCE, seed)
    model = Stadion(
        KMeans(n_init=35),
        omega=range(2, 11),
        relabel="refit",
        one_cluster="crossing",
        random_state=seed,
    )
    X = StandardScaler().fit_transform(X)
    with nullcontext() if guided else unguided():
        model.fit(X)
    return int(model.best_value_), *np.asarray(model.scores_[:2], dtype=float)


def main() -> None:
    n_seeds = int(sys.argv[1]) if len(sys.argv) > 1 else 2
    print("| p | seed | start at the reference | K | score of 1 | score of 2 |")
    print("| --- | --- | --- | --- | --- | --- |")
    runs = [(p, s, g) for p in DIMENSIONS for s in range(n_seeds) for g in (True, False)]
    found = Parallel(n_jobs=2, return_as="generator")(delayed(fitted)(*run) for run in runs)
    for (p, seed, guided), (k, one, two) in zip(runs, found, strict=True):
        answer = "yes" if guided else "no"
        print(f"| {p} | {seed} | {answer} | {k} | {one:.3f} | {two:.3f} |", flush=True)


if __name__ == "__main__":
    main()
