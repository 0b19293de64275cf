"""``stablek warmup``: compile the kernels that fits with default settings use."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter
from typing import Any

import numpy as np

from stablek.cli._models import make_clusterer

__all__ = ["default_fits", "run"]


def run(args: argparse.Namespace) -> None:
    """Fit small data once in each way."""
    started = perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the data mean nothing, and their answers neither
        for title, fit in default_fits():
            print(f"{title} ...", flush=True)
            fit()
    print(f"The kernels are ready ({perf_counter() - started:.0f} s).")


def default_fits(n: int = 140, seed: int = 0) -> Iterator[tuple[str, Callable[[], Any]]]:
    """Name and run each way in which a fit with default settings can compile a kernel."""
    from sklearn.mixture import GaussianMixture

    from stablek import SVDGaussianMixture, compare
    from stablek.selectors.registry import SELECTORS
    from stablek.selectors.stadion import Stadion

    rng = np.random.default_rng(seed)
    plane = rng.normal(size=(n, 2)) + np.repeat([[0.0], [6.0]], [n // 2, n - n // 2], axis=0)
    wide = rng.normal(size=(n // 3, n))
    shapes = {"2 columns": plane, "1 column": plane[:, :1], "many columns": wide}
    names = ("kmeans", "gmm", "ward", "average", "complete", "single")
    clusterers = {name: make_clusterer(name) for name in names}
    clusterers |= {
        "GaussianMixture": GaussianMixture(),
        "SVDGaussianMixture": SVDGaussianMixture(),
    }
    # Few candidates and draws use the same kernels as many.
    few: dict[str, Any] = {"k_range": range(1, 5), "n_perturbations": 2, "random_state": 0}
    for name, clusterer in clusterers.items():
        for shape, X in shapes.items():
            yield f"{name}, {shape}", partial(Stadion(clusterer, **few).fit, X)
    methods = list(SELECTORS)
    yield "every method", partial(compare, plane, methods, k_range=range(1, 5), random_state=0)
