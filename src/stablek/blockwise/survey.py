"""The first pass over all rows: what is wrong with them, their moments, and a sample."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np
from numpy.typing import NDArray

from stablek import seeding, validation
from stablek.blockwise.core import Blocks

__all__ = ["Survey", "check_survey", "survey"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass
class Survey:
    """What one pass tells about all rows.

    Parameters
    ----------
    n_rows : int
    mean, squares : ndarray of shape (n_features,)
        Mean, and sum of squared differences from it.
    low, high : ndarray of shape (n_features,)
        Smallest and largest value.
    n_missing, n_infinite : ndarray of shape (n_features,)
        Number of such values.
    first_bad : ndarray of shape (n_features,)
        First row with such a value; -1 if there is none.
    sample_keys, sample_rows, sample : ndarray
        Random number, row number and values of the rows of the sample.
    """

    n_rows: int
    mean: Floats
    squares: Floats
    low: Floats
    high: Floats
    n_missing: Ints
    n_infinite: Ints
    first_bad: Ints
    sample_keys: Floats
    sample_rows: Ints
    sample: Floats

    def merge(self, other: Survey) -> Survey:
        """Add what a pass over later rows tells (Chan's formula for the moments)."""
        n = self.n_rows + other.n_rows
        with np.errstate(all="ignore"):  # values that are not finite are an error later
            gap = other.mean - self.mean
            self.squares += other.squares + gap**2 * (self.n_rows * (other.n_rows / n))
            self.mean += gap * (other.n_rows / n)
        self.n_rows = n
        np.minimum(self.low, other.low, out=self.low)
        np.maximum(self.high, other.high, out=self.high)
        self.n_missing += other.n_missing
        self.n_infinite += other.n_infinite
        self.first_bad = np.where(self.first_bad >= 0, self.first_bad, other.first_bad)
        self.sample_keys = np.concatenate([self.sample_keys, other.sample_keys])
        self.sample_rows = np.concatenate([self.sample_rows, other.sample_rows])
        self.sample = np.concatenate([self.sample, other.sample])
        return self

    @property
    def deviation(self) -> Floats:
        """Standard deviation of each feature; exactly 0 if it is constant."""
        return np.where(self.low == self.high, 0.0, np.sqrt(self.squares / self.n_rows))


def survey(blocks: Blocks, n_sample: int, entropy: int, title: str | None = None) -> Survey:
    """Look at all rows once.

    Parameters
    ----------
    blocks : Blocks
        The data.
    n_sample : int
        Rows of the sample. Whether a row is in it depends on its number and the seed only.
    entropy : int
        From `stablek.seeding.entropy_of`.
    title : str or None
        Title of a progress bar.
    """
    # A bit more than the share that is needed; the surplus is cut off.
    share = min(1.0, (n_sample + 6.0 * np.sqrt(n_sample) + 10.0) / blocks.n_rows)
    found = blocks.reduce(partial(_survey_block, share, entropy), title)
    kept = np.sort(np.argsort(found.sample_keys, kind="stable")[:n_sample])
    found.sample_keys, found.sample_rows = found.sample_keys[kept], found.sample_rows[kept]
    found.sample = np.ascontiguousarray(found.sample[kept])
    return found


def check_survey(found: Survey, names: tuple[str, ...] | None) -> None:
    """Raise the errors and give the warnings that data in memory get."""
    bad = np.flatnonzero(found.first_bad >= 0)
    if len(bad):
        j = int(bad[0])
        validation.raise_not_finite(
            validation.column_name(j, names),
            int(found.n_missing[j]),
            int(found.n_infinite[j]),
            int(found.first_bad[j]),
        )
    validation.check_size(found.low, found.high, found.n_rows * len(found.mean), names)
    validation.warn_tiny(float((found.high - found.low).max()))


def _survey_block(share: float, entropy: int, start: int, X: Floats) -> Survey:
    keys = seeding.row_numbers(entropy, start, start + len(X), "sample")
    chosen = np.flatnonzero(keys < share)
    finite = np.isfinite(X)
    first = np.where(finite.all(axis=0), -1, start + np.argmin(finite, axis=0))
    with np.errstate(all="ignore"):
        gaps = X - X[0]  # from a value of its own size: no digits are lost
        mean = gaps.mean(axis=0)
        gaps -= mean
        squares = np.einsum("ij,ij->j", gaps, gaps)
    return Survey(
        len(X),
        X[0] + mean,
        squares,
        X.min(axis=0),
        X.max(axis=0),
        np.isnan(X).sum(axis=0),
        np.isinf(X).sum(axis=0),
        first,
        keys[chosen],
        start + chosen,
        X[chosen],
    )
