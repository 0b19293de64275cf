"""Digests of fits by every engine; run as a script, it prints them."""

import hashlib
import sys

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans, MiniBatchKMeans
from sklearn.mixture import GaussianMixture

from stablek import KMeansGaussianMixture, Stadion, SVDGaussianMixture

CASES = {
    "kmeans-extend": (KMeans(n_init=2), "extend"),
    "kmeans-refit": (KMeans(n_init=2), "refit"),
    "minibatch-refit": (MiniBatchKMeans(n_init=1), "refit"),
    "minibatch-extend": (MiniBatchKMeans(n_init=1), "extend"),
    "ward": (AgglomerativeClustering(), "refit"),
    "average": (AgglomerativeClustering(linkage="average"), "refit"),
    "mixture-extend": (GaussianMixture(), "extend"),
    "mixture-predict": (GaussianMixture(), "predict"),
    "mixture-refit": (GaussianMixture(), "refit"),
    "svd-mixture": (SVDGaussianMixture(), "extend"),
    "kmeans-mixture": (KMeansGaussianMixture(n_init=2), "extend"),
}
ANSWERS = {"several": range(1, 5), "one": [1]}

_PATHS = ("scores_", "reference_labels_", "point_stability_", "selection_frequency_")
_MODEL = ("cluster_centers_", "inertia_", "means_", "covariances_", "precisions_", "labels_")


def fit(case, answer, **options):
    """Stadion of a case; the answer "one" has K = 1 as its only candidate."""
    clusterer, relabel = CASES[case]
    # Above 256 rows scikit-learn's K-means works in chunks, one for each thread.
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[150:] += 4
    stadion = Stadion(
        clusterer,
        relabel=relabel,
        k_range=ANSWERS[answer],
        omega=[2, 3],
        n_perturbations=2,
        epsilons=[0.2, 0.8],
        one_cluster="test" if case in ("kmeans-extend", "ward") else "crossing",
        random_state=4,
        **options,
    )
    return stadion.fit(X)


def digest(stadion):
    """Hash of all that was measured and of the fitted model."""
    arrays = [stadion.paths_.between, stadion.paths_.clusters]
    arrays += [getattr(stadion, name) for name in _PATHS]
    if stadion.structure_test_ is not None:
        arrays += [
            stadion.structure_test_.excess,
            *stadion.structure_test_.reference_paths.values(),
        ]
    model = stadion.best_estimator_
    arrays += [getattr(model, name) for name in _MODEL if hasattr(model, name)]
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()


def digests(**options):
    """Digest of every case and answer."""
    return {
        f"{case} {answer}": digest(fit(case, answer, **options))
        for case in CASES
        for answer in ANSWERS
    }


if __name__ == "__main__":
    for name, found in digests(n_jobs=int(sys.argv[1])).items():
        print(name, found)
