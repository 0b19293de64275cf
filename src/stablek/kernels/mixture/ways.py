"""The ways to fit a mixture, and the thresholds that choose between them."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["LANE_FEATURES", "Way", "way_of"]

LANE_FEATURES = 16  # features from which the hierarchy sums distances in vector lanes
_PRODUCT_FEATURES = 96  # features from which matrix products are faster than kernels
_AXES_FEATURES = 33  # features from which whole matrices for all small clusters are too large
_SMALL = 4  # a small cluster has fewer points than this for each feature
_KEPT_POINTS = 1 << 12  # points up to which components are small enough to be kept


class Way(NamedTuple):
    """How to fit mixtures to one set of points.

    Parameters
    ----------
    in_subspace : bool
        Fit the coordinates of the points in the subspace that they span.
    by_products : bool
        Use matrix products instead of kernels.
    keeps_components : bool
        With matrix products: keep components for the next step and the next k.
    """

    in_subspace: bool
    by_products: bool
    keeps_components: bool


def way_of(covariance_type: str, n: int, n_features: int, *, whole: bool = False) -> Way:
    """How to fit mixtures to n points.

    A full or tied covariance is ``reg_covar`` alone off the subspace of the points, where all
    means are equal too. So the components do not differ there, and the mixture of the
    coordinates gives the labels of the mixture of the points.

    Parameters
    ----------
    covariance_type : str
        As in `sklearn.mixture.GaussianMixture`.
    n, n_features : int
        Shape of the points.
    whole : bool
        Whether the points are all of X. Users see these models, so they stay in the space of X.

    Examples
    --------
    >>> way_of("full", 1000, 2)
    Way(in_subspace=False, by_products=False, keeps_components=True)
    >>> way_of("full", 40, 100)
    Way(in_subspace=True, by_products=True, keeps_components=True)
    >>> way_of("full", 5000, 100)
    Way(in_subspace=False, by_products=True, keeps_components=False)
    >>> way_of("full", 60, 40)
    Way(in_subspace=False, by_products=True, keeps_components=True)
    """
    in_subspace = not whole and covariance_type in ("full", "tied") and 2 * n <= n_features
    n_coordinates = n if in_subspace else n_features
    small = not whole and n < _SMALL * n_coordinates
    least = min(_AXES_FEATURES, _PRODUCT_FEATURES) if small else _PRODUCT_FEATURES
    by_products = covariance_type == "full" and n_coordinates >= least
    return Way(in_subspace, by_products, n <= _KEPT_POINTS)
