"""How the answer was made: settings, versions, checksum of the data, code to repeat it."""

from __future__ import annotations

import hashlib
import inspect
import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from stablek.report.fitted import Fitted

__all__ = ["checksum", "clusterer", "seed", "settings", "snippet", "versions"]

PACKAGES = ("stablek", "numpy", "scipy", "scikit-learn", "numba", "joblib")
LIMIT = 10_000
"""Most characters of a parameter's value."""


def checksum(X: NDArray[np.float64]) -> str:
    """Return the SHA-256 of the values as 64-bit floats, row by row.

    Examples
    --------
    >>> checksum(np.zeros((1, 1)))[:8]
    'af5570f5'
    """
    return hashlib.sha256(np.ascontiguousarray(X, dtype="<f8").data).hexdigest()


def versions() -> dict[str, str]:
    """Return the versions of Python, the platform and the packages that compute the numbers."""
    found = {"python": platform.python_version(), "platform": platform.platform()}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def seed(fitted: Fitted) -> int | None:
    """Return the ``random_state`` that gives the same bits; None if it is not known."""
    given = getattr(fitted.selector, "random_state", None)
    if isinstance(given, (int, np.integer)):
        return int(given)
    # The selector keeps the seed of the system, or the state of a generator, as one number.
    entropy = getattr(fitted.selector, "_entropy", None)
    return None if entropy is None else int(entropy)


def clusterer(fitted: Fitted) -> str | None:
    """Return the clusterer as code. A selector without one shows that of the answer."""
    given = getattr(fitted.selector, "clusterer", None)
    if given is None:
        given = getattr(fitted.selector, "best_estimator_", None)
    return None if given is None else _code(given)[:LIMIT]


def settings(fitted: Fitted) -> dict[str, str]:
    """Return the parameters of the selector as text."""
    return {
        name: _code(value)[:LIMIT]
        for name, value in fitted.selector.get_params(deep=False).items()
    }


def snippet(fitted: Fitted, load: str | None) -> str:
    """Return Python code that gives the same answer for the same data.

    Parameters
    ----------
    fitted : Fitted
    load : str or None
        Lines that make X. None leaves a placeholder for the reader.
    """
    selector = fitted.selector
    defaults = inspect.signature(type(selector).__init__).parameters
    given = {}
    for name, value in selector.get_params(deep=False).items():
        default = defaults[name].default if name in defaults else inspect.Parameter.empty
        if name not in ("random_state", "n_jobs", "verbose") and _code(value) != _code(default):
            given[name] = _code(value)
    chosen_seed = seed(fitted)
    if chosen_seed is not None:
        given["random_state"] = str(chosen_seed)
    arguments = "".join(f"    {name}={code},\n" for name, code in given.items())
    call = f"{fitted.method}(\n{arguments})" if arguments else f"{fitted.method}()"
    imports = sorted({_import(estimator) for estimator in _estimators(selector)})
    data = load
    if data is None:
        size = (
            "" if fitted.X is None else f": {fitted.X.shape[0]} rows, {fitted.X.shape[1]} columns"
        )
        data = f"X = ...  # your data{size}"
    return "\n".join([*imports, "", data, "", f"selector = {call}.fit(X)"]) + (
        "\nprint(selector.n_clusters_)\n"
    )


def _estimators(selector: Any) -> list[Any]:
    parts = [v for v in selector.get_params().values() if isinstance(v, BaseEstimator)]
    return [selector, *parts]


def _import(estimator: Any) -> str:
    kind = type(estimator)
    # Import from the public package: sklearn.cluster, not sklearn.cluster._kmeans.
    parts = kind.__module__.split(".")
    public = ".".join(parts[: next((i for i, p in enumerate(parts) if p.startswith("_")), None)])
    if parts[0] == "stablek":
        public = "stablek" if kind.__name__ == "Stadion" else "stablek.selectors"
    return f"from {public or kind.__module__} import {kind.__name__}"


def _code(value: Any) -> str:
    """Return a value as Python code if possible; a function by its name."""
    if isinstance(value, BaseEstimator):
        return str(value.__repr__(N_CHAR_MAX=LIMIT))
    if isinstance(value, (np.ndarray, np.generic)):
        return repr(value.tolist())
    if isinstance(value, (list, tuple)):
        inner = ", ".join(_code(item) for item in value)
        return f"[{inner}]"
    if callable(value) and hasattr(value, "__name__"):
        return str(value.__name__)
    return repr(value)
