"""
Where resampling fails
======================

Two long, parallel clusters. Methods that cluster samples of the rows find K = 4 nearly as
stable as K = 2, because with enough rows every sample gives the same cuts. Noise moves points
across cuts through dense regions.
"""

from matplotlib import pyplot as plt

from stablek import PartitionDisplay, Stadion
from stablek.datasets import make_correlated_gaussians

X, _ = make_correlated_gaussians(600, random_state=0)

fits = {
    "uniform noise": Stadion(
        k_range=[1, 2, 3, 4, 5], relabel="refit", n_perturbations=5, n_epsilons=6, random_state=0
    ).fit(X),
    "bootstrap": Stadion(
        k_range=[1, 2, 3, 4, 5], perturbation="bootstrap", n_perturbations=10, random_state=0
    ).fit(X),
}
fig, axes = plt.subplots(1, 2, figsize=(9, 3.4), layout="constrained")
for ax, k in zip(axes, (2, 4), strict=True):
    PartitionDisplay.from_estimator(fits["uniform noise"], k=k, ax=ax)

# %%
# The between stability of K = 2 and K = 4, at the highest noise level:
for name, stadion in fits.items():
    two, four = stadion.between_stability_[[1, 3], -1]
    print(f"{name}: K = 2 {two:.2f}, K = 4 {four:.2f}")
