"""
Points between two clusters
===========================

Which rows would change their cluster if you measured again? Look at them before you trust their
labels.
"""

import numpy as np
from matplotlib import pyplot as plt

from stablek import Stadion
from stablek.datasets import make_demo

X, _ = make_demo()
stadion = Stadion(k_range=range(1, 8), random_state=0).fit(X)

fig, ax = plt.subplots(layout="constrained")
drawn = ax.scatter(*X.T, c=stadion.point_stability_, s=14, cmap="cividis")
fig.colorbar(drawn, label="share of noisy copies with the same cluster")

# %%
# The ten least stable rows:
print(np.argsort(stadion.point_stability_)[:10])
