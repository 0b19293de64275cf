"""Labels that users give: numbers or names, with noise."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.validation import check_unmasked

__all__ = ["check_labels"]


def check_labels(labels: Any, n_samples: int) -> NDArray[np.intp]:
    """Labels of the rows of X as integers; -1 marks noise.

    Whole numbers stay as they are, other labels become 0, 1, ... in sorted order. Noise is any
    number below 0, or the text "-1". Missing labels are an error.

    Examples
    --------
    >>> check_labels(["b", "-1", "a", "b"], 4)
    array([ 1, -1,  0,  1])
    >>> check_labels([7.0, -1.0, 7.0], 3)
    array([ 7, -1,  7])
    """
    check_unmasked("labels", labels)
    array = np.asarray(labels)
    if array.shape != (n_samples,):
        raise ValueError(
            f"labels must have one entry for each of the {n_samples} rows of X, "
            f"got shape {array.shape}"
        )
    _check_not_missing(array)
    if array.dtype.kind == "O":
        array = np.asarray(array.tolist())  # numbers; or text, if the types are mixed
    if array.dtype.kind == "f" and (array == np.floor(array)).all() and np.isfinite(array).all():
        array = array.astype(np.intp)
    if array.dtype.kind in "iub":
        codes = array.astype(np.intp)
        return np.where(codes < 0, -1, codes)
    noise = np.zeros(n_samples, dtype=bool)
    if array.dtype.kind in "fUS":
        noise = array < 0 if array.dtype.kind == "f" else np.char.strip(array.astype(str)) == "-1"
    codes = np.full(n_samples, -1, dtype=np.intp)
    codes[~noise] = np.unique(array[~noise], return_inverse=True)[1]
    return codes


def _check_not_missing(labels: NDArray[Any]) -> None:
    if labels.dtype.kind == "O":
        missing = np.array([_is_missing(label) for label in labels], dtype=bool)
    else:
        missing = labels != labels  # NaN and NaT
    if missing.any():
        row = int(np.argmax(missing))
        raise ValueError(
            f"labels has no label for row {row}, got {labels[row]}; leave the row out of X and "
            f"of labels, or label it -1 for noise"
        )


def _is_missing(label: Any) -> bool:
    try:
        return label is None or bool(label != label)
    except TypeError:
        return True  # pandas.NA has no truth value
