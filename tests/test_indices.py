"""The seven indices against published numbers, other packages and their definitions."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from scipy.spatial.distance import cdist, pdist
from sklearn import metrics

from iris_partitions import PARTITIONS, A, B, E, X
from stablek import indices
from stablek.indices import INDICES, index_values

# Partitions A to E of iris; clusterCrit's definitions.
REFERENCE = {
    "wemmert_gancarski": (0.487057126375, 0.504743960860, 0.249779481739, 0, 0.372483117133),
    "davies_bouldin": (
        1.067257040548,
        1.006005756743,
        2.548816455054,
        37.657388720669,
        1.200233340313,
    ),
    "ray_turi": (
        0.497220237994,
        0.433022663738,
        23.505310456796,
        691.023889585315,
        0.768679874030,
    ),
    "calinski_harabasz": (
        191.303608626990,
        200.395949638434,
        126.716883575757,
        0.190984010312,
        133.291149057105,
    ),
    "dunn": (0.073941299192, 0.052993303939, 0.026060292147, 0, 0.041412976795),
    "xie_beni": (
        7.959461035789,
        14.981459012164,
        64.058764660887,
        np.inf,
        19.545841198355,
    ),
}
MACRO = (0.381126158054, 0.393785429937, 0.047426142005, -0.042796555779, 0.274454926853)
MICRO = {"A": 0.381126158054, "B": 0.391014221636, "C": 0.065423123662, "E": 0.289782849810}

# genieclust 1.3.0 on partitions A, B, E of iris, made with
#   from genieclust.cluster_validity import *
#   silhouette_index(X, y), silhouette_w_index(X, y), -negated_davies_bouldin_index(X, y),
#   calinski_harabasz_index(X, y), generalized_dunn_index(X, y, 1, 1)
GENIECLUST = [
    (A, 0.38112615805438, 0.38112615805438, 1.067257040548, 191.30360862698967, 0.07394129919219),
    (B, 0.39101422163627, 0.39378542993676, 1.0060057567426, 200.395949638434, 0.05299330393926),
    (E, 0.28978284980972, 0.27445492685270, 1.2002333403127, 133.2911490571051, 0.04141297679543),
]


def test_registry_is_complete():
    assert set(INDICES) == {*REFERENCE, "silhouette"}
    assert set(INDICES) <= set(indices.__all__)


@pytest.mark.parametrize("name", REFERENCE)
def test_reference_numbers(name):
    found = [getattr(indices, name)(X, labels) for labels in PARTITIONS.values()]
    np.testing.assert_allclose(found, REFERENCE[name], rtol=1e-8, atol=1e-12)


def test_silhouette_reference_numbers():
    macro = [indices.silhouette(X, y, average="macro") for y in PARTITIONS.values()]
    np.testing.assert_allclose(macro, MACRO, rtol=1e-8)
    micro = [indices.silhouette(X, PARTITIONS[name]) for name in MICRO]
    np.testing.assert_allclose(micro, list(MICRO.values()), rtol=1e-8)


@pytest.mark.parametrize("labels, micro, macro, davies_bouldin, calinski, dunn", GENIECLUST)
def test_genieclust(labels, micro, macro, davies_bouldin, calinski, dunn):
    found = (
        indices.silhouette(X, labels),
        indices.silhouette(X, labels, average="macro"),
        indices.davies_bouldin(X, labels),
        indices.calinski_harabasz(X, labels),
        indices.dunn(X, labels),
    )
    np.testing.assert_allclose(found, (micro, macro, davies_bouldin, calinski, dunn), rtol=1e-10)


@st.composite
def clustered(draw, coincident=False):
    """Points with labels. If points may coincide, they are on a coarse grid."""
    random = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n, p = draw(st.integers(4, 60)), draw(st.integers(1, 6))
    labels = random.integers(draw(st.integers(2, 6)), size=n)
    assume(2 <= len(np.unique(labels)) < n)
    if coincident:
        return random.integers(3, size=(n, p)).astype(float), labels
    # Near the origin, because scikit-learn loses digits if the mean is far above the spread.
    return (random.normal(size=(n, p)) + 0.5) * 10.0 ** draw(st.integers(-3, 3)), labels


@given(clustered())
def test_scikit_learn(data):
    points, labels = data
    oracles = {
        "silhouette": metrics.silhouette_score,
        "davies_bouldin": metrics.davies_bouldin_score,
        "calinski_harabasz": metrics.calinski_harabasz_score,
    }
    for name, oracle in oracles.items():
        assert getattr(indices, name)(points, labels) == pytest.approx(
            oracle(points, labels), rel=1e-8, abs=1e-12
        )


@given(clustered(coincident=True))
def test_scikit_learn_silhouette_of_coincident_points(data):
    points, labels = data
    np.testing.assert_allclose(
        indices.silhouette_samples(points, labels),
        metrics.silhouette_samples(points, labels),
        atol=1e-9,
    )


def by_definition(points, labels):
    """Dunn, Xie-Beni, Ray-Turi and Wemmert-Gancarski, written out."""
    distances = cdist(points, points)
    together = labels[:, None] == labels
    names = np.unique(labels)
    centers = np.array([points[labels == name].mean(axis=0) for name in names])
    to_centers = cdist(points, centers)
    own = names == labels[:, None]
    spread = np.mean(to_centers[own] ** 2)
    apart = cdist(centers, centers)[~np.eye(len(names), dtype=bool)]
    gap = distances[~together].min()
    ratio = to_centers[own] / np.where(own, np.inf, to_centers).min(axis=1)
    gancarski = sum(max(0.0, np.sum(1.0 - ratio[labels == name])) for name in names)
    return {
        "dunn": gap / distances[together].max(),
        "xie_beni": spread / gap**2,
        "ray_turi": spread / apart.min() ** 2,
        "wemmert_gancarski": gancarski / len(points),
    }


@given(clustered())
def test_definitions(data):
    points, labels = data
    for name, value in by_definition(points, labels).items():
        assert getattr(indices, name)(points, labels) == pytest.approx(value, rel=1e-8, abs=1e-12)


@given(clustered(coincident=True))
def test_coincident_points_of_different_clusters(data):
    points, labels = data
    distances = cdist(points, points)
    gap = distances[labels[:, None] != labels].min()
    width = distances[labels[:, None] == labels].max()
    found = indices.dunn(points, labels)
    assert found == (0.0 if gap == 0 else pytest.approx(gap / width) if width else np.inf)
    assert np.isinf(indices.xie_beni(points, labels)) == (gap == 0)


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_many_partitions_equal_one_by_one(name, n_jobs):
    labelings = [*PARTITIONS.values(), np.zeros(150), np.arange(150)]
    found = index_values(X, labelings, name, n_jobs=n_jobs)
    single = [getattr(indices, name)(X, labels) for labels in PARTITIONS.values()]
    np.testing.assert_allclose(found[:5], single, rtol=1e-13)
    assert np.isnan(found[5:]).all()


@pytest.mark.parametrize("name", INDICES)
def test_same_bits_for_any_n_jobs(name):
    random = np.random.default_rng(0)
    points = random.normal(size=(700, 3))
    labelings = [random.integers(k, size=700) for k in (2, 3, 5)]
    one, two = (index_values(points, labelings, name, n_jobs=jobs) for jobs in (1, 2))
    assert (one == two).all()


@pytest.mark.parametrize("name", INDICES)
def test_labels_are_names_only(name):
    index = getattr(indices, name)
    words = np.array(["setosa", "versicolor", "virginica"])[A]
    assert index(X, words) == index(X, A)
    assert index(X, np.array([7, -1, 40])[A]) == pytest.approx(index(X, A), rel=1e-12)


def test_singleton_silhouette_is_zero_and_counts():
    points, labels = [[0.0], [1.0], [9.0]], [0, 0, 1]
    samples = indices.silhouette_samples(points, labels)
    assert samples[2] == 0.0
    macro = indices.silhouette(points, labels, average="macro")
    assert macro == pytest.approx(samples[:2].mean() / 2)


def test_singleton_wemmert_gancarski():
    # The singleton adds 1, and the other two points add 1 - 0.5/9 and 1 - 0.5/8.
    found = indices.wemmert_gancarski([[0.0], [1.0], [9.0]], [0, 0, 1])
    assert found == pytest.approx((1 + 2 - 0.5 / 9 - 0.5 / 8) / 3)


def test_coincident_centroids():
    points, labels = [[-1.0], [1.0], [-2.0], [2.0], [9.0]], [0, 0, 1, 1, 2]
    assert indices.davies_bouldin(points, labels) == np.inf
    assert indices.ray_turi(points, labels) == np.inf
    assert indices.wemmert_gancarski(points, labels) == pytest.approx(1 / 5)


def test_points_of_each_cluster_coincide():
    points, labels = [[0.1, 0.7]] * 3 + [[0.3, 0.2]] * 4, [0] * 3 + [1] * 4
    assert indices.dunn(points, labels) == np.inf
    assert indices.calinski_harabasz(points, labels) == np.inf
    assert indices.silhouette(points, labels) == 1.0
    assert indices.davies_bouldin(points, labels) == 0.0
    assert indices.xie_beni(points, labels) == 0.0


def test_all_points_coincide():
    points, labels = [[0.1, 0.7]] * 7, [0] * 3 + [1] * 4
    assert indices.silhouette(points, labels) == 0.0
    assert indices.dunn(points, labels) == 0.0
    assert indices.xie_beni(points, labels) == np.inf
    assert indices.davies_bouldin(points, labels) == np.inf
    assert indices.ray_turi(points, labels) == np.inf
    assert indices.calinski_harabasz(points, labels) == 0.0
    assert indices.wemmert_gancarski(points, labels) == 0.0


@pytest.mark.parametrize("name", INDICES)
@pytest.mark.parametrize(
    "points, labels, message",
    [
        (X, np.zeros(150), "at least 2 clusters"),
        (X, np.arange(150), "fewer than the 150 points"),
        (X, A[:-1], "each of the 150 rows"),
        (X[:, 0], A, "2D array"),
        (np.where(np.arange(4) == 2, np.nan, X), A, "NaN"),
        (X[:0], A[:0], "0 sample"),
    ],
)
def test_bad_input(name, points, labels, message):
    with pytest.raises(ValueError, match=message):
        getattr(indices, name)(points, labels)


def test_bad_names():
    with pytest.raises(ValueError, match="index must be one of"):
        index_values(X, [A], "silhuette")
    with pytest.raises(ValueError, match="average must be"):
        indices.silhouette(X, A, average="weighted")
    with pytest.raises(ValueError, match="average must be"):
        index_values(X, [A], "silhouette", average="weighted")
    with pytest.raises(ValueError, match=r"labelings\[1\] must have one entry"):
        index_values(X, [A, A[1:]])


@pytest.mark.parametrize("n_features", [1, 2, 5])
def test_sums_over_the_pairs_of_each_cluster(n_features):
    from stablek.kernels.distances import pair_sums

    points = np.random.default_rng(0).normal(size=(150, n_features))
    starts = np.array([0, 1, 60, 62, 150])
    expected = [pdist(part).sum() for part in np.split(points, starts[1:-1])]
    found = pair_sums(np.ascontiguousarray(points.T), starts)
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_spanning_tree_is_minimal():
    from scipy.sparse.csgraph import minimum_spanning_tree

    from stablek.kernels.linkage.tree import spanning_tree

    points = np.random.default_rng(0).normal(size=(200, 4))
    first, second, height = spanning_tree(points.T.copy())
    assert sorted({*first, *second}) == list(range(200))
    length = np.sqrt(height)
    np.testing.assert_allclose(length, np.linalg.norm(points[first] - points[second], axis=1))
    assert length.sum() == pytest.approx(minimum_spanning_tree(cdist(points, points)).sum())


def test_memory_grows_with_points_not_with_pairs():
    # All distances between 20,000 points would take 3.2 GB.
    import tracemalloc

    points = np.random.default_rng(0).normal(size=(8000, 2))
    labelings = [np.arange(8000) % k for k in (2, 3)]
    tracemalloc.start()
    for name in INDICES:
        index_values(points, labelings, name)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 8000 * 8000 * 8 / 20
