"""
Where Stadion fails
===================

A ring has no clusters. But it bends, and no reference set bends, so the structure test takes it
for structure. Then K-means cuts it into arcs.
"""

import numpy as np
from matplotlib import pyplot as plt

from stablek import PartitionDisplay, Stadion

rng = np.random.default_rng(0)
angle = rng.uniform(0, 2 * np.pi, 400)
ring = np.column_stack([np.cos(angle), np.sin(angle)]) + rng.normal(scale=0.08, size=(400, 2))
banana = ring[ring[:, 1] > 0]

fig, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for ax, X in zip(axes, (ring, banana), strict=True):
    stadion = Stadion(k_range=range(1, 9), random_state=0).fit(X)
    PartitionDisplay.from_estimator(stadion, ax=ax)
    ax.set_title(f"K = {stadion.n_clusters_}, p = {stadion.structure_pvalue_:.1g}")

# %%
# Look at your data before you believe any p-value: the first two principal components are a
# start.
