"""The agglomerative engine against scipy's trees, scikit-learn and the generic engine."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from scipy.cluster.hierarchy import linkage as scipy_linkage
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.neighbors import kneighbors_graph

from stablek import Stadion, seeding
from stablek.engines.agglomerative import AgglomerativeEngine, Dendrogram, unsupported
from stablek.engines.base import Setting
from stablek.engines.generic import GenericEngine
from stablek.perturbations import PERTURBATIONS, resolve_perturbation
from stablek.results import Group, Partition, Request
from stablek.similarity import SIMILARITIES, resolve_similarity

LINKAGES = ("ward", "average", "complete", "single")
EPSILONS = np.array([0.0, 0.2, 0.9])


def engine(linkage="ward"):
    return AgglomerativeEngine(AgglomerativeClustering(linkage=linkage))


WIDE = 40  # features; from here on the engine keeps the distances


def setting(X, perturbation="uniform", similarity="ari", relabel="refit"):
    return Setting(
        7,
        resolve_perturbation(perturbation),
        X.std(axis=0),
        resolve_similarity(similarity),
        relabel,
    )


def blobs(n=90, p=2, seed=0):
    X, _ = make_blobs(n, n_features=p, centers=4, random_state=seed)
    return X


def canonical(labels):
    """Labels renumbered in order of first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[inverse]


def scipys_cuts(X, linkage):
    """Canonical labels of each cut of scipy's tree, by number of clusters."""
    labels = np.arange(len(X))
    nodes = {i: np.array([i]) for i in range(len(X))}
    cuts = {len(X): labels}
    for step, (a, b) in enumerate(scipy_linkage(X, linkage)[:, :2].astype(int)):
        nodes[len(X) + step] = np.concatenate([nodes.pop(a), nodes.pop(b)])
        labels = labels.copy()
        labels[nodes[len(X) + step]] = len(X) + step
        cuts[len(X) - step - 1] = canonical(labels)
    return cuts


def groups_of(eng, X, conf, k_values=(2, 3, 5), omega=(2, 3)):
    """X with its partitions, and each cluster of each partition with its re-clusterings."""
    [whole] = eng.references(X, [Request(None, k_values)], conf.entropy)
    requests = [
        Request(np.flatnonzero(part.labels == label), omega, part)
        for part in whole
        for label in range(part.k)
    ]
    requests = [request for request in requests if len(request.rows) > max(omega)]
    inside = eng.references(X, requests, conf.entropy)
    groups = [Group(r.rows, parts) for r, parts in zip(requests, inside, strict=True)]
    return [Group(None, whole), *groups]


@pytest.mark.parametrize("linkage", LINKAGES)
def test_every_cut_of_every_tree_equals_scipys(linkage):
    for seed in range(25):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(2, 140)), int(rng.choice([1, 2, 3, 4, 5, WIDE]))
        X = rng.normal(size=(n, p)) + 4 * rng.integers(0, 3, size=(n, 1))
        k_values = tuple(range(1, n + 1))
        [found] = engine(linkage).references(X, [Request(None, k_values)], setting(X).entropy)
        expected = scipys_cuts(X, linkage)
        for k in k_values:
            np.testing.assert_array_equal(found[k - 1].labels, expected[k])


def test_large_tree_with_many_packings_equals_scipys():
    X = blobs(1500, 3, seed=4)
    k_values = (2, 7, 40, 300, 1499)
    [found] = engine().references(X, [Request(None, k_values)], setting(X).entropy)
    expected = scipys_cuts(X, "ward")
    for partition in found:
        np.testing.assert_array_equal(partition.labels, expected[partition.k])


@pytest.mark.parametrize("p", [1, 2, 3, WIDE])
def test_both_ways_of_ward_give_one_dendrogram(p):
    from stablek.kernels.linkage import ways
    from stablek.kernels.linkage.grow import grow

    X = blobs(300, p, seed=5)
    found = []
    for way in (ways.CENTROIDS, ways.MATRIX):
        first, second, height = np.empty(299, np.intp), np.empty(299, np.intp), np.empty(299)
        grow(X.T.copy(), ways.WARD, way, first, second, height)
        found.append(Dendrogram(first, second, height))
    for a, b in zip(*(tree.labels(range(1, 300)) for tree in found), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_inside_a_node_the_tree_is_the_nodes_own(linkage):
    X = blobs(120, seed=3)
    eng, conf = engine(linkage), setting(X)
    [whole] = eng.references(X, [Request(None, (2, 3, 4, 6))], conf.entropy)
    compared = 0
    for parent in whole:
        for label in range(parent.k):
            rows = np.flatnonzero(parent.labels == label)
            if len(rows) > 3:
                assert parent.model.inside(rows) is not None
                requests = [Request(rows, (2, 3), parent), Request(rows, (2, 3))]
                shared, fresh = eng.references(X, requests, conf.entropy)
                for a, b in zip(shared, fresh, strict=True):
                    np.testing.assert_array_equal(a.labels, b.labels)
                compared += 1
    assert compared > 3


def test_rows_that_are_no_node_get_a_tree_of_their_own():
    X = blobs(40)
    eng, conf = engine(), setting(X)
    [[parent]] = eng.references(X, [Request(None, (3,))], conf.entropy)
    rows = np.arange(0, 40, 2)
    assert parent.model.inside(rows) is None
    [[found]] = eng.references(X, [Request(rows, (3,), parent)], conf.entropy)
    expected = AgglomerativeClustering(3).fit(X[rows]).labels_
    assert adjusted_rand_score(found.labels, expected) == 1.0


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("gaussian", [False, True])
@pytest.mark.parametrize("p", [2, WIDE])
def test_similarities_equal_a_plain_loop(linkage, gaussian, p):
    X = blobs(70, p)
    eng, conf = engine(linkage), setting(X, "gaussian" if gaussian else "uniform")
    groups = groups_of(eng, X, conf)
    draw = 3
    found = eng.similarities(X, groups, draw, EPSILONS, conf)
    noise = seeding.noise(conf.entropy, draw, X.shape[1], 0, len(X), gaussian=gaussian)
    for group, values in zip(groups, found, strict=True):
        rows = np.arange(len(X)) if group.rows is None else group.rows
        for i, partition in enumerate(group.partitions):
            for e, epsilon in enumerate(EPSILONS):
                noisy = (X + epsilon * (X.std(axis=0) * noise))[rows]
                refit = AgglomerativeClustering(partition.k, linkage=linkage).fit(noisy)
                expected = adjusted_rand_score(partition.labels, refit.labels_)
                assert values[i, e] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("perturbation", sorted(PERTURBATIONS))
def test_every_perturbation_gives_what_the_generic_engine_gives(perturbation):
    X = blobs(60, p=4)
    eng, conf = engine(), setting(X, perturbation)
    generic = GenericEngine(AgglomerativeClustering(), "n_clusters")
    groups = groups_of(eng, X, conf)
    levels = np.array([1.0]) if perturbation == "bootstrap" else np.array([0.0, 0.4])
    found = eng.similarities(X, groups, 1, levels, conf)
    expected = generic.similarities(X, groups, 1, levels, conf)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize("similarity", sorted(SIMILARITIES))
def test_every_similarity_gives_what_the_generic_engine_gives(similarity):
    X = blobs(50)
    eng, conf = engine(), setting(X, similarity=similarity)
    generic = GenericEngine(AgglomerativeClustering(), "n_clusters")
    groups = groups_of(eng, X, conf)
    found = eng.similarities(X, groups, 0, EPSILONS, conf)
    expected = generic.similarities(X, groups, 0, EPSILONS, conf)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


def test_subsample_smaller_than_k_leaves_every_point_alone():
    X = blobs(12)
    eng, conf = engine(), setting(X, "subsample")
    [whole] = eng.references(X, [Request(None, (2, 8))], conf.entropy)
    [(rows, labels)] = eng.relabel(X, whole[1], 0, np.array([0.7]), conf)
    assert len(rows) < 8
    np.testing.assert_array_equal(labels, np.arange(len(rows)))
    found = eng.similarities(X, [Group(None, whole)], 0, np.array([0.7]), conf)
    generic = GenericEngine(AgglomerativeClustering(), "n_clusters")
    expected = generic.similarities(X, [Group(None, whole)], 0, np.array([0.7]), conf)
    np.testing.assert_allclose(found[0], expected[0], atol=1e-12)


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("p", [2, WIDE])
def test_pieces_and_threads_give_the_same_bits(linkage, p):
    X = blobs(80, p)
    eng, conf = engine(linkage), setting(X)
    groups = groups_of(eng, X, conf)
    at_once = [eng.similarities(X, groups, draw, EPSILONS, conf) for draw in range(4)]
    tasks = [(draw, g, e) for draw in range(4) for g in range(len(groups)) for e in range(3)]

    def piece(task):
        draw, g, e = task
        return eng.similarities(X, [groups[g]], draw, EPSILONS[e : e + 1], conf)[0]

    with ThreadPoolExecutor(4) as pool:
        pieces = dict(zip(tasks, pool.map(piece, tasks), strict=True))
    for draw, g, e in tasks:
        np.testing.assert_array_equal(at_once[draw][g][:, e], pieces[draw, g, e][:, 0])


@pytest.mark.parametrize("p", [2, WIDE])
def test_relabel_agrees_with_similarities(p):
    X = blobs(60, p)
    eng, conf = engine(), setting(X)
    [[partition]] = eng.references(X, [Request(None, (4,))], conf.entropy)
    copies = eng.relabel(X, partition, 2, EPSILONS, conf)
    [values] = eng.similarities(X, [Group(None, (partition,))], 2, EPSILONS, conf)
    for (rows, labels), value in zip(copies, values[0], strict=True):
        assert rows is None
        assert adjusted_rand_score(partition.labels, labels) == pytest.approx(value, abs=1e-12)


def test_noise_labels_and_gaps_in_labels_are_compared_as_they_are():
    X = blobs(40)
    eng, conf = engine(), setting(X)
    labels = np.arange(40) % 3 * 1000 - 1
    group = Group(None, (Partition(3, labels),))
    [found] = eng.similarities(X, [group], 0, EPSILONS, conf)
    expected = GenericEngine(AgglomerativeClustering(), "n_clusters").similarities(
        X, [group], 0, EPSILONS, conf
    )
    np.testing.assert_allclose(found, expected[0], atol=1e-12)


@pytest.mark.parametrize("linkage", LINKAGES)
def test_estimator_is_fitted_and_has_our_labels(linkage):
    X = blobs(50)
    eng = engine(linkage)
    [[partition]] = eng.references(X, [Request(None, (3,))], setting(X).entropy)
    estimator = eng.estimator(X, partition)
    assert type(estimator) is AgglomerativeClustering
    assert estimator.n_clusters_ == 3
    assert estimator.linkage == linkage
    np.testing.assert_array_equal(estimator.labels_, partition.labels)
    assert eng.clusterer.n_clusters == 2  # the clusterer that was given is not changed


DEGENERATE = {
    "all equal": np.ones((12, 2)),
    "two values": np.repeat([[0.0, 0.0], [1.0, 2.0]], 6, axis=0),
    "duplicates": np.repeat(np.random.default_rng(0).normal(size=(5, 2)), 4, axis=0),
    "huge": blobs(30) * 1e150,
    "largest": np.random.default_rng(1).uniform(-1, 1, size=(20, 2)) * 1e307,
    "tiny": blobs(30) * 1e-150,
    "subnormal": np.random.default_rng(2).integers(0, 50, size=(20, 2)) * 5e-324,
    "mixed magnitudes": blobs(30) * [1e150, 1e-150],
    "one feature": blobs(30, p=1),
    "integers": np.random.default_rng(3).integers(0, 4, size=(40, 2)).astype(float),
    "two points": np.array([[0.0, 1.0], [2.0, 3.0]]),
}


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("name", DEGENERATE)
def test_degenerate_data_gives_k_clusters_and_finite_similarities(name, linkage):
    X = DEGENERATE[name]
    n = len(X)
    eng = engine(linkage)
    conf = Setting(
        0,
        PERTURBATIONS["uniform"],
        np.abs(X).max(axis=0) * 0.5,
        SIMILARITIES["ari"],
        "refit",
    )
    k_values = tuple(k for k in (1, 2, 3, n - 1, n) if 1 <= k <= n)
    [parts] = eng.references(X, [Request(None, k_values)], conf.entropy)
    for part in parts:
        assert len(np.unique(part.labels)) == part.k
    [values] = eng.similarities(X, [Group(None, parts)], 0, EPSILONS, conf)
    assert np.isfinite(values).all()
    np.testing.assert_allclose(values[:, 0], 1.0)  # without noise the tree is the same


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("exponent", [-900, -300, 300, 900])
@pytest.mark.parametrize("p", [2, WIDE])
def test_scaling_by_a_power_of_two_changes_nothing(linkage, exponent, p):
    X = blobs(60, p)
    request, eng, plain = Request(None, (2, 5, 20)), engine(linkage), setting(X)
    [parts] = eng.references(X, [request], plain.entropy)
    [values] = eng.similarities(X, [Group(None, parts)], 0, EPSILONS, plain)
    far = np.ldexp(X, exponent)
    scaled = replace(plain, scale=np.ldexp(plain.scale, exponent))
    [moved] = eng.references(far, [request], scaled.entropy)
    for a, b in zip(parts, moved, strict=True):
        np.testing.assert_array_equal(a.labels, b.labels)
    [found] = eng.similarities(far, [Group(None, moved)], 0, EPSILONS, scaled)
    np.testing.assert_array_equal(found, values)


def test_equal_heights_are_cut_from_the_last():
    tree = Dendrogram(np.array([0, 2, 0]), np.array([1, 3, 2]), np.ones(3))
    assert [labels.tolist() for labels in tree.labels([1, 2, 3, 4])] == [
        [0, 0, 0, 0],
        [0, 0, 1, 1],
        [0, 0, 1, 2],
        [0, 1, 2, 3],
    ]


def test_extension_is_refused():
    X = blobs(20)
    with pytest.raises(ValueError, match="refit"):
        engine().similarities(X, [], 0, EPSILONS, setting(X, relabel="extend"))


def test_no_groups_and_groups_without_partitions_are_no_error():
    X = blobs(20)
    eng, conf = engine(), setting(X)
    assert eng.similarities(X, [], 0, EPSILONS, conf) == []
    [[whole]] = eng.references(X, [Request(None, (2,))], conf.entropy)
    groups = [Group(np.arange(5), ()), Group(None, (whole,))]
    shapes = [values.shape for values in eng.similarities(X, groups, 0, EPSILONS, conf)]
    assert shapes == [(0, 3), (1, 3)]
    assert eng.similarities(X, groups[:1], 0, EPSILONS, conf)[0].shape == (0, 3)


def test_what_is_not_honored_is_named():
    X = blobs(10)
    assert unsupported(AgglomerativeClustering()) is None
    assert unsupported(AgglomerativeClustering(linkage="single", metric="l2")) is None
    assert unsupported(AgglomerativeClustering(compute_distances=True)) is None
    for clusterer, word in (
        (AgglomerativeClustering(metric="manhattan", linkage="average"), "metric"),
        (AgglomerativeClustering(connectivity=kneighbors_graph(X, 3)), "connectivity"),
        (AgglomerativeClustering(n_clusters=None, distance_threshold=1.0), "distance_threshold"),
        (AgglomerativeClustering(linkage="centroid"), "linkage"),
        (type("Mine", (AgglomerativeClustering,), {})(), "Mine"),
    ):
        assert word in unsupported(clusterer)


@pytest.mark.parametrize("linkage", ["ward", "average", "complete", "single"])
@pytest.mark.parametrize("n_features", [1, 2, 40])
def test_the_estimator_is_as_fitted_by_scikit_learn(linkage, n_features, rng):
    X = rng.normal(size=(60, n_features))
    clusterer = AgglomerativeClustering(linkage=linkage, compute_distances=True)
    stadion = Stadion(clusterer, k_range=[3], epsilons=[0.1], n_perturbations=1, omega=[2]).fit(X)
    found = stadion.best_estimator_
    expected = AgglomerativeClustering(3, linkage=linkage, compute_distances=True).fit(X)
    assert vars(found).keys() == vars(expected).keys()
    assert adjusted_rand_score(found.labels_, expected.labels_) == 1
    np.testing.assert_array_equal(found.children_, np.sort(expected.children_, axis=1))
    np.testing.assert_allclose(found.distances_, expected.distances_)
    for name in ("n_leaves_", "n_clusters_", "n_connected_components_", "n_features_in_"):
        assert getattr(found, name) == getattr(expected, name)
    assert found.get_params() == expected.get_params()


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="peak memory is read there")
def test_ward_needs_no_matrix_of_all_distances():
    """N = 20,000: a matrix of all distances has 1.6 GB; everything together needs 600 MB."""
    script = (
        "import pathlib, numpy as np\n"
        "from sklearn.cluster import AgglomerativeClustering\n"
        "from stablek import Stadion\n"
        "X = np.random.default_rng(0).normal(size=(20_000, 2))\n"
        "options = dict(k_range=[1, 2, 3], omega=[2], epsilons=[0.5], n_perturbations=1)\n"
        "stadion = Stadion(AgglomerativeClustering(), **options).fit(X)\n"
        "assert len(stadion.best_estimator_.labels_) == 20_000\n"
        # Not ru_maxrss: a new process begins with that of the process which started it.
        "status = pathlib.Path('/proc/self/status').read_text()\n"
        "print(status.split('VmHWM:')[1].split()[0])\n"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, check=True)
    assert int(done.stdout) / 1024 < 600
