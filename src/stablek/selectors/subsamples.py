"""How sure is the answer? The same question asked on subsamples of the rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from stablek import seeding, validation
from stablek.execution import run
from stablek.selectors.base import BaseSelector
from stablek.selectors.criterion import CannotJudgeError
from stablek.warning import ignored

__all__ = ["SubsampleFrequency", "subsample_frequency"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class SubsampleFrequency:
    """Answers on subsamples of the rows.

    Parameters
    ----------
    answers : tuple of int or None
        Number of clusters on each subsample; None for an abstention.
    n_rows : int
        Rows of a subsample.
    """

    answers: tuple[int | None, ...]
    n_rows: int

    @property
    def counts(self) -> dict[int, int]:
        """How many subsamples give each number of clusters, the most frequent first."""
        given = [k for k in self.answers if k is not None]
        counts = {k: given.count(k) for k in sorted(set(given))}
        return dict(sorted(counts.items(), key=lambda item: -item[1]))

    def frequency(self, k: int) -> float:
        """Share of the subsamples that give k clusters."""
        return self.answers.count(k) / len(self.answers)


def subsample_frequency(
    selector: BaseSelector,
    X: Any,
    n_subsamples: int = 20,
    fraction: float = 0.8,
    max_rows: int = 10_000,
    *,
    n_jobs: int | None = None,
    verbose: int = 0,
) -> SubsampleFrequency:
    """Count how often a selector chooses each K on subsamples of the rows.

    An answer that depends on which rows happen to be in the data is no answer about what the data
    come from. Other than the selection frequency of `stablek.Stadion`, this shows it.

    Parameters
    ----------
    selector : selector
        Any selector, fitted or not. It is not changed.
    X : array-like or data frame of shape (n_samples, n_features)
        The rows.
    n_subsamples : int, default=20
    fraction : float, default=0.8
        Share of the rows in each subsample. They are drawn without replacement.
    max_rows : int, default=10,000
        Most rows of a subsample.
    n_jobs : int, default=None
        Workers, as in scikit-learn.
    verbose : int, default=0
        1 shows a progress bar.

    Returns
    -------
    SubsampleFrequency

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from stablek.selectors import Silhouette
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> subsample_frequency(Silhouette(random_state=0), X).counts
    {3: 20}
    """
    if not isinstance(selector, BaseSelector):
        raise TypeError(f"selector must be a selector of stablek, got {selector!r}")
    X = validation.check_data(X)
    n_subsamples = validation.check_count("n_subsamples", n_subsamples)
    if not isinstance(fraction, (int, float)) or not 0.0 < fraction < 1.0:
        raise ValueError(f"fraction must be a number between 0 and 1, got {fraction!r}")
    size = min(int(fraction * len(X)), validation.check_count("max_rows", max_rows, 2))
    if size < 2:
        raise ValueError(f"fraction={fraction!r} of {len(X)} rows leaves {size}: use more of them")
    entropy = seeding.entropy_of(selector.random_state)
    tasks = [(selector, X, size, entropy, number) for number in range(n_subsamples)]
    with ignored(UserWarning):  # users have seen them on the whole data
        progress = "subsamples" if verbose else None
        answers = run(_answer, tasks, n_jobs=n_jobs, prefer="threads", progress=progress)
    return SubsampleFrequency(tuple(answers), size)


def _answer(selector: BaseSelector, X: Floats, size: int, entropy: int, number: int) -> int | None:
    rng = seeding.generator(entropy, "subsample rows", number)
    rows = np.sort(rng.choice(len(X), size, replace=False))
    own: Any = clone(selector)
    own._answers_only = True
    options: dict[str, Any] = {"random_state": seeding.seed(entropy, "subsample", number)}
    options["n_jobs"] = 1
    if "verbose" in own.get_params(deep=False):
        options["verbose"] = 0
    if own.param_name is None and own.k_range is not None:
        largest = validation.n_distinct(X[rows], max(own.k_range))
        options["k_range"] = [k for k in own.k_range if k <= largest]
        if not options["k_range"]:
            return None
    try:
        found = own.set_params(**options).fit(X[rows]).n_clusters_
    except CannotJudgeError:
        return None
    return None if found is None else int(found)
