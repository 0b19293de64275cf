"""
Four clusters in a corner
=========================

Three of four clusters are close together in one corner, far from the fourth. Stability alone
answers 2: that gap is the widest.
"""

import numpy as np
from matplotlib import pyplot as plt

from stablek import PartitionDisplay, StabilityPathsDisplay, Stadion

rng = np.random.default_rng(0)
centers = np.array([[0.0, 0.0], [9.0, 9.0], [9.0, 7.0], [7.0, 9.0]])
X = np.repeat(centers, 80, axis=0) + rng.normal(scale=0.3, size=(320, 2))
stadion = Stadion(k_range=range(1, 8), n_epsilons=15, random_state=0).fit(X)

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
PartitionDisplay.from_estimator(stadion, ax=axes[0])
StabilityPathsDisplay.from_estimator(stadion, ax=axes[1])

# %%
# Between stability is highest for K = 2 at every noise level; Stadion is highest for the
# answer.
print(stadion.k_values_[stadion.between_stability_[1:, 5].argmax() + 1], stadion.n_clusters_)
