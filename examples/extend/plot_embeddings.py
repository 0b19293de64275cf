"""
Embeddings
==========

Embeddings are compared by their angle. Spherical K-means clusters by cosine, and the length of a
row does not matter. Noise turns the rows, and the structure test simulates directions without
topics.
"""

import numpy as np
from matplotlib import pyplot as plt

from stablek import PartitionDisplay, SphericalKMeans, Stadion

# Simulated embeddings: six topics in 64 dimensions, and rows of all lengths.
rng = np.random.default_rng(0)
topics = rng.normal(size=(6, 64))
topic = rng.integers(0, 6, 500)
embeddings = topics[topic] + rng.normal(scale=0.8, size=(500, 64))
embeddings *= rng.lognormal(size=(500, 1))

stadion = Stadion(SphericalKMeans(), k_range=range(1, 13), random_state=0).fit(embeddings)
print(stadion)

fig, ax = plt.subplots(layout="constrained")
PartitionDisplay.from_estimator(stadion, ax=ax)
