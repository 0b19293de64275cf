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

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pages import Page
from stablek import Stadion
from stablek.report import repr_html, summarize, write_report
from stablek.report.html import render_html
from stablek.report.markdown import render_markdown
from stablek.results import Member, StabilityPaths
from stablek.selectors.index import Silhouette

EVIL = [
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(1)>",
    "\"quotes' & <!-- <b>",
    "שלום עולם",
    "x" * 5000,
    "line\u2028break|pipe`tick*star_",
]


@pytest.fixture(scope="module")
def summary(fitted):
    return summarize(fitted)


def chosen(summary):
    return next(p for p in summary["partitions"] if p["candidate"] == summary["selected"])


# ---- the summary --------------------------------------------------------------------------------


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


def test_least_stable_points_of_the_best_others_and_ids(fitted):
    ids = [f"p{i}" for i in range(len(fitted.labels_))]
    found = summarize(fitted, ids=ids)
    position = fitted.k_values_.tolist().index(fitted.n_clusters_)
    assert str(position) not in found["unstable_of_others"]
    assert found["unstable_of_others"]
    for key, points in found["unstable_of_others"].items():
        labels = fitted.reference_labels_[int(key)]
        partition = fitted._partition_of[fitted.k_values_[int(key)]]
        stability = fitted._stability_of_points(partition=partition)
        for point in points:
            assert point["id"] == f"p{point['row']}"
            assert point["label"] == labels[point["row"]]
            assert point["stability"] == pytest.approx(stability[point["row"]], rel=1e-5)
    with pytest.raises(ValueError, match="ids must name each of the"):
        summarize(fitted, ids=ids[:-1])


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
