"""K-means fits of many sets of points by few kernel calls: load, draw starts, race, label."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.kmeans import CHALLENGES, SWAPS, race_fits
from stablek.kernels.kmeans_boxes import compact_clouds, gains
from stablek.kernels.kmeans_clouds import center_clouds, label_fits, load_clouds
from stablek.kernels.kmeans_lloyd import race_memory
from stablek.kernels.kmeans_products import gains_by_pairs, pairs_memory, race_pairs
from stablek.kernels.kmeans_starts import draw_starts, draws_memory
from stablek.kernels.kmeans_tiles import TILE, Clouds, scores_memory

__all__ = [
    "Rule",
    "Task",
    "batches",
    "fit",
    "fit_labels",
    "in_units",
    "labels_of",
    "nearest_labels",
    "row_blocks",
]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_BLOCK = 1 << 20  # numbers per block of rows
_LEAST = 1 << 12  # rows per block, at least
_BATCH = 1 << 18  # points per batch of small fits
_NUMBERS = 1 << 22  # numbers per batch of small fits


class Rule(NamedTuple):
    """How k-means is to be run: scikit-learn's parameters, and a seed for the starts.

    ``tol`` is for the squared shift of the centers, relative to the sum of all variances.
    """

    seed: int
    n_init: int
    plus_plus: bool
    max_iter: int
    tol: float
    n_challenges: int = CHALLENGES


class Task(NamedTuple):
    """Sets of points and what to fit them with.

    Set c has ``n[c]`` points, ``rows[row_at[c]]`` and following, plus ``epsilons[c]`` times
    their noise. Fit f clusters set ``fit_cloud[f]`` into ``ks[f]`` clusters.
    """

    rows: Ints
    row_at: Ints
    n: Ints
    epsilons: Floats
    fit_cloud: Ints
    ks: Ints


def row_blocks(n: int, n_features: int) -> Iterator[tuple[int, int]]:
    """Bounds of blocks of rows that bound the memory, whatever the number of rows."""
    step = max(_LEAST, _BLOCK // n_features)
    for start in range(0, n, step):
        yield start, min(start + step, n)


def batches(sizes: Ints, n_features: int) -> Iterator[tuple[int, int]]:
    """Bounds of batches of sets of points: a call fits many small ones or a large one."""
    most = min(_BATCH, _NUMBERS // n_features)
    start = total = 0
    for i, size in enumerate((sizes + TILE - 1) // TILE * TILE):  # whole tiles
        if i > start and total + size > most:
            yield start, i
            start, total = i, 0
        total += int(size)
    yield start, len(sizes)


def load(X: Floats, noise: Floats, task: Task) -> Clouds:
    """The task's sets of points as tiles."""
    width = X.shape[1] + X.shape[1] % 2
    tiles = np.zeros(len(task.n) + 1, dtype=np.int64)
    np.cumsum((task.n + TILE - 1) // TILE, out=tiles[1:])
    n_sets = len(task.n)
    clouds = Clouds(
        np.empty(tiles[-1] * width * TILE),
        tiles,
        task.n,
        np.zeros((n_sets, width)),
        np.ones(n_sets),
        np.zeros(n_sets),
        np.zeros(n_sets, dtype=np.bool_),
        np.empty((tiles[-1], 2, width)),
        np.empty((tiles[-1], width)),
        np.empty(tiles[-1] * TILE, dtype=np.int32),
    )
    load_clouds(X, noise, task.epsilons, task.rows, task.row_at, clouds)
    return clouds


_COMPACT, _PAIRS = 1, 2  # ways to fit


def _with_copies(task: Task, n_features: int, rule: Rule) -> tuple[Task, Ints]:
    """The task with a copy of each set of points for each way in which it is to be fitted.

    Sums are rounded in the order of the points, and by the way. So that a fit has the same bits
    whichever others are beside it, its way depends on its own number of clusters. Returns the
    ways of the copies as well.
    """
    n, ks = task.n[task.fit_cloud], task.ks
    way = np.where(gains(n, ks), _COMPACT, 0)
    way[gains_by_pairs(n, ks, n_features, rule.n_init)] = _PAIRS
    used, fit_cloud = np.unique(way * len(task.n) + task.fit_cloud, return_inverse=True)
    ways, source = np.divmod(used, len(task.n))
    copied = task._replace(
        row_at=task.row_at[source],
        n=task.n[source],
        epsilons=task.epsilons[source],
        fit_cloud=fit_cloud,
    )
    return copied, ways


def fit(
    X: Floats, noise: Floats, task: Task, guides: Floats | None, rule: Rule
) -> tuple[Task, Clouds, Floats]:
    """Run the task's fits.

    Returns the task, in which a set of points may now appear twice, its sets of points, centerd
    and scaled, and the centers of all fits, one after the other, in the same units. Guides, laid
    out like the centers but in the units of X, are an additional start.
    """
    n_features = X.shape[1]
    task, ways = _with_copies(task, n_features, rule)
    clouds = load(X, noise, task)
    center_clouds(clouds)
    of = np.repeat(task.fit_cloud, task.ks)
    centers = np.full((len(of), clouds.mean.shape[1]), np.nan)
    if guides is not None:
        centers[:, n_features:] = 0.0
        centers[:, :n_features] = guides - clouds.mean[of, :n_features]
        centers /= clouds.unit[of, None]
    by_pairs = ways[task.fit_cloud] == _PAIRS
    if by_pairs.any():
        _fit_by_pairs(clouds, task, np.flatnonzero(by_pairs), rule, centers)
    if not by_pairs.all():
        _fit_in_tiles(clouds, task, np.flatnonzero(~by_pairs), ways, rule, centers)
    return task, clouds, centers


def _fit_by_pairs(clouds: Clouds, task: Task, fits: Ints, rule: Rule, centers: Floats) -> None:
    fit_cloud, ks = task.fit_cloud[fits], task.ks[fits]
    n_max, k_max, width = int(task.n[fit_cloud].max()), int(ks.max()), clouds.mean.shape[1]
    race_pairs(
        clouds,
        fit_cloud,
        ks,
        (np.cumsum(task.ks) - task.ks)[fits],
        rule.seed,
        rule.n_init,
        rule.plus_plus,
        rule.max_iter,
        rule.tol,
        rule.n_challenges,
        pairs_memory(n_max, width, k_max, rule.n_init),
        centers,
    )


def _fit_in_tiles(
    clouds: Clouds, task: Task, fits: Ints, ways: Ints, rule: Rule, centers: Floats
) -> None:
    fit_cloud, ks = task.fit_cloud[fits], task.ks[fits]
    n_max, k_max, width = int(task.n[fit_cloud].max()), int(ks.max()), clouds.mean.shape[1]
    order_k = np.zeros(len(task.n), dtype=np.int64)
    np.maximum.at(order_k, fit_cloud, ks)
    order_at = rule.n_init * (np.cumsum(order_k) - order_k)
    order = np.empty(rule.n_init * int(order_k.sum()), dtype=np.int64)
    draw_starts(
        clouds,
        order_k,
        rule.seed,
        rule.n_init,
        rule.plus_plus,
        draws_memory(n_max, width, k_max, rule.plus_plus),
        order,
        order_at,
    )
    compact_clouds(clouds, np.flatnonzero(ways == _COMPACT))
    race_fits(
        clouds,
        fit_cloud,
        ks,
        (np.cumsum(task.ks) - task.ks)[fits],
        rule.seed,
        rule.n_init,
        order,
        order_at,
        order_k,
        rule.max_iter,
        rule.tol,
        rule.n_challenges,
        race_memory(n_max, width, k_max, max(rule.n_init, SWAPS) + 1),
        centers,
    )


def fit_labels(clouds: Clouds, task: Task, centers: Floats) -> tuple[NDArray[np.int32], Ints]:
    """Labels of all fits, one after the other, and where those of each fit begin."""
    sizes = task.n[task.fit_cloud]
    starts = np.cumsum(sizes) - sizes
    labels = np.empty(int(sizes.sum()), dtype=np.int32)
    k_max = int(task.ks.max())
    scratch = scores_memory(k_max, clouds.mean.shape[1], k_max)
    label_fits(clouds, task.fit_cloud, task.ks, centers, scratch, labels, starts)
    return labels, starts


def in_units(clouds: Clouds, task: Task, centers: Floats, n_features: int) -> Floats:
    """Centers of fits in the units of their points."""
    of = np.repeat(task.fit_cloud, task.ks)
    centers *= clouds.unit[of, None]
    centers += clouds.mean[of]
    return centers[:, :n_features]


def labels_of(X: Floats, task: Task, centers: Floats) -> tuple[NDArray[np.int32], Ints]:
    """Labels that centers in the units of X give, and where those of each fit begin.

    The first center of each fit becomes a central one. Labels of X as it is: the same arithmetic
    as for noisy copies, so that no noise changes none.
    """
    _central_first(centers, task.ks)
    return fit_labels(load(X, X, task), task, _padded(centers))


def _central_first(centers: Floats, ks: Ints) -> None:
    """Exchange the first center of each fit with the one nearest to the mean of its centers.

    Labels come from differences from the first center: one far out would cost them precision.
    """
    first = np.cumsum(ks) - ks
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.add.reduceat(centers, first, axis=0) / ks[:, None]
        gap = np.abs(centers - np.repeat(mean, ks, axis=0)).max(axis=1)
    nearest = np.flatnonzero(gap == np.repeat(np.minimum.reduceat(gap, first), ks))
    central = nearest[np.searchsorted(nearest, first)]
    exchanged = centers[central]
    centers[central] = centers[first]
    centers[first] = exchanged


def nearest_labels(X: Floats, centers: list[Floats]) -> list[NDArray[np.intp]]:
    """Label of the nearest center of each point, for each of several sets of centers."""
    ks = np.array([len(c) for c in centers])
    joined = _padded(np.concatenate(centers))
    labels = [np.empty(len(X), dtype=np.intp) for _ in centers]
    for start, stop in row_blocks(len(X), X.shape[1]):
        task = Task(
            np.arange(start, stop),
            np.zeros(1, dtype=np.int64),
            np.array([stop - start]),
            np.zeros(1),
            np.zeros(len(ks), dtype=np.int64),
            ks,
        )
        found, starts = fit_labels(load(X, X, task), task, joined)
        for q, at in enumerate(starts):
            labels[q][start:stop] = found[at : at + stop - start]
    return labels


def _padded(centers: Floats) -> Floats:
    return np.pad(centers, ((0, 0), (0, centers.shape[1] % 2)))
