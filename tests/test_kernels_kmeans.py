"""The k-means kernels against plain numpy.

To run them with bounds checks, use another cache:
``NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=build/boundscheck pytest tests/test_kernels_kmeans.py
tests/test_engine_kmeans.py``
"""

import itertools

import numpy as np
import pytest
from numba import njit
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from stablek.blocks import blocks, rows_per_block
from stablek.engines.kmeans.fits import (
    FitPlan,
    batches,
    fit,
    labels_of,
    lloyd,
    load,
    nearest_labels,
)
from stablek.kernels.agreement import label_sums, table_sums
from stablek.kernels.kmeans import ways
from stablek.kernels.kmeans.boxes import compact_sets, near_box
from stablek.kernels.kmeans.point_sets import center_sets
from stablek.kernels.kmeans.records import KMeansParameters
from stablek.kernels.kmeans.starts import draw_starts, draws_memory
from stablek.kernels.kmeans.tiles import TILE
from stablek.perturbations import Draw, uniform
from stablek.similarity import Agreement, contingency

GIVEN = KMeansParameters(seed=7, n_init=10, plus_plus=True, max_iter=300, tol=1e-4)


def plan_of(X, k_values, epsilon=0.0):
    plan = FitPlan.of_one_set(np.arange(len(X)), k_values)
    return plan._replace(epsilons=np.array([epsilon]))


def fit_all(X, k_values, parameters=GIVEN):
    plan = plan_of(X, k_values)
    centers = fit(X, X, plan, None, parameters).centers_of_points(X.shape[1])
    labels, _ = labels_of(X, plan, centers)
    return np.split(centers, np.cumsum(k_values)[:-1]), labels.reshape(len(k_values), len(X))


def inertia(X, centers, labels):
    return ((X - centers[labels]) ** 2).sum()


def plain_labels(X, centers):
    return ((X[:, None] - centers[None]) ** 2).sum(axis=-1).argmin(axis=1)


def test_sums_of_labels_and_tables_are_the_agreement(rng):
    first, second = rng.integers(0, 4, 200), rng.integers(0, 6, 200)
    sums = np.empty((2, 7))
    at, n = np.array([0, 50]), np.array([200, 80])
    counts = np.array([4, 4]), np.array([6, 6])
    label_sums(
        first.astype(np.int32), at, counts[0], second.astype(np.int32), at, counts[1], n, sums
    )
    for f in range(2):
        part = slice(at[f], at[f] + n[f])
        expected = Agreement.of_table(contingency(first[part], second[part]))
        np.testing.assert_allclose(sums[f], np.array(expected), rtol=1e-13)
    tables = rng.integers(0, 50, 2 * 9 + 2 * 16).astype(np.int32)
    stacked = np.empty((2, 2, 7))
    table_sums(tables, np.array([0, 18]), np.array([3, 4]), 2, stacked)
    expected = np.array(Agreement.of_table(tables[:18].reshape(2, 3, 3))).T
    np.testing.assert_allclose(stacked[0], expected, rtol=1e-13)
    expected = np.array(Agreement.of_table(tables[18:].reshape(2, 4, 4))).T
    np.testing.assert_allclose(stacked[1], expected, rtol=1e-13)


@pytest.mark.parametrize("n_features", [1, 2, 3, 10, 131])
@pytest.mark.parametrize("n", [1, 7, 64, 65, 300])
def test_nearest_labels_are_those_of_all_distances(n, n_features, rng):
    X = rng.normal(size=(n, n_features)) + 100.0
    centers = [rng.normal(size=(k, n_features)) + 100.0 for k in (1, 2, 3, 4, 9, 30)]
    for c, labels in zip(centers, nearest_labels(X, centers), strict=True):
        np.testing.assert_array_equal(labels, plain_labels(X, c))


def test_ties_go_to_the_lower_label():
    X = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [5.0, 5.0]])
    centers = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [1.0, 1.0]])
    [labels] = nearest_labels(X, [centers])
    np.testing.assert_array_equal(labels, [0, 0, 0, 0])


def test_nearest_labels_keep_their_precision_far_from_the_origin(rng):
    near = np.round(rng.uniform(-50, 50, size=(500, 3)) * 8) / 8
    centers = np.round(rng.uniform(-50, 50, size=(6, 3)) * 8) / 8 + 1 / 64
    offset = 2.0**36  # the sum with multiples of 1/64 is exact
    [labels] = nearest_labels(near + offset, [centers + offset])
    np.testing.assert_array_equal(labels, plain_labels(near, centers))


def test_blocks_cover_all_rows_and_batches_all_sets():
    rows = list(blocks(1_000_000, rows_per_block(10)))
    assert rows[0].start == 0
    assert rows[-1].stop == 1_000_000
    assert all(a.stop == b.start for a, b in itertools.pairwise(rows))
    sizes = np.array([5, 2_000_000, 3, 4, 262_100, 100])
    cut = list(batches(sizes, 2))
    assert [i for batch in cut for i in range(batch.start, batch.stop)] == list(range(6))
    assert all(sizes[b].sum() <= 1 << 18 or b.stop == b.start + 1 for b in cut)
    assert len(cut) < len(sizes)
    # What counts is the room that they take: whole tiles of all features.
    cut = batches(np.array([5, 3, 4, 100]), (1 << 22) // 128)
    assert [(b.start, b.stop) for b in cut] == [(0, 2), (2, 3), (3, 4)]


def test_noisy_points_have_the_bits_of_the_perturbation(rng):
    X = rng.normal(size=(150, 3)) * [1.0, 1e3, 1e-3]
    scale, draw = X.std(axis=0), Draw(3, 2, 150)
    noise = scale * draw.noise(3)
    sets = load(X, noise, plan_of(X, [2], epsilon=0.37))
    tiles = sets.points.reshape(-1, 4, TILE)
    found = tiles.transpose(0, 2, 1).reshape(-1, 4)[:150, :3]
    np.testing.assert_array_equal(found, uniform(X, 0.37, scale, draw))


def starts(X, k, *, plus_plus=True, n_init=4):
    sets = load(X, X, plan_of(X, [k]))
    center_sets(sets)
    order = np.empty(n_init * k, dtype=np.int64)
    zero = np.zeros(1, dtype=np.int64)
    scratch = draws_memory(len(X), k, plus_plus)
    parameters = GIVEN._replace(seed=11, n_init=n_init, plus_plus=plus_plus)
    trials = np.empty((len(scratch.trials), sets.mean.shape[1]))
    draw_starts(sets, np.array([k]), parameters, scratch, trials, order, zero)
    return order.reshape(n_init, k)


@pytest.mark.parametrize("plus_plus", [True, False])
def test_starts_of_fewer_clusters_are_the_first_of_more(plus_plus, rng):
    X = rng.normal(size=(100, 2))
    long = starts(X, 20, plus_plus=plus_plus)
    for k in (1, 2, 7):
        np.testing.assert_array_equal(starts(X, k, plus_plus=plus_plus), long[:, :k])
    assert all(len(set(row)) == 20 for row in long)
    assert len({tuple(row) for row in long}) == len(long)


def test_plus_plus_takes_every_distinct_point_before_a_repeated_one(rng):
    X = np.repeat(rng.normal(size=(6, 2)), 5, axis=0)
    for row in starts(X, 6):
        assert len({tuple(X[i]) for i in row}) == 6


def test_random_rows_are_all_equally_likely(rng):
    X = rng.normal(size=(10, 2))
    drawn = starts(X, 3, plus_plus=False, n_init=4000)
    counts = np.bincount(drawn.ravel(), minlength=10)
    # The expected count is 1200, with standard deviation 29.
    assert abs(counts - 1200).max() < 150


def test_fits_are_fixed_points_of_lloyd(rng):
    X = rng.normal(size=(400, 3))
    k_values = [1, 2, 5, 12]
    strict = GIVEN._replace(tol=0.0)
    for k, centers, labels in zip(k_values, *fit_all(X, k_values, strict), strict=True):
        np.testing.assert_array_equal(labels, plain_labels(X, centers))
        means = [X[labels == c].mean(axis=0) for c in range(k)]
        np.testing.assert_allclose(centers, means, rtol=0, atol=1e-12)


def test_one_start_without_tolerance_stops_where_sklearn_does():
    # Well separated clusters have one optimum, and every good start reaches it.
    X, _ = make_blobs(300, 2, centers=[[0, 0], [50, 0], [0, 50], [50, 50]], random_state=0)
    [centers], [labels] = fit_all(X, [4])
    theirs = KMeans(4, n_init=10, random_state=0).fit(X)
    assert inertia(X, centers, labels) == pytest.approx(theirs.inertia_, rel=1e-12)


def test_max_iter_and_tol_end_the_runs(rng):
    X = rng.normal(size=(2000, 2))
    loss = [
        inertia(X, *(part[0] for part in fit_all(X, [20], GIVEN._replace(n_init=1, **changed))))
        for changed in ({"max_iter": 1}, {"tol": 1.0}, {"tol": 0.0})
    ]
    assert loss[0] > 1.02 * loss[2]
    assert loss[1] > 1.02 * loss[2]


def test_empty_clusters_are_relocated(rng):
    # With few distinct points, random starts repeat centers, which leaves clusters empty.
    X = np.repeat(rng.normal(size=(12, 2)), 20, axis=0)
    parameters = GIVEN._replace(n_init=1, plus_plus=False)
    for seed in range(20):
        _, [labels] = fit_all(X, [8], parameters._replace(seed=seed))
        assert len(np.unique(labels)) == 8


@pytest.mark.parametrize("n_features", [2, 90])
def test_sets_fitted_together_get_what_each_gets_alone(n_features, rng):
    X = rng.normal(size=(500, n_features))
    sets = [np.arange(0, 120), np.arange(100, 500), np.array([3, 5, 8, 13, 21])]
    k_values = np.array([2, 5, 3, 7, 2, 4])
    joined = FitPlan(
        np.concatenate(sets),
        np.array([0, 120, 520]),
        np.array([120, 400, 5]),
        np.zeros(3),
        np.array([0, 0, 1, 1, 2, 2]),
        k_values,
    )
    fitted = fit(X, X, joined, None, GIVEN)
    labels, at = labels_of(X, joined, fitted.centers_of_points(n_features))
    for i, rows in enumerate(sets):
        _, found = fit_all(X[rows], k_values[2 * i : 2 * i + 2])
        for f in (0, 1):
            start = at[2 * i + f]
            np.testing.assert_array_equal(labels[start : start + len(rows)], found[f])


def use_only(monkeypatch, *allowed):
    """Fit every set of several clusters by the first way, or by those that are chosen anyway."""
    chosen = ways.choose_ways

    def choose(n, k_values, n_features, n_init):
        found = chosen(n, k_values, n_features, n_init)
        return np.where((k_values > 1) & ~np.isin(found, allowed), allowed[0], found)

    monkeypatch.setattr(ways, "choose_ways", choose)


def noisy_fit(X, k_values, epsilon=0.3):
    """Centers and labels of fits of a noisy copy; guided, so that Lloyd's steps decide alone."""
    guides = np.concatenate([X[:: len(X) // k][:k] for k in k_values])
    noise = np.random.default_rng(1).normal(size=X.shape)
    fitted = fit(X, noise, plan_of(X, k_values, epsilon), guides, GIVEN)
    labels, _ = fitted.labels()
    return fitted.sets, fitted.centers, labels.reshape(len(k_values), len(X))


def ordered_anew(sets):
    """Whether each set was ordered so that its tiles are compact."""
    own = np.split(sets.origin, sets.tile_starts[1:-1] * TILE)
    return [bool((np.diff(origin) != 1).any()) for origin in own]


@pytest.mark.parametrize("spread", [0.02, 1.0])
@pytest.mark.parametrize("n_features", [1, 2, 3, 10, 40])
@pytest.mark.parametrize("n", [129, 192, 1000])
def test_only_centers_that_cannot_be_nearest_are_passed_over(
    n, n_features, spread, rng, monkeypatch
):
    X = rng.normal(size=(8, n_features))[rng.integers(0, 8, n)]
    X = X + spread * rng.normal(size=X.shape)
    k_values = [3, 12, 20, 60]
    with monkeypatch.context() as patch:
        patch.setattr(
            ways, "choose_ways", lambda n, k, *_: np.where(k < 12, ways.TILES, ways.BOXES)
        )
        sets, centers, labels = noisy_fit(X, k_values)
    assert ordered_anew(sets) == [False, True]
    use_only(monkeypatch, ways.TILES)
    plain, plain_centers, plain_labels_ = noisy_fit(X, k_values)
    assert not any(ordered_anew(plain))
    np.testing.assert_allclose(centers, plain_centers, atol=1e-9)
    np.testing.assert_array_equal(labels, plain_labels_)


def test_compact_tiles_hold_the_points_of_the_set_inside_their_boxes(rng):
    X = rng.normal(size=(1000, 3)) * [1.0, 5.0, 0.1]
    sets = load(X, X, plan_of(X, [20]))
    center_sets(sets)
    before = sets.points.reshape(-1, 4, TILE).transpose(0, 2, 1).reshape(-1, 4).copy()
    compact_sets(sets, np.array([0]))
    after = sets.points.reshape(-1, 4, TILE).transpose(0, 2, 1).reshape(-1, 4)
    np.testing.assert_array_equal(np.sort(sets.origin), np.arange(1024))
    np.testing.assert_array_equal(after, before[sets.origin])
    assert (sets.origin[:1000] < 1000).all()
    for tile, (low, high) in enumerate(sets.boxes):
        own = after[tile * TILE : min((tile + 1) * TILE, 1000)]
        np.testing.assert_array_equal(low, own.min(axis=0))
        np.testing.assert_array_equal(high, own.max(axis=0))
        np.testing.assert_allclose(sets.totals[tile], own.sum(axis=0), atol=1e-12)
    sides = sets.boxes[:, 1] - sets.boxes[:, 0]
    whole = before.max(axis=0) - before.min(axis=0)
    assert sides[:, 1].mean() < 0.25 * whole[1]


@njit
def listed_near(boxes, columns, k, close):
    near = np.empty(k + 3, dtype=np.int64)
    count = near_box(boxes, 0, columns, 0, k, close, np.empty(k), np.empty(k), near)
    return near[:count]


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_centers_near_a_box_are_those_nearest_to_one_of_its_points_ties_included(n_features, rng):
    n_near = 0
    for i in range(200):
        # On a grid many points have the same distance to two centers.
        centers = rng.integers(-8, 9, size=(15, n_features)) / 16
        box = np.sort(rng.integers(-8, 9, size=(2, n_features)) / 16, axis=0)
        near = listed_near(box[None], centers.T.ravel().copy(), 15, i % 15 if i > 100 else -1)
        inside = box[0] + rng.integers(0, 5, size=(300, n_features)) / 4 * (box[1] - box[0])
        distances = ((inside[:, None] - centers[None]) ** 2).sum(axis=-1)
        winners = np.flatnonzero((distances == distances.min(axis=1, keepdims=True)).any(axis=0))
        assert np.isin(winners, near).all()
        n_near += len(near) if i <= 100 else 0
    assert n_near < 0.7 * 101 * 15


def wide_data(n, n_features, rng):
    """Overlapping clusters, some points twice, far from the origin."""
    X = rng.normal(size=(9, n_features))[rng.integers(0, 9, n)]
    X += rng.normal(size=X.shape)
    X[1::7] = X[::7][: len(X[1::7])]
    return X + 50.0


@pytest.mark.parametrize(("n", "n_features"), [(5, 80), (63, 40), (64, 33), (200, 130)])
@pytest.mark.parametrize("guided", [True, False])
@pytest.mark.parametrize(
    "changes", [{}, {"plus_plus": False}, {"max_iter": 1}, {"tol": 0.0, "n_init": 1}]
)
def test_the_gram_way_takes_the_same_steps(n, n_features, guided, changes, rng, monkeypatch):
    X = wide_data(n, n_features, rng)
    k_values = [k for k in (1, 2, 3, 4, 12, 30) if k < n]
    guides = X[rng.integers(0, n, sum(k_values))] + 0.5 if guided else None
    noise, plan = rng.normal(size=X.shape), plan_of(X, k_values, epsilon=0.2)
    found = []
    for allowed in ([ways.GRAM], [ways.TILES, ways.BOXES]):
        with monkeypatch.context() as patch:
            use_only(patch, *allowed)
            fitted = fit(X, noise, plan, guides, GIVEN._replace(**changes))
        labels, _ = fitted.labels()
        found.append((fitted.centers_of_points(n_features), labels))
    np.testing.assert_array_equal(found[0][1], found[1][1])
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-12)


def test_the_gram_way_relocates_empty_clusters(rng, monkeypatch):
    use_only(monkeypatch, ways.GRAM)
    distinct = rng.normal(size=(12, 50))
    X = np.repeat(distinct, 5, axis=0)
    parameters = GIVEN._replace(n_init=1, plus_plus=False)
    for seed in range(20):
        _, [labels] = fit_all(X, [8], parameters._replace(seed=seed))
        assert len(np.unique(labels)) == 8
    # More clusters than distinct points: each distinct point has a cluster, others stay empty.
    for plus_plus in (True, False):
        _, [labels] = fit_all(X, [15], parameters._replace(plus_plus=plus_plus))
        assert len(np.unique(labels)) == 12
        assert (labels.reshape(12, 5) == labels[::5, None]).all()


@pytest.mark.parametrize("scale", [1e-200, 1e-9, 1e150])
def test_the_gram_way_neither_over_nor_underflows(scale, rng, monkeypatch):
    use_only(monkeypatch, ways.GRAM)
    X = wide_data(80, 40, rng) - 50.0
    plan, labels = plan_of(X, [2, 5]), []
    for points in (X, scale * X):
        labels.append(fit(points, points, plan, None, GIVEN).labels()[0])
    np.testing.assert_array_equal(*labels)


def test_fits_with_many_features_and_clusters_use_the_gram_way():
    n, k_values = np.array([300, 300, 300, 3000]), np.array([2, 10, 60, 60])

    def by_gram(n_features, n_init):
        return (ways.choose_ways(n, k_values, n_features, n_init) == ways.GRAM).tolist()

    assert by_gram(100, 10) == [False, True, True, False]
    assert by_gram(20, 10) == [False] * 4
    assert by_gram(5000, 10) == [True, True, True, False]
    assert by_gram(5000, 1) == [False, True, True, False]


@pytest.mark.parametrize(("n", "n_features"), [(100, 3), (400, 3), (150, 60)])
def test_a_fit_has_the_same_bits_whichever_others_are_beside_it(n, n_features, rng):
    X = rng.normal(size=(n, n_features))
    k_values = [2, 5, 14, 30]
    together, labels = fit_all(X, k_values)
    for i, k in enumerate(k_values):
        [centers], [alone] = fit_all(X, [k])
        np.testing.assert_array_equal(centers, together[i])
        np.testing.assert_array_equal(alone, labels[i])


def test_lloyd_goes_on_from_given_centers_until_no_label_changes(rng):
    X = rng.normal(size=(300, 3))
    starts = [X[:k] + 0.1 for k in (1, 2, 5, 13)]
    for centers, labels in zip(starts, lloyd(X, starts), strict=True):
        expected = plain_labels(X, centers)
        for _ in range(100):
            means = np.array([X[expected == c].mean(axis=0) for c in range(len(centers))])
            expected = plain_labels(X, means)
        np.testing.assert_array_equal(labels, expected)


def test_lloyd_relocates_an_empty_cluster(rng):
    X = np.concatenate([rng.normal(size=(50, 2)), [[9.0, 9.0]]])
    [labels] = lloyd(X, [np.array([[0.0, 0.0], [1e3, 1e3]])])
    np.testing.assert_array_equal(labels, [0] * 50 + [1])
