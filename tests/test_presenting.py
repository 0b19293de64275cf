"""What a fitted selector shows of itself, and what unsuitable input is told."""

from __future__ import annotations

import re
import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from scipy.sparse import csr_array, csr_matrix
from sklearn.cluster import AgglomerativeClustering, BisectingKMeans, KMeans, SpectralClustering
from sklearn.datasets import make_blobs
from sklearn.decomposition import PCA
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import stablek
from stablek import ScoresDisplay, StabilityPathsDisplay, Stadion, compare
from stablek.selectors import Silhouette
from stablek.selectors.assumptions import advice, assumption

X, _ = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
QUICK = {"k_range": range(1, 6), "n_perturbations": 2, "omega": [2, 3], "n_reference_sets": 3}


@pytest.fixture(scope="module")
def stadion():
    return Stadion(random_state=0, **QUICK).fit(X)


def test_print_and_best_score(stadion):
    assert str(stadion).startswith("3 clusters (p ")
    assert stadion.best_score_ == stadion.scores_[2] == np.nanmax(stadion.scores_)
    assert repr(stadion).startswith("Stadion(")
    noise = np.random.default_rng(0).uniform(size=(90, 2))
    assert np.isnan(Stadion(random_state=0, **QUICK).fit(noise).best_score_)
    with pytest.raises(stablek_not_fitted()):
        _ = Stadion().best_score_


def stablek_not_fitted():
    from sklearn.exceptions import NotFittedError

    return NotFittedError


def test_the_notebook_shows_the_scores(stadion):
    page = stadion._repr_html_()
    [svg] = re.findall(r"<svg.*?</svg>", page, flags=re.DOTALL)
    assert svg.count("<circle") == 4 + 1  # one cluster has no score; the answer has a ring
    assert 'class="chosen"' in svg
    assert "Score of each K" in svg
    heights = [float(y) for y in re.findall(r'cy="([\d.]+)" r="2.5"', svg)]
    assert int(np.argmin(heights)) == 1  # the first drawn is K = 2
    single = Silhouette(k_range=[3], random_state=0).fit(X)
    assert "<svg" not in single._repr_html_()


def test_plot(stadion):
    assert isinstance(stadion.plot(), StabilityPathsDisplay)
    silhouette = Silhouette(k_range=[2, 3, 4], random_state=0).fit(X)
    display = silhouette.plot()
    assert isinstance(display, ScoresDisplay)
    again = silhouette.plot(ax=display.ax_)
    assert again.ax_ is display.ax_
    with pytest.raises(stablek_not_fitted()):
        Silhouette().plot()


def test_dir_has_public_names_only():
    assert set(dir(stablek)) == {*stablek.__all__, "__version__"}
    for name in stablek.__all__:
        assert getattr(stablek, name) is not None


def test_a_pipeline_names_the_faster_spelling_and_keeps_its_meaning():
    pipe = make_pipeline(PCA(), KMeans(n_init=1))
    options = {**QUICK, "k_range": [2, 3], "one_cluster": "never", "random_state": 0}
    with pytest.warns(UserWarning, match=r"make_pipeline\(PCA\(...\), Stadion\(KMeans") as caught:
        Stadion(pipe, **{**options, "n_perturbations": 1, "epsilons": [0.3]}).fit(X)
    assert [w.filename for w in caught] == [__file__]
    with pytest.warns(UserWarning, match="adds the noise after them"):
        compare(X, ["silhouette"], [pipe], k_range=[2, 3], random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        slow = make_pipeline(StandardScaler(), BisectingKMeans())  # no fast engine anyway
        Silhouette(slow, k_range=[2, 3], random_state=0).fit(X)
        make_pipeline(PCA(), Silhouette(k_range=[2, 3], random_state=0)).fit(X)


@pytest.mark.parametrize("make", [csr_matrix, csr_array])
def test_sparse_data_get_a_recipe(make):
    for call in (Stadion().fit, Silhouette().fit, compare):
        with pytest.raises(TypeError, match="sparse") as raised:
            call(make(np.eye(20)))
        said = str(raised.value)
        assert "toarray" not in said
        recipe = [line for line in said.splitlines() if line.startswith("    ")]
        assert len(recipe) == 2
        assert "TruncatedSVD(n_components=50" in recipe[0]
    code = "\n".join(line.strip() for line in recipe).replace("50", "3")
    from sklearn.decomposition import TruncatedSVD

    names = {"make_pipeline": make_pipeline, "TruncatedSVD": TruncatedSVD}
    names |= {"Stadion": lambda: Silhouette(k_range=[2, 3], random_state=0)}
    exec(code, {**names, "X": make(np.random.default_rng(0).poisson(1.0, size=(30, 20)))})


@pytest.mark.parametrize(
    "clusterer",
    [
        AgglomerativeClustering(metric="precomputed", linkage="average"),
        SpectralClustering(affinity="precomputed"),
        make_pipeline(StandardScaler(), SpectralClustering(affinity="precomputed")),
    ],
)
def test_precomputed_distances_are_refused_up_front(clusterer):
    distances = np.abs(X[:, :1] - X[:, :1].T)
    for fit in (Stadion(clusterer).fit, lambda D: compare(D, ["dunn"], clusterer)):
        with pytest.raises(ValueError, match=r"='precomputed', but.*sklearn\.manifold\.MDS"):
            fit(distances)


def test_compare_says_what_differs():
    rng = np.random.default_rng(0)
    stripes = np.vstack([rng.normal(size=(60, 2)) * [8, 0.5] + [0, y] for y in (0, 6)])
    clusterers = {"kmeans": KMeans(n_init=3), "gmm": GaussianMixture()}
    options = {"stadion": {key: QUICK[key] for key in QUICK if key != "k_range"}}
    never = {"stadion": {**options["stadion"], "one_cluster": "never"}}
    compared = compare(
        stripes, ["stadion"], clusterers, k_range=range(1, 5), options=never, random_state=0
    )
    first, second, last = compared.advice
    assert first.startswith("kmeans looks for round clusters of similar size: ")
    assert second.startswith("gmm looks for ellipses of any size, length and direction: ")
    assert "find different clusters" in last or "Which algorithm is not clear" in last
    assert last in str(compared)
    assert last.split(":")[0] in compared._repr_html_()
    same = compare(
        X,
        ["stadion"],
        {"a": KMeans(n_init=3), "b": KMeans(n_init=2)},
        k_range=range(1, 5),
        options=options,
        random_state=0,
    )
    assert "a and b find nearly the same clusters (adjusted Rand index 1.00)" in same.advice[-1]
    assert compare(X, ["stadion"], k_range=[1, 2], options=options, random_state=0).advice == []


def test_advice_if_only_one_finds_clusters():
    none = SimpleNamespace(n_clusters=1, score=np.nan, clusterer="a", selector=None)
    some = SimpleNamespace(n_clusters=2, score=0.5, clusterer="b", selector=None)
    assert advice([none, some]) == [
        "a: no cluster structure found.",
        "b: 2 clusters, score 0.500.",
        "Only b finds clusters: they have the shape it looks for.",
    ]


def test_assumptions():
    assert assumption(make_pipeline(PCA(), KMeans())) == "round clusters of similar size"
    assert assumption(GaussianMixture(covariance_type="diag")) == "ellipses along the axes"
    assert assumption(stablek.KMeansGaussianMixture()) == assumption(GaussianMixture())
    assert assumption(StandardScaler()) is None
