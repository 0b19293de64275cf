"""Make estimators from names and options on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any

from stablek.reading import InputError

INDICES = (
    "wemmert_gancarski",
    "silhouette",
    "davies_bouldin",
    "ray_turi",
    "calinski_harabasz",
    "dunn",
    "xie_beni",
)
"""The names of stablek.indices, which is slow to import."""

__all__ = [
    "default_algorithm",
    "keep_directions",
    "make_clusterer",
    "make_selector",
    "min_cluster_sizes",
    "stadion_options",
]


def default_algorithm(method: str) -> str:
    """Return the algorithm to use when none is named."""
    return "gmm" if method == "bic" else "kmeans"  # BIC judges mixtures only


def make_clusterer(name: str) -> Any:
    """Make a clusterer of `stablek.cli._parser.ALGORITHMS`, set for standardized data.

    Spherical K-means takes the data as they are; see `keep_directions`.
    """
    from sklearn import cluster

    from stablek.mixture import KMeansGaussianMixture
    from stablek.spherical import SphericalKMeans

    match name:
        case "kmeans":
            return cluster.KMeans(n_init=10)
        case "spherical":
            return SphericalKMeans()
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
        case "hdbscan":
            return cluster.HDBSCAN()
    raise InputError(f"unknown algorithm {name!r}")


def keep_directions(args: argparse.Namespace, algorithms: Sequence[str]) -> None:
    """Turn scaling off for spherical K-means: scaled columns give rows other directions."""
    if "spherical" in algorithms and not args.no_scale:
        if set(algorithms) != {"spherical"}:
            others = ", ".join(name for name in algorithms if name != "spherical")
            raise InputError(
                f"--algorithms: spherical takes the rows as they are, but {others} would get "
                f"scaled columns; use --no-scale for all, or compare spherical alone"
            )
        args.no_scale = True


def min_cluster_sizes(n_rows: int) -> list[int]:
    """Return the values of HDBSCAN's min_cluster_size to try: doubling from 5 to N / 5.

    Examples
    --------
    >>> min_cluster_sizes(500), min_cluster_sizes(12)
    ([5, 10, 20, 40, 80], [2])
    """
    values = [5 * 2**i for i in range(7) if 5 * 2**i <= n_rows / 5]
    return values or [max(2, n_rows // 5)]


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
    if algorithm == "hdbscan":
        options["param_name"] = "min_cluster_size"
        if method not in ("stadion", *INDICES):
            raise InputError(
                f"--method {method} needs an algorithm with a number of clusters; use stadion or "
                f"an index such as silhouette with hdbscan"
            )
    if method == "stadion":
        from stablek.selectors.stadion import Stadion

        return Stadion(clusterer, verbose=int(verbose), **options, **stadion_only)
    for name in stadion_only:
        flag = name.replace("_", "-")
        raise InputError(f"--{flag} is an option of --method stadion, not of {method}")
    from stablek.selectors.registry import SELECTORS

    if algorithm == "spherical" and method in ("silhouette", "dunn"):
        options["metric"] = "cosine"
    return SELECTORS[method](clusterer, **options)
