"""The answer in words: sentence, reasons, rivals and cautions, the same in every format."""

import re
from copy import copy
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.stats import t as student

from pages import Page
from stablek import Stadion
from stablek.report import describe_answer, repr_html, summarize
from stablek.report.html import render_html
from stablek.report.markdown import render_markdown
from stablek.report.rivals import _why
from stablek.results import Member, StabilityPaths
from stablek.selectors.index import Silhouette
from stablek.selectors.subsamples import SubsampleFrequency, subsample_frequency


@pytest.fixture(scope="module")
def nothing():
    """A fit on data without clusters."""
    X = np.random.default_rng(0).uniform(size=(120, 2))
    return Stadion(k_range=range(1, 4), n_perturbations=2, n_epsilons=4, random_state=0).fit(X)


@pytest.fixture(scope="module")
def summary(fitted):
    return summarize(fitted)


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
    assert "look different" in answer["reasons"][2]
    value, sets = (
        (test.valley, test.reference_valleys)
        if test.by_valley
        else (test.statistic, test.reference_statistics)
    )
    assert f"{value:.3f}" in answer["reasons"][2]
    assert f"{sets[test.kind].mean():.3f}" in answer["reasons"][2]


def test_the_answer_alone_is_that_of_the_summary(fitted, nothing, crossed, data):
    silhouette = Silhouette(k_range=range(2, 5), random_state=0).fit(data)
    for selector in (fitted, nothing, crossed, silhouette):
        assert describe_answer(selector) == summarize(selector)["answer"]
    hiding = copy(fitted)  # two blobs of three, so that a cluster hides others
    hiding.n_clusters_, hiding.best_value_ = 2, 2
    subsamples = SubsampleFrequency((3,) * 15 + (2,) * 5, 100)
    assert (
        describe_answer(hiding, subsamples) == summarize(hiding, subsamples=subsamples)["answer"]
    )


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
    assert "can look the same" in answer["reasons"][0]
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
        pvalues = []
        valleys = structure["reference_valleys"][kind]
        for value, of_sets in (
            (structure["statistics"][kind], sets),
            (structure["valley"], valleys),
        ):
            spread = np.std(of_sets, ddof=1) * np.sqrt(1 + 1 / len(of_sets))
            pvalues.append(student.sf((value - np.mean(of_sets)) / spread, len(of_sets) - 1))
        assert structure["pvalues"][kind] == pytest.approx(2 * min(pvalues), rel=0.01)
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


def test_a_tie_is_called_a_tie():
    paths = SimpleNamespace(between_stability_=np.ones((2, 1)), within_stability_=np.zeros((2, 1)))
    fitted = SimpleNamespace(selector=paths, selected=0, scores=np.array([0.5, 0.5]))
    tie = "a tie: both score 0.500, and the first of equals wins"
    assert _why(fitted, rival=1, level=0) == ("score", tie)


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
