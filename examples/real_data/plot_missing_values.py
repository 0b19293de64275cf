"""
Missing values
==============

stablek refuses NaN, because any silent repair changes the answer. Fill in the values in a
pipeline, and check whether the answer depends on how you do it.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_wine
from sklearn.impute import KNNImputer, SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stablek import PartitionDisplay, Stadion

X, _ = load_wine(return_X_y=True)
rng = np.random.default_rng(0)
X[rng.uniform(size=X.shape) < 0.05] = np.nan
print(
    f"{np.isnan(X).sum()} values are missing, in {np.isnan(X).any(axis=1).sum()} of {len(X)} rows"
)

# %%
# With the mean, and with the nearest neighbors:
imputers = [SimpleImputer(), KNNImputer()]
fig, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
for ax, imputer in zip(axes, imputers, strict=True):
    stadion = Stadion(k_range=range(1, 8), random_state=0)
    make_pipeline(imputer, StandardScaler(), stadion).fit(X)
    PartitionDisplay.from_estimator(stadion, ax=ax)
    ax.set_title(f"{type(imputer).__name__}: K = {stadion.n_clusters_}")
