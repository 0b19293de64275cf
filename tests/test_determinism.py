"""The same seed gives the same bits, however the work is done."""

import os
import subprocess
import sys

import answers
import numpy as np
import pytest
from joblib import parallel_config

from stablek import Stadion

OPTIONS = {
    "k_range": range(1, 5),
    "omega": [2, 3],
    "n_perturbations": 3,
    "n_epsilons": 4,
    "one_cluster": "crossing",
}
BACKENDS = ["loky", "threading", "multiprocessing", "sequential"]


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


@pytest.fixture(scope="module")
def serial():
    """Digests of fits without workers."""
    return answers.digests()


@pytest.mark.parametrize("backend", BACKENDS)
def test_same_bits_for_every_backend_of_joblib(backend, serial):
    with parallel_config(backend=backend, n_jobs=2):
        assert answers.digests() == serial


def test_same_bits_for_any_number_of_workers(serial):
    assert answers.digests(n_jobs=2) == serial
    assert answers.digests(n_jobs=-1) == serial


@pytest.mark.parametrize(("threads", "hash_seed"), [("1", "0"), ("2", "1"), ("4", "random")])
def test_same_bits_for_any_threads_of_libraries_and_hash_seed(threads, hash_seed, serial):
    variables = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")
    environment = {**os.environ, **dict.fromkeys(variables, threads), "PYTHONHASHSEED": hash_seed}
    command = [sys.executable, answers.__file__, "1"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    found = dict(line.rsplit(" ", 1) for line in done.stdout.splitlines())
    assert found == serial


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
