"""The fast engines agree with the generic engine on the paper's data."""

import numpy as np
import pytest
from conftest import needs_data
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from stablek.datasets import fetch_benchmark, list_benchmark
from stablek.engines import GenericEngine, Setting, engine_for
from stablek.perturbations import PERTURBATIONS
from stablek.results import Group, Partition, Request
from stablek.similarity import SIMILARITIES

LEVELS = np.array([0.1, 0.5, 1.4])
NAMES = [info.name for info in list_benchmark()]
# A mixture with full covariances needs more points than features in each component.
NARROW = [info.name for info in list_benchmark() if info.n_features <= 32]


def agree(clusterer, param_name, name, ks):
    X = StandardScaler().fit_transform(fetch_benchmark(name)[0])
    setting = Setting(
        0, PERTURBATIONS["uniform"], X.std(axis=0), SIMILARITIES["ari"], relabel="predict"
    )
    fast = engine_for(clusterer, param_name)
    generic = GenericEngine(clusterer, param_name)
    assert type(fast) is not type(generic)
    [partitions] = fast.references(X, [Request(None, ks)], setting.entropy)
    models = tuple(Partition(p.k, p.labels, fast.estimator(X, p)) for p in partitions)
    [ours] = fast.similarities(X, [Group(None, partitions)], 0, LEVELS, setting)
    [theirs] = generic.similarities(X, [Group(None, models)], 0, LEVELS, setting)
    np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@needs_data
@pytest.mark.parametrize("name", NAMES)
def test_k_means_extended(name):
    agree(KMeans(n_init=1), "n_clusters", name, (2, 5, 15))


@needs_data
@pytest.mark.parametrize("name", NARROW)
def test_gaussian_mixture_extended(name):
    agree(GaussianMixture(), "n_components", name, (2, 4))
