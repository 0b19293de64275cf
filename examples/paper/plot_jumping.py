"""
Jumping: equally good partitions
================================

Three clusters at the corners of a triangle. K-means with K = 2 must merge two of them, and
every pair is equally good. On noisy copies it jumps from one solution to another, so K = 2 is
unstable.
"""

from matplotlib import pyplot as plt
from sklearn.cluster import KMeans

from stablek import PartitionDisplay, Stadion
from stablek.datasets import make_symmetric_triangle

X, _ = make_symmetric_triangle(300, random_state=0)

fig, axes = plt.subplots(1, 3, figsize=(10, 3), sharey=True, layout="constrained")
for seed, ax in enumerate(axes):
    labels = KMeans(2, n_init=1, random_state=seed + 2).fit_predict(X)
    ax.scatter(*X.T, s=6, c=labels, cmap="coolwarm")
    ax.set_title(f"K = 2, start {seed}")

# %%
# ``relabel="refit"`` runs K-means again on every noisy copy, as the standard version of the
# paper does. The between stability of K = 2 is low from the first noise level on.
stadion = Stadion(
    k_range=range(1, 6), relabel="refit", n_epsilons=6, n_perturbations=5, random_state=0
).fit(X)
print(stadion.between_stability_[1].round(2))
PartitionDisplay.from_estimator(stadion)
