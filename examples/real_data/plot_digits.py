"""
Handwritten digits
==================

Images of 8 x 8 pixels. Ten digits, but a one is written in several ways, and a three can look
like a nine. How many groups of images are there?
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA

from stablek import Stadion

X, digit = load_digits(return_X_y=True)
X, digit = X[:500], digit[:500]
# The pixels have the same unit, so they are not standardized; the noise has one scale, too.
points = PCA(30, random_state=0).fit_transform(X)
stadion = Stadion(k_range=range(1, 14), noise_scale="global", random_state=0).fit(points)
print(stadion)

# %%
# The mean image of each cluster, and which digits are in it:
k = stadion.n_clusters_
fig, axes = plt.subplots(2, (k + 1) // 2, figsize=(9, 4), layout="constrained")
for ax in axes.ravel():
    ax.set_axis_off()
for label, ax in zip(range(k), axes.ravel(), strict=False):
    inside = stadion.labels_ == label
    ax.imshow(X[inside].mean(axis=0).reshape(8, 8), cmap="gray_r")
    found, counts = np.unique(digit[inside], return_counts=True)
    ax.set_title(" ".join(str(d) for d in found[counts > 0.15 * inside.sum()]))
