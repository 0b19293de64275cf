"""The partitions in a report: points to draw, clusters, feature means, least stable points."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import count
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from stablek.aggregation import cluster_stability
from stablek.display.projection import project
from stablek.inspection import contenders
from stablek.report.fitted import Fitted
from stablek.results import ClusterStability, Selection
from stablek.seeding import generator

__all__ = ["chosen_clusters", "describe_partitions"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

# These limits keep the report small for any data. The report says what it leaves out.
MIN_POINTS = 500
MAX_POINTS = 2500
MAX_LABELS = 150_000
MAX_CLUSTERS = 2500
MAX_CELLS = 25_000
MAX_FEATURES = 100
MAX_NAME = 200
N_UNSTABLE = 15
MAX_POINTS_OF_OTHERS = 20_000
N_BEST_FEATURES = 10


def describe_partitions(
    fitted: Fitted,
    shown: Floats | None,
    names: Sequence[str] | None,
    ids: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Collect what the report shows about points and clusters.

    ``shown`` has the values to show, such as those before scaling, ``names`` its columns, and
    ``ids`` the names of its rows.
    """
    labelings = _labelings(fitted)
    selection = _selection(fitted)
    chosen = labelings.get(fitted.selected, fitted.labels)
    partitions = []
    for position, labels in labelings.items():
        clusters = _clusters(fitted, selection, position, labels)
        _match_colors(clusters, labels, chosen)
        n_clusters = sum(cluster["label"] >= 0 for cluster in clusters)
        partitions.append({"candidate": position, "n_clusters": n_clusters, "clusters": clusters})
    parts: dict[str, Any] = {
        "partitions": partitions,
        "scatter": None,
        "features": None,
        "unstable_points": None,
    }
    parts["unstable_of_others"] = {}
    if shown is None or (chosen is None and not labelings):
        return parts
    names = [f"feature {j}" for j in range(shown.shape[1])] if names is None else list(names)
    names = [name if len(name) <= MAX_NAME else name[: MAX_NAME - 1] + "…" for name in names]
    source = shown if fitted.X is None or shown.shape[1] < 3 else fitted.X
    coordinates, axes = project(source, names)
    return parts | {
        "scatter": _scatter(fitted, coordinates, axes, list(labelings.values())),
        "features": _features(shown, names, partitions, list(labelings.values()), chosen),
        "unstable_points": _unstable(fitted, coordinates, ids),
        "unstable_of_others": _unstable_of_others(fitted, coordinates, ids),
    }


def chosen_clusters(fitted: Fitted) -> list[dict[str, Any]]:
    """Collect sizes and stabilities of the clusters of the chosen candidate."""
    if fitted.selected is None:
        return []
    known = fitted.reference_labels
    labels = fitted.labels if known is None else known[fitted.selected]
    if labels is None:
        return []
    return _clusters(fitted, _selection(fitted), fitted.selected, labels)


def _selection(fitted: Fitted) -> Selection | None:
    return None if fitted.paths is None else fitted.selector.reselect()


def _labelings(fitted: Fitted) -> dict[int | None, Ints]:
    """Return the labels of as many candidates as fit, by position; the best scores go first."""
    if fitted.reference_labels is None:
        return {} if fitted.labels is None else {fitted.selected: fitted.labels}
    scores = np.where(np.isnan(fitted.scores), -np.inf, fitted.scores)
    if fitted.selected is not None:
        scores[fitted.selected] = np.inf
    order = np.argsort(-scores, kind="stable")[: MAX_LABELS // MIN_POINTS]
    n_clusters = np.cumsum([len(np.unique(fitted.reference_labels[i])) for i in order])
    n_kept = max(1, np.searchsorted(n_clusters, MAX_CLUSTERS, side="right"))
    kept = sorted(order[:n_kept].tolist())
    found: dict[int | None, Ints] = {i: fitted.reference_labels[i] for i in kept}
    if fitted.selected is None and fitted.labels is not None:
        found[None] = fitted.labels
    return found


def _clusters(
    fitted: Fitted, selection: Selection | None, position: int | None, labels: Ints
) -> list[dict[str, Any]]:
    inside: dict[int, ClusterStability] = {}
    if fitted.paths is not None and selection is not None and position is not None:
        as_if_chosen = replace(selection, best_value=fitted.values[position])
        found = cluster_stability(fitted.paths, as_if_chosen)
        inside = {cluster.label: cluster for cluster in found}
    values, sizes = np.unique(labels, return_counts=True)
    return [
        {
            "label": label,
            "size": size,
            "share": size / len(labels),
            "within_stability": getattr(inside.get(label), "within_stability", None),
            "hidden_k": getattr(inside.get(label), "hidden_k", None),
        }
        for label, size in zip(values.tolist(), sizes.tolist(), strict=True)
    ]


def _match_colors(clusters: list[dict[str, Any]], labels: Ints, chosen: Ints | None) -> None:
    """Give each cluster the color of the chosen cluster that it shares the most points with."""
    regular = [cluster for cluster in clusters if cluster["label"] >= 0]
    colors: dict[int, int] = {}
    if chosen is not None:
        ours = np.array([cluster["label"] for cluster in regular])
        theirs = np.unique(chosen[chosen >= 0])
        both = (labels >= 0) & (chosen >= 0)
        table = np.zeros((len(ours), len(theirs)))
        cells = (np.searchsorted(ours, labels[both]), np.searchsorted(theirs, chosen[both]))
        np.add.at(table, cells, 1.0)
        rows, columns = linear_sum_assignment(-table)
        colors = {int(ours[r]): int(c) for r, c in zip(rows, columns, strict=True)}
    free = (color for color in count() if color not in colors.values())
    for cluster in regular:
        color = colors.get(cluster["label"])
        cluster["color"] = next(free) if color is None else color


def _scatter(
    fitted: Fitted, coordinates: Floats, axes: tuple[str, str], labelings: list[Ints]
) -> dict[str, Any]:
    n_total = len(coordinates)
    n_points = min(n_total, MAX_POINTS, max(MIN_POINTS, MAX_LABELS // max(len(labelings), 1)))
    rows = np.arange(n_total)
    if n_points < n_total:
        rows = np.sort(generator(0, "report sample").choice(n_total, n_points, replace=False))
    stability = fitted.point_stability
    return {
        "n_total": n_total,
        "n_shown": n_points,
        "axes": axes,
        "rows": rows,
        "x": coordinates[rows, 0],
        "y": coordinates[rows, 1],
        "labels": [labels[rows] for labels in labelings],
        "stability": None if stability is None else stability[rows],
    }


def _features(
    shown: Floats,
    names: list[str],
    partitions: list[dict[str, Any]],
    labelings: list[Ints],
    chosen: Ints | None,
) -> dict[str, Any]:
    """Add the feature means to the clusters; keep the features that differ most if many."""
    n_rows = sum(len(partition["clusters"]) for partition in partitions)
    limit = min(MAX_FEATURES, max(10, MAX_CELLS // max(n_rows, 1)))
    spread = shown.std(axis=0)
    means, sizes = _means(shown, labelings[0] if chosen is None else chosen)
    deviations = (means - shown.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    differing = (sizes[:, None] * deviations**2).sum(axis=0)
    ranked = np.argsort(-differing, kind="stable")
    kept = np.sort(ranked[:limit])
    data = shown[:, kept]
    overall = data.mean(axis=0)
    # Set means to 0 if they differ from 0 only by rounding.
    negligible = 1e-9 * spread[kept]
    for partition, labels in zip(partitions, labelings, strict=True):
        means = _means(data, labels)[0]
        means[np.abs(means) < negligible] = 0.0
        for cluster, row in zip(partition["clusters"], means, strict=True):
            cluster["means"] = row
    return {
        "names": [names[j] for j in kept],
        "n_total": shown.shape[1],
        "best": np.flatnonzero(np.isin(kept, ranked[:N_BEST_FEATURES])),
        "mean": np.where(np.abs(overall) < negligible, 0.0, overall),
        "standard_deviation": spread[kept],
    }


def _means(data: Floats, labels: Ints) -> tuple[Floats, Ints]:
    """Return the mean and the number of the rows of each label, in the order of the labels."""
    _, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    order = np.argsort(codes, kind="stable")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    return np.add.reduceat(data[order], starts, axis=0) / sizes[:, None], sizes


def _unstable(
    fitted: Fitted, coordinates: Floats, ids: Sequence[str] | None
) -> list[dict[str, Any]] | None:
    stability, labels = fitted.point_stability, fitted.labels
    if stability is None or labels is None or (fitted.n_clusters or 0) < 2:
        return None
    return _least_stable(fitted, stability, labels, coordinates, ids)


def _unstable_of_others(
    fitted: Fitted, coordinates: Floats, ids: Sequence[str] | None
) -> dict[int, list[dict[str, Any]]]:
    """Least stable points of the best other candidates, by position.

    Only where it is cheap: where noisy points get labels without a fit, and for few points.
    """
    selector = fitted.selector
    if (
        not hasattr(selector, "_stability_of_points")
        or selector.relabel_ == "refit"
        or len(coordinates) > MAX_POINTS_OF_OTHERS
    ):
        return {}
    found = {}
    for position in contenders(fitted.scores, fitted.selected):
        partition = selector._partition_of.get(fitted.values[position])
        if position != fitted.selected and partition is not None and partition.model is not None:
            stability = selector._stability_of_points(partition=partition)
            labels = partition.labels
            found[position] = _least_stable(fitted, stability, labels, coordinates, ids)
    return found


def _least_stable(
    fitted: Fitted,
    stability: Floats,
    labels: Ints,
    coordinates: Floats,
    ids: Sequence[str] | None,
) -> list[dict[str, Any]]:
    worst = np.argsort(stability, kind="stable")[:N_UNSTABLE].tolist()
    return [
        {
            "row": row if fitted.row_numbers is None else int(fitted.row_numbers[row]),
            "id": None if ids is None else ids[row],
            "label": int(labels[row]),
            "stability": float(stability[row]),
            "x": coordinates[row, 0],
            "y": coordinates[row, 1],
        }
        for row in worst
        if stability[row] < 1
    ]
