"""
Labels that you already have
============================

You have labels from elsewhere: a colleague, a rule, another program. Are they stable, and do
the groups hide smaller ones?
"""

import numpy as np
from matplotlib import pyplot as plt

from stablek import evaluate_partition
from stablek.datasets import make_three_gaussians

X, truth = make_three_gaussians(300, random_state=0)
partitions = {
    "the true groups": truth,
    "two of them merged": np.where(truth == 2, 1, truth),
    "cut at random": np.random.default_rng(0).integers(0, 3, len(X)),
}

fig, axes = plt.subplots(1, 3, figsize=(10, 3), sharey=True, layout="constrained")
for ax, (name, labels) in zip(axes, partitions.items(), strict=True):
    found = evaluate_partition(X, labels, random_state=0)
    ax.scatter(*X.T, s=6, c=np.array(["#0072B2", "#E69F00", "#009E73"])[labels])
    ax.set_title(f"{name}\nscore {found.score:.2f}")
    print(f"{name}: score {found.score:.2f}, beats one cluster: {found.beats_one_cluster}")
