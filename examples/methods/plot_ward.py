"""
Hierarchical clustering
=======================

Where should you cut a dendrogram? Ward's method gives one tree. Stadion judges each cut.
"""

from matplotlib import pyplot as plt
from scipy.cluster.hierarchy import dendrogram, ward
from sklearn.cluster import AgglomerativeClustering

from stablek import Stadion
from stablek.datasets import make_demo

X, _ = make_demo()
stadion = Stadion(AgglomerativeClustering(), k_range=range(1, 9), random_state=0).fit(X)
print(stadion)

# %%
# The cut that it chooses:
tree = ward(X)
height = tree[-stadion.n_clusters_ + 1 :, 2].min()
below = tree[-stadion.n_clusters_, 2]
fig, ax = plt.subplots(layout="constrained")
dendrogram(tree, truncate_mode="lastp", p=25, ax=ax, color_threshold=height, no_labels=True)
ax.axhline((height + below) / 2, linestyle=":", color="0.4")
