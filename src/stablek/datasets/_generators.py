"""Seeded generators of the examples in the paper: data with a known answer."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stablek.seeding import entropy_of, generator

Labeled = tuple[NDArray[np.float64], NDArray[np.int64]]


def make_three_gaussians(
    n_samples: int = 600, *, scale: float = 0.5, random_state: Any = None
) -> Labeled:
    """Three round clusters of equal size, two of them close together.

    This is the first example of the paper. K-means is stable for K = 2, which joins the two
    clusters on the right, and for K = 3. Only the structure inside the clusters shows that 3 is
    the answer. With ``n_samples=50`` it is the paper's example of K approaching N.

    Parameters
    ----------
    n_samples : int
        Number of points, at least 3. Cluster sizes differ by at most one.
    scale : float
        Standard deviation of each cluster. The centers are (-4, 0), (2, 1.75) and (2, -1.75).
    random_state : None, int, numpy RandomState or Generator
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        Cluster of each point, 0 to 2. Cluster 0 is on the left.

    Examples
    --------
    >>> X, y = make_three_gaussians(50, random_state=0)
    >>> X.shape, np.bincount(y).tolist()
    ((50, 2), [17, 17, 16])
    """
    _check_positive("scale", scale)
    _check_count("n_samples", n_samples, 3)
    return _gaussian_clusters(
        _generator("three_gaussians", random_state),
        [(n_samples + 2 - cluster) // 3 for cluster in range(3)],
        centers=[(-4.0, 0.0), (2.0, 1.75), (2.0, -1.75)],
        factors=[scale * np.eye(2)] * 3,
    )


def make_correlated_gaussians(
    n_samples: int = 1000, *, separation: float = 1.9, random_state: Any = None
) -> Labeled:
    """Two long parallel clusters. Under resampling, K = 4 is nearly as stable as K = 2.

    K-means with K = 2 separates the two Gaussians. With K = 4 it cuts each of them in the middle,
    where it is densest. The data are not symmetric: one cluster has 60% of the points. So each K
    has one global minimum, and samples of the data find it again, although it cuts through dense
    regions. Noise on the points moves such a cut.

    Parameters
    ----------
    n_samples : int
        Number of points, at least 3.
    separation : float
        Distance between the centers, across the long axis of the clusters. The standard
        deviation is 1 along that axis and 0.25 across it. Below about 1.6 (exactly
        ``sqrt(8 / pi)`` for equal sizes), K-means with K = 2 cuts both clusters instead of
        separating them. Slightly above, the two solutions nearly tie, and small samples jump
        between them.
    random_state : None, int, numpy RandomState or Generator
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
        Standardized, as all data in the paper. The long axis is the diagonal.
    y : ndarray of shape (n_samples,)
        0 for the larger cluster, 1 for the other.

    Examples
    --------
    >>> X, y = make_correlated_gaussians(500, random_state=0)
    >>> X.shape, np.bincount(y).tolist(), bool(np.allclose(X.std(axis=0), 1))
    ((500, 2), [300, 200], True)
    """
    _check_count("n_samples", n_samples, 3)
    _check_positive("separation", separation)
    n_small = int(0.4 * n_samples)
    along = np.array([1.0, 1.0]) / np.sqrt(2)
    across = np.array([-1.0, 1.0]) / np.sqrt(2)
    X, y = _gaussian_clusters(
        _generator("correlated_gaussians", random_state),
        [n_samples - n_small, n_small],
        centers=[separation / 2 * across, -separation / 2 * across],
        factors=[np.array([along, 0.25 * across])] * 2,
    )
    return (X - X.mean(axis=0)) / X.std(axis=0), y


def make_symmetric_triangle(
    n_samples: int = 600, *, scale: float = 0.5, random_state: Any = None
) -> Labeled:
    """Three clusters at the corners of an equilateral triangle, for which K = 2 is unstable.

    K-means with K = 2 must join two of the three clusters, and all pairs are equally good. So it
    may join any pair in each perturbed copy. The sample itself is symmetric: one cluster is
    drawn and rotated by one third and two thirds of a turn.

    Parameters
    ----------
    n_samples : int
        Number of points, at least 3. The data are exactly symmetric for a multiple of 3.
        Otherwise the cluster sizes differ by one point.
    scale : float
        Standard deviation of each cluster. The corners are at distance 2 from the origin.
    random_state : None, int, numpy RandomState or Generator
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, 2)
    y : ndarray of shape (n_samples,)
        Corner of each point, 0 to 2.

    Examples
    --------
    >>> X, y = make_symmetric_triangle(300, random_state=0)
    >>> X.shape, bool(np.allclose(X.mean(axis=0), 0))
    ((300, 2), True)
    """
    _check_count("n_samples", n_samples, 3)
    _check_positive("scale", scale)
    rng = _generator("symmetric_triangle", random_state)
    corner = np.array([0.0, 2.0]) + scale * rng.standard_normal((-(-n_samples // 3), 2))
    angles = 2 * np.pi / 3 * np.arange(3)
    turns = np.array([[np.cos(angles), np.sin(angles)], [-np.sin(angles), np.cos(angles)]])
    # Rows alternate between the corners, so that the cut at the end keeps the sizes equal.
    X = np.einsum("nj,jkc->nck", corner, turns).reshape(-1, 2)[:n_samples]
    return np.ascontiguousarray(X), np.arange(n_samples) % 3


def make_uniform(
    n_samples: int = 1000, n_features: int = 2, *, random_state: Any = None
) -> Labeled:
    """Points spread uniformly in the unit cube: no clusters.

    Parameters
    ----------
    n_samples, n_features : int
        Shape of X.
    random_state : None, int, numpy RandomState or Generator
        Seed.

    Returns
    -------
    X : ndarray of shape (n_samples, n_features)
    y : ndarray of shape (n_samples,)
        All zeros.

    Examples
    --------
    >>> X, y = make_uniform(100, 10, random_state=0)
    >>> X.shape, int(y.max())
    ((100, 10), 0)
    """
    shape = _check_shape(n_samples, n_features)
    return _one_cluster(_generator("uniform", random_state).random(shape))


def make_gaussian(
    n_samples: int = 1000, n_features: int = 2, *, random_state: Any = None
) -> Labeled:
    """One standard Gaussian: no clusters. Arguments and results are those of `make_uniform`.

    Examples
    --------
    >>> X, y = make_gaussian(100, 10, random_state=0)
    >>> X.shape, int(y.max())
    ((100, 10), 0)
    """
    shape = _check_shape(n_samples, n_features)
    return _one_cluster(_generator("gaussian", random_state).standard_normal(shape))


def make_exponential(
    n_samples: int = 1000, n_features: int = 2, *, random_state: Any = None
) -> Labeled:
    """Independent standard exponential features: skewed, no clusters.

    Arguments and results are those of `make_uniform`.

    Examples
    --------
    >>> X, y = make_exponential(100, random_state=0)
    >>> X.shape, bool(X.min() > 0)
    ((100, 2), True)
    """
    shape = _check_shape(n_samples, n_features)
    return _one_cluster(_generator("exponential", random_state).standard_exponential(shape))


def make_student(
    n_samples: int = 1000, n_features: int = 2, *, df: float = 5.0, random_state: Any = None
) -> Labeled:
    """Independent Student t features: heavy tails, no clusters.

    Other arguments and results are those of `make_uniform`.

    Parameters
    ----------
    df : float
        Degrees of freedom. Fewer degrees give heavier tails.

    Examples
    --------
    >>> X, y = make_student(100, 3, df=5, random_state=0)
    >>> X.shape
    (100, 3)
    """
    shape = _check_shape(n_samples, n_features)
    _check_positive("df", df)
    return _one_cluster(_generator("student", random_state).standard_t(df, shape))


def make_golf_ball(n_samples: int = 4002, *, random_state: Any = None) -> Labeled:
    """Points spread evenly on a sphere: no clusters, and the same density everywhere.

    A Fibonacci lattice, similar to GolfBall of the Fundamental Clustering Problems Suite
    (``fetch_benchmark("golfball")`` loads that file). Only the orientation of the ball is random.

    Parameters
    ----------
    n_samples : int
        Number of points.
    random_state : None, int, numpy RandomState or Generator
        Seed of the orientation.

    Returns
    -------
    X : ndarray of shape (n_samples, 3)
        Points at distance 1 from the origin.
    y : ndarray of shape (n_samples,)
        All zeros.

    Examples
    --------
    >>> X, y = make_golf_ball(random_state=0)
    >>> X.shape, bool(np.allclose(np.linalg.norm(X, axis=1), 1))
    ((4002, 3), True)
    """
    _check_count("n_samples", n_samples)
    rng = _generator("golf_ball", random_state)
    step = np.arange(n_samples)
    height = 1 - (2 * step + 1) / n_samples  # slices of equal height have equal area
    radius = np.sqrt(1 - height**2)
    angle = np.pi * (3 - np.sqrt(5)) * step  # the golden angle never repeats
    ball = np.column_stack([radius * np.cos(angle), radius * np.sin(angle), height])
    orientation, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    return _one_cluster(ball @ orientation)


def make_demo(random_state: Any = 0) -> Labeled:
    """Five round clusters of different size and spread, 500 points in the plane.

    Parameters
    ----------
    random_state : None, int, numpy RandomState or Generator
        Seed.

    Returns
    -------
    X : ndarray of shape (500, 2)
    y : ndarray of shape (500,)
        Cluster of each point, 0 to 4, from the largest to the smallest.

    Examples
    --------
    >>> X, y = make_demo()
    >>> X.shape, np.bincount(y).tolist()
    ((500, 2), [160, 120, 100, 70, 50])
    """
    return _gaussian_clusters(
        _generator("demo", random_state),
        [160, 120, 100, 70, 50],
        centers=[(0.0, 0.0), (5.0, 4.5), (-5.0, 4.0), (4.5, -3.5), (-4.0, -4.5)],
        factors=[spread * np.eye(2) for spread in (0.9, 0.7, 0.6, 0.5, 0.4)],
    )


def _gaussian_clusters(
    rng: np.random.Generator, sizes: list[int], centers: ArrayLike, factors: ArrayLike
) -> Labeled:
    """Draw rows in random order. Cluster c is standard normal @ factors[c] + centers[c]."""
    y = rng.permutation(np.repeat(np.arange(len(sizes)), sizes))
    normal = rng.standard_normal((y.size, 2))
    X = np.asarray(centers)[y] + np.einsum("nj,njk->nk", normal, np.asarray(factors)[y])
    return X, y


def _generator(name: str, random_state: Any) -> np.random.Generator:
    return generator(entropy_of(random_state), name)


def _one_cluster(X: NDArray[np.float64]) -> Labeled:
    return X, np.zeros(len(X), dtype=np.int64)


def _check_shape(n_samples: int, n_features: int) -> tuple[int, int]:
    return _check_count("n_samples", n_samples), _check_count("n_features", n_features)


def _check_positive(name: str, value: float) -> None:
    if not 0 < value < np.inf:
        raise ValueError(f"{name} must be a positive finite number, got {value!r}")


def _check_count(name: str, value: int, smallest: int = 1) -> int:
    # Imported here: shell completion lists the data sets without loading scikit-learn.
    from stablek.validation import check_count

    return check_count(name, value, smallest)
