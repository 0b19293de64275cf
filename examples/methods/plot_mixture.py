"""
Long clusters: use a mixture
============================

K-means looks for round clusters of similar size. Long ones are cut into pieces, and then no
criterion can find the right K. A Gaussian mixture has clusters of any orientation.
"""

from matplotlib import pyplot as plt
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

from stablek import PartitionDisplay, Stadion

X, _ = make_blobs(200, centers=[[0, 0], [0, 5]], cluster_std=0.4, random_state=0)
X *= [8, 1]  # stretched

fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for ax, clusterer in zip(axes, (None, GaussianMixture(n_init=3)), strict=True):
    stadion = Stadion(clusterer, k_range=range(1, 6), random_state=0).fit(X)
    PartitionDisplay.from_estimator(stadion, ax=ax)
    name = "K-means" if clusterer is None else "Gaussian mixture"
    ax.set_title(f"{name}: K = {stadion.n_clusters_}")
