"""The pictures on the pages of the methods: data on which a method is right, and on which not."""

from typing import Any

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import make_blobs, make_moons
from sklearn.mixture import GaussianMixture

from stablek import select_k
from stablek.warning import ignored

CORNERS = [[0, 0], [6, 0], [0, 6]]
PAIRS = [[0, 0], [3, 0], [9, 9], [12, 9]]
TOUCHING = [[0, 0], [3.2, 0], [1.6, 2.8]]


def data_sets() -> dict[str, tuple[int, Any]]:
    """From a name to the true number of clusters and the points, the easiest first."""
    rng = np.random.default_rng(0)
    two = make_blobs(160, centers=[[0, 0], [0, 3]], cluster_std=0.4, random_state=0)[0]
    small = [0.3, 0.3]
    return {
        "three round clusters": (3, make_blobs(150, centers=CORNERS, random_state=0)[0]),
        "two pairs of clusters": (
            4,
            make_blobs(160, centers=PAIRS, cluster_std=0.4, random_state=0)[0],
        ),
        "one large and two small clusters": (
            3,
            make_blobs(
                [150, 20, 20],
                centers=[[0, 0], [7, 0], [7, 3]],
                cluster_std=[1.5, *small],
                random_state=0,
            )[0],
        ),
        "a uniform square": (1, rng.uniform(size=(200, 2))),
        "three clusters that touch": (
            3,
            make_blobs(180, centers=TOUCHING, random_state=0)[0],
        ),
        "two long clusters": (2, two * [8, 1]),
        "two moons": (2, make_moons(160, noise=0.06, random_state=0)[0]),
    }


def choose(method: str, X: Any) -> Any:
    """The fitted selector, with settings that take seconds."""
    options: dict[str, Any] = {"k_range": range(1, 9), "random_state": 0}
    if method == "bic":
        options["clusterer"] = GaussianMixture(n_init=3)
    if method in ("gap_a", "gap_b"):
        options["n_references"] = 20
    with ignored(UserWarning):
        return select_k(X, method=method, **options)


def draw_win(method: str) -> None:
    """Draw the first data set on which the method finds the true K."""
    _draw_first(method, right=True)


def draw_failure(method: str) -> None:
    """Draw the first data set on which it does not."""
    _draw_first(method, right=False)


def _draw_first(method: str, right: bool) -> None:
    for name, (truth, X) in data_sets().items():
        selector = choose(method, X)
        if (selector.n_clusters_ == truth) == right:
            _draw(selector, X, f"{name}: K = {truth}")
            return
    raise ValueError(f"{method} is {'never right' if right else 'always right'}: add a data set")


def _draw(selector: Any, X: Any, title: str) -> None:
    _, (left, middle) = plt.subplots(1, 2, figsize=(9, 3.2), layout="constrained")
    left.scatter(*X.T, s=8, c=selector.labels_, cmap="tab10", vmin=0, vmax=9)
    left.set_title(title, fontsize=10)
    middle.plot(selector.k_values_, selector.scores_, "o-", color="#0072B2")
    answer = selector.n_clusters_
    if answer is None:
        middle.set_title("no answer", fontsize=10)
    else:
        middle.axvline(answer, linestyle=":", color="0.4")
        middle.set_title(f"the answer is {answer}", fontsize=10)
    middle.set(xlabel="K", ylabel="score (higher is better)")
