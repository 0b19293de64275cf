"""The numerical parts of the methods against reference numbers and independent formulas."""

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.distance import cdist, pdist

from iris_partitions import ONE, PARTITIONS, A, B, D, E, X
from stablek.reference_sets import box_of
from stablek.selectors.ben_hur import before_largest_drop
from stablek.selectors.g_means import (
    anderson_darling,
    anderson_darling_p_value,
    corrected_statistic,
)
from stablek.selectors.gap import RULES, choose_by_rule, log_dispersions
from stablek.selectors.hennig import cluster_jaccard
from stablek.selectors.hofmeyr import Hofmeyr, degrees_of_freedom, local_linear, smooth
from stablek.selectors.lange import matching_distance
from stablek.selectors.solution import lloyd, solution_of
from stablek.selectors.special_k import (
    _raw_log_bound,
    embed,
    log_bound,
    neighbor_graph,
    radius_graph,
)
from stablek.selectors.x_means import x_means_score

LOG_W = {
    1: (3.880271155552, 3.867021074385, 3.877517275189, 4.526540966477, 3.750481809295),
    2: (4.422079429160, 4.388319592454, 4.421801516407, 5.699865825770, 4.161126191301),
}
LOG_W_ONE = {1: 4.537909494095, 2: 5.703782474656}


@pytest.mark.parametrize("power", [1, 2])
def test_log_dispersion(power):
    found = log_dispersions(X, [*PARTITIONS.values(), ONE], power)
    np.testing.assert_allclose(found, [*LOG_W[power], LOG_W_ONE[power]], rtol=1e-8)


@pytest.mark.parametrize("power", [1, 2])
def test_log_dispersion_by_definition(power):
    total = sum((pdist(X[name == E]) ** power).sum() / (name == E).sum() for name in range(5))
    assert log_dispersions(X, [E], power)[0] == pytest.approx(np.log(total / 2), rel=1e-12)


S = (0.02, 0.03, 0.03, 0.02, 0.04, 0.02, 0.03)


@pytest.mark.parametrize(
    "gap, answers",
    [
        ((0.10, 0.35, 0.52, 0.50, 0.53, 0.51, 0.60), (3, 3, 7, 3, 7)),
        ((0.50, 0.48, 0.52, 0.55, 0.70, 0.71, 0.69), (1, 1, 5, 1, 6)),
    ],
)
def test_gap_rules(gap, answers):
    names = ("firstSEmax", "Tibs2001SEmax", "globalSEmax", "firstmax", "globalmax")
    assert set(names) == set(RULES)
    assert tuple(choose_by_rule(gap, S, rule) + 1 for rule in names) == answers


def test_gap_rules_of_a_rising_curve_take_the_last():
    gap = np.arange(5.0)
    assert {choose_by_rule(gap, np.full(5, 0.1), rule) for rule in RULES} == {4}


def test_gap_rules_of_one_candidate():
    assert {choose_by_rule([0.3], [0.1], rule) for rule in RULES} == {0}


class Corners:
    """Replaces a random generator and returns both ends of each range in turn."""

    def uniform(self, low, high, shape):
        return np.where(np.arange(shape[0])[:, None] % 2, low, high)


def test_gap_reference_ranges_of_features():
    points = box_of(X + 3.0, principal=False).draw(10, Corners())
    np.testing.assert_allclose(points.min(axis=0), (X + 3.0).min(axis=0))
    np.testing.assert_allclose(points.max(axis=0), (X + 3.0).max(axis=0))


def test_gap_reference_ranges_of_principal_components():
    low = np.array([-2.77434470293, -2.68628448511, -1.00540101761, -0.48948347003])
    high = np.array([3.31069558393, 2.65407281854, 0.85742182487, 0.46969664718])
    points = box_of(X, principal=True).draw(10, Corners())
    axes = np.linalg.svd(X, full_matrices=False)[2]
    rotated = points @ axes.T
    for j in range(4):
        found = sorted((rotated[:, j].min(), rotated[:, j].max()))
        either = [(low[j], high[j]), (-high[j], -low[j])]  # the sign of a component is arbitrary
        assert any(np.allclose(found, ends, rtol=1e-8) for ends in either)


def test_gap_reference_of_fewer_points_than_features():
    points = np.random.default_rng(0).normal(size=(3, 7))
    box = box_of(points, principal=True)
    assert box.draw(3, np.random.default_rng(1)).shape == (3, 7)


@pytest.mark.parametrize(
    "labels, corrected, original",
    [
        (A, -669.2846264750, -448.1505948689),
        (B, -658.6558387786, -437.5218071725),
        (E, -668.4413023097, -443.3072707035),
        (ONE, -863.8964046033, -642.7623729971),
    ],
)
def test_x_means_score(labels, corrected, original):
    solution = solution_of(X, labels)
    for formula, value in (("corrected", corrected), ("original", original)):
        found = x_means_score(solution.clusters.sizes, solution.sse, 4, formula)
        assert found == pytest.approx(value, rel=1e-8)


def test_x_means_corrected_score_is_a_gaussian_likelihood():
    solution = solution_of(X, A)
    sigma = np.sqrt(solution.sse / (4 * (150 - 3)))
    means = solution.centers[A]
    likelihood = stats.norm(means, sigma).logpdf(X).sum() + 150 * np.log(1 / 3)
    expected = likelihood - 3 * (4 + 1) / 2 * np.log(150)
    assert x_means_score([50] * 3, solution.sse, 4) == pytest.approx(expected, rel=1e-12)


def test_lloyd_is_a_fixed_point():
    [solution] = lloyd(X, [X[[0, 60, 120]]])
    [again] = lloyd(X, [solution.centers])
    assert (again.clusters.codes == solution.clusters.codes).all()
    assert again.sse == solution.sse < solution_of(X, A).sse


@pytest.mark.parametrize(
    "values, statistic, p_value, corrected",
    [
        (X[:, 0], 0.889199486013, 0.0225105148798, 0.911923472878),
        (X[:50, 0], 0.407985975496, 0.335243895123, 0.436544993781),
        (X[:, 2], 7.678545519827, 8.08737495e-19, 7.874775016445),
    ],
)
def test_anderson_darling(values, statistic, p_value, corrected):
    found = anderson_darling(values)
    assert found == pytest.approx(statistic, rel=1e-8)
    assert anderson_darling_p_value(found, len(values)) == pytest.approx(p_value, rel=1e-8)
    assert corrected_statistic(found, len(values)) == pytest.approx(corrected, rel=1e-8)


def test_anderson_darling_p_value_falls_everywhere():
    grid = np.linspace(0.12, 40, 4000)
    p = np.array([anderson_darling_p_value(a, 10**6) for a in grid])
    assert (np.diff(p) <= 2e-3).all()  # the gap between two pieces
    assert p[-1] == 0.0


def test_hofmeyr_degrees_of_freedom():
    reference = solution_of(X, E)
    sigma = np.sqrt(reference.sse / X.size)
    assert sigma == pytest.approx(0.462398529546, rel=1e-8)
    means = reference.centers[E]
    expected = {"A": -0.981594135079, "B": 20.254164156293, "D": 8.691448237393}
    for name, labels in (("A", A), ("B", B), ("D", D)):
        found = degrees_of_freedom(X, labels, means, sigma)
        assert found == pytest.approx(expected[name], rel=1e-8)
        if name in "AB":
            bic = X.size * np.log(solution_of(X, labels).sse) + np.log(X.size) * found
            # The author's code rounds pi to 3.1416.
            reference_bic = {"A": 3062.8568742940, "B": 3178.4444654051}[name]
            assert bic == pytest.approx(reference_bic, rel=1e-7)


def test_hofmeyr_degrees_of_freedom_of_one_cluster():
    assert degrees_of_freedom(X, ONE, X, 1.0) == 4.0


def test_hofmeyr_smoother():
    y = np.array([4, 9.5, 13, 18, 20, 27, 25, 35, 33, 44, 41, 50])
    first = [4.0006641177, 9.2869106701, 13.1591484278, 17.6807796166]
    found = local_linear(y, 0.5)
    np.testing.assert_allclose(found[:4], first, rtol=1e-9)
    np.testing.assert_allclose(found[-2:], [42.2772228138, 49.9960152936], rtol=1e-9)
    wide = local_linear(y, 1.3)
    np.testing.assert_allclose(wide[[0, -1]], [4.2571045422, 48.8295096114], rtol=1e-9)


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_hofmeyr_of_one_candidate():
    selector = Hofmeyr(k_range=[1], random_state=0).fit(X)
    assert selector.n_clusters_ == 1
    assert np.isfinite(selector.scores_).all()
    assert selector.degrees_of_freedom_.tolist() == [X.shape[1]]


def test_hofmeyr_full_rule():
    y = np.array([4.0, 30, 12, 28, 16, 40, 22, 45, 30, 60, 35, 70])
    curve, width = smooth(y, 7)
    assert width == 0.8
    np.testing.assert_allclose(curve[[1, -1]], [19.4886679179, 68.1040354118], rtol=1e-9)
    assert curve[0] == 7  # one cluster has one degree of freedom for each feature
    assert local_linear(y, 0.8)[0] == pytest.approx(5.3988427654, rel=1e-9)


def test_hennig_jaccard():
    rows = np.arange(0, 150, 2)
    found = cluster_jaccard(A, rows, B[rows])
    np.testing.assert_allclose(found, [1, 0.8076923077, 0.8275862069], rtol=1e-9)


def test_hennig_jaccard_of_a_cluster_that_was_not_drawn():
    found = cluster_jaccard(np.array([0, 0, 1]), np.array([0, 1]), np.array([0, 0]))
    assert found.tolist() == [1.0, 0.0]


def test_lange_matching_distance():
    assert matching_distance(A, B, 3) == pytest.approx(0.0466666667, rel=1e-8)


def test_ben_hur_rule():
    # Ward on iris, K = 2 to 6: the share of similarities above 0.9.
    assert before_largest_drop(np.array([1.00, 0.38, 0.25, 0.11, 0.03])) == 0
    assert before_largest_drop(np.array([1.0, 1.0, 0.4, 0.4 - 0.6, -0.2])) == 1  # a tie
    assert before_largest_drop(np.array([0.1, 0.2, 0.3])) in (0, 1)  # nothing drops


@pytest.mark.parametrize(
    "a, b, value", [(0, 1, 4.199435494950), (0, 2, 4.591474830841), (1, 2, 4.309141083007)]
)
def test_special_k_bound_before_the_cut(a, b, value):
    assert _raw_log_bound(np.abs(X), a == A, b == A) == pytest.approx(value, rel=1e-8)
    assert log_bound(np.abs(X), a == A, b == A) == 0.0


def test_special_k_bound():
    D = np.zeros((200, 20))
    D[:100, :10] = 1
    D[100:, 10:] = 1
    first = np.arange(200) < 100
    assert log_bound(D, first, ~first) == pytest.approx(-1.908300280511, rel=1e-8)


def test_special_k_radius_graph():
    points = X / 3
    distances = cdist(points, points)
    enough = [((distances < r / 100).sum(axis=1) >= 10).mean() >= 0.99 for r in range(10, 101)]
    radius = (10 + enough.index(True)) / 100
    expected = (distances < radius) & ~np.eye(150, dtype=bool)
    assert (radius_graph(points, 10).toarray() == expected).all()


def test_special_k_graph_search_can_fail():
    assert radius_graph(X * 100, 10) is None
    assert radius_graph(X[:5], 10) is None


def test_special_k_neighbor_graph():
    matrix = neighbor_graph(X, 10).toarray()
    np.testing.assert_allclose(matrix, matrix.T)
    assert np.abs(np.linalg.eigvalsh(matrix)).max() == pytest.approx(1.0)


def test_special_k_embedding_solvers_agree():
    points = np.random.default_rng(0).normal(size=(450, 2))
    graph = neighbor_graph(points, 10)
    sparse = embed(graph, np.random.default_rng(0))  # more than twice as many points as pairs
    values, vectors = np.linalg.eigh(graph.toarray())
    largest = np.argsort(-np.abs(values))[:200]
    dense = np.abs(vectors[:, largest]) * np.sqrt(np.abs(values[largest]))
    np.testing.assert_allclose(
        np.sort(np.linalg.norm(sparse, axis=0)), np.sort(np.linalg.norm(dense, axis=0)), rtol=1e-6
    )
