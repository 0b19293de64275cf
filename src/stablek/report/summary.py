"""The summary: one plain dict behind all formats of the report."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import is_dataclass
from typing import Any

import numpy as np

from stablek.inspection import (
    contenders,
    deciding_crossing,
    own_values,
    peak_level,
    reference_band,
    stability_curves,
)
from stablek.report import provenance
from stablek.report.answer import headline, is_weak, reasons, sentence
from stablek.report.cautions import cautions
from stablek.report.fitted import Fitted
from stablek.report.partitions import chosen_clusters, describe_partitions
from stablek.report.rivals import rivals
from stablek.results import StructureTest
from stablek.selectors.subsamples import SubsampleFrequency
from stablek.validation import check_data

__all__ = ["describe_answer", "summarize"]

COMPARED = (
    "clusterer",
    "method",
    "n_clusters",
    "score",
    "own_value",
    "seconds",
    "agreement",
    "stadion_agreement",
    "reason",
)


def summarize(
    selector: Any,
    X: Any = None,
    comparison: Any = None,
    *,
    subsamples: SubsampleFrequency | None = None,
    source: str | None = None,
    load: str | None = None,
    ids: Sequence[str] | None = None,
) -> dict[str, Any]:
    """Collect the content of the report as a plain dict that JSON can hold.

    Parameters
    ----------
    selector : selector
        Fitted. `stablek.Stadion` gives the whole report, other selectors give a part of it.
    X : array-like or data frame of shape (n_samples, n_features), default=None
        Values to show, such as those before scaling, in the same row order. None uses the data
        that the selector was fitted on, if it keeps them.
    comparison : Comparison, data frame or rows, default=None
        Answers of other methods, as `stablek.compare` gives them, or rows (dicts) with
        ``method``, ``n_clusters`` and some of ``clusterer``, ``score``, ``seconds``,
        ``agreement``, ``stadion_agreement``, ``reason``.
    subsamples : SubsampleFrequency, default=None
        How often each K is the answer on subsamples of the rows, from
        `stablek.subsample_frequency`.
    source : str, default=None
        Name of the data, such as a file name.
    load : str, default=None
        Python lines that make X, for the code snippet.
    ids : sequence of str, default=None
        Names of the rows. None shows row numbers.

    Returns
    -------
    dict
        It holds dicts, lists, strings, booleans, None and finite numbers. An infinite score is
        the string "inf" or "-inf", an undefined score is None.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from stablek import Stadion
    >>> X, _ = make_blobs(200, centers=[[0, 0], [12, 0]], random_state=0)
    >>> selector = Stadion(k_range=range(1, 4), n_perturbations=3, random_state=0).fit(X)
    >>> summarize(selector)["answer"]["sentence"]
    '2 clusters (p < 0.001 against no structure). Next best: 3.'
    """
    fitted = Fitted(selector, subsamples)
    shown, names = _shown(fitted, X)
    if ids is not None and shown is not None and len(ids) != len(shown):
        raise ValueError(f"ids must name each of the {len(shown)} rows, got {len(ids)}")
    parts = describe_partitions(fitted, shown, names, ids)
    paths = None if fitted.paths is None else _paths(selector)
    data = shown if fitted.X is None else fitted.X
    n_rows, n_columns = (None, None) if data is None else data.shape
    summary = {
        "schema": 1,
        "answer": _answer(fitted),
        "method": fitted.method,
        "parameter": fitted.parameter,
        "selected": fitted.selected,
        "contenders": contenders(fitted.scores, fitted.selected),
        "own_quantity": (own_values(selector) or (None,))[0],
        "candidates": _candidates(fitted, parts["partitions"], paths),
        "paths": paths,
        "structure": _structure(fitted.test),
        "subsamples": _subsamples(subsamples),
        **parts,
        "comparison": None if comparison is None else _compared(comparison),
        "clusterer": provenance.clusterer(selector),
        "settings": provenance.settings(selector),
        "seed": provenance.seed(selector),
        "relabel": getattr(selector, "relabel_", None),
        "versions": provenance.versions(),
        "data": {
            "source": source,
            "n_rows": n_rows if fitted.n_rows is None else fitted.n_rows,
            "n_columns": n_columns,
            "sha256": None if data is None else provenance.checksum(data),
        },
        "seconds": getattr(selector, "_seconds", None),
        "snippet": provenance.snippet(fitted, load),
    }
    plain: dict[str, Any] = _plain(summary)
    # A seed may have too many digits for a number in JSON.
    plain["seed"] = None if summary["seed"] is None else str(summary["seed"])
    return plain


def describe_answer(selector: Any, subsamples: SubsampleFrequency | None = None) -> dict[str, Any]:
    """Collect only the answer of `summarize`, in a fraction of its time.

    Parameters
    ----------
    selector : selector
        Fitted.
    subsamples : SubsampleFrequency, default=None
        As in `summarize`.

    Returns
    -------
    dict
        What `summarize` has under ``"answer"``.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> from stablek.selectors import Silhouette
    >>> X, _ = make_blobs(90, centers=[[0, 0], [12, 0]], random_state=0)
    >>> describe_answer(Silhouette(k_range=range(2, 5), random_state=0).fit(X))["sentence"]
    '2 clusters. Next best: 3.'
    """
    answer: dict[str, Any] = _plain(_answer(Fitted(selector, subsamples)))
    return answer


def _shown(fitted: Fitted, X: Any) -> tuple[Any, Any]:
    """Points to show and the names of their columns."""
    names = getattr(fitted.selector, "feature_names_in_", None)
    if X is None:
        return fitted.X, names
    shown = check_data(X)
    if fitted.labels is not None and len(shown) != len(fitted.labels):
        raise ValueError(
            f"X has {len(shown)} rows, but the selector was fitted on {len(fitted.labels)}"
        )
    return shown, _names(X) or names


def _answer(fitted: Fitted) -> dict[str, Any]:
    return {
        "n_clusters": fitted.n_clusters,
        "value": getattr(fitted.selector, "best_value_", fitted.n_clusters),
        "runner_up": None if fitted.runner_up is None else fitted.values[fitted.runner_up],
        "frequency": fitted.answer_frequency,
        "weak": is_weak(fitted),
        "headline": headline(fitted),
        "sentence": sentence(fitted),
        "reasons": reasons(fitted),
        "rivals": rivals(fitted),
        "cautions": cautions(fitted, chosen_clusters(fitted)),
    }


def _paths(selector: Any) -> dict[str, Any]:
    return {
        "epsilons": selector.epsilons_,
        "counted": selector.counted_levels_,
        "peak": peak_level(selector),
        "crossing_epsilon": deciding_crossing(selector),
        **stability_curves(selector),
    }


def _structure(test: StructureTest | None) -> dict[str, Any] | None:
    """The structure test, with the range of the reference sets of the kind that decides."""
    if test is None:
        return None
    low, high = reference_band(test)
    return {
        "pvalue": test.pvalue,
        "alpha": test.alpha,
        "kind": test.kind,
        "pvalues": test.pvalues,
        "statistic": test.statistic,
        "statistics": test.statistics,
        "reference_statistics": test.reference_statistics,
        "valley": test.valley,
        "valley_pvalues": test.valley_pvalues,
        "reference_valleys": test.reference_valleys,
        "k_values": test.k_values,
        "epsilons": test.epsilons,
        "reference_low": low,
        "reference_high": high,
        "n_rows": test.n_rows,
        "n_reference_sets": len(test.reference_statistics[test.kind]),
    }


def _subsamples(subsamples: SubsampleFrequency | None) -> dict[str, Any] | None:
    if subsamples is None:
        return None
    return {
        "counts": subsamples.counts,
        "n_subsamples": len(subsamples.answers),
        "n_rows": subsamples.n_rows,
    }


def _candidates(
    fitted: Fitted, partitions: list[dict[str, Any]], paths: dict[str, Any] | None
) -> list[dict[str, Any]]:
    found = {p["candidate"]: p["n_clusters"] for p in partitions}
    own = own_values(fitted.selector)
    rows = [
        {
            "value": value,
            "n_clusters": found.get(position),
            "score": fitted.scores[position],
            "own_value": None if own is None else own[1][position],
            "frequency": None if fitted.frequency is None else fitted.frequency[position],
            "selected": position == fitted.selected,
        }
        for position, value in enumerate(fitted.values)
    ]
    if paths is not None:
        for position, row in enumerate(rows):
            for name in ("between", "within", "stadion"):
                row[f"mean_{name}"] = paths[name][position, paths["counted"]].mean()
            scored = not np.isnan(row["score"])
            row["peak_stadion"] = paths["stadion"][position, paths["peak"]] if scored else None
    return rows


def _compared(comparison: Any) -> list[dict[str, Any]]:
    rows = getattr(comparison, "rows", comparison)
    if hasattr(rows, "to_dicts"):  # polars
        rows = rows.to_dicts()
    elif hasattr(rows, "to_dict"):  # pandas
        rows = rows.to_dict("records")
    elif isinstance(rows, Mapping):
        rows = [{"method": name, **row} for name, row in rows.items()]
    found = []
    for row in rows:
        row = vars(row) if is_dataclass(row) else row
        if "method" not in row or "n_clusters" not in row:
            raise ValueError(
                f"comparison: each row needs 'method' and 'n_clusters', got {sorted(row)}"
            )
        kept = {name: _known(row.get(name)) for name in COMPARED}
        kept["reason"] = kept["reason"] or _known(row.get("abstention"))
        if kept["n_clusters"] is not None:
            kept["n_clusters"] = int(kept["n_clusters"])
        found.append(kept)
    return found


def _known(value: Any) -> Any:
    """Return None for every kind of missing value in tables."""
    return None if value is None or value != value or str(value) == "<NA>" else value


def _names(X: Any) -> list[str] | None:
    columns = getattr(X, "column_names", getattr(X, "columns", None))
    return None if columns is None else [str(name) for name in columns]


def _plain(value: Any) -> Any:
    """Convert to JSON types. Numbers get six digits, more than a reader needs."""
    if isinstance(value, (np.ndarray, np.generic)):
        return value.tolist() if value.dtype.kind in "iub" else _plain(value.tolist())
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, float):
        if np.isnan(value):
            return None
        return float(f"{value:.6g}") if np.isfinite(value) else str(value)
    return value if value is None or isinstance(value, (bool, int, str)) else str(value)
