"""How many topics? K and agreement with the truth on generated directions.

    python -m benchmarks.embeddings_quality topics [n_rows] [n_drawings] [--p 16,64] [--k 2,5]
    python -m benchmarks.embeddings_quality nothing [n_rows] [n_drawings] [--p 16,64]
    python -m benchmarks.embeddings_quality angular [n_rows] [n_drawings] [--p 16,64] [--k 2,5]
    python -m benchmarks.embeddings_quality background [n_rows] [n_drawings] [--p 64] [--k 5]
    python -m benchmarks.embeddings_quality documents [n_rows] [n_drawings]

``topics`` draws mixtures of von Mises-Fisher distributions of unequal sizes, with and without a
background of uniform directions, and compares `Stadion` with spherical K-means, `Stadion` with
K-means on the same rows, the silhouette by cosine distance, and HDBSCAN. ``nothing`` draws
directions without topics and counts how often the answer is K = 1. ``angular`` shows the largest
p-value that the topics have against directions of a Gaussian cloud alone. ``background`` shows
where partitions put rows without a topic. ``documents`` draws sparse
documents by Dirichlet topics and compares what can be done with them. A row of the tables is the
right K, the mean absolute error of K and the mean adjusted Rand index over the drawings. ``--p``
and ``--k`` choose among the dimensions and the numbers of topics; the drawings stay the same.
"""

from __future__ import annotations

import warnings
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Sequence
from itertools import product
from time import process_time
from typing import Any

import numpy as np
from scipy.sparse import csr_array
from scipy.stats import vonmises_fisher
from sklearn.cluster import HDBSCAN
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import normalize

from stablek import SphericalKMeans, Stadion, structure_test
from stablek.selectors import Silhouette
from stablek.spherical import cohesion

DIMENSIONS = (16, 64, 384, 768)
TOPICS = (2, 5, 12, 30)
COSINE = 0.7  # mean cosine of a row with its topic
BACKGROUND = 0.2
NOTHING = ("uniform", "one topic", "low rank", "low rank, decaying")

Answer = tuple[int, np.ndarray]


def concentration(p: int, cosine: float) -> float:
    """Concentration of the distribution whose mean cosine is given (Banerjee et al., 2005)."""
    return cosine * (p - cosine**2) / (1 - cosine**2)


def draw_topics(
    n: int, p: int, k: int, background: bool, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Rows around k random directions of unequal sizes; the background has the topic -1."""
    rng = np.random.default_rng([seed, p, k, background])
    centers = normalize(rng.normal(size=(k, p)))
    n_background = int(BACKGROUND * n) if background else 0
    sizes = rng.dirichlet(np.full(k, 5.0)) * (n - n_background - 10 * k)
    topic = np.repeat(np.arange(k), 10 + sizes.astype(int))
    kappa = concentration(p, COSINE)
    rows = [
        vonmises_fisher(center, kappa).rvs(int(count), random_state=rng)
        for center, count in zip(centers, np.bincount(topic), strict=True)
    ]
    rows.append(normalize(rng.normal(size=(n_background, p))) if n_background else rows[0][:0])
    return np.vstack(rows), np.concatenate([topic, np.full(n_background, -1)])


def draw_nothing(kind: str, n: int, p: int, seed: int) -> np.ndarray:
    """Directions without topics."""
    rng = np.random.default_rng([seed, p])
    if kind == "one topic":
        return np.asarray(
            vonmises_fisher(normalize(rng.normal(size=(1, p)))[0], concentration(p, COSINE)).rvs(
                n, random_state=rng
            )
        )
    if kind == "low rank, decaying":
        # Two axes make a ring of directions, and an axis with much of the variance two poles.
        rank = max(2, p // 8)
        spread = 1.0 / np.sqrt(np.arange(1, rank + 1))
        return normalize((rng.normal(size=(n, rank)) * spread) @ rng.normal(size=(rank, p)))
    if kind == "low rank":
        rank = max(8, p // 8)
        return normalize(rng.normal(size=(n, rank)) @ rng.normal(size=(rank, p)))
    return normalize(rng.normal(size=(n, p)))


def draw_documents(n: int, k: int, seed: int) -> tuple[csr_array, np.ndarray]:
    """Counts of words: a document has mostly one topic, a topic has few frequent words."""
    rng = np.random.default_rng([seed, k])
    n_words = 1000
    common = rng.dirichlet(np.full(n_words, 0.1))
    words = 0.5 * common + 0.5 * rng.dirichlet(np.full(n_words, 0.02), size=k)
    topic = rng.integers(k, size=n)
    share = rng.dirichlet(np.full(k, 0.1), size=n) * 0.3
    share[np.arange(n), topic] += 0.7
    counts = [rng.multinomial(rng.integers(40, 200), mixed @ words) for mixed in share]
    return csr_array(np.array(counts, dtype=float)), topic


def by_stadion(clusterer: Any, k_max: int, **options: Any) -> Callable[[np.ndarray], Answer]:
    def answer(X: np.ndarray) -> Answer:
        k_range = range(1, k_max + 1)
        found = Stadion(clusterer, k_range=k_range, random_state=0, **options).fit(X)
        return found.n_clusters_, found.labels_

    return answer


def by_silhouette(k_max: int) -> Callable[[np.ndarray], Answer]:
    def answer(X: np.ndarray) -> Answer:
        options: dict[str, Any] = {"k_range": range(2, k_max + 1), "metric": "cosine"}
        found = Silhouette(SphericalKMeans(), random_state=0, **options).fit(X)
        return int(found.n_clusters_ or 0), found.labels_

    return answer


def by_hdbscan(X: np.ndarray) -> Answer:
    labels = HDBSCAN(min_cluster_size=15, copy=True).fit_predict(X)
    return len(set(labels) - {-1}), labels


def judged(answer: Callable[[Any], Answer], drawn: list[tuple[Any, np.ndarray]], k: int) -> str:
    """Right answers, mean error of K, and agreement on the rows that have a topic."""
    ks, agreement = [], []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for X, topic in drawn:
            found, labels = answer(X)
            ks.append(found)
            agreement.append(adjusted_rand_score(topic[topic >= 0], labels[topic >= 0]))
    error = np.abs(np.array(ks) - k)
    return f"{(error == 0).sum()} of {len(ks)}, {error.mean():.1f}, {np.mean(agreement):.2f}"


def rows_of_topics(
    n: int, n_drawings: int, dimensions: Sequence[int], topics: Sequence[int]
) -> Iterator[list[str]]:
    yield ["p", "topics", "background", "spherical", "K-means", "silhouette (cosine)", "HDBSCAN"]
    for p in dimensions:
        for k in topics:
            for background in (False, True):
                drawn = [draw_topics(n, p, k, background, seed) for seed in range(n_drawings)]
                k_max = max(20, k + 10)
                answers = [
                    by_stadion(SphericalKMeans(), k_max),
                    by_stadion(None, k_max, noise_scale="global"),
                    by_silhouette(k_max),
                    by_hdbscan,
                ]
                shown = [judged(answer, drawn, k) for answer in answers]
                yield [str(p), str(k), "20%" if background else "none", *shown]


def rows_of_nothing(
    n: int, n_drawings: int, dimensions: Sequence[int], _: Sequence[int]
) -> Iterator[list[str]]:
    yield ["kind", "p", "K = 1"]
    right = total = 0
    for kind in NOTHING:
        for p in dimensions:
            tests = [
                structure_test(
                    draw_nothing(kind, n, p, seed),
                    SphericalKMeans(),
                    k_range=range(2, 21),
                    random_state=0,
                )
                for seed in range(n_drawings)
            ]
            one = sum(test.pvalue > test.alpha for test in tests)  # what Stadion does
            right, total = right + one, total + n_drawings
            yield [kind, str(p), f"{one} of {n_drawings}"]
    yield ["all", "", f"{right} of {total}"]


def rows_of_angular(
    n: int, n_drawings: int, dimensions: Sequence[int], topics: Sequence[int]
) -> Iterator[list[str]]:
    yield ["p", "topics", "background", "largest p-value"]
    for p in dimensions:
        for k in topics:
            for background in (False, True):
                pvalues = [
                    structure_test(
                        draw_topics(n, p, k, background, seed)[0],
                        SphericalKMeans(),
                        k_range=range(2, max(20, k + 10) + 1),
                        reference_sets="angular",
                        random_state=0,
                    ).pvalue
                    for seed in range(n_drawings)
                ]
                yield [str(p), str(k), "20%" if background else "none", f"{max(pvalues):.2g}"]


def rows_of_background(
    n: int, n_drawings: int, dimensions: Sequence[int], topics: Sequence[int]
) -> Iterator[list[str]]:
    """For each K: rows without a topic in clusters of topics, and what clusters look like."""
    yield ["p", "topics", "clusterer", "K", "score", "in topics", "cohesion", "center lengths"]
    for p, k, seed in product(dimensions, topics, range(n_drawings)):
        X, topic = draw_topics(n, p, k, True, seed)
        for name, clusterer in (("spherical", SphericalKMeans()), ("K-means", None)):
            found = Stadion(
                clusterer,
                k_range=range(2, 21),
                noise_scale="global",
                one_cluster="never",
                random_state=0,
            ).fit(X)
            for tried, score in ((j, found.scores_[j - 2]) for j in range(k, k + 8)):
                labels = found.reference_labels_[tried - 2]
                of_topics = np.isin(labels, np.unique(labels[topic >= 0]))
                means = [X[labels == label].mean(axis=0) for label in range(tried)]
                shown = (np.sort(cohesion(X, labels)), np.sort(np.linalg.norm(means, axis=1)))
                cells = [" ".join(f"{value:.2f}" for value in values) for values in shown]
                inside = str(int((of_topics & (topic < 0)).sum()))
                chosen = " (chosen)" if tried == found.n_clusters_ else ""
                yield [str(p), str(k), name, f"{tried}{chosen}", f"{score:.3f}", inside, *cells]


def rows_of_documents(
    n: int, n_drawings: int, _: Sequence[int], __: Sequence[int]
) -> Iterator[list[str]]:
    yield ["topics", "SVD 20", "SVD 50", "SVD 100", "all words"]
    for k in (1, 5, 12):
        counted = [draw_documents(n, k, seed) for seed in range(n_drawings)]
        drawn = [(TfidfTransformer().fit_transform(X), topic) for X, topic in counted]
        answer = by_stadion(SphericalKMeans(), k + 10)
        shown = []
        for rank in (20, 50, 100):
            svd = TruncatedSVD(rank, random_state=0)
            reduced = [(svd.fit_transform(X), topic) for X, topic in drawn]
            shown.append(judged(answer, reduced, k))
        shown.append(judged(answer, [(X.toarray(), topic) for X, topic in drawn], k))
        yield [str(k), *shown]


TABLES = {
    "topics": rows_of_topics,
    "nothing": rows_of_nothing,
    "angular": rows_of_angular,
    "background": rows_of_background,
    "documents": rows_of_documents,
}


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split(","))


def main() -> None:
    parser = ArgumentParser()
    parser.add_argument("table", choices=TABLES, nargs="?", default="topics")
    parser.add_argument("n_rows", type=int, nargs="?", default=1000)
    parser.add_argument("n_drawings", type=int, nargs="?", default=3)
    parser.add_argument("--p", type=_numbers, default=DIMENSIONS)
    parser.add_argument("--k", type=_numbers, default=TOPICS)
    given = parser.parse_args()
    started = process_time()
    print(f"{given.n_rows} rows, {given.n_drawings} drawings; right K, error of K, mean ARI\n")
    rows = TABLES[given.table](given.n_rows, given.n_drawings, given.p, given.k)
    for number, row in enumerate(rows):
        print("| " + " | ".join(row) + " |", flush=True)
        if number == 0:
            print("|" + "---|" * len(row))
    print(f"\n{process_time() - started:.0f} CPU s")


if __name__ == "__main__":
    main()
