"""The fast k-means engine against plain loops of numpy and scikit-learn."""

import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from sklearn.cluster import BisectingKMeans, KMeans, MiniBatchKMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from threadpoolctl import threadpool_limits

from stablek.engines.base import Setting
from stablek.engines.generic import GenericEngine
from stablek.engines.kmeans import KMeansEngine, unsupported
from stablek.kernels.kmeans import ways
from stablek.perturbations import PERTURBATIONS, Draw, resolve_perturbation
from stablek.results import Group, Request
from stablek.similarity import SIMILARITIES, resolve_similarity

EPSILONS = np.array([0.0, 0.2, 0.7, 1.5])
KS = (1, 2, 3, 5, 8)
OMEGA = (2, 3, 4)


def setting_of(X, relabel, *, perturbation="uniform", similarity="ari", entropy=3):
    scale = X.std(axis=0)
    perturbation, similarity = resolve_perturbation(perturbation), resolve_similarity(similarity)
    return Setting(entropy, perturbation, scale, similarity, relabel)


def groups_of(engine, X, setting, ks=KS, omega=OMEGA):
    """X with its partitions, and each cluster of each partition with its re-clusterings."""
    [whole] = engine.references(X, [Request(None, ks)], setting.entropy)
    requests = []
    for partition in whole[1:]:
        for label in np.unique(partition.labels):
            rows = np.flatnonzero(partition.labels == label)
            values = tuple(k for k in omega if k < len(rows))
            if values:
                requests.append(Request(rows, values, partition))
    inside = engine.references(X, requests, setting.entropy)
    groups = [Group(r.rows, p) for r, p in zip(requests, inside, strict=True)]
    return [Group(None, whole), *groups]


@pytest.fixture(autouse=True)
def one_thread():
    """Use one thread: scikit-learn's threads slow each other down when tests run in parallel."""
    with threadpool_limits(1):
        yield


@pytest.fixture(scope="module")
def data():
    X, _ = make_blobs(220, 3, centers=4, cluster_std=1.5, random_state=1)
    return X * [1.0, 10.0, 0.1] + [0.0, 5.0, -3.0]


@pytest.fixture(scope="module")
def engine():
    return KMeansEngine(KMeans(n_init=3))


@pytest.mark.parametrize("perturbation", ["uniform", "gaussian"])
def test_extend_equals_a_loop_over_predict(data, engine, perturbation):
    setting = setting_of(data, "extend", perturbation=perturbation)
    groups = groups_of(engine, data, setting)
    copies = []
    for group in groups:
        X = data if group.rows is None else data[group.rows]
        noise = Draw(3, 1, len(data), group.rows).noise(3, gaussian=perturbation == "gaussian")
        for partition in group.partitions:
            model = engine.estimator(X, partition)
            np.testing.assert_array_equal(model.predict(X), partition.labels)
            noisy = [X + epsilon * (setting.scale * noise) for epsilon in EPSILONS]
            copies.append((partition.labels, [model.predict(copy) for copy in noisy]))
    for name in SIMILARITIES:
        setting = setting_of(data, "extend", perturbation=perturbation, similarity=name)
        found = np.concatenate(engine.similarities(data, groups, 1, EPSILONS, setting))
        expected = [[setting.similarity(a, b) for b in labels] for a, labels in copies]
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


def test_an_estimator_is_as_fitted_and_makes_no_copy_of_the_data(engine, monkeypatch):
    """The estimator has all attributes of a KMeans that scikit-learn fits from its centers."""
    monkeypatch.setattr("stablek.blocks._NUMBERS", 1 << 14)
    X, _ = make_blobs(50_000, n_features=10, centers=3, random_state=0)
    [[partition]] = engine.references(X, [Request(None, (3,))], setting_of(X, "extend").entropy)
    own = KMeans(3, init=partition.model, n_init=1).fit(X)
    tracemalloc.start()
    found = engine.estimator(X, partition)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 2
    assert vars(found).keys() == vars(own).keys()
    np.testing.assert_array_equal(found.labels_, own.labels_)
    np.testing.assert_allclose(found.cluster_centers_, own.cluster_centers_)
    assert found.inertia_ == pytest.approx(own.inertia_)
    assert found.n_features_in_ == own.n_features_in_
    some = X[:100]
    np.testing.assert_array_equal(found.predict(some), own.predict(some))
    np.testing.assert_allclose(found.transform(some), own.transform(some))
    assert found.score(some) == pytest.approx(own.score(some))
    assert found.get_params() == {**engine.clusterer.get_params(), "n_clusters": 3}


def test_extend_does_not_depend_on_how_tables_are_cut_into_batches(data, engine, monkeypatch):
    setting = setting_of(data, "extend")
    groups = groups_of(engine, data, setting)
    whole = engine.similarities(data, groups, 0, EPSILONS, setting)
    for cells in (1, 50, 500):
        monkeypatch.setattr("stablek.engines.kmeans.similarities._CELLS", cells)
        cut = engine.similarities(data, groups, 0, EPSILONS, setting)
        for one, other in zip(whole, cut, strict=True):
            np.testing.assert_array_equal(one, other)


def test_many_large_k_take_bounded_memory(engine):
    """K = 100 to 300 at ten levels: all tables together would take 350 MB."""
    X = np.random.default_rng(0).normal(size=(310, 2))
    setting = setting_of(X, "extend")
    k_values = tuple(range(100, 301))
    [partitions] = engine.references(X, [Request(None, k_values)], setting.entropy)
    group = Group(None, partitions)
    tracemalloc.start()
    [found] = engine.similarities(X, [group], 0, np.linspace(0.0, 1.0, 10), setting)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found.shape == (201, 10)
    assert peak < 150e6


def test_extend_does_not_depend_on_how_rows_are_cut_into_blocks(data, engine, monkeypatch):
    setting = setting_of(data, "extend")
    groups = groups_of(engine, data, setting)
    whole = engine.similarities(data, groups, 0, EPSILONS, setting)
    labels = engine.relabel(data, groups[0].partitions[3], 0, EPSILONS, setting)
    monkeypatch.setattr("stablek.blocks._NUMBERS", 1)
    monkeypatch.setattr("stablek.blocks._LEAST_ROWS", 37)
    for one, other in zip(
        whole, engine.similarities(data, groups, 0, EPSILONS, setting), strict=True
    ):
        np.testing.assert_array_equal(one, other)
    for one, other in zip(
        labels, engine.relabel(data, groups[0].partitions[3], 0, EPSILONS, setting), strict=True
    ):
        np.testing.assert_array_equal(one[1], other[1])


def many_features(n, n_features):
    """Few points in many dimensions, some of them twice."""
    X, _ = make_blobs(n, n_features, centers=4, cluster_std=6.0, random_state=2)
    X[1::9] = X[::9][: len(X[1::9])]
    return X + 20.0


@pytest.mark.parametrize("shape", [(220, 3), (60, 130), (40, 200)])
@pytest.mark.parametrize("relabel", ["extend", "refit"])
@pytest.mark.parametrize("similarity", ["ari", "matching"])
def test_same_bits_for_any_cut_of_the_groups_and_any_threads(
    data, engine, shape, relabel, similarity
):
    data = data if shape == data.shape else many_features(*shape)
    setting = setting_of(data, relabel, similarity=similarity)
    groups = groups_of(engine, data, setting)
    whole = engine.similarities(data, groups, 2, EPSILONS, setting)
    with ThreadPoolExecutor(3) as pool:
        alone = pool.map(
            lambda group: engine.similarities(data, [group], 2, EPSILONS, setting)[0],
            reversed(groups),
        )
        for one, other in zip(reversed(whole), alone, strict=True):
            np.testing.assert_array_equal(one, other)
    # The same for one K and one noise level at a time.
    for group, similarities in zip(groups[:4], whole, strict=False):
        for i, partition in enumerate(group.partitions):
            single = [Group(group.rows, (partition,))]
            for e in range(len(EPSILONS)):
                level = EPSILONS[e : e + 1]
                [one] = engine.similarities(data, single, 2, level, setting)
                assert one[0, 0] == similarities[i, e]


@pytest.mark.parametrize("shape", [(30, 130), (40, 200)])
def test_coordinates_in_a_subspace_stand_for_the_points(engine, shape, monkeypatch):
    X = many_features(*shape)
    setting = setting_of(X, "refit")
    groups = groups_of(engine, X, setting)
    assert ways.uses_subspace(*shape)
    similarities = engine.similarities(X, groups, 1, EPSILONS, setting)
    monkeypatch.setattr(ways, "uses_subspace", lambda *_: False)
    plain = engine.similarities(X, groups, 1, EPSILONS, setting)
    for one, other in zip(similarities, plain, strict=True):
        np.testing.assert_allclose(one, other, atol=1e-12)
    assert 0.1 < np.mean([values.mean() for values in similarities]) < 0.99


def test_references_do_not_depend_on_how_they_are_asked_for(data, engine):
    setting = setting_of(data, "extend")
    [together] = engine.references(data, [Request(None, KS)], setting.entropy)
    for k, partition in zip(KS, together, strict=True):
        [[alone]] = engine.references(data, [Request(None, (k,))], setting.entropy)
        np.testing.assert_array_equal(alone.labels, partition.labels)
        np.testing.assert_array_equal(alone.model, partition.model)
    other = setting_of(data, "extend", entropy=4)
    [different] = engine.references(data, [Request(None, (8,))], other.entropy)
    assert not np.array_equal(different[0].model, together[-1].model)


def test_a_given_random_state_takes_part_in_the_seed(data):
    setting = setting_of(data, "extend")
    models = [
        KMeansEngine(KMeans(n_init=1, random_state=state))
        .references(data, [Request(None, (8,))], setting.entropy)[0][0]
        .model
        for state in (None, 0, 0, 1)
    ]
    np.testing.assert_array_equal(models[1], models[2])
    assert not np.array_equal(models[0], models[1])
    assert not np.array_equal(models[1], models[3])


@pytest.mark.parametrize("similarity", ["ari", "ami"])
@pytest.mark.parametrize("perturbation", sorted(set(PERTURBATIONS) - {"uniform", "gaussian"}))
def test_other_perturbations_label_the_perturbed_points(data, perturbation, similarity):
    engine = KMeansEngine(KMeans(n_init=5))
    kind = PERTURBATIONS[perturbation]
    epsilons = np.array([1.0]) if kind.levels == "single" else np.array([0.0, 0.4])
    relabel = "refit" if kind.no_extension else "extend"
    setting = setting_of(data, relabel, perturbation=perturbation, similarity=similarity)
    X = np.vstack([data[:60] + np.array(far) for far in ([0, 0, 0], [99, 0, 0], [0, 999, 0])])
    groups = groups_of(engine, X, setting, ks=(1, 2, 3))
    found = engine.similarities(X, groups, 0, epsilons, setting)
    assert all(np.isfinite(s).all() for s in found)
    assert all((s <= 1.0 + 1e-12).all() for s in found)
    if relabel == "extend":
        generic = GenericEngine(KMeans(n_init=5), "n_clusters")
        [partitions] = [groups[0].partitions]
        models = [engine.estimator(X, p) for p in partitions]
        again = Group(
            None,
            tuple(type(p)(p.k, p.labels, m) for p, m in zip(partitions, models, strict=True)),
        )
        [expected] = generic.similarities(X, [again], 0, epsilons, setting)
        np.testing.assert_allclose(found[0], expected, atol=1e-12)
    elif kind.resamples and perturbation == "bootstrap":
        # Every resampled copy has the same three far clusters.
        assert found[0][2, 0] == pytest.approx(1.0)


def test_a_subsample_smaller_than_k_has_its_points_apart(data):
    engine = KMeansEngine(KMeans(n_init=2))
    setting = setting_of(data, "refit", perturbation="subsample")
    X = data[:6]
    groups = groups_of(engine, X, setting, ks=(2, 5))
    [similarities] = engine.similarities(X, groups[:1], 0, np.array([0.0, 0.6]), setting)
    assert np.isfinite(similarities).all()
    [(rows, labels)] = engine.relabel(X, groups[0].partitions[1], 0, np.array([0.6]), setting)
    np.testing.assert_array_equal(labels, np.arange(len(rows)))


def test_refit_is_as_stable_as_a_loop_of_sklearn_fits():
    """There are enough restarts for both to find the optimum.

    With few restarts and several good solutions, a plain loop sometimes misses the optimum and
    looks less stable. The engine also starts from the reference centers, so it misses it less
    often.
    """
    X, _ = make_blobs(200, 2, centers=3, cluster_std=2.0, random_state=4)
    n_draws, ks, epsilons = 24, (2, 3, 4), np.array([0.1, 0.4, 0.8])
    engine = KMeansEngine(KMeans(n_init=20))
    setting = setting_of(X, "refit")
    [partitions] = engine.references(X, [Request(None, ks)], setting.entropy)
    group = [Group(None, partitions)]
    ours = np.array(
        [engine.similarities(X, group, d, epsilons, setting)[0] for d in range(n_draws)]
    )
    theirs = np.empty_like(ours)
    for d in range(n_draws):
        # Independent noise, so that the errors of both means add up.
        noise = Draw(99, d, len(X)).noise(2)
        for i, partition in enumerate(partitions):
            for e, epsilon in enumerate(epsilons):
                noisy = X + epsilon * (setting.scale * noise)
                again = KMeans(ks[i], n_init=20, random_state=d).fit(noisy)
                theirs[d, i, e] = adjusted_rand_score(partition.labels, again.labels_)
    error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / n_draws)
    # With nine comparisons, four standard errors mean one false alarm in two thousand runs.
    assert (abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= 4.0 * error + 1e-3).all()


def test_relabel_gives_the_labels_whose_similarity_is_measured(data, engine):
    for relabel in ("extend", "refit"):
        setting = setting_of(data, relabel)
        groups = groups_of(engine, data, setting)
        [similarities] = engine.similarities(data, groups[:1], 1, EPSILONS, setting)
        for i, partition in enumerate(groups[0].partitions):
            copies = engine.relabel(data, partition, 1, EPSILONS, setting)
            for e, (rows, labels) in enumerate(copies):
                assert rows is None
                assert labels.dtype.kind == "i"
                expected = setting.similarity(partition.labels, labels)
                assert similarities[i, e] == pytest.approx(expected, abs=1e-12)


def test_estimator_is_a_fitted_kmeans_with_the_partition(data):
    clusterer = KMeans(n_init=3, init="random", max_iter=50)
    before = clusterer.get_params()
    engine = KMeansEngine(clusterer)
    setting = setting_of(data, "extend")
    [[partition]] = engine.references(data, [Request(None, (4,))], setting.entropy)
    model = engine.estimator(data, partition)
    assert type(model) is KMeans
    assert model.get_params() == {**before, "n_clusters": 4}
    assert clusterer.get_params() == before
    assert not hasattr(clusterer, "labels_")
    np.testing.assert_array_equal(model.labels_, partition.labels)
    np.testing.assert_array_equal(model.predict(data), partition.labels)
    np.testing.assert_array_equal(model.cluster_centers_, partition.model)
    gaps = data - model.cluster_centers_[model.labels_]
    assert model.inertia_ == pytest.approx((gaps**2).sum())
    assert model.transform(data).shape == (len(data), 4)
    assert partition.labels.dtype == np.int32  # as in scikit-learn


QUALITY_SETS = {
    "blobs": lambda rng: make_blobs(500, 2, centers=12, random_state=3)[0],
    "square": lambda rng: rng.uniform(size=(400, 2)),
    "ten features": lambda rng: make_blobs(300, 10, centers=6, random_state=5)[0],
    "heavy tails": lambda rng: rng.standard_t(2, size=(300, 3)),
}


@pytest.mark.parametrize("name", QUALITY_SETS)
def test_inertia_is_not_worse_than_the_best_of_sklearn(name, rng):
    """Mean inertia over seeds, relative to scikit-learn's best of the same n_init.

    For each K the mean may exceed scikit-learn's by at most two standard errors of the
    difference. Over all K together it may exceed it by at most 1e-9.
    """
    X = QUALITY_SETS[name](rng)
    ks = (1, 2, 3, 5, 8, 13, 22, 37, 60)
    n_init, n_seeds = 4, 8
    engine = KMeansEngine(KMeans(n_init=n_init))
    ours, theirs = np.empty((2, n_seeds, len(ks)))
    for seed in range(n_seeds):
        setting = setting_of(X, "extend", entropy=seed)
        [partitions] = engine.references(X, [Request(None, ks)], setting.entropy)
        for i, partition in enumerate(partitions):
            ours[seed, i] = ((X - partition.model[partition.labels]) ** 2).sum()
            theirs[seed, i] = KMeans(ks[i], n_init=n_init, random_state=seed).fit(X).inertia_
    ratio = ours.mean(axis=0) / theirs.mean(axis=0)
    error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / n_seeds) / theirs.mean(axis=0)
    assert (ratio <= 1.0 + 2.0 * error + 1e-9).all()
    assert ratio.mean() <= 1.0 + 1e-9


DEGENERATE = {
    "all points equal": np.full((20, 2), 3.7),
    "fewer distinct points than k": np.repeat([[0.0, 1.0], [2.0, 3.0], [5.0, 1.0]], 7, axis=0),
    "huge": np.random.default_rng(0).normal(size=(40, 3)) * 1e150,
    "tiny": np.random.default_rng(0).normal(size=(40, 3)) * 1e-150,
    "one feature": np.random.default_rng(0).normal(size=(40, 1)),
    "two points": np.array([[0.0, 0.0], [1.0, 1.0]]),
    "one far point": np.vstack([np.random.default_rng(0).normal(size=(30, 2)), [[1e5, 1e5]]]),
    "constant feature": np.column_stack([np.arange(30.0), np.full(30, 1e6)]),
}


@pytest.mark.parametrize("relabel", ["extend", "refit"])
@pytest.mark.parametrize("init", ["k-means++", "random"])
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_give_finite_results(name, init, relabel):
    X = DEGENERATE[name]
    engine = KMeansEngine(KMeans(n_init=3, init=init))
    with np.errstate(all="ignore"):
        scale = X.std(axis=0)
    setting = Setting(0, PERTURBATIONS["uniform"], scale, SIMILARITIES["ari"], relabel)
    ks = tuple(k for k in (1, 2, 5, len(X)) if k <= len(X))
    groups = groups_of(engine, X, setting, ks=ks)
    distinct = len(np.unique(X, axis=0))
    for partition in groups[0].partitions:
        assert np.isfinite(partition.model).all()
        assert len(np.unique(partition.labels)) == min(partition.k, distinct)
    found = engine.similarities(X, groups, 0, EPSILONS, setting)
    assert all(np.isfinite(s).all() for s in found)
    if relabel == "extend":
        # Without noise nothing changes.
        assert all((s[:, 0] == 1.0).all() for s in found)


@pytest.mark.parametrize("factor", [2.0**500, 2.0**-500])
def test_magnitude_does_not_matter(data, factor):
    engine = KMeansEngine(KMeans(n_init=3))
    results = []
    for X in (data, data * factor):
        setting = setting_of(X, "refit")
        groups = groups_of(engine, X, setting)
        results.append(engine.similarities(X, groups, 0, EPSILONS, setting))
    for one, other in zip(*results, strict=True):
        np.testing.assert_array_equal(one, other)


def test_more_clusters_than_points_is_an_error(data, engine):
    setting = setting_of(data, "extend")
    with pytest.raises(ValueError, match="7 clusters are asked of 5 points"):
        engine.references(data, [Request(np.arange(5), (2, 7))], setting.entropy)


@pytest.mark.parametrize(
    "clusterer",
    [
        KMeans(),
        KMeans(n_init=4, init="random", algorithm="elkan", tol=0, max_iter=7, random_state=3),
        KMeans(n_init=np.int64(2), random_state=np.int32(1), copy_x=False),
    ],
)
def test_honored_settings(clusterer, data):
    assert unsupported(clusterer) is None
    engine = KMeansEngine(clusterer)
    [[partition]] = engine.references(
        data, [Request(None, (3,))], setting_of(data, "extend").entropy
    )
    assert len(np.unique(partition.labels)) == 3


class Subclass(KMeans):
    """A subclass of KMeans, which the engine does not know."""


@pytest.mark.parametrize(
    ("clusterer", "reason"),
    [
        (Subclass(), "Subclass is not KMeans"),
        (MiniBatchKMeans(), "MiniBatchKMeans"),
        (BisectingKMeans(), "BisectingKMeans"),
        (KMeans(init=np.zeros((2, 2))), "init"),
        (KMeans(init=lambda X, k, random_state: X[:k]), "init"),
        (KMeans(init="farthest"), "init"),
        (KMeans(n_init=0), "n_init"),
        (KMeans(n_init="many"), "n_init"),
        (KMeans(max_iter=0), "max_iter"),
        (KMeans(tol=-1), "tol"),
        (KMeans(tol=None), "tol"),
        (KMeans(algorithm="full"), "algorithm"),
        (KMeans(random_state=np.random.RandomState(0)), "random_state"),
        (KMeans(verbose=1), "verbose"),
    ],
)
def test_other_settings_are_left_to_the_generic_engine(clusterer, reason):
    assert reason in unsupported(clusterer)


def test_n_init_auto_is_that_of_sklearn(data):
    setting = setting_of(data, "extend")
    for init, n_init in (("k-means++", 1), ("random", 10)):
        models = [
            KMeansEngine(KMeans(n_init=n, init=init))
            .references(data, [Request(None, (6,))], setting.entropy)[0][0]
            .model
            for n in ("auto", n_init)
        ]
        np.testing.assert_array_equal(*models)
