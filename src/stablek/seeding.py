"""All random numbers come from here. They depend only on the seed and on their purpose.

Noise comes from Philox, a counter-based generator. The number at (seed, draw, row, column) can be
computed without any other number. So results do not depend on the order of the work, the number
of workers or the blocks of rows, and noise need not be stored.
"""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

__all__ = ["entropy_of", "generator", "noise", "row_numbers", "seed"]

_PER_COUNTER = 4  # Philox gives four 64-bit words for each value of its counter


def entropy_of(random_state: Any) -> int:
    """Turn a scikit-learn style ``random_state`` into one integer.

    Parameters
    ----------
    random_state : None, int, numpy RandomState or Generator
        None uses the operating system. A generator is advanced by one draw.

    Returns
    -------
    int
        Non-negative number from which all random numbers are derived.

    Examples
    --------
    >>> entropy_of(0)
    0
    """
    if random_state is None:
        entropy = np.random.SeedSequence().entropy
        assert isinstance(entropy, int)
        return entropy
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**63))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, (int, np.integer)) and not isinstance(random_state, bool):
        if random_state < 0:
            raise ValueError(
                f"random_state must be None, a non-negative int or a numpy generator, "
                f"got {random_state!r}"
            )
        return int(random_state)
    raise ValueError(
        f"random_state must be None, a non-negative int or a numpy generator, got {random_state!r}"
    )


def _sequence(entropy: int, what: tuple[Any, ...]) -> np.random.SeedSequence:
    # A checksum and not hash(), because Python's hash() of a string differs between processes.
    key = tuple(zlib.crc32(repr(word).encode()) for word in what)
    return np.random.SeedSequence(entropy, spawn_key=key)


def generator(entropy: int, *what: Any) -> np.random.Generator:
    """Random generator for one purpose. The same arguments always give the same numbers.

    Examples
    --------
    >>> int(generator(0, "subsample", 3).integers(100)) == int(
    ...     generator(0, "subsample", 3).integers(100)
    ... )
    True
    """
    return np.random.Generator(np.random.Philox(_sequence(entropy, what)))


def seed(entropy: int, *what: Any) -> int:
    """Integer seed for one purpose, valid as a scikit-learn ``random_state``.

    Examples
    --------
    >>> seed(0, "reference", 3) == seed(0, "reference", 3) != seed(0, "reference", 4)
    True
    """
    return int(_sequence(entropy, what).generate_state(1)[0] >> np.uint32(1))


def noise(
    entropy: int, draw: int, n_columns: int, start: int, stop: int, *, gaussian: bool = False
) -> NDArray[np.float64]:
    """Noise of the rows from ``start`` to ``stop``, in one draw.

    Parameters
    ----------
    entropy : int
        From `entropy_of`.
    draw : int
        Number of the perturbed copy.
    n_columns : int
        Number of random columns.
    start, stop : int
        Row numbers in the whole data.
    gaussian : bool
        Whether noise is standard normal instead of uniform on [-1, 1].

    Returns
    -------
    ndarray of shape (stop - start, n_columns)

    Examples
    --------
    >>> whole, part = noise(0, 0, 3, 0, 100), noise(0, 0, 3, 41, 50)
    >>> bool((whole[41:50] == part).all())
    True
    """
    uniform = _uniform(entropy, ("noise", draw), start * n_columns, stop * n_columns)
    uniform = uniform.reshape(-1, n_columns)
    if gaussian:
        # random() can be 0, whose normal quantile is infinite.
        np.maximum(uniform, 2.0**-54, out=uniform)
        return np.asarray(ndtri(uniform, out=uniform))
    uniform *= 2.0
    uniform -= 1.0
    return uniform


def row_numbers(entropy: int, start: int, stop: int, *what: Any) -> NDArray[np.float64]:
    """Uniform number in [0, 1) of each row from ``start`` to ``stop``, for one purpose.

    Examples
    --------
    >>> whole, part = row_numbers(0, 0, 100, "sample"), row_numbers(0, 41, 50, "sample")
    >>> bool((whole[41:50] == part).all())
    True
    """
    return _uniform(entropy, what, start, stop)


def _uniform(entropy: int, what: tuple[Any, ...], first: int, last: int) -> NDArray[np.float64]:
    """Numbers ``first`` to ``last`` of an endless sequence of uniform numbers."""
    bits = np.random.Philox(_sequence(entropy, what))
    counter, skip = divmod(first, _PER_COUNTER)
    bits.advance(counter)
    return np.random.Generator(bits).random(last - first + skip)[skip:]
