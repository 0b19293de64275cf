"""Project points to the plane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stablek.seeding import generator

__all__ = ["project"]

Floats = NDArray[np.float64]


def project(X: Floats, names: Sequence[str] | None = None) -> tuple[Floats, tuple[str, str]]:
    """Return two coordinates of each point, and their names.

    Two features stay as they are. More than two become their first two principal components. A
    single feature gets a random height, which means nothing, as the second coordinate.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
    names : sequence of str, default=None
        Names of the features.

    Returns
    -------
    coordinates : ndarray of shape (n_samples, 2)
    axes : tuple of two str
        Labels of the axes; the second is empty for a single feature.

    Examples
    --------
    >>> points = np.array([[0.0, 1.0, 5.0], [3.0, 1.0, 5.0], [0.0, 2.0, 5.0]])
    >>> coordinates, axes = project(points)
    >>> coordinates.shape, axes
    ((3, 2), ('principal component 1 (93% of variance)', 'principal component 2 (7% of variance)'))
    """
    names = [f"feature {j}" for j in range(X.shape[1])] if names is None else names
    if X.shape[1] == 1:
        heights = generator(0, "display heights").random(len(X))
        return np.column_stack([X[:, 0], heights]), (names[0], "")
    if X.shape[1] == 2:
        return X.astype(np.float64), (names[0], names[1])
    return _principal_components(X)


def _principal_components(X: Floats) -> tuple[Floats, tuple[str, str]]:
    from sklearn.decomposition import PCA

    centered = X - X.mean(axis=0)
    scale = np.abs(centered).max() or 1.0  # PCA squares the numbers: keep them in range
    pca = PCA(2, random_state=0)
    with np.errstate(invalid="ignore"):  # constant data have no variance to share
        coordinates = scale * pca.fit_transform(centered / scale)
    shares = np.nan_to_num(pca.explained_variance_ratio_)
    first, second = (
        f"principal component {i} ({share:.0%} of variance)" for i, share in enumerate(shares, 1)
    )
    return coordinates, (first, second)
