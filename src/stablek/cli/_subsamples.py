"""How sure is the answer? The same question on subsamples of the rows."""

from __future__ import annotations

from typing import Any

__all__ = ["N_SUBSAMPLES", "ask_subsamples", "counted"]

N_SUBSAMPLES = 20
N_NAMED = 5


def ask_subsamples(selector: Any, X: Any, n_subsamples: int) -> Any:
    """Return the answers of a fitted selector on subsamples; None if they were not asked.

    The structure test, which takes most of the time, is not repeated: its p-value says whether
    there are clusters, the subsamples say how many. So nothing is asked if it found none.
    """
    from sklearn.base import clone

    from stablek.inspection import single_choice
    from stablek.selectors.subsamples import subsample_frequency

    if n_subsamples == 0 or selector.n_clusters_ is None or len(X) < 3:
        return None
    if single_choice(selector):  # every subsample would give the same
        return None
    asked: Any = clone(selector)
    if getattr(selector, "one_cluster", None) == "test":
        if selector.n_clusters_ == 1:
            return None
        asked.set_params(one_cluster="never")
    return subsample_frequency(
        asked, X, n_subsamples, n_jobs=selector.n_jobs, verbose=getattr(selector, "verbose", 0)
    )


def counted(subsamples: Any) -> str:
    """Return how many subsamples give each K.

    Examples
    --------
    >>> from stablek.selectors.subsamples import SubsampleFrequency
    >>> counted(SubsampleFrequency((3, 3, 4, None), 80))
    'K = 3 on 2, 4 on 1, no answer on 1 of 4 subsamples of 80 rows'
    """
    counts = list(subsamples.counts.items())
    parts = [f"{k} on {n}" for k, n in counts[:N_NAMED]]
    rest = sum(n for _, n in counts[N_NAMED:])
    if rest:
        parts.append(f"others on {rest}")
    if None in subsamples.answers:
        parts.append(f"no answer on {subsamples.answers.count(None)}")
    n = len(subsamples.answers)
    named = "K = " if counts else ""
    return f"{named}{', '.join(parts)} of {n} subsamples of {subsamples.n_rows} rows"
