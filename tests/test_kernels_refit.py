"""Refits of K-means: merged starts, and a winner whose points move one at a time."""

import numpy as np
import pytest
from numba import njit
from scipy.cluster.hierarchy import cut_tree, fcluster, linkage
from scipy.spatial.distance import cdist
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from stablek.engines.kmeans.fits import FitPlan, fit
from stablek.engines.kmeans.pairs import pair_products, pair_ratio
from stablek.kernels.kmeans import ways
from stablek.kernels.kmeans.merging import cut, growth_memory, n_drawn, plan_mergers
from stablek.kernels.kmeans.records import KMeansParameters

GIVEN = KMeansParameters(
    seed=3, n_init=3, plus_plus=True, max_iter=300, tol=1e-4, n_rounds=2, refit=True
)
WAYS = {"tiles": ways.TILES, "boxes": ways.BOXES, "gram": ways.GRAM}


@pytest.fixture(params=WAYS)
def way(request, monkeypatch):
    chosen = WAYS[request.param]
    monkeypatch.setattr(ways, "choose_ways", lambda n, k, *_: np.where(k > 1, chosen, ways.TILES))
    return request.param


def blobs(n=130, n_features=5, seed=0):
    X, _ = make_blobs(n, n_features, centers=4, cluster_std=2.5, random_state=seed)
    return X


def refit(X, k_values, guides=None, **changes):
    """Labels of each fit, (n_fits, n)."""
    plan = FitPlan.of_one_set(np.arange(len(X)), k_values)
    labels, _ = fit(X, X, plan, guides, GIVEN._replace(**changes)).labels()
    return labels.reshape(len(k_values), len(X))


def inertia(X, labels):
    return sum(((X[labels == c] - X[labels == c].mean(axis=0)) ** 2).sum() for c in set(labels))


@njit
def mergers(m, k, sizes, merging, heirs, parts):
    plan_mergers(m, k, sizes, merging, heirs, parts)
    cut(m, k, heirs, parts, merging.target)
    return merging.target[:m].copy()


def merged(X, sizes, k):
    m = len(X)
    growth, merging = growth_memory(2 * m, m, 1, 2, 2)
    merging.cost[:m, :m] = cdist(X, X, "sqeuclidean")
    np.fill_diagonal(merging.cost[:m, :m], np.inf)
    return mergers(m, k, sizes, merging, growth.heirs[0], growth.parts[0])


@pytest.mark.parametrize("k", [1, 2, 5, 11, 30])
def test_mergers_are_those_of_ward(k, rng):
    X = rng.normal(size=(30, 3))
    labels = merged(X, np.ones(30), k)
    assert sorted(set(labels)) == list(range(k))
    expected = cut_tree(linkage(X, "ward"), k)[:, 0]
    assert adjusted_rand_score(expected, labels) == 1.0


def test_a_cluster_weighs_as_many_points_as_it_has(rng):
    X = rng.normal(size=(12, 2))
    sizes = rng.integers(1, 5, 12)
    labels = merged(X, sizes.astype(float), 4)
    expected = fcluster(linkage(np.repeat(X, sizes, axis=0), "ward"), 4, "maxclust")
    assert adjusted_rand_score(expected, np.repeat(labels, sizes)) == 1.0


def test_empty_clusters_are_merged_first(rng):
    X, sizes = rng.normal(size=(9, 2)), np.ones(9)
    sizes[[2, 5]] = 0.0
    labels = merged(X, sizes, 7)
    assert len(set(labels[sizes > 0.0])) == 7


@njit
def _drawn(n, k):
    return n_drawn(n, k)


def test_the_number_of_points_drawn_depends_on_n_and_k_alone():
    found = np.array([_drawn(1000, k) for k in range(2, 200)])
    k_values = np.arange(2, 200)
    assert (found >= 1.5 * k_values).all()
    assert (found <= np.maximum(8, 3 * k_values)).all()
    assert len(set(found)) == 7  # fits of neighboring k share their starts
    assert [_drawn(20, k) for k in (2, 5, 9, 20)] == [8, 8, 10, 20]


@pytest.mark.parametrize("n_features", [2, 40])
def test_no_single_point_can_improve_a_polished_partition(way, n_features):
    X = blobs(n_features=n_features)
    for k, labels in zip((3, 9, 20), refit(X, [3, 9, 20], n_rounds=100), strict=True):
        counts = np.bincount(labels, minlength=k)
        centers = np.array([X[labels == c].mean(axis=0) for c in range(k)])
        square = cdist(X, centers, "sqeuclidean")
        own = np.arange(len(X)), labels
        leave = square[own] * counts[labels] / np.maximum(counts[labels] - 1, 1)
        join = square * counts / (counts + 1)
        join[own] = np.inf
        assert ((join.min(axis=1) >= leave * (1 - 1e-6)) | (counts[labels] == 1)).all()


def test_polish_improves_what_lloyd_leaves(way):
    X = blobs(n_features=40)
    plain, polished = (refit(X, [12], n_rounds=n)[0] for n in (0, 100))
    assert inertia(X, polished) < inertia(X, plain)


@pytest.mark.parametrize("changes", [{}, {"plus_plus": False}, {"n_init": 1, "n_rounds": 0}])
def test_a_fit_does_not_depend_on_those_beside_it(way, changes):
    X, k_values = blobs(), [2, 3, 5, 9, 10, 30]
    together = refit(X, k_values, **changes)
    backward = refit(X, k_values[::-1], **changes)[::-1]
    np.testing.assert_array_equal(together, backward)
    for k, labels in zip(k_values, together, strict=True):
        np.testing.assert_array_equal(refit(X, [k], **changes)[0], labels)


@pytest.mark.parametrize("guided", [True, False])
def test_all_ways_find_the_same_partitions(guided, monkeypatch):
    """Before the polish, whose candidates each way finds in its own order."""
    X, k_values = blobs(n_features=40), [2, 3, 4, 12, 30]
    guides = np.concatenate([X[:k] for k in k_values]) if guided else None
    found = []
    for chosen in (ways.TILES, ways.GRAM):
        with monkeypatch.context() as patch:
            patch.setattr(ways, "choose_ways", lambda n, k, *_, way=chosen: np.full(len(k), way))
            found.append(refit(X, k_values, guides, n_rounds=0))
    np.testing.assert_array_equal(*found)


def test_the_given_centers_are_a_start(way):
    """Without any other start, the result is Lloyd's from there."""
    X, k = blobs(), 6
    [labels] = refit(X, [k], X[:k].copy(), n_init=0, n_rounds=0, tol=0.0)
    expected = KMeans(k, init=X[:k], n_init=1, tol=0.0).fit_predict(X)
    assert adjusted_rand_score(expected, labels) == 1.0


@pytest.mark.parametrize("k", [2, 4, 5, 8])
def test_few_distinct_points(way, k):
    X = np.repeat(np.eye(4, 33), 5, axis=0)
    [labels] = refit(X, [k])
    assert adjusted_rand_score(np.repeat(np.arange(4), 5), labels) == 1.0 or k < 4
    assert 0 <= labels.min() <= labels.max() < k


def noisy_groups(rng):
    """Rows, noise and fits of X, of two loose groups and of one that is narrow, at two levels."""
    X = blobs(n_features=40)
    X[100:] = X[100] + 1e-4 * rng.normal(size=(30, 40))
    sizes = np.array([len(X), 40, 30])
    plan = FitPlan(
        np.concatenate([np.arange(len(X)), np.arange(0, 80, 2), np.arange(100, 130)]),
        np.repeat(np.cumsum(sizes) - sizes, 2),
        np.repeat(sizes, 2),
        np.tile([0.0, 1e-5], 3),
        np.repeat(np.arange(6), 3),
        np.tile([2, 5, 9], 6),
    )
    return X, rng.normal(size=X.shape), plan


def test_products_of_pairs_serve_all_groups_and_noise_levels(rng):
    """A narrow group is multiplied on its own: shared products would be too coarse for it."""
    X, noise, plan = noisy_groups(rng)
    pairs = pair_products(X, noise)
    shared = fit(X, noise, plan, None, GIVEN, pairs)
    ratio = pair_ratio(pairs, shared.sets, shared.plan.epsilons)
    assert ((ratio > 0.0) == (shared.plan.sizes != 30)).all()
    alone = fit(X, noise, plan, None, GIVEN, pairs._replace(unit=0.0))  # a ratio of 0 for all
    np.testing.assert_array_equal(shared.labels()[0], alone.labels()[0])
    np.testing.assert_allclose(shared.centers, alone.centers, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("factor", [0.0, 1e-250, 1e250, 1e305])
def test_products_of_pairs_of_any_size(factor, rng):
    X, noise, plan = noisy_groups(rng)
    X, noise = factor * X, factor * noise
    pairs = pair_products(X, noise)
    assert (pairs is None) == (factor in (0.0, 1e305))
    shared, alone = (fit(X, noise, plan, None, GIVEN, p).labels()[0] for p in (pairs, None))
    if factor in (1e-250, 1e250):
        assert adjusted_rand_score(shared, alone) > 0.9  # another way, so ties may differ


def test_merged_starts_are_as_good_as_many_plain_ones_of_sklearn():
    """Mean inertia over data and k: three merged starts against the best of ten plain ones."""
    ratios = []
    for seed in range(6):
        X = np.random.default_rng(seed).normal(size=(150, 2))
        k_values = [3, 6, 10, 25]
        for k, labels in zip(k_values, refit(X, k_values), strict=True):
            best = KMeans(k, n_init=10, random_state=seed).fit(X)
            ratios.append(inertia(X, labels) / best.inertia_)
    assert np.mean(ratios) < 1.002


@pytest.mark.parametrize("k", [4, 30])
def test_restarts_that_share_room_for_labels_end_as_well(k, monkeypatch):
    X = blobs(n=2000)
    [apart] = refit(X, [k], n_init=6)
    monkeypatch.setattr("stablek.kernels.kmeans.lloyd._LABELS", 1)  # one restart at a time
    [shared] = refit(X, [k], n_init=6)
    assert len(set(shared)) == k
    assert inertia(X, shared) < 1.02 * inertia(X, apart)
