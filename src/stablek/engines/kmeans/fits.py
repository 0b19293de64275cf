"""Many K-means fits by few kernel calls: load the points, draw starts, race them, label."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from stablek.blocks import blocks, rows_per_block
from stablek.engines.kmeans.pairs import NO_PAIRS, pair_ratio
from stablek.kernels.kmeans import ways
from stablek.kernels.kmeans.boxes import compact_sets
from stablek.kernels.kmeans.gram import gram_race_memory
from stablek.kernels.kmeans.gram_race import race_gram
from stablek.kernels.kmeans.gram_refit import refit_gram
from stablek.kernels.kmeans.lloyd import tile_race_memory
from stablek.kernels.kmeans.merging import growth_memory
from stablek.kernels.kmeans.point_sets import (
    center_sets,
    label_fits,
    load_sets,
    normalize_sets,
)
from stablek.kernels.kmeans.records import Fits, KMeansParameters, PairProducts, PointSets
from stablek.kernels.kmeans.starts import draw_starts, draws_memory
from stablek.kernels.kmeans.tile_race import race_boxes, race_tiles
from stablek.kernels.kmeans.tile_refit import refit_boxes, refit_tiles
from stablek.kernels.kmeans.tiles import TILE, scores_memory

__all__ = [
    "FitPlan",
    "Fitted",
    "batches",
    "fit",
    "labels_of",
    "labels_of_runs",
    "lloyd",
    "load",
    "nearest_labels",
    "put_on_sphere",
]

Floats = NDArray[np.float64]
Ints = NDArray[Any]

_BATCH_POINTS = 1 << 18
_BATCH_NUMBERS = 1 << 22


class FitPlan(NamedTuple):
    """Sets of points, and the fits of each.

    Set i has ``sizes[i]`` points: ``rows[first_row[i]]`` and following, plus ``epsilons[i]`` times
    their noise. Fit f clusters set ``fit_sets[f]`` into ``k_values[f]`` clusters.
    """

    rows: Ints
    first_row: Ints
    sizes: Ints
    epsilons: Floats
    fit_sets: Ints
    k_values: Ints

    @classmethod
    def of_one_set(cls, rows: Ints, k_values: Sequence[int] | Ints) -> FitPlan:
        """Fits of the same points, without noise."""
        zero = np.zeros(1, dtype=np.int64)
        fit_sets = np.zeros(len(k_values), dtype=np.int64)
        return cls(rows, zero, np.array([len(rows)]), np.zeros(1), fit_sets, np.asarray(k_values))

    @property
    def fits(self) -> Fits:
        """The fits as kernels take them, with centers that follow each other."""
        return Fits(self.fit_sets, self.k_values, np.cumsum(self.k_values) - self.k_values)


class Fitted(NamedTuple):
    """Fits that have been run.

    In ``plan`` a set of points appears once for each way that fits it. The centers of all fits
    follow each other, in the units of ``sets``, which were centered and scaled.
    """

    plan: FitPlan
    sets: PointSets
    centers: Floats

    def labels(self) -> tuple[NDArray[np.int32], Ints]:
        """Labels of all fits, one after the other, and where those of each fit begin."""
        return _labels(self.sets, self.plan, self.centers)

    def centers_of_points(self, n_features: int) -> Floats:
        """Centers of all fits in the units of the points."""
        owner = np.repeat(self.plan.fit_sets, self.plan.k_values)
        scaled = self.centers * self.sets.unit[owner, None]
        scaled += self.sets.mean[owner]
        return scaled[:, :n_features]


def batches(sizes: Ints, n_features: int) -> Iterator[slice]:
    """Batches of sets of points: one call fits many small sets, or a large one."""
    most = min(_BATCH_POINTS, _BATCH_NUMBERS // n_features)
    start = total = 0
    for i, size in enumerate((sizes + TILE - 1) // TILE * TILE):  # whole tiles
        if i > start and total + size > most:
            yield slice(start, i)
            start, total = i, 0
        total += int(size)
    yield slice(start, len(sizes))


def load(X: Floats, noise: Floats, plan: FitPlan) -> PointSets:
    """Copy the sets of points of a plan into tiles."""
    width, n_sets = X.shape[1] + X.shape[1] % 2, len(plan.sizes)
    tiles = np.zeros(n_sets + 1, dtype=np.int64)
    np.cumsum((plan.sizes + TILE - 1) // TILE, out=tiles[1:])
    sets = PointSets(
        points=np.empty(tiles[-1] * width * TILE),
        tile_starts=tiles,
        sizes=plan.sizes,
        mean=np.zeros((n_sets, width)),
        unit=np.ones(n_sets),
        square=np.zeros(n_sets),
        boxes=np.empty((tiles[-1], 2, width)),
        totals=np.empty((tiles[-1], width)),
        origin=np.empty(tiles[-1] * TILE, dtype=np.int32),
    )
    load_sets(X, noise, plan.epsilons, plan.rows, plan.first_row, sets)
    return sets


def fit(
    X: Floats,
    noise: Floats,
    plan: FitPlan,
    guides: Floats | None,
    parameters: KMeansParameters,
    pairs: PairProducts | None = None,
) -> Fitted:
    """Run the fits of a plan.

    ``guides`` has one more start for each fit: centers that follow each other, in the units of X.
    Refits use the products of all ``pairs`` of rows, if they are given.
    """
    n_features, n_sets = X.shape[1], len(plan.sizes)
    sizes = plan.sizes[plan.fit_sets]
    fit_ways = ways.choose_ways(sizes, plan.k_values, n_features, parameters.n_init)
    if pairs is not None:
        fit_ways = np.where(plan.k_values > 1, ways.GRAM, fit_ways)
    # Each way needs its own copy of a set of points.
    copies, fit_sets = np.unique(fit_ways * n_sets + plan.fit_sets, return_inverse=True)
    set_ways, source = np.divmod(copies, n_sets)
    plan = plan._replace(
        first_row=plan.first_row[source],
        sizes=plan.sizes[source],
        epsilons=plan.epsilons[source],
        fit_sets=fit_sets,
    )
    sets = _loaded(X, noise, plan, parameters)
    owner = np.repeat(fit_sets, plan.k_values)
    centers = np.full((len(owner), sets.mean.shape[1]), np.nan)
    if guides is not None:
        centers[:, n_features:] = 0.0
        centers[:, :n_features] = guides - sets.mean[owner, :n_features]
        centers /= sets.unit[owner, None]
    by_gram = fit_ways == ways.GRAM
    if by_gram.any():
        _fit_by_gram(sets, plan, _some(plan.fits, by_gram), parameters, pairs, centers)
    if not by_gram.all():
        boxed = np.flatnonzero(set_ways == ways.BOXES)
        _fit_in_tiles(sets, _some(plan.fits, ~by_gram), boxed, parameters, centers)
    return Fitted(plan, sets, centers)


def _loaded(X: Floats, noise: Floats, plan: FitPlan, parameters: KMeansParameters) -> PointSets:
    """Load the points of a plan as a race needs them."""
    sets = load(X, noise, plan)
    if parameters.spherical:
        normalize_sets(sets)
    else:
        center_sets(sets)
    return sets


def _some(fits: Fits, chosen: NDArray[np.bool_]) -> Fits:
    return Fits(*(values[chosen] for values in fits))


def _fit_by_gram(
    sets: PointSets,
    plan: FitPlan,
    fits: Fits,
    parameters: KMeansParameters,
    pairs: PairProducts | None,
    centers: Floats,
) -> None:
    n, k, width = int(sets.sizes[fits.sets].max()), int(fits.k_values.max()), sets.mean.shape[1]
    work = gram_race_memory(n, width, k, parameters)
    if parameters.refit:
        starts = growth_memory(n, k, parameters.n_init, width, work.products.shape[1])
        ratio = np.zeros(len(sets.sizes))
        if pairs is not None:
            ratio = pair_ratio(pairs, sets, plan.epsilons)
        shared = (pairs or NO_PAIRS, ratio, plan.epsilons, plan.rows, plan.first_row)
        refit_gram(sets, fits, parameters, *shared, *starts, work, centers)
    else:
        race_gram(sets, fits, parameters, work, centers)


def _fit_in_tiles(
    sets: PointSets, fits: Fits, boxed: Ints, parameters: KMeansParameters, centers: Floats
) -> None:
    n, k = int(sets.sizes[fits.sets].max()), int(fits.k_values.max())
    races: tuple[Any, Any] = (race_boxes, race_tiles)
    starts: tuple[Any, ...]
    if parameters.refit:
        width = sets.mean.shape[1]
        races = (refit_boxes, refit_tiles)
        growth, merging = growth_memory(n, k, parameters.n_init, width, width)
        starts = growth, merging, np.empty((width, len(merging.counts)))
    else:
        starts = _draw(sets, fits, parameters)
    compact_sets(sets, boxed)
    work = tile_race_memory(sets, n, k, parameters.n_init)
    by_boxes = np.isin(fits.sets, boxed)
    for race, chosen in zip(races, (by_boxes, ~by_boxes), strict=True):
        if chosen.any():
            race(sets, _some(fits, chosen), parameters, *starts, work, centers)


def _draw(sets: PointSets, fits: Fits, parameters: KMeansParameters) -> tuple[Ints, Ints, Ints]:
    """Draw the starts of each set: points, where those of each set begin, and their number."""
    n, k = int(sets.sizes[fits.sets].max()), int(fits.k_values.max())
    order_k = np.zeros(len(sets.sizes), dtype=np.int64)
    np.maximum.at(order_k, fits.sets, fits.k_values)
    first_order = parameters.n_init * (np.cumsum(order_k) - order_k)
    order = np.empty(parameters.n_init * int(order_k.sum()), dtype=np.int64)
    draws = draws_memory(n, k, parameters.plus_plus)
    trials = np.empty((len(draws.trials), sets.mean.shape[1]))
    draw_starts(sets, order_k, parameters, draws, trials, order, first_order)
    return order, first_order, order_k


def labels_of_runs(X: Floats, plan: FitPlan, parameters: KMeansParameters) -> list[Ints]:
    """Labels of each of the ``n_init`` runs of each fit, (n_init, n): they do not race."""
    n_init, n_fits = parameters.n_init, len(plan.k_values)
    sets = _loaded(X, X, plan, parameters)
    order, first_order, order_k = _draw(sets, plan.fits, parameters)
    # Run s of fit f is fit f * n_init + s, which starts from given centers.
    runs = plan._replace(
        fit_sets=np.repeat(plan.fit_sets, n_init), k_values=np.repeat(plan.k_values, n_init)
    )
    of_run = np.repeat(np.arange(n_fits * n_init), runs.k_values)  # for each center
    center = np.arange(len(of_run)) - runs.fits.first_center[of_run]
    own = runs.fit_sets[of_run]
    point = order[first_order[own] + of_run % n_init * order_k[own] + center]
    guides = X[plan.rows[plan.first_row[own] + point]]
    labels, first_label = fit(
        X, X, runs, guides, parameters._replace(n_init=0, n_rounds=0)
    ).labels()
    sizes = plan.sizes[plan.fit_sets]
    return [
        labels[first : first + n_init * size].reshape(n_init, size)
        for first, size in zip(first_label[::n_init], sizes, strict=True)
    ]


def _labels(sets: PointSets, plan: FitPlan, centers: Floats) -> tuple[NDArray[np.int32], Ints]:
    sizes = plan.sizes[plan.fit_sets]
    first_label = np.cumsum(sizes) - sizes
    labels = np.empty(int(sizes.sum()), dtype=np.int32)
    k = int(plan.k_values.max())
    scratch = scores_memory(k, sets.mean.shape[1], k)
    label_fits(sets, plan.fits, centers, scratch, labels, first_label)
    return labels, first_label


def put_on_sphere(X: Floats, plan: FitPlan, centers: Floats) -> None:
    """Give fitted centers length 1. A single cluster had no race, and gets its center here."""
    first_center = plan.fits.first_center
    for f in np.flatnonzero(plan.k_values == 1):
        first = plan.first_row[plan.fit_sets[f]]
        rows = plan.rows[first : first + plan.sizes[plan.fit_sets[f]]]
        total = X[rows].sum(axis=0)
        centers[first_center[f]] = total if total.any() else X[rows[0]]
    length = np.sqrt(np.einsum("ij,ij->i", centers, centers))
    centers /= np.where(length > 0.0, length, 1.0)[:, None]


def labels_of(X: Floats, plan: FitPlan, centers: Floats) -> tuple[NDArray[np.int32], Ints]:
    """Labels that centers in the units of X give, and where those of each fit begin.

    The arithmetic is that of noisy copies, so that a copy without noise has the same labels. The
    first center of each fit is exchanged with a central one: labels come from differences from the
    first center, and one far out would cost them precision.
    """
    first = plan.fits.first_center
    with np.errstate(over="ignore", invalid="ignore"):
        mean = np.add.reduceat(centers, first, axis=0) / plan.k_values[:, None]
        gap = np.abs(centers - np.repeat(mean, plan.k_values, axis=0)).max(axis=1)
    nearest = np.flatnonzero(gap == np.repeat(np.minimum.reduceat(gap, first), plan.k_values))
    central = nearest[np.searchsorted(nearest, first)]
    exchanged = centers[central]
    centers[central] = centers[first]
    centers[first] = exchanged
    return _labels(load(X, X, plan), plan, _padded(centers))


def nearest_labels(X: Floats, centers: list[Floats]) -> list[NDArray[np.intp]]:
    """Label of the nearest center of each point, for each of several sets of centers."""
    k_values, joined = [len(c) for c in centers], _padded(np.concatenate(centers))
    labels = [np.empty(len(X), dtype=np.intp) for _ in centers]
    for rows in blocks(len(X), rows_per_block(X.shape[1])):
        plan = FitPlan.of_one_set(np.arange(rows.start, rows.stop), k_values)
        found, _ = _labels(load(X, X, plan), plan, joined)
        for own, values in zip(labels, found.reshape(len(centers), -1), strict=True):
            own[rows] = values
    return labels


def _padded(centers: Floats) -> Floats:
    return np.pad(centers, ((0, 0), (0, centers.shape[1] % 2)))


def lloyd(X: Floats, starts: Sequence[Floats], max_iter: int = 300) -> list[NDArray[np.intp]]:
    """Labels of K-means from each of several given starts, without tolerance.

    A cluster that runs empty takes the point that is farthest from its own center.

    Examples
    --------
    >>> X = np.array([[0.0], [1.0], [8.0], [9.0]])
    >>> [labels.tolist() for labels in lloyd(X, [X[:2], X[[0, 3]]])]
    [[0, 0, 1, 1], [0, 0, 1, 1]]
    """
    X = np.ascontiguousarray(X)
    plan = FitPlan.of_one_set(np.arange(len(X)), [len(centers) for centers in starts])
    given = KMeansParameters(
        seed=0, n_init=0, plus_plus=False, max_iter=max_iter, tol=0.0, n_rounds=0
    )
    labels, _ = fit(X, X, plan, np.concatenate(starts), given).labels()
    return [own.astype(np.intp) for own in labels.reshape(len(starts), len(X))]
