"""What each algorithm takes for a cluster, and whether Stadion can tell algorithms apart."""

from __future__ import annotations

from typing import Any

import numpy as np

from stablek.inspection import selected_index, shown_rows, stability_curves
from stablek.similarity import compare_labels

__all__ = ["advice", "assumption"]

_LINKAGES = {
    "ward": "compact clusters of similar spread",
    "complete": "compact clusters of similar diameter",
    "average": "compact clusters, also of different sizes",
    "single": "clusters of any shape with gaps between them, even chains",
}
_COVARIANCES = {
    "full": "ellipses of any size, length and direction",
    "tied": "ellipses of one common shape",
    "diag": "ellipses along the axes",
    "spherical": "round clusters of different sizes",
}
_KINDS = {
    "BisectingKMeans": "round clusters, found by halving",
    "MiniBatchKMeans": "round clusters of similar size",
    "KMeans": "round clusters of similar size",
    "SphericalKMeans": "rows in similar directions, whatever their length",
    "SpectralClustering": "connected shapes, also bent ones",
    "Birch": "round clusters of similar size, on a summary of the points",
    "HDBSCAN": "dense regions of any shape, and noise between them",
    "DBSCAN": "regions of one density, and noise between them",
}
SAME_PARTITION = 0.9
"""Partitions with an adjusted Rand index of at least this much are called the same."""


def assumption(clusterer: Any) -> str | None:
    """Return the shape of clusters that an algorithm looks for; None if it is not known.

    Examples
    --------
    >>> from sklearn.cluster import AgglomerativeClustering
    >>> assumption(AgglomerativeClustering(linkage="single"))
    'clusters of any shape with gaps between them, even chains'
    """
    while hasattr(clusterer, "steps"):
        clusterer = clusterer.steps[-1][1]
    parameters = clusterer.get_params(deep=False)
    if "linkage" in parameters:
        return _LINKAGES.get(parameters["linkage"])
    if "covariance_type" in parameters:
        return _COVARIANCES.get(parameters["covariance_type"])
    for kind in type(clusterer).__mro__:
        if kind.__name__ in _KINDS:
            return _KINDS[kind.__name__]
    return None


def advice(rows: list[Any]) -> list[str]:
    """Say in words what differs between the clusterers, from the rows of Stadion.

    Returns no sentences for fewer than two rows.
    """
    if len(rows) < 2:
        return []
    said = [_described(row) for row in rows]
    found = [row for row in rows if row.n_clusters is not None and not np.isnan(row.score)]
    if len(found) == 1:
        said.append(f"Only {found[0].clusterer} finds clusters: they have the shape it looks for.")
    if len(found) < 2:
        return said
    ranked = sorted(found, key=lambda row: -row.score)
    best, second = ranked[:2]
    shown = [shown_rows(row.selector, row.selector.labels_) for row in (best, second)]
    agreement = compare_labels(*shown)
    pair = f"{best.clusterer} and {second.clusterer}"
    if agreement >= SAME_PARTITION:
        said.append(
            f"{pair} find nearly the same clusters (adjusted Rand index {agreement:.2f}), so "
            f"either will do."
        )
        return said
    margin = 2.0 * float(np.hypot(_error(best), _error(second)))
    scores = f"{best.score:.3f} and {second.score:.3f}"
    if best.score - second.score <= margin:
        said.append(
            f"Which algorithm is not clear: {pair} find different clusters (adjusted Rand index "
            f"{agreement:.2f}), but their scores {scores} differ by no more than two standard "
            f"errors ({margin:.3f}). Choose by the shape of clusters that you look for."
        )
    else:
        said.append(
            f"{best.clusterer} suits the data best: {pair} find different clusters (adjusted Rand "
            f"index {agreement:.2f}), with scores {scores}, more than two standard errors "
            f"({margin:.3f}) apart."
        )
    return said


def _described(row: Any) -> str:
    shape = assumption(row.selector.clusterer) if row.selector is not None else None
    looks = f"{row.clusterer} looks for {shape}" if shape else row.clusterer
    if row.n_clusters is None:
        return f"{looks}: no answer."
    if row.n_clusters < 2:
        return f"{looks}: no cluster structure found."
    return f"{looks}: {row.n_clusters} clusters, score {row.score:.3f}."


def _error(row: Any) -> float:
    """Standard error of the score, where the path of the answer is highest."""
    selector = row.selector
    chosen = selected_index(selector)
    levels = np.flatnonzero(selector.counted_levels_)
    level = levels[np.argmax(selector.stadion_paths_[chosen, levels])]
    error = stability_curves(selector)["stadion_se"][chosen, level]
    return float(np.nan_to_num(error))
