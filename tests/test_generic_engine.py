"""The generic engine against a plain loop written from the paper's formulas."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.decomposition import PCA
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture

from stablek import Stadion
from stablek.engines import GenericEngine
from stablek.seeding import noise, seed

N_DRAWS, EPSILONS, OMEGA, KS = 3, np.array([0.0, 0.3, 0.9]), (2, 3), (1, 2, 3, 4)
SEED = 5


class GenericStadion(Stadion):
    """Stadion that never uses a fast engine."""

    _engine = "generic"


def fit(clusterer, name, k, X, random_state):
    model = clone(clusterer).set_params(**{name: k})
    if "random_state" in model.get_params():
        model.set_params(random_state=random_state)
    return model.fit(X)


def labels_of(model, X):
    return model.labels_ if hasattr(model, "labels_") else model.predict(X)


def stab_b(clusterer, name, X, rows, k, epsilon, extend):
    """Between stability of the rows of X: the paper's equation 2."""
    model = fit(clusterer, name, k, X[rows], seed(SEED, "reference", k))
    reference = labels_of(model, X[rows])
    similarities = []
    for draw in range(N_DRAWS):
        u = noise(SEED, draw, X.shape[1], 0, len(X))
        noisy = (X + epsilon * (X.std(axis=0) * u))[rows]
        if extend:
            labels = model.predict(noisy)
        else:
            again = fit(clusterer, name, k, noisy, seed(SEED, "refit", k, draw))
            labels = labels_of(again, noisy)
        similarities.append(adjusted_rand_score(reference, labels))
    return np.mean(similarities)


def stab_w(clusterer, name, X, k, epsilon, extend):
    """Within stability: the paper's equation 3, without the K' that are not valid."""
    everything = np.arange(len(X))
    reference = np.zeros(len(X), int)
    if k > 1:
        model = fit(clusterer, name, k, X, seed(SEED, "reference", k))
        reference = labels_of(model, X)
    total = 0.0
    for label in np.unique(reference):
        rows = everything[reference == label]
        valid = [k2 for k2 in OMEGA if k2 < len(rows)]
        inside = [stab_b(clusterer, name, X, rows, k2, epsilon, extend) for k2 in valid]
        total += (np.mean(inside) if valid else 1.0) * len(rows) / len(X)
    return total


@pytest.mark.parametrize(
    ("clusterer", "name", "relabel"),
    [
        (KMeans(n_init=2), "n_clusters", "extend"),
        (KMeans(n_init=2), "n_clusters", "refit"),
        (AgglomerativeClustering(linkage="average"), "n_clusters", "refit"),
        (GaussianMixture(), "n_components", "extend"),
    ],
)
def test_equal_to_the_plain_loop(clusterer, name, relabel, rng):
    shift = np.array([9.0, 0.0])
    X = np.vstack([rng.normal(size=(20, 2)) * [1, 30], rng.normal(size=(12, 2)) + shift])
    stadion = GenericStadion(
        clusterer,
        k_range=KS,
        omega=OMEGA,
        relabel=relabel,
        epsilons=EPSILONS,
        n_perturbations=N_DRAWS,
        random_state=SEED,
    ).fit(X)
    extend = relabel == "extend"
    rows = np.arange(len(X))
    for i, k in enumerate(KS):
        for j, epsilon in enumerate(EPSILONS):
            between = 1.0
            if k > 1:
                between = stab_b(clusterer, name, X, rows, k, epsilon, extend)
            within = stab_w(clusterer, name, X, k, epsilon, extend)
            assert stadion.between_stability_[i, j] == pytest.approx(between, abs=1e-13)
            assert stadion.within_stability_[i, j] == pytest.approx(within, abs=1e-13)


@pytest.mark.parametrize("perturbation", ["bootstrap", "subsample"])
def test_resampling_compares_the_points_that_both_have(perturbation, rng):
    """Labels that depend only on the sign of a feature are the same in every resample."""
    X = rng.normal(size=(30, 2))
    stadion = GenericStadion(
        SignClusterer(),
        k_range=[1, 2],
        omega=[2],
        perturbation=perturbation,
        n_perturbations=4,
        random_state=0,
    ).fit(X)
    np.testing.assert_array_equal(stadion.between_stability_, 1.0)
    if perturbation == "bootstrap":
        assert stadion.epsilons_.tolist() == [1.0]
        left_out = np.isnan(stadion.point_stability_)
        assert (stadion.point_stability_[~left_out] == 1).all()


class SignClusterer(KMeans):
    """Two clusters, by the sign of the first feature."""

    def fit(self, X, y=None):
        self.labels_ = (X[:, 0] > 0).astype(int) if self.n_clusters > 1 else np.zeros(len(X), int)
        return self


def test_an_estimator_that_does_not_cluster_is_named(rng):
    with pytest.raises(TypeError, match="PCA has neither labels_ nor predict"):
        Stadion(PCA(), k_range=[1, 2], omega=[2]).fit(rng.normal(size=(20, 3)))


class BringsEngine(AgglomerativeClustering):
    """A clusterer with an engine of its own, which counts what it is asked for."""

    asked = 0

    def __stablek_engine__(self):
        if self.linkage == "single":
            return None
        return CountingEngine(self, "n_clusters")


class CountingEngine(GenericEngine):
    prefer = "threads"

    def references(self, X, requests, entropy, *, keep_models=True):
        BringsEngine.asked += 1
        return super().references(X, requests, entropy, keep_models=keep_models)


@pytest.mark.parametrize("linkage, used", [("ward", True), ("single", False)])
def test_clusterer_brings_its_engine(blobs, linkage, used):
    settings = {"k_range": KS, "omega": OMEGA, "n_perturbations": 2, "one_cluster": "never"}
    BringsEngine.asked = 0
    found = Stadion(BringsEngine(linkage=linkage), **settings, random_state=0).fit(blobs)
    assert (BringsEngine.asked > 0) == used
    BringsEngine.asked = 0
    plain = GenericStadion(BringsEngine(linkage=linkage), **settings, random_state=0).fit(blobs)
    assert BringsEngine.asked == 0
    np.testing.assert_array_equal(found.stadion_paths_, plain.stadion_paths_)
