"""The estimator: its parameters, its data and its attributes."""

import itertools
import os
import pickle
import subprocess
import sys
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.base import BaseEstimator, ClusterMixin, clone
from sklearn.cluster import (
    DBSCAN,
    HDBSCAN,
    AgglomerativeClustering,
    Birch,
    BisectingKMeans,
    KMeans,
    MiniBatchKMeans,
    SpectralClustering,
)
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stablek import Stadion
from stablek.perturbations import PERTURBATIONS, Draw, perturb
from stablek.points import _matched
from stablek.seeding import entropy_of
from stablek.similarity import SIMILARITIES

SMALL = {
    "k_range": range(1, 5),
    "omega": [2, 3],
    "n_perturbations": 2,
    "epsilons": [0.0, 0.2, 0.6, 1.2],
    "one_cluster": "crossing",
    "random_state": 0,
}


@pytest.fixture(scope="module")
def fitted(blobs):
    options = {"n_perturbations": 4, "n_epsilons": 6, "one_cluster": "crossing"}
    return Stadion(k_range=range(1, 6), random_state=0, **options).fit(blobs)


def test_everything_is_there_and_has_its_shape(fitted, blobs):
    n_k, n_epsilons, n = 5, 6, len(blobs)
    assert fitted.n_clusters_ == fitted.best_value_ == 3
    assert fitted.k_values_.tolist() == [1, 2, 3, 4, 5]
    assert fitted.epsilons_.shape == (n_epsilons,)
    for paths in (fitted.between_stability_, fitted.within_stability_, fitted.stadion_paths_):
        assert paths.shape == (n_k, n_epsilons)
        assert np.isfinite(paths).all()
    np.testing.assert_allclose(
        fitted.stadion_paths_, fitted.between_stability_ - fitted.within_stability_
    )
    assert fitted.scores_.shape == fitted.selection_frequency_.shape == (n_k,)
    assert fitted.selection_frequency_.sum() == pytest.approx(1)
    assert 0 < fitted.crossing_epsilon_ <= fitted.epsilons_[-1]
    assert fitted.reference_labels_.shape == (n_k, n)
    np.testing.assert_array_equal(fitted.labels_, fitted.reference_labels_[2])
    np.testing.assert_array_equal(fitted.best_estimator_.labels_, fitted.labels_)
    np.testing.assert_array_equal(fitted.predict(blobs), fitted.labels_)
    assert fitted.paths_.between.shape == (5, n_epsilons, 4)
    assert fitted.paths_.within.shape == (5, 4, n_epsilons, 4)
    assert fitted.paths_.stadion_standard_error.shape == (5, n_epsilons)
    assert fitted.point_stability_.shape == (n,)
    assert ((fitted.point_stability_ >= 0) & (fitted.point_stability_ <= 1)).all()
    assert sum(c.size for c in fitted.cluster_stability_) == n
    assert fitted.n_features_in_ == 2
    assert fitted.relabel_ == "extend"


def test_auto_levels_are_the_papers_grid(fitted, rng):
    even = np.linspace(0, np.sqrt(2), len(fitted.epsilons_))
    np.testing.assert_array_equal(fitted.epsilons_, even)
    options = {"omega": [2], "n_perturbations": 1, "n_epsilons": 4, "one_cluster": "crossing"}
    wide = Stadion(k_range=[1, 2], random_state=0, **options).fit(rng.normal(size=(20, 9)))
    np.testing.assert_array_equal(wide.epsilons_, [0, 1, 2, 3])


def test_counted_levels_are_those_of_the_scores(fitted, blobs):
    expected = (fitted.epsilons_ > 0) & (fitted.epsilons_ <= fitted.crossing_epsilon_)
    np.testing.assert_array_equal(fitted.counted_levels_, expected)
    assert 0 < expected.sum() < len(expected) - 1
    best = fitted.stadion_paths_[:, fitted.counted_levels_].max(axis=1)
    np.testing.assert_array_equal(fitted.scores_, best)
    whole = clone(fitted).set_params(one_cluster="never").fit(blobs)
    np.testing.assert_array_equal(whole.counted_levels_, whole.epsilons_ > 0)


def test_point_stability_is_lowest_between_the_clusters(rng):
    X = np.concatenate([rng.normal(0, 1, 60), rng.normal(6, 1, 60), [3.0]])[:, None]
    stadion = Stadion(k_range=[1, 2], random_state=0).fit(X)
    assert stadion.n_clusters_ == 2
    assert np.argmin(stadion.point_stability_) in np.argsort(np.abs(X[:, 0] - 3))[:3]


def test_point_stability_is_the_share_of_copies_in_which_a_point_keeps_its_cluster(rng):
    X = np.concatenate([rng.normal(0, 1, 30), rng.normal(4, 1, 30)])[:, None]
    levels = {"epsilons": [0.5, 1.0], "one_cluster": "never"}
    stadion = Stadion(k_range=[2], n_perturbations=2, random_state=0, **levels).fit(X)
    kept = [
        stadion.predict(perturb(X, e, X.std(axis=0), draw, PERTURBATIONS["uniform"])[0])
        == stadion.labels_
        for e in stadion.epsilons_
        for draw in (Draw(entropy_of(0), d, len(X)) for d in range(2))
    ]
    assert not np.all(kept)
    np.testing.assert_array_equal(stadion.point_stability_, np.mean(kept, axis=0))


def test_point_stability_of_a_point_that_no_copy_has_is_unknown(rng):
    X = np.concatenate([rng.normal(0, 1, 30), rng.normal(90, 1, 30)])[:, None]
    stadion = Stadion(k_range=[2], perturbation="bootstrap", n_perturbations=2, random_state=0)
    stadion.fit(X)
    present = np.zeros(len(X), dtype=bool)
    for draw in range(2):
        source = Draw(entropy_of(0), draw, len(X))
        present[perturb(X, 1.0, np.ones(1), source, PERTURBATIONS["bootstrap"])[1]] = True
    assert not present.all()
    np.testing.assert_array_equal(stadion.point_stability_, np.where(present, 1.0, np.nan))


def test_reselect_slices_what_was_computed(fitted, blobs):
    same = fitted.reselect()
    np.testing.assert_array_equal(same.scores, fitted.scores_)
    assert same.n_clusters == fitted.n_clusters_
    fewer = fitted.reselect(n_perturbations=2, omega=[2, 4], aggregation="mean")
    again = Stadion(
        k_range=range(1, 6),
        n_perturbations=2,
        omega=[2, 4],
        aggregation="mean",
        epsilons=fitted.epsilons_,
        one_cluster="crossing",
        random_state=0,
    ).fit(blobs)
    np.testing.assert_array_equal(fewer.stadion_paths, again.stadion_paths_)
    np.testing.assert_array_equal(fewer.scores, again.scores_)
    assert fewer.n_clusters == again.n_clusters_
    np.testing.assert_array_equal(
        fitted.reselect(one_cluster="never").scores[1:],
        fitted.stadion_paths_[1:, 1:].max(axis=1),
    )
    np.testing.assert_array_equal(fitted.reselect().scores, fitted.scores_)
    with pytest.raises(ValueError, match="n_perturbations"):
        fitted.reselect(n_perturbations=5)
    with pytest.raises(ValueError, match="omega"):
        fitted.reselect(omega=[9])


@pytest.mark.parametrize("library", ["pandas", "polars"])
def test_results_frame(fitted, library):
    frame = fitted.results_frame(library)
    assert type(frame).__module__.startswith(library)
    assert frame.shape == (5 * 6, 11)
    stadion = np.asarray(frame["stadion"]).reshape(5, 6)
    np.testing.assert_array_equal(stadion, fitted.stadion_paths_)
    assert set(np.asarray(frame["k"])[np.asarray(frame["selected"])]) == {3}
    with pytest.raises(ValueError, match="library must be one of"):
        fitted.results_frame("arrow")


CLUSTERERS = [
    (KMeans(n_init=2), "extend"),
    (MiniBatchKMeans(n_init=2), "extend"),
    (BisectingKMeans(), "extend"),
    (GaussianMixture(), "extend"),
    (Birch(threshold=0.1), "extend"),
    (make_pipeline(StandardScaler(), KMeans(n_init=2)), "extend"),
    (make_pipeline(StandardScaler(), AgglomerativeClustering()), "refit"),
    (SpectralClustering(), "refit"),
    *[
        (AgglomerativeClustering(linkage=x), "refit")
        for x in ("ward", "average", "complete", "single")
    ],
]


@pytest.mark.parametrize(("clusterer", "relabel"), CLUSTERERS, ids=str)
def test_any_clusterer(clusterer, relabel, blobs):
    before = repr(clusterer.get_params())
    stadion = Stadion(clusterer, **SMALL).fit(blobs)
    assert repr(clusterer.get_params()) == before
    assert stadion.relabel_ == relabel
    # Single linkage may add a fourth cluster of a single point.
    single = getattr(clusterer, "linkage", None) == "single"
    assert stadion.n_clusters_ in ((3, 4) if single else (3,))
    assert hasattr(stadion, "predict") == (relabel == "extend")
    if relabel == "refit":
        with pytest.raises(ValueError, match=r"relabel='extend' is not possible.*cannot predict"):
            Stadion(clusterer, relabel="extend", **SMALL).fit(blobs)


def test_density_clusterer_by_another_parameter(rng):
    X = np.vstack([rng.normal(size=(60, 2)) * 0.4 + c for c in ([0, 0], [6, 0], [0, 6])])
    X = np.vstack([X, rng.uniform(-3, 9, size=(15, 2))])
    stadion = Stadion(
        HDBSCAN(copy=True),
        param_name="min_cluster_size",
        k_range=[5, 15, 40],
        omega=[5, 10, 15],
        n_perturbations=2,
        epsilons=[0.0, 0.1, 0.3, 0.6],
        random_state=0,
    ).fit(X)
    assert stadion.best_value_ in (5, 15, 40)
    assert (stadion.labels_ == -1).any()
    assert stadion.n_clusters_ == stadion.labels_.max() + 1
    core = stadion.labels_[:180]
    truth = np.repeat([0, 1, 2], 60)
    assert adjusted_rand_score(truth[core >= 0], core[core >= 0]) > 0.95
    assert np.isfinite(stadion.scores_).all()


def test_no_structure_for_another_parameter(rng):
    X = rng.normal(size=(60, 2))
    stadion = Stadion(
        DBSCAN(), param_name="eps", k_range=[0.01, 100.0], omega=[0.01], random_state=0,
        n_perturbations=2, epsilons=[0.1, 0.5],
    ).fit(X)  # fmt: skip
    assert stadion.n_clusters_ == 1
    assert (stadion.labels_ == 0).all()
    if stadion.best_value_ is None:
        assert stadion.best_estimator_ is None


@pytest.mark.parametrize("perturbation", PERTURBATIONS)
@pytest.mark.parametrize("clusterer", [KMeans(n_init=2), AgglomerativeClustering()], ids=str)
def test_every_perturbation(perturbation, clusterer, blobs):
    options = {**SMALL, "epsilons": "auto", "n_epsilons": 4}
    stadion = Stadion(clusterer, perturbation=perturbation, **options).fit(blobs)
    assert np.isfinite(stadion.stadion_paths_).all()
    if PERTURBATIONS[perturbation].no_extension and isinstance(clusterer, KMeans):
        assert stadion.relabel_ == "refit"
        with pytest.raises(ValueError, match=f"perturbation '{perturbation}' does not allow it"):
            Stadion(clusterer, perturbation=perturbation, relabel="extend", **options).fit(blobs)


def test_callables(blobs):
    def jitter(X, epsilon, rng):
        return X + epsilon * rng.normal(size=X.shape)

    stadion = Stadion(
        perturbation=jitter,
        similarity=adjusted_rand_score,
        aggregation=lambda path: float(np.median(path)),
        **{**SMALL, "epsilons": [0.5, 1.0, 4.0]},
    ).fit(blobs)
    assert stadion.n_clusters_ == 3


@pytest.mark.parametrize("similarity", SIMILARITIES)
def test_every_similarity(similarity, blobs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        stadion = Stadion(similarity=similarity, **SMALL).fit(blobs)
    assert np.isfinite(stadion.stadion_paths_).all()
    told = any("not 1 for identical" in str(w.message) for w in caught)
    assert told != SIMILARITIES[similarity].identical_is_one


def test_data_frames_bring_their_names(blobs):
    reference = Stadion(**SMALL).fit(blobs)
    frames = [
        pd.DataFrame(blobs, columns=["a", "b"]),
        pl.DataFrame(blobs, schema=["a", "b"]),
        pa.table({"a": blobs[:, 0], "b": blobs[:, 1]}),
    ]
    for frame in frames:
        stadion = Stadion(**SMALL).fit(frame)
        np.testing.assert_array_equal(stadion.stadion_paths_, reference.stadion_paths_)
        assert stadion.feature_names_in_.tolist() == ["a", "b"]
        np.testing.assert_array_equal(stadion.predict(frame), stadion.labels_)
    np.testing.assert_array_equal(
        Stadion(**SMALL).fit(blobs.tolist()).stadion_paths_, reference.stadion_paths_
    )


@pytest.mark.parametrize("dtype", [np.float32, np.int64, np.int8, np.uint8, bool])
def test_other_number_types(dtype, rng):
    X = np.repeat([[0, 0], [100, 0], [0, 100]], 20, axis=0) + rng.integers(0, 9, size=(60, 2))
    if dtype is bool:
        X = X > 50
        with pytest.raises(ValueError, match="3 distinct rows"):
            Stadion(**SMALL).fit(X)
        return
    X = X.astype(dtype)
    expected = Stadion(**SMALL).fit(X.astype(float))
    np.testing.assert_array_equal(Stadion(**SMALL).fit(X).scores_, expected.scores_)


def test_clone_pickle_set_params(fitted, blobs):
    copy = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(copy.scores_, fitted.scores_)
    np.testing.assert_array_equal(copy.predict(blobs), fitted.labels_)
    fresh = clone(fitted).set_params(n_perturbations=1, clusterer=KMeans(n_init=1))
    assert not hasattr(fresh, "scores_")
    assert fresh.set_params(clusterer__n_init=3).clusterer.n_init == 3


def test_in_a_pipeline(blobs):
    pipe = make_pipeline(StandardScaler(), Stadion(**SMALL))
    labels = pipe.fit_predict(blobs)
    assert len(np.unique(labels)) == 3
    np.testing.assert_array_equal(pipe.predict(blobs), labels)


def test_user_seed_of_the_clusterer_is_kept(blobs):
    fixed = Stadion(KMeans(n_init=1, random_state=3), **SMALL).fit(blobs)
    assert fixed.best_estimator_.random_state == 3


def test_progress_bar(blobs, capfd):
    Stadion(verbose=1, **SMALL).fit(blobs)
    assert "perturbing" in capfd.readouterr().err
    Stadion(**SMALL).fit(blobs)
    assert capfd.readouterr() == ("", "")


class OneFewer(ClusterMixin, BaseEstimator):
    """Never finds more than two clusters."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None):
        self.labels_ = (X[:, 0] > 4).astype(int) if self.n_clusters > 1 else np.zeros(len(X), int)
        return self


def test_fewer_clusters_than_asked_is_told(blobs):
    with pytest.warns(UserWarning, match=r"fewer clusters .* 2 for K = 3, 2 for K = 4"):
        stadion = Stadion(OneFewer(), **SMALL).fit(blobs)
    assert stadion.paths_.n_clusters == (1, 2, 2, 2)
    assert stadion.n_clusters_ == len(np.unique(stadion.labels_)) == 2


def test_a_cluster_that_hides_others_is_told(blobs):
    """K = 2 joins two of the three clusters, so one of its clusters hides two."""
    stadion = Stadion(k_range=[2], n_perturbations=4, random_state=0).fit(blobs)
    hidden = {c.size: c.hidden_k for c in stadion.cluster_stability_}
    assert hidden == {30: None, 60: 2}
    right = Stadion(k_range=[3], n_perturbations=4, random_state=0).fit(blobs)
    assert [c.hidden_k for c in right.cluster_stability_] == [None] * 3


class Chatty(OneFewer):
    """Warns at every fit."""

    def fit(self, X, y=None):
        warnings.warn("about every fit", UserWarning, stacklevel=2)
        return super().fit(X)


def test_warnings_of_the_clusterer_come_from_the_fits_on_x_only(blobs):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Stadion(Chatty(), **{**SMALL, "k_range": [1, 2], "omega": [2]}).fit(blobs)
    # One fit is for K = 2. If K = 1 is the answer, another fit gives the best estimator.
    assert 1 <= sum("about every fit" in str(w.message) for w in caught) <= 2


@pytest.mark.parametrize("offset", [0.0, 1e10, 1e12])
@pytest.mark.parametrize(
    "clusterer", [KMeans(n_init=2), GaussianMixture()], ids=lambda c: type(c).__name__
)
def test_predict_gives_the_labels_of_the_fit_far_from_the_origin(clusterer, offset, rng):
    X = np.concatenate([rng.normal(size=(60, 2)), rng.normal(size=(60, 2)) + 8]) + offset
    options = {"k_range": [2, 3, 4], "epsilons": [0.2], "n_perturbations": 2, "omega": [2]}
    stadion = Stadion(clusterer, random_state=0, **options).fit(X)
    np.testing.assert_array_equal(stadion.predict(X), stadion.labels_)
    moved = stadion.predict(X[::-1])
    np.testing.assert_array_equal(moved, stadion.labels_[::-1])


@pytest.mark.parametrize(
    "clusterer",
    [KMeans(), AgglomerativeClustering(), GaussianMixture(), MiniBatchKMeans(), BisectingKMeans()],
    ids=lambda c: type(c).__name__,
)
def test_the_estimator_of_one_cluster_is_fitted_and_seeded(clusterer, rng):
    X = rng.normal(size=(300, 3))
    options = {"k_range": [1], "epsilons": [0.2], "n_perturbations": 1, "omega": [2]}
    stadion, again = (Stadion(clusterer, random_state=0, **options).fit(X) for _ in range(2))
    assert stadion.n_clusters_ == 1
    assert (stadion.labels_ == 0).all()
    found, other = stadion.best_estimator_, again.best_estimator_
    for name in ("cluster_centers_", "means_", "covariances_", "precisions_", "children_"):
        if hasattr(found, name):
            np.testing.assert_array_equal(getattr(found, name), getattr(other, name))
    if hasattr(found, "cluster_centers_") and not isinstance(clusterer, MiniBatchKMeans):
        np.testing.assert_allclose(found.cluster_centers_, X.mean(axis=0)[None], atol=1e-12)
    if hasattr(stadion, "predict"):
        np.testing.assert_array_equal(stadion.predict(X), stadion.labels_)


def test_a_fit_in_a_forked_child_ends():
    """OpenMP hangs in a child if both the parent and the child use several threads."""
    script = (
        "import os, numpy as np\n"
        "from sklearn.cluster import KMeans\n"
        "from sklearn.mixture import GaussianMixture\n"
        "from stablek import Stadion\n"
        "X = np.random.default_rng(0).normal(size=(2000, 3))\n"
        "KMeans(3, n_init=1).fit(X)\n"
        "child = os.fork()\n"
        "for clusterer in (KMeans(n_init=1), GaussianMixture()):\n"
        "    options = dict(k_range=[1], epsilons=[0.2], n_perturbations=1, omega=[2])\n"
        "    Stadion(clusterer, **options).fit(X).predict(X)\n"
        "if child:\n"
        "    raise SystemExit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))\n"
    )
    environment = {**os.environ, "OMP_NUM_THREADS": "2"}
    command = [sys.executable, "-W", "ignore", "-c", script]
    subprocess.run(command, check=True, timeout=300, env=environment)


@pytest.mark.parametrize("names", [[0, 1, 2], [-1, 4, 2], [-(10**15), 10**15, 7]])
def test_refitted_labels_are_matched_whatever_their_names(names):
    rng = np.random.default_rng(0)
    reference = rng.integers(-1, 3, 60)
    labels = np.where(rng.random(60) < 0.8, (reference + 1) % 3, rng.integers(0, 3, 60))
    values = np.unique(reference)
    pairings = itertools.permutations([*range(3), None], len(values))
    most = max(
        sum(((reference == v) & (labels == own)).sum() for v, own in zip(values, p, strict=True))
        for p in pairings
    )
    kept = _matched(reference, np.array(names)[labels])
    assert kept.sum() == most
    for value in values:  # one label for each reference label
        assert len(np.unique(labels[kept & (reference == value)])) <= 1
