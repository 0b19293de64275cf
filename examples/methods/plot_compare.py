"""
Many criteria on the same partitions
====================================

``compare`` asks many methods. All judge the same partitions, so they differ in judgment only.
"""

import stablek
from stablek.datasets import make_demo

X, _ = make_demo()
comparison = stablek.compare(
    X,
    ["stadion", "wemmert_gancarski", "silhouette", "davies_bouldin", "calinski_harabasz", "dunn"],
    k_range=range(1, 9),
    random_state=0,
)
print(comparison)

# %%
# How often do they agree?
from matplotlib import pyplot as plt

frame = comparison.frame()
counts = frame["n_clusters"].value_counts().sort_index()
fig, ax = plt.subplots(figsize=(5, 3), layout="constrained")
ax.bar([str(int(k)) for k in counts.index], counts)
ax.set(xlabel="K", ylabel="methods")
