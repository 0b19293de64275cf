"""
How sure is it?
===============

Two clusters drift together. Watch the p-value and the answers on subsamples of the rows.
"""

import numpy as np
from matplotlib import pyplot as plt

from stablek import Stadion, subsample_frequency

rng = np.random.default_rng(0)
noise = rng.normal(size=(300, 2))
right = np.arange(300) % 2 == 0

fig, axes = plt.subplots(1, 3, figsize=(10, 3.2), sharey=True, layout="constrained")
for ax, distance in zip(axes, (7.0, 4.5, 2.5), strict=True):
    X = noise + distance * np.column_stack([right, np.zeros(300)])
    stadion = Stadion(k_range=range(1, 6), random_state=0).fit(X)
    # The p-value says whether there are clusters, the subsamples say how many.
    chooser = Stadion(k_range=range(2, 6), one_cluster="never", random_state=0)
    counts = subsample_frequency(chooser, X, n_subsamples=6).counts
    ax.scatter(*X.T, s=5, c=np.where(stadion.labels_ == 0, "#0072B2", "#E69F00"))
    ax.set_title(f"{distance} apart: K = {stadion.n_clusters_}")
    ax.set_xlabel(f"p = {stadion.structure_pvalue_:.2g}; subsamples {counts}")

# %%
# ``selection_frequency_`` is something else: how often each K wins if the noise is drawn again,
# on the same rows. It can be 100% although other rows would give another answer.
print(stadion.selection_frequency_)
