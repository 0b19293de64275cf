"""Load data sets and make clustering algorithms by name."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from sklearn import datasets as sklearn_datasets
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from stablek import KMeansGaussianMixture, SVDGaussianMixture, datasets, seeding
from study import generator

INFO = {info.name: info for info in datasets.list_benchmark()}

MOST_LABELS = 20
N_PIXELS = 1000

# Pairs of Gaussians, with the distance between their means in standard deviations.
PAIRS = {"two_gaussians": 8.0, "near_gaussians": 4.0}

# The same along a random direction. The number is the distance.
ROTATED_PAIRS = {f"rotated_pair_{distance}": float(distance) for distance in (3, 4, 5, 8)}

_GENERATORS = {
    "uniform": datasets.make_uniform,
    "gaussian": datasets.make_gaussian,
    "exponential": datasets.make_exponential,
    "student": datasets.make_student,
}


@lru_cache(maxsize=4)
def load(
    name: str, seed: int = 0, standardize: bool = True
) -> tuple[np.ndarray, np.ndarray | None]:
    """Points and labels of a benchmark set, of a set in scikit-learn, or of a generated set.

    Sets in scikit-learn have the name of their function, such as ``load_iris``. The name of one
    of its images stands for a sample of its pixels. Labels are None if there are none.
    Generated sets are named ``<distribution>_<features>d_<points>`` and depend on the seed, as do
    those of `study.generator`, such as ``archetype_007``.
    """
    if name in INFO:
        X, y = datasets.fetch_benchmark(name)
    elif name.startswith("load_"):
        X, y = getattr(sklearn_datasets, name)(return_X_y=True)
        y = y if y.ndim == 1 and len(np.unique(y)) <= MOST_LABELS else None  # or a regression
    elif name.endswith(".jpg"):
        X, y = _pixels(name, seed), None
    else:
        X, y = _draw(name, seed)
    return (StandardScaler().fit_transform(X) if standardize else X), y


def _pixels(name: str, seed: int) -> np.ndarray:
    """Colors of a random sample of an image's pixels."""
    pixels = sklearn_datasets.load_sample_image(name).reshape(-1, 3).astype(float)
    rng = seeding.generator(seed, name)
    return pixels[np.sort(rng.choice(len(pixels), N_PIXELS, replace=False))]


def _draw(name: str, seed: int) -> tuple[np.ndarray, np.ndarray]:
    if name.startswith(generator.PREFIX):
        found = generator.draw(generator.named(name), seed)
        return found.X, found.y
    n_features, n_samples = size(name)
    kind = name.rsplit("_", 2)[0]
    if kind in PAIRS:
        return two_gaussians(n_samples, n_features, PAIRS[kind], seed)
    if kind == "three_gaussians":
        return datasets.make_three_gaussians(n_samples, random_state=seed)
    if kind in _GENERATORS:
        return _GENERATORS[kind](n_samples, n_features, random_state=seed)
    rng = seeding.generator(seed, name)
    if kind in ROTATED_PAIRS:
        y = np.arange(n_samples) % 2
        direction = _on_sphere(rng.standard_normal((1, n_features)))
        noise = rng.standard_normal((n_samples, n_features))
        return noise + ROTATED_PAIRS[kind] * y[:, None] * direction, y
    return SHAPES[kind](rng, n_samples, n_features), np.zeros(n_samples, dtype=int)


def _rotated_exponential(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    axes, _ = np.linalg.qr(rng.standard_normal((p, p)))
    return rng.standard_exponential((n, p)) @ axes


def _correlated(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    """Normal features, any two of which have correlation 0.9."""
    shared, own = rng.standard_normal((n, 1)), rng.standard_normal((n, p))
    return np.sqrt(0.9) * shared + np.sqrt(0.1) * own


def _on_sphere(points: np.ndarray) -> np.ndarray:
    return points / np.linalg.norm(points, axis=1, keepdims=True)


def _ball(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    return _on_sphere(rng.standard_normal((n, p))) * rng.random((n, 1)) ** (1.0 / p)


# Further shapes without clusters.
SHAPES = {
    "rotated_exponential": _rotated_exponential,
    "log_normal": lambda rng, n, p: rng.lognormal(size=(n, p)),
    "student3": lambda rng, n, p: rng.standard_t(3.0, (n, p)),
    "correlated": _correlated,
    "ball": _ball,
    "sphere": lambda rng, n, p: _on_sphere(rng.standard_normal((n, p))),
}


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
    if name.startswith("load_") or name.endswith(".jpg"):
        return load(name)[0].shape[::-1]
    if name.startswith(generator.PREFIX):
        archetype = generator.named(name)
        return archetype.n_features, archetype.n_samples
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
