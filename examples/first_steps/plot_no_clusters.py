"""
Data without clusters
=====================

A uniform square, one Gaussian and a skewed cloud. K-means cuts each of them into as many parts
as you ask for. The structure test says that the parts are no clusters.
"""

from matplotlib import pyplot as plt

from stablek import Stadion
from stablek.datasets import make_exponential, make_gaussian, make_uniform

fig, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
for ax, make in zip(axes, (make_uniform, make_gaussian, make_exponential), strict=True):
    X, _ = make(400, random_state=0)
    stadion = Stadion(k_range=range(1, 7), random_state=0).fit(X)
    ax.scatter(*X.T, s=5, color="0.4")
    ax.set_title(
        f"{make.__name__}\nK = {stadion.n_clusters_}, p = {stadion.structure_pvalue_:.2f}"
    )

# %%
# A method that cannot answer 1 names some K all the same. The silhouette of the last data set:
from stablek import select_k

print(select_k(X, method="silhouette", k_range=range(2, 7), random_state=0).n_clusters_)
