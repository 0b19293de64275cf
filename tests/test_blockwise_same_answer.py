"""Data in blocks give the answer of memory: the same K, and as good partitions for every K."""

from __future__ import annotations

import dask.array as da
import numpy as np
import pytest

from benchmarks.block_starts import inertia, make
from stablek import Stadion
from stablek.blockwise import core
from stablek.blockwise.kmeans import BlockKMeans
from stablek.blockwise.layout import Layout
from stablek.blockwise.starts import choose_starts, inertia_of
from stablek.results import Partition
from stablek.selectors import CalinskiHarabasz

N = 12_000
SAMPLE = 8000


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    monkeypatch.setattr(core, "BLOCK_ROWS", 1024)


@pytest.mark.parametrize("n_clusters", range(1, 21))
def test_same_k(n_clusters):
    X = make(n_clusters, N)
    stadion = Stadion(
        k_range=range(max(1, n_clusters - 1), n_clusters + 2),
        omega=[2, 3],
        n_perturbations=3,
        n_epsilons=6,
        one_cluster="test" if n_clusters == 1 else "never",
        n_reference_sets=3,
        random_state=0,
        max_rows_in_memory=1000,
        sample_rows=SAMPLE,
    )
    memory = stadion.fit(X).n_clusters_
    assert stadion.fit(da.from_array(X, chunks=999)).n_clusters_ == memory == n_clusters


@pytest.mark.parametrize("n_clusters", range(1, 21))
def test_inertia_is_at_most_half_a_percent_above_that_of_memory(n_clusters, monkeypatch):
    """For every K from 1 to 20, also far from the number of clusters."""
    X = make(n_clusters, N)
    selector = CalinskiHarabasz(k_range=range(1, 21), random_state=0)
    memory = selector.fit(X).reference_labels_
    monkeypatch.setattr(CalinskiHarabasz, "max_rows_in_memory", 1000)
    monkeypatch.setattr(CalinskiHarabasz, "sample_rows", SAMPLE)
    blocks = np.asarray(selector.fit(da.from_array(X, chunks=999)).reference_labels_)
    for one, two in zip(memory, blocks, strict=True):
        assert inertia(X, two) <= 1.005 * inertia(X, one)


class _Rows:
    """Blocks of an array, which count their passes."""

    def __init__(self, X):
        self.X, self.n_passes = X, 0

    def reduce(self, measure, title=None):
        self.n_passes += 1
        return core.measure_run(measure, 0, self.X, 1000)


def _partition(sample, centers):
    models = BlockKMeans(Layout((), (len(centers),), ()), np.array(centers))
    return Partition(len(centers), models.labels([0], 0, sample)[0], models.model(0))


def test_the_best_start_on_all_rows_wins_the_race():
    rng = np.random.default_rng(0)
    corners = 10.0 * np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 1.0], [1.0, 1.0]])
    X = corners[rng.integers(4, size=4000)] + rng.normal(size=(4000, 2))
    X[:, 0] *= 1.01  # two clusters: left and right is a bit better than above and below
    left, below = [[0.0, 5.0], [10.1, 5.0]], [[5.0, 0.0], [5.0, 10.0]]
    # In this sample, above and below looks a bit better.
    sample = X * np.array([1.0, 1.02])
    found = [[_partition(sample, each)] for each in (left, below)]
    inertia = np.stack([inertia_of(each, sample) for each in found])
    assert inertia[1, 0] < inertia[0, 0]
    blocks = _Rows(X)
    assert choose_starts(found, inertia, None) == found[1]
    assert choose_starts(found, inertia, blocks) == found[0]
    assert blocks.n_passes == 2
    # Equal partitions do not race.
    assert choose_starts([found[1], found[1]], inertia[[1, 1]], blocks) == found[1]
    assert blocks.n_passes == 2
