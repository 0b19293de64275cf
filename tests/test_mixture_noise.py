"""Mixtures that know the noise: `relabel="extend"` against plain posteriors, and `"predict"`."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import logsumexp
from sklearn.cluster import KMeans
from sklearn.datasets import load_iris, make_blobs
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import scale as standardize

from stablek import KMeansGaussianMixture, Stadion, SVDGaussianMixture, seeding
from stablek.engines.base import Setting
from stablek.engines.mixture import MixtureEngine
from stablek.engines.mixture_narrow import Mixture
from stablek.kernels.mixture import ways
from stablek.perturbations import PERTURBATIONS
from stablek.results import Group, Partition, Request
from stablek.selectors.evaluate import evaluate_partition
from stablek.settings import noise_scale
from stablek.similarity import SIMILARITIES

KINDS = ("full", "tied", "diag", "spherical")
EPSILONS = np.array([0.0, 0.05, 0.4, 1.3])
VARIANCE = {"uniform": 1 / 3, "gaussian": 1.0}


def setting(X, perturbation="uniform", relabel="extend", scale="feature", similarity="ari"):
    scales = noise_scale(X, scale)
    return Setting(7, PERTURBATIONS[perturbation], scales, SIMILARITIES[similarity], relabel)


def thin_and_broad(n=240, p=3, seed=0):
    """Clusters of very different spreads, and features of different scales."""
    rng = np.random.default_rng(seed)
    spreads = np.array([0.15, 1.0, 2.5])[rng.integers(0, 3, n)]
    X = rng.normal(size=(n, p)) * spreads[:, None] + 3.0 * rng.integers(0, 3, size=(n, 1))
    return X @ rng.normal(size=(p, p)) * np.arange(1, p + 1)


def groups_of(eng, X, ks=(2, 4), omega=(2, 3)):
    """X with its partitions, and the clusters of the first with their partitions."""
    [whole] = eng.references(X, [Request(None, ks)], 7)
    requests = [Request(np.flatnonzero(whole[0].labels == c), omega) for c in range(ks[0])]
    assert all(len(request.rows) > 10 for request in requests)
    inside = eng.references(X, requests, 7)
    groups = [Group(r.rows, parts) for r, parts in zip(requests, inside, strict=True)]
    return [Group(None, whole), *groups]


def whole_covariances(estimator):
    """Covariances of a fitted mixture as matrices, (k, p, p)."""
    k, p = estimator.means_.shape
    precisions = estimator.precisions_
    if estimator.covariance_type == "tied":
        return np.stack([np.linalg.inv(precisions)] * k)
    if estimator.covariance_type == "full":
        return np.linalg.inv(precisions)
    variances = np.broadcast_to(1 / precisions.reshape(k, -1), (k, p))
    return np.stack([np.diag(own) for own in variances])


def plain_labels(weights, means, covariances, points):
    """Component of highest posterior, and whether each point is clear of a tie."""
    logs = []
    for weight, mean, covariance in zip(weights, means, covariances, strict=True):
        gaps = points - mean
        squares = np.einsum("ij,ij->i", gaps, np.linalg.solve(covariance, gaps.T).T)
        logs.append(np.log(weight) - 0.5 * (squares + np.linalg.slogdet(covariance)[1]))
    logs = np.stack(logs)
    posterior = np.exp(logs - logsumexp(logs, axis=0))
    ranked = np.sort(posterior, axis=0)
    clear = np.full(len(points), True) if len(logs) == 1 else ranked[-1] - ranked[-2] > 1e-6
    return posterior.argmax(axis=0), clear


def noisy_labels(eng, X, partition, rows, draw, epsilon, conf):
    """The oracle: a plain posterior with Sigma + v diag(scale^2)."""
    noise = seeding.noise(
        7, draw, X.shape[1], 0, len(X), gaussian=conf.perturbation.name != "uniform"
    )
    points = (X + epsilon * conf.scale * noise)[rows]
    estimator = eng.estimator(X, partition)
    added = VARIANCE[conf.perturbation.name] * epsilon**2 * np.diag(conf.scale**2)
    covariances = whole_covariances(estimator) + added
    return plain_labels(estimator.weights_, estimator.means_, covariances, points)


def check_against_the_oracle(eng, X, conf, groups=None):
    """Labels and similarities of all groups; returns how many labels differ from predict's."""
    changed = 0
    plain = setting(X, conf.perturbation.name, "predict")
    groups = groups_of(eng, X) if groups is None else groups
    found = eng.similarities(X, groups, 3, EPSILONS, conf)
    for group, values in zip(groups, found, strict=True):
        rows = np.arange(len(X)) if group.rows is None else group.rows
        for partition, similarity in zip(group.partitions, values, strict=True):
            for e, epsilon in enumerate(EPSILONS):
                expected, clear = noisy_labels(eng, X, partition, rows, 3, epsilon, conf)
                assert clear.all()  # no ties in these data
                score = adjusted_rand_score(partition.labels, expected)
                assert similarity[e] == pytest.approx(score, abs=1e-12)
                if group.rows is None:
                    level = np.array([epsilon])
                    [(rows_found, labels)] = eng.relabel(X, partition, 3, level, conf)
                    assert rows_found is None
                    np.testing.assert_array_equal(labels, expected)
                    [(_, before)] = eng.relabel(X, partition, 3, level, plain)
                    changed += int((before != labels).sum())
    return changed


@pytest.mark.parametrize("p", [1, 2, 3, 6])
@pytest.mark.parametrize("perturbation", ["uniform", "gaussian"])
@pytest.mark.parametrize("kind", KINDS)
def test_labels_are_those_of_a_plain_posterior(kind, perturbation, p):
    X = thin_and_broad(p=p, seed=p)
    eng = MixtureEngine(GaussianMixture(covariance_type=kind))
    changed = check_against_the_oracle(eng, X, setting(X, perturbation))
    # Tied covariances of equal weights hardly change; the others do.
    assert changed > 0 or kind == "tied"


@pytest.mark.parametrize("clusterer", [SVDGaussianMixture(), KMeansGaussianMixture(n_init=2)])
def test_variants_of_the_mixture_know_the_noise(clusterer):
    X = thin_and_broad()
    assert check_against_the_oracle(MixtureEngine(clusterer), X, setting(X)) > 0


@pytest.mark.parametrize("kind", KINDS)
def test_global_noise_scale(kind):
    X = thin_and_broad(seed=1)
    conf = setting(X, scale="global")
    check_against_the_oracle(MixtureEngine(GaussianMixture(covariance_type=kind)), X, conf)


@pytest.mark.parametrize("kind", KINDS)
def test_constant_features_get_no_noise(kind):
    X = thin_and_broad(seed=2)
    X[:, 1] = 5.0
    conf = setting(X)
    assert conf.scale[1] == 0.0
    check_against_the_oracle(MixtureEngine(GaussianMixture(covariance_type=kind)), X, conf)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("similarity", ["ari", "matching"])
def test_any_similarity_sees_the_same_labels(kind, similarity):
    """Similarities without a fast form get their labels copy by copy."""
    X = thin_and_broad(seed=3)
    eng = MixtureEngine(GaussianMixture(covariance_type=kind))
    [[partition]] = eng.references(X, [Request(None, (4,))], 7)
    conf = setting(X, similarity=similarity)
    [[found]] = eng.similarities(X, [Group(None, (partition,))], 0, EPSILONS, conf)
    copies = eng.relabel(X, partition, 0, EPSILONS, conf)
    expected = [conf.similarity(partition.labels, labels) for _, labels in copies]
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_little_noise_gives_predict(kind):
    X = thin_and_broad(seed=4)
    eng = MixtureEngine(GaussianMixture(covariance_type=kind))
    [[partition]] = eng.references(X, [Request(None, (4,))], 7)
    levels = np.array([0.0, 1e-7])
    extended = eng.relabel(X, partition, 0, levels, setting(X))
    predicted = eng.relabel(X, partition, 0, levels, setting(X, relabel="predict"))
    for (_, one), (_, two) in zip(extended, predicted, strict=True):
        np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("kind", KINDS)
def test_equal_spherical_components_label_as_k_means(kind):
    X = np.random.default_rng(5).normal(size=(300, 3)) * [1.0, 2.0, 3.0]
    fitted = KMeans(3, n_init=1, random_state=0).fit(X)
    k, p, variance = 3, 3, 0.7
    matrix = np.eye(p) if kind in ("full", "tied") else np.ones((1, p))
    offset = np.log(1 / k) - 0.5 * p * np.log(2 * np.pi * variance)
    factors = np.stack([matrix / np.sqrt(variance)] * k)
    model = Mixture(
        np.full(k, 1 / k), fitted.cluster_centers_, None, factors, np.full(k, offset), 0.0, 1, True
    )
    partition = Partition(k, fitted.labels_.astype(np.intp), model)
    conf = setting(X, "gaussian", scale="global")
    eng = MixtureEngine(GaussianMixture(k, covariance_type=kind))
    [[similarity]] = eng.similarities(X, [Group(None, (partition,))], 2, EPSILONS, conf)
    noise = seeding.noise(7, 2, p, 0, len(X), gaussian=True)
    copies = eng.relabel(X, partition, 2, EPSILONS, conf)
    for e, (_, labels) in enumerate(copies):
        nearest = fitted.predict(X + EPSILONS[e] * conf.scale * noise)
        np.testing.assert_array_equal(labels, nearest)
        assert similarity[e] == pytest.approx(adjusted_rand_score(fitted.labels_, nearest))


def test_wide_components_are_exact_for_noise_of_one_scale(monkeypatch):
    monkeypatch.setattr(ways, "_PRODUCT_FEATURES", 1)
    X = np.random.default_rng(0).normal(size=(90, 30)) * np.linspace(0.5, 2.0, 30)
    X[:40, :5] += 4.0
    X[40:60, 5:9] += 4.0
    eng = MixtureEngine(GaussianMixture(reg_covar=0.01))
    [whole] = eng.references(X, [Request(None, (2, 5))], 7)
    axes = [c.axes is not None for part in whole for c in part.model.components]
    assert set(axes) == {True, False}
    conf = setting(X, scale="global")
    assert check_against_the_oracle(eng, X, conf, [Group(None, whole)]) > 0


def test_wide_components_have_the_documented_covariance(monkeypatch):
    """The noise as it is along the axes; its mean variance off the axes."""
    monkeypatch.setattr(ways, "_PRODUCT_FEATURES", 1)
    X = np.random.default_rng(1).normal(size=(60, 30)) * np.linspace(0.5, 4.0, 30)
    X[:30, :9] += 4.0
    eng, conf = MixtureEngine(GaussianMixture(reg_covar=0.1)), setting(X)
    [[partition]] = eng.references(X, [Request(None, (3,))], 7)
    group, model = Group(None, (partition,)), partition.model
    noise = seeding.noise(7, 0, 30, 0, 60)
    [[found]] = eng.similarities(X, [group], 0, EPSILONS, conf)
    copies = eng.relabel(X, partition, 0, EPSILONS, conf)
    for e, epsilon in enumerate(EPSILONS):
        covariances = []
        for component in model.components:
            added = epsilon**2 / 3 * np.diag(conf.scale**2)
            if component.axes is not None:
                on = component.axes @ component.axes.T
                off = np.eye(30) - on
                mean = np.trace(off @ added) / np.trace(off)
                added = on @ added @ on + mean * off
            covariances.append(component.covariance() + added)
        points = X + epsilon * conf.scale * noise
        expected, clear = plain_labels(model.weights, model.means, covariances, points)
        assert clear.all()
        np.testing.assert_array_equal(copies[e][1], expected)
        score = adjusted_rand_score(partition.labels, expected)
        assert found[e] == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("least", [1, 1000])
@pytest.mark.parametrize("kind", ["full", "tied"])
def test_models_in_a_subspace_know_the_noise_of_the_coordinates(kind, least, monkeypatch):
    """With noise of one scale, the labels are those of the model in the whole space."""
    monkeypatch.setattr(ways, "_PRODUCT_FEATURES", least)
    monkeypatch.setattr(ways, "_AXES_FEATURES", least)
    X = np.random.default_rng(2).normal(size=(60, 50))
    X[:30, :9] += 3.0
    X[:15, 9:12] += 3.0
    rows = np.arange(25)
    eng = MixtureEngine(GaussianMixture(reg_covar=0.05, covariance_type=kind))
    conf = setting(X, scale="global")
    [[inside]] = eng.references(X, [Request(rows, (2,))], 7)
    assert inside.model.subspace is not None
    axes = inside.model.subspace.axes
    means = inside.model.subspace.points(inside.model.means)
    factors = np.broadcast_to(inside.model.factors, (2, 25, 25))
    along = np.linalg.inv(factors @ factors.transpose(0, 2, 1))
    off = 0.05 * (np.eye(50) - axes @ axes.T)
    [[found]] = eng.similarities(X, [Group(rows, (inside,))], 0, EPSILONS, conf)
    noise = seeding.noise(7, 0, 50, 0, 60)
    for e, epsilon in enumerate(EPSILONS):
        added = epsilon**2 / 3 * np.diag(conf.scale**2)
        covariances = [axes @ own @ axes.T + off + added for own in along]
        points = (X + epsilon * conf.scale * noise)[rows]
        expected, clear = plain_labels(inside.model.weights, means, covariances, points)
        assert clear.all()
        score = adjusted_rand_score(inside.labels, expected)
        assert found[e] == pytest.approx(score, abs=1e-12)


@pytest.mark.parametrize("perturbation", ["shift", "offset", "scale", "warp"])
def test_other_perturbations_fall_back_to_predict(perturbation):
    X = thin_and_broad(p=6)
    eng = MixtureEngine(GaussianMixture())
    groups = groups_of(eng, X)
    one, two = (
        eng.similarities(X, groups, 0, EPSILONS, setting(X, perturbation, relabel))
        for relabel in ("extend", "predict")
    )
    for a, b in zip(one, two, strict=True):
        np.testing.assert_array_equal(a, b)


SMALL = {"k_range": range(1, 5), "omega": [2, 3], "n_perturbations": 3, "random_state": 0}


@pytest.mark.parametrize("perturbation", ["uniform", "gaussian", "warp"])
@pytest.mark.parametrize("clusterer", [KMeans(n_init=2), GaussianMixture(init_params="random")])
def test_extend_is_predict_for_clusterers_that_need_no_care(clusterer, perturbation):
    """K-means, and every clusterer of the generic engine."""
    X = make_blobs(60, n_features=3, centers=3, random_state=0)[0]
    options = {**SMALL, "perturbation": perturbation, "one_cluster": "never"}
    fits = [
        Stadion(clusterer, relabel=relabel, **options).fit(X) for relabel in ("extend", "predict")
    ]
    assert [fit.relabel_ for fit in fits] == ["extend", "predict"]
    for name in ("between_stability_", "within_stability_", "point_stability_", "scores_"):
        np.testing.assert_array_equal(getattr(fits[0], name), getattr(fits[1], name))


def test_stadion_follows():
    """Paths, point stability, the structure test and single partitions know the noise or not."""
    X = standardize(load_iris().data)
    fits = {
        relabel: Stadion(GaussianMixture(), relabel=relabel, **SMALL).fit(X)
        for relabel in ("auto", "extend", "predict")
    }
    assert fits["auto"].relabel_ == "extend"
    np.testing.assert_array_equal(fits["auto"].stadion_paths_, fits["extend"].stadion_paths_)
    extended, predicted = fits["extend"], fits["predict"]
    assert (extended.between_stability_ != predicted.between_stability_).any()
    tests = [fit.structure_test_.stadion_paths for fit in (extended, predicted)]
    assert (tests[0] != tests[1]).any()
    for relabel in ("extend", "predict"):
        fit = fits[relabel]
        # One cluster: inside it are the partitions of all of X.
        alone = evaluate_partition(
            X,
            np.zeros(len(X)),
            clusterer=GaussianMixture(),
            relabel=relabel,
            omega=SMALL["omega"],
            n_perturbations=3,
            epsilons=fit.epsilons_,
            random_state=0,
        )
        np.testing.assert_allclose(alone.within_stability, fit.within_stability_[0])


def test_point_stability_is_that_of_the_oracle():
    X = thin_and_broad(seed=6)
    fit = Stadion(
        GaussianMixture(),
        k_range=[3],
        omega=[2],
        epsilons=EPSILONS,
        n_perturbations=2,
        one_cluster="never",
        random_state=0,
    ).fit(X)
    entropy, kept = seeding.entropy_of(0), np.zeros(len(X))
    model, levels = fit.best_estimator_, fit.epsilons_[fit.counted_levels_]
    assert len(levels) >= 3
    for draw in range(2):
        noise = seeding.noise(entropy, draw, X.shape[1], 0, len(X))
        for epsilon in levels:
            covariances = model.covariances_ + epsilon**2 / 3 * np.diag(X.var(axis=0))
            points = X + epsilon * X.std(axis=0) * noise
            labels, clear = plain_labels(model.weights_, model.means_, covariances, points)
            assert clear.all()
            kept += labels == fit.labels_
    np.testing.assert_allclose(fit.point_stability_, kept / (2 * len(levels)))
