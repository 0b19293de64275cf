"""Stadion the plain way: scikit-learn estimators, adjusted_rand_score, joblib over K.

What a user would write from the paper, with nothing shared between fits. It is what stablek is
measured against.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import clone
from sklearn.metrics import adjusted_rand_score


def fit(clusterer: Any, name: str, k: int, X: np.ndarray) -> Any:
    model = clone(clusterer).set_params(**{name: k})
    if "random_state" in model.get_params():
        model.set_params(random_state=0)
    return model.fit(X)


def labels_of(model: Any, X: np.ndarray) -> np.ndarray:
    return model.labels_ if hasattr(model, "labels_") else model.predict(X)


def stability(
    X: np.ndarray,
    scale: np.ndarray,
    clusterer: Any,
    name: str,
    k: int,
    epsilons: np.ndarray,
    n_draws: int,
    extend: bool,
) -> np.ndarray:
    """Between stability of X for one K; shape (n_epsilons, n_draws)."""
    model = fit(clusterer, name, k, X)
    reference = labels_of(model, X)
    rng = np.random.default_rng(0)
    similarity = np.empty((len(epsilons), n_draws))
    for e, epsilon in enumerate(epsilons):
        for draw in range(n_draws):
            noisy = X + epsilon * scale * rng.uniform(-1, 1, size=X.shape)
            labels = (
                model.predict(noisy)
                if extend
                else labels_of(fit(clusterer, name, k, noisy), noisy)
            )
            similarity[e, draw] = adjusted_rand_score(reference, labels)
    return similarity


def path(
    X: np.ndarray,
    clusterer: Any,
    name: str,
    k: int,
    omega: range,
    epsilons: np.ndarray,
    n_draws: int,
    extend: bool,
) -> np.ndarray:
    """Stadion path for one K; shape (n_epsilons, n_draws)."""
    scale = X.std(axis=0)
    between = np.ones((len(epsilons), n_draws))
    reference = np.zeros(len(X), dtype=int)
    if k > 1:
        between = stability(X, scale, clusterer, name, k, epsilons, n_draws, extend)
        reference = labels_of(fit(clusterer, name, k, X), X)
    within = np.zeros_like(between)
    for label in np.unique(reference):
        points = X[reference == label]
        inside = [
            stability(points, scale, clusterer, name, k2, epsilons, n_draws, extend)
            for k2 in omega
            if k2 < len(points)
        ]
        within += (np.mean(inside, axis=0) if inside else 1.0) * len(points) / len(X)
    return between - within


def stadion(
    X: np.ndarray,
    clusterer: Any,
    name: str,
    ks: Any,
    omega: range,
    epsilons: np.ndarray,
    n_draws: int,
    extend: bool,
) -> np.ndarray:
    """Stadion paths, (n_k, n_epsilons, n_draws), with all cores over K, the largest first."""
    order = sorted(ks, reverse=True)
    done = Parallel(n_jobs=-1, batch_size=1)(
        delayed(path)(X, clusterer, name, k, omega, epsilons, n_draws, extend) for k in order
    )
    return np.array(done[::-1])
