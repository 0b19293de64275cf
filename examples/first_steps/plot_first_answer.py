"""
Your first answer
=================

Five clusters of different size and spread. How many does Stadion find, and how sure is it?
"""

from sklearn.base import clone

from stablek import PartitionDisplay, StabilityPathsDisplay, Stadion, subsample_frequency
from stablek.datasets import make_demo

X, _ = make_demo()
stadion = Stadion(k_range=range(1, 11), random_state=0).fit(X)
print(stadion)

# %%
# The points, colored by cluster. Faint points often change their cluster under noise.
PartitionDisplay.from_estimator(stadion)

# %%
# The evidence. A good K has high between stability and low within stability, so its Stadion
# path is the highest. The gray band is what data without clusters reach.
StabilityPathsDisplay.from_estimator(stadion)

# %%
# Two numbers say how much to trust it: a p-value against no clusters at all, and how many
# subsamples of the rows give the same K.
print(f"p = {stadion.structure_pvalue_:.2g}")
chooser = clone(stadion).set_params(one_cluster="never", k_range=range(2, 11))
print(subsample_frequency(chooser, X, n_subsamples=10).counts)

# %%
# Which clusters are solid, and which hide sub-clusters?
for cluster in stadion.cluster_stability_:
    print(cluster)
