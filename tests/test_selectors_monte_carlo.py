"""Methods with random parts on iris with Ward, compared with long runs of other packages.

Gap is compared with R's clusGap, Jaccard with fpc's clusterboot, and Ben-Hur and Lange with the
code of their authors. The tolerances are Monte Carlo errors.
"""

import numpy as np
import pytest
from sklearn.cluster import AgglomerativeClustering
from sklearn.mixture import GaussianMixture

from iris_partitions import X
from stablek.selectors import BIC, BenHur, GapA, GapB, Hennig, Lange

WARD = AgglomerativeClustering()


@pytest.mark.parametrize(
    "selector, power, expected",
    [
        (GapB, 2, (0.378, 0.870, 0.944, 0.872, 0.885, 0.833)),
        (GapA, 2, (0.387, 0.996, 1.236, 1.319, 1.407, 1.403)),
        (GapB, 1, (0.226, 0.485, 0.499, 0.475, 0.491, 0.461)),
    ],
)
def test_gap(selector, power, expected):
    gap = selector(WARD, k_range=range(1, 7), power=power, random_state=0).fit(X)
    np.testing.assert_allclose(gap.gap_, expected, atol=0.02)
    assert gap.reference_log_dispersion_.shape == (100, 6)
    curves = gap.reference_log_dispersion_
    np.testing.assert_allclose(gap.standard_error_, curves.std(0, ddof=1) * np.sqrt(1.01))


def test_hennig():
    hennig = Hennig(WARD, k_range=range(1, 7), n_bootstraps=500, random_state=0).fit(X)
    np.testing.assert_allclose(hennig.scores_[1:], (0.992, 0.712, 0.738, 0.705, 0.594), atol=0.02)
    assert np.isnan(hennig.scores_[0])
    assert [len(each) for each in hennig.jaccard_] == [1, 2, 3, 4, 5, 6]
    assert hennig.n_clusters_ == 2


def test_ben_hur():
    explorer = BenHur(WARD, k_range=range(1, 7), n_pairs=1000, random_state=0).fit(X)
    shares, means = explorer.scores_[1:], explorer.similarities_[1:].mean(axis=1)
    np.testing.assert_allclose(shares, (1.00, 0.38, 0.25, 0.11, 0.03), atol=0.04)
    np.testing.assert_allclose(means, (0.994, 0.843, 0.797, 0.763, 0.708), atol=0.02)
    assert explorer.n_clusters_ == 2


def test_lange():
    lange = Lange(WARD, k_range=range(1, 7), n_splits=500, random_state=0).fit(X)
    np.testing.assert_allclose(
        lange.instability_[1:], (0.004, 0.160, 0.278, 0.292, 0.349), atol=0.02
    )
    np.testing.assert_allclose(-lange.scores_[1:], (0.009, 0.277, 0.417, 0.410, 0.477), atol=0.02)
    assert lange.n_clusters_ == 2


def test_bic():
    # The value of mclust for one full Gaussian, with the opposite sign.
    mixture = GaussianMixture(reg_covar=0.0, tol=1e-10, max_iter=2000)
    bic = BIC(mixture, k_range=range(1, 4), random_state=0).fit(X)
    assert bic.bic_[0] == pytest.approx(1050.66932384, rel=1e-8)
    # The optimum that mclust finds for two Gaussians, from another start.
    assert bic.bic_[1] == pytest.approx(794.70900174, rel=1e-6)
    assert bic.n_clusters_ == 2
    assert (bic.scores_ == -bic.bic_).all()
