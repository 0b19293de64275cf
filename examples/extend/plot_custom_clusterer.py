"""
A clusterer of your own
=======================

Stadion takes any object with ``fit`` and ``labels_`` or ``predict``, in the style of scikit-
learn. Here it is a clusterer of directions: K-means on the unit sphere, for embeddings compared
by their angle.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.preprocessing import normalize

from stablek import Stadion


class DirectionKMeans(ClusterMixin, BaseEstimator):
    """K-means of the directions of the rows."""

    def __init__(self, n_clusters=3, random_state=None):
        self.n_clusters = n_clusters
        self.random_state = random_state

    def fit(self, X, y=None):
        model = KMeans(self.n_clusters, n_init=2, random_state=self.random_state)
        self.model_ = model.fit(normalize(X))
        self.labels_ = self.model_.labels_
        return self

    def predict(self, X):
        return self.model_.predict(normalize(X))


rng = np.random.default_rng(0)
angle = np.repeat([0.3, 1.2, 2.6], 60) + rng.normal(scale=0.08, size=180)
length = rng.uniform(1.0, 10.0, 180)
X = length[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])

stadion = Stadion(
    DirectionKMeans(),
    k_range=range(1, 6),
    omega=[2, 3],
    n_perturbations=3,
    epsilons=[0.0, 0.05, 0.1, 0.2],
    one_cluster="never",
    random_state=0,
).fit(X)
fig, ax = plt.subplots(figsize=(5, 3.5), layout="constrained")
ax.scatter(*X.T, s=8, c=stadion.labels_, cmap="tab10")
ax.set_title(f"{stadion.n_clusters_} directions")
