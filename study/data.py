"""Load data sets and make clustering algorithms by name."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from stablek import KMeansGaussianMixture, SVDGaussianMixture, datasets

INFO = {info.name: info for info in datasets.list_benchmark()}

# Pairs of Gaussians, with the distance between their means in standard deviations.
PAIRS = {"two_gaussians": 8.0, "near_gaussians": 4.0}

_GENERATORS = {
    "uniform": datasets.make_uniform,
    "gaussian": datasets.make_gaussian,
    "exponential": datasets.make_exponential,
    "student": datasets.make_student,
}


@lru_cache(maxsize=4)
def load(name: str, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Standardized points and labels of a benchmark set or of a generated set.

    Generated sets are named ``<distribution>_<features>d_<points>`` and depend on the seed.
    """
    X, y = datasets.fetch_benchmark(name) if name in INFO else _draw(name, seed)
    return StandardScaler().fit_transform(X), y


def _draw(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    n_features, n_samples = size(name)
    kind = name.rsplit("_", 2)[0]
    if kind in PAIRS:
        return two_gaussians(n_samples, n_features, PAIRS[kind], seed)
    if kind == "three_gaussians":
        return datasets.make_three_gaussians(n_samples, random_state=seed)
    return _GENERATORS[kind](n_samples, n_features, random_state=seed)


def two_gaussians(
    n_samples: int, n_features: int, distance: float, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Two round Gaussians, ``distance`` standard deviations apart along the diagonal."""
    y = np.arange(n_samples) % 2
    noise = np.random.default_rng(seed).standard_normal((n_samples, n_features))
    return noise + distance / np.sqrt(n_features) * y[:, None], y


def size(name: str) -> tuple[int, int]:
    """Number of features and of points, without loading the data."""
    if name in INFO:
        return INFO[name].n_features, INFO[name].n_samples
    _, n_features, n_samples = name.rsplit("_", 2)
    return int(n_features.removesuffix("d")), int(n_samples)


def clusterer(algorithm: str, n_init: int = 35) -> Any:
    """The algorithm of that name, unfitted."""
    if algorithm == "ward":
        return AgglomerativeClustering(linkage="ward")
    if algorithm == "gmm":
        return GaussianMixture()
    if algorithm == "gmm_best":
        return KMeansGaussianMixture(n_init=n_init)
    if algorithm == "gmm_svd":
        return SVDGaussianMixture()
    init = "random" if algorithm == "kmeans_random" else "k-means++"
    return KMeans(init=init, n_init=n_init)
