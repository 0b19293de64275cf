"""From a user's parameters to checked settings: noise, noise levels, similarity, relabeling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from stablek import validation
from stablek.engines.base import Setting
from stablek.perturbations import PERTURBATIONS, Perturbation, resolve_perturbation
from stablek.similarity import Similarity, resolve_similarity
from stablek.spherical import SphericalKMeans
from stablek.warning import warn_user

__all__ = [
    "make_setting",
    "noise_levels",
    "noise_scale",
    "resolve_noise_scale",
    "scale_of",
    "warn_unequal_spread",
]

Floats = NDArray[np.float64]

_LARGEST_EPSILON = 1e6  # of our own kinds of noise: with much more, squared distances overflow
_SMALLEST_EPSILON, _LEAST_LARGEST = 0.05, 1.5  # of the geometric grid
_LARGEST_SHARE = 0.9  # of the rows or features that "auto" leaves out
_LARGEST_RATIO = 10.0  # of the spreads of features that need no scaling
_UNCORRELATED = 1e-6
_MOST_COMPONENTS = 500


def make_setting(
    X: Floats,
    clusterer: Any,
    *,
    entropy: int,
    perturbation: str | Callable[..., Any],
    scale: str,
    similarity: str | Callable[..., float],
    relabel: str,
    deviation: Floats | None = None,
) -> Setting:
    """Check what holds for a whole run.

    Parameters
    ----------
    X : ndarray of shape (n_samples, n_features)
        Checked data.
    clusterer : estimator
        Tells whether points can be relabeled without a fit.
    entropy : int
        From `stablek.seeding.entropy_of`.
    perturbation, similarity, relabel
        As for `stablek.Stadion`.
    scale : {"auto", "feature", "global"}
        The parameter ``noise_scale`` of `stablek.Stadion`.
    deviation : ndarray of shape (n_features,) or None
        Standard deviation of each feature if X is only a sample; None computes it from X.
    """
    kind, kind_of_scale = resolve_perturbation(perturbation), resolve_noise_scale(scale, clusterer)
    return Setting(
        entropy=entropy,
        perturbation=kind,
        scale=noise_scale(X, kind_of_scale)
        if deviation is None
        else scale_of(deviation, kind_of_scale),
        similarity=_warned(resolve_similarity(similarity)),
        relabel=_resolve_relabel(relabel, clusterer, kind),
    )


def noise_levels(
    epsilons: Any,
    n_epsilons: int,
    perturbation: Perturbation,
    n_features: int,
    *,
    even: bool = True,
) -> Floats:
    """Noise levels: those given, or the fixed grid of "auto".

    For an amplitude, even levels reach from 0 to the square root of the number of features, as in
    the paper. Geometric levels after 0 reach from 0.05 to that, or to 1.5 if that is more.

    Examples
    --------
    >>> noise_levels("auto", 4, resolve_perturbation("uniform"), 9)
    array([0., 1., 2., 3.])
    >>> noise_levels("auto", 4, resolve_perturbation("uniform"), 9, even=False).round(2)
    array([0.  , 0.05, 0.39, 3.  ])
    """
    n_epsilons = validation.check_count("n_epsilons", n_epsilons, 2)
    given = validation.check_epsilons(epsilons, perturbation.levels)
    if given is not None:
        if given[-1] > _LARGEST_EPSILON and perturbation in PERTURBATIONS.values():
            raise ValueError(
                f"epsilons must be at most {_LARGEST_EPSILON:g} for perturbation "
                f"{perturbation.name!r}, got {given[-1]:g}"
            )
        return given
    if perturbation.levels == "single":
        return np.ones(1)
    if perturbation.levels == "share":
        return np.linspace(0.0, _LARGEST_SHARE, n_epsilons)
    if even:
        return np.linspace(0.0, np.sqrt(n_features), n_epsilons)
    largest = max(_LEAST_LARGEST, np.sqrt(n_features))
    return np.concatenate([[0.0], np.geomspace(_SMALLEST_EPSILON, largest, n_epsilons - 1)])


def noise_scale(X: Floats, kind: str) -> Floats:
    """Standard deviation of each feature, or one pooled value for all.

    Examples
    --------
    >>> X = np.array([[0.0, 0.0], [2.0, 4.0]])
    >>> noise_scale(X, "feature")
    array([1., 2.])
    """
    return scale_of(_deviations(X), kind)


def resolve_noise_scale(kind: str, clusterer: Any) -> str:
    """The noise scale for a clusterer: "auto" is "global" for directions.

    Examples
    --------
    >>> resolve_noise_scale("auto", SphericalKMeans()), resolve_noise_scale("auto", None)
    ('global', 'feature')
    """
    validation.check_choice("noise_scale", kind, ["auto", "feature", "global"])
    if kind != "auto":
        return kind
    return "global" if isinstance(clusterer, SphericalKMeans) else "feature"


def scale_of(scale: Floats, kind: str) -> Floats:
    """The noise scale of features with these standard deviations."""
    if not scale.any():
        warn_user("All features of X are constant: there is nothing to cluster")
    if kind == "global":
        return np.full_like(scale, np.sqrt(np.mean(scale**2)))
    return scale


def warn_unequal_spread(X: Floats, names: Sequence[str] | None = None, *clusterers: Any) -> None:
    """Warn if some features are spread so much wider than others that they alone decide.

    Components of PCA or TruncatedSVD are left alone: their spreads mean something. So do those of
    the features of directions, so spherical K-means needs no warning.
    """
    if clusterers and all(isinstance(each, SphericalKMeans) for each in clusterers):
        return
    scale = _deviations(X)
    varying = np.flatnonzero(scale)
    if len(varying) < 2:
        return
    widest, narrowest = (int(varying[f(scale[varying])]) for f in (np.argmax, np.argmin))
    with np.errstate(over="ignore"):
        ratio = scale[widest] / scale[narrowest]
    if ratio <= _LARGEST_RATIO or _are_components(X[:, varying]):
        return
    named = [f"column {j}" if names is None else repr(names[j]) for j in (widest, narrowest)]
    shown = f"{ratio:,.0f}" if ratio < 1e6 else f"{ratio:.0e}"
    warn_user(
        f"The spreads of the features differ by a factor of {shown} (standard deviation "
        f"{scale[widest]:.3g} of {named[0]}, {scale[narrowest]:.3g} of {named[1]}), so the widest "
        f"decide the clusters. Standardize first, e.g. make_pipeline(StandardScaler(), Stadion()) "
        f"(the command line does so without --no-scale)"
    )


def _are_components(X: Floats) -> bool:
    """Whether the columns are orthogonal, as they are or centered."""
    if X.shape[1] > _MOST_COMPONENTS:
        return False
    # Units do not matter, and squares of tiny numbers would become zero.
    X = X / np.abs(X).max(axis=0)
    for origin in (0.0, X.mean(axis=0)):
        Z = X - origin
        with np.errstate(invalid="ignore", divide="ignore"):
            Z /= np.sqrt(np.einsum("ij,ij->j", Z, Z))
            cosines = Z.T @ Z
        np.fill_diagonal(cosines, 0.0)
        if np.abs(cosines).max() < _UNCORRELATED:  # never if it is nan
            return True
    return False


def _deviations(X: Floats) -> Floats:
    return np.array([_deviation(column) for column in X.T])


def _deviation(column: Floats) -> float:
    """Standard deviation, scaled by the range: squares of tiny numbers would become zero."""
    low, spread = column.min(), np.ptp(column)
    return float(((column - low) / spread).std() * spread) if spread > 0 else 0.0


def _resolve_relabel(
    relabel: str, clusterer: Any, perturbation: Perturbation
) -> Literal["refit", "extend", "predict"]:
    validation.check_choice("relabel", relabel, ["auto", "refit", "extend", "predict"])
    reason = perturbation.no_extension
    if reason is not None:
        reason = f"perturbation {perturbation.name!r} does not allow it: {reason}"
    elif not hasattr(clusterer, "predict"):
        reason = f"{type(clusterer).__name__} cannot predict"
    if relabel == "refit" or (relabel == "auto" and reason is not None):
        return "refit"
    if reason is not None:
        raise ValueError(f"relabel={relabel!r} is not possible: {reason}. Use relabel='refit'")
    return "predict" if relabel == "predict" else "extend"


def _warned(similarity: Similarity) -> Similarity:
    """The similarity, after a warning if identical partitions do not have similarity 1."""
    if not similarity.identical_is_one:
        warn_user(
            f"similarity {similarity.name!r} is not 1 for identical partitions, so between and "
            f"within stability of different K are not on one scale; 'ari' is a safe choice"
        )
    return similarity
