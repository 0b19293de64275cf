"""Bad input gets one clear exception that names the parameter, the value and what to do."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse
from sklearn.cluster import (
    DBSCAN,
    AgglomerativeClustering,
    KMeans,
    SpectralBiclustering,
    SpectralCoclustering,
)
from sklearn.mixture import GaussianMixture
from sklearn.pipeline import make_pipeline

from stablek import Stadion, evaluate_partition

FAST = {
    "k_range": [1, 2],
    "omega": [2],
    "n_perturbations": 1,
    "epsilons": [0.5],
    "one_cluster": "crossing",
    "random_state": 0,
}
X = np.random.default_rng(0).normal(size=(12, 3))
CLUSTERERS = [KMeans(n_init=1), AgglomerativeClustering(), GaussianMixture()]


def with_value(value, column=1):
    data = X.copy()
    data[4, column] = value
    return data


BAD_DATA = [
    (with_value(np.nan), ValueError, "1 NaN value.* in column 1"),
    (with_value(-np.inf), ValueError, "1 infinite value.* in column 1"),
    (pd.DataFrame(with_value(np.nan), columns=list("abc")), ValueError, "column 'b'"),
    (pl.DataFrame(with_value(np.inf), schema=list("abc")), ValueError, "column 'b'"),
    (with_value(1e200), ValueError, "1e\\+200 in column 1: squared distances overflow"),
    (pd.DataFrame({"n": range(4), "name": list("abcd")}), ValueError, r"not numeric: \['name'\]"),
    (pl.DataFrame({"n": range(4), "name": list("abcd")}), ValueError, r"not numeric: \['name'\]"),
    (pa.table({"n": range(4), "name": list("abcd")}), ValueError, r"not numeric: \['name'\]"),
    (pd.DataFrame({0: range(4), 1: pd.Timestamp("2020")}), ValueError, r"not numeric: \[1\]"),
    (
        pd.DataFrame({"n": range(4), "flag": pd.array([True, None] * 2, dtype="boolean")}),
        ValueError,
        "2 NaN value.* in column 'flag'",
    ),
    (
        pd.DataFrame({"n": [10**400, 1, 2, 3]}, dtype=object),
        ValueError,
        "numbers that are too large",
    ),
    (np.array([["a", "b"], ["c", "d"]]), ValueError, "could not convert|strings|numeric"),
    (X[:, 0], ValueError, "Expected 2D array, got 1D"),
    (X[:0], ValueError, "0 sample"),
    (X[:1], ValueError, "1 sample"),
    (X[:, :0], ValueError, "0 feature"),
    (sparse.csr_matrix(X), TypeError, "[Ss]parse"),
    (X.astype(complex), ValueError, "[Cc]omplex"),
    (np.zeros((12, 3)), ValueError, "K = 2 clusters but X has only 1 distinct row"),
    (np.repeat(X[:1], 12, axis=0), ValueError, r"use k_range=range\(1, 2\)"),
]


@pytest.mark.parametrize("clusterer", CLUSTERERS, ids=str)
@pytest.mark.parametrize(("data", "kind", "message"), BAD_DATA)
@pytest.mark.filterwarnings("ignore:All features")
def test_bad_data(data, kind, message, clusterer):
    with pytest.raises(kind, match=message):
        Stadion(clusterer, **FAST).fit(data)


BAD_PARAMETERS = [
    ({"k_range": []}, "k_range must hold at least one value"),
    ({"k_range": [3, 2]}, r"k_range must be in ascending order, got \[3, 2\]"),
    ({"k_range": [2, 2]}, "k_range must not repeat"),
    ({"k_range": [0, 1]}, "k_range must hold integers of at least 1, got 0"),
    ({"k_range": [1.5]}, "k_range must hold integers of at least 1, got 1.5"),
    ({"k_range": 5}, "k_range must be a sequence of values, got 5; pass one such as range"),
    ({"k_range": range(1, 14)}, r"K = 13 clusters but X has n_samples = 12.*range\(1, 13\)"),
    ({"omega": []}, "omega must hold at least one value"),
    ({"omega": [1, 2]}, "omega must hold integers of at least 2, got 1"),
    ({"epsilons": [-0.1, 1.0]}, "epsilons must be finite and not negative"),
    ({"epsilons": [1.0, 0.5]}, "epsilons must be in ascending order"),
    ({"epsilons": [0.0]}, "epsilons must hold a level above 0"),
    ({"epsilons": []}, "epsilons must be 'auto' or a non-empty"),
    ({"epsilons": "some"}, "epsilons must be 'auto'"),
    ({"epsilons": [np.nan]}, "epsilons must be finite"),
    ({"epsilons": [0.5, 1e200]}, r"epsilons must be at most 1e\+06 .*'uniform', got 1e\+200"),
    ({"epsilons": [1e308], "perturbation": "warp"}, r"at most 1e\+06 for perturbation 'warp'"),
    ({"epsilons": [0.5], "perturbation": "bootstrap"}, "one level only"),
    ({"epsilons": [1.5], "perturbation": "subsample"}, "below 1, got 1.5"),
    ({"n_epsilons": 1}, "n_epsilons must be an integer of at least 2, got 1"),
    ({"n_perturbations": 0}, "n_perturbations must be an integer of at least 1, got 0"),
    (
        {"relabel": "again"},
        r"relabel must be one of \['auto', 'refit', 'extend', 'predict'\], got 'again'",
    ),
    ({"noise_scale": "row"}, "noise_scale must be one of"),
    ({"similarity": "arj"}, r"similarity must be one of \[.*'ari'.*got 'arj'"),
    ({"perturbation": "nois"}, "perturbation must be one of"),
    ({"aggregation": "sum"}, "aggregation must be one of"),
    ({"one_cluster": "maybe"}, "one_cluster must be one of .*got 'maybe'"),
    ({"random_state": -1}, "random_state"),
    ({"verbose": -1}, "verbose"),
    ({"param_name": "n_cluster"}, "param_name must be a parameter of clusterer.*'n_cluster'"),
]


@pytest.mark.parametrize("clusterer", CLUSTERERS, ids=str)
@pytest.mark.parametrize(("change", "message"), BAD_PARAMETERS, ids=str)
def test_bad_parameters(change, message, clusterer):
    with pytest.raises(ValueError, match=message):
        Stadion(clusterer, **{**FAST, **change}).fit(X)


def test_bad_clusterers():
    with pytest.raises(TypeError, match=r"the class KMeans; pass KMeans\(\)"):
        Stadion(KMeans, **FAST).fit(X)
    with pytest.raises(TypeError, match="clusterer must be a scikit-learn style estimator"):
        Stadion("kmeans", **FAST).fit(X)
    with pytest.raises(ValueError, match="DBSCAN has no parameter n_clusters or n_components"):
        Stadion(DBSCAN(), **FAST).fit(X)
    for clusterer in (SpectralBiclustering(), make_pipeline(SpectralCoclustering())):
        with pytest.raises(TypeError, match=r"must give each row one label.*rows and columns"):
            Stadion(clusterer, **FAST).fit(X)


def test_constant_features():
    flat = np.column_stack([X[:, 0], np.full(12, 7.0)])
    assert np.isfinite(Stadion(KMeans(n_init=1), **FAST).fit(flat).scores_).all()
    with pytest.warns(UserWarning, match="All features of X are constant"):
        stadion = Stadion(KMeans(n_init=1), **{**FAST, "k_range": [1]}).fit(np.ones((12, 2)))
    assert stadion.n_clusters_ == 1


def test_new_data_must_have_the_features_that_were_fitted():
    stadion = Stadion(KMeans(n_init=1), **FAST).fit(X)
    with pytest.raises(ValueError, match="2 features, but Stadion is expecting 3"):
        stadion.predict(X[:, :2])


def test_evaluating_labels():
    with pytest.raises(ValueError, match=r"labels must have one entry for each of the 12 rows"):
        evaluate_partition(X, [0, 1])
    with pytest.raises(ValueError, match="noise only"):
        evaluate_partition(X, [-1] * 12)
    with pytest.raises(ValueError, match="omega must hold integers"):
        evaluate_partition(X, [0, 1] * 6, omega=[1])
    with pytest.raises(ValueError, match="relabel must be one of"):
        evaluate_partition(X, [0, 1] * 6, relabel="auto")
