"""Gaussian mixtures by kernels: any kind of covariance, for few features."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.engines.mixture_starts import Start
from stablek.engines.subspace import Subspace
from stablek.kernels.packed import PackedGroups
from stablek.mixture import SINGULAR
from stablek.results import Request

__all__ = [
    "KINDS",
    "Mixture",
    "fit_narrow",
    "narrow_agreements",
    "narrow_labels",
    "turn_factors",
]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

KINDS = ("full", "tied", "diag", "spherical")  # in the order of the kernels' codes


@dataclass(frozen=True)
class Mixture:
    """A fitted mixture, stored as `stablek.kernels.mixture.densities.Gaussians`.

    ``covariances`` is None where nobody will ask for them. If there is a subspace, the mixture
    is one of coordinates in it.
    """

    weights: Floats
    means: Floats
    covariances: Floats | None
    factors: Floats
    offsets: Floats
    lower_bound: float
    n_iter: int
    converged: bool
    subspace: Subspace | None = None
    _turned: dict[bytes, tuple[Floats, Floats]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    def compact(self) -> Mixture:
        """The mixture without what only users ask for."""
        return replace(self, covariances=None)

    def predict(self, points: Floats) -> Ints:
        """Component of highest posterior of each point; ties go to the first."""
        if self.subspace is not None:
            points = self.subspace.coordinates(points)
        return _assign(self, np.ascontiguousarray(points.T))

    def at_levels(self, epsilons: Sequence[float], deviation: Floats | None) -> Iterator[Mixture]:
        """The mixture of points with noise of each level; itself without noise."""
        if deviation is None:
            yield from [self] * len(epsilons)
            return
        [(factors, growths)] = _turned([self], deviation)
        squares = np.asarray(epsilons, dtype=np.float64) ** 2
        variances = 1.0 + squares[:, None, None] * growths
        factors = factors / np.sqrt(variances)[:, :, None]
        if factors.shape[2] > 1:  # upper triangular again: the decomposition RQ, without Q
            upper: Any = np.linalg.qr(factors[:, :, ::-1].swapaxes(2, 3), mode="r")
            factors = np.ascontiguousarray(upper.swapaxes(2, 3)[:, :, ::-1, ::-1])
        offsets = self.offsets - 0.5 * np.log(variances).sum(axis=2)
        for epsilon, own, peaks in zip(epsilons, factors, offsets, strict=True):
            noisy = replace(self, covariances=None, factors=own, offsets=peaks)
            yield noisy if epsilon > 0.0 else self


def fit_narrow(
    X: Floats,
    requests: Sequence[Request],
    starts: Sequence[Start],
    clusterer: Any,
    subspace: Subspace | None = None,
) -> list[list[tuple[Ints, Mixture]]]:
    """Labels and mixture of each k of each request, by one kernel call.

    Parameters
    ----------
    X : ndarray of shape (n_samples, p)
        Data, or coordinates in the subspace.
    requests : sequence of Request
    starts : sequence of Start
        One for each request.
    clusterer : GaussianMixture
        Its parameters apply.
    subspace : Subspace or None
        Where the coordinates are.
    """
    from stablek.kernels.mixture.densities import Gaussians
    from stablek.kernels.mixture.fit import Report, Rule, fit_likeliest

    c, p = clusterer, X.shape[1]
    rule = Rule(KINDS.index(c.covariance_type), float(c.tol), float(c.reg_covar), int(c.max_iter))
    everything = np.arange(len(X))
    rows = [everything if r.rows is None else r.rows for r in requests]
    start_rows = [
        own if start.sample is None else own[start.sample]
        for own, start in zip(rows, starts, strict=True)
    ]
    fits = _plan(requests, starts)
    k, n_fits = int(fits.k_values.sum()), len(fits.sets)
    shape = (k, p if c.covariance_type in ("full", "tied") else 1, p)
    models = Gaussians(
        np.empty(k), np.empty((k, p)), np.empty(shape), np.empty(shape), np.empty(k)
    )
    sizes = np.array([len(own) for own in rows], dtype=np.intp)[fits.sets]
    found = np.empty(int(sizes.sum()), dtype=np.intp)
    sound, converged = np.empty(n_fits, dtype=np.bool_), np.empty(n_fits, dtype=np.bool_)
    report = Report(sound, np.empty(n_fits), np.empty(n_fits, dtype=np.intp), converged)
    points = np.ascontiguousarray(X)
    fit_likeliest(points, _laid(rows), _laid(start_rows), fits, rule, models, found, report)
    if not sound.all():
        raise ValueError(SINGULAR)
    ends, label_ends = np.cumsum(fits.k_values).tolist(), np.cumsum(sizes).tolist()
    ended = zip(*(values.tolist() for values in report[1:]), strict=True)
    fitted = iter(
        (found[last - size : last], _mixture(models, slice(end - k, end), numbers, subspace))
        for k, end, size, last, numbers in zip(
            fits.k_values.tolist(), ends, sizes.tolist(), label_ends, ended, strict=True
        )
    )
    return [[next(fitted) for _ in r.k_values] for r in requests]


def _plan(requests: Sequence[Request], starts: Sequence[Start]) -> Any:
    """The fits of all requests and their starts, as the kernels take them."""
    from stablek.kernels.mixture.fit import Fits

    labels = [own for start in starts for own in start.labels]
    return Fits(
        sets=np.repeat(np.arange(len(requests)), [len(r.k_values) for r in requests]),
        k_values=np.array([k for r in requests for k in r.k_values], dtype=np.intp),
        n_starts=np.array([len(own) for own in labels], dtype=np.intp),
        labels=_joined([own.ravel() for own in labels], np.int32),
    )


def _mixture(models: Any, own: slice, ended: Any, subspace: Subspace | None) -> Mixture:
    """One mixture of those that are laid end to end; `ended` is its part of the report."""
    bound, n_iter, converged = ended
    weights, means, covariances, factors, offsets = (values[own] for values in models)
    return Mixture(
        weights, means, covariances, factors, offsets, bound, n_iter, converged, subspace
    )


def _laid(rows: Sequence[Ints]) -> Any:
    """Sets of rows as the kernels take them."""
    from stablek.kernels.mixture.fit import Rows

    starts = np.cumsum([0, *(len(own) for own in rows)])
    return Rows(_joined(rows, np.intp), starts)


def _joined(arrays: Sequence[Ints], dtype: Any) -> Ints:
    return np.concatenate(arrays, dtype=dtype, casting="same_kind")


def _assign(model: Mixture, points: Floats) -> Ints:
    """Labels of points that are stored feature by feature, in the subspace of the model."""
    from stablek.kernels.mixture.densities import assign

    labels = np.empty(points.shape[1], dtype=np.intp)
    assign(points, model.means, model.factors, model.offsets, labels)
    return labels


def _turned(models: Sequence[Mixture], deviation: Floats) -> list[tuple[Floats, Floats]]:
    """Factors and growths for points with noise, as `stablek.kernels.mixture.extend` says.

    They are computed once, for all draws.

    Parameters
    ----------
    models : sequence of Mixture
        All in the same space.
    deviation : ndarray of shape (n_features,)
        Standard deviation of each feature's noise at level 1.

    Returns
    -------
    list of (factors, growths)
        Arrays of shape (k, q, p) and (k, p), for each model.
    """
    key = deviation.tobytes()
    new = [model for model in models if key not in model._turned]
    if new:
        joined = np.concatenate([model.factors for model in new])
        factors, growths = turn_factors(joined, deviation, new[0].subspace)
        end = 0
        for model in new:
            own = slice(end, end := end + len(model.factors))
            model._turned[key] = factors[own], growths[own]
    return [model._turned[key] for model in models]


def turn_factors(
    factors: Floats, deviation: Floats, subspace: Subspace | None = None
) -> tuple[Floats, Floats]:
    """Turn the columns of factors so that noise leaves the coordinates uncorrelated."""
    if factors.shape[1] == 1 and subspace is None:  # the axes of the noise
        return factors, (factors[:, 0] * deviation) ** 2
    # Tied components have equal factors, one after the other.
    changes = np.append(True, (factors[1:] != factors[:-1]).any(axis=(1, 2)))
    own = factors[changes]
    noise = deviation[:, None] * (own if subspace is None else subspace.axes @ own)
    growths, turns = np.linalg.eigh(noise.transpose(0, 2, 1) @ noise)
    which = np.cumsum(changes) - 1
    return (own @ turns)[which], np.maximum(growths, 0.0)[which]


def narrow_agreements(
    models: Sequence[Mixture],
    X: Floats,
    noise: Floats,
    epsilons: Floats,
    packed: PackedGroups,
    deviation: Floats | None,
) -> Floats:
    """Sums over the contingency tables of reference labels and labels of the noisy points.

    Parameters
    ----------
    models : sequence of Mixture
        Models of all partitions of all groups, in the space of X.
    X, noise : ndarray of shape (n_samples, p)
        Data, and the noise that a noise level multiplies.
    epsilons : ndarray of shape (n_epsilons,)
        Noise levels.
    packed : PackedGroups
        The groups.
    deviation : ndarray of shape (n_features,) or None
        Standard deviation of the noise at level 1; None for models that ignore the noise.

    Returns
    -------
    ndarray of shape (7, n_models, n_epsilons)
        The fields of `stablek.similarity.Agreement`.
    """
    from stablek.kernels.mixture.extend import extend_agreements

    factors, growths = _for_noise(models, deviation)
    return extend_agreements(
        np.ascontiguousarray(X),
        np.ascontiguousarray(noise),
        np.asarray(epsilons, dtype=np.float64),
        packed,
        np.concatenate([model.means for model in models]),
        factors,
        np.concatenate([model.offsets for model in models]),
        growths,
    )


def narrow_labels(
    model: Mixture,
    X: Floats,
    noise: Floats,
    epsilons: Floats,
    reference: Ints,
    deviation: Floats | None,
) -> Ints:
    """Labels of noisy points for each noise level, (n_epsilons, n_samples).

    `reference` has the model's labels of X. The other parameters are those of `narrow_agreements`.
    """
    from stablek.kernels.mixture.extend import extend_labels

    labels = np.empty((len(epsilons), len(X)), dtype=np.intp)
    factors, growths = _for_noise([model], deviation)
    extend_labels(
        np.ascontiguousarray(X),
        np.ascontiguousarray(noise),
        np.asarray(epsilons, dtype=np.float64),
        np.ascontiguousarray(reference, dtype=np.intp),
        model.means,
        factors,
        model.offsets,
        growths,
        labels,
    )
    return labels


def _for_noise(models: Sequence[Mixture], deviation: Floats | None) -> tuple[Floats, Floats]:
    """Factors and growths of all models, laid end to end; no growths if they ignore the noise."""
    if deviation is None:
        p = models[0].means.shape[1]
        return np.concatenate([model.factors for model in models]), np.empty((0, p))
    turned = _turned(models, deviation)
    return np.concatenate([f for f, _ in turned]), np.concatenate([g for _, g in turned])
