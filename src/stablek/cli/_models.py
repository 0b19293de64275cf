"""Make estimators from names and options on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from stablek.reading import InputError

__all__ = ["default_algorithm", "make_clusterer", "make_selector", "stadion_options"]


def default_algorithm(method: str) -> str:
    """Return the algorithm to use when none is named."""
    return "gmm" if method == "bic" else "kmeans"  # BIC judges mixtures only


def make_clusterer(name: str) -> Any:
    """Make a clusterer of `stablek.cli._parser.ALGORITHMS`, set for standardized data."""
    from sklearn import cluster

    from stablek.mixture import KMeansGaussianMixture

    match name:
        case "kmeans":
            return cluster.KMeans(n_init=10)
        case "ward" | "average" | "complete" | "single":
            return cluster.AgglomerativeClustering(linkage=name)
        case "gmm":
            return KMeansGaussianMixture(n_init=10)
        case "bisecting":
            return cluster.BisectingKMeans()
        case "minibatch":
            return cluster.MiniBatchKMeans(n_init=3)
        case "spectral":
            return cluster.SpectralClustering()
        case "birch":
            # The default threshold, half a standard deviation, gives too few sub-clusters.
            return cluster.Birch(threshold=0.1)
    raise InputError(f"unknown algorithm {name!r}")


def stadion_options(args: argparse.Namespace) -> dict[str, Any]:
    """Return the parameters of Stadion that were given."""
    if args.alpha is not None and args.one_cluster in ("crossing", "never"):
        raise InputError(f"--alpha is the level of --one-cluster test, not of {args.one_cluster}")
    given = {name: getattr(args, name) for name in ("relabel", "omega", "one_cluster", "alpha")}
    return {name: value for name, value in given.items() if value is not None}


def make_selector(
    method: str,
    algorithm: str,
    k_range: Sequence[int] | None,
    *,
    seed: int,
    jobs: int,
    verbose: bool = False,
    **stadion_only: Any,
) -> Any:
    """Make the selector of a method."""
    options: dict[str, Any] = {"k_range": k_range, "random_state": seed, "n_jobs": jobs}
    clusterer = make_clusterer(algorithm)
    if method == "stadion":
        from stablek.selectors.stadion import Stadion

        return Stadion(clusterer, verbose=int(verbose), **options, **stadion_only)
    for name in stadion_only:
        flag = name.replace("_", "-")
        raise InputError(f"--{flag} is an option of --method stadion, not of {method}")
    from stablek.selectors.registry import SELECTORS

    return SELECTORS[method](clusterer, **options)
