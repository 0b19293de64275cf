"""What each way of the engines gains: the same work with the way switched off.

A case names a way, a workload, and a patch that switches the way off. The gain is the time without
the way over the time with it. `stablek.kernels.kmeans`, `linkage` and `mixture` describe the ways;
a way that gains less than 1.5 on every workload is not worth its code. A name in parentheses is
the way that takes over.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from time import process_time
from typing import Any, NamedTuple
from unittest import mock

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_digits, make_blobs
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from stablek import Stadion
from stablek.datasets import fetch_benchmark
from stablek.kernels.kmeans import ways as kmeans
from stablek.kernels.linkage import ways as linkage
from stablek.kernels.mixture import ways as mixture
from stablek.selectors import SELECTORS

REPEATS = 3


class Case(NamedTuple):
    """One way on one workload."""

    way: str
    workload: str
    run: Callable[[], Any]
    off: Callable[[], AbstractContextManager[Any]]


def benchmark_set(name: str) -> np.ndarray:
    return StandardScaler().fit_transform(fetch_benchmark(name)[0])


def blobs(n_samples: int, n_features: int) -> np.ndarray:
    return make_blobs(n_samples, n_features, centers=6, cluster_std=6.0, random_state=0)[0]


def stadion(clusterer: Any, X: np.ndarray, relabel: str, k_max: int = 10) -> Callable[[], Any]:
    """A fit of Stadion with some draws, on one core."""
    selector = Stadion(
        clusterer,
        k_range=range(1, k_max + 1),
        omega=range(2, 6 if k_max == 10 else 11),
        epsilons=np.linspace(0, np.sqrt(X.shape[1]), 10),
        n_perturbations=3,
        relabel=relabel,
        one_cluster="crossing",
        random_state=0,
        n_jobs=1,
    )
    return lambda: selector.fit(X)


def gap(X: np.ndarray) -> Callable[[], Any]:
    """The gap statistic with ten reference sets, K up to 60 as in the study."""
    selector = SELECTORS["gap_a"](
        KMeans(n_init=10), k_range=range(1, 61), n_references=10, random_state=0, n_jobs=1
    )
    return lambda: selector.fit(X)


def without(way: int) -> Callable[[], AbstractContextManager[Any]]:
    """K-means in tiles instead of in this way."""
    choose = kmeans.choose_ways

    def others(n: Any, k_values: Any, n_features: int, n_init: int) -> Any:
        found = choose(n, k_values, n_features, n_init)
        return np.where(found == way, kmeans.TILES, found)

    return lambda: mock.patch.object(kmeans, "choose_ways", others)


def without_subspace() -> AbstractContextManager[Any]:
    return mock.patch.object(kmeans, "uses_subspace", return_value=False)


def linkage_by(way: int) -> Callable[[], AbstractContextManager[Any]]:
    """All dendrograms in this way."""
    return lambda: mock.patch.object(linkage, "choose_way", return_value=way)


def mixture_without(**changes: bool) -> Callable[[], AbstractContextManager[Any]]:
    """Mixtures with these fields of their way changed."""
    choose = mixture.way_of

    def changed(*args: Any, **options: Any) -> Any:
        return choose(*args, **options)._replace(**changes)

    return lambda: mock.patch("stablek.engines.mixture.way_of", changed)


def kmeans_cases() -> list[Case]:
    model = KMeans(n_init=10)
    small, large = benchmark_set("exemples2_5g"), benchmark_set("s-set1")
    square, huge, few, span = (
        blobs(*shape) for shape in ((300, 200), (1024, 1024), (60, 2000), (200, 5000))
    )
    boxes, gram, subspace = without(kmeans.BOXES), without(kmeans.GRAM), without_subspace
    work = [
        ("boxes", "gap, 1375 x 2, K 1..60", gap(small), boxes),
        ("boxes", "gap, 5000 x 2, K 1..60", gap(large), boxes),
        ("boxes", "extend, 5000 x 2, K 1..60", stadion(model, large, "extend", 60), boxes),
        ("gram", "refit, 300 x 200", stadion(model, square, "refit"), gram),
        ("gram", "extend, 300 x 200, K 1..30", stadion(model, square, "extend", 30), gram),
        ("gram", "extend, 1024 x 1024, K 1..30", stadion(model, huge, "extend", 30), gram),
        ("gram", "refit, 60 x 2000", stadion(model, few, "refit"), gram),
        ("subspace", "refit, 60 x 2000", stadion(model, few, "refit"), subspace),
        ("subspace", "refit, 200 x 5000", stadion(model, span, "refit"), subspace),
    ]
    return [Case(f"K-means: {way}", *rest) for way, *rest in work]


def linkage_cases() -> list[Case]:
    ward, average = AgglomerativeClustering(), AgglomerativeClustering(linkage="average")
    small, large = benchmark_set("exemples2_5g"), benchmark_set("s-set1")
    digits, columns = load_digits().data, blobs(1000, 300)
    centroids, matrix = linkage_by(linkage.CENTROIDS), linkage_by(linkage.MATRIX)
    work = [
        ("centroids (matrix)", "Ward, 1375 x 2", stadion(ward, small, "refit"), matrix),
        ("centroids (matrix)", "Ward, 5000 x 2", stadion(ward, large, "refit"), matrix),
        ("expansion (centroids)", "Ward, 1797 x 64", stadion(ward, digits, "refit"), centroids),
        ("expansion (centroids)", "Ward, 1000 x 300", stadion(ward, columns, "refit"), centroids),
        ("expansion (matrix)", "average, 1000 x 300", stadion(average, columns, "refit"), matrix),
    ]
    return [Case(f"linkage: {way}", *rest) for way, *rest in work]


def mixture_cases() -> list[Case]:
    full, tied = GaussianMixture(), GaussianMixture(covariance_type="tied")
    square, few = blobs(300, 300), blobs(60, 200)
    wide = benchmark_set("dim128")
    products, subspace = mixture_without(by_products=False), mixture_without(in_subspace=False)
    kept = mixture_without(keeps_components=False)
    work = [
        ("products", "full, 1024 x 128", stadion(full, wide, "extend"), products),
        ("kept components", "full, 300 x 300, K 1..20", stadion(full, square, "extend", 20), kept),
        ("subspace", "tied, refit, 60 x 200", stadion(tied, few, "refit"), subspace),
    ]
    return [Case(f"mixture: {way}", *rest) for way, *rest in work]


def seconds(run: Callable[[], Any]) -> float:
    """CPU time: other work on the machine disturbs it less than the wall clock."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # mixtures with many components on few points
        started = process_time()
        run()
        return process_time() - started


def measured(case: Case) -> list[str]:
    """The shortest of some runs with and without the way, in turns, after one run of each."""
    with case.off():
        seconds(case.run)
    seconds(case.run)
    used, unused = [], []
    for _ in range(REPEATS):
        used.append(seconds(case.run))
        with case.off():
            unused.append(seconds(case.run))
    gain = min(unused) / min(used)
    row = [case.way, case.workload, f"{min(unused):.2f}", f"{min(used):.2f}", f"{gain:.1f}x"]
    print(row, flush=True)
    return row


HEADER = ["way", "workload", "CPU s without", "CPU s with", "gain"]


def table_rows() -> list[list[str]]:
    cases = [*kmeans_cases(), *linkage_cases(), *mixture_cases()]
    return [measured(case) for case in cases]
