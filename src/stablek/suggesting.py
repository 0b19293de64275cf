"""Did you mean ...? The known names nearest to one that is unknown."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence

__all__ = ["ALGORITHM_ALIASES", "METHOD_ALIASES", "did_you_mean", "nearest"]

METHOD_ALIASES: dict[str, Sequence[str]] = {
    "aic": ["bic"],
    "ch": ["calinski_harabasz"],
    "db": ["davies_bouldin"],
    "gap": ["gap_b", "gap_a"],
    "gap_statistic": ["gap_b", "gap_a"],
    "gaussian_mixture": ["bic"],
    "gmm": ["bic"],
    "inertia": ["elbow"],
    "knee": ["elbow"],
    "kneedle": ["elbow"],
    "stability": ["stadion"],
    "variance_ratio": ["calinski_harabasz"],
    "wss": ["elbow"],
}
"""Names under which people know a method."""

ALGORITHM_ALIASES: dict[str, Sequence[str]] = {
    "agglomerative": ["ward"],
    "cosine": ["spherical"],
    "dbscan": ["hdbscan"],
    "em": ["gmm"],
    "gaussian_mixture": ["gmm"],
    "hclust": ["ward"],
    "hierarchical": ["ward"],
    "lloyd": ["kmeans"],
    "skmeans": ["spherical"],
    "mixture": ["gmm"],
    "optics": ["hdbscan"],
}
"""Names under which people know a clustering algorithm of the command line."""


def nearest(
    name: object, known: Iterable[str], aliases: Mapping[str, Sequence[str]] | None = None
) -> list[str]:
    """Return the known names that are probably meant, at most three.

    Case and separators do not count.

    Examples
    --------
    >>> nearest("k-means", ["kmeans", "ward"]), nearest("gap", ["gap_a"], {"gap": ["gap_a"]})
    (['kmeans'], ['gap_a'])
    """
    plain: dict[str, list[str]] = {}
    for each in known:
        plain.setdefault(_plain(each), []).append(each)
    wanted = _plain(str(name))
    if wanted in plain:
        return plain[wanted][:3]
    for alias, meant in (aliases or {}).items():
        if _plain(alias) == wanted:
            return [each for each in meant if _plain(each) in plain]
    found = difflib.get_close_matches(wanted, plain, cutoff=0.65)
    return [each for key in found for each in plain[key]][:3]


def did_you_mean(
    name: object, known: Iterable[str], aliases: Mapping[str, Sequence[str]] | None = None
) -> str:
    """Return the end of a message: "; did you mean 'kmeans'?", or nothing.

    Examples
    --------
    >>> did_you_mean("silhouete", ["silhouette", "dunn"]), did_you_mean("what", ["dunn"])
    ("; did you mean 'silhouette'?", '')
    """
    found = nearest(name, known, aliases)
    return f"; did you mean {' or '.join(map(repr, found))}?" if found else ""


def _plain(name: str) -> str:
    return "".join(c for c in name.casefold() if c.isalnum())
