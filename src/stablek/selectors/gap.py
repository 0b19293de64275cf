"""Gap statistic: within-cluster dispersion compared with that of data without clusters."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stablek import execution, seeding, validation
from stablek.engines import Engine
from stablek.indices.clusters import Clusters, centroids, scatter
from stablek.reference_sets import Box, box_of
from stablek.selectors.criterion import CriterionSelector, Verdict
from stablek.selectors.reference import Reference, cluster

__all__ = ["RULES", "GapA", "GapB", "GapStatistic", "choose_by_rule", "log_dispersions"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


def log_dispersions(
    X: Floats, labelings: Sequence[Ints], power: int, *, n_jobs: int | None = None
) -> Floats:
    """Logarithm of the within-cluster dispersion of each partition.

    The dispersion of a cluster is the sum over pairs of points of their distance, raised to
    ``power``, over the cluster's size. That of a partition is half the sum over its clusters.
    """
    partitions = [Clusters.of(labels) for labels in labelings]
    if power == 2:  # the sum over pairs is the cluster's size times its scatter
        sums = [scatter(X, each, centroids(X, each)) / 2.0 for each in partitions]
    else:
        tasks = [(X, each) for each in partitions]
        sums = execution.run(_mean_pair_distances, tasks, n_jobs=n_jobs, prefer="threads")
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sums))


def _mean_pair_distances(X: Floats, clusters: Clusters) -> float:
    """Half the sum over clusters of the sum of all distances over the cluster's size."""
    from stablek.kernels.distances import pair_sums

    order = np.argsort(clusters.codes, kind="stable")
    sums = pair_sums(np.ascontiguousarray(X[order].T), clusters.starts)
    return float((sums / clusters.sizes).sum() / 2.0)


def _first_max(f: Floats) -> int:
    falls = np.flatnonzero(f[1:] <= f[:-1])
    return int(falls[0]) if len(falls) else len(f) - 1


def _within_error(f: Floats, s: Floats, peak: int) -> int:
    near = np.flatnonzero(f[:peak] >= f[peak] - s[peak])
    return int(near[0]) if len(near) else peak


def _tibshirani(f: Floats, s: Floats) -> int:
    enough = np.flatnonzero(f[:-1] >= f[1:] - s[1:])
    return int(enough[0]) if len(enough) else len(f) - 1


RULES: dict[str, Callable[[Floats, Floats], int]] = {
    "firstSEmax": lambda f, s: _within_error(f, s, _first_max(f)),
    "Tibs2001SEmax": _tibshirani,
    "globalSEmax": lambda f, s: _within_error(f, s, int(np.argmax(f))),
    "firstmax": lambda f, s: _first_max(f),
    "globalmax": lambda f, s: int(np.argmax(f)),
}
"""Rules with the names of R's ``maxSE``: position of the choice, from gaps and standard errors."""


def choose_by_rule(gap: ArrayLike, standard_error: ArrayLike, rule: str) -> int:
    """Return the position of the candidate that a rule chooses.

    Examples
    --------
    >>> choose_by_rule([0.1, 0.35, 0.52, 0.50], [0.02, 0.03, 0.03, 0.02], "firstSEmax")
    2
    """
    validation.check_choice("rule", rule, RULES)
    return RULES[rule](np.asarray(gap, float), np.asarray(standard_error, float))


class GapStatistic(CriterionSelector):
    """Choose K by the gap statistic of Tibshirani, Walther and Hastie (2001).

    This is the base of `GapA` and `GapB`, which differ in the reference distribution only.

    Parameters
    ----------
    clusterer : estimator, default=None
        Any scikit-learn style clusterer. None is ``KMeans(n_init=10)``.
    k_range : sequence of int or None, default=None
        Candidate numbers of clusters. 1 can be the answer. None is 1 to 20.
    n_references : int, default=100
        Number of reference data sets.
    power : {1, 2}, default=1
        Power of the distances in the dispersion: 1 as in R's clusGap, or 2 as in the article.
        2 is faster for many points.
    rule : {"firstSEmax", "Tibs2001SEmax", "globalSEmax", "firstmax", "globalmax"}
        How the gaps decide, with the names of R's maxSE.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the reference sets, and of the clusterer unless it has its own.
    n_jobs : int, default=None
        Workers, as in scikit-learn.

    Attributes
    ----------
    n_clusters_ : int or None
        The answer; None for an abstention.
    k_values_, scores_ : ndarray of shape (n_k,)
        Candidates and their gaps. The rule decides, not always the largest gap.
    answers_ : dict of str to int
        What each rule chooses.
    gap_, standard_error_ : ndarray of shape (n_k,)
        Gaps and their standard errors, which include the simulation error.
    log_dispersion_ : ndarray of shape (n_k,)
        Log dispersion of the data.
    reference_log_dispersion_ : ndarray of shape (n_references, n_k)
        Log dispersion of the reference sets.
    labels_, best_estimator_, best_value_, abstention_
        As in `IndexSelector`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> GapA(n_references=10, random_state=0).fit(X).n_clusters_
    3
    >>> GapB(n_references=10, random_state=0).fit(X).n_clusters_
    3
    """

    supports_one_cluster = True
    principal: ClassVar[bool]

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[int] | None = None,
        n_references: int = 100,
        power: Literal[1, 2] = 1,
        rule: str = "firstSEmax",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.k_range = k_range
        self.n_references = n_references
        self.power = power
        self.rule = rule
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _check(self) -> None:
        validation.check_count("n_references", self.n_references, 2)
        validation.check_choice("rule", self.rule, RULES)
        if self.power not in (1, 2):
            raise ValueError(f"power must be 1 or 2, got {self.power!r}")

    def _judge(self, reference: Reference, k_values: tuple[Any, ...]) -> Verdict:
        X, engine = reference.X, reference.engine
        labelings = [each.labels for each in self._reference_partitions(reference, k_values)]
        self.log_dispersion_ = log_dispersions(X, labelings, self.power, n_jobs=self.n_jobs)
        box = execution.run(box_of, [(X, self.principal)])[0]
        tasks = [
            (box, len(X), engine, k_values, self.power, reference.entropy, number)
            for number in range(self.n_references)
        ]
        self.reference_log_dispersion_ = np.array(
            execution.run(_reference_curve, tasks, n_jobs=self.n_jobs, prefer=engine.prefer)
        )
        curves = self.reference_log_dispersion_
        spread = np.sqrt(1.0 + 1.0 / self.n_references)
        with np.errstate(invalid="ignore"):
            self.gap_ = curves.mean(axis=0) - self.log_dispersion_
            self.standard_error_ = curves.std(axis=0, ddof=1) * spread
        # With K = n there is no dispersion, neither in the data nor in the reference sets.
        usable = np.flatnonzero(~np.isnan(self.gap_ + self.standard_error_))
        self.answers_: dict[str, Any] = {}
        if not len(usable):
            return Verdict(self.gap_, None, "the dispersion is zero for every candidate")
        for rule in RULES:
            at = choose_by_rule(self.gap_[usable], self.standard_error_[usable], rule)
            self.answers_[rule] = k_values[usable[at]]
        return Verdict(self.gap_, self.answers_[self.rule])


def _reference_curve(
    box: Box,
    n: int,
    engine: Engine,
    k_values: tuple[int, ...],
    power: int,
    entropy: int,
    number: int,
) -> Floats:
    points = box.draw(n, seeding.generator(entropy, "gap", number))
    labelings = cluster(engine, points, k_values, entropy, "gap", number)
    return log_dispersions(points, labelings, power, n_jobs=1)


class GapA(GapStatistic):
    """Gap statistic with features uniform over their ranges; see `GapStatistic`."""

    method = "gap_a"
    principal = False


class GapB(GapStatistic):
    """Gap statistic with principal components uniform over their ranges; see `GapStatistic`."""

    method = "gap_b"
    principal = True
