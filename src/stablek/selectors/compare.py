"""Many methods and many clusterers, compared on the same partitions of the same data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.cluster import KMeans

from stablek import validation
from stablek.candidates import resolve_k_values
from stablek.inspection import own_values, pvalue_text
from stablek.seeding import entropy_of
from stablek.selectors.base import BaseSelector
from stablek.selectors.bic import BIC
from stablek.selectors.blockwise import (
    BlockReference,
    no_blocks,
    opened,
    store_columns,
    surveyed,
)
from stablek.selectors.comparison import Comparison, ComparisonRow
from stablek.selectors.criterion import CannotJudgeError
from stablek.selectors.index import IndexSelector
from stablek.selectors.reference import Reference, make_reference, warn_of_pipeline
from stablek.selectors.registry import SELECTORS, resolve_method
from stablek.settings import warn_unequal_spread
from stablek.similarity import compare_labels
from stablek.warning import warn_user

__all__ = ["compare"]


def compare(
    X: Any,
    methods: str | Sequence[str] | Mapping[str, BaseSelector] = "all",
    clusterers: Any = None,
    *,
    k_range: Sequence[int] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    random_state: Any = None,
    n_jobs: int | None = None,
) -> Comparison:
    """Let many methods choose K from the same reference partitions, which are computed once.

    Parameters
    ----------
    X : array-like or data frame of shape (n_samples, n_features)
        Points. Also data in blocks, as `stablek.Stadion` takes them. Above a million rows,
        methods that run on blocks use all rows, and the others a sample of 100,000. The column
        ``rows`` of the table tells which.
    methods : "all", sequence of str or mapping of str to selector
        Names in `stablek.selectors.SELECTORS`. Or selectors under names of your own, to compare
        several variants of one method. Their ``clusterer``, ``k_range``, ``random_state`` and
        ``n_jobs`` are replaced by those of this call.
    clusterers : estimator, sequence or mapping of estimators, or None
        Clusterers to compare. None is ``KMeans(n_init=10)``.
    k_range : sequence of int or None, default=None
        Candidates of every method. None is 1 to 20, or fewer if X has fewer distinct rows.
    options : mapping of str to mapping, default=None
        Other parameters of each method, such as ``{"gap_a": {"n_references": 20}}``.
    random_state : int, RandomState, Generator or None, default=None
        Seed of everything.
    n_jobs : int, default=None
        Workers, as in scikit-learn.

    Returns
    -------
    Comparison
        A table with one row per clusterer and method. A method that is not defined for the
        clusterer or the candidates has a row that says why.

    Examples
    --------
    >>> from sklearn.datasets import make_blobs
    >>> X, _ = make_blobs(150, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    >>> compare(X, ["silhouette", "dunn", "g_means"], random_state=0).votes()
    {3: 3}
    >>> from stablek.selectors import GapA
    >>> gaps = {"plain": GapA(n_references=10), "squared": GapA(n_references=10, power=2)}
    >>> compare(X, gaps, random_state=0).votes()
    {3: 2}
    """
    selectors = _selectors(methods, options or {})
    entropy = entropy_of(random_state)
    X, blocks = opened(X, BaseSelector.max_rows_in_memory, n_jobs)
    found, columns = None, validation.column_names(X)
    if blocks is None:
        data = validation.check_data(X)
    else:
        found = surveyed(blocks, BaseSelector.sample_rows, entropy)
        data, columns = found.sample, None if blocks.names is None else list(blocks.names)
    k_values = resolve_k_values(k_range, data)
    named = _named(clusterers)
    for clusterer in named.values():
        if hasattr(clusterer, "steps"):
            warn_of_pipeline(clusterer)
    plain = [each for each in named.values() if not hasattr(each, "steps")]
    if plain:
        warn_unequal_spread(data, columns, *plain)
    rows: list[ComparisonRow] = []
    seconds = {}
    for name, clusterer in named.items():
        sample = make_reference(data, clusterer, None, entropy=entropy, n_jobs=n_jobs)
        reference: Reference | BlockReference = sample
        if blocks is not None and found is not None:
            reference = BlockReference(blocks, found, sample)
        started = perf_counter()
        _make_partitions(reference, k_values, selectors)
        seconds[name] = perf_counter() - started
        answers = [
            _row(reference, name, method, k_values, selector)
            for method, selector in selectors.items()
        ]
        rows += _with_agreement(answers, data)
    comparison = Comparison(tuple(rows), seconds)
    _warn_of_clusters_without_structure(comparison)
    if found is not None:
        _warn_of_sample(comparison, len(data), found.n_rows)
    return comparison


def _make_partitions(
    reference: Reference | BlockReference,
    k_values: tuple[Any, ...],
    selectors: Mapping[str, BaseSelector],
) -> None:
    """Make what all methods share, so that no method is charged for it."""
    if isinstance(reference, Reference):
        reference.partitions(k_values)
        return
    reference.sample.partitions(k_values)
    several = any(isinstance(selector, IndexSelector | BIC) for selector in selectors.values())
    if several and no_blocks(reference.sample) is None:
        reference.models(k_values, BaseSelector.max_passes)


def _warn_of_sample(comparison: Comparison, n_sample: int, n_rows: int) -> None:
    """Warn of methods that did not use all rows."""
    several = len(comparison.reference_seconds) > 1
    short = [
        f"{row.method} of {row.clusterer}" if several else row.method
        for row in comparison
        if row.rows.startswith("sample")
    ]
    if short:
        warn_user(
            f"These methods do not run on blocks of rows and used a sample of {n_sample} of "
            f"{n_rows} rows: {', '.join(short)}"
        )


def _warn_of_clusters_without_structure(comparison: Comparison) -> None:
    """Warn of answers that had to be above 1 although the structure test found nothing."""
    tests = comparison.structure_tests
    nothing = [name for name, test in tests.items() if not test.rejected]
    forced = {
        row.method: None
        for row in comparison
        if row.clusterer in nothing
        and row.n_clusters is not None
        and row.selector is not None
        and not row.selector.supports_one_cluster
    }
    if forced:
        largest = max(tests[name].pvalue for name in nothing)
        warn_user(
            f"The structure test found no clusters ({pvalue_text(largest)}). These methods cannot "
            f"answer 1, so their K is no evidence of clusters: {', '.join(forced)}"
        )


def _selectors(methods: Any, options: Mapping[str, Mapping[str, Any]]) -> dict[str, BaseSelector]:
    """Unfitted selectors, by the names of their rows."""
    if isinstance(methods, Mapping):
        if options:
            raise ValueError(
                f"options must be None if methods are selectors, got options for "
                f"{list(options)}: pass them to the selectors"
            )
        wrong = [name for name, each in methods.items() if not isinstance(each, BaseSelector)]
        if wrong or not methods:
            raise ValueError(
                f"methods must map names to selectors, such as {{'gap': GapA()}}, got {methods!r}"
            )
        return {str(name): selector for name, selector in methods.items()}
    names = list(SELECTORS) if isinstance(methods, str) and methods == "all" else methods
    if isinstance(names, str) or not len(names):
        raise ValueError(
            f"methods must be 'all', a sequence of names such as ['stadion', 'silhouette'] or a "
            f"mapping of selectors, got {methods!r}"
        )
    names = [resolve_method(method) for method in names]
    options = {resolve_method(method): each for method, each in options.items()}
    if len(set(names)) < len(names):
        raise ValueError(
            f"methods must name each method once, got {names}: for several variants of one method "
            f"pass a mapping of selectors"
        )
    shared = {method: sorted(_SHARED & set(each)) for method, each in options.items()}
    if any(shared.values()):
        raise ValueError(
            f"options must not hold what all methods share, got {shared}: pass it to compare"
        )
    return {method: SELECTORS[method](**options.get(method, {})) for method in names}


_SHARED = {"clusterer", "k_range", "random_state", "n_jobs"}


def _named(clusterers: Any) -> dict[str, Any]:
    if clusterers is None:
        clusterers = KMeans(n_init=10)
    if isinstance(clusterers, Mapping):
        named = {str(name): clusterer for name, clusterer in clusterers.items()}
    else:
        several = clusterers if isinstance(clusterers, (list, tuple)) else [clusterers]
        named = {}
        for clusterer in several:
            name = type(clusterer).__name__
            repeats = sum(name == known.rpartition(" ")[0] or name == known for known in named)
            named[f"{name} {repeats + 1}" if repeats else name] = clusterer
    for clusterer in named.values():
        validation.check_clusterer(clusterer)
    if not named:
        raise ValueError("clusterers must hold at least one clusterer, got none")
    return named


def _row(
    reference: Reference | BlockReference,
    name: str,
    method: str,
    k_values: tuple[Any, ...],
    unfitted: BaseSelector,
) -> ComparisonRow:
    sample = reference if isinstance(reference, Reference) else reference.sample
    selector: Any = clone(unfitted).set_params(
        clusterer=clone(sample.clusterer),
        k_range=list(k_values),
        random_state=sample.entropy,
        n_jobs=sample.n_jobs,
    )
    started = perf_counter()
    try:
        rows = _fit(selector, reference, started)
    except CannotJudgeError as reason:
        used = "all" if sample is reference else ""
        return ComparisonRow(name, method, rows=used, abstention=str(reason))
    seconds = perf_counter() - started
    score = own_value = np.nan
    if selector.n_clusters_ is not None:
        at = list(selector.k_values_).index(selector.best_value_)
        score, own = float(selector.scores_[at]), own_values(selector)
        own_value = np.nan if own is None else float(own[1][at])
    return ComparisonRow(
        name,
        method,
        selector.n_clusters_,
        score,
        own_value,
        seconds,
        rows=rows,
        abstention=getattr(selector, "abstention_", None),
        selector=selector,
    )


def _fit(selector: Any, reference: Reference | BlockReference, started: float) -> str:
    """Fit a selector, on all rows if it can; which rows it used."""
    if isinstance(reference, Reference):
        validation.check_data(reference.X, selector)
        selector._fit_reference(reference, started)
        return "all"
    store_columns(selector, reference.blocks)
    if selector._no_blocks(reference) is None:
        selector._fit_blocks(reference)
        rows = f"all {reference.blocks.n_rows}"
    else:
        selector._fit(reference.sample)
        rows = f"sample of {len(reference.sample.X)}"
    selector._store_blocks(reference, started)
    return rows


def _with_agreement(rows: list[ComparisonRow], X: Any) -> list[ComparisonRow]:
    """Rows with the agreement of their partitions on X: the data, or their sample."""
    labels = {}
    for i, row in enumerate(rows):
        selector: Any = row.selector
        if selector is not None and row.n_clusters is not None:
            whole = len(selector.labels_) == len(X)
            labels[i] = selector.labels_ if whole else selector._predict(X)
    stadion = next((i for i, row in enumerate(rows) if row.method == "stadion"), None)
    # Methods that chose the same K on the same rows have the same partition.
    known: dict[tuple[Any, Any], float] = {}

    def similarity(i: int, j: int) -> float:
        key = (rows[i].n_clusters, rows[i].rows), (rows[j].n_clusters, rows[j].rows)
        if key not in known:
            known[key] = known[key[::-1]] = compare_labels(labels[i], labels[j])
        return known[key]

    result = []
    for i, row in enumerate(rows):
        if i not in labels:
            result.append(row)
            continue
        others = [similarity(i, j) for j in labels if j != i]
        result.append(
            replace(
                row,
                agreement=float(np.mean(others)) if others else np.nan,
                stadion_agreement=similarity(i, stadion) if stadion in labels else np.nan,
            )
        )
    return result
