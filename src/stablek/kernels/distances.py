"""Passes over all pairs of points in memory proportional to the number of points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from stablek.kernels.compiling import jit, jit_sums

__all__ = ["diameter", "distance_sums", "pair_sums", "squared_distance"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]

_LANES = 8  # points that share one pass over X, and one vector addition per atom


@jit_sums
def squared_distance(x: Floats, y: Floats) -> float:
    """Squared Euclidean distance of two points of many features."""
    total = 0.0
    for feature in range(x.shape[0]):
        gap = x[feature] - y[feature]
        total += gap * gap
    return total


@jit
def distance_sums(
    points: Floats, X: Floats, atom_stops: Ints, columns: Ints, n_columns: int
) -> Floats:
    """Sums of the distances of points to every cluster of every partition of X.

    Distances are summed once per atom, a set of points that no partition separates, and the
    sums of atoms then once per partition.

    Parameters
    ----------
    points : ndarray of shape (n_points, p)
        Points from which to measure.
    X : ndarray of shape (n, p)
        Clustered points, sorted such that each atom is one run.
    atom_stops : ndarray of shape (n_atoms,)
        End of each run.
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
        start = 0
        for atom in range(atom_stops.shape[0]):
            atom_sum[:] = 0.0
            for j in range(start, atom_stops[atom]):
                for lane in range(n_lanes):
                    atom_sum[lane] += np.sqrt(squared_distance(points[row + lane], X[j]))
            for partition in range(columns.shape[1]):
                column = columns[atom, partition]
                for lane in range(_LANES):
                    sums[column, lane] += atom_sum[lane]
            start = atom_stops[atom]
        for lane in range(n_lanes):
            for column in range(n_columns):
                result[row + lane, column] = sums[column, lane]
    return result


@jit_sums
def pair_sums(columns: Floats, stops: Ints) -> Floats:
    """Sum of the distances of all pairs of points of each cluster.

    Parameters
    ----------
    columns : ndarray of shape (p, n)
        Points, sorted such that each cluster is one run.
    stops : ndarray of shape (n_clusters,)
        End of each run.
    """
    result = np.zeros(stops.shape[0])
    squared = np.empty(columns.shape[1])
    start = 0
    for cluster in range(stops.shape[0]):
        for i in range(start, stops[cluster]):
            first, count = np.uint64(i + 1), np.uint64(stops[cluster] - i - 1)
            for feature in range(columns.shape[0]):
                value = columns[feature, i]
                for j in range(count):
                    gap = columns[feature, first + j] - value
                    squared[j] = gap * gap if feature == 0 else squared[j] + gap * gap
            total = 0.0
            for j in range(count):
                total += np.sqrt(squared[j])
            result[cluster] += total
        start = stops[cluster]
    return result


@jit
def diameter(X: Floats, radius: Floats) -> float:
    """Largest distance between two of the points.

    Two points are no farther apart than the sum of their distances to any third: with the
    points sorted by that distance most pairs need no look.

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
