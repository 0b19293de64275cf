"""Gaussian mixtures that start from a model-based hierarchy or the best of many K-means runs."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

__all__ = [
    "MAX_HIERARCHY",
    "KMeansGaussianMixture",
    "SVDGaussianMixture",
    "hierarchical_labels",
    "hierarchy_rows",
    "n_parameters",
    "start_from_labels",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

MAX_HIERARCHY = 2000
"""Above this number of points the hierarchy uses a random subsample."""


def hierarchical_edges(X: Floats) -> tuple[Ints, Ints]:
    """Merges of the model-based hierarchy of X, as pairs of points of the merged clusters.

    The features are standardized and rotated to principal components. Each component is divided
    by the square root of its singular value. Each merge is the one for which the sum over
    clusters of ``n log(det(W / n) + (trace(W) + a) / n)`` grows least. W is the scatter matrix,
    and a is the mean over the features of the variance of the points.
    """
    from stablek.kernels.mixture.hierarchy import grow_gaussian

    first, second = np.zeros(len(X) - 1, dtype=np.intp), np.zeros(len(X) - 1, dtype=np.intp)
    points = _scaled_components(X)
    floor = float((points**2).sum()) / points.size if points.size else 0.0
    if floor == 0.0:  # all points are equal, so that any order will do
        return first, np.arange(1, len(X))
    grow_gaussian(points, floor, first, second)
    return first, second


def _scaled_components(X: Floats) -> Floats:
    largest = float(np.abs(X).max(initial=0.0))
    # Squares must neither overflow nor vanish; division by a power of two is exact.
    centered = np.ldexp(X, -int(np.frexp(largest)[1])) if largest > 0.0 else X.copy()
    centered -= centered.mean(axis=0)
    deviation = centered.std(axis=0, ddof=1)
    rounding = len(X) * np.finfo(float).eps
    varies = deviation > rounding
    if not varies.any():
        return np.empty((len(X), 0))
    left, singular, _ = np.linalg.svd(centered[:, varies] / deviation[varies], full_matrices=False)
    kept = singular > singular[0] * rounding
    return np.ascontiguousarray(left[:, kept] * np.sqrt(singular[kept]))


def hierarchical_labels(X: Floats, k_values: Sequence[int]) -> list[Ints]:
    """Labels of the hierarchy cut into each number of clusters.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> [labels] = hierarchical_labels(load_iris().data, [3])
    >>> np.bincount(labels)
    array([49, 62, 39])
    """
    from stablek.kernels.linkage.cuts import cut

    first, second = hierarchical_edges(X)
    finest = np.empty(len(X), dtype=np.intp)
    coarser = np.empty((len(k_values), min(max(k_values), len(X))), dtype=np.intp)
    order = np.arange(len(X) - 1, dtype=np.float64)
    cut(first, second, order, np.asarray(k_values, dtype=np.intp), finest, coarser)
    return list(coarser[:, finest])


def hierarchy_rows(n: int, random_state: Any) -> Ints | None:
    """Rows of n points from which the hierarchy is built; None for all.

    Examples
    --------
    >>> hierarchy_rows(150, 0)
    >>> len(hierarchy_rows(5000, 0))
    2000
    """
    if n <= MAX_HIERARCHY:
        return None
    random = check_random_state(random_state)
    return np.sort(random.choice(n, MAX_HIERARCHY, replace=False))


def start_from_labels(
    X: Floats,
    labels: Ints,
    n_components: int,
    *,
    covariance_type: str = "full",
    reg_covar: float = 1e-6,
) -> dict[str, Floats]:
    """Weights, means and precisions of labeled clusters, from which a mixture can start.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Data.
    labels : ndarray of shape (n_samples,)
        Labels of clusters, from 0 on.
    n_components : int
        Number of clusters.
    covariance_type, reg_covar
        As in `sklearn.mixture.GaussianMixture`.

    Returns
    -------
    dict
        ``weights_init``, ``means_init`` and ``precisions_init`` of GaussianMixture.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> [labels] = hierarchical_labels(X, [3])
    >>> start_from_labels(X, labels, 3)["weights_init"].round(3)
    array([0.327, 0.413, 0.26 ])
    """
    clusters = [X[labels == c] for c in range(n_components)]
    # Equal points can leave clusters empty. The small number is scikit-learn's.
    counts = np.array([len(c) for c in clusters]) + 10 * np.finfo(float).eps
    means = np.stack([c.sum(axis=0) for c in clusters]) / counts[:, None]
    gaps = [c - mean for c, mean in zip(clusters, means, strict=True)]
    ridge = reg_covar * np.eye(X.shape[1])
    covariances = np.stack([g.T @ g for g in gaps])
    weights = counts / counts.sum()
    if covariance_type == "tied":
        return _start(weights, means, _inverse(covariances.sum(axis=0) / len(X) + ridge))
    covariances = covariances / counts[:, None, None] + ridge
    if covariance_type == "full":
        return _start(weights, means, np.stack([_inverse(c) for c in covariances]))
    variances = np.diagonal(covariances, axis1=1, axis2=2)
    if covariance_type == "spherical":
        variances = variances.mean(axis=1)
    if not (variances > 0.0).all():
        raise ValueError(SINGULAR)
    return _start(weights, means, 1.0 / variances)


SINGULAR = (
    "Fitting the mixture model failed because some components have ill-defined empirical "
    "covariance (for instance caused by singleton or collapsed samples). Try to decrease the "
    "number of components, increase reg_covar, or scale the input data."
)
"""Message of scikit-learn 1.9 for a covariance that is not positive definite."""


def _start(weights: Floats, means: Floats, precisions: Floats) -> dict[str, Floats]:
    return {"weights_init": weights, "means_init": means, "precisions_init": precisions}


def _inverse(covariance: Floats) -> Floats:
    try:
        factor = np.linalg.inv(np.linalg.cholesky(covariance))
    except np.linalg.LinAlgError:
        raise ValueError(SINGULAR) from None
    return np.asarray(factor.T @ factor)


class _StartedGaussianMixture(GaussianMixture, ABC):  # type: ignore[misc]
    """GaussianMixture that starts from labeled points."""

    @abstractmethod
    def _clusters(self, X: Floats) -> tuple[Floats, Ints]:
        """Points to start from, and their labels."""

    def fit_predict(self, X: Any, y: Any = None) -> Ints:
        """Estimate the model and label X.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        self._validate_params()
        X = validate_data(self, X, dtype=[np.float64, np.float32], ensure_min_samples=2)
        parameters = self.get_params(deep=False)
        if len(X) >= self.n_components:
            start = start_from_labels(
                *self._clusters(np.asarray(X, dtype=np.float64)),
                self.n_components,
                covariance_type=self.covariance_type,
                reg_covar=self.reg_covar,
            )
            parameters.update({k: v for k, v in start.items() if parameters[k] is None})
        plain = GaussianMixture(**{**parameters, "n_init": 1})
        labels = plain.fit_predict(X)
        fitted = {k: v for k, v in vars(plain).items() if k.endswith("_") and k[0] != "_"}
        # n_features_in_ and feature_names_in_ were set above, from X as it was given.
        self.__dict__.update({k: v for k, v in fitted.items() if k not in vars(self)})
        self.__dict__.update({k: v for k, v in fitted.items() if not k.endswith("_in_")})
        return np.asarray(labels, dtype=np.intp)


class SVDGaussianMixture(_StartedGaussianMixture):
    """`sklearn.mixture.GaussianMixture` that starts from a model-based hierarchy.

    It has the same parameters and attributes. Up to 2000 points the start is not random. With
    more points the hierarchy uses a random subsample of 2000. So ``n_init`` and ``init_params``
    have no effect. If ``weights_init``, ``means_init`` or ``precisions_init`` is given, it
    replaces the value from the hierarchy.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.preprocessing import scale
    >>> X = scale(load_iris().data)
    >>> round(SVDGaussianMixture(2, tol=1e-10, reg_covar=0, max_iter=1000).fit(X).bic(X), 4)
    794.709
    """

    def _clusters(self, X: Floats) -> tuple[Floats, Ints]:
        rows = hierarchy_rows(len(X), self.random_state)
        if rows is not None:
            X = X[rows]
        [labels] = hierarchical_labels(X, [self.n_components])
        return X, labels


class KMeansGaussianMixture(_StartedGaussianMixture):
    """`sklearn.mixture.GaussianMixture` that starts from the best of ``n_init`` K-means runs.

    It has the same parameters and attributes. GaussianMixture runs EM from each of ``n_init``
    K-means runs and keeps the likeliest model. This class runs K-means ``n_init`` times, and EM
    once, from the clusters with the lowest inertia. ``init_params`` has no effect. If
    ``weights_init``, ``means_init`` or ``precisions_init`` is given, it replaces the value from
    the clusters.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X = load_iris().data
    >>> KMeansGaussianMixture(3, n_init=10, random_state=0).fit(X).weights_.round(3)
    array([0.301, 0.333, 0.365])
    """

    def _clusters(self, X: Floats) -> tuple[Floats, Ints]:
        kmeans = KMeans(self.n_components, n_init=self.n_init, random_state=self.random_state)
        return X, kmeans.fit(X).labels_


def n_parameters(covariance_type: str, k: int, p: int) -> int:
    """Free parameters of a mixture of k components with p features.

    Examples
    --------
    >>> [n_parameters(kind, 3, 2) for kind in ("full", "tied", "diag", "spherical")]
    [17, 11, 14, 11]
    """
    pairs = p * (p + 1) // 2
    covariances = {"full": k * pairs, "tied": pairs, "diag": k * p, "spherical": k}
    return covariances[covariance_type] + k * p + k - 1
