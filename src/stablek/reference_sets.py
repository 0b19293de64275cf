"""Reference sets: simulated data that have the shape of X, but no clusters.

A kind is a function that describes X once and returns a function that draws sets from a random
generator. A user's own kind draws directly: ``f(X, rng)``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, wraps
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from sklearn.decomposition import FastICA
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils.extmath import svd_flip

from stablek import seeding
from stablek.projected import nearest_cloud
from stablek.unimodal import nearest_unimodal
from stablek.warning import ignored

__all__ = [
    "REFERENCE_SETS",
    "Box",
    "angular",
    "box",
    "box_of",
    "copula",
    "draw_sets",
    "resolve_reference_sets",
    "sources",
]

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator], Floats]
Kind = Callable[[Floats], Draw]

_MOST_SOURCES = 20
_POINTS_PER_SOURCE = 10


class Box(NamedTuple):
    """The box of the data along some axes. Reference points are uniform in it."""

    center: Floats
    axes: Floats | None
    low: Floats
    high: Floats

    def draw(self, n: int, random: Any) -> Floats:
        """Draw n uniform points."""
        points = random.uniform(self.low, self.high, (n, len(self.low)))
        turned = points if self.axes is None else points @ self.axes
        return np.ascontiguousarray(turned + self.center)


def box_of(X: Floats, principal: bool) -> Box:
    """Box of X along its features or its principal axes."""
    center = X.mean(axis=0)
    axes = _principal(X - center)[1] if principal else None
    turned = X - center if axes is None else (X - center) @ axes.T
    return Box(center, axes, turned.min(axis=0), turned.max(axis=0))


def _principal(centered: Floats) -> tuple[Floats, Floats]:
    """Coordinates along the principal axes, and the axes.

    The signs of the axes depend on the coordinates only, so that rotated data have rotated axes.
    """
    left, spread, axes = np.linalg.svd(centered, full_matrices=False)
    left, axes = svd_flip(left, axes)
    return left * spread, axes


def _in_units(kind: Kind) -> Kind:
    """The kind, in units of the spread of X: squares of tiny numbers would become zero."""

    @wraps(kind)
    def scaled(X: Floats) -> Draw:
        _, exponent = np.frexp(np.ptp(X, axis=0).max())
        unit = np.ldexp(1.0, int(exponent))  # a power of two, so that no digit is lost
        draw = kind(X / unit)
        return lambda rng: draw(rng) * unit

    return scaled


@_in_units
def box(X: Floats) -> Draw:
    """Uniform in the box of the principal components.

    No round shape without clusters has more stable partitions. Alone it would take skewed data for
    clusters.
    """
    found = box_of(X, principal=True)
    return lambda rng: found.draw(len(X), rng)


@_in_units
def copula(X: Floats) -> Draw:
    """Every feature unimodal and as near to the data as possible, with the data's correlations.

    The Gaussian copula of the features' normal scores joins them. It explains skewness and
    correlation.
    """
    n = len(X)
    scores = ndtri(np.array([_ranks(column) for column in X.T]).T / (n + 1.0))
    scores -= scores.mean(axis=0)
    spread = scores.std(axis=0)
    scores /= np.where(spread > 0.0, spread, 1.0)
    # A root of the correlation matrix, which may be singular or larger than the data.
    _, size, axes = np.linalg.svd(scores / np.sqrt(n), full_matrices=False)
    root = size[:, None] * axes
    marginals = [nearest_unimodal(column) for column in X.T]

    def draw(rng: np.random.Generator) -> Floats:
        levels = ndtr(rng.standard_normal((n, len(root))) @ root)
        return np.column_stack(
            [fit.quantiles(column) for fit, column in zip(marginals, levels.T, strict=True)]
        )

    return draw


def _ranks(values: Floats) -> Floats:
    """Ranks from 1; equal values share the mean of theirs. scipy.stats is slow to import."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    ranks: Floats = (np.cumsum(count) - (count - 1) / 2.0)[place]
    return ranks


@_in_units
def sources(X: Floats) -> Draw:
    """Independent components, each unimodal and as near to the data as possible, mixed again.

    It explains skewed data that are rotated, which the copula cannot. FastICA separates the
    leading principal components; the others are independent components as they are.
    """
    n = len(X)
    center = X.mean(axis=0)
    parts, axes = _principal(X - center)
    spread = parts.std(axis=0)
    parts, axes = parts[:, spread > 1e-9 * spread.max()], axes[spread > 1e-9 * spread.max()]
    spread = parts.std(axis=0)
    n_mixed = min(parts.shape[1], _MOST_SOURCES, n // _POINTS_PER_SOURCE)
    whitened = parts / spread
    mixing = np.eye(parts.shape[1])
    if n_mixed > 1:
        model = FastICA(whiten=False, max_iter=200, tol=1e-3, random_state=0)
        with ignored(ConvergenceWarning):  # the last step is a mixture as good as any
            separated = model.fit_transform(whitened[:, :n_mixed])
        mixing[:n_mixed, :n_mixed] = model.mixing_.T
        whitened[:, :n_mixed] = separated
    back = mixing * spread @ axes
    marginals = [nearest_unimodal(column) for column in whitened.T]

    def draw(rng: np.random.Generator) -> Floats:
        levels = rng.random((n, len(marginals)))
        drawn = [fit.quantiles(column) for fit, column in zip(marginals, levels.T, strict=True)]
        return np.asarray(np.column_stack(drawn) @ back + center)

    return draw


def angular(X: Floats) -> Draw:
    """Directions of a Gaussian cloud with any mean and covariance, for rows of equal length.

    A cloud with a long axis gathers at two poles when its rows are normalized, and one with two
    axes is a ring. The other kinds describe rows as they are on the sphere and explain neither.
    """
    length = _common_length(X)
    if length is None:
        raise ValueError(
            "reference_sets: 'angular' is for directions, but the rows of X have unequal lengths. "
            "Use SphericalKMeans(), or leave 'angular' out"
        )
    cloud = nearest_cloud(X / length)
    return lambda rng: length * cloud.directions(len(X), rng)


REFERENCE_SETS: dict[str, Kind] = {
    "box": box,
    "copula": copula,
    "sources": sources,
    "angular": angular,
}

FOR_POINTS = ("box", "copula", "sources")
"""The kinds that need no directions."""


def resolve_reference_sets(kinds: Any, *, directions: bool = False) -> dict[str, Kind]:
    """Kinds by name: "auto", names of `REFERENCE_SETS`, callables ``f(X, rng)``, or several.

    "auto" is all kinds for directions, and those that need none for other data.

    Examples
    --------
    >>> list(resolve_reference_sets("auto"))
    ['box', 'copula', 'sources']
    >>> list(resolve_reference_sets(["box", "copula"]))
    ['box', 'copula']
    """
    if isinstance(kinds, str) and kinds == "auto":
        kinds = list(REFERENCE_SETS if directions else FOR_POINTS)
    several: Sequence[Any] = kinds if isinstance(kinds, (list, tuple)) else [kinds]
    found: dict[str, Kind] = {}
    for kind in several:
        if callable(kind):
            found[getattr(kind, "__name__", repr(kind))] = partial(_of_user, kind)
        elif isinstance(kind, str) and kind in REFERENCE_SETS:
            found[kind] = REFERENCE_SETS[kind]
        else:
            raise ValueError(
                f"reference_sets must be 'auto', names among {list(REFERENCE_SETS)}, or callables "
                f"f(X, rng), got {kind!r}"
            )
    if len(found) < len(several) or not found:
        raise ValueError(f"reference_sets must name at least one kind, each once, got {kinds!r}")
    return found


def _of_user(function: Callable[..., Any], X: Floats) -> Draw:
    name = getattr(function, "__name__", repr(function))

    def draw(rng: np.random.Generator) -> Floats:
        found = np.asarray(function(X.copy(), rng), dtype=np.float64)
        if found.shape != X.shape:
            raise ValueError(
                f"reference_sets: {name} must return an array of shape {X.shape}, "
                f"got {found.shape}"
            )
        if not np.isfinite(found).all():
            raise ValueError(f"reference_sets: {name} must return finite numbers")
        return found

    return draw


def draw_sets(
    kind: Kind, name: str, X: Floats, numbers: Sequence[int], entropy: int
) -> list[Floats]:
    """Reference sets of one kind. The same number always gives the same set.

    Features keep what is no matter of clusters: constant ones stay constant, values on a grid stay
    on it, and rows of equal length keep that length.
    """
    draw, finish = kind(X), _finish(X)
    generators = [seeding.generator(entropy, "reference set", name, i) for i in numbers]
    return [np.ascontiguousarray(finish(draw(rng))) for rng in generators]


def _finish(X: Floats) -> Callable[[Floats], Floats]:
    grids = [(j, X[0, j], _grid_step(column)) for j, column in enumerate(X.T)]
    gridded = [(j, origin, step) for j, origin, step in grids if step is not None]
    length = _common_length(X)

    def finish(points: Floats) -> Floats:
        if length is not None and X.shape[1] > 1:
            lengths = np.linalg.norm(points, axis=1, keepdims=True)
            points = points * (length / np.where(lengths > 0, lengths, 1.0))
        for j, origin, step in gridded:
            points[:, j] = origin + (np.rint((points[:, j] - origin) / step) * step if step else 0)
        return points

    return finish


def _common_length(X: Floats) -> float | None:
    """Length of the rows if all have the same, and it is not 0."""
    lengths = np.linalg.norm(X, axis=1)
    equal = lengths.min() > 0 and np.ptp(lengths) < 1e-6 * lengths.max()
    return float(lengths.mean()) if equal else None


def _grid_step(column: Floats) -> float | None:
    """Step of the even grid that the values are on; 0 if constant, None if there is no grid.

    Standardized integers are on a grid too. If most values differ, the grid makes no clusters.

    Examples
    --------
    >>> _grid_step(np.array([1.5, 2.0, 3.0, 3.0, 2.0, 2.0]))
    0.5
    >>> _grid_step(np.array([1.5, 2.0, 3.1, 3.1, 2.0, 2.0]))
    """
    values = np.unique(column)
    if len(values) == 1:
        return 0.0
    if 2 * len(values) > len(column):
        return None
    gaps = np.diff(values)
    step = float(gaps.min())
    steps = (values - values[0]) / step
    return step if np.abs(steps - np.rint(steps)).max() < 1e-3 else None
