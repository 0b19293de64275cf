"""
Why stability alone is not enough
=================================

Two of three clusters are close together. K = 2 is more stable than K = 3, because the other gap
is wider. Only the stability *inside* the clusters shows that 3 is the answer.
"""

from matplotlib import pyplot as plt

from stablek import PartitionDisplay, StabilityPathsDisplay, Stadion, TradeoffDisplay
from stablek.datasets import make_three_gaussians

X, _ = make_three_gaussians(random_state=0)
stadion = Stadion(k_range=range(1, 7), random_state=0).fit(X)

fig, axes = plt.subplots(1, 2, figsize=(9, 3.5), layout="constrained")
for ax, k in zip(axes, (2, 3), strict=True):
    PartitionDisplay.from_estimator(stadion, k=k, ax=ax)

# %%
# Compare K = 2 and K = 3 in each panel. K = 2 wins the first, loses the second, and loses the
# difference.
StabilityPathsDisplay.from_estimator(stadion)

# %%
# The same as means over the noise levels. The answer is where the two curves are farthest
# apart.
TradeoffDisplay.from_estimator(stadion)
print(stadion.n_clusters_)
