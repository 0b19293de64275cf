"""
Embeddings
==========

Embeddings have hundreds of features in the same unit, and clusters differ in a few directions.
Normalize the rows, reduce the dimension, and use one scale of noise for all features.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.decomposition import PCA
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Normalizer

from stablek import PartitionDisplay, Stadion

# Simulated embeddings: six topics in 256 dimensions.
rng = np.random.default_rng(0)
topics = rng.normal(size=(6, 256))
topic = rng.integers(0, 6, 500)
embeddings = topics[topic] + rng.normal(scale=1.5, size=(500, 256))

stadion = Stadion(k_range=range(1, 13), noise_scale="global", random_state=0)
make_pipeline(Normalizer(), PCA(20, random_state=0), stadion).fit(embeddings)
print(stadion)

fig, ax = plt.subplots(layout="constrained")
PartitionDisplay.from_estimator(stadion, ax=ax)
