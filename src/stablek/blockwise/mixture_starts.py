"""Mixtures from which EM passes start where the sample has none."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from stablek.engines.mixture_narrow import Mixture
from stablek.mixture import SINGULAR

__all__ = ["covariances_of", "of_sample", "split"]

Floats = NDArray[np.float64]


def of_sample(sample: Floats, covariance_type: str, reg_covar: float) -> Mixture:
    """The mixture of one component."""
    mean, p = sample.mean(axis=0), sample.shape[1]
    if covariance_type in ("full", "tied"):
        gaps = sample - mean
        covariance = gaps.T @ gaps / len(sample) + reg_covar * np.eye(p)
        try:
            factor: Any = np.linalg.inv(np.linalg.cholesky(covariance)).T
        except np.linalg.LinAlgError:
            raise ValueError(SINGULAR) from None
        scales = np.diagonal(factor)
    else:
        variance = sample.var(axis=0)
        if covariance_type == "spherical":
            variance = np.full(p, variance.mean())
        covariance = (variance + reg_covar)[None]
        if not (covariance > 0.0).all():
            raise ValueError(SINGULAR)
        factor = 1.0 / np.sqrt(covariance)
        scales = factor[0]
    peak = float(np.log(scales).sum()) - 0.5 * p * np.log(2.0 * np.pi)
    return Mixture(
        np.ones(1),
        mean[None],
        covariance[None],
        np.ascontiguousarray(factor)[None],
        np.array([peak]),
        -np.inf,
        0,
        converged=False,
    )


def split(model: Mixture, label: int, k: int) -> Mixture:
    """One component of a mixture in k pieces, side by side along its longest axis.

    Equal components would stay equal in every step of EM.
    """
    factor, mean = model.factors[label], model.means[label]
    if len(factor) > 1:
        precisions, axes = np.linalg.eigh(factor @ factor.T)
        longest: Any = axes[:, 0] / np.sqrt(precisions[0])
    else:
        longest = np.zeros(len(mean))
        longest[np.argmin(factor[0])] = 1.0 / factor[0].min()
    steps = ndtri((np.arange(k) + 0.5) / k)
    peak = model.offsets[label] - np.log(model.weights[label])
    return Mixture(
        np.full(k, 1.0 / k),
        mean + steps[:, None] * longest,
        None,
        np.repeat(factor[None], k, axis=0),
        np.full(k, peak - np.log(k)),
        -np.inf,
        0,
        converged=False,
    )


def covariances_of(model: Mixture) -> Floats:
    """Covariances of a mixture, from its factors if it does not keep them."""
    if model.covariances is not None:
        return model.covariances
    if model.factors.shape[1] == 1:
        return np.asarray(model.factors**-2.0)
    return np.asarray(np.linalg.inv(model.factors @ model.factors.transpose(0, 2, 1)))
