"""
Why an elbow is not an answer
=============================

The sum of squares of K-means falls for every K, with clusters or without. An elbow is in the
eye of the reader. Here are three curves. Only two belong to data with clusters.
"""

from matplotlib import pyplot as plt
from sklearn.cluster import KMeans

from stablek import Stadion
from stablek.datasets import make_demo, make_three_gaussians, make_uniform

data = {
    "five clusters": make_demo()[0],
    "three clusters": make_three_gaussians(300, random_state=0)[0],
    "no clusters": make_uniform(300, random_state=0)[0],
}
fig, axes = plt.subplots(1, 3, figsize=(10, 3), layout="constrained")
for ax, (name, X) in zip(axes, data.items(), strict=True):
    ks = range(1, 9)
    ax.plot(ks, [KMeans(k, n_init=3, random_state=0).fit(X).inertia_ for k in ks], "o-")
    answer = Stadion(k_range=ks, random_state=0).fit(X)
    ax.set(xlabel="K", title=f"{name}\nStadion: K = {answer.n_clusters_}")
axes[0].set_ylabel("inertia")
