"""K-means runs for mixtures to start from: greedy k-means++, then Lloyd's steps.

A run is wanted from every start, also from those that k-means itself would drop, and the code
is the mixtures' own, with unit covariances.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner, jit
from stablek.kernels.mixture import assign, block_size, gaps_to, log_density

__all__ = ["kmeans_starts"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_TOL, _MAX_ITER = 1e-4, 300  # scikit-learn's for k-means


@inner
def _approach(points: Floats, center: Floats, unit: Floats, near: Floats, out: Floats) -> float:
    """Write the lesser of `near` and the squared distance to the center; return the sum."""
    n_features, n = points.shape
    block = block_size(n_features)
    gaps, log = np.empty((n_features, block)), np.empty(block)
    total = 0.0
    for begin in range(0, n, block):
        size = min(block, n - begin)
        gaps_to(points, begin, size, center, gaps)
        log_density(gaps, unit, 0.0, size, log, log)
        known, target = near[begin : begin + size], out[begin : begin + size]
        for i in range(size):
            target[i] = min(known[i], -2.0 * log[i])
        for i in range(size):
            total += target[i]
    return total


@inner
def _point(points: Floats, i: int, center: Floats) -> None:
    for feature in range(points.shape[0]):
        center[feature] = points[feature, i]


@inner
def _drawn(near: Floats, target: float) -> int:
    """First point at which the running sum of squared distances passes the target."""
    running, last = 0.0, 0
    for i in range(near.shape[0]):
        if near[i] > 0.0:
            running += near[i]
            last = i
            if running > target:
                break
    return last


@inner
def _plus_plus(points: Floats, unit: Floats, chance: Floats, centers: Floats) -> None:
    """Greedy k-means++: each next center is the best of a few points drawn by distance."""
    n = points.shape[1]
    near, trial, best = np.full(n, np.inf), np.empty(n), np.empty(n)
    _point(points, min(int(chance[0, 0] * n), n - 1), centers[0])
    total = _approach(points, centers[0], unit, near, near)
    for c in range(1, centers.shape[0]):
        least, chosen = np.inf, 0
        for t in range(chance.shape[1]):
            candidate = _drawn(near, chance[c, t] * total)
            _point(points, candidate, centers[c])
            left = _approach(points, centers[c], unit, near, trial)
            if t == 0 or left < least:
                least, chosen = left, candidate
                best, trial = trial, best
        _point(points, chosen, centers[c])
        near, best = best, near
        total = least


@inner
def _lloyd(
    points: Floats, unit: Floats, zeros: Floats, tol: float, centers: Floats, labels: Ints
) -> None:
    n_features, n = points.shape
    k = centers.shape[0]
    counts, sums, old = np.empty(k, np.intp), np.empty(k), np.empty(n, np.intp)
    for iteration in range(_MAX_ITER):
        for i in range(n):
            old[i] = labels[i]
        assign(points, n, centers, unit, zeros, labels)
        for c in range(k):
            counts[c] = 0
        n_moved = 0
        for i in range(n):
            counts[labels[i]] += 1
            n_moved += labels[i] != old[i]
        if iteration > 0 and n_moved == 0:
            return
        for c in range(k):
            if counts[c] == 0:
                _relocate(points, c, centers, counts, labels)
        shift = 0.0
        for feature in range(n_features):
            source = points[feature]
            for c in range(k):
                sums[c] = 0.0
            for i in range(n):
                sums[labels[i]] += source[i]
            for c in range(k):
                if counts[c] > 0:
                    gap = sums[c] / counts[c] - centers[c, feature]
                    centers[c, feature] += gap
                    shift += gap * gap
        if shift <= tol:
            return


@inner
def _relocate(points: Floats, empty: int, centers: Floats, counts: Ints, labels: Ints) -> None:
    """Give an empty cluster the point that is farthest from its own center, if any is away."""
    farthest, chosen = 0.0, -1
    for i in range(points.shape[1]):
        distance = 0.0
        for feature in range(points.shape[0]):
            gap = points[feature, i] - centers[labels[i], feature]
            distance += gap * gap
        if distance > farthest and counts[labels[i]] > 1:
            farthest, chosen = distance, i
    if chosen >= 0:
        counts[labels[chosen]] -= 1
        counts[empty] = 1
        labels[chosen] = empty
        _point(points, chosen, centers[empty])


@inner
def _number(labels: Ints, numbered: Ints, place: Ints) -> Any:
    """Number labels in order of first appearance; a fingerprint of the result."""
    for label in range(place.shape[0]):
        place[label] = -1
    n_found = 0
    mark = np.uint64(0)
    for i in range(numbered.shape[0]):
        label = labels[i]
        if place[label] < 0:
            place[label] = n_found
            n_found += 1
        numbered[i] = place[label]
        mark = (mark ^ np.uint64(place[label] + 1)) * np.uint64(0x9E3779B97F4A7C15)
        mark ^= mark >> np.uint64(29)
    return mark


@jit
def kmeans_starts(points: Floats, chance: Floats, labels: Ints) -> int:
    """Run k-means once per row of `labels`, each time from its own first centers.

    Runs that end with the same clusters as an earlier one are left out: the same labels lead
    to the same mixture.

    Parameters
    ----------
    points : ndarray of shape (p, n)
    chance : ndarray of shape (n_init, k, n_trials)
        Uniform random numbers, which decide the first centers.
    labels : ndarray of shape (n_init, n)
        Output: labels of the different results, in order of first appearance.

    Returns
    -------
    int
        Number of different results: the rows of `labels` that are set.
    """
    n_features, n = points.shape
    n_init, k, _ = chance.shape
    unit, zeros = np.ones((k, 1, n_features)), np.zeros(k)
    centers, found = np.empty((k, n_features)), np.empty(n, np.intp)
    place, marks = np.empty(k, np.intp), np.empty(n_init, np.uint64)
    variance = 0.0
    for feature in range(n_features):
        mean = 0.0
        for i in range(n):
            mean += points[feature, i] / n
        for i in range(n):
            gap = points[feature, i] - mean
            variance += gap * gap / n
    n_different = 0
    for init in range(n_init):
        _plus_plus(points, unit[0], chance[init], centers)
        _lloyd(points, unit, zeros, _TOL * variance / n_features, centers, found)
        marks[n_different] = _number(found, labels[n_different], place)
        different = True
        for earlier in range(n_different):
            different = different and marks[earlier] != marks[n_different]
        if different:
            n_different += 1
    return n_different
