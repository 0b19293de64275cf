"""
A perturbation of your own
==========================

What kind of error do your data have? If a sensor sometimes fails and reads 0, let the noise do
the same: any function ``f(X, epsilon, rng)`` can perturb.
"""

import numpy as np
from sklearn.datasets import make_blobs

from stablek import StabilityPathsDisplay, Stadion

X, _ = make_blobs(200, centers=[[2, 2], [8, 2], [2, 8]], random_state=0)


def dropouts(X, epsilon, rng):
    """Set a share epsilon of all readings to 0."""
    return np.where(rng.uniform(size=X.shape) < epsilon, 0.0, X)


stadion = Stadion(
    k_range=range(1, 6),
    perturbation=dropouts,
    epsilons=np.linspace(0.0, 0.5, 6),
    n_perturbations=5,
    one_cluster="never",
    random_state=0,
).fit(X)
StabilityPathsDisplay.from_estimator(stadion)
