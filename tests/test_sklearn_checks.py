"""Stadion passes scikit-learn's checks of an estimator."""

from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.utils.estimator_checks import parametrize_with_checks

from stablek import Stadion

QUICK = {"k_range": range(1, 4), "omega": [2], "n_perturbations": 1, "epsilons": [0.0, 0.5]}


@parametrize_with_checks(
    [
        Stadion(KMeans(n_init=1), n_reference_sets=3, **QUICK),
        Stadion(KMeans(n_init=1), one_cluster="crossing", **QUICK),
        Stadion(AgglomerativeClustering(), one_cluster="never", **QUICK),
    ]
)
def test_sklearn_check(estimator, check):
    check(estimator)
