"""
K up to the number of points
============================

When K comes near N, every cluster is a single point, and noise cannot split it. Many criteria
rise there. Stadion does not: a cluster that cannot be split again counts as stable inside.
"""

from matplotlib import pyplot as plt

from stablek import Stadion, select_k
from stablek.datasets import make_three_gaussians

X, _ = make_three_gaussians(50, random_state=0)
stadion = Stadion(k_range=range(1, 50), random_state=0).fit(X)
dunn = select_k(X, method="dunn", k_range=range(2, 50), random_state=0)

fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for ax, fitted, name in zip(axes, (stadion, dunn), ("Stadion", "Dunn"), strict=True):
    ax.plot(fitted.k_values_, fitted.scores_)
    ax.axvline(fitted.n_clusters_, linestyle=":", color="0.5")
    ax.set(xlabel="K", title=f"{name}: K = {fitted.n_clusters_}")
