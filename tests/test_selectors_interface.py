"""The common behavior of all selectors, tested over the whole registry."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.cluster import DBSCAN, AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from selector_cases import make
from stablek.datasets import make_uniform
from stablek.selectors import SELECTORS, CannotJudgeError, select_k
from stablek.selectors.criterion import CriterionSelector, best_value

NAMES = [
    "stadion",
    "wemmert_gancarski",
    "silhouette",
    "davies_bouldin",
    "ray_turi",
    "calinski_harabasz",
    "dunn",
    "xie_beni",
    "elbow",
    "gap_a",
    "gap_b",
    "bic",
    "x_means",
    "g_means",
    "hennig",
    "lange",
    "ben_hur",
    "hofmeyr",
    "special_k",
]
ONE = [name for name in NAMES if SELECTORS[name].supports_one_cluster]
RANDOM = ["gap_a", "gap_b", "x_means", "hennig", "lange", "ben_hur"]
ANY_CLUSTERER = [name for name in NAMES if getattr(SELECTORS[name], "clusterers", None) is None]

BLOBS, TRUTH = make_blobs(200, centers=[[0, 0], [9, 0], [4.5, 7.8]], random_state=0)
BLOBS = StandardScaler().fit_transform(BLOBS)
SMALL = np.random.default_rng(0).normal(size=(12, 3))

every = pytest.mark.parametrize("name", NAMES)


def test_registry():
    assert list(SELECTORS) == NAMES
    assert {"stadion", "gap_a", "gap_b", "bic", "g_means", "hofmeyr", "special_k"} == set(ONE)
    for name in NAMES[1:]:
        assert SELECTORS[name].method == name


def quick_checks():
    # Small settings, because the checks fit each selector about forty times.
    extra = {
        "stadion": {"omega": [2], "n_perturbations": 1, "epsilons": [0.0, 0.5]},
        "elbow": {"k_range": range(1, 8)},  # the ends cannot be the answer
        "gap_a": {"n_references": 2},
        "gap_b": {"n_references": 2},
        "hennig": {"n_bootstraps": 2},
        "lange": {"n_splits": 2},
        "ben_hur": {"n_pairs": 2},
        "x_means": {"n_starts": 1},
        # On the default graph its bound answers 1 for only fifty points.
        "special_k": {"graph": "neighbors"},
    }
    names = [name for name in NAMES if name != "stadion"]  # tested in test_sklearn_checks
    clusterers = {"bic": GaussianMixture()}
    return [
        SELECTORS[name](
            clusterers.get(name, KMeans(n_init=1)),
            **{"k_range": range(1, 4), **extra.get(name, {})},
        )
        for name in names
    ]


@parametrize_with_checks(quick_checks())
def test_sklearn_checks(estimator, check):
    check(estimator)


@every
def test_finds_separated_blobs(name):
    selector = make(name, k_range=range(1, 8), random_state=0).fit(BLOBS)
    assert selector.n_clusters_ == 3
    assert adjusted_rand_score(TRUTH, selector.labels_) == 1.0
    assert selector.k_values_.tolist() == list(range(1, 8))
    assert selector.scores_.shape == (7,)
    assert (
        selector.best_estimator_.get_params()["n_components" if name == "bic" else "n_clusters"]
        == 3
    )
    assert (selector.predict(BLOBS) == selector.labels_).all()
    if not selector.supports_one_cluster:
        assert np.isnan(selector.scores_[0])


@pytest.mark.parametrize("name", [name for name in ONE if name != "stadion"])  # see test_paper
def test_uniform_noise_is_one_cluster(name):
    # With more points, BIC and G-means would see that a square is not one Gaussian.
    X = StandardScaler().fit_transform(make_uniform(100, random_state=0)[0])
    extra = {"graph": "neighbors"} if name == "special_k" else {}
    selector = make(name, k_range=range(1, 6), random_state=0, **extra).fit(X)
    assert selector.n_clusters_ == 1
    assert (selector.labels_ == 0).all()
    assert (selector.predict(X) == 0).all()


@pytest.mark.parametrize("name", RANDOM)
def test_fixed_seed_fixed_bits_for_any_n_jobs(name):
    X = np.random.default_rng(1).normal(size=(60, 2))
    settings = {"k_range": range(2, 5), "clusterer": KMeans(n_init=1)}
    one, two, other = (
        make(name, random_state=seed, n_jobs=jobs, **settings).fit(X)
        for seed, jobs in ((3, 1), (3, 2), (4, 1))
    )
    np.testing.assert_array_equal(one.scores_, two.scores_)
    np.testing.assert_array_equal(one.labels_, two.labels_)
    if name != "x_means":
        assert not np.array_equal(one.scores_, other.scores_, equal_nan=True)


@pytest.mark.parametrize("name", ["gap_b", "hennig", "lange", "ben_hur"])
def test_fixed_bits_in_processes(name):
    clusterer = make_pipeline(StandardScaler(), KMeans(n_init=1))  # has no fast engine
    X = np.random.default_rng(1).normal(size=(40, 2))
    one, two = (
        make(name, clusterer=clusterer, k_range=[2, 3], random_state=3, n_jobs=jobs).fit(X)
        for jobs in (1, 2)
    )
    np.testing.assert_array_equal(one.scores_, two.scores_)


def test_hofmeyr_leaves_out_what_has_no_reference_model():
    found = make("hofmeyr", k_range=range(1, 13), random_state=0).fit(SMALL)
    assert np.isfinite(found.scores_[:10]).all()
    assert np.isnan(found.scores_[10:]).all()
    fewer = make("hofmeyr", k_range=range(1, 11), random_state=0).fit(SMALL)
    np.testing.assert_array_equal(found.scores_[:10], fewer.scores_)


@every
def test_seed_of_the_process_plays_no_part(name):
    X = np.random.default_rng(1).normal(size=(40, 2))
    runs = []
    for seed in (0, 1):
        np.random.seed(seed)  # noqa: NPY002
        state = np.random.get_state()[1].copy()  # noqa: NPY002
        runs.append(make(name, random_state=0, k_range=range(2, 5)).fit(X).scores_)
        assert (np.random.get_state()[1] == state).all()  # noqa: NPY002
    np.testing.assert_array_equal(*runs)


@pytest.mark.parametrize("name", ANY_CLUSTERER)
@pytest.mark.parametrize(
    "clusterer",
    [
        AgglomerativeClustering(),
        GaussianMixture(),
        make_pipeline(StandardScaler(), KMeans(n_init=2)),
    ],
    ids=["ward", "mixture", "pipeline"],
)
def test_any_clusterer(name, clusterer):
    selector = make(name, clusterer=clusterer, k_range=range(1, 7), random_state=0).fit(BLOBS)
    assert selector.n_clusters_ == 3


@pytest.mark.parametrize("name", sorted(set(NAMES) - set(ANY_CLUSTERER)))
def test_clusterer_for_which_the_method_is_not_defined(name):
    with pytest.raises(ValueError, match=f"method '{name}' is defined for .* only"):
        make(name, clusterer=AgglomerativeClustering()).fit(BLOBS)


def test_index_of_another_parameter_than_k():
    found = make(
        "silhouette", clusterer=DBSCAN(), param_name="eps", k_range=[1e-6, 0.3, 50.0]
    ).fit(BLOBS)
    assert found.best_value_ == 0.3
    assert found.n_clusters_ == 3
    assert np.isnan(found.scores_[[0, 2]]).all()  # only noise, only one cluster


@every
def test_clusterer_is_not_changed(name):
    clusterer = GaussianMixture() if name == "bic" else KMeans(n_init=1)
    before = clone(clusterer).get_params()
    make(name, clusterer=clusterer, k_range=range(1, 4), random_state=0).fit(SMALL)
    assert clusterer.get_params() == before
    assert not hasattr(clusterer, "n_iter_")


def with_value(value):
    X = SMALL.copy()
    X[4, 1] = value
    return X


BAD_DATA = [
    (with_value(np.nan), ValueError, "1 NaN value.* in column 1"),
    (with_value(np.inf), ValueError, "1 infinite value.* in column 1"),
    (SMALL[:, 0], ValueError, "Expected 2D array, got 1D"),
    (SMALL[:0], ValueError, "0 sample"),
    (SMALL[:1], ValueError, "1 sample"),
    (SMALL[:, :0], ValueError, "0 feature"),
    (sparse.csr_array(SMALL), TypeError, "[Ss]parse"),
    (np.array([["a", "b"], ["c", "d"]]), ValueError, "could not convert|strings|numeric"),
    (np.repeat(SMALL[:1], 12, axis=0), ValueError, "X has only 1 distinct row"),
]
BAD_PARAMETERS = [
    ({"k_range": []}, ValueError, "k_range must hold at least one value"),
    ({"k_range": [3, 2]}, ValueError, "k_range must be in ascending order"),
    ({"k_range": [2, 2]}, ValueError, "k_range must not repeat"),
    ({"k_range": [0, 1, 2]}, ValueError, "k_range must hold integers of at least 1, got 0"),
    ({"k_range": [2.5]}, ValueError, "k_range must hold integers of at least 1, got 2.5"),
    (
        {"k_range": 5},
        ValueError,
        "k_range must be a sequence of values, got 5; pass one such as range",
    ),
    ({"k_range": range(2, 14)}, ValueError, "K = 13 clusters but X has n_samples = 12"),
    ({"random_state": -1}, ValueError, "random_state must be"),
    ({"random_state": "seed"}, ValueError, "random_state must be"),
    ({"clusterer": KMeans}, TypeError, r"got the class KMeans; pass KMeans\(\)"),
    ({"clusterer": "kmeans"}, TypeError, "scikit-learn style estimator"),
    ({"clusterer": DBSCAN()}, ValueError, "no parameter n_clusters or n_components"),
]


@every
@pytest.mark.parametrize("data, error, message", BAD_DATA)
@pytest.mark.filterwarnings("ignore:All features")
def test_bad_data(name, data, error, message):
    with pytest.raises(error, match=message):
        make(name, k_range=range(1, 4), random_state=0).fit(data)


@every
@pytest.mark.parametrize("change, error, message", BAD_PARAMETERS, ids=str)
def test_bad_parameters(name, change, error, message):
    with pytest.raises(error, match=message):
        make(name, **{"k_range": range(1, 4), **change}).fit(SMALL)


@pytest.mark.parametrize(
    "name, change, message",
    [
        ("silhouette", {"average": "weighted"}, "average must be one of"),
        ("dunn", {"sample_size": 1}, "sample_size must be an integer of at least 2, got 1"),
        ("gap_a", {"power": 3}, "power must be 1 or 2, got 3"),
        ("gap_b", {"rule": "first"}, "rule must be one of .*got 'first'"),
        ("gap_b", {"n_references": 1}, "n_references must be an integer of at least 2"),
        ("x_means", {"formula": "other"}, "formula must be one of"),
        ("x_means", {"k_min": 0}, "k_min must be an integer of at least 1"),
        ("x_means", {"n_starts": 0}, "n_starts must be"),
        ("x_means", {"check_global": 1}, "check_global must be True or False"),
        ("g_means", {"alpha": 0}, "alpha must be a number between 0 and 1, got 0"),
        ("hennig", {"rule": "max"}, "rule must be one of"),
        ("hennig", {"n_bootstraps": 0}, "n_bootstraps must be"),
        ("hennig", {"threshold": 2}, "threshold must be a number between 0 and 1"),
        ("lange", {"n_splits": 0}, "n_splits must be"),
        ("lange", {"n_random_labels": 1}, "n_random_labels must be"),
        ("ben_hur", {"n_pairs": 0}, "n_pairs must be"),
        ("ben_hur", {"fraction": 1.0}, "fraction must be a number between 0 and 1"),
        ("ben_hur", {"threshold": "high"}, "threshold must be a number between 0 and 1"),
        ("ben_hur", {"similarity": "arj"}, "similarity must be one of"),
        ("ben_hur", {"judge_one_cluster": "yes"}, "judge_one_cluster must be True or False"),
        ("hofmeyr", {"smoothing": "yes"}, "smoothing must be True or False"),
        ("hofmeyr", {"n_references": 0}, "n_references must be"),
        ("special_k", {"graph": "full"}, "graph must be one of"),
        ("special_k", {"alpha": 1}, "alpha must be a number between 0 and 1, got 1"),
        ("special_k", {"n_neighbors": 0}, "n_neighbors must be"),
    ],
)
def test_bad_options(name, change, message):
    with pytest.raises(ValueError, match=message):
        make(name, **{"k_range": range(1, 4), **change}).fit(SMALL)


@pytest.mark.parametrize(
    "name, k_range",
    [
        *((name, [1]) for name in NAMES if name not in ONE),
        *((name, [12]) for name in ("silhouette", "dunn", "lange", "ben_hur", "hofmeyr")),
        ("lange", [7, 8]),
        ("ben_hur", [2]),
        *((name, [1, 3]) for name in ("x_means", "g_means", "hofmeyr", "special_k")),
    ],
)
def test_range_that_the_method_cannot_judge(name, k_range):
    with pytest.raises(CannotJudgeError, match=f"method '{name}'.*k_range") as raised:
        make(name, k_range=k_range, random_state=0).fit(SMALL)
    assert str(k_range[-1]) in str(raised.value)


def test_select_k():
    found = select_k(BLOBS, method="dunn", k_range=range(2, 6), random_state=0)
    assert found.n_clusters_ == 3
    with pytest.raises(ValueError, match=r"method must be one of .*'stadion'.*got 'gaps'"):
        select_k(BLOBS, method="gaps")
    with pytest.raises(TypeError, match=r"method 'dunn' has no option \['omega'\]"):
        select_k(BLOBS, method="dunn", omega=[2])


def test_abstention_when_no_graph_is_found():
    selector = make("special_k", k_range=range(1, 4), random_state=0).fit(SMALL * 100)
    assert selector.n_clusters_ is None
    assert "scale the features" in selector.abstention_
    assert (selector.labels_ == -1).all()
    assert selector.best_estimator_ is None
    assert np.isnan(selector.scores_).all()
    assert not hasattr(selector, "predict")


def test_abstention_of_hennigs_threshold():
    X = np.random.default_rng(0).normal(size=(100, 2))
    stable = {"rule": "stable", "threshold": 0.99, "random_state": 0}
    assert make("hennig", k_range=range(4, 6), **stable).fit(X).n_clusters_ is None
    assert make("hennig", k_range=[1, 4, 5], **stable).fit(X).n_clusters_ == 1
    blobs = make("hennig", k_range=range(1, 7), rule="stable", random_state=0).fit(BLOBS)
    assert blobs.n_clusters_ == 3


def test_verdict():
    assert best_value([2, 3, 4], np.array([np.nan, 1.0, 1.0 + 1e-14])).value == 3
    assert best_value([2, 3], np.array([np.inf, np.inf])).value == 2
    assert best_value([2, 3], np.array([-np.inf, 1.0])).value == 3
    nothing = best_value([2, 3], np.array([np.nan, -np.inf]))
    assert nothing.value is None
    assert nothing.abstention


def test_index_selectors_have_the_index_in_its_own_direction():
    for name in NAMES[1:8]:
        selector = make(name, k_range=range(2, 6), random_state=0).fit(BLOBS)
        sign = -1 if name in ("davies_bouldin", "ray_turi", "xie_beni") else 1
        np.testing.assert_array_equal(selector.scores_, sign * selector.index_values_)


def test_sampled_index():
    settings = {"k_range": range(1, 6), "random_state": 0}
    exact = make("silhouette", **settings).fit(BLOBS)
    sampled = make("silhouette", sample_size=60, **settings).fit(BLOBS)
    assert (exact.standard_error_ == 0).all()
    assert (sampled.standard_error_[1:] > 0).all()
    assert (np.abs(sampled.scores_ - exact.scores_)[1:] < 5 * sampled.standard_error_[1:]).all()
    assert sampled.n_clusters_ == 3


def test_x_and_g_means_and_special_k_on_five_blobs():
    X, _ = make_blobs(
        600, centers=[[0, 0], [8, 0], [0, 8], [8, 8], [4, 16]], cluster_std=1, random_state=0
    )
    X = StandardScaler().fit_transform(X)
    for name in ("x_means", "g_means", "special_k"):
        selector = make(name, k_range=range(1, 9), random_state=0).fit(X)
        assert selector.n_clusters_ == 5
        assert len(np.unique(selector.own_labels_)) == 5


def test_splitting_stops_at_the_largest_k():
    for name in ("x_means", "g_means"):
        selector = make(name, k_range=range(1, 4), random_state=0).fit(BLOBS)
        assert selector.n_clusters_ <= 3
    assert (
        make("x_means", k_range=range(1, 8), k_min=3, random_state=0).fit(BLOBS).n_clusters_ == 3
    )


def test_methods_that_average_over_references():
    one, three = (
        make("hofmeyr", n_references=n, k_range=range(1, 7), random_state=0).fit(BLOBS)
        for n in (1, 3)
    )
    assert one.n_clusters_ == three.n_clusters_ == 3
    assert not np.array_equal(one.degrees_of_freedom_, three.degrees_of_freedom_)
    raw = make("hofmeyr", smoothing=False, k_range=range(1, 7), random_state=0).fit(BLOBS)
    assert raw.smoothing_width_ == 0.0
    assert one.degrees_of_freedom_[0] == raw.degrees_of_freedom_[0] == 2


def test_coincident_points():
    X = np.repeat([[0.0, 0.0], [5.0, 0.0], [0.0, 5.0]], 20, axis=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        for name in NAMES:
            selector = make(name, k_range=range(1, 4), random_state=0).fit(X)
            assert selector.n_clusters_ in (None, 1, 2, 3)
            if name in ("silhouette", "calinski_harabasz", "dunn", "xie_beni"):
                assert selector.n_clusters_ == 3


def test_fewer_clusters_than_asked_for_are_told():
    class Lazy(KMeans):
        def fit(self, X, y=None, sample_weight=None):
            super().fit(X)
            self.labels_ = np.minimum(self.labels_, 1)
            return self

    with pytest.warns(UserWarning, match="2 for K = 3"):
        make("silhouette", clusterer=Lazy(n_init=1), k_range=[2, 3]).fit(SMALL)


def test_subclasses_have_a_method():
    for name in NAMES[1:]:
        assert issubclass(SELECTORS[name], CriterionSelector)
        assert SELECTORS[name]._judge is not CriterionSelector._judge


@pytest.mark.parametrize("name", ["gap_a", "hennig"])
@pytest.mark.parametrize("data", [BLOBS, np.random.default_rng(0).uniform(size=(60, 2))])
def test_one_fit_answers_for_every_rule(name, data):
    repeats = {"gap_a": {"n_references": 5}, "hennig": {"n_bootstraps": 5}}[name]
    one = make(name, k_range=range(1, 7), random_state=0, **repeats).fit(data)
    assert one.answers_[one.rule] == one.n_clusters_
    for rule, answer in one.answers_.items():
        other = make(name, k_range=range(1, 7), rule=rule, random_state=0, **repeats)
        assert other.fit(data).n_clusters_ == answer
