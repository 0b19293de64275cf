"""The mixture engine against scikit-learn, the generic engine and published numbers."""

from __future__ import annotations

import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy.linalg import pinvh
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import scale
from threadpoolctl import threadpool_limits

import stablek.engines.mixture
import stablek.mixture
from stablek import Stadion, seeding
from stablek.engines import mixture_component
from stablek.engines.base import Setting
from stablek.engines.generic import GenericEngine
from stablek.engines.kmeans import KMeansEngine
from stablek.engines.mixture import MixtureEngine, unsupported
from stablek.engines.mixture_narrow import fit_narrow
from stablek.engines.mixture_wide import WideFitter
from stablek.kernels.mixture import ways
from stablek.mixture import (
    KMeansGaussianMixture,
    SVDGaussianMixture,
    hierarchical_labels,
    start_from_labels,
)
from stablek.perturbations import PERTURBATIONS, resolve_perturbation
from stablek.results import Group, Partition, Request
from stablek.selectors.registry import SELECTORS
from stablek.similarity import SIMILARITIES, resolve_similarity

KINDS = ("full", "tied", "diag", "spherical")
EPSILONS = np.array([0.0, 0.2, 0.9])


@pytest.fixture(autouse=True, scope="module")
def _one_blas_thread():
    """Use one thread: scikit-learn's small matrix products are slower in many threads."""
    with threadpool_limits(1):
        yield


@pytest.fixture
def everything_wide(monkeypatch):
    """Use matrix products for any number of features, in blocks of few points."""
    monkeypatch.setattr(ways, "_PRODUCT_FEATURES", 1)
    in_blocks_of(64, monkeypatch)


def in_blocks_of(size, monkeypatch):
    """Use matrix products of few points at a time; keep components only of few points."""
    monkeypatch.setattr(mixture_component, "_BLOCK", size)
    monkeypatch.setattr(ways, "_KEPT_POINTS", size)


def engine(**parameters):
    return MixtureEngine(GaussianMixture(**parameters))


def setting(X, perturbation="uniform", similarity="ari", relabel="predict", entropy=7):
    return Setting(
        entropy,
        resolve_perturbation(perturbation),
        X.std(axis=0),
        resolve_similarity(similarity),
        relabel,
    )


def blobs(n=120, p=2, seed=0):
    X, _ = make_blobs(n, n_features=p, centers=4, random_state=seed, cluster_std=1.5)
    return X


def iris():
    return scale(load_iris().data)


def groups_of(eng, X, conf, ks=(2, 3, 4), omega=(2, 3)):
    """X with its partitions, and each cluster of each partition with its re-clusterings."""
    [whole] = eng.references(X, [Request(None, ks)], conf.entropy)
    requests = [
        Request(np.flatnonzero(part.labels == label), omega, part)
        for part in whole
        for label in range(part.k)
    ]
    requests = [request for request in requests if len(request.rows) > 10]
    inside = eng.references(X, requests, conf.entropy)
    groups = [Group(r.rows, parts) for r, parts in zip(requests, inside, strict=True)]
    return [Group(None, whole), *groups]


def with_estimators(eng, X, groups):
    """The same groups with scikit-learn estimators as models, for the generic engine."""
    return [
        Group(
            group.rows,
            tuple(Partition(p.k, p.labels, eng.estimator(X, p)) for p in group.partitions),
        )
        for group in groups
    ]


def start_of(X, labels, kind, reg_covar=1e-6):
    """The model of labeled points, as parameters from which scikit-learn can start."""
    k, p = labels.max() + 1, X.shape[1]
    gaps = [X[labels == c] - X[labels == c].mean(axis=0) for c in range(k)]
    ridge = reg_covar * np.eye(p)
    each = np.stack([g.T @ g / len(g) + ridge for g in gaps])
    precisions = {
        "full": lambda: np.stack([pinvh(e) for e in each]),  # exactly symmetric
        "tied": lambda: np.linalg.inv(sum(g.T @ g for g in gaps) / len(X) + ridge),
        "diag": lambda: 1 / np.diagonal(each, axis1=1, axis2=2),
        "spherical": lambda: 1 / np.diagonal(each, axis1=1, axis2=2).mean(axis=1),
    }[kind]()
    return {
        "weights_init": np.bincount(labels) / len(X),
        "means_init": np.stack([X[labels == c].mean(axis=0) for c in range(k)]),
        "precisions_init": precisions,
    }


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", KINDS)
def test_from_the_same_start_the_likelihood_is_scikit_learns(kind):
    check_against_scikit_learn(kind, narrow=KINDS, most_features=6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("most_features", [6, 150])
def test_wide_from_the_same_start_the_likelihood_is_scikit_learns(everything_wide, most_features):
    check_against_scikit_learn("full", narrow=(), most_features=most_features)


def check_against_scikit_learn(kind, narrow, most_features):
    for seed in range(12):
        rng = np.random.default_rng(seed)
        n, p = int(rng.integers(40, 600)), int(rng.integers(1, most_features))
        k = int(rng.integers(1, 6))
        X = rng.normal(size=(n, p)) + 2.5 * rng.integers(0, 4, size=(n, 1))
        tol, max_iter = [(1e-3, 100), (1e-7, 60), (1e-3, 1)][seed % 3]
        parameters = {"covariance_type": kind, "tol": tol, "max_iter": max_iter}
        eng = engine(**parameters)
        [found] = eng._starts.of(X, [Request(None, (k,))], 0, "reference")
        [[labels]] = found.labels
        start = start_of(X, labels, kind)
        if kind in narrow:
            [[(_, model)]] = fit_narrow(X, [Request(None, (k,))], [found], eng.clusterer)
        else:
            model = WideFitter(X, None, eng.clusterer, None, keeps=n <= 64).fit(k, labels)
        theirs = GaussianMixture(k, **parameters, **start).fit(X)
        assert model.lower_bound == pytest.approx(theirs.lower_bound_, rel=1e-9)
        assert (model.n_iter, model.converged) == (theirs.n_iter_, theirs.converged_)
        ours = eng.estimator(X, Partition(k, labels, model))
        assert ours.score(X) >= theirs.score(X) - 1e-6 * abs(theirs.score(X))
        for name in ("weights_", "means_", "covariances_", "precisions_", "precisions_cholesky_"):
            expected = getattr(theirs, name)
            # With few points some precisions are as large as 1 / reg_covar.
            atol = 1e-5 if most_features == 6 else 1e-9 * np.abs(expected).max()
            np.testing.assert_allclose(getattr(ours, name), expected, atol=atol)


@pytest.mark.parametrize("kind", KINDS)
def test_over_seeds_fits_are_as_good_as_scikit_learns(kind):
    X = iris()
    ours, theirs = [], []
    for seed in range(10):
        conf = setting(X, entropy=seed)
        [[found]] = engine(n_init=2, covariance_type=kind).references(
            X, [Request(None, (4,))], conf.entropy
        )
        ours.append(found.model.lower_bound)
        model = GaussianMixture(4, n_init=2, covariance_type=kind, random_state=seed)
        theirs.append(model.fit(X).lower_bound_)
    error = np.sqrt((np.var(ours) + np.var(theirs)) / 10)
    assert np.mean(ours) > np.mean(theirs) - 3 * error - 1e-3


def test_more_starts_are_never_worse():
    X = blobs(200)
    bounds = []
    for n_init in (1, 3, 10):
        [[found]] = engine(n_init=n_init).references(X, [Request(None, (6,))], 7)
        bounds.append(found.model.lower_bound)
    assert bounds == sorted(bounds)


@pytest.mark.parametrize("p", [1, 2, 3, 7])
@pytest.mark.parametrize("kind", KINDS)
def test_estimator_predicts_what_the_engine_labels(kind, p):
    X = blobs(300, p)
    eng, conf = engine(covariance_type=kind), setting(X)
    [partitions] = eng.references(X, [Request(None, (1, 3, 5))], conf.entropy)
    for partition in partitions:
        estimator = eng.estimator(X, partition)
        assert type(estimator) is GaussianMixture
        np.testing.assert_array_equal(estimator.predict(X), partition.labels)
        assert np.isfinite([estimator.score(X), estimator.bic(X)]).all()
        assert estimator.sample(5)[0].shape == (5, p)
        noise = seeding.noise(conf.entropy, 4, p, 0, len(X))
        for epsilon, (rows, labels) in zip(
            EPSILONS, eng.relabel(X, partition, 4, EPSILONS, conf), strict=True
        ):
            noisy = X + epsilon * (X.std(axis=0) * noise)
            assert rows is None
            np.testing.assert_array_equal(labels, estimator.predict(noisy))


@pytest.mark.parametrize("kind", KINDS)
def test_extended_similarities_equal_a_plain_loop(kind):
    X = blobs(1500, p=3)  # more rows than one block
    eng, conf = engine(covariance_type=kind), setting(X)
    groups = groups_of(eng, X, conf)
    found = eng.similarities(X, groups, 3, EPSILONS, conf)
    noise = seeding.noise(conf.entropy, 3, X.shape[1], 0, len(X))
    for group, values in zip(with_estimators(eng, X, groups), found, strict=True):
        rows = np.arange(len(X)) if group.rows is None else group.rows
        for i, partition in enumerate(group.partitions):
            for e, epsilon in enumerate(EPSILONS):
                noisy = (X + epsilon * (X.std(axis=0) * noise))[rows]
                expected = adjusted_rand_score(partition.labels, partition.model.predict(noisy))
                assert values[i, e] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("n, p", [(300, 3), (90, 60)])
def test_wide_models_extend_as_a_plain_loop(everything_wide, n, p):
    X = blobs(n, p)
    eng, conf = engine(reg_covar=0.5), setting(X)
    groups = groups_of(eng, X, conf)
    models = [partition.model for group in groups for partition in group.partitions]
    axes = [c.axes is not None for model in models for c in model.components]
    assert any(axes) == (p == 60)
    levels = EPSILONS * np.sqrt(p)
    found = eng.similarities(X, groups, 3, levels, conf)
    assert np.ptp(np.concatenate(found)) > 0.1
    noise = seeding.noise(conf.entropy, 3, p, 0, n)
    for group, values in zip(groups, found, strict=True):
        rows = np.arange(n) if group.rows is None else group.rows
        for i, partition in enumerate(group.partitions):
            if partition.model.subspace is not None:
                continue  # scikit-learn's model does not know the coordinates of the subspace
            estimator = eng.estimator(X, partition)
            for e, epsilon in enumerate(levels):
                noisy = (X + epsilon * (X.std(axis=0) * noise))[rows]
                expected = adjusted_rand_score(partition.labels, estimator.predict(noisy))
                assert values[i, e] == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("perturbation", ["uniform", "warp"])
def test_wide_and_narrow_models_are_the_same(perturbation, monkeypatch):
    X = np.random.default_rng(0).normal(size=(120, 50))
    X[:40, :5] += 4.0
    X[40:60, 5:9] += 4.0
    answers = {}
    for least in (1, 1000):
        monkeypatch.setattr(ways, "_PRODUCT_FEATURES", least)
        monkeypatch.setattr(ways, "_AXES_FEATURES", least)
        eng, conf = engine(reg_covar=0.01), setting(X, perturbation)
        groups = groups_of(eng, X, conf, ks=(2, 3, 7))
        similarities = np.concatenate(eng.similarities(X, groups, 0, 3 * EPSILONS, conf))
        parts = [partition for group in groups for partition in group.partitions]
        labels = np.concatenate([part.labels for part in parts])
        bics = [eng.bic(X, part) for part in groups[0].partitions]
        relabeled = [labels for _, labels in eng.relabel(X, parts[1], 0, EPSILONS, conf)]
        answers[least] = (labels, relabeled, similarities, bics)
        kinds = {type(part.model).__name__ for part in parts}
        assert kinds == ({"WideMixture"} if least == 1 else {"Mixture"})
    np.testing.assert_array_equal(answers[1][0], answers[1000][0])
    np.testing.assert_array_equal(answers[1][1], answers[1000][1])
    np.testing.assert_allclose(answers[1][2], answers[1000][2], atol=1e-12)
    np.testing.assert_allclose(answers[1][3], answers[1000][3], rtol=1e-9)
    assert np.ptp(answers[1][2]) > 0.1


def test_fits_in_a_batch_are_those_of_single_calls():
    """One call fits all requests, k and starts; each has the same bits in any company."""
    X = blobs(120, 3)
    eng = engine(n_init=4)
    rows = [None, np.arange(50), np.arange(30, 120), np.arange(60, 75)]
    requests = [Request(own, (2, 4)) for own in rows]
    together = eng.references(X, requests, 7)
    for request, partitions in zip(requests, together, strict=True):
        [alone] = eng.references(X, [request], 7)
        for one, other in zip(partitions, alone, strict=True):
            np.testing.assert_array_equal(one.labels, other.labels)
            np.testing.assert_array_equal(one.model.factors, other.model.factors)


def test_runs_of_k_means_are_local_minima_that_differ():
    X = np.random.default_rng(0).uniform(size=(200, 2))
    [[labels]] = KMeansEngine(KMeans(n_init=8, tol=0.0)).runs(X, [Request(None, (9,))], 3)
    assert labels.shape == (8, 200)
    inertias = set()
    for own in labels:
        centers = np.stack([X[own == c].mean(axis=0) for c in range(9)])
        distances = ((X[:, None] - centers) ** 2).sum(axis=2)
        np.testing.assert_array_equal(distances.argmin(axis=1), own)
        inertias.add(round(float(distances.min(axis=1).sum()), 6))
    assert len(inertias) > 2


def test_small_clusters_store_axes_instead_of_whole_matrices():
    X = np.random.default_rng(0).normal(size=(300, 64))
    requests = [Request(np.arange(40), (2, 5, 10)), Request(np.arange(280), (2, 5, 10))]
    small, large = engine().references(X, requests, 7)
    numbers = sum(c.axes.size + c.factor.size for p in small for c in p.model.components)
    assert 5 * numbers < 17 * 64**2  # 2 + 5 + 10 whole matrices
    assert all(partition.model.factors.shape == (partition.k, 64, 64) for partition in large)


def test_wide_models_are_small_and_hardly_depend_on_blocks(monkeypatch):
    """The size of the blocks changes only rounding. A component stores few axes."""
    X = np.random.default_rng(1).normal(size=(200, 300))
    X[:100, :30] += 3.0
    found = []
    for block in (1 << 12, 7):
        in_blocks_of(block, monkeypatch)
        eng, conf = engine(), setting(X)
        [[partition]] = eng.references(X, [Request(None, (20,))], conf.entropy)
        group = Group(None, (partition,))
        found.append((partition.labels, eng.similarities(X, [group], 0, 9 * EPSILONS, conf)[0]))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1], atol=1e-12)
    kept = sum(component.axes.size for component in partition.model.components)
    assert kept <= 1.1 * X.size  # whole matrices would have thirty times as many numbers


@pytest.mark.parametrize("perturbation", ["gaussian", "shift", "offset", "scale", "warp"])
def test_every_perturbation_extends_as_in_the_generic_engine(perturbation):
    X = blobs(100, p=4)
    eng, conf = engine(), setting(X, perturbation)
    groups = groups_of(eng, X, conf)
    generic = GenericEngine(GaussianMixture(), "n_components")
    found = eng.similarities(X, groups, 1, EPSILONS, conf)
    expected = generic.similarities(X, with_estimators(eng, X, groups), 1, EPSILONS, conf)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-12)


@pytest.mark.parametrize("similarity", sorted(SIMILARITIES))
def test_every_similarity_extends_as_in_the_generic_engine(similarity):
    X = blobs(60)
    eng, conf = engine(), setting(X, similarity=similarity)
    groups = groups_of(eng, X, conf)
    generic = GenericEngine(GaussianMixture(), "n_components")
    found = eng.similarities(X, groups, 0, EPSILONS, conf)
    expected = generic.similarities(X, with_estimators(eng, X, groups), 0, EPSILONS, conf)
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-9)


@pytest.mark.parametrize("perturbation", sorted(PERTURBATIONS))
def test_refits_of_every_perturbation_are_near_the_generic_engines(perturbation):
    X, _ = make_blobs(80, n_features=4, centers=3, random_state=2)
    clusterer = GaussianMixture(n_init=3, covariance_type="diag", reg_covar=1e-3)
    eng, conf = MixtureEngine(clusterer), setting(X, perturbation, relabel="refit")
    groups = groups_of(eng, X, conf, ks=(2, 3), omega=())[:1]
    level = np.array([1.0 if perturbation == "bootstrap" else 0.25])
    generic = GenericEngine(clusterer, "n_components")
    ours = [eng.similarities(X, groups, d, level, conf)[0][:, 0] for d in range(8)]
    theirs = [generic.similarities(X, groups, d, level, conf)[0][:, 0] for d in range(8)]
    error = np.sqrt((np.var(ours, axis=0) + np.var(theirs, axis=0)) / 8)
    assert (abs(np.mean(ours, axis=0) - np.mean(theirs, axis=0)) <= 3 * error + 0.03).all()


def test_refit_paths_are_within_sampling_error_of_a_plain_loop():
    X = blobs(150, seed=5)
    eng, conf = engine(n_init=2), setting(X, relabel="refit")
    [[partition]] = eng.references(X, [Request(None, (4,))], conf.entropy)
    draws, levels = range(12), np.array([0.1, 0.3, 0.6])
    group = Group(None, (partition,))
    ours = np.stack([eng.similarities(X, [group], d, levels, conf)[0][0] for d in draws])
    theirs = np.empty((12, 3))
    for draw in draws:
        noise = seeding.noise(conf.entropy, draw, 2, 0, len(X))
        for e, epsilon in enumerate(levels):
            model = GaussianMixture(4, n_init=2, random_state=draw)
            labels = model.fit_predict(X + epsilon * (X.std(axis=0) * noise))
            theirs[draw, e] = adjusted_rand_score(partition.labels, labels)
    error = np.sqrt((ours.var(axis=0) + theirs.var(axis=0)) / 12)
    assert (abs(ours.mean(axis=0) - theirs.mean(axis=0)) <= 3 * error + 1e-3).all()


@pytest.mark.parametrize("relabel", ["extend", "predict", "refit"])
@pytest.mark.parametrize("kind", ["full", "spherical"])
def test_pieces_and_threads_give_the_same_bits(relabel, kind):
    X = blobs(150)
    eng, conf = engine(n_init=2, covariance_type=kind), setting(X, relabel=relabel)
    groups = groups_of(eng, X, conf)
    again = groups_of(eng, X, conf)
    for a, b in zip(groups, again, strict=True):
        for one, two in zip(a.partitions, b.partitions, strict=True):
            np.testing.assert_array_equal(one.labels, two.labels)
    at_once = [eng.similarities(X, groups, draw, EPSILONS, conf) for draw in range(3)]
    tasks = [(draw, g, e) for draw in range(3) for g in range(len(groups)) for e in range(3)]

    def piece(task):
        draw, g, e = task
        return eng.similarities(X, [groups[g]], draw, EPSILONS[e : e + 1], conf)[0]

    with ThreadPoolExecutor(4) as pool:
        pieces = dict(zip(tasks, pool.map(piece, tasks), strict=True))
    for draw, g, e in tasks:
        np.testing.assert_array_equal(at_once[draw][g][:, e], pieces[draw, g, e][:, 0])


def test_fits_for_several_values_do_not_depend_on_each_other():
    X = blobs(100)
    conf = setting(X)
    [together] = engine().references(X, [Request(None, (2, 3, 4))], conf.entropy)
    for partition in together:
        [[alone]] = engine().references(X, [Request(None, (partition.k,))], conf.entropy)
        np.testing.assert_array_equal(alone.labels, partition.labels)
        np.testing.assert_array_equal(alone.model.means, partition.model.means)


def test_random_state_of_the_clusterer_is_honored():
    X = blobs(100)
    [[a]] = engine(random_state=3).references(
        X, [Request(None, (5,))], setting(X, entropy=1).entropy
    )
    [[b]] = engine(random_state=3).references(
        X, [Request(None, (5,))], setting(X, entropy=2).entropy
    )
    np.testing.assert_array_equal(a.model.means, b.model.means)


DEGENERATE = {
    "all equal": np.ones((12, 2)),
    "two values": np.repeat([[0.0, 0.0], [1.0, 2.0]], 6, axis=0),
    "huge": blobs(30) * 1e150,
    "too huge": blobs(30) * 1e170,
    "tiny": blobs(30) * 1e-150,
    "mixed magnitudes": blobs(30) * [1e140, 1e-140],
    "one feature": blobs(30, p=1),
    "constant feature": np.column_stack([blobs(30, p=1), np.ones(30)]),
    "more features than points": np.random.default_rng(0).normal(size=(8, 20)),
    "two points": np.array([[0.0, 1.0], [2.0, 3.0]]),
}


@pytest.mark.parametrize("clusterer", [GaussianMixture, SVDGaussianMixture, KMeansGaussianMixture])
@pytest.mark.parametrize("relabel", ["extend", "predict", "refit"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_degenerate_data_gives_finite_results_or_the_documented_error(
    name, kind, relabel, clusterer
):
    X = DEGENERATE[name]
    n = len(X)
    eng = MixtureEngine(clusterer(covariance_type=kind))
    conf = Setting(
        0, PERTURBATIONS["uniform"], np.abs(X).max(axis=0) * 0.5, SIMILARITIES["ari"], relabel
    )
    for k in sorted({1, 2, 3, n} & set(range(1, n + 1))):
        try:
            [parts] = eng.references(X, [Request(None, (k,))], conf.entropy)
            [values] = eng.similarities(X, [Group(None, parts)], 0, EPSILONS, conf)
        except ValueError as error:
            assert "reg_covar" in str(error)  # noqa: PT017
            assert name in ("huge", "too huge", "mixed magnitudes", "tiny")
            continue
        assert np.isfinite(values).all()
        assert np.isfinite(parts[0].model.means).all()
        assert set(parts[0].labels) <= set(range(k))


@pytest.mark.parametrize("relabel", ["extend", "predict", "refit"])
@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_degenerate_data_gives_finite_results_in_wide_models_too(everything_wide, name, relabel):
    test_degenerate_data_gives_finite_results_or_the_documented_error(
        name, "full", relabel, GaussianMixture
    )


def test_wide_singular_covariances_raise_what_scikit_learn_raises(everything_wide):
    test_singular_covariances_raise_what_scikit_learn_raises("full")
    X = np.random.default_rng(0).normal(size=(12, 20))
    with pytest.raises(ValueError, match="reg_covar"):
        engine(reg_covar=0.0).references(X, [Request(None, (2,))], 7)


@pytest.mark.parametrize("kind", KINDS)
def test_singular_covariances_raise_what_scikit_learn_raises(kind):
    X = np.repeat([[0.0, 0.0], [1.0, 2.0], [5.0, 1.0]], 6, axis=0)
    if kind == "tied":
        X[:, 1] = 0.0  # or rounding in scikit-learn's formula leaves a positive variance
    clusterer = GaussianMixture(3, covariance_type=kind, reg_covar=0.0)
    with pytest.raises(ValueError) as theirs:
        clone(clusterer).fit(X)
    with pytest.raises(ValueError) as ours:
        MixtureEngine(clusterer).references(X, [Request(None, (3,))], 7)
    # What went wrong in the words of scikit-learn; its advice differs between its versions.
    reason, advice = str(theirs.value).split("Try to")
    assert str(ours.value).startswith(reason)
    assert "increase reg_covar" in advice
    assert "increase reg_covar" in str(ours.value)


def test_more_components_than_points_is_an_error_that_names_both():
    X = blobs(10)
    with pytest.raises(ValueError, match="n_components = 11, n_samples = 10"):
        engine().references(X, [Request(None, (11,))], 7)


def test_subsample_smaller_than_k_leaves_every_point_alone():
    X = blobs(20)
    eng = engine(covariance_type="spherical")
    conf = setting(X, "subsample", relabel="refit")
    [[partition]] = eng.references(X, [Request(None, (8,))], conf.entropy)
    [(rows, labels)] = eng.relabel(X, partition, 0, np.array([0.8]), conf)
    assert len(rows) < 8
    np.testing.assert_array_equal(labels, np.arange(len(rows)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("model", [GaussianMixture, SVDGaussianMixture, KMeansGaussianMixture])
@pytest.mark.parametrize("perturbation", ["uniform", "warp"])
def test_few_points_in_many_dimensions_are_handled_in_their_span(
    kind, model, perturbation, monkeypatch
):
    X = np.random.default_rng(0).normal(size=(60, 40))
    X[:20, 0] += 6.0
    X[20:30, 1] += 6.0
    requests = [Request(np.arange(5, 23), (2, 3)), Request(np.arange(22, 60), (2, 4))]
    spans = []

    def answers():
        clusterer = model(covariance_type=kind, reg_covar=0.5)
        eng, given = MixtureEngine(clusterer), setting(X, perturbation)
        found = eng.references(X, requests, given.entropy)
        groups = [Group(r.rows, parts) for r, parts in zip(requests, found, strict=True)]
        spans.append([group.partitions[0].model.subspace is not None for group in groups])
        labels = np.concatenate([part.labels for parts in found for part in parts])
        return labels, np.concatenate(eng.similarities(X, groups, 1, 8 * EPSILONS, given))

    quick = answers()
    monkeypatch.setattr(
        stablek.engines.mixture,
        "way_of",
        lambda *given, whole: ways.way_of(*given, whole=whole)._replace(in_subspace=False),
    )
    plain = answers()
    assert spans == [[kind in ("full", "tied"), False], [False, False]]
    np.testing.assert_array_equal(quick[0], plain[0])
    np.testing.assert_allclose(quick[1], plain[1], rtol=0, atol=1e-12)
    assert np.ptp(quick[1]) > 0.1


def test_no_groups_and_groups_without_partitions_are_no_error():
    X = blobs(20)
    eng, conf = engine(), setting(X)
    assert eng.similarities(X, [], 0, EPSILONS, conf) == []
    [[whole]] = eng.references(X, [Request(None, (2,))], conf.entropy)
    groups = [Group(np.arange(5), ()), Group(None, (whole,))]
    shapes = [values.shape for values in eng.similarities(X, groups, 0, EPSILONS, conf)]
    assert shapes == [(0, 3), (1, 3)]
    assert eng.similarities(X, groups[:1], 0, EPSILONS, conf)[0].shape == (0, 3)


def test_importing_the_map_of_the_kernels_loads_no_kernel():
    code = (
        "import sys, stablek.kernels.mixture, stablek.kernels.mixture.ways; "
        "print([m for m in sys.modules if m == 'numba' or m.startswith('stablek.kernels.mix')])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "['stablek.kernels.mixture', 'stablek.kernels.mixture.ways']"


def test_what_is_not_honored_is_named():
    assert unsupported(GaussianMixture(n_init=5, random_state=1)) is None
    assert unsupported(SVDGaussianMixture(covariance_type="tied")) is None
    assert unsupported(KMeansGaussianMixture(n_init=35)) is None
    for clusterer, word in (
        (GaussianMixture(init_params="k-means++"), "init_params"),
        (GaussianMixture(means_init=[[0.0]]), "means_init"),
        (GaussianMixture(warm_start=True), "warm_start"),
        (GaussianMixture(max_iter=0), "max_iter"),
        (GaussianMixture(tol=-1.0), "tol"),
        (GaussianMixture(covariance_type="banded"), "covariance_type"),
        (GaussianMixture(random_state=np.random.RandomState(0)), "random_state"),
        (type("Mine", (GaussianMixture,), {})(), "Mine"),
    ):
        assert word in unsupported(clusterer)


# The hierarchy of scaled principal components. The numbers are those of R's mclust on iris.


def test_hierarchy_of_iris_has_the_published_cluster_sizes():
    sizes = [np.bincount(labels).tolist() for labels in hierarchical_labels(iris(), [2, 3, 4, 5])]
    assert sizes == [[49, 101], [49, 62, 39], [33, 16, 62, 39], [33, 16, 18, 39, 44]]


BIC = {1: 1050.66932384, 2: 794.70900174, 3: 801.53007668, 4: 847.4137006, 5: 897.28565}


@pytest.mark.parametrize("k", BIC)
def test_mixtures_of_iris_have_the_published_bic(k):
    X = iris()
    clusterer = SVDGaussianMixture(k, tol=1e-10, reg_covar=0.0, max_iter=5000)
    assert clone(clusterer).fit(X).bic(X) == pytest.approx(BIC[k], abs=1e-4)
    eng = MixtureEngine(clusterer)
    [[partition]] = eng.references(X, [Request(None, (k,))], 7)
    estimator = eng.estimator(X, partition)
    assert type(estimator) is SVDGaussianMixture
    assert estimator.bic(X) == pytest.approx(BIC[k], abs=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_engine_and_class_agree_on_the_hierarchical_start(kind):
    X = blobs(200, 3, seed=8)
    clusterer = SVDGaussianMixture(4, covariance_type=kind)
    eng = MixtureEngine(clusterer)
    [[partition]] = eng.references(X, [Request(None, (4,))], 7)
    fitted = clone(clusterer).fit(X)
    np.testing.assert_array_equal(partition.labels, fitted.predict(X))
    assert partition.model.lower_bound == pytest.approx(fitted.lower_bound_, rel=1e-9)
    [labels] = hierarchical_labels(X, [4])
    start = start_from_labels(X, labels, 4, covariance_type=kind)
    for name, value in start_of(X, labels, kind).items():
        np.testing.assert_allclose(start[name], value, rtol=1e-8)


@pytest.mark.parametrize("n, p", [(40, 1), (60, 2), (80, 5), (50, 20), (40, 70)])
def test_hierarchy_merges_what_costs_least(n, p):
    """Compare every merge with the costs computed from full scatter matrices."""
    from stablek.kernels.mixture.hierarchy import grow_gaussian

    X = np.random.default_rng(p).normal(size=(n, p)) + 3.0 * (np.arange(n) % 3)[:, None]
    floor = 0.3
    first, second = np.zeros(n - 1, dtype=np.intp), np.zeros(n - 1, dtype=np.intp)
    grow_gaussian(X, floor, first, second)

    def term(members):
        gaps = X[members] - X[members].mean(axis=0)
        scatter, size = gaps.T @ gaps, len(members)
        determinant = np.linalg.det(scatter / size) if size > p else 0.0
        return size * np.log(determinant + (np.trace(scatter) + floor) / size)

    clusters = {i: [i] for i in range(n)}
    for a, b in zip(first, second, strict=True):
        if len(clusters) <= 25:
            costs = {
                (i, j): term(clusters[i] + clusters[j]) - term(clusters[i]) - term(clusters[j])
                for i in clusters
                for j in clusters
                if i < j
            }
            assert costs[a, b] <= min(costs.values()) + 1e-8
        clusters[a] = clusters[a] + clusters.pop(b)
    assert len(clusters) == 1


def test_hierarchy_of_many_points_takes_a_choice_of_them(monkeypatch):
    monkeypatch.setattr(stablek.mixture, "MAX_HIERARCHY", 100)
    X, _ = make_blobs(400, centers=4, random_state=1, cluster_std=0.5)
    eng, conf = MixtureEngine(SVDGaussianMixture()), setting(X)
    [parts] = eng.references(X, [Request(None, (3, 4))], conf.entropy)
    [[again]] = eng.references(X, [Request(None, (4,))], conf.entropy)
    np.testing.assert_array_equal(parts[1].labels, again.labels)
    fitted = SVDGaussianMixture(4, random_state=0).fit(X)
    assert adjusted_rand_score(fitted.predict(X), again.labels) > 0.95


def test_models_of_clusters_are_kept_without_covariances():
    X = load_iris().data
    eng, conf = engine(), setting(X)
    requests = [Request(None, (2, 3)), Request(np.arange(50), (2, 3))]
    whole, cluster = eng.references(X, requests, conf.entropy)
    assert [p.model.covariances is None for p in (*whole, *cluster)] == [False, False, True, True]
    assert eng.estimator(X, whole[1]).covariances_.shape == (3, 4, 4)


@pytest.mark.parametrize("mixture", [SVDGaussianMixture, KMeansGaussianMixture])
@pytest.mark.parametrize("bad", [{"n_init": 0}, {"n_components": "two"}, {"reg_covar": -1.0}])
def test_bad_parameters_are_refused_by_name(mixture, bad):
    [(parameter, value)] = bad.items()
    with pytest.raises(ValueError, match=f"'{parameter}'.*{mixture.__name__}.*{value}"):
        mixture(**bad).fit(np.zeros((5, 2)))


@pytest.mark.parametrize("mixture", [SVDGaussianMixture, KMeansGaussianMixture])
def test_mixtures_are_scikit_learn_estimators(mixture):
    data = load_iris(as_frame=True).data
    model = clone(mixture(3, n_init=4))
    labels = model.fit_predict(data)
    np.testing.assert_array_equal(labels, model.predict(data))
    assert list(model.feature_names_in_) == list(data.columns)
    assert model.get_params()["n_init"] == 4
    assert model.weights_init is None
    with pytest.raises(ValueError, match="n_components = 9, n_samples = 5"):
        mixture(9).fit(data[:5])


# Mixtures that start from the best of many K-means runs.


@pytest.mark.parametrize("kind", KINDS)
def test_one_kmeans_start_is_what_scikit_learn_takes(kind):
    X = blobs(200, 3, seed=8)
    ours = KMeansGaussianMixture(4, covariance_type=kind, random_state=3).fit(X)
    theirs = GaussianMixture(4, covariance_type=kind, random_state=3).fit(X)
    np.testing.assert_allclose(ours.means_, theirs.means_, rtol=1e-6)
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, rel=1e-9)
    assert ours.n_iter_ == theirs.n_iter_


def grid_of_blobs(side=4):
    """So many clusters that one K-means run may not find them all."""
    centers = [[8.0 * i, 8.0 * j] for i in range(side) for j in range(side)]
    return make_blobs(30 * side**2, centers=centers, random_state=0)


def test_the_best_of_many_kmeans_finds_what_a_single_start_misses():
    X, y = grid_of_blobs(side=6)
    k = 36
    engines = [MixtureEngine(m) for m in (GaussianMixture(), KMeansGaussianMixture(n_init=35))]
    scores = np.empty((2, 5))
    for seed in range(5):
        for i, eng in enumerate(engines):
            [[found]] = eng.references(X, [Request(None, (k,))], seed)
            scores[i, seed] = adjusted_rand_score(y, found.labels)
    single, best = scores
    assert single.min() < 0.99
    np.testing.assert_array_equal(best, 1.0)
    assert type(eng.estimator(X, found)) is KMeansGaussianMixture


def test_engine_and_class_agree_on_the_kmeans_start():
    X, _ = grid_of_blobs()
    eng = MixtureEngine(KMeansGaussianMixture(n_init=10))
    [[partition]] = eng.references(X, [Request(None, (16,))], 7)
    fitted = KMeansGaussianMixture(16, n_init=10, random_state=0).fit(X)
    assert adjusted_rand_score(fitted.predict(X), partition.labels) == 1.0
    assert partition.model.lower_bound == pytest.approx(fitted.lower_bound_, rel=1e-9)


def test_a_kmeans_start_does_not_depend_on_the_values_beside_it():
    X, _ = grid_of_blobs()
    eng, conf = MixtureEngine(KMeansGaussianMixture(n_init=5)), setting(X)
    [parts] = eng.references(X, [Request(None, (3, 14, 20))], conf.entropy)
    [[alone]] = eng.references(X, [Request(None, (14,))], conf.entropy)
    np.testing.assert_array_equal(parts[1].labels, alone.labels)
    np.testing.assert_array_equal(parts[1].model.means, alone.model.means)


def test_fewer_different_points_than_components_start_like_scikit_learn():
    X = np.repeat([[0.0, 1.0], [3.0, 3.0], [5.0, -1.0]], 10, axis=0)
    with pytest.warns(ConvergenceWarning, match="distinct"):
        ours = KMeansGaussianMixture(4, random_state=0).fit(X)
    with pytest.warns(ConvergenceWarning, match="distinct"):
        theirs = GaussianMixture(4, random_state=0).fit(X)
    np.testing.assert_array_equal(ours.predict(X), theirs.predict(X))
    assert ours.lower_bound_ == pytest.approx(theirs.lower_bound_, rel=1e-9)


@pytest.mark.parametrize("n", [60, 150])
@pytest.mark.parametrize("unit", [1e2, 1e3, 1e4, 3e4, 1e5, 1e6])
def test_wide_mixtures_refuse_singular_covariances_alike(n, unit):
    """Whichever selector asks, the answer is a model or scikit-learn's advice."""
    X = np.random.default_rng(0).normal(size=(n, 120))
    X[: n // 2] += 3
    options = {"k_range": [2], "random_state": 0}
    paths = {"omega": [2], "epsilons": [0.2], "n_perturbations": 1}
    refused = []
    for make in (
        lambda: GaussianMixture(2, random_state=0),
        lambda: Stadion(GaussianMixture(), **options, **paths),
        lambda: SELECTORS["bic"](GaussianMixture(), **options),
    ):
        try:
            make().fit(unit * X)
        except ValueError as error:
            refused.append("ill-defined" in str(error))
        else:
            refused.append(False)
    assert refused[1] == refused[2]
    if refused[0]:
        assert refused[1]
