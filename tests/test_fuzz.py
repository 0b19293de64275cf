"""Wild input: every fit ends in finite results or in an error that is documented.

`make fuzz` runs thousands of cases and prints how they ended.
"""

import faulthandler
import os
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
from hypothesis import HealthCheck, event, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from sklearn.cluster import AgglomerativeClustering, KMeans, MiniBatchKMeans
from sklearn.mixture import GaussianMixture

from stablek.selectors.registry import SELECTORS

N_CASES = int(os.environ.get("STABLEK_FUZZ", "60"))
SECONDS = 120  # for one case, the compilation of its kernels included

NUMBERS = st.one_of(
    st.integers(-2, 2).map(float),
    st.floats(-1e3, 1e3),
    st.floats(allow_nan=False, allow_infinity=False, width=64),
    st.sampled_from([0.0, -0.0, 1e-320, 1e-200, 1e150, 1e300, 1e10 + 1e-5]),
)
RARE = st.sampled_from([np.nan, np.inf, -np.inf])
SHAPES = st.tuples(st.integers(1, 24), st.integers(1, 4))

CONTAINERS = {
    "array": lambda X: X,
    "fortran": np.asfortranarray,
    "list": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "int": lambda X: np.nan_to_num(X, posinf=9, neginf=-9).clip(-99, 99).astype(int),
    "bool": lambda X: X > 0,
    "object": lambda X: X.astype(object),
    "text": lambda X: X.astype(str),
    "masked": lambda X: np.ma.masked_invalid(X),
    "pandas": lambda X: pd.DataFrame(X, columns=[f"c{j}" for j in range(X.shape[1])]),
    "nullable": lambda X: pd.DataFrame(X).convert_dtypes(),
    "polars": lambda X: pl.DataFrame(X, schema=[f"c{j}" for j in range(X.shape[1])]),
    "arrow": lambda X: pa.table({f"c{j}": X[:, j] for j in range(X.shape[1])}),
}
CLUSTERERS = {
    "default": None,
    "kmeans": KMeans(n_init=1, max_iter=20),
    "random": KMeans(init="random", n_init=2),
    "ward": AgglomerativeClustering(),
    "single": AgglomerativeClustering(linkage="single"),
    "mixture": GaussianMixture(max_iter=20),
    "tied": GaussianMixture(covariance_type="tied", max_iter=20),
    "generic": MiniBatchKMeans(n_init=1, max_iter=5),
}
SPLITTING = {"g_means", "special_k", "special_k_neighbors", "x_means"}
"""Methods that end with a K and may have no score for it."""

STADION = st.fixed_dictionaries(
    {
        "omega": st.sampled_from([[2], [2, 3], [2, 9]]),
        "n_perturbations": st.integers(1, 3),
        "epsilons": st.sampled_from(["auto", [0.0, 0.5], [1e-9], [50.0], [1e6]]),
        "n_epsilons": st.integers(2, 4),
        "noise_scale": st.sampled_from(["feature", "global"]),
        "relabel": st.sampled_from(["auto", "refit"]),
        "perturbation": st.sampled_from(["uniform", "gaussian", "bootstrap", "subsample"]),
    }
)


@st.composite
def tables(draw):
    """Plain points in strange units, or arrays of strange numbers."""
    shape = draw(SHAPES)
    if draw(st.integers(0, 3)) == 0:
        X = draw(arrays(np.float64, shape, elements=NUMBERS))
    else:
        rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        X = rng.normal(size=shape) + draw(st.sampled_from([0, 5])) * rng.integers(3, size=shape)
        X = np.round(X, draw(st.sampled_from([0, 1, 15])))
        X = X * draw(st.sampled_from([1.0, 1.0, 1e-5, 1e-170, 1e-300, 1e140]))
        X = X + draw(st.sampled_from([0.0, 0.0, 1e6, 1e12]))
    if draw(st.integers(0, 9)) == 0:
        X[0, 0] = draw(RARE)
    if draw(st.integers(0, 3)) == 0:
        X = np.concatenate([X, X])  # duplicates
    return X


@settings(
    max_examples=N_CASES,
    derandomize="STABLEK_FUZZ" not in os.environ,
    suppress_health_check=list(HealthCheck),
)
@given(
    X=tables(),
    container=st.sampled_from(sorted(CONTAINERS)),
    name=st.sampled_from(sorted(SELECTORS)),
    clusterer=st.sampled_from(sorted(CLUSTERERS)),
    k_range=st.lists(st.integers(1, 12), min_size=1, max_size=5, unique=True).map(sorted),
    stadion=STADION,
)
def test_a_fit_ends_in_finite_results_or_a_documented_error(
    X, container, name, clusterer, k_range, stadion
):
    faulthandler.dump_traceback_later(SECONDS, exit=True)
    options = stadion if name == "stadion" else {}
    selector = SELECTORS[name](CLUSTERERS[clusterer], k_range=k_range, random_state=0, **options)
    with np.errstate(all="ignore"):
        X = CONTAINERS[container](X)
    failure = None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)  # those are ours, not the user's
            warnings.simplefilter("ignore", UserWarning)
            selector.fit(X)
    except (ValueError, TypeError) as error:
        failure = error
    finally:
        faulthandler.cancel_dump_traceback_later()
    if failure is not None:
        event(type(failure).__name__)
        assert len(str(failure)) > 20, "an error must say what to do"
        return
    event("result" if selector.n_clusters_ is not None else "abstention")
    n = len(X)
    assert selector.labels_.shape == (n,)
    assert selector.scores_.shape == (len(selector.k_values_),)
    if selector.n_clusters_ is not None:
        assert selector.n_clusters_ in k_range or name == "stadion"
        best = selector.scores_[list(selector.k_values_).index(selector.best_value_)]
        assert name in SPLITTING or not np.isnan(best)
        assert len(np.unique(selector.labels_)) <= max(k_range)
    if name == "stadion":
        assert np.isfinite(selector.stadion_paths_).all()
        assert np.isfinite(selector.scores_).all()
        assert (selector.between_stability_ <= 1 + 1e-9).all()
