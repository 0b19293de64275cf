"""Is there any cluster structure? The structure test for users and for `Stadion`."""

from __future__ import annotations

import numbers
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from stablek import seeding, validation
from stablek.engines import Setting
from stablek.mixture import n_parameters
from stablek.reference_sets import resolve_reference_sets
from stablek.results import StructureTest
from stablek.selectors.reference import Reference, make_reference
from stablek.settings import make_setting, noise_levels, resolve_noise_scale
from stablek.spherical import SphericalKMeans
from stablek.structure import (
    LARGEST_SHARE,
    N_DRAWS,
    CannotClusterError,
    Protocol,
    coarse_values,
    run_test,
)
from stablek.warning import warn_user

__all__ = [
    "check_alpha",
    "check_enough_rows",
    "check_test_for",
    "check_test_options",
    "run_on_data",
    "structure_test",
    "test_for",
    "warn_no_clusters",
]

Floats = NDArray[np.float64]

LEAST_ROWS = 10
N_INIT = 4
N_EPSILONS = 10
ROWS_PER_PARAMETER = 4
"""Of a mixture of two components. With fewer rows it fits any points so closely that its stability
varies too much from one reference set to the next."""


def structure_test(
    X: Any,
    clusterer: Any = None,
    *,
    k_range: Sequence[int] = tuple(range(2, 11)),
    alpha: float = 0.05,
    n_reference_sets: int = 50,
    reference_sets: Any = "auto",
    max_test_rows: int = 2000,
    n_perturbations: int = N_DRAWS,
    n_epsilons: int = N_EPSILONS,
    relabel: Literal["auto", "refit", "extend", "predict"] = "auto",
    perturbation: str | Callable[..., Any] = "uniform",
    noise_scale: Literal["auto", "feature", "global"] = "auto",
    similarity: str | Callable[..., float] = "ari",
    random_state: Any = None,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> StructureTest:
    """Test whether X has cluster structure at all.

    The stability paths of X are compared with those of simulated data that have the shape of X but
    no clusters. Structure is claimed only if no shape explains the paths: the box of the principal
    components, unimodal features with the correlations of X, unimodal independent components and,
    for directions, a Gaussian cloud that is seen from the origin.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        The points, at least 10 of them.
    clusterer : estimator, default=None
        Whose partitions are tested, with at most four restarts. None is K-means, which suits all
        data: refitted partitions of other algorithms vary more, so that the test finds less.
    k_range : sequence of int, default=2 to 10
        Numbers of clusters. The test takes 2 and at most seven larger ones, the largest among
        them, up to a third of the rows. 1 is ignored.
    alpha : float, default=0.05
        Level of the test: the share of false alarms that is allowed.
    n_reference_sets : int, default=50
        Most reference sets of each kind. The test stops after 4 or 10 if the answer is clear.
    reference_sets : "auto", str, callable or sequence of them, default="auto"
        "auto" is "box", "copula" and "sources"; for `stablek.SphericalKMeans` also "angular".
        Or names in `stablek.reference_sets.REFERENCE_SETS`, or functions ``f(X, rng)`` that return
        an array of the shape of X.
    max_test_rows : int, default=2000
        More rows are sampled, for X and the reference sets alike.
    n_perturbations : int, default=4
        Noisy copies of X, and of each reference set, at each noise level.
    n_epsilons : int, default=10
        Noise levels, the level 0 among them.
    relabel, perturbation, noise_scale, similarity, random_state, n_jobs, verbose
        As for `stablek.Stadion`.

    Returns
    -------
    StructureTest
        ``pvalue``, ``statistic`` and the evidence.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(200, centers=[[0, 0], [8, 0]], random_state=0)
    >>> structure_test(X, random_state=0).pvalue < 0.01
    True
    >>> noise = np.random.default_rng(0).uniform(size=(200, 2))
    >>> structure_test(noise, random_state=0).pvalue > 0.05
    True
    """
    return run_on_data(
        validation.check_data(X),
        clusterer,
        k_range=k_range,
        alpha=alpha,
        n_reference_sets=n_reference_sets,
        reference_sets=reference_sets,
        max_test_rows=max_test_rows,
        n_perturbations=n_perturbations,
        n_epsilons=n_epsilons,
        relabel=relabel,
        perturbation=perturbation,
        noise_scale=noise_scale,
        similarity=similarity,
        entropy=seeding.entropy_of(random_state),
        n_jobs=n_jobs,
        verbose=verbose,
    )


def run_on_data(
    X: Floats,
    clusterer: Any,
    *,
    k_range: Sequence[int],
    alpha: float,
    n_reference_sets: int,
    reference_sets: Any,
    max_test_rows: int,
    perturbation: str | Callable[..., Any],
    noise_scale: str,
    similarity: str | Callable[..., float],
    entropy: int,
    n_jobs: int | None,
    verbose: int,
    relabel: str = "auto",
    n_perturbations: int = N_DRAWS,
    n_epsilons: int = N_EPSILONS,
) -> StructureTest:
    """The structure test of checked data; the parameters are those of `structure_test`."""
    check_test_options(alpha, n_reference_sets, reference_sets, max_test_rows)
    check_enough_rows(X)
    k_values = [k for k in validation.check_k_range(k_range, len(X)) if k > 1]
    validation.check_distinct(X, 2)
    reference = make_reference(
        _sample(X, max_test_rows, entropy),
        _few_restarts(clusterer),
        None,
        entropy=entropy,
        n_jobs=n_jobs,
    )
    rows, kind = reference.X, resolve_noise_scale(noise_scale, reference.clusterer)
    directions = isinstance(reference.clusterer, SphericalKMeans)
    setting = make_setting(
        rows,
        reference.clusterer,
        entropy=entropy,
        perturbation=perturbation,
        scale=kind,
        similarity=similarity,
        relabel=relabel,
    )
    epsilons = noise_levels("auto", n_epsilons, setting.perturbation, X.shape[1], even=False)
    n_distinct = validation.n_distinct(rows, len(rows))
    tested = coarse_values(k_values, min(len(rows), LARGEST_SHARE * n_distinct))
    return run_test(
        rows,
        Protocol(
            reference.engine,
            tested,
            epsilons,
            setting,
            kind,
            leave_out=directions,
            n_draws=validation.check_count("n_perturbations", n_perturbations, 1),
        ),
        resolve_reference_sets(reference_sets, directions=directions),
        alpha=float(alpha),
        n_sets=int(n_reference_sets),
        n_jobs=n_jobs,
        progress=bool(validation.check_count("verbose", verbose, 0)),
    )


def test_for(selector: Any, reference: Reference, setting: Setting) -> StructureTest | None:
    """The test that a `Stadion` asks for: by its clusterer if that suits, else by K-means."""
    k_values = selector.k_values_.tolist() if reference.values_are_k else list(range(2, 11))
    if selector.one_cluster != "test" or max(k_values) < 2:
        return None
    # Perturbations that allow no extension are no measure of K-means' partitions.
    noise = setting.perturbation.no_extension is None
    test = partial(
        run_on_data,
        reference.X,
        k_range=[k for k in k_values if k <= len(reference.X)],
        alpha=selector.alpha,
        n_reference_sets=selector.n_reference_sets,
        reference_sets=selector.reference_sets,
        max_test_rows=selector.max_test_rows,
        perturbation=selector.perturbation if noise else "uniform",
        noise_scale=selector.noise_scale,
        similarity=selector.similarity,
        entropy=reference.entropy,
        n_jobs=selector.n_jobs,
        verbose=selector.verbose,
    )
    own = setting.relabel != "refit" and reference.values_are_k
    n_rows = min(len(reference.X), selector.max_test_rows)
    own = own and _enough_rows_for(reference.clusterer, n_rows, reference.X.shape[1])
    if selector.test_clusterer is not None or not own:
        return test(selector.test_clusterer)
    try:
        return test(reference.clusterer, relabel=setting.relabel)
    except CannotClusterError as error:
        warn_user(f"The structure test uses K-means: {error}")
        return test(None)


def _enough_rows_for(clusterer: Any, n_rows: int, n_features: int) -> bool:
    """Whether a clusterer's partitions can be tested: mixtures need rows for their parameters."""
    if not isinstance(clusterer, GaussianMixture):
        return True
    parameters = n_parameters(clusterer.covariance_type, 2, n_features)
    return n_rows >= ROWS_PER_PARAMETER * parameters


def check_test_for(selector: Any, X: Floats) -> None:
    """Check what the test of a `Stadion` needs, before any work."""
    check_test_options(
        selector.alpha, selector.n_reference_sets, selector.reference_sets, selector.max_test_rows
    )
    if selector.one_cluster == "test" and selector.k_values_.tolist() != [1]:
        check_enough_rows(X)


def warn_no_clusters(test: StructureTest) -> None:
    """Warn that the answer is a number of clusters although the test found none."""
    warn_user(
        f"The structure test found no clusters (p = {test.pvalue:.2g}), but K = 1 is not in "
        f"k_range: the answer is the best of the values that are"
    )


def check_test_options(
    alpha: Any, n_reference_sets: Any, reference_sets: Any, max_test_rows: Any
) -> None:
    """Raise if a parameter of the structure test is wrong."""
    check_alpha(alpha)
    validation.check_count("n_reference_sets", n_reference_sets, 3)
    validation.check_count("max_test_rows", max_test_rows, LEAST_ROWS)
    resolve_reference_sets(reference_sets)


def check_enough_rows(X: Floats) -> None:
    """Raise if the structure test needs more rows."""
    if len(X) < LEAST_ROWS:
        raise ValueError(
            f"X has {len(X)} rows, but the structure test needs at least {LEAST_ROWS}; use more "
            f"data, or one_cluster='never' or 'crossing' in Stadion"
        )


def check_alpha(alpha: Any) -> None:
    """Raise unless it is a number between 0 and 1."""
    if not isinstance(alpha, numbers.Real) or not 0.0 < float(alpha) < 1.0:
        raise ValueError(f"alpha must be a number between 0 and 1, such as 0.05, got {alpha!r}")


def _sample(X: Floats, n: int, entropy: int) -> Floats:
    """At most n rows of X, in their order and in double precision."""
    if len(X) <= n:
        return X.astype(np.float64, copy=False)
    chosen = seeding.generator(entropy, "structure rows").choice(len(X), n, replace=False)
    return np.ascontiguousarray(X[np.sort(chosen)], dtype=np.float64)


def _few_restarts(clusterer: Any) -> Any:
    if clusterer is None:
        return KMeans(n_init=N_INIT)
    validation.check_clusterer(clusterer)
    n_init = clusterer.get_params().get("n_init")
    if isinstance(n_init, numbers.Integral) and int(n_init) > N_INIT:
        return clone(clusterer).set_params(n_init=N_INIT)
    return clusterer
