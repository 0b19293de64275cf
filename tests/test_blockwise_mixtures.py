"""Gaussian mixtures on blocks: EM on all rows as scikit-learn does it, and the same bits."""

from __future__ import annotations

import dask.array as da
import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

from blockwise_cases import make_blocks_small
from stablek import Stadion
from stablek.blockwise import core
from stablek.blockwise.inputs import open_blocks
from stablek.engines.mixture import MixtureEngine
from stablek.results import Group, Partition
from stablek.selectors.blockwise import make_block_reference, models_of

N, P = 5000, 3
KINDS = ("full", "tied", "diag", "spherical")
OPTIONS = {
    "k_range": [1, 2, 3, 4],
    "omega": [2, 3],
    "random_state": 0,
    "n_perturbations": 2,
    "n_epsilons": 4,
    "one_cluster": "never",
    "max_rows_in_memory": 1000,
    "sample_rows": 800,
    "max_passes": 4,
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    make_blocks_small(monkeypatch, 512, P)


@pytest.fixture(scope="module")
def X():
    """Three clusters of different shapes that overlap a bit."""
    rng = np.random.default_rng(0)
    points, y = make_blobs(N, centers=3, n_features=P, cluster_std=1.5, random_state=0)
    shapes = rng.normal(size=(3, P, P))
    return np.stack([point @ shapes[label] for point, label in zip(points, y, strict=True)])


def models(X, kind, max_passes, **changes):
    """The mixtures of all partitions after some passes."""
    clusterer = GaussianMixture(covariance_type=kind, tol=0.0)
    selector = Stadion(clusterer, **{**OPTIONS, **changes})
    blocks = open_blocks(da.from_array(X, chunks=777), core.BLOCK_ROWS)
    reference = make_block_reference(selector, blocks, clusterer)
    setting, _, omega = selector._settings(reference.sample, reference.survey.deviation)
    return models_of(reference, selector.k_range, omega, setting, max_passes=max_passes)


def precisions(model, kind):
    """Inverse covariances of a mixture, in the shape that scikit-learn takes."""
    if kind in ("diag", "spherical"):
        inverse = 1.0 / model.covariances[:, 0]
        return inverse if kind == "diag" else inverse[:, 0]
    inverse = np.linalg.inv(model.covariances)
    return inverse if kind == "full" else inverse[0]


def by_sklearn(X, start, kind, steps):
    """Scikit-learn's EM from the same mixture."""
    mixture = GaussianMixture(
        len(start.weights),
        covariance_type=kind,
        tol=0.0,
        max_iter=steps,
        weights_init=start.weights,
        means_init=start.means,
        precisions_init=precisions(start, kind),
    )
    return mixture.fit(X)


def shaped(covariances, kind):
    return {
        "full": lambda c: c,
        "tied": lambda c: c[0],
        "diag": lambda c: c[:, 0],
        "spherical": lambda c: c[:, 0, 0],
    }[kind](covariances)


def assert_like_sklearn(found, expected, kind):
    np.testing.assert_allclose(found.weights, expected.weights_, rtol=1e-9)
    np.testing.assert_allclose(found.means, expected.means_, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(
        shaped(found.covariances, kind), expected.covariances_, rtol=1e-8, atol=1e-9
    )
    assert found.lower_bound == pytest.approx(expected.lower_bound_, rel=1e-10)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_passes_are_the_steps_of_scikit_learn(X, kind):
    start, end = models(X, kind, 0), models(X, kind, 3)
    assert (start.n_passes, end.n_passes) == (0, 3)
    for i in range(len(start.layout.whole)):
        expected = by_sklearn(X, start.model(i), kind, 3)
        assert_like_sklearn(end.model(i), expected, kind)
        np.testing.assert_array_equal(end.labels([i], 0, X)[0], expected.predict(X))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_pass_moves_the_mixtures_inside_clusters(X, kind):
    start, end = models(X, kind, 0), models(X, kind, 1)
    layout = start.layout
    for i, inside in enumerate(layout.inside):
        at = len(layout.whole) + i
        [labels] = start.labels([inside.whole], 0, X)
        expected = by_sklearn(X[labels == inside.label], start.model(at), kind, 1)
        assert_like_sklearn(end.model(at), expected, kind)


def test_one_cluster_has_the_moments_of_all_rows(X):
    for kind, covariance in (("full", np.cov(X.T, bias=True)), ("diag", X.var(axis=0))):
        found = models(X, kind, 1)
        model = found.model(found.layout.whole.index(1))
        np.testing.assert_allclose(model.means[0], X.mean(axis=0))
        expected = covariance + 1e-6 * (np.eye(P) if kind == "full" else 1.0)
        np.testing.assert_allclose(shaped(model.covariances, kind)[0], expected)


def test_passes_end_when_the_bound_rests(X):
    stadion = Stadion(GaussianMixture(tol=1e9), **OPTIONS).fit(da.from_array(X, chunks=777))
    assert stadion.n_passes_ == 2  # the first pass has nothing to compare with
    assert stadion.best_estimator_.converged_
    stadion = Stadion(GaussianMixture(tol=0.0), **OPTIONS).fit(da.from_array(X, chunks=777))
    assert stadion.n_passes_ == 4
    assert not stadion.best_estimator_.converged_


def answer(fitted):
    best = fitted.best_estimator_
    return [
        fitted.paths_.between,
        fitted.paths_.clusters,
        fitted.scores_,
        best.weights_,
        best.means_,
        best.covariances_,
        np.asarray(fitted.reference_labels_),
        np.asarray(fitted.point_stability_),
    ]


@pytest.mark.parametrize("kind", ["full", "diag"])
def test_every_source_gives_the_same_bits(X, kind, tmp_path):
    np.save(tmp_path / "x.npy", X)
    pl.DataFrame(X).write_parquet(tmp_path / "x.parquet", row_group_size=333)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    expected = answer(Stadion(GaussianMixture(covariance_type=kind), **OPTIONS).fit(mapped))
    for source, n_jobs in (
        (mapped, 2),
        (tmp_path / "x.parquet", 2),
        (da.from_array(X, chunks=(777, 2)), None),
        (da.from_array(X, chunks=(3001, -1)), None),
    ):
        clusterer = GaussianMixture(covariance_type=kind)
        found = answer(Stadion(clusterer, **OPTIONS, n_jobs=n_jobs).fit(source))
        for one, two in zip(found, expected, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("relabel", ["extend", "predict"])
def test_paths_are_those_of_memory_for_the_same_models(X, kind, relabel):
    clusterer = GaussianMixture(covariance_type=kind)
    fitted = Stadion(clusterer, relabel=relabel, **OPTIONS).fit(da.from_array(X, chunks=777))
    assert fitted.relabel_ == relabel
    selector = Stadion(clusterer, relabel=relabel, **OPTIONS)
    blocks = open_blocks(da.from_array(X, chunks=777), core.BLOCK_ROWS)
    reference = make_block_reference(selector, blocks, clusterer)
    setting, epsilons, omega = selector._settings(reference.sample, reference.survey.deviation)
    found = models_of(reference, selector.k_range, omega, setting, max_passes=4)
    engine, layout = MixtureEngine(clusterer), found.layout
    partitions = tuple(
        Partition(k, found.model(i).predict(X), found.model(i)) for i, k in enumerate(layout.whole)
    )
    for draw in range(2):
        [values] = engine.similarities(X, [Group(None, partitions)], draw, epsilons, setting)
        np.testing.assert_array_equal(
            fitted.paths_.between[1:, :, draw], values[: len(layout.candidates)]
        )
    # Row 1 is the first cluster of K = 2.
    rows = np.flatnonzero(partitions[0].labels == 0)
    own = []
    for at in range(layout.position(0, 0), layout.position(0, 0) + len(omega)):
        model = found.model(at)
        own.append(Partition(len(model.weights), model.predict(X[rows]), model))
    [values] = engine.similarities(X, [Group(rows, tuple(own))], 1, epsilons, setting)
    np.testing.assert_array_equal(fitted.paths_.clusters[1, :, :, 1], values)


def test_the_estimator_is_an_ordinary_mixture(X):
    fitted = Stadion(GaussianMixture(), **OPTIONS).fit(da.from_array(X, chunks=777))
    best = fitted.best_estimator_
    assert type(best) is GaussianMixture
    labels = np.asarray(fitted.labels_)
    np.testing.assert_array_equal(best.predict(X), labels)
    np.testing.assert_array_equal(fitted.predict(X), labels)
    lazy = fitted.predict(da.from_array(X, chunks=999))
    np.testing.assert_array_equal(lazy.compute(), labels)
    assert best.score(X) >= best.lower_bound_ - 1e-9  # an M step never makes it less
    stability = np.asarray(fitted.point_stability_)
    assert stability.shape == (N,)
    assert 0.5 < stability.mean() < 1.0


def test_clusters_that_the_sample_lacks_are_split(X):
    far = np.concatenate([X, 500.0 + np.random.default_rng(0).normal(size=(3, P))])
    rng = np.random.default_rng(1)
    fitted = Stadion(GaussianMixture(), **{**OPTIONS, "k_range": [2, 8], "omega": [2, 5]}).fit(
        da.from_array(rng.permutation(far), chunks=777)
    )
    assert np.isfinite(fitted.paths_.between).all()
    assert np.isfinite(fitted.stadion_paths_).all()


def test_singular_covariances_are_the_error_of_memory(X):
    flat = np.column_stack([X, np.zeros(N)])
    for data in (flat, da.from_array(flat, chunks=777)):
        with pytest.raises(ValueError, match="reg_covar"):
            Stadion(GaussianMixture(reg_covar=0.0), **OPTIONS).fit(data)


def test_many_features_use_the_sample_and_say_so():
    X = np.random.default_rng(0).normal(size=(2000, 33))
    options = {**OPTIONS, "k_range": [2], "omega": [2], "sample_rows": 300, "n_perturbations": 1}
    with pytest.warns(UserWarning, match=r"'tied' runs on blocks .* 32 features, got 33: .*300"):
        Stadion(GaussianMixture(covariance_type="tied"), **options).fit(da.from_array(X))
    fitted = Stadion(GaussianMixture(covariance_type="diag"), **options).fit(da.from_array(X))
    assert fitted.n_passes_ > 0
    with pytest.warns(UserWarning, match=r"init_params='random' is not 'kmeans'.*sample of 300"):
        Stadion(GaussianMixture(init_params="random"), **options).fit(da.from_array(X))
