"""Selectors on data that do not fit into memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek import validation
from stablek.blockwise import core
from stablek.blockwise.core import Blocks
from stablek.blockwise.inputs import open_blocks
from stablek.blockwise.kmeans import BlockKMeans
from stablek.blockwise.layout import Layout
from stablek.blockwise.measuring import BlockModels
from stablek.blockwise.survey import Survey, check_survey, survey
from stablek.candidates import resolve_k_values
from stablek.engines import Setting
from stablek.engines.kmeans import KMeansEngine
from stablek.execution import run
from stablek.paths import PathGroups, collect_groups
from stablek.results import Group, Partition
from stablek.seeding import entropy_of
from stablek.selectors.reference import Reference, make_reference
from stablek.settings import warn_unequal_spread
from stablek.warning import warn_user

__all__ = [
    "BlockReference",
    "block_k_values",
    "fit_on_sample",
    "label_dtype",
    "make_block_reference",
    "models_of",
    "no_blocks",
    "opened",
    "predict_blocks",
    "sampled",
    "store_columns",
    "store_partition",
]

Floats = NDArray[np.float64]


@dataclass
class BlockReference:
    """All rows in blocks, what one pass tells about them, and the reference on their sample.

    Parameters
    ----------
    blocks : Blocks
        All rows.
    survey : Survey
        Of all rows.
    sample : Reference
        Reference partitions of the sample.
    """

    blocks: Blocks
    survey: Survey
    sample: Reference


def opened(X: Any, selector: Any) -> tuple[Any, Blocks | None]:
    """Data in memory and None, or None and blocks of data with too many rows for memory."""
    most = validation.check_count("max_rows_in_memory", selector.max_rows_in_memory)
    blocks = open_blocks(X, core.BLOCK_ROWS, selector.n_jobs)
    if blocks is None:
        return X, None
    return (None, blocks) if blocks.n_rows > most else (blocks.in_memory(), None)


def make_block_reference(selector: Any, blocks: Blocks, clusterer: Any) -> BlockReference:
    """Look at all rows once and take a sample of them."""
    validation.check_no_text(blocks.not_numeric)
    n_sample = validation.check_count("sample_rows", selector.sample_rows, 10)
    verbose = getattr(selector, "verbose", 0)
    entropy = entropy_of(selector.random_state)
    title = "reading" if verbose else None
    found = survey(blocks, n_sample, entropy, title)
    check_survey(found, blocks.names)
    if not hasattr(clusterer, "steps"):  # a Pipeline may scale
        warn_unequal_spread(found.sample, blocks.names, clusterer)
    sample = make_reference(
        found.sample,
        clusterer,
        selector.param_name,
        entropy=entropy,
        n_jobs=selector.n_jobs,
        engine=selector._engine,
    )
    return BlockReference(blocks, found, sample)


def block_k_values(selector: Any, reference: BlockReference) -> tuple[int, ...]:
    """Candidates, which the rows of the sample must allow: the work starts there."""
    X, k_range = reference.sample.X, selector.k_range
    if k_range is not None:
        k_values = validation.check_k_range(k_range, reference.blocks.n_rows)
        found = validation.n_distinct(X, k_values[-1])
        if found < k_values[-1]:
            raise ValueError(
                f"k_range asks for K = {k_values[-1]} clusters but the sample of {len(X)} rows "
                f"has only {found} distinct rows; use k_range=range(1, {found + 1}), or a larger "
                f"sample (sample_rows)"
            )
    return resolve_k_values(k_range, X)


def store_columns(selector: Any, blocks: Blocks) -> None:
    """Store what scikit-learn keeps about the columns."""
    selector.n_features_in_ = blocks.n_features
    if blocks.names is not None:
        selector.feature_names_in_ = np.array(blocks.names, dtype=object)
    elif hasattr(selector, "feature_names_in_"):
        del selector.feature_names_in_


def models_of(
    reference: BlockReference,
    k_values: Sequence[int],
    omega: Sequence[int],
    setting: Setting | None,
    *,
    max_passes: int,
    progress: bool = False,
) -> BlockKMeans:
    """Models of all partitions: of the sample first, then refined on all rows.

    Without a setting, clusters are not clustered again.
    """
    sample, engine = reference.sample, reference.sample.engine
    candidates = tuple(k for k in k_values if k > 1)
    again = tuple(k for k in omega if k not in candidates)
    layout = Layout(candidates, again, tuple(omega))
    partitions = sample.partitions(candidates)
    if setting is None:
        groups = PathGroups((), (), (Group(None, tuple(partitions)),), (), ())
    else:
        groups = collect_groups(
            engine,
            sample.X,
            partitions,
            omega,
            setting,
            n_jobs=sample.n_jobs,
            progress=progress,
        )
    models = BlockKMeans.start(layout, groups, sample.X)
    variance = float(np.mean(reference.survey.squares)) / reference.survey.n_rows
    title = "pass" if progress else None
    return models.refine(reference.blocks, sample.clusterer, variance, max_passes, title)


def store_partition(
    selector: Any, reference: BlockReference, models: BlockModels, title: str | None = None
) -> None:
    """Store the labels of all rows for each candidate, and the chosen model."""
    blocks, sample, k_values = reference.blocks, reference.sample, selector.k_values_.tolist()
    labels, dtype = partial(_labels, models, k_values), label_dtype(max(k_values))
    selector.reference_labels_ = blocks.per_row(labels, dtype, len(k_values), title)
    best, engine = selector.best_value_, sample.engine
    selector.labels_ = selector.reference_labels_[k_values.index(best)]
    if best == 1:
        model, inertia = reference.survey.mean[None], float(reference.survey.squares.sum())
    else:
        at = models.layout.whole.index(best)
        model, inertia = models.model(at), models.value(at)
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


def no_blocks(reference: Reference, setting: Setting | None = None) -> str | None:
    """Why an answer must come from the sample; None if all rows can be used."""
    if type(reference.engine) is not KMeansEngine:  # that of spherical K-means is one too
        return f"{type(reference.clusterer).__name__} does not run on blocks of rows"
    if setting is None:
        return None
    if setting.relabel == "refit":
        return "relabel='refit' does not run on blocks of rows"
    if not setting.perturbation.is_additive:
        return f"perturbation {setting.perturbation.name!r} does not run on blocks of rows"
    if setting.similarity.of_agreement is None:
        return f"similarity {setting.similarity.name!r} does not run on blocks of rows"
    return None


def fit_on_sample(selector: Any, reference: BlockReference, reason: str) -> None:
    """Fit on the rows of the sample, and label all rows if the clusterer can predict."""
    n_sample, n_rows = len(reference.sample.X), reference.blocks.n_rows
    warn_user(
        f"{reason}: the answer is that of a sample of {n_sample} of {n_rows} rows. "
        f"Set sample_rows for a larger sample"
    )
    selector._fit(reference.sample)
    if hasattr(selector.best_estimator_, "predict"):
        selector.labels_ = predict_blocks(selector, reference.blocks)


def predict_blocks(selector: Any, blocks: Blocks) -> Any:
    """Labels of all rows by the best estimator: lazy, or in a temporary file."""
    validation.check_no_text(blocks.not_numeric)
    if blocks.n_features != selector.n_features_in_:
        raise ValueError(
            f"X has {blocks.n_features} features, but {type(selector).__name__} is expecting "
            f"{selector.n_features_in_} features as input"
        )
    known = getattr(selector, "feature_names_in_", None)
    if known is not None and blocks.names is not None and list(known) != list(blocks.names):
        raise ValueError(
            f"X has the columns {list(blocks.names)}, but the fit had {list(known)}; give the "
            f"same columns in the same order"
        )
    dtype = label_dtype(int(selector.n_clusters_))
    return blocks.per_row(partial(_predicted, selector._predict), dtype)


def _predicted(predict: Any, start: int, X: Floats) -> NDArray[Any]:
    finite = np.isfinite(X)
    if not finite.all():
        row, column = np.argwhere(~finite)[0].tolist()
        raise ValueError(
            f"X has a value that is not finite in row {start + row} of column {column}; drop or "
            f"impute such values first"
        )
    return np.asarray(predict(X))


def label_dtype(k: int) -> Any:
    """Type of labels below k that takes few bytes."""
    return np.int16 if k <= 1 << 15 else np.int32


def sampled(X: Any, limits: Any, entropy: int, n_jobs: int | None) -> Any:
    """Data in memory as they are; a sample of data with too many rows, with a warning."""
    blocks = open_blocks(X, core.BLOCK_ROWS, n_jobs)
    if blocks is None:
        return X
    if blocks.n_rows <= limits.max_rows_in_memory:
        return blocks.in_memory()
    validation.check_no_text(blocks.not_numeric)
    found = survey(blocks, limits.sample_rows, entropy)
    check_survey(found, blocks.names)
    warn_user(
        f"compare uses a sample of {len(found.sample)} of {blocks.n_rows} rows for all methods"
    )
    return found.sample
