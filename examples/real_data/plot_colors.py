"""
How many colors has a picture?
==============================

Each pixel of a photograph is a point in three dimensions. Clusters of pixels are colors that
stand apart. A photograph has few: most colors flow into each other.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_sample_image

from stablek import Stadion

image = load_sample_image("flower.jpg")[::4, ::4] / 255.0
pixels = image.reshape(-1, 3)
sample = pixels[np.random.default_rng(0).choice(len(pixels), 1500, replace=False)]
stadion = Stadion(k_range=range(1, 9), noise_scale="global", random_state=0).fit(sample)
print(stadion)

# %%
# The picture in that many colors:
model = stadion.best_estimator_
painted = model.cluster_centers_[model.predict(pixels)].reshape(image.shape)
fig, axes = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
for ax, picture in zip(axes, (image, painted), strict=True):
    ax.imshow(np.clip(picture, 0.0, 1.0))
    ax.set_axis_off()
axes[1].set_title(f"{stadion.n_clusters_} colors")
