"""Indices estimated on a sample are near the truth, within about the stated error."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs

from stablek import indices
from stablek.indices import INDICES, estimate_index

X, Y = make_blobs(3000, n_features=3, centers=4, cluster_std=2.5, random_state=3)


@pytest.mark.parametrize("average", ["micro", "macro"])
def test_silhouette_is_unbiased_with_an_honest_error(average):
    exact = indices.silhouette(X, Y, average=average)
    found = [
        estimate_index(X, Y, sample_size=150, random_state=seed, average=average)
        for seed in range(60)
    ]
    z = np.array([(each.value - exact) / each.standard_error for each in found])
    assert abs(z.mean()) < 3 / np.sqrt(60)
    assert 0.75 < z.std() < 1.3


@pytest.mark.parametrize("name", ["wemmert_gancarski", "davies_bouldin", "calinski_harabasz"])
def test_jackknife_covers_the_truth(name):
    exact = getattr(indices, name)(X, Y)
    found = [estimate_index(X, Y, name, sample_size=600, random_state=s) for s in range(30)]
    z = np.array([(each.value - exact) / each.standard_error for each in found])
    assert (np.abs(z) < 3).mean() > 0.9
    assert 0.5 < z.std() < 1.6


@pytest.mark.parametrize("name", INDICES)
def test_whole_sample_is_exact(name):
    estimate = estimate_index(X, Y, name, sample_size=5000)
    assert estimate.value == getattr(indices, name)(X, Y)
    assert estimate.standard_error == 0.0
    assert estimate.sample_size == 3000
    assert float(estimate) == estimate.value


def test_extremes_are_optimistic():
    estimate = estimate_index(X, Y, "dunn", sample_size=300, random_state=0)
    assert estimate.value > indices.dunn(X, Y)


@pytest.mark.parametrize("name", INDICES)
def test_same_seed_same_bits(name):
    options = {"sample_size": 200, "random_state": 5}
    first = estimate_index(X, Y, name, **options)
    assert first == estimate_index(X, Y, name, n_jobs=2, **options)
    assert first != estimate_index(X, Y, name, sample_size=200, random_state=6)


def test_every_cluster_is_drawn():
    labels = np.where(np.arange(3000) < 2, 9, Y)  # a cluster of two points
    assert np.isfinite(estimate_index(X, labels, sample_size=10, random_state=0).value)


def test_bad_sample_size():
    with pytest.raises(ValueError, match="sample_size must be an int of at least 2, got 1"):
        estimate_index(X, Y, sample_size=1)
