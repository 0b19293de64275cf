"""The nearest unimodal distribution, against a search over all modes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.spatial import ConvexHull
from scipy.stats import kstest

from stablek.unimodal import nearest_unimodal

SAMPLES = st.lists(st.integers(0, 12), min_size=1, max_size=25).map(
    lambda values: np.array(values, dtype=float)
)


def hull(points: np.ndarray, x: np.ndarray, *, lower: bool) -> np.ndarray:
    """Lower or upper convex hull of points at x, by the hull of the closed shape."""
    if len(points) < 2:
        return points[:, 1]
    far = -5.0 if not lower else 5.0
    lid = np.array([[points[0, 0], far], [points[-1, 0], far]])
    corners = ConvexHull(np.concatenate([points, lid])).vertices
    kept = points[np.sort(corners[corners < len(points)])]
    return np.interp(x, kept[:, 0], kept[:, 1])


def brute_force(sample: np.ndarray) -> float:
    """Smallest largest distance over all modes, each with its own hulls."""
    values, counts = np.unique(sample, return_counts=True)
    above = np.cumsum(counts) / len(sample)
    below = above - counts / len(sample)
    found = []
    for mode in range(len(values)):
        left = hull(np.c_[values, below][: mode + 1], values[: mode + 1], lower=True)
        right = hull(np.c_[values, above][mode:], values[mode:], lower=False)
        gaps = [0.0, *(above[:mode] - left[:mode]), *(right[1:] - below[mode + 1 :])]
        found.append(max(gaps))
    return min(found)


def distance(sample: np.ndarray) -> float:
    """Largest distance of the fit from the sample's distribution function, off the mode."""
    fit = nearest_unimodal(sample)
    _, counts = np.unique(sample, return_counts=True)
    above = np.cumsum(counts) / len(sample)
    below = above - counts / len(sample)
    mode = int(np.flatnonzero(np.diff(fit.values) == 0)[0])
    left, right = fit.levels[: mode + 1], fit.levels[mode + 1 :]
    gaps = [0.0, *(above[:mode] - left[:mode]), *(right[1:] - below[mode + 1 :])]
    return float(max(gaps))


@given(SAMPLES)
@settings(max_examples=200, deadline=None)
def test_no_mode_is_nearer(sample):
    assert distance(sample) == pytest.approx(brute_force(sample), abs=1e-9)
    assert nearest_unimodal(sample).distance == pytest.approx(distance(sample), abs=1e-12)


@given(SAMPLES)
@settings(max_examples=200, deadline=None)
def test_it_is_convex_then_concave(sample):
    fit = nearest_unimodal(sample)
    mode = int(np.flatnonzero(np.diff(fit.values) == 0)[0])
    assert fit.levels[0] == 0 and fit.levels[-1] == 1  # noqa: PT018
    assert (np.diff(fit.levels) > 0).all()
    left = np.diff(fit.levels[: mode + 1]) / np.diff(fit.values[: mode + 1])
    right = np.diff(fit.levels[mode + 1 :]) / np.diff(fit.values[mode + 1 :])
    assert (np.diff(left) >= -1e-9).all()
    assert (np.diff(right) <= 1e-9).all()


def test_a_unimodal_sample_stays_as_it_is(rng):
    sample = rng.normal(size=2000)
    drawn = nearest_unimodal(sample).quantiles(rng.random(2000))
    assert kstest(drawn, sample).pvalue > 0.01


def test_a_gap_is_filled(rng):
    sample = np.concatenate([rng.normal(0, 1, 500), rng.normal(10, 1, 500)])
    drawn = nearest_unimodal(sample).quantiles(rng.random(2000))
    assert ((drawn > 4) & (drawn < 6)).mean() > 0.03
    assert ((sample > 4) & (sample < 6)).mean() < 0.001


def test_values_that_nearly_coincide():
    sample = np.array([0.0, 5e-324, 1.0, 1.0 + 1e-16, 2.0])
    assert np.isfinite(nearest_unimodal(sample).levels).all()
