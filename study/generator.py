"""Draw clusters of chosen difficulty, from a recipe of a few numbers.

The idea of an archetype, a recipe from which any number of data sets can be drawn, is that of
repliclust (Zellinger and Bühlmann, 2023, arXiv 2303.14301). An earlier generator with similar
choices is MDCGen (Iglesias et al., 2019). This one is our own and small. It places clusters one
after another, so that the largest overlap of two clusters is exactly the chosen one.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from scipy import stats

from stablek import seeding

DISTRIBUTIONS = ("normal", "student", "exponential")
DEGREES = 5.0
"""Degrees of freedom of the t distribution."""

LEVELS: dict[str, tuple[Any, ...]] = {
    "n_clusters": tuple(range(1, 21)),
    "overlap": (0.0001, 0.01, 0.05, 0.1, 0.2),
    "n_features": (2, 3, 5, 10, 20),
    "distribution": DISTRIBUTIONS,
    "aspect": (1.0, 1.5, 3.0, 6.0),
    "imbalance": (1.0, 3.0, 10.0),
    "radius_ratio": (1.0, 2.0, 4.0),
    "n_samples": (300, 400, 600),
}
"""Values of each factor of the design."""

LEAST_SIZE = 30
"""Least mean number of points of a cluster; sets with many clusters get more points for it."""

PREFIX = "archetype_"


@dataclass(frozen=True)
class Archetype:
    """The recipe of a data set.

    Parameters
    ----------
    n_clusters, n_features, n_samples : int
    overlap : float
        Largest overlap of two clusters, as if they were normal: the sum of the shares of both
        that lie beyond the best boundary between them. Each cluster has a neighbor with exactly
        this overlap, and none with more. Two round clusters 2z deviations apart have 2(1 - Φ(z)).
    distribution : {"normal", "student", "exponential"}
        Of the points along each axis of their cluster, scaled to unit variance.
    aspect : float
        Longest axis of a cluster divided by its shortest. Axes point in random directions.
    imbalance : float
        Size of the largest cluster divided by that of the smallest.
    radius_ratio : float
        Radius of the widest cluster divided by that of the narrowest. The radius is the geometric
        mean of the axes.
    """

    n_clusters: int
    overlap: float
    n_features: int
    distribution: str
    aspect: float
    imbalance: float
    radius_ratio: float
    n_samples: int


@dataclass(frozen=True)
class Clusters:
    """Points, their labels, and the truth behind them."""

    X: np.ndarray
    y: np.ndarray
    centers: np.ndarray
    covariances: np.ndarray

    def by_centers(self) -> np.ndarray:
        """Label of the nearest true center. Features count in their standard deviations."""
        scale = self.X.std(axis=0)
        gaps = (self.X[:, None] - self.centers) / scale
        return (gaps**2).sum(axis=2).argmin(axis=1)

    def by_components(self) -> np.ndarray:
        """Label of the likeliest true component, as if all were normal."""
        weights = np.bincount(self.y, minlength=len(self.centers)) / len(self.y)
        densities = [
            stats.multivariate_normal.logpdf(self.X, center, covariance) + np.log(weight)
            for center, covariance, weight in zip(
                self.centers, self.covariances, weights, strict=True
            )
        ]
        return np.stack(densities, axis=1).reshape(len(self.X), -1).argmax(axis=1)


@cache
def design(n_sets: int = 500) -> tuple[Archetype, ...]:
    """A seeded random design. Its first sets are a shorter design, also balanced.

    Each factor runs through its values in random order, again and again. So every value comes up
    equally often, and factors are unrelated up to chance.
    """
    columns = {}
    for name, values in LEVELS.items():
        rng = seeding.generator(0, "archetypes", name)
        rounds = -(-n_sets // len(values))
        order = np.concatenate([rng.permutation(len(values)) for _ in range(rounds)])
        columns[name] = [values[place] for place in order[:n_sets]]
    rows = (dict(zip(columns, each, strict=True)) for each in zip(*columns.values(), strict=True))
    return tuple(Archetype(**_with_points(row)) for row in rows)


def _with_points(row: dict[str, Any]) -> dict[str, Any]:
    return row | {"n_samples": max(row["n_samples"], LEAST_SIZE * row["n_clusters"])}


def named(name: str) -> Archetype:
    """The archetype with a name such as ``archetype_007``."""
    number = int(name.removeprefix(PREFIX))
    return design(max(500, number + 1))[number]


def draw(archetype: Archetype, seed: int) -> Clusters:
    """Draw a data set."""
    rng = seeding.generator(seed, "archetype", *map(str, vars(archetype).values()))
    k, p = archetype.n_clusters, archetype.n_features
    radii = _spread(rng, k, archetype.radius_ratio)
    axes = radii[:, None] * np.stack([_spread(rng, p, archetype.aspect) for _ in range(k)])
    turns = np.stack([np.linalg.qr(rng.standard_normal((p, p)))[0] for _ in range(k)])
    roots = axes[:, :, None] * turns  # points are standard ones times a root
    covariances = np.swapaxes(roots, 1, 2) @ roots
    centers = _placed(rng, covariances, stats.norm.isf(archetype.overlap / 2.0))
    y = np.repeat(np.arange(k), _sizes(rng, archetype))
    standard = _standard(rng, archetype.distribution, (len(y), p))
    X = np.einsum("np,npq->nq", standard, roots[y]) + centers[y]
    order = rng.permutation(len(y))
    return Clusters(X[order], y[order], centers, covariances)


def _spread(rng: np.random.Generator, count: int, ratio: float) -> np.ndarray:
    """Numbers with this ratio of largest to smallest and geometric mean 1, in random order."""
    logs = rng.random(count)
    if count > 1:
        logs = (logs - logs.min()) / np.ptp(logs)
    return np.exp(np.log(ratio) * (logs - logs.mean()))


def _sizes(rng: np.random.Generator, archetype: Archetype) -> np.ndarray:
    shares = _spread(rng, archetype.n_clusters, archetype.imbalance)
    bounds = np.cumsum(shares) / shares.sum() * archetype.n_samples
    return np.diff(np.rint(bounds).astype(int), prepend=0)


def _standard(rng: np.random.Generator, distribution: str, shape: tuple[int, int]) -> np.ndarray:
    """Independent numbers with mean 0 and variance 1."""
    if distribution == "normal":
        return rng.standard_normal(shape)
    if distribution == "student":
        return rng.standard_t(DEGREES, shape) * np.sqrt(1.0 - 2.0 / DEGREES)
    return rng.standard_exponential(shape) - 1.0


def _placed(rng: np.random.Generator, covariances: np.ndarray, z: float) -> np.ndarray:
    """Centers, such that each cluster touches an earlier one and no two are closer than that.

    A cluster goes in a random direction from a random earlier cluster, just as far as the overlap
    says. The place is taken unless the cluster would overlap a third one more.
    """
    k, p, _ = covariances.shape
    centers = np.zeros((k, p))
    for new in range(1, k):
        while True:
            neighbor = rng.integers(new)
            direction = rng.standard_normal(p)
            unit = separation(direction, covariances[new], covariances[neighbor])
            center = centers[neighbor] + z / unit * direction
            others = (
                separation(center - centers[each], covariances[new], covariances[each])
                for each in range(new)
                if each != neighbor
            )
            if all(other >= z for other in others):
                centers[new] = center
                break
    return centers


def separation(gap: np.ndarray, first: np.ndarray, second: np.ndarray) -> float:
    """Deviations from two centers to the boundary between them, along Fisher's direction."""
    axis = np.linalg.solve(first + second, gap)
    spreads = np.sqrt(axis @ first @ axis) + np.sqrt(axis @ second @ axis)
    return float(gap @ axis / spreads)
