"""The same default candidates everywhere, and the traps on the way to them."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from commands import assert_refused, run
from sklearn.cluster import BisectingKMeans
from sklearn.datasets import load_wine, make_blobs
from sklearn.decomposition import PCA, TruncatedSVD
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stablek import Stadion, compare, evaluate_partition, select_k, subsample_frequency
from stablek.candidates import resolve_k_values
from stablek.selectors import SELECTORS, Silhouette

X, Y = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
WINE = load_wine(as_frame=True).data
SPREADS = "spreads of the features differ by a factor of"
QUICK = {"n_perturbations": 1, "omega": [2], "epsilons": [0.3], "n_reference_sets": 3}


@pytest.fixture(scope="module")
def wine(tmp_path_factory):
    path = tmp_path_factory.mktemp("wine") / "wine.csv"
    WINE.to_csv(path, index=False)
    return path


def test_the_command_line_and_the_library_agree_on_wine(wine):
    done = run("select", str(wine), "--json", "-", "--subsamples", "0")
    found = json.loads(done.stdout)
    pipe = make_pipeline(StandardScaler(), Stadion(random_state=0)).fit(WINE)
    assert found["answer"]["n_clusters"] == pipe[-1].n_clusters_ == 3
    assert found["answer"]["sentence"] == str(pipe[-1])
    assert [row["value"] for row in found["candidates"]] == list(range(1, 21))
    scores = [np.nan if row["score"] is None else row["score"] for row in found["candidates"]]
    np.testing.assert_allclose(scores, pipe[-1].scores_, rtol=1e-5)
    assert "k_range" not in found["snippet"]


@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_has_the_same_default(name):
    assert SELECTORS[name]().k_range is None


def test_default_candidates_are_cut_to_the_distinct_rows():
    few = np.repeat(X[:6], 3, axis=0)
    assert resolve_k_values(None, X) == tuple(range(1, 21))
    assert resolve_k_values(None, few) == tuple(range(1, 7))
    assert Silhouette(random_state=0).fit(few).k_values_.tolist() == list(range(1, 7))
    assert compare(few, ["dunn"], random_state=0).row("dunn").selector.k_values_[-1] == 6
    assert subsample_frequency(Silhouette(random_state=0), few, 2).answers
    with pytest.raises(ValueError, match="k_range must name the values to try"):
        resolve_k_values(None, X, values_are_k=False)


@pytest.mark.parametrize(
    "fit",
    [
        lambda data: Stadion(k_range=[1, 2, 3], random_state=0, **QUICK).fit(data),
        lambda data: select_k(data, "silhouette", k_range=[2, 3], random_state=0),
        lambda data: compare(data, ["dunn"], k_range=[2, 3], random_state=0),
        lambda data: evaluate_partition(
            data, Y, omega=[2], epsilons=[0.3], n_perturbations=1, random_state=0
        ),
    ],
    ids=["Stadion", "select_k", "compare", "evaluate_partition"],
)
def test_unequal_spreads_warn_beyond_ten(fit):
    Z = StandardScaler().fit_transform(X)
    for factor in (1.0, 9.9):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            fit(Z * [1.0, factor])
    with pytest.warns(UserWarning, match=rf"{SPREADS} 11 .*make_pipeline\(Stand") as caught:
        fit(Z * [1.0, 11.0])
    assert len(caught) == 1
    assert caught[0].filename == __file__


def test_the_warning_names_columns_and_spares_what_is_meant():
    options = {"k_range": [2, 3], "random_state": 0}
    with pytest.warns(UserWarning, match=r"314 of 'proline', 0.124 of 'nonflav"):
        Silhouette(**options).fit(WINE)
    Z = WINE.to_numpy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Silhouette(make_pipeline(StandardScaler(), BisectingKMeans()), **options).fit(WINE)
        for components in (PCA(), TruncatedSVD(5, random_state=0)):
            Silhouette(**options).fit(components.fit_transform(Z))
        constant = np.column_stack([X, np.ones(len(X))])
        Silhouette(**options).fit(constant)


def test_a_pair_of_ends_is_two_candidates_and_warned_of():
    with pytest.warns(UserWarning, match=r"K = 2 and K = 6 only.*range\(2, 7\)"):
        fitted = Silhouette(k_range=(2, 6), random_state=0).fit(X)
    assert fitted.k_values_.tolist() == [2, 6]
    with pytest.warns(UserWarning, match=r"range\(2, 7\)") as caught:
        compare(X, ["dunn", "silhouette"], k_range=(2, 6), random_state=0)
    assert len(caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for k_range in ([2, 6], (2, 3), (2, 3, 6), range(2, 4)):
            Silhouette(k_range=k_range, random_state=0).fit(X)


def test_k_with_a_dash(wine):
    quick = ("--method", "calinski_harabasz", "--subsamples", "0", "--json", "-")
    done = run("select", str(wine), "--k", "2-4", *quick)
    assert [row["value"] for row in json.loads(done.stdout)["candidates"]] == [2, 3, 4]
    pair = run("select", str(wine), "--k", "2,4", *quick)
    assert "note" not in pair.stderr
    assert_refused(run("select", str(wine), "--k", "4-2", *quick), "'4-2' runs backwards")


def test_a_single_candidate_has_no_frequency(wine, tmp_path):
    report = tmp_path / "r.md"
    done = run("select", str(wine), "--k", "3", "--report", str(report))
    assert done.stdout.startswith("3 clusters (p = ")
    assert "No other K was a candidate." in done.stdout
    text = report.read_text()
    for said in (done.stdout, text):
        assert "100%" not in said
        assert "frequency" not in said
        assert "resampled" not in said
        assert "subsamples" not in said
        assert "is the highest" not in said
    fitted = Silhouette(k_range=[1, 3], random_state=0).fit(X)
    assert str(fitted) == "3 clusters. No other K was a candidate."
    found = subsample_frequency(fitted, X, n_subsamples=2)
    fitted.report(report, subsamples=found)
    assert "same K on" not in report.read_text()
