"""Other names of known things, and the known names nearest to one that is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

__all__ = [
    "ALGORITHM_ALIASES",
    "ALGORITHM_HINTS",
    "METHOD_ALIASES",
    "METHOD_HINTS",
    "canonical",
    "did_you_mean",
    "nearest",
]

METHOD_ALIASES = {
    "ch": "calinski_harabasz",
    "db": "davies_bouldin",
    "gap": "gap_b",  # as clusGap's default, in a box along the principal axes
    "gap_statistic": "gap_b",
    "knee": "elbow",
    "kneedle": "elbow",
    "variance_ratio": "calinski_harabasz",
}
"""Other names of the same method."""

METHOD_HINTS: dict[str, Sequence[str]] = {
    "aic": ["bic"],
    "gaussian_mixture": ["bic"],
    "gmm": ["bic"],
    "inertia": ["elbow"],
    "stability": ["stadion"],
    "wss": ["elbow"],
}
"""Methods for people who look for something else."""

ALGORITHM_ALIASES = {
    "em": "gmm",
    "gaussian_mixture": "gmm",
    "lloyd": "kmeans",
    "mixture": "gmm",
    "skmeans": "spherical",
    "spherical_kmeans": "spherical",
}
"""Other names of the same clustering algorithm of the command line."""

ALGORITHM_HINTS: dict[str, Sequence[str]] = {
    "agglomerative": ["ward"],
    "cosine": ["spherical"],
    "dbscan": ["hdbscan"],
    "hclust": ["ward"],
    "hierarchical": ["ward"],
    "optics": ["hdbscan"],
}
"""Algorithms of the command line for people who look for something else."""


def canonical(name: str, known: Iterable[str], aliases: Mapping[str, str]) -> str | None:
    """Return the known name that a name stands for; None if there is none.

    Case and separators do not count.

    Examples
    --------
    >>> canonical("K-Means", ["kmeans", "ward"], {}), canonical("gap", ["gap_b"], METHOD_ALIASES)
    ('kmeans', 'gap_b')
    >>> canonical("kmeens", ["kmeans"], {}) is None
    True
    """
    known = list(known)
    if name in known:
        return name
    wanted = _plain(name)
    for each in known:
        if _plain(each) == wanted:
            return each
    for alias, meant in aliases.items():
        if _plain(alias) == wanted and meant in known:
            return meant
    return None


def nearest(
    name: object, known: Iterable[str], hints: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """Return the known names that are probably meant, at most three.

    Case and separators do not count.

    Examples
    --------
    >>> nearest("kmeens", ["kmeans", "ward"]), nearest("gmm", ["bic"], METHOD_HINTS)
    (['kmeans'], ['bic'])
    """
    plain: dict[str, list[str]] = {}
    for each in known:
        plain.setdefault(_plain(each), []).append(each)
    wanted = _plain(str(name))
    if wanted in plain:
        return plain[wanted][:3]
    for hint, meant in (hints or {}).items():
        if _plain(hint) == wanted:
            return [each for each in meant if _plain(each) in plain]
    found = difflib.get_close_matches(wanted, plain, cutoff=0.65)
    return [each for key in found for each in plain[key]][:3]


def did_you_mean(
    name: object, known: Iterable[str], hints: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Return the end of a message: "; did you mean 'kmeans'?", or nothing.

    Examples
    --------
    >>> did_you_mean("silhouete", ["silhouette", "dunn"]), did_you_mean("what", ["dunn"])
    ("; did you mean 'silhouette'?", '')
    """
    found = nearest(name, known, hints)
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""


def _plain(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())
