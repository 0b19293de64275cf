"""Every selector with quick settings, for tests over the registry."""

from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from stablek.selectors import SELECTORS

QUICK = {
    "stadion": {
        "omega": [2, 3],
        "n_perturbations": 3,
        "n_epsilons": 6,
        "n_reference_sets": 3,
    },
    "gap_a": {"n_references": 10, "power": 2},
    "gap_b": {"n_references": 10, "power": 2},
    "hennig": {"n_bootstraps": 10},
    "lange": {"n_splits": 10},
    "ben_hur": {"n_pairs": 40},
}


def make(name, **parameters):
    """The selector of that name, with quick settings."""
    clusterer = GaussianMixture() if name == "bic" else KMeans(n_init=3)
    return SELECTORS[name](**{"clusterer": clusterer, **QUICK.get(name, {}), **parameters})
