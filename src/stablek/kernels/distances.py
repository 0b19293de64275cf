"""Sums and extremes over all pairs of points, in memory proportional to the number of points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import inner_reordered, jit, jit_reordered

__all__ = ["diameter", "distance_sums", "pair_sums", "squared_distance"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_LANES = 8  # points that share one pass over X and fill one vector


@inner_reordered
def squared_distance(x: Floats, y: Floats) -> float:
    """Squared Euclidean distance of two points."""
    total = 0.0
    for feature in range(x.shape[0]):
        gap = x[feature] - y[feature]
        total += gap * gap
    return total


@jit
def distance_sums(
    points: Floats, X: Floats, atom_starts: Ints, columns: Ints, n_columns: int
) -> Floats:
    """Sum the distances from points to every cluster of every partition of X.

    An atom is a set of points that no partition separates. Distances are summed over each atom
    once. Each partition then adds up the sums of its atoms.

    Parameters
    ----------
    points : ndarray of shape (n_points, p)
        Points to measure from.
    X : ndarray of shape (n, p)
        Clustered points, sorted so that each atom is one run.
    atom_starts : ndarray of shape (n_atoms + 1,)
        Start of each run, and the end of the last.
    columns : ndarray of shape (n_atoms, n_partitions)
        The cluster of each atom in each partition, as a column of the result.
    n_columns : int
        Number of clusters of all partitions together.

    Returns
    -------
    ndarray of shape (n_points, n_columns)
    """
    n_points = points.shape[0]
    result = np.empty((n_points, n_columns))
    sums = np.empty((n_columns, _LANES))
    atom_sum = np.empty(_LANES)
    for row in range(0, n_points, _LANES):
        n_lanes = min(_LANES, n_points - row)
        sums[:] = 0.0
        for atom in range(atom_starts.shape[0] - 1):
            atom_sum[:] = 0.0
            for j in range(atom_starts[atom], atom_starts[atom + 1]):
                for lane in range(n_lanes):
                    atom_sum[lane] += np.sqrt(squared_distance(points[row + lane], X[j]))
            for partition in range(columns.shape[1]):
                column = columns[atom, partition]
                for lane in range(_LANES):
                    sums[column, lane] += atom_sum[lane]
        for lane in range(n_lanes):
            for column in range(n_columns):
                result[row + lane, column] = sums[column, lane]
    return result


@jit_reordered
def pair_sums(columns: Floats, starts: Ints) -> Floats:
    """Sum the distances of all pairs of points inside each cluster.

    Parameters
    ----------
    columns : ndarray of shape (p, n)
        Points, feature by feature, sorted so that each cluster is one run.
    starts : ndarray of shape (n_clusters + 1,)
        Start of each run, and the end of the last.
    """
    result = np.zeros(starts.shape[0] - 1)
    squared = np.empty(columns.shape[1])
    for cluster in range(starts.shape[0] - 1):
        for i in range(starts[cluster], starts[cluster + 1]):
            first, count = np.uint64(i + 1), np.uint64(starts[cluster + 1] - i - 1)
            for feature in range(columns.shape[0]):
                value = columns[feature, i]
                for j in range(count):
                    gap = columns[feature, first + j] - value
                    squared[j] = gap * gap if feature == 0 else squared[j] + gap * gap
            total = 0.0
            for j in range(count):
                total += np.sqrt(squared[j])
            result[cluster] += total
    return result


@jit
def diameter(X: Floats, radius: Floats) -> float:
    """Largest distance between two of the points.

    The distance of two points is at most the sum of their radii. The points are sorted by radius,
    so most pairs are ruled out without computing their distance.

    Parameters
    ----------
    X : ndarray of shape (n, p)
        Points, sorted by decreasing radius.
    radius : ndarray of shape (n,)
        Their distances to one common point.
    """
    n = X.shape[0]
    best = 0.0
    for i in range(n - 1):
        if radius[i] + radius[i + 1] <= best:
            break
        for j in range(i + 1, n):
            if radius[i] + radius[j] <= best:
                break
            squared = squared_distance(X[i], X[j])
            if squared > best * best:
                best = np.sqrt(squared)
    return best
