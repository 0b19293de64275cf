"""`stablek.Stadion` on data that are read in blocks."""

from __future__ import annotations

from functools import partial
from typing import Any, get_args

import numpy as np
from numpy.typing import NDArray

from stablek import validation
from stablek.aggregation import OneCluster
from stablek.blockwise.measuring import BlockModels, paths_of_tables
from stablek.engines import Setting
from stablek.selectors.blockwise import (
    BlockReference,
    block_k_values,
    models_of,
    store_partition,
)
from stablek.selectors.structure import check_test_for

__all__ = ["fit_blocks"]

Floats = NDArray[np.float64]


def fit_blocks(selector: Any, reference: BlockReference) -> None:
    """Measure the stability of partitions of all rows, choose one, and store the answer."""
    sample, blocks = reference.sample, reference.blocks
    validation.check_choice("one_cluster", selector.one_cluster, get_args(OneCluster))
    max_passes = validation.check_count("max_passes", selector.max_passes, 0)
    n_draws = validation.check_count("n_perturbations", selector.n_perturbations)
    progress = bool(validation.check_count("verbose", selector.verbose, 0))
    setting, epsilons, omega = selector._settings(sample, reference.survey.deviation)
    k_values = block_k_values(selector, reference)
    selector.k_values_ = np.array(k_values)
    check_test_for(selector, sample.X)
    models = models_of(
        reference, k_values, omega, setting, max_passes=max_passes, progress=progress
    )
    measure = models.measurement(epsilons, n_draws, setting)
    found = blocks.reduce(measure, "perturbing" if progress else None)
    models = models.measured(found)
    selector.relabel_, selector.n_passes_ = setting.relabel, models.n_passes
    selector.paths_ = paths_of_tables(
        models.layout, found.tables, blocks.n_rows, epsilons, setting
    )
    selector._answer(sample, setting)
    _store_rows(selector, reference, models, setting)


def _store_rows(
    selector: Any, reference: BlockReference, models: BlockModels, setting: Setting
) -> None:
    """Store the model, and what all rows have: labels and point stability."""
    blocks, best = reference.blocks, selector.best_value_
    store_partition(selector, reference, models, "labeling" if selector.verbose else None)
    if best == 1:
        selector.point_stability_ = blocks.per_row(_ones, np.float64)
        return
    at, levels = models.layout.whole.index(best), selector.epsilons_[selector.counted_levels_]
    kept = partial(models.kept, at, levels, selector.paths_.n_draws, setting)
    title = "points" if selector.verbose else None
    selector.point_stability_ = blocks.per_row(kept, np.float64, None, title)


def _ones(start: int, X: Floats) -> Floats:
    return np.ones(len(X))
