"""
Long clusters: use a mixture
============================

K-means looks for round clusters of similar size. Long ones are cut into pieces, and then no
criterion can find the right K. A Gaussian mixture has clusters of any orientation.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.mixture import GaussianMixture

from stablek import PartitionDisplay, Stadion

rng = np.random.default_rng(0)
long = rng.normal(size=(3, 130, 2)) * [4.0, 0.4]
X = np.vstack([long[0], long[1] + [0.0, 4.0], long[2] + [0.0, 8.0]])

fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for ax, clusterer in zip(axes, (None, GaussianMixture(n_init=3)), strict=True):
    stadion = Stadion(clusterer, k_range=range(1, 7), random_state=0).fit(X)
    PartitionDisplay.from_estimator(stadion, ax=ax)
    name = "K-means" if clusterer is None else "Gaussian mixture"
    ax.set_title(f"{name}: K = {stadion.n_clusters_}")
