"""Spherical K-means: clusters of directions, as embeddings of texts and images are.

All of it is matrix products with unit rows, so that dense and sparse data of either precision run
through the same code. Many small fits are faster in the kernels; see `stablek.engines.spherical`.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_array, csr_array
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.validation import check_is_fitted, validate_data

from stablek import seeding
from stablek.blocks import blocks, rows_per_block
from stablek.validation import check_count, check_tol

__all__ = [
    "SphericalKMeans",
    "as_seen_by",
    "cohesion",
    "cosine_labels",
    "lloyd",
    "plus_plus",
    "unit_rows",
]

Floats = NDArray[Any]
Ints = NDArray[Any]

_MANY_NUMBERS = 1 << 22


class SphericalKMeans(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """K-means for directions: each row belongs to the center with which it has the largest cosine.

    Rows are divided by their length, so only their directions count. A center is the direction of
    the sum of the unit rows of its cluster (Dhillon and Modha, 2001).

    Parameters
    ----------
    n_clusters : int, default=8
    n_init : int, default=10
        Runs from different starts, of which the best is kept. A start is by greedy k-means++ with
        the cosine distance, 1 - cosine.
    max_iter : int, default=300
        Most steps of a run.
    tol : float, default=1e-4
        A run ends when the squared shift of its centers is at most ``tol / n_features``. This is
        scikit-learn's rule for unit rows that are spread over all directions.
    random_state : int, RandomState, Generator or None, default=None

    Attributes
    ----------
    cluster_centers_ : ndarray of shape (n_clusters, n_features)
        Unit vectors.
    labels_ : ndarray of shape (n_samples,)
    inertia_ : float
        Sum over all rows of 1 - cosine with their center. This is half the sum of the squared
        Euclidean distances of unit rows from their centers.
    n_iter_ : int
        Steps of the best run.
    n_features_in_ : int
    feature_names_in_ : ndarray of str
        Only when X has column names that are all strings.

    Notes
    -----
    X may be dense or a sparse matrix; float32 stays float32. A row of zeros has no direction and
    is an error. A cluster that runs empty takes the row that fits its own center worst.

    References
    ----------
    Dhillon, Modha (2001). Concept decompositions for large sparse text data using clustering.

    Examples
    --------
    >>> X = [[1.0, 0.0], [5.0, 1.0], [0.0, 2.0], [0.1, 1.0]]
    >>> model = SphericalKMeans(2, random_state=0).fit(X)
    >>> bool(model.labels_[0] == model.labels_[1] != model.labels_[2] == model.labels_[3])
    True
    >>> bool(model.predict([[100.0, 1.0]])[0] == model.labels_[0])
    True
    """

    def __init__(
        self,
        n_clusters: int = 8,
        *,
        n_init: int = 10,
        max_iter: int = 300,
        tol: float = 1e-4,
        random_state: Any = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_init = n_init
        self.max_iter = max_iter
        self.tol = tol
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster the directions of the rows of X.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)
        y : ignored

        Returns
        -------
        self
        """
        k = check_count("n_clusters", self.n_clusters)
        n_init, max_iter = (
            check_count("n_init", self.n_init),
            check_count("max_iter", self.max_iter),
        )
        limit = check_tol(self.tol)
        units = unit_rows(self._validated(X, reset=True))
        n, n_features = units.shape
        if k > n:
            raise ValueError(f"n_clusters={k} must be at most the number of rows, n_samples={n}")
        entropy = seeding.entropy_of(self.random_state)
        best: Run | None = None
        for number in range(n_init):
            start = plus_plus(units, k, seeding.generator(entropy, "start", number))
            [found] = lloyd(units, [start], max_iter=max_iter, limit=limit / n_features)
            if best is None or found.inertia < best.inertia:
                best = found
        assert best is not None
        n_found = len(np.unique(best.labels))
        if n_found < k:
            warnings.warn(
                f"n_clusters={k}, but X has only {n_found} distinct directions",
                ConvergenceWarning,
                stacklevel=2,
            )
        self.cluster_centers_, self.labels_ = best.centers, best.labels
        self.inertia_, self.n_iter_ = best.inertia, best.n_iter
        return self

    def predict(self, X: Any) -> Ints:
        """Label of the center with the largest cosine, for each row.

        Parameters
        ----------
        X : {array-like, sparse matrix} of shape (n_samples, n_features)

        Returns
        -------
        ndarray of shape (n_samples,)
        """
        check_is_fitted(self)
        units = unit_rows(self._validated(X, reset=False))
        return cosine_labels(units, self.cluster_centers_.astype(units.dtype))

    def _validated(self, X: Any, *, reset: bool) -> Any:
        dtypes = [np.float64, np.float32]
        return validate_data(self, X, accept_sparse="csr", dtype=dtypes, reset=reset)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


class Run(NamedTuple):
    """A run of Lloyd's algorithm; inertia is the sum of 1 - cosine."""

    centers: Floats
    labels: Ints
    inertia: float
    n_iter: int


def unit_rows(X: Any) -> Any:
    """Rows divided by their length, in a new array of the same type.

    Examples
    --------
    >>> unit_rows(np.array([[3.0, 4.0], [0.0, 1e-300]]))
    array([[0.6, 0.8],
           [0. , 1. ]])
    """
    # Division by the largest number first: squares neither over- nor underflow.
    size = np.maximum(_dense(X.max(axis=1)), -_dense(X.min(axis=1))).ravel()
    if not size.all():
        zeros = np.flatnonzero(size == 0)
        raise ValueError(
            f"X has {len(zeros)} row(s) of zeros, the first in row {zeros[0]}: they have no "
            f"direction, so that no cosine is defined. Drop them first, for example with "
            f"X[(X != 0).any(axis=1)]"
        )
    if hasattr(X, "toarray"):
        sparse: Any = csr_array(X, copy=True)
        per_row = np.diff(sparse.indptr)
        sparse.data /= np.repeat(size, per_row)
        length = np.sqrt(np.add.reduceat(sparse.data**2, sparse.indptr[:-1]))
        sparse.data /= np.repeat(length, per_row)
        return sparse
    units = X / size[:, None]
    units /= np.sqrt(np.einsum("ij,ij->i", units, units))[:, None]
    return units


def cohesion(units: Any, labels: Ints) -> Floats:
    """Mean cosine of two different rows of each cluster; 1 for a cluster of one row.

    Examples
    --------
    >>> units = unit_rows(np.array([[1.0, 0.0], [0.0, 1.0], [3.0, 4.0], [-1.0, 0.0]]))
    >>> cohesion(units, np.array([0, 0, 1, 1])).round(3)
    array([ 0. , -0.6])
    """
    sizes = np.bincount(labels)
    square = (_sums(units, labels, len(sizes), None) ** 2).sum(axis=1)
    pairs = np.maximum(sizes * (sizes - 1), 1)
    return np.asarray(np.where(sizes > 1, (square - sizes) / pairs, 1.0))


def as_seen_by(clusterer: Any, X: Any) -> Any:
    """X as the clusterer sees it: unit rows for spherical K-means, X itself for all others.

    Unit rows of many numbers in single precision stay so: they take half the memory.
    """
    if not isinstance(clusterer, SphericalKMeans):
        return X
    return unit_rows(X if X.size > _MANY_NUMBERS else X.astype(np.float64, copy=False))


def plus_plus(units: Any, k: int, rng: np.random.Generator) -> Floats:
    """K rows by greedy k-means++ with the cosine distance.

    Each next row is the best of 2 + log(c) rows that are drawn with probability proportional to
    their distance from the nearest of the c rows chosen so far, as in scikit-learn.
    """
    n = units.shape[0]
    chosen = [int(rng.integers(n))]
    nearest = _distances(units, chosen)[:, 0]
    for c in range(1, k):
        total = np.cumsum(nearest, dtype=np.float64)
        drawn = rng.random(2 + int(math.log(c + 1))) * total[-1]
        # Rows at distance 0 are never drawn, unless all are.
        trials = np.minimum(np.searchsorted(total, drawn, side="right"), n - 1)
        after = np.minimum(nearest[:, None], _distances(units, trials))
        best = int(np.argmin(after.sum(axis=0, dtype=np.float64)))
        chosen.append(int(trials[best]))
        nearest = after[:, best]
    return _dense(units[chosen])


def lloyd(
    units: Any, starts: Sequence[Floats], *, max_iter: int, limit: float, rows: Ints | None = None
) -> list[Run]:
    """Label the rows and move the centers, until these move by at most ``limit``.

    Runs from several starts share the passes over the rows, and nothing else.

    Parameters
    ----------
    units : ndarray or sparse matrix of shape (n_samples, n_features)
        From `unit_rows`.
    starts : sequence of ndarray of shape (k, n_features)
        Unit vectors to start from, for each run.
    max_iter : int
        Most steps.
    limit : float
        Largest sum of squared shifts of centers that have converged.
    rows : ndarray or None
        The rows to cluster; None for all. They are copied in blocks only.
    """
    centers, n_iter = list(starts), [0] * len(starts)
    found = dict(enumerate(_pass(units, centers, rows)))
    moving = list(found)
    while moving and max_iter > 0:
        before, shift = {run: found[run].labels for run in moving}, {}
        for run in moving:
            sums = found[run].sums
            if _fill_empty(before[run], found[run].cosines, len(centers[run])):
                sums = _sums(units, before[run], len(centers[run]), rows)
            moved = _directions(sums, centers[run])
            shift[run] = float(((moved - centers[run]) ** 2).sum())
            centers[run], n_iter[run] = moved, n_iter[run] + 1
        passed = _pass(units, [centers[run] for run in moving], rows)
        found.update(zip(moving, passed, strict=True))
        moving = [
            run
            for run in moving
            if shift[run] > limit
            and n_iter[run] < max_iter
            and not np.array_equal(found[run].labels, before[run])
        ]
    return [
        Run(own, found[run].labels, _inertia(found[run].cosines), n)
        for run, (own, n) in enumerate(zip(centers, n_iter, strict=True))
    ]


class _Passed(NamedTuple):
    """What a pass over the rows finds for one set of centers; sums are those of the clusters."""

    labels: Ints
    cosines: Floats
    sums: Floats


def _pass(units: Any, centers: Sequence[Floats], rows: Ints | None) -> list[_Passed]:
    """Label the rows and add up the clusters, for each set of centers."""
    n = units.shape[0] if rows is None else len(rows)
    found = [
        _Passed(np.empty(n, dtype=np.int32), np.empty(n, dtype=own.dtype), np.zeros(own.shape))
        for own in centers
    ]
    for part in blocks(n, rows_per_block(units.shape[1])):
        block = units[part if rows is None else rows[part]]
        for own, (labels, cosines, sums) in zip(centers, found, strict=True):
            labels[part], cosines[part] = _nearest(block, own)
            sums += _added(block, labels[part], len(own))
    return found


def _inertia(cosines: Floats) -> float:
    return float(np.maximum(1.0 - cosines.astype(np.float64), 0.0).sum())


def cosine_labels(units: Any, centers: Floats) -> Ints:
    """Label of the center with the largest cosine; ties go to the lower label."""
    labels = np.empty(units.shape[0], dtype=np.int32)
    for part in blocks(units.shape[0], rows_per_block(units.shape[1])):
        labels[part], _ = _nearest(units[part], centers)
    return labels


def _nearest(block: Any, centers: Floats) -> tuple[Ints, Floats]:
    """Label of the center with the largest cosine, and that cosine."""
    products = np.asarray(block @ centers.T)
    labels = products.argmax(axis=1)
    return labels, np.take_along_axis(products, labels[:, None], axis=1)[:, 0]


def _distances(units: Any, rows: Any) -> Floats:
    """Cosine distances of all rows from some of them."""
    return np.maximum(1.0 - np.asarray(units @ _dense(units[rows]).T), 0.0)


def _dense(rows: Any) -> Floats:
    return np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, order="C")


def _fill_empty(labels: Ints, cosines: Floats, k: int) -> bool:
    """Give each empty cluster the row that fits its own center worst, if that leaves others.

    Returns whether any label has changed.
    """
    sizes = np.bincount(labels, minlength=k)
    changed = False
    for empty in np.flatnonzero(sizes == 0):
        worst = int(np.argmin(np.where(sizes[labels] > 1, cosines, np.inf)))
        if sizes[labels[worst]] > 1:
            sizes[labels[worst]] -= 1
            sizes[empty] = 1
            labels[worst], cosines[worst] = empty, 1.0  # the row is at home now
            changed = True
    return changed


def _sums(units: Any, labels: Ints, k: int, rows: Ints | None) -> Floats:
    """Sum of the rows of each cluster."""
    sums = np.zeros((k, units.shape[1]))
    for part in blocks(len(labels), rows_per_block(units.shape[1])):
        sums += _added(units[part if rows is None else rows[part]], labels[part], k)
    return sums


def _added(block: Any, labels: Ints, k: int) -> Floats:
    """Sum of the rows of each cluster in a block, in the precision of the rows."""
    n = len(labels)
    members: Any = csc_array((np.ones(n, block.dtype), labels, np.arange(n + 1)), shape=(k, n))
    return _dense(members @ block)


def _directions(sums: Floats, centers: Floats) -> Floats:
    """Directions of the sums of the clusters; a cluster without a direction keeps its center."""
    length = np.sqrt(np.einsum("ij,ij->i", sums, sums))[:, None]
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(length > 0.0, sums / length, centers).astype(centers.dtype)
