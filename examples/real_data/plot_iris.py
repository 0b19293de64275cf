"""
Iris: two clusters or three?
============================

150 flowers of three species. Two of the species overlap, so the measurements alone show two
groups. A label is not a cluster.
"""

from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler

from stablek import PartitionDisplay, StabilityPathsDisplay, Stadion

X, species = load_iris(return_X_y=True)
X = StandardScaler().fit_transform(X)
stadion = Stadion(k_range=range(1, 9), random_state=0).fit(X)
print(stadion)
StabilityPathsDisplay.from_estimator(stadion)

# %%
# The three species, in the same projection as the chosen partition:
from matplotlib import pyplot as plt

fig, axes = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
PartitionDisplay.from_estimator(stadion, ax=axes[0])
PartitionDisplay.from_estimator(stadion, k=3, ax=axes[1])
