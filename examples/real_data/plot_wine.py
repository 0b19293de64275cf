"""
Wine: standardize first
=======================

178 Italian wines, 13 chemical measurements, three cultivars. The features have different units:
proline is in the hundreds, hue is near 1. Without standardization K-means sees proline only.
"""

from sklearn.datasets import load_wine
from sklearn.metrics import adjusted_rand_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stablek import PartitionDisplay, Stadion

X, cultivar = load_wine(return_X_y=True, as_frame=True)
print(X.std().round(2).to_string())

# %%
# Put the scaler into a pipeline.
model = make_pipeline(StandardScaler(), Stadion(k_range=range(1, 11), random_state=0)).fit(X)
stadion = model[-1]
print(stadion)

# %%
# The answer is three, and the clusters are nearly the three cultivars, which Stadion did not
# see.
print(f"ARI with the cultivars: {adjusted_rand_score(cultivar, stadion.labels_):.2f}")
PartitionDisplay.from_estimator(stadion)
