"""Displays show the right numbers in the right artists."""

import subprocess
import sys
from itertools import product

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from cycler import cycler
from scipy.stats import rankdata
from scipy.stats import wilcoxon as scipy_wilcoxon
from sklearn.datasets import make_blobs

mpl.use("Agg")
import matplotlib.pyplot as plt

from stablek import Stadion, structure_test
from stablek.display import (
    ClusterStabilityDisplay,
    CriticalDifferenceDisplay,
    PartitionDisplay,
    ScoresDisplay,
    StabilityPathsDisplay,
    StructureTestDisplay,
    TradeoffDisplay,
)
from stablek.display.base import OKABE_ITO, category_colors
from stablek.display.projection import project
from stablek.inspection import contenders
from stablek.ranking import cliques, holm, rank_methods, wilcoxon, wilcoxon_pairs

FROM_STADION = [
    StabilityPathsDisplay,
    TradeoffDisplay,
    ScoresDisplay,
    PartitionDisplay,
    ClusterStabilityDisplay,
    StructureTestDisplay,
]


@pytest.fixture(scope="module")
def data():
    X, _ = make_blobs(150, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    return pd.DataFrame(X, columns=["height", "$cost"])


@pytest.fixture(scope="module")
def nothing():
    """A fit on data without clusters."""
    X = np.random.default_rng(0).uniform(size=(120, 2))
    return Stadion(k_range=range(1, 6), n_perturbations=3, n_epsilons=5, random_state=0).fit(X)


@pytest.fixture(autouse=True)
def _close_figures():
    yield
    plt.close("all")


@pytest.mark.parametrize("display", FROM_STADION)
def test_every_display_keeps_the_convention(display, fitted):
    drawn = display.from_estimator(fitted)
    assert isinstance(drawn, display)
    assert np.ravel(drawn.ax_)[0].figure is drawn.figure_
    assert isinstance(drawn.frame(), pd.DataFrame)
    assert len(drawn.frame()) > 0
    again = drawn.plot()
    assert again is drawn
    drawn.figure_.canvas.draw()


@pytest.mark.parametrize("display", FROM_STADION)
def test_one_cluster_without_a_score_is_drawn(display, nothing):
    assert nothing.n_clusters_ == 1
    assert np.isnan(nothing.scores_[0])
    drawn = display.from_estimator(nothing)
    drawn.figure_.canvas.draw()
    shown = [text.get_text() for text in drawn.figure_.findobj(mpl.text.Text)]
    assert not [text for text in shown if "nan" in text.lower()]


@pytest.mark.parametrize("display", FROM_STADION)
def test_given_axes_are_used_and_no_figure_is_made(display, fitted):
    _, ax = plt.subplots()
    drawn = display.from_estimator(fitted, ax=ax)
    assert drawn.ax_ is ax
    assert plt.get_fignums() == [ax.figure.number]


def test_fitting_and_importing_draw_nothing():
    code = (
        "import sys, stablek, stablek.display, stablek.report\n"
        "loaded = {'matplotlib', 'plotly', 'jinja2'} & set(sys.modules)\n"
        "assert not loaded, loaded\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_paths_lines_are_the_fitted_paths(fitted):
    display = StabilityPathsDisplay.from_estimator(fitted)
    expected = {
        "between": fitted.between_stability_,
        "within": fitted.within_stability_,
        "stadion": fitted.stadion_paths_,
    }
    for (quantity, k), line in display.lines_.items():
        np.testing.assert_array_equal(line.get_xdata(), fitted.epsilons_)
        np.testing.assert_array_equal(line.get_ydata(), expected[quantity][k])
    assert len(display.lines_) == 3 * 5
    titles = [ax.get_title() for ax in display.ax_]
    assert titles == ["Between stability", "Within stability", "Stadion (between − within)"]


def test_paths_emphasize_the_chosen_and_mark_the_crossing(crossed):
    fitted = crossed
    display = StabilityPathsDisplay.from_estimator(fitted)
    chosen = list(fitted.k_values_).index(fitted.n_clusters_)
    widths = {k: line.get_linewidth() for (q, k), line in display.lines_.items() if q == "stadion"}
    assert max(widths, key=widths.get) == chosen
    assert list(widths.values()).count(widths[chosen]) == 1
    crossing = [line for line in display.ax_[2].get_lines() if line.get_label() == "_crossing"]
    assert [line.get_xdata()[0] for line in crossing] == [fitted.crossing_epsilon_]
    # One band for each of the five contenders.
    bands = [
        c for c in display.ax_[0].collections if type(c).__name__ == "FillBetweenPolyCollection"
    ]
    assert len(bands or display.ax_[0].collections) == 5


def test_paths_show_what_data_without_clusters_reach(fitted, nothing, crossed):
    test = fitted.structure_test_
    display = StabilityPathsDisplay.from_estimator(fitted)
    assert display.reference_k == fitted.n_clusters_ == 3
    row = test.k_values.tolist().index(3)
    sets = [paths[row] for paths in test.reference_paths[test.kind]]
    drawn = display.band_.get_paths()[0].vertices
    for level, epsilon in enumerate(test.epsilons):
        reached = [path[level] for path in sets]
        heights = drawn[drawn[:, 0] == epsilon, 1]
        assert heights.min() == pytest.approx(min(reached))
        assert heights.max() == pytest.approx(max(reached))
    assert "K = 3, no clusters" in [text.get_text() for text in display.legend_.get_texts()]
    # All levels count: no crossing is marked.
    assert not [line for line in display.ax_[2].get_lines() if line.get_label() == "_crossing"]
    # One cluster is not tested: the band is that of the best other K.
    best = nothing.k_values_[np.nanargmax(nothing.scores_)]
    assert StabilityPathsDisplay.from_estimator(nothing).reference_k == best
    assert StabilityPathsDisplay.from_estimator(crossed).band_ is None


def test_structure_test_shows_the_data_beside_the_reference_sets(fitted, nothing, crossed):
    test = nothing.structure_test_
    display = StructureTestDisplay.from_estimator(nothing)
    offsets = np.asarray(display.points_.get_offsets())
    np.testing.assert_allclose(offsets[:, 0], list(test.statistics.values()))
    np.testing.assert_allclose(offsets[:, 1], test.valley)
    for kind, sets in test.reference_statistics.items():
        points = np.asarray(display.reference_points_[kind].get_offsets())
        np.testing.assert_allclose(points, np.c_[sets, test.reference_valleys[kind]])
    entries = [entry.get_text() for entry in display.ax_.get_legend().get_texts()]
    assert [entry.split(":")[0] for entry in entries] == [*test.pvalues, "the data"]
    assert f"no cluster structure found (p = {test.pvalue:.2f})" in display.ax_.get_title()
    found = StructureTestDisplay.from_estimator(fitted).ax_.get_title()
    assert found == "Structure test: cluster structure (p < 0.001)"
    frame = display.frame()
    own = frame[frame["source"] == "data"].set_index("kind")
    assert own["statistic"].to_dict() == pytest.approx(test.statistics)
    assert own["pvalue"].to_dict() == pytest.approx(test.pvalues)
    assert (own["valley"] == test.valley).all()
    assert len(frame) == sum(1 + len(sets) for sets in test.reference_statistics.values())
    with pytest.raises(ValueError, match="fit with one_cluster='test'"):
        StructureTestDisplay.from_estimator(crossed)


def test_structure_test_display_of_a_plain_test(data):
    test = structure_test(data, k_range=[2, 3], reference_sets="box", random_state=0)
    _, ax = plt.subplots()
    display = StructureTestDisplay.from_test(test, ax=ax)
    assert display.ax_ is ax
    assert display.frame()["kind"].unique().tolist() == ["box"]


def test_paths_frame_equals_the_estimators(fitted):
    frame = StabilityPathsDisplay.from_estimator(fitted).frame()
    expected = fitted.results_frame()[frame.columns]
    pd.testing.assert_frame_equal(frame, expected)


def test_paths_of_one_cluster_are_drawn_when_it_is_no_candidate(data):
    selector = Stadion(k_range=[2, 3], n_perturbations=2, n_epsilons=4, random_state=0).fit(data)
    display = StabilityPathsDisplay.from_estimator(selector)
    one = [line for line in display.ax_[2].get_lines() if line.get_label() == "one cluster"]
    np.testing.assert_allclose(one[0].get_ydata(), selector.paths_.stadion[0].mean(axis=-1))
    texts = [text.get_text() for text in display.legend_.get_texts()]
    assert "one cluster" in texts


def test_sixty_candidates_name_only_the_contenders():
    rng = np.random.default_rng(0)
    paths = rng.uniform(size=(60, 10))
    display = StabilityPathsDisplay(
        k_values=range(1, 61),
        epsilons=np.linspace(0, 1, 10),
        between=paths,
        within=paths / 2,
        stadion=paths / 2,
        selected=11,
    ).plot()
    texts = [text.get_text() for text in display.legend_.get_texts()]
    # Six contenders, and K = 1 for the crossing.
    assert len(texts) <= 7
    assert "K = 12 (chosen)" in texts
    assert len(display.lines_) == 180
    scores = ScoresDisplay(k_values=range(1, 61), scores=paths.max(axis=1), selected=11).plot()
    assert len(scores.ax_.texts) <= 6


def test_tradeoff_is_the_mean_over_counted_levels(fitted):
    display = TradeoffDisplay.from_estimator(fitted)
    table = fitted.results_frame().query("counted").groupby("k")[["between", "within", "stadion"]]
    frame = display.frame().set_index("k")
    pd.testing.assert_frame_equal(frame[["between", "within", "stadion"]], table.mean())
    np.testing.assert_array_equal(display.lines_["stadion"].get_ydata(), frame["stadion"])
    np.testing.assert_allclose(frame["between"] - frame["within"], frame["stadion"])
    assert (frame["stadion_se"] >= 0).all()


def test_scores_leave_out_what_is_not_finite():
    display = ScoresDisplay(k_values=[1, 2, 3], scores=[np.nan, 0.5, np.inf], selected=1).plot()
    np.testing.assert_array_equal(display.line_.get_ydata(), [np.nan, 0.5, np.nan])
    display.figure_.canvas.draw()


def test_scores_mark_one_cluster_with_its_pvalue(nothing):
    display = ScoresDisplay.from_estimator(nothing)
    [text] = display.ax_.get_legend().get_texts()
    assert text.get_text() == f"chosen: K = 1 (p = {nothing.structure_pvalue_:.2f})"
    mark = next(x for x in display.ax_.get_lines() if x.get_label() == text.get_text())
    assert mark.get_xdata()[0] == 1
    # Only scores that exist have a label, at their place.
    for label in display.ax_.texts:
        position = list(nothing.k_values_).index(int(label.get_text()))
        assert label.xy == (int(label.get_text()), nothing.scores_[position])


def test_scores_of_values_that_are_no_numbers():
    display = ScoresDisplay(
        k_values=["ward", "average"], scores=[1.0, 2.0], selected=1, parameter="linkage"
    ).plot()
    assert [tick.get_text() for tick in display.ax_.get_xticklabels()] == ["ward", "average"]
    assert display.ax_.get_xlabel() == "linkage"


def test_scores_of_an_abstention_have_no_mark():
    class Abstaining:
        k_values_ = np.array([2, 3])
        scores_ = np.array([np.nan, np.nan])
        n_clusters_ = None

    display = ScoresDisplay.from_estimator(Abstaining())
    assert display.selected is None
    assert display.ax_.get_legend() is None


def test_partition_shows_every_point_once_with_stability_as_transparency(fitted, data):
    display = PartitionDisplay.from_estimator(fitted)
    assert sorted(display.collections_) == [0, 1, 2]
    for label, points in display.collections_.items():
        here = fitted.labels_ == label
        np.testing.assert_array_equal(np.asarray(points.get_offsets()), data.to_numpy()[here])
        np.testing.assert_allclose(points.get_alpha(), 0.15 + 0.85 * fitted.point_stability_[here])
    # The name of a column is shown as it is, with its dollar sign.
    assert display.ax_.get_ylabel() == "$cost"
    display.figure_.canvas.draw()


def test_partition_of_another_candidate_has_no_point_stability(fitted):
    display = PartitionDisplay.from_estimator(fitted, k=5)
    np.testing.assert_array_equal(display.labels, fitted.reference_labels_[4])
    assert display.point_stability is None
    with pytest.raises(ValueError, match="k must be one of"):
        PartitionDisplay.from_estimator(fitted, k=9)
    with pytest.raises(ValueError, match="X has 3 rows"):
        PartitionDisplay.from_estimator(fitted, np.zeros((3, 2)))


def test_partition_tells_of_a_sample_and_of_noise():
    labels = np.repeat([-1, 0, 1], 5)
    display = PartitionDisplay(
        coordinates=np.zeros((15, 2)), labels=labels, axis_names=("x", ""), n_total=99
    ).plot()
    assert display.ax_.get_title() == "2 clusters (15 of 99 points drawn)"
    assert sorted(display.collections_) == [-1, 0, 1]
    assert len(display.ax_.get_yticks()) == 0


def test_many_clusters_differ_in_color_or_shape():
    n = 40
    display = PartitionDisplay(coordinates=np.zeros((n, 2)), labels=np.arange(n)).plot()
    looks = {
        (tuple(points.get_facecolor()[0][:3]), points.get_paths()[0].vertices.tobytes())
        for points in display.collections_.values()
    }
    assert len(looks) == n


def test_projection_of_many_features_keeps_most_variance():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5)) * [1, 10, 3, 0.1, 0.1] + 7
    coordinates, axes = project(X)
    expected = np.linalg.svd(X - X.mean(axis=0))[1][:2] ** 2
    np.testing.assert_allclose((coordinates**2).sum(axis=0), expected)
    share = expected / ((X - X.mean(axis=0)) ** 2).sum()
    assert axes[0] == f"principal component 1 ({share[0]:.0%} of variance)"
    # A second call gives the same signs.
    np.testing.assert_allclose(project(X)[0], coordinates)
    constant, _ = project(np.ones((4, 3)))
    np.testing.assert_array_equal(constant, np.zeros((4, 2)))


def test_projection_of_one_feature_keeps_it():
    X = np.arange(5.0)[:, None]
    coordinates, axes = project(X, ["age"])
    np.testing.assert_array_equal(coordinates[:, 0], X[:, 0])
    assert axes == ("age", "")
    np.testing.assert_array_equal(project(X)[0], coordinates)


def test_cluster_stability_bars(fitted):
    display = ClusterStabilityDisplay.from_estimator(fitted)
    expected = [cluster.within_stability for cluster in fitted.cluster_stability_]
    assert [bar.get_width() for bar in display.bars_] == expected
    hiding = ClusterStabilityDisplay(
        labels=[0, 1], sizes=[5, 10], within_stability=[0.1, 0.9], hidden_k=[None, 3], between=0.8
    ).plot()
    assert [bar.get_hatch() for bar in hiding.bars_] == ["", "//"]
    assert [text.get_text().strip() for text in hiding.ax_.texts] == ["hides 3"]
    assert hiding.frame()["hidden_k"].tolist() == [None, 3]


def test_contenders_are_the_chosen_and_the_best():
    scores = np.array([0.1, np.nan, 0.9, 0.5, 0.7])
    assert contenders(scores, selected=0) == [0, 2, 4, 3]
    assert contenders(scores, selected=None, limit=2) == [2, 4]


def test_colors_are_the_users_or_safe_ones():
    assert category_colors() == list(OKABE_ITO)
    with mpl.rc_context({"axes.prop_cycle": cycler(color=["red", "blue"])}):
        assert category_colors() == ["red", "blue"]


def test_a_display_says_what_it_needs():
    with pytest.raises(ValueError, match="needs a fitted estimator with paths_"):
        StabilityPathsDisplay.from_estimator(Stadion())


# ---- ranking: reference numbers computed elsewhere ----------------------------------------------


@pytest.fixture(scope="module")
def scores():
    i, j = np.arange(1, 13)[:, None], np.arange(5)
    table = np.round(0.5 + 0.3 * np.sin(1.7 * i) + 0.05 * j + 0.1 * np.cos(2.3 * i * (j + 1)), 3)
    table[3] = table[3, 0]
    table[7, 1] = table[7, 2]
    return table


def test_ranks_and_friedman(scores):
    ranking = rank_methods(scores)
    expected = [4.16666667, 3.875, 2.95833333, 2.5, 1.5]
    np.testing.assert_allclose(ranking.average_ranks, expected, atol=1e-8)
    assert ranking.friedman_statistic == pytest.approx(24.3470319635, abs=1e-9)
    assert ranking.friedman_pvalue == pytest.approx(6.8047298e-5, rel=1e-7)


def test_wilcoxon_with_holm(scores):
    ranking = rank_methods(scores, zero_method="wilcox")
    upper = ranking.pvalues[np.triu_indices(5, 1)]
    expected = [
        *(0.55664062, 0.11132812, 0.015625, 0.00976562),
        *(0.18554688, 0.06835938, 0.00976562),
        *(0.55664062, 0.18554688, 0.24902344),
    ]
    np.testing.assert_allclose(upper, expected, atol=1e-8)
    assert ranking.cliques == ((0, 1, 2), (1, 2, 3), (2, 3, 4))


def test_pratt_keeps_equal_scores(scores):
    raw = wilcoxon_pairs(scores, "pratt")
    pairs = [(i, j) for i in range(5) for j in range(i + 1, 5)]
    expected = {
        (0, 1): 0.283203125,
        (0, 2): 0.0234375,
        (0, 3): 0.001953125,
        (1, 3): 0.0107421875,
        (2, 3): 0.4931640625,
        (3, 4): 0.0703125,
    }
    for pair, pvalue in expected.items():
        assert raw[pairs.index(pair)] == pytest.approx(pvalue)


@pytest.mark.parametrize("zero_method", ["pratt", "wilcox"])
def test_wilcoxon_with_ties_counts_every_sign(zero_method):
    difference = np.array([0.0, 1, -1, 2, 2, -3, 4, 0])
    ranks = rankdata(np.abs(difference))
    if zero_method == "wilcox":
        ranks[difference != 0] = rankdata(np.abs(difference[difference != 0]))
    ranks = ranks[difference != 0]
    observed = ranks[difference[difference != 0] > 0].sum()
    sums = np.array([np.dot(ranks, signs) for signs in product([0, 1], repeat=len(ranks))])
    expected = 2 * min((sums <= observed).mean(), (sums >= observed).mean())
    assert wilcoxon(difference, zero_method) == pytest.approx(min(1.0, expected))


@pytest.mark.parametrize("n", [6, 25, 50, 80])
def test_wilcoxon_without_ties_is_scipys(n):
    difference = np.random.default_rng(n).normal(0.2, size=n)
    assert wilcoxon(difference) == pytest.approx(scipy_wilcoxon(difference).pvalue)
    assert wilcoxon(np.zeros(n)) == 1.0


def test_no_difference_stops_at_friedman():
    table = np.random.default_rng(0).permuted(np.tile(np.arange(4.0), (6, 1)), axis=1)
    ranking = rank_methods(table)
    assert ranking.friedman_pvalue > 0.05
    assert not ranking.rejected
    assert ranking.cliques == ((0, 1, 2, 3),)
    assert rank_methods(np.ones((5, 3))).friedman_pvalue == 1.0


def test_two_methods_need_no_friedman():
    table = np.column_stack([np.arange(12.0) + 1, np.arange(12.0)])
    ranking = rank_methods(table, ["a", "b"])
    assert np.isnan(ranking.friedman_pvalue)
    assert ranking.rejected
    assert ranking.cliques == ()


def test_holm_by_hand():
    np.testing.assert_allclose(holm(np.array([0.04, 0.001, 0.02, 0.9])), [0.08, 0.004, 0.06, 0.9])


def test_cliques_of_a_known_graph():
    # A square with one diagonal: two triangles.
    linked = np.ones((4, 4), dtype=bool)
    linked[0, 3] = linked[3, 0] = False
    assert cliques(linked) == ((0, 1, 2), (1, 2, 3))
    assert cliques(np.eye(3, dtype=bool)) == ()


def test_bad_score_tables_are_refused():
    with pytest.raises(ValueError, match="scores must be finite, got nan for 'b' on data set 1"):
        rank_methods([[1, 2], [3, np.nan]], ["a", "b"])
    with pytest.raises(ValueError, match="two or more methods"):
        rank_methods([[1], [2]])
    with pytest.raises(ValueError, match="3 names for 2 columns"):
        rank_methods([[1, 2], [3, 4]], ["a", "b", "c"])
    with pytest.raises(ValueError, match="alpha"):
        rank_methods([[1, 2], [3, 4]], alpha=2)


def test_critical_difference_diagram(scores):
    names = ["gap", "dunn", "bic", "wg", "<$stadion"]
    display = CriticalDifferenceDisplay.from_scores(pd.DataFrame(scores, columns=names))
    ranks = display.ranking.average_ranks
    assert display.frame()["method"].tolist() == names[::-1]
    ends = [bar.get_xdata() for bar in display.bars_]
    assert [(round(a + 0.03, 6), round(b - 0.03, 6)) for a, b in ends] == [
        (round(ranks[b], 6), round(ranks[a], 6)) for a, b in [(2, 4), (1, 3), (0, 2)]
    ]
    texts = " ".join(text.get_text() for text in display.ax_.texts)
    assert all(name in texts for name in names)
    assert display.ax_.get_title() == "Friedman p = 6.8e-05 over 12 data sets"
    display.figure_.canvas.draw()
    _, ax = plt.subplots()
    assert display.plot(ax).ax_ is ax
