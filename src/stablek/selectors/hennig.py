"""Hennig's stability: which clusters are found again in bootstrap samples?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek import execution, seeding, validation
from stablek.engines import Engine
from stablek.indices.clusters import Clusters
from stablek.selectors.criterion import CriterionSelector, Verdict, best_value, check_share
from stablek.selectors.reference import Reference, cluster
from stablek.similarity import count_table

__all__ = ["Hennig", "cluster_jaccard"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

RULES = ("mean", "min", "stable")


def cluster_jaccard(reference: Ints, rows: Ints, labels: Ints) -> Floats:
    """Jaccard similarity of each reference cluster to the most similar cluster found.

    Parameters
    ----------
    reference : ndarray of shape (n,)
        Labels of all points.
    rows : ndarray of shape (n_rows,)
        Row numbers, all distinct, of the points that were clustered again.
    labels : ndarray of shape (n_rows,)
        Their new labels.

    Returns
    -------
    ndarray of shape (n_clusters,)
        In the order of the sorted labels. A cluster without points among the rows has 0.

    Examples
    --------
    >>> cluster_jaccard(np.array([0, 0, 1, 1]), np.arange(4), np.array([0, 0, 0, 1]))
    array([0.66666667, 0.5       ])
    """
    first, second = Clusters.of(reference), Clusters.of(labels)
    table = count_table(first.codes[rows], second.codes, first.n_clusters, second.n_clusters)
    union = table.sum(axis=1)[:, None] + table.sum(axis=0) - table
    return np.asarray((table / union).max(axis=1))


class Hennig(CriterionSelector):
    """Choose K by the bootstrap Jaccard similarity of its clusters (Hennig, 2007).

    Parameters
    ----------
    clusterer : estimator, default=None
        Any scikit-learn style clusterer. None is ``KMeans(n_init=10)``.
    k_range : sequence of int or None, default=None
        Candidates. One cluster is trivially stable and scores NaN. None is 1 to 20.
    n_bootstraps : int, default=100
        Number of bootstrap samples.
    rule : {"mean", "min", "stable"}, default="mean"
        "mean" chooses the largest mean over the clusters, "min" the largest minimum. "stable"
        chooses the largest K whose clusters all reach ``threshold``, or 1 if there is none. The
        published study does not say which it used; the default is inferred.
    threshold : float, default=0.75
        For "stable". Hennig calls clusters doubtful below 0.6, valid from 0.75 on, and highly
        stable from 0.85 on.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the samples, and of the clusterer unless it has its own.
    n_jobs : int, default=None
        Workers, as in scikit-learn.

    Attributes
    ----------
    n_clusters_ : int or None
        The answer; None for an abstention.
    k_values_, scores_ : ndarray of shape (n_k,)
        Candidates, and the mean or the minimum over the clusters of each.
    answers_ : dict of str to int or None
        What each rule chooses.
    jaccard_ : list of ndarray
        For each candidate, the mean similarity of each cluster.
    labels_, best_estimator_, best_value_, abstention_
        As in `IndexSelector`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> Hennig(k_range=range(2, 6), n_bootstraps=10, random_state=0).fit(X).n_clusters_
    3
    """

    method = "hennig"

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[int] | None = None,
        n_bootstraps: int = 100,
        rule: str = "mean",
        threshold: float = 0.75,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.k_range = k_range
        self.n_bootstraps = n_bootstraps
        self.rule = rule
        self.threshold = threshold
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check(self) -> None:
        validation.check_count("n_bootstraps", self.n_bootstraps)
        validation.check_choice("rule", self.rule, RULES)
        check_share("threshold", self.threshold)

    def _judge(self, reference: Reference, k_values: tuple[Any, ...]) -> Verdict:
        X, engine, entropy = reference.X, reference.engine, reference.entropy
        partitions = self._reference_partitions(reference, k_values)
        draws = range(self.n_bootstraps)
        fewest = min(len(_bootstrap(len(X), entropy, draw)) for draw in draws)
        judged = [p for p in partitions if len(np.unique(p.labels)) > 1 and p.k <= fewest]
        tasks = [(X, engine, [(p.k, p.labels) for p in judged], entropy, draw) for draw in draws]
        found = execution.run(_jaccards, tasks, n_jobs=self.n_jobs, prefer=engine.prefer)
        means = {p.k: np.mean([d[i] for d in found], axis=0) for i, p in enumerate(judged)}
        self.jaccard_ = [
            np.asarray(means[p.k]) if p.k in means else np.full(len(np.unique(p.labels)), np.nan)
            for p in partitions
        ]
        verdicts = {rule: self._verdict(k_values, rule) for rule in RULES}
        self.answers_ = {rule: verdict.value for rule, verdict in verdicts.items()}
        return verdicts[self.rule]

    def _verdict(self, k_values: tuple[Any, ...], rule: str) -> Verdict:
        statistic = np.mean if rule == "mean" else np.min
        scores = np.array([float(statistic(each)) for each in self.jaccard_])
        if rule != "stable":
            return best_value(k_values, scores)
        stable = np.flatnonzero(scores >= self.threshold)
        if len(stable):
            return Verdict(scores, k_values[stable[-1]])
        if 1 in k_values:
            return Verdict(scores, 1)
        reason = f"no candidate has all its clusters at {self.threshold:g} or above"
        return Verdict(scores, None, reason)


def _bootstrap(n: int, entropy: int, draw: int) -> Ints:
    """Distinct rows of one bootstrap sample."""
    random = seeding.generator(entropy, "hennig", draw)
    return np.unique(random.integers(n, size=n))


def _jaccards(
    X: Floats, engine: Engine, references: list[tuple[int, Ints]], entropy: int, draw: int
) -> list[Floats]:
    rows = _bootstrap(len(X), entropy, draw)
    found = cluster(engine, X[rows], [k for k, _ in references], entropy, "hennig", draw)
    return [
        cluster_jaccard(labels, rows, new)
        for (_, labels), new in zip(references, found, strict=True)
    ]
