"""Perturbed copies of data: one short function per kind.

Each function takes the points, the noise level, the scale of every feature, and the `Draw`. It
returns the perturbed points; if it resamples, it also returns the rows that it kept. The attribute
``levels`` says what epsilon means:

- ``"amplitude"``: any non-negative number, in units of the features' standard deviation;
- ``"share"``: the share of rows or features to leave out, from 0 to below 1;
- ``"single"``: there is one level only, written as epsilon = 1.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from stablek import seeding
from stablek.suggesting import did_you_mean

__all__ = ["PERTURBATIONS", "Draw", "Perturbation", "perturb", "resolve_perturbation"]

Floats = NDArray[np.float64]
Rows = NDArray[np.intp]


@dataclass(frozen=True)
class Draw:
    """The source of the random numbers of one perturbed copy.

    Parameters
    ----------
    entropy : int
        From `stablek.seeding.entropy_of`.
    number : int
        Number of the copy.
    n_rows : int
        Number of rows of the whole data.
    rows : ndarray or None
        The rows to perturb; None for all. The points of a cluster get the same noise as in X.
    """

    entropy: int
    number: int
    n_rows: int
    rows: Rows | None = None

    def noise(self, n_columns: int, *, gaussian: bool = False) -> Floats:
        """Noise of these rows: uniform on [-1, 1], or standard normal."""
        whole = seeding.noise(
            self.entropy, self.number, n_columns, 0, self.n_rows, gaussian=gaussian
        )
        return whole if self.rows is None else whole[self.rows]

    def generator(self) -> np.random.Generator:
        """Generator for choices that are not made row by row. It is the same for every epsilon."""
        return seeding.generator(self.entropy, "draw", self.number)


@dataclass(frozen=True)
class Perturbation:
    """A kind of perturbation: its function and its properties.

    Parameters
    ----------
    name : str
        Name in `PERTURBATIONS`, or the name of the user's function.
    function : callable
        ``function(X, epsilon, scale, draw)`` returns the perturbed points; if it resamples, also
        the rows that it kept.
    levels : {"amplitude", "share", "single"}
        What epsilon means.
    resamples : bool
        Whether the rows of copies differ from those of X.
    keeps_features : bool
        Whether copies have the same features as X.
    noise : {"uniform", "gaussian"} or None
        Distribution of additive noise: a copy is X plus epsilon times noise that does not depend
        on epsilon. None for every other kind.
    """

    name: str
    function: Callable[[Floats, float, Floats, Draw], Any]
    levels: Literal["amplitude", "share", "single"]
    resamples: bool = False
    keeps_features: bool = True
    noise: Literal["uniform", "gaussian"] | None = None

    @property
    def is_additive(self) -> bool:
        """Whether a copy is X plus epsilon times noise that does not depend on epsilon."""
        return self.noise is not None

    @property
    def noise_variance(self) -> float | None:
        """Variance of additive noise at level 1, in units of scale squared; None for others."""
        return {None: None, "uniform": 1.0 / 3.0, "gaussian": 1.0}[self.noise]

    @property
    def no_extension(self) -> str | None:
        """Why the reference model cannot label the perturbed points; None if it can."""
        if self.resamples:
            return "it only leaves points out, so the reference model labels the rest as before"
        if not self.keeps_features:
            return "it changes the features, so the reference model cannot read the points"
        return None


def uniform(X: Floats, epsilon: float, scale: Floats, draw: Draw) -> Floats:
    """Add uniform noise on [-epsilon, epsilon] times the standard deviation of each feature."""
    return X + epsilon * (scale * draw.noise(X.shape[1]))


def gaussian(X: Floats, epsilon: float, scale: Floats, draw: Draw) -> Floats:
    """Add normal noise. Its standard deviation is epsilon times that of each feature."""
    return X + epsilon * (scale * draw.noise(X.shape[1], gaussian=True))


def bootstrap(X: Floats, epsilon: float, scale: Floats, draw: Draw) -> tuple[Floats, Rows]:
    """Draw as many rows as X has, with replacement."""
    rows = draw.generator().integers(len(X), size=len(X))
    return X[rows], rows


def subsample(X: Floats, epsilon: float, scale: Floats, draw: Draw) -> tuple[Floats, Rows]:
    """Leave out a share epsilon of the rows, but keep at least two."""
    order = draw.generator().permutation(len(X))
    kept = max(round(len(X) * (1.0 - epsilon)), min(len(X), 2))
    rows = np.sort(order[:kept])
    return X[rows], rows


def delete_features(X: Floats, epsilon: float, scale: Floats, draw: Draw) -> Floats:
    """Leave out a share epsilon of the features, but keep at least one."""
    order = draw.generator().permutation(X.shape[1])
    kept = max(round(X.shape[1] * (1.0 - epsilon)), 1)
    return X[:, np.sort(order[:kept])]


def project(X: Floats, epsilon: float, scale: Floats, draw: Draw) -> Floats:
    """Project on random directions. Their number is smaller than p by a share epsilon."""
    n_features = X.shape[1]
    kept = max(round(n_features * (1.0 - epsilon)), 1)
    directions, _ = np.linalg.qr(draw.generator().standard_normal((n_features, n_features)))
    return np.asarray(X @ directions[:, :kept])


def shift(X: Floats, epsilon: float, scale: Floats, draw: Draw) -> Floats:
    """Series: move each row in time, by up to epsilon times a tenth of its length."""
    length = X.shape[1]
    moved = np.arange(length) - 0.1 * epsilon * length * draw.noise(1)
    return _resample(X, moved)


def offset(X: Floats, epsilon: float, scale: Floats, draw: Draw) -> Floats:
    """Series: add one random constant to each row, up to epsilon times the pooled deviation."""
    return X + epsilon * float(np.sqrt(np.mean(scale**2))) * draw.noise(1)


def scale_rows(X: Floats, epsilon: float, scale: Floats, draw: Draw) -> Floats:
    """Series: multiply each row by a random factor exp(epsilon * u), with u in [-1, 1]."""
    return np.asarray(X * _factors(epsilon, draw))


def warp(X: Floats, epsilon: float, scale: Floats, draw: Draw) -> Floats:
    """Series: bend the time axis of each row smoothly, with both ends in place."""
    length = X.shape[1]
    time = np.linspace(0.0, 1.0, length)
    # exp gives a > 0, for which t ** a is monotone: time runs forward.
    bent = time ** _factors(epsilon, draw)
    return _resample(X, bent * (length - 1))


def _factors(epsilon: float, draw: Draw) -> Floats:
    """One factor exp(epsilon u) for each row, with a bound that keeps squares finite."""
    return np.asarray(np.exp(np.clip(epsilon * draw.noise(1), -200.0, 200.0)))


def _resample(X: Floats, positions: Floats) -> Floats:
    """Read each row of X at its own positions: linear between samples, constant outside."""
    last = X.shape[1] - 1
    positions = np.clip(positions, 0.0, last)
    left = np.minimum(positions.astype(np.intp), max(last - 1, 0))
    right = np.minimum(left + 1, last)
    weight = positions - left
    row = np.arange(len(X))[:, None]
    return np.asarray((1.0 - weight) * X[row, left] + weight * X[row, right])


PERTURBATIONS: dict[str, Perturbation] = {
    kind.name: kind
    for kind in (
        Perturbation("uniform", uniform, "amplitude", noise="uniform"),
        Perturbation("gaussian", gaussian, "amplitude", noise="gaussian"),
        Perturbation("bootstrap", bootstrap, "single", resamples=True),
        Perturbation("subsample", subsample, "share", resamples=True),
        Perturbation("delete_features", delete_features, "share", keeps_features=False),
        Perturbation("project", project, "share", keeps_features=False),
        Perturbation("shift", shift, "amplitude"),
        Perturbation("offset", offset, "amplitude"),
        Perturbation("scale", scale_rows, "amplitude"),
        Perturbation("warp", warp, "amplitude"),
    )
}


def resolve_perturbation(perturbation: str | Callable[..., Any]) -> Perturbation:
    """Perturbation with a given name, or one that calls ``perturbation(X, epsilon, rng)``.

    Examples
    --------
    >>> resolve_perturbation("gaussian").levels
    'amplitude'
    """
    if callable(perturbation):
        return Perturbation(
            getattr(perturbation, "__name__", "callable"), _Custom(perturbation), "amplitude"
        )
    if isinstance(perturbation, str) and perturbation in PERTURBATIONS:
        return PERTURBATIONS[perturbation]
    raise ValueError(
        f"perturbation must be one of {sorted(PERTURBATIONS)} or a callable, got "
        f"{perturbation!r}{did_you_mean(perturbation, PERTURBATIONS)}"
    )


@dataclass(frozen=True)
class _Custom:
    """A user's ``f(X, epsilon, rng)`` with the signature of the other kinds."""

    function: Callable[..., Any]

    def __call__(self, X: Floats, epsilon: float, scale: Floats, draw: Draw) -> Any:
        perturbed = np.asarray(self.function(X.copy(), epsilon, draw.generator()), dtype=float)
        if perturbed.ndim != 2 or len(perturbed) != len(X):
            raise ValueError(
                f"perturbation must return an array with the {len(X)} rows that it was given, "
                f"got shape {perturbed.shape}"
            )
        return perturbed


def perturb(
    X: Floats, epsilon: float, scale: Floats, draw: Draw, perturbation: Perturbation
) -> tuple[Floats, Rows | None]:
    """Return the perturbed points and their rows in X (None for all rows, in order).

    Examples
    --------
    >>> X = np.zeros((4, 2))
    >>> noisy, rows = perturb(X, 0.5, np.ones(2), Draw(0, 0, 4), PERTURBATIONS["uniform"])
    >>> bool(abs(noisy).max() <= 0.5), rows is None
    (True, True)
    """
    perturbed = perturbation.function(X, epsilon, scale, draw)
    if perturbation.resamples:
        points, rows = perturbed
        return points, rows
    return perturbed, None
