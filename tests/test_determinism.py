"""The same seed gives the same bits, however the work is done."""

import numpy as np
import pytest
from joblib import parallel_config
from sklearn.cluster import AgglomerativeClustering, KMeans, MiniBatchKMeans
from sklearn.mixture import GaussianMixture

from stablek import Stadion

OPTIONS = {"k_range": range(1, 5), "omega": [2, 3], "n_perturbations": 3, "n_epsilons": 4}
CASES = [
    (KMeans(n_init=2), "extend"),
    (KMeans(n_init=2), "refit"),
    (MiniBatchKMeans(n_init=1), "refit"),
    (AgglomerativeClustering(), "refit"),
    (GaussianMixture(), "extend"),
]


def fingerprint(stadion):
    return (
        stadion.paths_.between,
        stadion.paths_.clusters,
        stadion.scores_,
        stadion.reference_labels_,
        stadion.point_stability_,
        stadion.selection_frequency_,
    )


def assert_same_bits(first, second):
    for a, b in zip(fingerprint(first), fingerprint(second), strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("clusterer", "relabel"), CASES, ids=str)
def test_bit_identical_for_any_workers(clusterer, relabel, rng):
    X = rng.normal(size=(300, 3))  # scikit-learn's K-means works in chunks above 256 rows
    make = Stadion(clusterer, relabel=relabel, random_state=4, **OPTIONS)
    serial = make.fit(X)
    others = [Stadion(**{**make.get_params(deep=False), "n_jobs": 2}).fit(X)]
    for backend in ("threading", "loky"):
        with parallel_config(backend=backend, n_jobs=2):
            others.append(Stadion(**make.get_params(deep=False)).fit(X))
    for other in others:
        assert_same_bits(serial, other)


def test_repeated_fits_and_other_seeds(blobs):
    first = Stadion(random_state=1, **OPTIONS).fit(blobs)
    assert_same_bits(first, Stadion(random_state=1, **OPTIONS).fit(blobs))
    other = Stadion(random_state=2, **OPTIONS).fit(blobs)
    assert not np.array_equal(first.paths_.clusters, other.paths_.clusters)


def test_a_level_does_not_depend_on_the_other_levels(blobs):
    grid = Stadion(random_state=1, epsilons=[0.1, 0.4, 1.0], **OPTIONS).fit(blobs)
    single = Stadion(random_state=1, epsilons=[0.4], **OPTIONS).fit(blobs)
    np.testing.assert_array_equal(grid.paths_.between[:, [1]], single.paths_.between)
    np.testing.assert_array_equal(grid.paths_.clusters[:, :, [1]], single.paths_.clusters)


def test_a_path_does_not_depend_on_the_other_candidates(blobs):
    many = Stadion(random_state=1, epsilons=[0.4], **OPTIONS).fit(blobs)
    few = Stadion(random_state=1, epsilons=[0.4], **{**OPTIONS, "k_range": [3]}).fit(blobs)
    np.testing.assert_array_equal(many.stadion_paths_[[2]], few.stadion_paths_)


def test_global_state_is_left_alone(blobs):
    np.random.seed(3)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    Stadion(random_state=1, **OPTIONS).fit(blobs)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
