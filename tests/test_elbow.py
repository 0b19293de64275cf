"""The elbow: hand-computed curves, the package kneed as an oracle, and where the rule fails."""

from __future__ import annotations

import json

import numpy as np
import pytest
from commands import run
from sklearn.cluster import KMeans
from sklearn.datasets import make_blobs

from stablek import Stadion, compare, select_k
from stablek.datasets import make_demo
from stablek.report import repr_html, summarize
from stablek.selectors import BIC, DaviesBouldin, Elbow
from stablek.selectors.elbow import elbow_curve, find_elbow

# By kneed 0.9.0, for S = 0, 0.5, 1, 2, 5:
# KneeLocator(range(1, n + 1), y, S=S, curve="convex", direction="decreasing").elbow
KNEED = [
    ([100, 40, 10, 5, 0], [3, 3, 3, None, None]),
    ([100, 50, 25, 12, 6, 3, 1], [3, 3, 3, 3, None]),
    ([10, 9, 8, 7, 6], [None] * 5),
    ([100, 90, 30, 25, 20, 5, 4, 3], ["first", 3, 3, None, None]),
    ([5, 5, 5, 5], [None] * 5),
    ([100, 60, 59, 58, 20, 19, 18, 0], [2, 2, 2, None, None]),
    ([100, 20, 21, 19, 18, 17, 3, 2, 1], [2, 2, 2, 2, None]),
    ([100, 20, 15, 11, 8, 6, 5, 4, 3.5, 3], [2] * 5),
]


@pytest.mark.parametrize("inertia, elbows", KNEED)
def test_the_oracle(inertia, elbows):
    curve = elbow_curve(range(1, len(inertia) + 1), inertia)
    for sensitivity, elbow in zip((0, 0.5, 1, 2, 5), elbows, strict=True):
        found = find_elbow(curve, sensitivity)
        if elbow == "first":  # kneed answers K = 1 there, which is no elbow
            assert found != 0
        else:
            assert (None if found is None else found + 1) == elbow


def test_hand_computed_curve_with_uneven_candidates():
    # x: 0, 1/9, 3/9, 1; 1 - y: 0, 0.8, 0.9, 1
    curve = elbow_curve([1, 2, 4, 10], [100.0, 20.0, 10.0, 0.0])
    np.testing.assert_allclose(curve, [0, 0.8 - 1 / 9, 0.9 - 1 / 3, 0], atol=1e-12)
    # After the peak at K = 2 (0.689) the curve must fall below 0.689 - 1/3 = 0.356.
    assert find_elbow(curve) == 1


def test_inertia_is_that_of_kmeans():
    X, _ = make_blobs(90, centers=3, random_state=0)
    fitted = Elbow(k_range=range(1, 4), random_state=0).fit(X)
    expected = [KMeans(k, n_init=10, random_state=0).fit(X).inertia_ for k in range(1, 4)]
    np.testing.assert_allclose(fitted.inertia_, expected, rtol=1e-6)
    curve = [np.nan, elbow_curve(range(1, 4), expected)[1], np.nan]
    np.testing.assert_allclose(fitted.scores_, curve, atol=1e-6)


def elbow(X, largest):
    return select_k(X, "elbow", k_range=range(1, largest + 1), random_state=0).n_clusters_


def test_where_it_fails():
    """The numbers of docs/methods.md; kneed gives the same for these inertia curves."""
    rng = np.random.default_rng(0)
    uniform = rng.uniform(size=(500, 2))
    gaussian = np.random.default_rng(0).normal(size=(500, 2))
    assert [elbow(uniform, largest) for largest in (20, 30, 40)] == [4, 6, 7]
    assert elbow(gaussian, 20) == 6
    assert [elbow(make_demo()[0], largest) for largest in (8, 12, 20)] == [3, 5, 5]
    centers = [[0, 0], [3, 0], [9, 9], [12, 9]]
    pairs, _ = make_blobs(300, centers=centers, cluster_std=0.3, random_state=0)
    assert elbow(pairs, 10) == 2
    quick = {"n_perturbations": 3, "n_reference_sets": 3, "k_range": range(1, 11)}
    assert Stadion(random_state=0, **quick).fit(pairs).n_clusters_ == 4


@pytest.mark.parametrize("change", [{"sensitivity": -1}, {"sensitivity": "much"}])
def test_bad_sensitivity(change):
    with pytest.raises(ValueError, match="sensitivity must be a number of at least 0"):
        Elbow(**change).fit(np.eye(5))


def test_no_elbow_is_an_abstention():
    X = np.linspace(0, 1, 12)[:, None] ** np.array([1.0])
    fitted = Elbow(k_range=range(6, 12), sensitivity=100, random_state=0).fit(X)
    assert fitted.n_clusters_ is None
    assert fitted.abstention_ == "the inertia curve has no elbow"


def test_flipped_scores_come_with_their_own_value():
    X, _ = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    davies = DaviesBouldin(k_range=[2, 3, 4], random_state=0).fit(X)
    value = f"{davies.index_values_[1]:.3g}"
    said = summarize(davies)
    assert [row["own_value"] for row in said["candidates"]] == pytest.approx(
        davies.index_values_, rel=1e-5
    )
    assert f"K = 3: Davies-Bouldin {value}" in said["answer"]["reasons"][0]
    assert "Smaller is better." in said["answer"]["reasons"][0]
    assert "<th>Davies-Bouldin</th>" in repr_html(davies)
    bic = BIC(k_range=[1, 2, 3], random_state=0).fit(X)
    assert summarize(bic)["candidates"][2]["own_value"] == pytest.approx(bic.bic_[2], rel=1e-5)
    stadion = Stadion(k_range=[1, 3], random_state=0, n_perturbations=2).fit(X)
    assert summarize(stadion)["own_quantity"] is None
    row = compare(X, ["davies_bouldin", "dunn"], k_range=[2, 3], random_state=0).rows
    assert row[0].own_value == -row[0].score
    assert np.isnan(row[1].own_value)


def test_own_values_on_the_command_line(tmp_path):
    X, _ = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    path, report = tmp_path / "x.csv", tmp_path / "r.html"
    np.savetxt(path, X, delimiter=",")
    quick = ("--k", "2:5", "--subsamples", "0", "--jobs", "1")
    done = run("select", str(path), "--method", "elbow", *quick, "--report", str(report))
    assert done.stdout.splitlines()[2].split() == ["K", "score", "inertia"]
    assert '<th scope="col" class="n">inertia</th>' in report.read_text()
    table = tmp_path / "t.json"
    methods = ("--methods", "xie_beni,silhouette")
    done = run("compare", str(path), "--k", "2:4", *methods, "--json", str(table))
    assert "own value" in done.stdout
    xie_beni, silhouette = json.loads(table.read_text())
    assert xie_beni["own_value"] == -xie_beni["score"]
    assert silhouette["own_value"] is None
