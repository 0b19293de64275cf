"""Functional analysis of variance on a full grid, with a random forest (Hutter et al., 2014)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
from sklearn.ensemble import RandomForestRegressor


def fanova(
    values: np.ndarray, *, n_trees: int = 100, bootstrap: bool = True, random_state: int = 0
) -> dict[tuple[int, ...], float]:
    """Share of the variance that each set of axes explains; empty if there is no variance.

    The grid is finite, so the function of each tree is decomposed exactly. The effect of a set of
    axes is the mean over the other axes, minus the effects of all its proper subsets.
    """
    cells = np.indices(values.shape).reshape(values.ndim, -1).T
    forest = RandomForestRegressor(n_trees, bootstrap=bootstrap, random_state=random_state)
    forest.fit(cells, values.ravel())
    shares: list[dict[tuple[int, ...], float]] = []
    for tree in forest.estimators_:
        found = decompose(tree.predict(cells).reshape(values.shape))
        total = sum(found.values())
        if total > 0.0:
            shares.append({axes: variance / total for axes, variance in found.items()})
    if not shares:
        return {}
    return {axes: float(np.mean([share[axes] for share in shares])) for axes in shares[0]}


def decompose(values: np.ndarray) -> dict[tuple[int, ...], float]:
    """Variance of the effect of each non-empty set of axes."""
    everything = range(values.ndim)
    effects: dict[tuple[int, ...], np.ndarray] = {(): values.mean(keepdims=True)}
    for size in range(1, values.ndim + 1):
        for axes in combinations(everything, size):
            others = tuple(axis for axis in everything if axis not in axes)
            effect = values.mean(axis=others, keepdims=True)
            for smaller in range(size):
                for subset in combinations(axes, smaller):
                    effect = effect - effects[subset]
            effects[axes] = effect
    return {axes: float((effect**2).mean()) for axes, effect in effects.items() if axes}
