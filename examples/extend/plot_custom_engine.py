"""
An engine of your own
=====================

Stadion fits a clusterer hundreds of times: for each K, each noise level and each draw. If your
algorithm can answer for all K at once, tell Stadion how: write an engine. Here the algorithm is
McQuitty's tree (scipy's ``linkage``, method "weighted"). The generic engine builds a tree
for each K. Ours builds one for each noisy copy, and cuts it at every K.
"""

import numpy as np
from matplotlib import pyplot as plt
from scipy.cluster.hierarchy import cut_tree, linkage
from sklearn.base import BaseEstimator, ClusterMixin

from stablek import Stadion
from stablek.datasets import make_three_gaussians
from stablek.engines import GenericEngine
from stablek.engines.copies import relabeled_copies, similarities_of_copies
from stablek.results import Partition

n_trees = 0


def grow(points):
    global n_trees
    n_trees += 1
    return linkage(points, "weighted")


class McQuitty(ClusterMixin, BaseEstimator):
    """Clusters of McQuitty's tree."""

    def __init__(self, n_clusters=2):
        self.n_clusters = n_clusters

    def fit(self, X, y=None):
        self.labels_ = cut_tree(grow(X), self.n_clusters).ravel()
        return self


# %%
# An engine answers three questions. ``references``: what are the clusters of these points, for
# each of these K? ``similarities``: how similar are the labels of a noisy copy? ``relabel``: what
# are these labels? The last two differ from the generic engine only in the function that labels
# a noisy copy. We inherit the rest. An engine must be a pure function of its arguments: the
# same points give the same labels, in any order and in any process.


class McQuittyEngine(GenericEngine):
    """One tree serves every K."""

    def references(self, X, requests, entropy, *, keep_models=True):
        found = []
        for request in requests:
            points = X if request.rows is None else X[request.rows]
            cuts = cut_tree(grow(points), request.k_values).T
            parts = zip(request.k_values, cuts, strict=True)
            found.append(tuple(Partition(k, labels) for k, labels in parts))
        return found

    def similarities(self, X, groups, draw, epsilons, setting):
        return [
            similarities_of_copies(self.label, X, group, draw, epsilons, setting)
            for group in groups
        ]

    def relabel(self, X, partition, draw, epsilons, setting):
        return relabeled_copies(self.label, X, partition, draw, epsilons, setting)

    def label(self, noisy, partitions, draw, setting):
        return list(cut_tree(grow(noisy), [p.k for p in partitions]).T)

    def estimator(self, X, partition):
        return McQuitty(partition.k).fit(X)


class FastMcQuitty(McQuitty):
    """The same clusterer, which brings its engine."""

    def __stablek_engine__(self):
        return McQuittyEngine(self, "n_clusters")


# %%
# The scores are the same, to the bit. Always test an engine like this. Only the work differs.

X, _ = make_three_gaussians(n_samples=120, random_state=0)
settings = {
    "k_range": range(1, 7),
    "n_perturbations": 3,
    "n_epsilons": 5,
    "one_cluster": "never",
    "random_state": 0,
}
trees = {}
scores = []
for clusterer in (McQuitty(), FastMcQuitty()):
    n_trees = 0
    stadion = Stadion(clusterer, **settings).fit(X)
    trees[type(clusterer).__name__] = n_trees
    scores.append(stadion.scores_)
np.testing.assert_array_equal(*scores)
print(trees)

fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
axes[0].scatter(*X.T, s=10, c=stadion.labels_, cmap="tab10", vmax=9)
axes[0].set_title(f"{stadion.n_clusters_} clusters")
axes[1].barh(list(trees), list(trees.values()))
axes[1].set_title("trees that were built")
