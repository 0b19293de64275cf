"""The indices by name, for one partition or many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from stablek.indices import centroid, separation, silhouette
from stablek.indices.clusters import Clusters, check_metric, checked_points
from stablek.suggesting import did_you_mean

__all__ = ["INDICES", "Index", "checked_options", "index_values", "resolve_index"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Index:
    """An internal index.

    Parameters
    ----------
    name : str
        Registry name.
    of : callable
        ``(X, labels) -> float``, the public function.
    of_partitions : callable
        ``(X, partitions, n_jobs, **options) -> ndarray``, sharing work between partitions.
    higher_is_better : bool
        Direction of the index.
    """

    name: str
    of: Callable[..., float]
    of_partitions: Callable[..., Floats]
    higher_is_better: bool


INDICES: dict[str, Index] = {
    index.name: index
    for index in (
        Index(
            "wemmert_gancarski", centroid.wemmert_gancarski, centroid.wemmert_gancarski_of, True
        ),
        Index("silhouette", silhouette.silhouette, silhouette.silhouette_of, True),
        Index("davies_bouldin", centroid.davies_bouldin, centroid.davies_bouldin_of, False),
        Index("ray_turi", centroid.ray_turi, centroid.ray_turi_of, False),
        Index(
            "calinski_harabasz", centroid.calinski_harabasz, centroid.calinski_harabasz_of, True
        ),
        Index("dunn", separation.dunn, separation.dunn_of, True),
        Index("xie_beni", separation.xie_beni, separation.xie_beni_of, False),
    )
}


OF_ANY_METRIC = ("silhouette", "dunn")
"""Indices that are made of distances between points. All others need means, and are Euclidean."""


def resolve_index(index: str) -> Index:
    """Index with a given name."""
    if isinstance(index, str) and index in INDICES:
        return INDICES[index]
    raise ValueError(
        f"index must be one of {sorted(INDICES)}, got {index!r}{did_you_mean(index, INDICES)}"
    )


def checked_options(index: Index, options: dict[str, Any]) -> dict[str, Any]:
    """Options of an index, or an error if it is not defined for them."""
    if "average" in options:
        silhouette.check_average(options["average"])
    metric = options.get("metric", "euclidean")
    check_metric(metric)
    if index.name in OF_ANY_METRIC:
        return options
    if metric != "euclidean":
        raise ValueError(
            f"metric={metric!r} is not defined for index {index.name!r}, which is Euclidean. Use "
            f"one of {list(OF_ANY_METRIC)}, or pass rows of length 1, whose squared Euclidean "
            f"distance is twice the cosine distance"
        )
    return {name: value for name, value in options.items() if name != "metric"}


def index_values(
    X: Any,
    labelings: Sequence[ArrayLike],
    index: str = "silhouette",
    *,
    n_jobs: int | None = None,
    **options: Any,
) -> Floats:
    """Compute one index for many partitions of the same points; shared work is done once.

    Parameters
    ----------
    X : array-like of shape (n_samples, n_features)
        Points.
    labelings : sequence of array-like of shape (n_samples,)
        One label array per partition.
    index : str
        A name in `INDICES`.
    n_jobs : int or None
        Number of threads, as in joblib.
    **options
        Options of the index: ``average`` for the silhouette, ``metric`` for it and Dunn.

    Returns
    -------
    ndarray of shape (n_labelings,)
        Values in the index's own direction. NaN where the index is not defined: for fewer than two
        clusters, and for as many clusters as points.

    Examples
    --------
    >>> index_values([[0.0], [1.0], [9.0], [10.0]], [[0, 0, 0, 0], [0, 0, 1, 1]], "dunn")
    array([nan,  8.])
    """
    chosen = resolve_index(index)
    points = checked_points(X)
    options = checked_options(chosen, options)
    for number, labels in enumerate(labelings):
        if np.shape(labels) != (len(points),):
            raise ValueError(
                f"labelings[{number}] must have one entry for each of the {len(points)} rows "
                f"of X, got shape {np.shape(labels)}"
            )
    partitions = [Clusters.of(labels) for labels in labelings]
    defined = np.array([clusters.judgeable for clusters in partitions], dtype=bool)
    values = np.full(len(partitions), np.nan)
    if defined.any():
        judgeable = [clusters for clusters in partitions if clusters.judgeable]
        values[defined] = chosen.of_partitions(points, judgeable, n_jobs, **options)
    return values
