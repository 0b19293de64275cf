"""The parameter of a clusterer whose values are searched."""

from __future__ import annotations

from typing import Any

from stablek.suggesting import did_you_mean

__all__ = ["find_param_name"]

_SEARCH_EXAMPLES = {
    "min_cluster_size": ([5, 10, 20, 40], [5, 10]),
    "eps": ([0.3, 0.5, 0.8], [0.3, 0.5]),
    "preference": ([-50, -20, -10], [-20, -10]),
    "bandwidth": ([0.5, 1.0, 2.0], [0.5, 1.0]),
}
"""Parameters to search in clusterers without a number of clusters, with example values."""


def find_param_name(clusterer: Any, param_name: str | None) -> str:
    """Name of the clusterer's parameter that holds K, nested ones included.

    Examples
    --------
    >>> from sklearn.cluster import KMeans
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> find_param_name(make_pipeline(StandardScaler(), KMeans()), None)
    'kmeans__n_clusters'
    """
    known = clusterer.get_params()
    if param_name is not None:
        if param_name not in known:
            raise ValueError(
                f"param_name must be a parameter of clusterer, one of {sorted(known)}, "
                f"got {param_name!r}{did_you_mean(param_name, known)}"
            )
        return param_name
    prefix, final = "", clusterer
    while hasattr(final, "steps"):  # a Pipeline: its last step clusters
        name, final = final.steps[-1]
        prefix += f"{name}__"
    for name in ("n_clusters", "n_components"):
        if prefix + name in known:
            return prefix + name
    kind = type(final).__name__
    for name, (values, few) in _SEARCH_EXAMPLES.items():
        if prefix + name in known:
            raise ValueError(
                f"clusterer {kind} has no parameter n_clusters or n_components; search another, "
                f"such as {name}: Stadion({kind}(), param_name={prefix + name!r}, "
                f"k_range={values}, omega={few})"
            )
    raise ValueError(
        f"clusterer {kind} has no parameter n_clusters or n_components; "
        f"name the parameter to search with param_name, one of {sorted(known)}"
    )
