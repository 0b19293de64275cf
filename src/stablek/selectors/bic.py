"""Bayesian information criterion of a Gaussian mixture."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from sklearn.mixture import GaussianMixture

from stablek.execution import run
from stablek.mixture import n_parameters
from stablek.selectors.blockwise import BlockReference, no_blocks
from stablek.selectors.criterion import CriterionSelector, Verdict, best_value
from stablek.selectors.reference import Reference

__all__ = ["BIC"]


class BIC(CriterionSelector):
    """Choose the Gaussian mixture with the smallest Bayesian information criterion.

    Parameters
    ----------
    clusterer : GaussianMixture, default=None
        None is ``GaussianMixture()``, which has full covariances.
    k_range : sequence of int or None, default=None
        Candidate numbers of components. 1 can be the answer. None is 1 to 20.
    random_state : int, RandomState, Generator or None, default=None
        Seed of the mixture, unless it has its own.
    n_jobs : int, default=None
        Workers, as in scikit-learn.

    Attributes
    ----------
    n_clusters_ : int or None
        The answer; None for an abstention.
    k_values_, scores_ : ndarray of shape (n_k,)
        Candidates and minus their criterion.
    bic_ : ndarray of shape (n_k,)
        The criterion with scikit-learn's sign: smaller is better.
    labels_, best_estimator_, best_value_, abstention_
        As in `IndexSelector`.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> BIC(k_range=range(1, 6), random_state=0).fit(X).n_clusters_
    3
    """

    method = "bic"
    minimized = "BIC"
    clusterers = (GaussianMixture,)
    supports_one_cluster = True

    def __init__(
        self,
        clusterer: Any = None,
        *,
        k_range: Sequence[int] | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.clusterer = clusterer
        self.k_range = k_range
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _default_clusterer(self) -> Any:
        return GaussianMixture()

    def _judge(self, reference: Reference, k_values: tuple[Any, ...]) -> Verdict:
        reference.partitions(k_values)  # all at once: they share work
        self.bic_ = np.array([_bic(reference, k) for k in k_values])
        return best_value(k_values, -self.bic_)

    def _no_blocks(self, reference: BlockReference) -> str | None:
        self._check_clusterer(reference.sample.clusterer)
        return no_blocks(reference.sample)

    def _judge_blocks(
        self, reference: BlockReference, models: Any, k_values: tuple[int, ...]
    ) -> Verdict:
        blocks, kind = reference.blocks, reference.sample.clusterer.covariance_type
        likelihoods = dict(
            zip(models.layout.whole, models.log_likelihoods(blocks).tolist(), strict=True)
        )
        penalty = np.log(blocks.n_rows)
        self.bic_ = np.array(
            [
                penalty * n_parameters(kind, k, blocks.n_features) - 2.0 * likelihoods[k]
                for k in k_values
            ]
        )
        return best_value(k_values, -self.bic_)


def _bic(reference: Reference, k: int) -> float:
    [bic] = run(reference.engine.bic, [(reference.X, reference.with_model(k))])
    assert bic is not None  # `clusterers` admits mixtures only
    return bic
