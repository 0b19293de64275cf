"""
Breast cancer: what do the clusters mean?
=========================================

569 tumors, 30 measurements. Stadion does not see the diagnosis. Does its partition?
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from stablek import Stadion

data = load_breast_cancer()
X = StandardScaler().fit_transform(data.data)
stadion = Stadion(k_range=range(1, 7), random_state=0).fit(X)
print(stadion)

# %%
# How the clusters and the diagnosis agree:
for label in np.unique(stadion.labels_):
    inside = data.target[stadion.labels_ == label]
    print(f"cluster {label}: {len(inside)} tumors, {np.mean(inside == 0):.0%} malignant")

# %%
# What makes them different: the features whose means are farthest apart.
means = np.array([X[stadion.labels_ == label].mean(axis=0) for label in (0, 1)])
order = np.argsort(-np.ptp(means, axis=0))[:8][::-1]
fig, ax = plt.subplots(layout="constrained")
for label, mean in enumerate(means):
    ax.plot(mean[order], np.arange(8), "o", label=f"cluster {label}")
ax.set_yticks(np.arange(8), data.feature_names[order])
ax.set_xlabel("mean, in standard deviations")
ax.legend()
