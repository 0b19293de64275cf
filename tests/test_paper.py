"""The paper's examples, and its benchmark data where they are available."""

from functools import partial

import numpy as np
import pytest
from conftest import needs_data
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score
from sklearn.preprocessing import StandardScaler

import stablek
from stablek.datasets import (
    fetch_benchmark,
    make_correlated_gaussians,
    make_gaussian,
    make_golf_ball,
    make_symmetric_triangle,
    make_three_gaussians,
    make_uniform,
)

SEEDS = range(5)
Stadion = partial(stablek.Stadion, one_cluster="crossing")  # the paper's rule


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("relabel", ["extend", "refit"])
def test_three_gaussians(seed, relabel):
    """K = 2 and K = 3 are both stable, but only K = 2 has stable sub-clusters."""
    X, _ = make_three_gaussians(random_state=seed)
    stadion = Stadion(k_range=range(1, 7), relabel=relabel, random_state=seed).fit(X)
    assert stadion.n_clusters_ == 3
    assert stadion.reselect(aggregation="mean").n_clusters == 3
    some = np.searchsorted(stadion.epsilons_, 0.4)
    assert (stadion.between_stability_[:3, : some + 1] > 0.97).all()
    assert (stadion.between_stability_[3:, some] < 0.95).all()
    one, two, three = stadion.within_stability_[:3, some]
    assert one > 0.8 > two > 0.4 > 0.2 > three


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize(
    "make",
    [
        lambda seed: make_uniform(n_features=10, random_state=seed),
        lambda seed: make_gaussian(n_features=2, random_state=seed),
        lambda seed: make_gaussian(n_features=10, random_state=seed),
        lambda seed: make_golf_ball(random_state=seed),
    ],
    ids=["uniform-10", "gaussian-2", "gaussian-10", "golf-ball"],
)
def test_no_structure(make, seed):
    stadion = Stadion(relabel="extend", random_state=seed).fit(make(seed)[0])
    assert stadion.n_clusters_ == 1
    assert (stadion.labels_ == 0).all()


@pytest.mark.parametrize("seed", SEEDS)
def test_uniform_square_is_a_near_tie(seed):
    """The paper reports K = 1. At small noise, many clusters win by a tiny margin."""
    X, _ = make_uniform(random_state=seed)
    levels = np.linspace(0, 2**0.5, 10)
    stadion = Stadion(
        k_range=range(1, 11), relabel="extend", epsilons=levels, random_state=seed
    ).fit(X)
    assert stadion.scores_.max() - stadion.scores_[0] < 0.05


@pytest.mark.parametrize("seed", SEEDS)
def test_correlated_gaussians(seed):
    X, y = make_correlated_gaussians(random_state=seed)
    stadion = Stadion(k_range=range(1, 7), omega=range(2, 7), random_state=seed).fit(X)
    assert stadion.n_clusters_ == 2
    assert adjusted_rand_score(y, stadion.labels_) > 0.9


def test_bootstrap_does_not_find_the_correlated_gaussians_reliably():
    """Under the bootstrap a K above 2 is stable too, so it is wrong for some seeds."""
    found = []
    for seed in SEEDS:
        X, _ = make_correlated_gaussians(random_state=seed)
        stadion = Stadion(
            k_range=range(1, 7), omega=range(2, 7), perturbation="bootstrap", random_state=seed
        ).fit(X)
        found.append(stadion.n_clusters_)
    assert any(k > 2 for k in found)


def test_symmetry_makes_two_clusters_jump():
    X, _ = make_symmetric_triangle(random_state=0)
    stadion = Stadion(k_range=range(1, 5), relabel="refit", random_state=0).fit(X)
    assert stadion.n_clusters_ == 3
    # Even at little noise, different copies join different corners.
    assert stadion.between_stability_[1, 1] < 0.8
    assert stadion.between_stability_[2, 1] > 0.99


class PlainStadion(stablek.Stadion):
    """Stadion without the fast engine, which also starts from the reference centers."""

    _engine = "generic"


def test_jumping_by_initialization():
    """One random start splits a random cluster, even without noise. Many starts do not."""
    X, _ = make_three_gaussians(random_state=0)
    options = {
        "k_range": [4],
        "omega": [2],
        "epsilons": [0.0, 0.1],
        "relabel": "refit",
        "one_cluster": "crossing",
    }
    once = PlainStadion(KMeans(n_init=1, init="random"), random_state=0, **options).fit(X)
    often = PlainStadion(KMeans(n_init=30), random_state=0, **options).fit(X)
    assert once.between_stability_[0, 0] < often.between_stability_[0, 0]


def test_k_approaching_n():
    X, _ = make_three_gaussians(n_samples=50, random_state=0)
    stadion = Stadion(
        k_range=range(1, 51), omega=range(2, 11), relabel="refit", random_state=0
    ).fit(X)
    assert np.isfinite(stadion.scores_).all()
    assert stadion.n_clusters_ == 3
    assert stadion.scores_[-1] == 0.0
    np.testing.assert_array_equal(stadion.between_stability_[-1], 1.0)
    np.testing.assert_array_equal(stadion.within_stability_[-1], 1.0)
    # Nearly all clusters are singletons: unstable between, trivially stable within.
    assert stadion.stadion_paths_[-6:-1].mean() < -0.3


def standardized(name):
    X, y = fetch_benchmark(name)
    return StandardScaler().fit_transform(X), y


@needs_data
@pytest.mark.parametrize("relabel", ["extend", "refit"])
@pytest.mark.parametrize(
    ("name", "k"), [("exemples2_5g", 5), ("hepta", 7), ("tetra", 4), ("xclara", 3)]
)
def test_benchmark_sets(name, k, relabel):
    X, _ = standardized(name)
    found = [
        Stadion(relabel=relabel, random_state=seed, n_jobs=2).fit(X).n_clusters_ for seed in SEEDS
    ]
    assert found == [k] * len(SEEDS)


@needs_data
def test_2d_4c():
    X, _ = standardized("2d-4c")
    found = [Stadion(relabel="extend", random_state=s).fit(X).n_clusters_ for s in SEEDS]
    assert found == [4] * len(SEEDS)


@needs_data
@pytest.mark.parametrize("relabel", ["extend", "refit"])
def test_4clusters_corner(relabel):
    """K-means cannot find the four clusters. Stadion ranks its partitions as the ARI does."""
    X, y = standardized("4clusters_corner")
    stadion = Stadion(k_range=range(1, 6), relabel=relabel, random_state=0).fit(X)
    assert stadion.n_clusters_ == 3
    truth = [adjusted_rand_score(y, labels) for labels in stadion.reference_labels_]
    np.testing.assert_allclose(truth, [0.0, 0.74, 0.92, 0.58, 0.65], atol=0.025)
    _, two, three, four, five = stadion.scores_
    assert three > two > five > four
