"""The report: its summary and its files. Text from the data stays text."""

import base64
import hashlib
import json
import os
import re
import stat
import subprocess
from copy import copy
from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest
from scipy.stats import t as student
from sklearn.cluster import AgglomerativeClustering
from sklearn.datasets import make_blobs
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stablek import Stadion
from stablek.report import repr_html, summarize, write_report
from stablek.report.html import render_html
from stablek.report.markdown import render_markdown
from stablek.results import Member, StabilityPaths
from stablek.selectors.index import Silhouette
from stablek.selectors.subsamples import SubsampleFrequency, subsample_frequency

EVIL = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"quotes' & <!-- <b>",
    "שלום עולם",
    "x" * 5000,
    "line\u2028break|pipe`tick*star_",
]


@pytest.fixture(scope="module")
def data():
    X, _ = make_blobs(150, centers=[[0, 0], [8, 0], [0, 12]], random_state=0)
    return pd.DataFrame(X, columns=["height", "width"])


@pytest.fixture(scope="module")
def fitted(data):
    selector = Stadion(k_range=range(1, 6), n_perturbations=3, n_epsilons=5, random_state=0)
    return selector.fit(data)


@pytest.fixture(scope="module")
def crossed(data):
    """The same by the paper's rule."""
    return Stadion(
        k_range=range(1, 6),
        n_perturbations=3,
        n_epsilons=5,
        one_cluster="crossing",
        random_state=0,
    ).fit(data)


@pytest.fixture(scope="module")
def nothing():
    """A fit on data without clusters."""
    X = np.random.default_rng(0).uniform(size=(120, 2))
    return Stadion(k_range=range(1, 4), n_perturbations=2, n_epsilons=4, random_state=0).fit(X)


@pytest.fixture(scope="module")
def summary(fitted):
    return summarize(fitted)


def chosen(summary):
    return next(p for p in summary["partitions"] if p["candidate"] == summary["selected"])


# ---- the summary --------------------------------------------------------------------------------


def test_the_answer_in_a_sentence(fitted, summary):
    answer = summary["answer"]
    assert answer["n_clusters"] == 3
    order = np.argsort(-np.nan_to_num(fitted.scores_, nan=-np.inf))
    assert order[0] == 2
    assert fitted.structure_pvalue_ < 0.001
    assert answer["sentence"] == (
        f"3 clusters (p < 0.001 against no structure). Next best: {fitted.k_values_[order[1]]}."
    )
    assert str(fitted) == answer["sentence"]
    assert "between stability" in answer["reasons"][0]
    assert f"{fitted.scores_[2]:.3f}" in answer["reasons"][1]
    test = fitted.structure_test_
    assert "less stable" in answer["reasons"][2]
    assert f"{test.statistic:.3f}" in answer["reasons"][2]
    assert f"{test.reference_statistics[test.kind].mean():.3f}" in answer["reasons"][2]


def test_the_papers_rule_in_a_sentence(crossed):
    answer = summarize(crossed)["answer"]
    order = np.argsort(-crossed.scores_)
    assert answer["sentence"] == f"3 clusters. Next best: {crossed.k_values_[order[1]]}."
    assert f"ε = {crossed.crossing_epsilon_:.2f}" in answer["reasons"][2]
    assert len(answer["reasons"]) == 3


def test_printing_shows_the_answer_only_when_fitted(data):
    selector = Silhouette(k_range=range(2, 5), random_state=0)
    assert str(selector) == repr(selector)
    selector.fit(data)
    assert str(selector).startswith("3 clusters. Next best: ")
    assert repr(selector).startswith("Silhouette(")


def with_pvalue(fitted, pvalue):
    selector = copy(fitted)
    selector.structure_test_ = replace(fitted.structure_test_, pvalue=pvalue)
    return selector


def answers(same, n_subsamples=20, k=3):
    return SubsampleFrequency((k,) * same + (5,) * (n_subsamples - same), 120)


@pytest.mark.parametrize(
    "pvalue, same, expected",
    [
        (1e-9, 18, "3 clusters (p < 0.001 against no structure; same K on 18 of 20 subsamples)"),
        (0.03, 9, "Weak evidence: 3 clusters (p = 0.03, same K on 9 of 20 subsamples)"),
        # Weak by the p-value alone, by the subsamples alone, and not at either limit.
        (0.011, 20, "Weak evidence: 3 clusters (p = 0.011, same K on 20 of 20 subsamples)"),
        (1e-9, 11, "Weak evidence: 3 clusters (p < 0.001, same K on 11 of 20 subsamples)"),
        (0.01, 12, "3 clusters (p = 0.01 against no structure; same K on 12 of 20 subsamples)"),
        (0.03, None, "Weak evidence: 3 clusters (p = 0.03)"),
    ],
)
def test_weak_evidence_is_called_so(fitted, pvalue, same, expected):
    subsamples = None if same is None else answers(same)
    answer = summarize(with_pvalue(fitted, pvalue), subsamples=subsamples)["answer"]
    assert answer["sentence"] == f"{expected}. Next best: 4."
    assert answer["weak"] == expected.startswith("Weak")
    assert expected.startswith(answer["headline"])
    unsure = "The answer depends on the rows: K = 5 on"
    assert (unsure in " ".join(answer["cautions"])) == (same is not None and same < 12)


def test_no_structure_is_said_so(nothing):
    assert nothing.n_clusters_ == 1
    summary = summarize(nothing)
    answer, test = summary["answer"], nothing.structure_test_
    assert answer["sentence"] == f"No cluster structure found (p = {test.pvalue:.2f})."
    assert str(nothing) == answer["sentence"]
    assert "can be as stable" in answer["reasons"][0]
    assert f"({test.kind}: " in answer["reasons"][0]
    best = int(np.nanargmax(nothing.scores_))
    assert f"K = {nothing.k_values_[best]} has the highest score" in answer["reasons"][1]
    assert answer["runner_up"] is None
    assert answer["rivals"] == []
    # The noise draws have no say in a test.
    assert answer["frequency"] is None
    assert summary["unstable_points"] is None
    told = summarize(nothing, subsamples=answers(19, k=1))["answer"]["sentence"]
    assert told.endswith(f"(p = {test.pvalue:.2f}, same on 19 of 20 subsamples).")


def test_no_structure_by_the_papers_rule_is_explained_by_the_crossing(nothing):
    selector = copy(nothing).set_params(one_cluster="crossing")
    X = np.random.default_rng(0).normal(size=(120, 2))
    selector.fit(X)
    assert selector.n_clusters_ == 1
    answer = summarize(selector)["answer"]
    assert answer["sentence"] == "No cluster structure found."
    assert "leaving the data whole" in answer["reasons"][0] or "K = 1" in answer["reasons"][0]


def test_one_cluster_without_rivals_says_so(nothing):
    selector = copy(nothing).set_params(k_range=[1])
    answer = summarize(selector.fit(nothing._fit_X))["answer"]
    assert answer["reasons"] == ["No candidate has two or more clusters."]


def test_a_candidate_is_named_where_the_test_finds_nothing(nothing):
    selector = copy(nothing).set_params(k_range=[2, 3])
    with pytest.warns(UserWarning, match="structure test found no clusters"):
        selector.fit(nothing._fit_X)
    answer = summarize(selector)["answer"]
    assert answer["sentence"] == (
        f"No cluster structure found (p = {selector.structure_pvalue_:.2f}). "
        f"Best of the candidates: {selector.n_clusters_}."
    )
    assert "K = 1 was not a candidate" in " ".join(answer["cautions"])
    untested = selector.set_params(one_cluster="never").fit(nothing._fit_X)
    told = summarize(untested)["answer"]
    assert told["sentence"].startswith(f"{untested.n_clusters_} clusters. Next best: ")
    assert "No structure test was made" in " ".join(told["cautions"])


def test_the_structure_test_can_be_checked_from_the_summary(fitted, summary):
    structure, test = summary["structure"], fitted.structure_test_
    for kind, sets in structure["reference_statistics"].items():
        spread = np.std(sets, ddof=1) * np.sqrt(1 + 1 / len(sets))
        statistic = (structure["statistics"][kind] - np.mean(sets)) / spread
        expected = student.sf(statistic, len(sets) - 1)
        assert structure["pvalues"][kind] == pytest.approx(expected, rel=0.01)
    assert structure["pvalue"] == max(structure["pvalues"].values())
    assert structure["pvalue"] == structure["pvalues"][structure["kind"]]
    assert structure["alpha"] == 0.05
    assert structure["n_rows"] == 150
    assert structure["n_reference_sets"] == len(test.reference_paths[test.kind])
    assert structure["k_values"] == test.k_values.tolist()
    # The range of the reference paths, set by set.
    for row in range(len(test.k_values)):
        for level in range(len(test.epsilons)):
            reached = [float(paths[row, level]) for paths in test.reference_paths[test.kind]]
            assert structure["reference_low"][row][level] == pytest.approx(min(reached), abs=1e-6)
            assert structure["reference_high"][row][level] == pytest.approx(max(reached), abs=1e-6)


def test_subsamples_are_in_every_format(fitted, data):
    assert summarize(fitted)["subsamples"] is None
    frequency = subsample_frequency(fitted, data, n_subsamples=4)
    summary = summarize(fitted, subsamples=frequency)
    assert summary["subsamples"] == {"counts": {"3": 4}, "n_subsamples": 4, "n_rows": 120}
    assert "same K on 4 of 4 subsamples" in summary["answer"]["sentence"]
    page = " ".join(" ".join(Page(render_html(summary)).texts).split())
    assert "How sure is it?" in page
    assert "on 4 subsamples of 120 rows" in page
    assert "measures the noise draws only, not the data" in page
    text = render_markdown(summary)
    assert "| 3 | 4 | 100% |" in text
    assert "uncertainty of the noise draws only" in text
    with pytest.raises(TypeError, match="subsamples must be the result of"):
        summarize(fitted, subsamples=[3, 3])


def test_a_missing_score_is_never_written_as_nan(nothing, fitted):
    for selector in (nothing, fitted):
        assert np.isnan(selector.scores_[0])
        summary = summarize(selector)
        assert summary["candidates"][0]["score"] is None
        page = Page(render_html(summary))
        for text in (" ".join(page.texts), render_markdown(summary), repr_html(selector)):
            assert not re.search(r"\bnan\b", text, flags=re.I)
            assert "None" not in text.split("How this was made")[0]
    assert "<td>1</td><td>–</td>" in repr_html(nothing)
    assert "| **1** | **1** | **–** |" in render_markdown(summarize(nothing))


def test_scores_are_drawn_at_one_noise_level(fitted, summary):
    table = fitted.results_frame()
    chosen_path = table[table["selected"] & (table["epsilon"] > 0)]
    epsilon = chosen_path.loc[chosen_path["stadion"].idxmax(), "epsilon"]
    level = table[table["epsilon"] == epsilon].set_index("k")["stadion"]
    assert summary["paths"]["epsilons"][summary["paths"]["peak"]] == pytest.approx(epsilon, 1e-5)
    shown = [row["peak_stadion"] for row in summary["candidates"]]
    assert shown[0] is None
    np.testing.assert_allclose(shown[1:], level.loc[2:], rtol=1e-5)
    assert shown[2] == summary["candidates"][2]["score"]
    assert f"Stadion of each K at ε = {epsilon:.2f}" in render_html(summary)


def by_hand(**changes):
    """A fit with known paths: three of K = 3's groups hide in its cluster 0; K = 7 is unstable."""
    k_values, epsilons = (1, 3, 5, 7), np.array([0.0, 1.0])
    between = np.ones((4, 2, 2))
    between[:, 1] = np.array([1.0, 0.98, 1.0, 0.62])[:, None]
    sizes = [[100], [50, 30, 20], [20] * 5, [16] * 5 + [10] * 2]
    starts = np.cumsum([0, *map(len, sizes)])
    clusters = np.full((starts[-1], 2, 2, 2), 0.1)
    clusters[1, 0], clusters[1, 1] = 0.6, 0.97  # K' = 2 and K' = 3 inside the cluster of 50
    selector = Stadion(k_range=k_values, omega=[2, 3], one_cluster="never", **changes)
    selector.paths_ = StabilityPaths(
        k_values=k_values,
        n_clusters=k_values,
        omega=(2, 3),
        epsilons=epsilons,
        between=between,
        clusters=clusters,
        members=tuple(
            tuple(Member(label, int(start) + label, size) for label, size in enumerate(group))
            for start, group in zip(starts, sizes, strict=False)
        ),
    )
    selector._entropy, selector.k_values_, selector.structure_test_ = 0, np.array(k_values), None
    selector._store(selector.reselect())
    return selector


def test_why_not_another_k():
    answer = summarize(by_hand())["answer"]
    assert answer["n_clusters"] == 5
    assert answer["rivals"] == [
        {
            "value": 3,
            "reason": "within",
            "sentence": "K = 3 loses because cluster 0 splits stably into 3.",
        },
        {
            "value": 7,
            "reason": "between",
            "sentence": "K = 7 loses because its partition is recovered only 62% as well.",
        },
    ]
    text = render_markdown(summarize(by_hand()))
    assert "## Why not another K?\n\n- K = 3 loses because" in text
    assert "K = 7 loses because" in " ".join(Page(render_html(summarize(by_hand()))).texts)


def test_why_not_another_k_without_a_stable_split():
    selector = by_hand()
    clusters = selector.paths_.clusters.copy()
    clusters[1] = 0.5  # no partition of the cluster is nearly as stable as the answer
    selector.paths_ = replace(selector.paths_, clusters=clusters)
    selector._store(selector.reselect())
    first = summarize(selector)["answer"]["rivals"][0]
    assert first["reason"] == "within"
    # The mean over clusters, weighted by size: (50 * 0.5 + 50 * 0.1) / 100.
    assert first["sentence"].endswith("its within stability is 0.30, against 0.10.")


def test_why_not_another_k_where_the_level_does_not_tell():
    # By the mean over levels K = 5 wins, but at its peak K = 3 is as good.
    selector = by_hand(aggregation="mean")
    paths = selector.paths_
    between = np.repeat(paths.between, [1, 2], axis=1)
    between[:, 2] = np.array([1.0, 0.5, 0.9, 0.5])[:, None]
    between[1, 1] = 1.0
    clusters = np.repeat(paths.clusters, [1, 2], axis=2)
    clusters[1] = 0.1
    selector.paths_ = replace(
        paths, epsilons=np.array([0.0, 1.0, 2.0]), between=between, clusters=clusters
    )
    selector._store(selector.reselect())
    answer = summarize(selector)["answer"]
    assert answer["n_clusters"] == 5
    assert answer["rivals"][0] == {
        "value": 3,
        "reason": "score",
        "sentence": "K = 3 loses by its score: 0.650, against 0.850.",
    }


def test_one_draw_claims_no_frequency(data):
    selector = Stadion(
        k_range=[2, 3], n_perturbations=1, n_epsilons=4, one_cluster="crossing", random_state=0
    ).fit(data)
    answer = summarize(selector)["answer"]
    assert answer["frequency"] is None
    assert "resampled" not in answer["sentence"]
    told = " ".join(answer["cautions"])
    assert "One draw" in told
    assert "K = 1 was not a candidate" in told
    assert "3 is the largest candidate" in told


def test_the_summary_is_plain_json(summary):
    text = json.dumps(summary, allow_nan=False)
    assert json.loads(text) == summary


def test_paths_and_candidates_are_the_fitted_numbers(fitted, summary):
    paths = summary["paths"]
    np.testing.assert_allclose(paths["epsilons"], fitted.epsilons_, rtol=1e-5)
    for name, expected in {
        "between": fitted.between_stability_,
        "within": fitted.within_stability_,
        "stadion": fitted.stadion_paths_,
    }.items():
        np.testing.assert_allclose(paths[name], expected, rtol=1e-5, atol=1e-9)
    assert [c["value"] for c in summary["candidates"]] == [1, 2, 3, 4, 5]
    assert summary["candidates"][0]["score"] is None
    np.testing.assert_allclose(
        [c["score"] for c in summary["candidates"][1:]], fitted.scores_[1:], rtol=1e-5
    )
    assert [c["selected"] for c in summary["candidates"]] == [False, False, True, False, False]


def test_clusters_and_means_of_every_candidate(fitted, summary, data):
    assert [p["candidate"] for p in summary["partitions"]] == [0, 1, 2, 3, 4]
    for partition in summary["partitions"]:
        labels = fitted.reference_labels_[partition["candidate"]]
        expected = data.groupby(labels).mean()
        sizes = np.bincount(labels)
        assert [c["label"] for c in partition["clusters"]] == expected.index.tolist()
        assert [c["size"] for c in partition["clusters"]] == sizes.tolist()
        np.testing.assert_allclose(
            [c["means"] for c in partition["clusters"]], expected, rtol=1e-5
        )
    inside = [c["within_stability"] for c in chosen(summary)["clusters"]]
    np.testing.assert_allclose(
        inside, [c.within_stability for c in fitted.cluster_stability_], rtol=1e-5
    )
    assert summary["features"]["names"] == ["height", "width"]


def test_clusters_of_other_candidates_are_measured_too(crossed):
    fitted, summary = crossed, summarize(crossed)
    # With K = 2, one cluster holds two of the three blobs, and only that one is stable inside.
    small, large = sorted(summary["partitions"][1]["clusters"], key=lambda c: c["size"])
    assert (small["size"], large["size"]) == (50, 100)
    levels = (fitted.epsilons_ > 0) & (fitted.epsilons_ <= fitted.crossing_epsilon_)
    for member in fitted.paths_.members[1]:
        cluster = small if member.size == 50 else large
        expected = fitted.paths_.clusters[member.row][:, levels].mean()
        assert cluster["within_stability"] == pytest.approx(expected, rel=1e-5)
    assert large["within_stability"] > 5 * small["within_stability"]


def test_a_path_that_still_rises_is_warned_of(fitted):
    selector = copy(fitted)
    selector.stadion_paths_ = np.sort(fitted.stadion_paths_, axis=1)
    assert "Try larger epsilons" in " ".join(summarize(selector)["answer"]["cautions"])
    assert "larger epsilons" not in " ".join(summarize(fitted)["answer"]["cautions"])


def test_hidden_structure_is_warned_of(fitted):
    perfect = np.ones_like(fitted.paths_.clusters)
    selector = copy(fitted)
    selector.paths_ = replace(fitted.paths_, clusters=perfect)
    summary = summarize(selector)
    assert [c["hidden_k"] for c in chosen(summary)["clusters"]] == [2, 2, 2]
    assert "Cluster 0 hides 2 sub-clusters" in " ".join(summary["answer"]["cautions"])
    assert summarize(fitted)["answer"]["cautions"] == []


def test_least_stable_points(fitted, summary):
    points = summary["unstable_points"]
    rows = [point["row"] for point in points]
    assert len(set(rows)) == len(rows)
    rest = np.delete(fitted.point_stability_, rows)
    for point in points:
        assert point["stability"] == pytest.approx(fitted.point_stability_[point["row"]], rel=1e-5)
        assert point["stability"] <= rest.min() + 1e-5
        assert point["label"] == fitted.labels_[point["row"]]


def test_the_same_cluster_keeps_its_color(summary):
    # The blob that is a cluster for K = 2 and for K = 3 has the same color in both.
    labels = {p["candidate"]: p for p in summary["partitions"]}
    alone = next(c for c in labels[1]["clusters"] if c["size"] == 50)
    same = next(
        c for c in labels[2]["clusters"] if np.allclose(c["means"], alone["means"], rtol=1e-4)
    )
    assert alone["color"] == same["color"]
    for partition in summary["partitions"]:
        colors = [c["color"] for c in partition["clusters"]]
        assert len(set(colors)) == len(colors)


def test_where_it_comes_from(fitted, summary, data):
    expected = hashlib.sha256(np.ascontiguousarray(data.to_numpy(), dtype=np.float64)).hexdigest()
    assert summary["data"]["sha256"] == expected
    assert (summary["data"]["n_rows"], summary["data"]["n_columns"]) == (150, 2)
    assert summary["seed"] == "0"
    assert summary["seconds"] == pytest.approx(fitted._seconds, rel=1e-5)
    assert {"python", "stablek", "numpy", "scikit-learn"} <= set(summary["versions"])
    assert summary["settings"]["k_range"] == "range(1, 6)"


def test_the_snippet_gives_the_same_answer(data):
    # No seed was given, so the report shows the seed that was used.
    clusterer = make_pipeline(StandardScaler(), AgglomerativeClustering(linkage="average"))
    selector = Stadion(
        clusterer,
        k_range=[1, 2, 4],
        n_perturbations=2,
        epsilons=np.array([0.0, 0.4, 0.8]),
        similarity="jaccard",
    ).fit(data)
    code = summarize(selector, load="X = data")["snippet"]
    scope = {"data": data}
    exec(code, scope)
    np.testing.assert_array_equal(scope["selector"].paths_.between, selector.paths_.between)
    np.testing.assert_array_equal(scope["selector"].labels_, selector.labels_)


def test_values_may_be_shown_in_other_units(fitted, data):
    raw = pd.DataFrame(data.to_numpy() * 100, columns=["a", "b"])
    summary = summarize(fitted, raw)
    assert summary["features"]["names"] == ["a", "b"]
    expected = raw.groupby(fitted.labels_).mean()
    means = [cluster["means"] for cluster in chosen(summary)["clusters"]]
    np.testing.assert_allclose(means, expected, rtol=1e-5)
    # The checksum is still that of the fitted data.
    assert summary["data"]["sha256"] == summarize(fitted)["data"]["sha256"]
    with pytest.raises(ValueError, match="X has 3 rows"):
        summarize(fitted, raw[:3])


def test_other_selectors_give_what_they_know(data):
    selector = Silhouette(k_range=range(2, 5), random_state=0).fit(data)
    for summary in (summarize(selector), summarize(selector, data)):
        assert summary["answer"]["sentence"].startswith("3 clusters. Next best:")
        assert summary["paths"] is None
        json.dumps(summary, allow_nan=False)
        render_html(summary)
        render_markdown(summary)
    assert sum(cluster["size"] for cluster in chosen(summary)["clusters"]) == 150
    assert summary["scatter"]["n_shown"] == 150


def test_an_abstention_is_reported():
    class Abstaining:
        k_values_ = np.array([2, 3])
        scores_ = np.array([np.nan, -np.inf])
        n_clusters_ = None
        labels_ = np.full(4, -1)
        abstention_ = "no candidate has a usable score"

        def get_params(self, deep=True):
            return {}

    summary = summarize(Abstaining())
    assert summary["answer"]["sentence"] == "no answer: no candidate has a usable score"
    assert [c["score"] for c in summary["candidates"]] == [None, "-inf"]
    assert "No answer: no candidate has a usable score" in render_markdown(summary)
    assert "no candidate has a usable score" in repr_html(Abstaining())
    assert "No answer" in render_html(summary)


def test_values_that_are_no_numbers_of_clusters(data):
    selector = Stadion(
        AgglomerativeClustering(n_clusters=3),
        k_range=["average", "single", "ward"],
        param_name="linkage",
        omega=["ward"],
        n_perturbations=2,
        n_epsilons=4,
        random_state=0,
    ).fit(data)
    summary = summarize(selector)
    assert summary["parameter"] == "linkage"
    assert summary["candidates"][0]["value"] == "average"
    assert summary["answer"]["sentence"].startswith(
        f"3 clusters with linkage = {selector.best_value_} (p"
    )
    assert "linkage" in render_html(summary)


def test_an_unfitted_selector_is_refused():
    with pytest.raises(ValueError, match=r"Stadion has no k_values_.*call fit first"):
        summarize(Stadion())


ROWS = [
    {"method": "stadion", "n_clusters": 3, "score": 0.5, "seconds": 1.0, "agreement": 0.9},
    {"method": "bic", "n_clusters": None, "score": float("nan"), "reason": "for mixtures only"},
]


@pytest.mark.parametrize(
    "comparison",
    [
        ROWS,
        pd.DataFrame(ROWS)
        .rename(columns={"reason": "abstention"})
        .astype({"n_clusters": "Int64"}),
        {row["method"]: {k: v for k, v in row.items() if k != "method"} for row in ROWS},
    ],
    ids=["rows", "frame", "dict"],
)
def test_a_comparison_in_any_form(fitted, comparison):
    rows = summarize(fitted, comparison=comparison)["comparison"]
    assert [row["method"] for row in rows] == ["stadion", "bic"]
    assert [row["n_clusters"] for row in rows] == [3, None]
    assert rows[1]["score"] is None
    assert rows[1]["reason"] == "for mixtures only"
    with pytest.raises(ValueError, match="each row needs 'method'"):
        summarize(fitted, comparison=[{"k": 1}])


def test_the_comparison_of_this_package(fitted, data):
    compare = pytest.importorskip("stablek.selectors.compare").compare
    table = compare(data, ["silhouette", "dunn", "bic"], k_range=range(1, 5), random_state=0)
    rows = summarize(fitted, comparison=table)["comparison"]
    expected = [(row.method, row.n_clusters, row.abstention) for row in table]
    assert [(row["method"], row["n_clusters"], row["reason"]) for row in rows] == expected


# ---- files --------------------------------------------------------------------------------------


def test_every_format_by_suffix(fitted, summary, tmp_path):
    for name in ("r.html", "r.HTM", "r.json", "r.md"):
        write_report(fitted, tmp_path / name)
    assert json.loads((tmp_path / "r.json").read_text(encoding="utf-8")) == summary
    assert (tmp_path / "r.md").read_text(encoding="utf-8").startswith("# 3 clusters (p &lt; 0.001")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert (tmp_path / "r.HTM").read_text(encoding="utf-8") == page
    write_report(fitted, tmp_path / "r.txt", format="md")
    with pytest.raises(ValueError, match="path must end in"):
        write_report(fitted, tmp_path / "r.pdf")
    with pytest.raises(ValueError, match="format must be"):
        write_report(fitted, tmp_path / "r.html", format="pdf")
    assert sorted(os.listdir(tmp_path)) == ["r.HTM", "r.html", "r.json", "r.md", "r.txt"]


def test_a_failure_leaves_the_old_file_whole(fitted, tmp_path, monkeypatch):
    path = tmp_path / "r.json"
    path.write_text("old")
    path.chmod(0o640)

    def full_disk(*_):
        raise OSError("no space left")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", full_disk)
        with pytest.raises(OSError, match="no space"):
            write_report(fitted, path)
    assert os.listdir(tmp_path) == ["r.json"]
    assert path.read_text() == "old"
    write_report(fitted, path)
    assert json.loads(path.read_text(encoding="utf-8"))["schema"] == 1
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_pipe_is_written_to_and_not_replaced(fitted, summary, tmp_path):
    pipe = tmp_path / "r.json"
    os.mkfifo(pipe)
    with subprocess.Popen(["cat", pipe], stdout=subprocess.PIPE) as reader:
        fitted.report(pipe)
        assert json.loads(reader.communicate(timeout=60)[0]) == summary
    assert stat.S_ISFIFO(pipe.stat().st_mode)


class Page(HTMLParser):
    """Elements, texts and scripts as a browser would see them."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.texts, self.scripts, self.attributes = [], [], [], []
        self.inside = None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.inside = tag
        if tag == "script":
            self.scripts.append([dict(attrs), ""])

    def handle_endtag(self, tag):
        self.inside = None

    def handle_data(self, data):
        if self.inside == "script":
            self.scripts[-1][1] += data
        else:
            self.texts.append(data)


def evil_summary():
    rng = np.random.default_rng(0)
    X = pd.DataFrame(rng.normal(size=(40, len(EVIL))), columns=EVIL)
    selector = Stadion(k_range=[1, 2], n_perturbations=2, epsilons=[0.0, 0.5], random_state=0)
    comparison = [{"method": EVIL[0], "n_clusters": 2, "reason": EVIL[1]}]
    return summarize(selector.fit(X), comparison=comparison, source=EVIL[1], load=EVIL[2])


def test_text_from_data_cannot_leave_its_place():
    summary = evil_summary()
    page = Page(render_html(summary))
    assert page.tags.count("script") == 3
    assert "img" not in page.tags
    assert not [name for name, _ in page.attributes if name.startswith("on")]
    data, plotly, own = page.scripts
    assert data[0]["type"] == "application/json"
    assert json.loads(data[1]) == summary
    assert not set("<>&\u2028\u2029") & set(data[1])
    assert EVIL[0] in page.texts  # the method's name, as text
    assert plotly[0] == own[0] == {}


def test_the_policy_allows_these_scripts_and_no_request(summary):
    text = render_html(summary)
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1]
    assert "default-src 'none'" in policy
    assert "http" not in policy
    for _, script in Page(text).scripts[1:]:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    outside = re.sub(r"<script>.*?</script>", "", text, flags=re.S)
    assert not re.search(r"""(src|href)=["']?[^#"']|url\(|@import""", outside)


def test_markdown_escapes_text_from_data():
    text = render_markdown(evil_summary())
    code = text[text.index("```") :]
    prose = text[: text.index("```")]
    assert "<script" not in prose
    assert "<img" not in prose
    assert "\\|pipe\\`tick\\*star\\_" in prose
    assert code.count("```") == 2
    # A table's rows have as many cells as its head.
    for block in re.findall(r"(?:^\|.*\n)+", prose, flags=re.M):
        cells = [len(re.findall(r"(?<!\\)\|", line)) for line in block.splitlines()]
        assert len(set(cells)) == 1


def test_long_names_are_cut(fitted):
    assert max(len(name) for name in evil_summary()["features"]["names"]) == 200


def test_a_large_report_stays_small():
    # Everything that makes a report large: 100,000 rows, 60 candidates, 40 features.
    rng = np.random.default_rng(0)
    n, ks = 100_000, range(1, 61)
    selector = Stadion(k_range=ks, random_state=0)
    labels = np.stack([rng.integers(k, size=n) for k in ks])
    sizes = [np.bincount(row) for row in labels]
    starts = np.cumsum([0, *(len(size) for size in sizes)])
    members = tuple(
        tuple(Member(label, int(start + label), int(m)) for label, m in enumerate(size))
        for start, size in zip(starts, sizes, strict=False)
    )
    selector.paths_ = StabilityPaths(
        k_values=tuple(ks),
        n_clusters=tuple(ks),
        omega=(2, 3),
        epsilons=np.linspace(0, 1, 20),
        between=rng.uniform(size=(60, 20, 5)),
        clusters=rng.uniform(size=(int(starts[-1]), 2, 20, 5)),
        members=members,
    )
    selector._entropy, selector.k_values_, selector.structure_test_ = 0, np.array(ks), None
    selector._store(selector.reselect())
    selector.reference_labels_ = labels
    selector.labels_ = labels[list(ks).index(selector.best_value_)]
    selector.point_stability_ = rng.uniform(size=n)
    selector._fit_X = rng.normal(size=(n, 40))
    summary = summarize(selector)
    assert len(render_html(summary).encode()) < 6_000_000
    assert summary["scatter"]["n_shown"] < summary["scatter"]["n_total"] == n
    assert len(summary["features"]["names"]) < summary["features"]["n_total"] == 40
    assert len(summary["partitions"]) == 60
    # The report shows a sample of the rows, with the labels of these rows.
    rows = np.array(summary["scatter"]["rows"])
    assert len(np.unique(rows)) == len(rows)
    np.testing.assert_array_equal(summary["scatter"]["labels"][7], labels[7][rows])


# ---- notebooks ----------------------------------------------------------------------------------


def test_notebook_answer_is_short_and_escaped(fitted, crossed):
    text = repr_html(fitted)
    assert "<strong>3 clusters (p &lt; 0.001 against no structure). Next best:" in text
    assert text.count("<tr") == 5  # K = 1 has no score
    assert repr_html(crossed).count("<tr") == 6
    assert "noise draws" in text
    assert len(text) < 3000

    class Evil:
        k_values_ = np.array(["<b>x", "y"])
        scores_ = np.array([1.0, 0.5])
        n_clusters_ = 2
        best_value_ = "<b>x"
        param_name = "<i>p"

    assert "<b>x" not in repr_html(Evil())
    assert "<i>p" not in repr_html(Evil())
