"""Points of any dimension on the plane."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from stablek.seeding import generator

__all__ = ["project"]

Floats = NDArray[np.float64]

MAX_EXACT = 2000
"""Largest number of features whose covariance matrix is decomposed."""


def project(X: Floats, names: Sequence[str] | None = None) -> tuple[Floats, tuple[str, str]]:
    """Two coordinates of each point, and what they are.

    Two features are taken as they are; of more, the first two principal components; a single
    one is spread out by a random height that means nothing.

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
    mean = X.mean(axis=0)
    scale = np.abs(X - mean).max() or 1.0  # squares of huge or tiny numbers stay finite
    if X.shape[1] <= MAX_EXACT:
        centerd = (X - mean) / scale
        values, vectors = np.linalg.eigh(centerd.T @ centerd)
        share = values[::-1][:2] / (values.sum() or 1.0)
        axes = vectors[:, ::-1][:, :2]
    else:
        from sklearn.decomposition import PCA

        pca = PCA(2, svd_solver="randomized", random_state=0).fit((X - mean) / scale)
        share, axes = np.nan_to_num(pca.explained_variance_ratio_), pca.components_.T
    # The sign of a component is arbitrary: make its largest weight positive.
    axes = axes * np.where(axes[np.abs(axes).argmax(axis=0), [0, 1]] < 0, -1.0, 1.0)
    first, second = (
        f"principal component {i + 1} ({max(share[i], 0.0):.0%} of variance)" for i in (0, 1)
    )
    return (X - mean) @ axes, (first, second)
