"""
What the p-value is made of
===========================

The structure test compares your data with simulated data of the same shape that have no
clusters.
"""

from matplotlib import pyplot as plt

from stablek import StructureTestDisplay, structure_test
from stablek.datasets import make_three_gaussians, make_uniform

clustered, _ = make_three_gaussians(300, random_state=0)
uniform, _ = make_uniform(300, random_state=0)

fig, axes = plt.subplots(1, 2, figsize=(11, 3.4), layout="constrained")
for ax, X in zip(axes, (clustered, uniform), strict=True):
    test = structure_test(X, k_range=range(2, 7), random_state=0)
    StructureTestDisplay.from_test(test, ax=ax)
    ax.set_title(f"p = {test.pvalue:.2g}")

# %%
# The diamonds are the data, the dots are reference sets of three kinds. With clusters, the
# diamonds are far to the right of every dot. The largest of the three p-values counts.
print(test.pvalues)
