"""Checks of user input: one clear exception that says what to do."""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Sequence
from inspect import isclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.base import BiclusterMixin
from sklearn.utils import check_array
from sklearn.utils.validation import _get_feature_names, validate_data

from stablek.suggesting import did_you_mean
from stablek.warning import warn_user

__all__ = [
    "check_choice",
    "check_clusterer",
    "check_count",
    "check_data",
    "check_distinct",
    "check_epsilons",
    "check_flag",
    "check_k_range",
    "check_no_text",
    "check_omega",
    "check_size",
    "check_tol",
    "check_unmasked",
    "column_name",
    "column_names",
    "n_distinct",
    "raise_not_finite",
    "warn_tiny",
]

Floats = NDArray[np.float64]

LARGEST_NORM = 1e153
"""Squared distances of larger data overflow."""

SMALLEST_SPREAD = 1e-145
"""Squared distances of data with a smaller spread lose digits or become zero."""


def check_data(
    X: Any,
    estimator: Any = None,
    *,
    reset: bool = True,
    min_samples: int = 2,
    single: bool = False,
) -> Floats:
    """Data as a C-contiguous float64 array, or an error that names the column at fault.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        A list, NumPy array, pandas or polars frame, or Arrow table of numbers.
    estimator : estimator or None
        Gets ``n_features_in_`` and ``feature_names_in_`` when ``reset``; is compared with them
        otherwise.
    reset : bool
        Whether this is the data that the estimator is fitted on.
    min_samples : int
        Fewest rows allowed.
    single : bool
        Whether float32 stays float32.
    """
    if issparse(X):
        raise TypeError(
            "X is a sparse matrix, and stablek needs dense numbers. Reduce it first:\n"
            "    svd = TruncatedSVD(n_components=50, random_state=0)\n"
            "    make_pipeline(svd, Stadion()).fit(X)\n"
            "For texts, use Stadion(SphericalKMeans()) there"
        )
    names = column_names(X)
    check_unmasked("X", X)
    _check_no_dates(X)
    _check_columns_numeric(X, names)
    options: dict[str, Any] = {
        "dtype": [np.float64, np.float32] if single else np.float64,
        "order": "C",
        "ensure_all_finite": False,
        "ensure_min_samples": min_samples,
    }
    try:
        if estimator is None:
            checked = check_array(X, input_name="X", **options)
        else:
            checked = validate_data(estimator, X, reset=reset, **options)
    except OverflowError:
        raise ValueError(
            "X has numbers that are too large for a float: squared distances overflow. "
            "Rescale the columns first"
        ) from None
    array: Floats = np.asarray(checked)
    _check_finite(array, names)
    if reset:
        warn_tiny(float(np.ptp(array, axis=0).max()))
    return array


def column_names(X: Any) -> list[str] | None:
    """Names of the columns of a frame or table; None if it has none."""
    # Arrow tables call them column_names; scikit-learn reads the other frames' names.
    if hasattr(X, "column_names"):
        return [str(name) for name in X.column_names]
    try:
        names = _get_feature_names(X)
    except TypeError:
        return None  # names that are not all strings; scikit-learn says so itself
    return None if names is None else [str(name) for name in names]


def column_name(column: int, names: Sequence[str] | None) -> str:
    """How messages name a column."""
    return f"column {column}" if names is None else f"column {names[column]!r}"


def _check_columns_numeric(X: Any, names: list[str] | None) -> None:
    """Name the columns of a frame that hold no numbers."""
    if not hasattr(X, "columns"):
        return
    labels = list(X.columns) if names is None else names  # pandas may name columns by numbers
    bad = []
    for j, name in enumerate(labels):
        column = X.column(j) if hasattr(X, "column") else X[name]
        if getattr(getattr(column, "dtype", None), "kind", "") == "b":
            continue  # also pandas' booleans with missing values, which NumPy takes for objects
        values = np.asarray(column)
        if values.dtype.kind in "OUSMm":
            try:
                values.astype(np.float64)
            except (TypeError, ValueError):
                bad.append(name)
            except OverflowError:
                pass  # a number, but too large: reported later
            else:
                if values.dtype.kind in "Mm":
                    bad.append(name)
    check_no_text(bad)


def check_no_text(columns: Sequence[str]) -> None:
    """Raise if there are columns without numbers."""
    if columns:
        raise ValueError(
            f"X has columns that are not numeric: {list(columns)}. Drop or encode them first"
        )


def _check_no_dates(X: Any) -> None:
    kind = getattr(getattr(X, "dtype", None), "kind", "")
    if kind in ("M", "m"):
        raise ValueError(
            f"X has the type {X.dtype}, which is not numeric; turn dates and durations into "
            f"numbers first, for example with X.astype('int64')"
        )


def _check_finite(X: Floats, names: list[str] | None) -> None:
    finite = np.isfinite(X)
    if not finite.all():
        column = int(np.argmax(~finite.all(axis=0)))
        values = X[:, column]
        missing, infinite = int(np.isnan(values).sum()), int(np.isinf(values).sum())
        first = int(np.argmax(~finite[:, column]))
        raise_not_finite(column_name(column, names), missing, infinite, first)
    check_size(X.min(axis=0), X.max(axis=0), X.size, names)


def raise_not_finite(column: str, missing: int, infinite: int, first_row: int) -> None:
    """Raise an error that counts the values of a column that are not finite."""
    what = f"{missing} NaN" if missing else f"{infinite} infinite"
    both = f"{missing} NaN and {infinite} infinite" if missing and infinite else what
    raise ValueError(
        f"X has {both} value(s) in {column}, the first in row {first_row}; stablek needs finite "
        f"numbers (no NaN, no inf): drop or impute them first"
    )


def check_size(low: Floats, high: Floats, n_values: int, names: Sequence[str] | None) -> None:
    """Raise if squared distances of values between ``low`` and ``high`` overflow."""
    size = np.maximum(high, -low)
    largest = float(size.max())
    if largest > LARGEST_NORM / np.sqrt(n_values):
        column = int(np.argmax(size))
        raise ValueError(
            f"X has values as large as {largest:.3g} in {column_name(column, names)}: squared "
            f"distances overflow. Rescale the column first"
        )


def n_distinct(X: Floats, enough: int) -> int:
    """Count the distinct rows of X, up to ``enough``.

    Examples
    --------
    >>> n_distinct(np.array([[1.0], [1.0], [2.0]]), 10)
    2
    """
    seen: set[bytes] = set()
    for row in X:
        seen.add((row + 0.0).tobytes())  # adding 0.0 turns -0.0 into 0.0
        if len(seen) >= enough:
            break
    return len(seen)


def warn_tiny(spread: float) -> None:
    """Warn if squared distances of data with that spread lose digits."""
    if 0.0 < spread < SMALLEST_SPREAD:
        warn_user(
            f"X has a spread of only {spread:.3g} in its widest column: squared distances lose "
            f"digits or become zero. Rescale X first, for example with StandardScaler"
        )


def check_distinct(X: Floats, k: int) -> None:
    """Raise if X has fewer distinct rows than the number of clusters asked for."""
    found = n_distinct(X, k)
    if found < k:
        raise ValueError(
            f"k_range asks for K = {k} clusters but X has only {found} distinct rows; "
            f"use k_range=range(1, {found + 1})"
        )


def check_clusterer(clusterer: Any) -> None:
    """Raise unless it is an estimator instance that can cluster."""
    if isclass(clusterer):
        raise TypeError(
            f"clusterer must be an instance, got the class {clusterer.__name__}; "
            f"pass {clusterer.__name__}()"
        )
    missing = [
        name for name in ("fit", "get_params", "set_params") if not hasattr(clusterer, name)
    ]
    if missing:
        raise TypeError(
            f"clusterer must be a scikit-learn style estimator, got {clusterer!r} "
            f"without {', '.join(missing)}; pass one such as sklearn.cluster.KMeans()"
        )
    for name, value in clusterer.get_params().items():
        if isinstance(value, str) and value.startswith("precomputed"):
            raise ValueError(
                f"clusterer has {name}={value!r}, but stablek adds noise to points and needs the "
                f"points, not their distances. Turn the distances into points first, for example "
                f"with sklearn.manifold.MDS, and cluster these with the Euclidean distance"
            )
    if isinstance(_last_step(clusterer), BiclusterMixin):
        raise TypeError(
            f"clusterer must give each row one label, got {clusterer!r}, which clusters rows and "
            f"columns together"
        )


def _last_step(clusterer: Any) -> Any:
    """The step of a Pipeline that clusters; any other clusterer itself."""
    while hasattr(clusterer, "steps"):
        clusterer = clusterer.steps[-1][1]
    return clusterer


def _values(name: str, values: Any) -> tuple[Any, ...]:
    if isinstance(values, (str, bytes)) or not isinstance(values, Iterable):
        raise ValueError(
            f"{name} must be a sequence of values, got {values!r}; pass one such as range(2, 6)"
        )
    listed = tuple(v.item() if isinstance(v, np.generic) else v for v in values)
    if not listed:
        raise ValueError(
            f"{name} must hold at least one value, got an empty sequence (an iterator is empty "
            f"after its first use: pass a list)"
        )
    if len(set(listed)) < len(listed):
        raise ValueError(f"{name} must not repeat values, got {list(listed)}")
    return listed


def _integers(name: str, values: tuple[Any, ...], smallest: int) -> None:
    for value in values:
        if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < smallest:
            raise ValueError(f"{name} must hold integers of at least {smallest}, got {value!r}")
    if any(a > b for a, b in pairwise(values)):
        raise ValueError(f"{name} must be in ascending order, got {list(values)}")


def check_k_range(k_range: Any, n_samples: int, *, values_are_k: bool = True) -> tuple[Any, ...]:
    """Candidates as a tuple; ascending integers of at most n_samples where they count clusters."""
    values = _values("k_range", k_range)
    if values_are_k:
        _integers("k_range", values, 1)
        if values[-1] > n_samples:
            raise ValueError(
                f"k_range asks for K = {values[-1]} clusters but X has n_samples = {n_samples}; "
                f"use k_range=range({min(values[0], n_samples)}, {n_samples + 1})"
            )
    return values


def check_omega(omega: Any, *, values_are_k: bool = True) -> tuple[Any, ...]:
    """Re-clustering values as a tuple; ascending integers above 1 where they count clusters."""
    values = _values("omega", omega)
    if values_are_k:
        _integers("omega", values, 2)
    return values


def check_epsilons(epsilons: Any, levels: str) -> Floats | None:
    """Noise levels as an array; None for "auto"."""
    if isinstance(epsilons, str):
        if epsilons == "auto":
            return None
        raise ValueError(f"epsilons must be 'auto' or an ascending sequence, got {epsilons!r}")
    try:
        array = np.asarray(epsilons, dtype=float)
    except (TypeError, ValueError, OverflowError):
        array = np.empty(0)
    if array.ndim != 1 or not len(array):
        raise ValueError(
            f"epsilons must be 'auto' or a non-empty 1-D sequence of numbers, got {epsilons!r}"
        )
    if not np.isfinite(array).all() or (array < 0).any():
        raise ValueError(f"epsilons must be finite and not negative, got {array.tolist()}")
    if (np.diff(array) <= 0).any():
        raise ValueError(f"epsilons must be in ascending order, got {array.tolist()}")
    if not array[-1] > 0:
        raise ValueError("epsilons must hold a level above 0: epsilon 0 decides nothing")
    if levels == "share" and array[-1] >= 1:
        raise ValueError(
            f"epsilons are the share that this perturbation leaves out and must be below 1, "
            f"got {array[-1]:g}"
        )
    if levels == "single":
        raise ValueError("epsilons must be 'auto': this perturbation has one level only")
    return array


def check_count(name: str, value: Any, smallest: int = 1) -> int:
    """A whole number of at least ``smallest``."""
    if not isinstance(value, numbers.Integral) or isinstance(value, bool) or value < smallest:
        raise ValueError(f"{name} must be an integer of at least {smallest}, got {value!r}")
    return int(value)


def check_tol(tol: Any) -> float:
    """A finite tolerance of at least 0."""
    if not isinstance(tol, numbers.Real) or not 0.0 <= float(tol) < np.inf:
        raise ValueError(f"tol must be a finite number of at least 0, got {tol!r}")
    return float(tol)


def check_choice(name: str, value: Any, choices: Iterable[str]) -> str:
    """One of a few names."""
    known = list(choices)
    if not isinstance(value, str) or value not in known:
        raise ValueError(
            f"{name} must be one of {known}, got {value!r}{did_you_mean(value, known)}"
        )
    return value


def check_flag(name: str, value: Any) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise ValueError(f"{name} must be True or False, got {value!r}")
    return bool(value)


def check_unmasked(name: str, values: Any) -> None:
    """Raise if values are masked: NumPy would use what is behind the mask."""
    if np.ma.isMaskedArray(values) and np.ma.getmaskarray(values).any():
        n_masked = int(np.ma.getmaskarray(values).sum())
        raise ValueError(
            f"{name} is a masked array with {n_masked} masked value(s); drop or fill them first, "
            f"for example with {name}.filled(...)"
        )
