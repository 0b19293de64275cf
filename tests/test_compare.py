"""All methods side by side."""

import warnings
from dataclasses import replace
from html import escape

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from selector_cases import QUICK
from stablek.inspection import pvalue_text
from stablek.selectors import SELECTORS, Comparison, Stadion, compare
from stablek.selectors.reference import Reference

X, TRUTH = make_blobs(200, centers=[[0, 0], [9, 0], [4.5, 7.8]], random_state=0)
X = StandardScaler().fit_transform(X)
FAST = {"k_range": range(1, 6), "random_state": 0, "options": QUICK}
CHEAP = ["silhouette", "davies_bouldin", "dunn"]


@pytest.fixture(scope="module")
def comparison():
    clusterers = [KMeans(n_init=3), AgglomerativeClustering(), GaussianMixture()]
    return compare(X, clusterers=clusterers, **FAST)


def test_every_method_has_a_row_for_every_clusterer(comparison):
    names = [(row.clusterer, row.method) for row in comparison]
    assert len(names) == len(set(names)) == len(comparison) == 3 * len(SELECTORS)
    assert list(comparison.reference_seconds) == [
        "KMeans",
        "AgglomerativeClustering",
        "GaussianMixture",
    ]


def test_answers(comparison):
    for row in comparison:
        if row.selector is None:
            assert row.n_clusters is None
            assert f"method '{row.method}' is defined for" in row.abstention
        else:
            assert row.n_clusters == 3
            assert row.abstention is None
            assert adjusted_rand_score(TRUTH, row.selector.labels_) == 1.0
            assert row.seconds > 0
    not_defined = {row.method for row in comparison if row.selector is None}
    assert not_defined == {"bic", "x_means", "g_means", "hofmeyr", "special_k"}
    assert comparison.row("bic", "KMeans").selector is None
    assert comparison.row("bic", "GaussianMixture").n_clusters == 3


def test_agreement(comparison):
    assert all(row.agreement == 1.0 for row in comparison if row.selector is not None)
    assert all(row.stadion_agreement == 1.0 for row in comparison if row.selector is not None)
    assert comparison.votes() == {3: len([r for r in comparison if r.selector is not None])}


def test_agreement_of_methods_that_differ():
    rows = compare(X, ["silhouette", "lange"], k_range=[2, 3], random_state=0).rows
    assert all(row.agreement == 1.0 for row in rows)
    noise = np.random.default_rng(0).normal(size=(80, 2))
    found = compare(noise, [*CHEAP, "calinski_harabasz"], k_range=range(2, 7), random_state=0)
    for row in found:
        others = [
            adjusted_rand_score(row.selector.labels_, other.selector.labels_)
            for other in found
            if other is not row
        ]
        assert row.agreement == pytest.approx(np.mean(others))
        assert np.isnan(row.stadion_agreement)
    assert len(found.votes()) > 1  # if all methods agreed, this test would show nothing


def test_scores_are_those_of_the_selector_alone():
    options = {"k_range": range(1, 6), "random_state": 7}
    both = compare(X, CHEAP, KMeans(n_init=2), **options)
    for name in CHEAP:
        alone = SELECTORS[name](KMeans(n_init=2), **options).fit(X)
        row = both.row(name)
        np.testing.assert_array_equal(row.selector.scores_, alone.scores_)
        assert row.score == np.nanmax(alone.scores_)


def test_stadion_judges_the_same_partitions(comparison):
    stadion = comparison.row("stadion", "KMeans").selector
    labels = comparison.row("silhouette", "KMeans").selector.labels_
    at = stadion.k_values_.tolist().index(3)
    np.testing.assert_array_equal(stadion.reference_labels_[at], labels)


def test_reference_partitions_are_computed_once(monkeypatch):
    asked = []
    make = Reference.partitions

    def watched(self, values):
        asked.append([value for value in values if value not in self._made])
        return make(self, values)

    monkeypatch.setattr(Reference, "partitions", watched)
    compare(X, CHEAP, k_range=range(1, 6), random_state=0)
    assert asked[0] == [1, 2, 3, 4, 5]
    assert not any(asked[1:])


def test_same_bits_for_any_n_jobs():
    methods = [*CHEAP, "hennig", "gap_a"]
    one, two = (compare(X, methods, n_jobs=jobs, **FAST) for jobs in (1, 2))
    assert [row.score for row in one] == [row.score for row in two]


def test_best_clusterer(comparison):
    best = comparison.best
    assert best.method == "stadion"
    assert best.score == max(row.score for row in comparison if row.method == "stadion")
    with pytest.raises(ValueError, match="best needs 'stadion'"):
        compare(X, ["dunn"], **FAST).best


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_frame(comparison, library):
    frame = comparison.frame(library)
    assert list(frame.columns) == [
        "clusterer",
        "method",
        "n_clusters",
        "score",
        "own_value",
        "seconds",
        "agreement",
        "stadion_agreement",
        "rows",
        "abstention",
    ]
    assert len(frame) == len(comparison)
    answers = frame["n_clusters"].to_list()
    answered = [k for k in answers if isinstance(k, int)]
    assert answered == [row.n_clusters for row in comparison if row.n_clusters is not None]


def test_text_and_html(comparison):
    lines = repr(comparison).splitlines()
    assert lines[len(comparison) + 2 :] == comparison.advice
    assert lines[0] == comparison.header
    assert lines[1].split()[:3] == ["clusterer", "method", "n_clusters"]
    html = comparison._repr_html_()
    assert html.count("<tr>") == len(comparison) + 1
    assert html.startswith("<p>Structure test: p &lt; 0.001 for KMeans, ")
    assert f"<p>{escape(comparison.header)}</p><ul><li>" in html
    assert html.count("<li>") == len(comparison.advice)
    tricky = Comparison((replace(comparison.rows[0], clusterer="<b>"),), {})
    assert "<b>" not in tricky._repr_html_()


NOISE = np.random.default_rng(0).uniform(size=(150, 2))


@pytest.fixture(scope="module")
def without_structure():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return compare(NOISE, ["dunn", "stadion"], KMeans(n_init=3), **FAST)


def test_pvalue_of_the_structure_test(without_structure):
    alone = Stadion(KMeans(n_init=3), k_range=range(1, 6), random_state=0, **QUICK["stadion"])
    alone.fit(NOISE)
    assert alone.structure_pvalue_ > 0.05
    assert without_structure.structure_pvalue == alone.structure_pvalue_
    assert list(without_structure.structure_tests) == ["KMeans"]
    assert without_structure.header == (
        f"Structure test: {pvalue_text(alone.structure_pvalue_)}; no clusters found"
    )


def test_header_names_clusterers_whose_tests_differ(without_structure, comparison):
    found = comparison.row("stadion", "KMeans")
    same = Comparison((found, replace(found, clusterer="again")), {})
    assert same.header == "Structure test: p < 0.001; clusters found"
    other = replace(comparison.row("stadion", "GaussianMixture"), clusterer="mixture")
    both = Comparison((*without_structure.rows, other), {})
    pvalue = without_structure.structure_pvalue
    assert both.header == (
        f"Structure test: {pvalue_text(pvalue)} for KMeans, "
        f"{pvalue_text(other.selector.structure_pvalue_)} for mixture; clusters found"
    )
    assert both.structure_pvalue == other.selector.structure_pvalue_ < pvalue


def test_no_header_without_a_structure_test():
    options = {"stadion": {**QUICK["stadion"], "one_cluster": "crossing"}}
    for methods in (["dunn"], ["dunn", "stadion"]):
        found = compare(X, methods, k_range=range(1, 6), random_state=0, options=options)
        assert found.header == ""
        assert np.isnan(found.structure_pvalue)
        assert repr(found).startswith("clusterer ")
        assert found._repr_html_().startswith("<table>")


def test_best_without_structure(without_structure, comparison):
    """One cluster has no score. It is the best only if no clusterer finds clusters."""
    nothing = without_structure.row("stadion")
    assert (nothing.n_clusters, np.isnan(nothing.score)) == (1, True)
    assert without_structure.best is nothing
    clusters = comparison.row("stadion", "KMeans")
    for rows in ((nothing, clusters), (clusters, nothing)):
        assert Comparison(rows, {}).best is clusters


def test_methods_that_cannot_answer_1_are_named():
    methods = ["stadion", "silhouette", "dunn", "gap_a", "bic"]
    with pytest.warns(UserWarning, match="structure test found no clusters") as caught:
        compare(NOISE, methods, **FAST)
    assert [str(w.message) for w in caught if "structure test" in str(w.message)] == [
        str(caught[0].message)
    ]
    assert str(caught[0].message).endswith("no evidence of clusters: silhouette, dunn")
    assert caught[0].filename == __file__


@pytest.mark.parametrize("data, methods", [(X, ["stadion", "dunn"]), (NOISE, ["dunn"])])
def test_no_warning_with_structure_or_without_a_test(data, methods):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        compare(data, methods, **FAST)


def test_names_of_clusterers():
    two = compare(X, ["dunn"], [KMeans(n_init=1), KMeans(n_init=2), KMeans(n_init=3)], **FAST)
    assert [row.clusterer for row in two] == ["KMeans", "KMeans 2", "KMeans 3"]
    named = compare(X, ["dunn"], {"once": KMeans(n_init=1)}, **FAST)
    assert named.row("dunn").clusterer == "once"
    with pytest.raises(KeyError, match="3 rows for method='dunn'"):
        two.row("dunn")


def test_method_that_cannot_judge_the_range_says_so():
    row = compare(X, ["dunn", "g_means"], k_range=[1], random_state=0).row("dunn")
    assert row.n_clusters is None
    assert "cannot judge any K of k_range=[1]" in row.abstention


@pytest.mark.parametrize(
    "arguments, error, message",
    [
        ({"methods": "dunn"}, ValueError, "methods must be 'all', a sequence"),
        ({"methods": []}, ValueError, "methods must be 'all', a sequence"),
        ({"methods": ["gup"]}, ValueError, "method must be one of"),
        ({"methods": ["dunn", "dunn"]}, ValueError, "each method once"),
        ({"methods": {}}, ValueError, "map names to selectors"),
        ({"methods": {"dunn": SELECTORS["dunn"]}}, ValueError, "map names to selectors"),
        ({"methods": {"a": SELECTORS["dunn"]()}, "options": QUICK}, ValueError, "options must be"),
        ({"options": {"dunn": {"n_jobs": 2}}}, ValueError, r"'dunn': \['n_jobs'\]"),
        ({"options": {"gup": {}}}, ValueError, "method must be one of"),
        ({"options": {"dunn": {"omega": 1}}}, TypeError, "omega"),
        ({"clusterers": KMeans}, TypeError, "got the class KMeans"),
        ({"clusterers": []}, ValueError, "at least one clusterer"),
        ({"clusterers": ["kmeans"]}, TypeError, "scikit-learn style estimator"),
        ({"k_range": [3, 2]}, ValueError, "ascending"),
        ({"k_range": range(1, 300)}, ValueError, "n_samples = 200"),
        ({"random_state": -1}, ValueError, "random_state"),
    ],
)
def test_bad_arguments(arguments, error, message):
    with pytest.raises(error, match=message):
        compare(X, **{"methods": ["dunn"], **arguments})


def test_bad_data():
    with pytest.raises(ValueError, match=r"NaN value.* in column 1"):
        compare(np.where([False, True], np.nan, X), ["dunn"])


def test_variants_of_one_method():
    variants = {
        "max": Stadion(n_perturbations=2, omega=[2, 3]),
        "mean": Stadion(n_perturbations=2, omega=[2, 3], aggregation="mean", k_range=[7]),
    }
    model = KMeans(n_init=2)
    both = compare(X, variants, model, k_range=range(1, 6), random_state=3)
    assert [row.method for row in both] == ["max", "mean"]
    for row in both:
        alone = clone(variants[row.method]).set_params(
            clusterer=model, k_range=range(1, 6), random_state=3
        )
        np.testing.assert_array_equal(row.selector.scores_, alone.fit(X).scores_)
    assert variants["mean"].k_range == [7]  # the user's selector is unchanged
    assert not hasattr(variants["max"], "scores_")
