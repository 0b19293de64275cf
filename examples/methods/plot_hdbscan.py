"""
Another parameter than K: HDBSCAN
=================================

HDBSCAN has no K. It has ``min_cluster_size``, and the number of clusters follows from it.
Stadion can choose that parameter. Points that HDBSCAN calls noise are a group of their own.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.cluster import HDBSCAN
from sklearn.datasets import make_moons

from stablek import Stadion

X, _ = make_moons(200, noise=0.06, random_state=0)
stadion = Stadion(
    HDBSCAN(copy=True),
    param_name="min_cluster_size",
    k_range=[5, 15, 40],
    omega=[5, 15],
    n_perturbations=3,
    epsilons=[0.0, 0.05, 0.1, 0.2],
    one_cluster="never",
    random_state=0,
).fit(X)
print(f"min_cluster_size = {stadion.best_value_}: {stadion.n_clusters_} clusters")

# %%
fig, axes = plt.subplots(1, 3, figsize=(10, 3), sharey=True, layout="constrained")
for ax, value, labels in zip(axes, stadion.k_values_, stadion.reference_labels_, strict=True):
    ax.scatter(*X.T, s=6, c=labels, cmap="tab10")
    ax.set_title(f"{value}: {len(np.unique(labels[labels >= 0]))} clusters")
