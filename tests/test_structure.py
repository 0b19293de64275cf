"""The structure test: its p-value, its power, and the answers that rest on it."""

from __future__ import annotations

from functools import partial

import diptest
import numpy as np
import pytest
from scipy.stats import binomtest, t
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import load_breast_cancer, load_digits, load_iris, load_wine, make_blobs
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from stablek import Stadion, structure_test
from stablek.datasets import make_golf_ball
from stablek.reference_sets import FOR_POINTS, REFERENCE_SETS, draw_sets
from stablek.structure import CLEARLY_NOTHING, STAGES, coarse_values
from stablek.unimodal import nearest_unimodal

CLEAR = make_blobs(120, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]
NOISE = np.random.default_rng(0).normal(size=(120, 2))
FAST = {"k_range": [2, 3, 4], "n_reference_sets": 4, "random_state": 0}


def gain(paths, others, epsilons):
    """Plain loops."""
    best = -np.inf
    for k in range(len(paths)):
        gaps = [
            max(paths[k][e] - np.mean([other[k][e] for other in others]), 0.0)
            for e in range(len(epsilons))
            if epsilons[e] > 0
        ]
        best = max(best, sum(gaps) / len(gaps))
    return best


def new_observation(value, of_sets):
    n = len(of_sets)
    spread = np.std(of_sets, ddof=1) * np.sqrt(1 + 1 / n)
    return t(n - 1).sf((value - np.mean(of_sets)) / spread)


@pytest.mark.parametrize("X", [CLEAR, NOISE], ids=["clear", "noise"])
def test_the_pvalue_is_that_of_a_new_observation(X):
    found = structure_test(X, **FAST)
    pvalues = {}
    for kind, sets in found.reference_paths.items():
        own = gain(found.stadion_paths, sets, found.epsilons)
        gains = [
            gain(sets[r], np.delete(sets, r, axis=0), found.epsilons) for r in range(len(sets))
        ]
        np.testing.assert_allclose(found.reference_statistics[kind], gains)
        assert found.statistics[kind] == pytest.approx(own)
        valleys = found.reference_valleys[kind]
        by_valley = new_observation(found.valley, valleys)
        assert found.valley_pvalues[kind] == pytest.approx(by_valley)
        by_statistic = new_observation(own, gains)
        assert found.statistic_pvalues[kind] == pytest.approx(by_statistic)
        pvalues[kind] = min(1.0, 2 * min(by_statistic, by_valley))
    assert found.pvalues == pytest.approx(pvalues)
    assert found.pvalue == max(found.pvalues.values()) == found.pvalues[found.kind]
    mean = found.reference_paths[found.kind].mean(axis=0)
    np.testing.assert_allclose(found.excess, found.stadion_paths - mean)
    assert found.excess.shape == (len(found.k_values), len(found.epsilons))


def test_the_valley_lies_between_two_centers(rng):
    long = np.array([5.0, 1.0])  # one best partition
    for X in (CLEAR[CLEAR[:, 1] < 4.5], long * NOISE, long * rng.exponential(size=(90, 2))):
        centers = KMeans(2, n_init=10, random_state=0).fit(X).cluster_centers_
        along = X @ (centers[1] - centers[0])
        found = structure_test(X, KMeans(n_init=10), k_range=[2], random_state=0)
        assert found.valley == pytest.approx(
            nearest_unimodal(along).distance * np.sqrt(len(X)), rel=1e-6
        )
        # Hartigan's dip is half the distance, but allows no point mass at the mode.
        assert found.valley <= 2 * diptest.dipstat(along) * np.sqrt(len(X)) + 1e-9


def test_the_paths_are_those_of_stadion():
    """The same clusterer, levels and draws in a plain fit give the same paths."""
    found = structure_test(CLEAR, KMeans(n_init=3), **FAST)
    plain = Stadion(
        KMeans(n_init=3),
        k_range=found.k_values,
        omega=range(2, 6),
        epsilons=found.epsilons,
        n_perturbations=4,
        one_cluster="never",
        random_state=0,
    ).fit(CLEAR)
    np.testing.assert_array_equal(found.stadion_paths, plain.stadion_paths_)


@pytest.mark.parametrize("kind", FOR_POINTS)
def test_pvalues_are_uniform_or_conservative_under_the_kind_itself(kind):
    shape = np.random.default_rng(3).gamma(2.0, size=(50, 2))
    sets = draw_sets(REFERENCE_SETS[kind], kind, shape, range(60), entropy=5)
    options = {"k_range": [2, 3, 5], "n_reference_sets": 4, "reference_sets": kind}
    pvalues = [structure_test(X, random_state=i, **options).pvalue for i, X in enumerate(sets)]
    for level in (0.05, 0.1, 0.25):
        n_below = int(np.sum(np.array(pvalues) <= level))
        assert binomtest(n_below, len(sets), level, alternative="greater").pvalue > 0.002


@pytest.mark.parametrize("n_jobs", [2, -1])
def test_the_same_bits_for_any_number_of_workers(n_jobs):
    one, many = (structure_test(NOISE, n_jobs=n, **FAST) for n in (1, n_jobs))
    assert one.pvalues == many.pvalues
    np.testing.assert_array_equal(one.excess, many.excess)


def test_the_order_of_rows_matters_no_more_than_the_seed(rng):
    X = rng.normal(size=(150, 2))
    X[:40] += [3.0, 0.0]
    options = {"k_range": [2, 3, 5], "n_reference_sets": 4}
    seeds = [structure_test(X, random_state=i, **options).statistics["box"] for i in range(8)]
    orders = [
        structure_test(X[rng.permutation(len(X))], random_state=0, **options).statistics["box"]
        for _ in range(8)
    ]
    spread = np.std(seeds, ddof=1) * np.sqrt(1 / 8 + 1 / 8)
    assert abs(np.mean(orders) - np.mean(seeds)) < 4 * spread


def n_sets(found):
    return {kind: len(values) for kind, values in found.reference_statistics.items()}


def test_a_clear_answer_stops_early():
    options = {**FAST, "n_reference_sets": 12}
    first, second = (stage[0] for stage in STAGES)
    for X, alpha in ((NOISE, 0.05), (CLEAR, 0.5)):
        found = structure_test(X, **options, alpha=alpha)
        assert set(n_sets(found).values()) == {first}
    forever = structure_test(CLEAR, **options, alpha=1e-9)
    assert set(n_sets(forever).values()) == {12}
    once_more = structure_test(CLEAR, **options, alpha=found.pvalue * 25)
    assert once_more.pvalue < 0.2 * once_more.alpha
    assert max(n_sets(once_more).values()) == second


@pytest.mark.parametrize("n", [3, 4, 7, 10, 30])
def test_the_stages_spend_no_more_than_alpha(n):
    """p-values of the last stage are divided by the share that the early ones leave."""
    options = {**FAST, "n_reference_sets": n, "alpha": 1e-9}  # no early claim
    found = structure_test(CLEAR, **options)
    left = 1.0 - sum(share for sets, share in STAGES if sets < n)
    assert left > 0.5
    for kind, pvalue in found.pvalues.items():
        assert n_sets(found)[kind] == n
        alone = min(found.statistic_pvalues[kind], found.valley_pvalues[kind])
        assert pvalue == pytest.approx(min(1.0, 2.0 * alone / left))
    assert found.pvalue == max(found.pvalues.values())


def test_kinds_that_clearly_reject_get_no_more_sets(rng):
    """Skewed data: the box does not explain them, unimodal features do."""
    X = rng.exponential(size=(1000, 5))
    found = structure_test(X, n_reference_sets=12, alpha=0.5, random_state=0)
    (few, share), (more, _) = STAGES
    assert n_sets(found)["box"] == few
    assert found.pvalues["box"] < share * found.alpha
    assert found.pvalue > CLEARLY_NOTHING
    assert n_sets(found)[found.kind] == more


def test_a_single_kind_that_explains_the_data_needs_more_than_the_first_sets():
    """Breast cancer: with four sets of the copula, some seeds see nothing."""
    X = StandardScaler().fit_transform(load_breast_cancer().data)
    for seed in (2, 9):
        found = structure_test(X, k_range=range(2, 21), random_state=seed)
        assert found.pvalue < 0.05
        assert n_sets(found)["copula"] == 50


def test_the_sets_that_are_measured_first_do_not_depend_on_how_many_follow():
    few, many = (
        structure_test(CLEAR, **{**FAST, "n_reference_sets": n, "alpha": 1e-9}) for n in (4, 6)
    )
    for kind, paths in few.reference_paths.items():
        np.testing.assert_array_equal(paths, many.reference_paths[kind][:4])


def test_many_rows_are_sampled():
    X = make_blobs(5000, centers=[[0, 0], [9, 0]], random_state=0)[0]
    assert structure_test(X, **FAST).n_rows == 2000
    found = structure_test(X, **FAST, max_test_rows=200)
    assert found.n_rows == 200
    assert found.rejected


@pytest.mark.parametrize(
    ("k_values", "n_rows", "expected"),
    [
        (range(1, 11), 1000, (2, 3, 4, 5, 6, 8, 10)),
        ([1], 100, (2,)),
        ([4, 5], 100, (2, 4, 5)),
        (range(2, 61), 30, (2, 3, 4, 5, 6, 8, 10)),
        (range(2, 61), 5, (2,)),
    ],
)
def test_few_candidates_are_tested(k_values, n_rows, expected):
    assert coarse_values(k_values, n_rows) == expected


@pytest.mark.parametrize("clusterer", [KMeans(n_init=10), GaussianMixture(n_init=5)])
def test_the_clusterer_is_used_if_it_extends(clusterer):
    fitted = Stadion(clusterer, k_range=[1, 2, 3], n_perturbations=2, random_state=0).fit(CLEAR)
    own = structure_test(CLEAR, clusterer, k_range=[2, 3], random_state=0)
    assert fitted.structure_pvalue_ == own.pvalue


@pytest.mark.parametrize(
    "options",
    [
        {"clusterer": AgglomerativeClustering()},
        {"clusterer": GaussianMixture(), "relabel": "refit"},
        {"perturbation": "bootstrap"},
    ],
)
def test_kmeans_is_used_if_not(options):
    fitted = Stadion(**options, k_range=[1, 2, 3], n_perturbations=2, random_state=0).fit(CLEAR)
    own = structure_test(CLEAR, k_range=[2, 3], random_state=0)
    assert fitted.structure_pvalue_ == own.pvalue


# Four rows for each parameter of two components: with 6 features, a covariance has 21 of them.
@pytest.mark.parametrize(
    ("covariance_type", "least"),
    [("full", 4 * 55), ("tied", 4 * 34), ("diag", 4 * 25), ("spherical", 4 * 15)],
)
def test_mixtures_with_few_rows_are_tested_by_kmeans(covariance_type, least):
    mixture = GaussianMixture(covariance_type=covariance_type)
    X = np.random.default_rng(0).normal(size=(least, 6))
    options = {"n_reference_sets": 4, "random_state": 0}
    for rows, own in ((X, mixture), (X[1:], None)):
        fitted = Stadion(mixture, k_range=[1, 2, 3], n_perturbations=1, **options).fit(rows)
        expected = structure_test(rows, own, k_range=[2, 3], **options)
        np.testing.assert_array_equal(fitted.structure_test_.stadion_paths, expected.stadion_paths)
    # Rows beyond max_test_rows do not count.
    sampled = Stadion(mixture, k_range=[1, 2], max_test_rows=least - 1, **options).fit(X)
    by_kmeans = structure_test(X, k_range=[2], max_test_rows=least - 1, **options)
    assert sampled.structure_pvalue_ == by_kmeans.pvalue


def test_another_clusterer_can_be_named():
    ward = AgglomerativeClustering()
    options = {"k_range": [1, 2, 3], "n_perturbations": 2, "random_state": 0}
    fitted = Stadion(test_clusterer=ward, **options).fit(CLEAR)
    assert (
        fitted.structure_pvalue_ == structure_test(CLEAR, ward, **FAST | options_of(fitted)).pvalue
    )


def options_of(fitted):
    return {"k_range": [2, 3], "n_reference_sets": fitted.n_reference_sets}


@pytest.mark.parametrize(
    "make",
    [
        lambda: np.random.default_rng(0).uniform(size=(1000, 2)),
        lambda: np.random.default_rng(0).uniform(size=(1000, 10)),
        lambda: np.random.default_rng(0).normal(size=(1000, 2)),
        lambda: np.random.default_rng(0).normal(size=(1000, 10)),
        partial(make_golf_ball, random_state=0),
    ],
    ids=["uniform-2", "uniform-10", "gaussian-2", "gaussian-10", "golf-ball"],
)
def test_the_sets_without_clusters_of_the_paper(make):
    X = make()
    fitted = Stadion(n_perturbations=2, random_state=0).fit(X[0] if isinstance(X, tuple) else X)
    assert fitted.n_clusters_ == 1
    assert fitted.structure_pvalue_ > 0.05


@pytest.mark.parametrize("load", [load_digits, load_wine, load_breast_cancer, load_iris])
def test_data_that_have_clusters(load):
    X = load().data
    if load in (load_wine, load_breast_cancer):  # features of different units
        X = StandardScaler().fit_transform(X)
    fitted = Stadion(n_perturbations=2, random_state=0).fit(X)
    assert fitted.n_clusters_ > 1
    assert fitted.structure_pvalue_ < 0.05


@pytest.mark.parametrize("n_features", [1, 2, 30])
def test_two_gaussians_four_deviations_apart(n_features, rng):
    X = rng.normal(size=(200, n_features))
    X[:100] += 4.0 / np.sqrt(n_features)
    assert structure_test(X, random_state=0).rejected


class TestOneCluster:
    """What `one_cluster` means."""

    options = {"k_range": [1, 2, 3, 4], "n_perturbations": 3, "random_state": 0}  # noqa: RUF012

    def test_without_structure(self):
        fitted = Stadion(**self.options).fit(NOISE)
        assert fitted.n_clusters_ == 1
        assert fitted.structure_pvalue_ == fitted.structure_test_.pvalue > 0.05
        assert np.isnan(fitted.scores_).tolist() == [True, False, False, False]
        assert fitted.selection_frequency_.tolist() == [1, 0, 0, 0]
        assert (fitted.labels_ == 0).all()
        assert fitted.counted_levels_.tolist() == [False] + [True] * 9
        best = fitted.reselect(one_cluster="never")
        assert best.n_clusters == 2 + np.argmax(fitted.scores_[1:])

    def test_another_level(self):
        fitted = Stadion(**self.options).fit(CLEAR)
        assert fitted.n_clusters_ == fitted.reselect(alpha=0.5).n_clusters == 3
        assert fitted.reselect(alpha=fitted.structure_pvalue_ / 2).n_clusters == 1

    def test_never(self):
        fitted = Stadion(one_cluster="never", **self.options).fit(NOISE)
        assert fitted.n_clusters_ > 1
        assert np.isnan(fitted.structure_pvalue_)
        assert fitted.structure_test_ is None
        np.testing.assert_allclose(fitted.scores_[1:], fitted.stadion_paths_[1:, 1:].max(axis=1))
        with pytest.raises(ValueError, match="one_cluster='test'"):
            fitted.reselect(one_cluster="test")

    def test_the_grid(self):
        fitted = Stadion(one_cluster="never", **self.options).fit(NOISE)
        expected = [0.0, *np.geomspace(0.05, 1.5, 9)]
        np.testing.assert_allclose(fitted.epsilons_, expected)
        paper = Stadion(one_cluster="crossing", **self.options).fit(NOISE)
        np.testing.assert_allclose(paper.epsilons_, np.linspace(0, np.sqrt(2), 10))

    def test_one_is_no_candidate(self):
        options = {**self.options, "k_range": [2, 3]}
        with pytest.warns(UserWarning, match="found no clusters .* not in k_range"):
            fitted = Stadion(**options).fit(NOISE)
        assert fitted.n_clusters_ in (2, 3)
        assert fitted.structure_pvalue_ > 0.05

    def test_one_is_the_only_candidate(self):
        fitted = Stadion(**{**self.options, "k_range": [1]}).fit(CLEAR)
        assert fitted.n_clusters_ == 1
        assert fitted.structure_test_ is None

    def test_values_that_are_no_numbers_of_clusters(self):
        from sklearn.cluster import DBSCAN

        values = {"k_range": [0.5, 1.0, 100.0], "param_name": "eps", "omega": [0.5]}
        fitted = Stadion(DBSCAN(), **{**self.options, **values}).fit(CLEAR)
        assert fitted.n_clusters_ == 3
        assert np.isnan(fitted.scores_[2])  # one cluster
        nothing = Stadion(DBSCAN(), **{**self.options, **values}).fit(NOISE)
        assert nothing.n_clusters_ == 1


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"alpha": 0.0}, "alpha must be a number between 0 and 1"),
        ({"alpha": 1}, "alpha"),
        ({"alpha": "high"}, "alpha"),
        ({"alpha": True}, "alpha"),
        ({"n_reference_sets": 2}, "n_reference_sets must be an integer of at least 3, got 2"),
        ({"reference_sets": "sphere"}, "reference_sets must be 'auto', names among"),
        ({"reference_sets": lambda X, rng: X[:3]}, "must return an array of shape"),
        ({"reference_sets": lambda X, rng: X * np.nan}, "must return finite numbers"),
        ({"max_test_rows": 5}, "max_test_rows"),
    ],
)
def test_bad_input(options, match):
    with pytest.raises(ValueError, match=match):
        structure_test(NOISE, **options)
    with pytest.raises(ValueError, match=match):
        Stadion(k_range=[1, 2], n_perturbations=1, **options).fit(NOISE)


def test_too_few_rows():
    with pytest.raises(ValueError, match=r"8 rows.*at least 10.*one_cluster='never'"):
        Stadion(k_range=[1, 2], n_perturbations=1).fit(NOISE[:8])


def test_an_unknown_rule():
    with pytest.raises(ValueError, match="one_cluster must be one of"):
        Stadion(one_cluster="maybe").fit(NOISE)


def test_few_rows_and_more_features_than_rows(rng):
    for shape in ((10, 1), (12, 40), (30, 3)):
        found = structure_test(rng.normal(size=shape), random_state=0)
        assert 0.0 < found.pvalue <= 1.0


def test_integers_are_no_clusters(rng):
    X = np.rint(rng.normal(scale=2.0, size=(300, 2)))
    assert structure_test(X, random_state=0).pvalue > 0.05


def test_more_draws_and_levels():
    options = {**FAST, "n_reference_sets": 3}
    found = structure_test(CLEAR, **options, n_perturbations=9, n_epsilons=5)
    assert len(found.epsilons) == 5
    assert found.reference_paths["box"].shape[2] == 5
    # The first draws are those of a test with fewer, so more of them change the paths but little.
    few = structure_test(CLEAR, **options, n_perturbations=2, n_epsilons=5)
    difference = np.abs(found.stadion_paths - few.stadion_paths)
    assert 0.0 < difference.mean() < 0.1
    for name in ("n_perturbations", "n_epsilons"):
        with pytest.raises(ValueError, match=f"{name} must be an integer of at least"):
            structure_test(CLEAR, **options, **{name: 0})
