"""
Time series: shift in time
==========================

Each row is a series. Two events are the same if one comes a little later, so the noise that
matters is a shift in time, not an error of each value.
"""

import numpy as np
from matplotlib import pyplot as plt

from stablek import Stadion

rng = np.random.default_rng(0)
time = np.linspace(0.0, 1.0, 40)
shapes = [np.exp(-((time - 0.3) ** 2) / 0.005), np.exp(-((time - 0.6) ** 2) / 0.02), time**2]
X = np.vstack([shape + rng.normal(scale=0.1, size=(50, 40)) for shape in shapes])

stadion = Stadion(k_range=range(1, 7), perturbation="shift", one_cluster="never", random_state=0)
stadion.fit(X)
fig, axes = plt.subplots(
    1, stadion.n_clusters_, figsize=(10, 2.8), sharey=True, layout="constrained", squeeze=False
)
for label, ax in enumerate(axes[0]):
    ax.plot(time, X[stadion.labels_ == label].T, color="0.8", linewidth=0.5)
    ax.plot(time, X[stadion.labels_ == label].mean(axis=0), linewidth=2)
    ax.set_title(f"cluster {label}")
