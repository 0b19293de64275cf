"""`stablek.Stadion` on data that are read in blocks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from stablek import validation
from stablek.aggregation import OneCluster
from stablek.blockwise.measuring import BlockModels, paths_of_tables
from stablek.engines import Setting
from stablek.execution import run
from stablek.results import Partition
from stablek.selectors.blockwise import (
    BlockReference,
    block_k_values,
    fit_on_sample,
    label_dtype,
    models_of,
    no_blocks,
)
from stablek.selectors.structure import check_test_for

__all__ = ["fit_blocks"]

Floats = NDArray[np.float64]


def fit_blocks(selector: Any, reference: BlockReference) -> None:
    """Measure the stability of partitions of all rows, choose one, and store the answer."""
    sample, found, blocks = reference.sample, reference.survey, reference.blocks
    validation.check_choice("one_cluster", selector.one_cluster, get_args(OneCluster))
    max_passes = validation.check_count("max_passes", selector.max_passes, 0)
    n_draws = validation.check_count("n_perturbations", selector.n_perturbations)
    progress = bool(validation.check_count("verbose", selector.verbose, 0))
    setting, epsilons, omega = selector._settings(sample, found.deviation)
    reason = no_blocks(sample, setting)
    if reason is not None:
        fit_on_sample(selector, reference, reason)
        return
    k_values = block_k_values(selector, reference)
    selector.k_values_ = np.array(k_values)
    check_test_for(selector, sample.X)
    models = models_of(
        reference, k_values, omega, setting, max_passes=max_passes, progress=progress
    )
    moments = blocks.reduce(
        partial(models.measure, epsilons, n_draws, setting), "perturbing" if progress else None
    )
    models = models.measured(moments)
    selector.relabel_, selector.n_passes_ = setting.relabel, models.n_passes
    tables = moments.tables
    selector.paths_ = paths_of_tables(models.layout, tables, blocks.n_rows, epsilons, setting)
    selector._answer(sample, setting)
    _store_rows(selector, reference, models, setting)


def _store_rows(
    selector: Any, reference: BlockReference, models: BlockModels, setting: Setting
) -> None:
    """Store the model, and what all rows have: labels and point stability."""
    blocks, sample = reference.blocks, reference.sample
    k_values = selector.k_values_.tolist()
    progress = "labeling" if selector.verbose else None
    labels = partial(_labels, models, k_values)
    dtype = label_dtype(max(k_values))
    selector.reference_labels_ = blocks.per_row(labels, dtype, len(k_values), progress)
    best = selector.best_value_
    selector.labels_ = selector.reference_labels_[k_values.index(best)]
    engine = sample.engine
    if best == 1:
        model = reference.survey.mean[None]
        selector.point_stability_ = blocks.per_row(_ones, np.float64)
        inertia = float(reference.survey.squares.sum())
    else:
        at = models.layout.whole.index(best)
        model, inertia = models.model(at), models.value(at)
        levels = selector.epsilons_[selector.counted_levels_]
        kept = partial(models.kept, at, levels, selector.paths_.n_draws, setting)
        progress = "points" if selector.verbose else None
        selector.point_stability_ = blocks.per_row(kept, np.float64, None, progress)
    unlabeled = Partition(best, np.empty(0, dtype=np.intp), model)
    partition = replace(unlabeled, labels=engine.predict(sample.X, unlabeled))
    [fitted] = run(engine.estimator, [(sample.X, partition)])
    fitted.labels_, fitted.inertia_ = selector.labels_, inertia
    selector.best_estimator_ = fitted
    selector._predict = partial(engine.predict, partition=partition)


def _labels(models: BlockModels, k_values: list[int], start: int, X: Floats) -> NDArray[Any]:
    """Labels of a block for each candidate, (n_k, n); one cluster has no model."""
    result = np.zeros((len(k_values), len(X)), dtype=np.intp)
    several = [i for i, k in enumerate(k_values) if k > 1]
    if several:
        whole = [models.layout.whole.index(k_values[i]) for i in several]
        result[several] = models.labels(whole, start, X)
    return result


def _ones(start: int, X: Floats) -> Floats:
    return np.ones(len(X))
