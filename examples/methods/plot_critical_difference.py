"""
Which method is better? A critical difference diagram
=====================================================

One data set proves nothing. This example ranks five criteria over 12 data sets with a known
answer, and tests which of them differ.
"""

import numpy as np
import pandas as pd
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

import stablek
from stablek.display import CriticalDifferenceDisplay

methods = ["stadion", "wemmert_gancarski", "silhouette", "calinski_harabasz", "dunn"]
options = {"stadion": {"one_cluster": "never", "n_perturbations": 5}}
rows = []
for seed in range(12):
    k = 2 + seed % 5
    X, y = make_blobs(120, centers=k, cluster_std=np.linspace(0.5, 2.5, k), random_state=seed)
    found = stablek.compare(X, methods, k_range=range(2, 8), options=options, random_state=0)
    rows.append({row.method: adjusted_rand_score(y, row.selector.labels_) for row in found.rows})
table = pd.DataFrame(rows)
print(table.mean().round(3).to_string())

# %%
# Average ranks, 1 is best. A bar joins methods that the tests cannot tell apart.
CriticalDifferenceDisplay.from_scores(table)
