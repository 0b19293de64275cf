"""Irrelevant changes of the input do not change the answer, and certain values are 1."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stablek import Stadion, evaluate_partition

OPTIONS = {
    "k_range": range(1, 5),
    "omega": [2, 3],
    "n_perturbations": 4,
    "one_cluster": "crossing",
    "random_state": 0,
}


@pytest.mark.parametrize("linkage", ["ward", "average", "complete", "single"])
def test_level_zero_of_a_deterministic_clusterer_is_perfectly_stable(linkage, rng):
    X = rng.normal(size=(40, 2))
    stadion = Stadion(AgglomerativeClustering(linkage=linkage), epsilons=[0.0, 0.5], **OPTIONS)
    stadion.fit(X)
    np.testing.assert_array_equal(stadion.between_stability_[:, 0], 1.0)
    np.testing.assert_array_equal(stadion.within_stability_[:, 0], 1.0)


def test_level_zero_of_an_extension_is_perfectly_stable(rng):
    stadion = Stadion(KMeans(n_init=2), epsilons=[0.0, 0.5], **OPTIONS)
    stadion.fit(rng.normal(size=(40, 2)))
    np.testing.assert_array_equal(stadion.between_stability_[:, 0], 1.0)


def test_order_of_rows_only_matters_as_another_seed_does(blobs, rng):
    order = rng.permutation(len(blobs))
    as_is = Stadion(**OPTIONS).fit(blobs)
    shuffled = Stadion(**OPTIONS).fit(blobs[order])
    assert as_is.n_clusters_ == shuffled.n_clusters_ == 3
    levels = {"epsilons": [0.5], "n_perturbations": 30}
    a = Stadion(**{**OPTIONS, **levels}).fit(blobs)
    b = Stadion(**{**OPTIONS, **levels}).fit(blobs[order])
    error = np.hypot(a.paths_.stadion_standard_error, b.paths_.stadion_standard_error)
    assert (np.abs(a.stadion_paths_ - b.stadion_paths_) <= 5 * error + 0.02)[:3].all()


def test_names_of_labels_do_not_matter(blobs):
    labels = KMeans(3, n_init=3, random_state=0).fit_predict(blobs)
    options = {"epsilons": [0.3], "n_perturbations": 2, "random_state": 0, "relabel": "extend"}
    first = evaluate_partition(blobs, labels, **options)
    second = evaluate_partition(blobs, np.array(["x", "a", "q"])[labels], **options)
    assert first.between_stability == second.between_stability
    assert first.within_stability == pytest.approx(second.within_stability)


@pytest.mark.parametrize("factor", [1e-3, 7.0, 1e4])
def test_scaling_a_feature_under_a_scale_free_pipeline(blobs, factor):
    pipe = make_pipeline(StandardScaler(), KMeans(n_init=2))
    plain = Stadion(pipe, epsilons=[0.2, 0.8], **OPTIONS).fit(blobs)
    scaled = Stadion(pipe, epsilons=[0.2, 0.8], **OPTIONS).fit(blobs * [1.0, factor])
    np.testing.assert_allclose(scaled.stadion_paths_, plain.stadion_paths_, atol=1e-10)


def test_global_scale_of_noise(rng):
    """With one pooled deviation, the noise hides the narrow feature and not the wide one."""
    X = np.column_stack([rng.normal(size=60), 0.01 * rng.normal(size=60)])
    X[30:, 1] += 1.0
    options = {**OPTIONS, "epsilons": [0.5]}
    pooled = Stadion(noise_scale="global", **options).fit(X)
    expected = np.sqrt(np.mean(X.var(axis=0)))
    scaled = Stadion(noise_scale="feature", **options).fit(X)
    assert expected == pytest.approx(np.sqrt((X[:, 0].var() + X[:, 1].var()) / 2))
    assert not np.array_equal(pooled.paths_.between, scaled.paths_.between)


def test_duplicating_all_rows_keeps_the_answer(blobs):
    twice = Stadion(**OPTIONS).fit(np.vstack([blobs, blobs]))
    assert twice.n_clusters_ == Stadion(**OPTIONS).fit(blobs).n_clusters_ == 3


def test_k_equal_to_n_is_legal_and_scores_zero(rng):
    X = rng.normal(size=(6, 2))
    options = {**OPTIONS, "k_range": range(1, 7)}
    stadion = Stadion(KMeans(n_init=1), relabel="refit", **options).fit(X)
    assert np.isfinite(stadion.scores_).all()
    assert stadion.between_stability_[-1].tolist() == [1.0] * 10
    assert stadion.scores_[-1] == 0.0
    assert np.isfinite(Stadion(KMeans(n_init=1), **options).fit(X).scores_).all()


@settings(max_examples=25)
@given(
    X=arrays(
        np.float64,
        st.tuples(st.integers(2, 12), st.integers(1, 3)),
        elements=st.floats(-1e6, 1e6, allow_subnormal=False)
        | st.sampled_from([0.0, 1.0, 1e150, -1e-150]),
    ),
    ks=st.sets(st.integers(1, 5), min_size=1).map(sorted),
    omega=st.sets(st.integers(2, 4), min_size=1).map(sorted),
    clusterer=st.sampled_from([KMeans(n_init=1), AgglomerativeClustering()]),
    relabel=st.sampled_from(["auto", "refit"]),
    perturbation=st.sampled_from(["uniform", "gaussian", "bootstrap", "subsample", "project"]),
    aggregation=st.sampled_from(["max", "mean"]),
    noise_scale=st.sampled_from(["feature", "global"]),
    one_cluster=st.sampled_from(["test", "crossing", "never"]),
)
@pytest.mark.filterwarnings(
    "ignore:The clusterer found fewer",
    "ignore:All features",
    "ignore:The structure test found no clusters",
)
def test_any_small_array_fits_or_raises_a_documented_error(
    X, ks, omega, clusterer, relabel, perturbation, aggregation, noise_scale, one_cluster
):
    stadion = Stadion(
        clusterer,
        k_range=ks,
        omega=omega,
        relabel=relabel,
        perturbation=perturbation,
        aggregation=aggregation,
        noise_scale=noise_scale,
        one_cluster=one_cluster,
        n_reference_sets=3,
        n_perturbations=2,
        n_epsilons=3,
        random_state=0,
    )
    try:
        stadion.fit(X)
    except ValueError as error:
        known = ("n_samples = ", "distinct row", "squared distances overflow", "at least 10")
        if any(words in str(error) for words in known):
            return
        raise
    assert np.isfinite(stadion.stadion_paths_).all()
    scored = stadion.k_values_ > 1 if one_cluster != "crossing" else np.full(len(ks), True)
    clusters = [len(np.unique(labels)) for labels in stadion.reference_labels_]
    scored &= np.array(clusters) > (one_cluster != "crossing")
    np.testing.assert_array_equal(np.isfinite(stadion.scores_), scored)
    assert 1 <= stadion.n_clusters_ <= len(X)
    assert stadion.labels_.shape == (len(X),)
