"""The search for noise levels: refits measure no more than it takes to find the crossing."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans

from stablek import Stadion
from stablek.paths import Measurement
from stablek.similarity import SIMILARITIES


def _grid(rng):
    """Nine clusters: the crossing is early, the levels come closer."""
    return np.vstack([rng.normal((x, y), 0.1, (10, 2)) for x in range(3) for y in range(3)])


def _far(rng):
    """In many dimensions: the crossing is late, the levels reach farther."""
    return np.vstack([rng.normal(size=(20, 20)), rng.normal(size=(20, 20)) + 50])


def _none(rng):
    return rng.uniform(size=(60, 2))


@pytest.fixture
def fit(monkeypatch):
    """Fit with a floor of ARI, and count the partitions that were perturbed."""
    work = []
    perturb = Measurement._perturb

    def counted(self, epsilons, chosen, title):
        work.append(len(epsilons) * sum(len(self.groups[g].partitions) for g in chosen))
        perturb(self, epsilons, chosen, title)

    monkeypatch.setattr(Measurement, "_perturb", counted)

    def fitted(X, clusterer, floor, **parameters):
        work.clear()
        monkeypatch.setitem(SIMILARITIES, "ari", replace(SIMILARITIES["ari"], floor=floor))
        parameters = {
            "k_range": range(1, 11),
            "n_perturbations": 2,
            "random_state": 0,
        } | parameters
        model = Stadion(clusterer, relabel="refit", **parameters).fit(X)
        return model, sum(work)

    return fitted


@pytest.mark.parametrize("clusterer", [KMeans(n_init=3), AgglomerativeClustering()])
@pytest.mark.parametrize("data", [_grid, _far, _none])
def test_a_search_by_pieces_ends_as_a_full_one(data, clusterer, fit, rng):
    X, floor = data(rng), SIMILARITIES["ari"].floor
    full, all_work = fit(X, clusterer, -np.inf)
    pieces, some_work = fit(X, clusterer, floor)
    np.testing.assert_array_equal(pieces.epsilons_, full.epsilons_)
    np.testing.assert_array_equal(pieces.paths_.between, full.paths_.between)
    np.testing.assert_array_equal(pieces.paths_.clusters, full.paths_.clusters)
    in_one_round = full.epsilons_[-1] == np.sqrt(X.shape[1])
    assert some_work == all_work if in_one_round else some_work < all_work


def test_a_wrong_floor_changes_nothing(fit, rng):
    """With one above all similarities nothing seems to beat K = 1, until all is measured."""
    X = _grid(rng)
    full, all_work = fit(X, KMeans(n_init=3), -np.inf)
    wrong, same_work = fit(X, KMeans(n_init=3), 2.0)
    np.testing.assert_array_equal(wrong.epsilons_, full.epsilons_)
    assert full.epsilons_[-1] < np.sqrt(2)
    assert same_work == all_work


def test_one_path_has_no_crossing(fit, rng):
    model, _ = fit(_none(rng), KMeans(n_init=1), SIMILARITIES["ari"].floor, k_range=[1])
    assert model.n_clusters_ == 1
    assert model.crossing_epsilon_ == 0
