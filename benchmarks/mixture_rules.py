"""Would another rule, or other starts, choose K better with mixtures? (docs/study/table1.md)

    python -m benchmarks.mixture_rules benchmark [n_sets] [--starts best|likeliest]
    python -m benchmarks.mixture_rules generated [n_sets] [--starts best|likeliest]

Each set is fitted once, and every rule chooses from the same paths. No rule may answer K = 1.

benchmark: sets of at most 16 features, the smallest first; K up to 60.

generated: Gaussian mixtures of 2 to 12 components in 2 to 10 dimensions, with random overlap,
aspect ratios and weights; K up to 20. No rule was made by looking at these sets.

"best" starts EM once, from the best of 35 K-means runs. "likeliest" keeps the likeliest of ten
mixtures, which start from ten K-means runs.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import scale

from benchmarks.mixture_readings import sets
from stablek import Stadion
from stablek.datasets import fetch_benchmark
from stablek.mixture import KMeansGaussianMixture
from stablek.results import standard_error
from stablek.similarity import compare_labels

SEED = 20261118
STARTS = {
    "best": lambda: KMeansGaussianMixture(n_init=35),
    "likeliest": lambda: GaussianMixture(n_init=10),
}


class Fitted(NamedTuple):
    """A set with K* clusters: Stadion (n_k, n_epsilons, n_draws) and ARI (n_k,), from K = 2 on."""

    true_k: int
    stadion: np.ndarray
    aris: np.ndarray


def benchmark(n_sets: int | None) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    for info in sets(n_sets, 16, np.inf, np.inf):
        X, y = fetch_benchmark(info.name)
        yield scale(X), y, 60


def generated(n_sets: int | None) -> Iterator[tuple[np.ndarray, np.ndarray, int]]:
    for number in range(60 if n_sets is None else n_sets):
        X, y = make_mixture(number)
        yield scale(X), y, 20


def make_mixture(number: int) -> tuple[np.ndarray, np.ndarray]:
    """A random Gaussian mixture.

    The means are scaled so that the two nearest components are 2.5 to 6 deviations apart.
    """
    rng = np.random.default_rng([SEED, number])
    p, k, n = (
        int(rng.choice([2, 3, 5, 10])),
        int(rng.integers(2, 13)),
        int(rng.integers(400, 1001)),
    )
    weights = np.maximum(rng.dirichlet(np.full(k, rng.choice([2.0, 5.0, 50.0]))), 0.15 / k)
    aspect = rng.uniform(1, 6)
    factors = []
    for _ in range(k):
        axes, _ = np.linalg.qr(rng.standard_normal((p, p)))
        size = np.exp(rng.uniform(-0.5, 0.5))
        factors.append(axes * (size * np.exp(rng.uniform(-1, 1, p) * np.log(aspect) / 2)) @ axes.T)
    distance = rng.uniform(2.5, 6.0)
    means = rng.standard_normal((k, p)) * rng.uniform(0.6, 1.4, p)
    means *= distance / min(
        _distance(means[a] - means[b], factors[a], factors[b]) for a in range(k) for b in range(a)
    )
    y = rng.choice(k, n, p=weights / weights.sum())
    noise = rng.standard_normal((n, p))
    return means[y] + np.einsum("ij,ijk->ik", noise, np.stack(factors)[y]), y


def _distance(gap: np.ndarray, one: np.ndarray, two: np.ndarray) -> float:
    """Length of the gap in mean deviations of two components along it."""
    length = np.linalg.norm(gap)
    deviations = [np.linalg.norm(factor.T @ gap) / length for factor in (one, two)]
    return float(length / np.mean(deviations))


def fitted(X: np.ndarray, y: np.ndarray, k_max: int, starts: str) -> Fitted:
    model = Stadion(
        STARTS[starts](), k_range=range(1, k_max + 1), omega=range(2, 11), one_cluster="never",
        random_state=0, n_jobs=1,
    )  # fmt: skip
    with warnings.catch_warnings():
        # Mixtures with many components on few points do not converge: here nobody reads it.
        warnings.simplefilter("ignore")
        model.fit(X)
    counted = model.paths_.epsilons > 0
    aris = [compare_labels(y, labels) for labels in model.reference_labels_[1:]]
    return Fitted(len(np.unique(y)), model.paths_.stadion[1:, counted], np.array(aris))


def best(scores: np.ndarray, margin: Any = 0.0) -> int:
    """Position of the smallest K whose score is at most the margin below the highest."""
    return int(np.argmax(scores >= scores.max() - margin))


def lead(stadion: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far each K is below the best, and the standard error of this over the draws.

    All K have the same noise, so the draws are paired. Each K has its own best level.
    """
    at = stadion.mean(axis=-1).argmax(axis=1)
    peaks = stadion[np.arange(len(stadion)), at]
    below = peaks[best(peaks.mean(axis=1))] - peaks
    return below.mean(axis=1), standard_error(below)


def within_errors(stadion: np.ndarray, n_errors: float) -> int:
    below, error = lead(stadion)
    return int(np.argmax(below <= n_errors * error))


RULES: dict[str, Any] = {
    "max over levels (the default)": lambda s: best(s.mean(axis=-1).max(axis=1)),
    "mean over levels": lambda s: best(s.mean(axis=(1, 2))),
    "max over levels in each draw": lambda s: best(s.max(axis=1).mean(axis=-1)),
    "smallest K within one standard error": lambda s: within_errors(s, 1.0),
    "smallest K within two standard errors": lambda s: within_errors(s, 2.0),
    "smallest K within 0.005": lambda s: best(s.mean(axis=-1).max(axis=1), 0.005),
    "smallest K within 0.01": lambda s: best(s.mean(axis=-1).max(axis=1), 0.01),
    "smallest K within 0.02": lambda s: best(s.mean(axis=-1).max(axis=1), 0.02),
}


def report(found: list[Fitted]) -> None:
    print(f"| rule | wins of {len(found)} | mean ARI |\n| --- | --- | --- |")
    for name, rule in RULES.items():
        chosen = [rule(each.stadion) for each in found]
        wins = sum(k + 2 == each.true_k for k, each in zip(chosen, found, strict=True))
        ari = np.mean([each.aris[k] for k, each in zip(chosen, found, strict=True)])
        print(f"| {name} | {wins} | {ari:.3f} |")
    default = RULES["max over levels (the default)"]
    missed = [each for each in found if default(each.stadion) + 2 != each.true_k]
    too_large = sum(default(each.stadion) + 2 > each.true_k for each in missed)
    leads = [np.array(lead(each.stadion))[:, each.true_k - 2] for each in missed]
    clear = sum(below > 2 * error for below, error in leads)
    poor = sum(each.aris[each.true_k - 2] < 0.7 for each in missed)
    print(
        f"\n{len(missed)} missed: K too large on {too_large}; K* more than two standard errors "
        f"below the best on {clear}; ARI at K* below 0.7 on {poor}. Mean ARI at K* of all sets: "
        f"{np.mean([each.aris[each.true_k - 2] for each in found]):.3f}."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("part", choices=["benchmark", "generated"])
    parser.add_argument("n_sets", type=int, nargs="?")
    parser.add_argument("--starts", choices=list(STARTS), default="best")
    options = parser.parse_args()
    source = {"benchmark": benchmark, "generated": generated}[options.part]
    report([fitted(X, y, k, options.starts) for X, y, k in source(options.n_sets)])
