"""Selectors on data that do not fit into memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from stablek import seeding, validation
from stablek.blockwise import core
from stablek.blockwise.core import Blocks
from stablek.blockwise.inputs import open_blocks
from stablek.blockwise.layout import Layout
from stablek.blockwise.measuring import BlockModels
from stablek.blockwise.survey import Survey, check_survey, survey
from stablek.candidates import resolve_k_values
from stablek.engines import Engine, Setting
from stablek.execution import run
from stablek.paths import PathGroups, collect_groups, reference_partitions
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
    "store_columns",
    "store_partition",
    "surveyed",
]

Floats = NDArray[np.float64]

_NO_LABELS = np.empty(0, dtype=np.intp)


@dataclass
class BlockReference:
    """All rows in blocks, what one pass tells about them, and the reference on their sample.

    Several selectors can share one. Then models and labels are computed once.

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
    _known: dict[Any, Any] = field(default_factory=dict, repr=False)

    def once(self, key: Any, make: Callable[[], Any]) -> Any:
        """What was made for the key, or is made now."""
        if key not in self._known:
            self._known[key] = make()
        return self._known[key]

    def models(self, k_values: tuple[int, ...], max_passes: int) -> Any:
        """Models of the candidates on all rows, without those inside clusters."""

        def make() -> Any:
            models = models_of(self, k_values, (), None, max_passes=max_passes)
            return models.finished(self.blocks)

        return self.once(("models", k_values, max_passes), make)


def opened(X: Any, max_rows_in_memory: Any, n_jobs: int | None) -> tuple[Any, Blocks | None]:
    """Data in memory and None, or None and blocks of data with too many rows for memory."""
    most = validation.check_count("max_rows_in_memory", max_rows_in_memory)
    blocks = open_blocks(X, core.BLOCK_ROWS, n_jobs)
    if blocks is None:
        return X, None
    return (None, blocks) if blocks.n_rows > most else (blocks.in_memory(), None)


def make_block_reference(selector: Any, blocks: Blocks, clusterer: Any) -> BlockReference:
    """Look at all rows once and take a sample of them."""
    entropy = entropy_of(selector.random_state)
    title = "reading" if getattr(selector, "verbose", 0) else None
    found = surveyed(blocks, selector.sample_rows, entropy, title)
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


def surveyed(blocks: Blocks, sample_rows: Any, entropy: int, title: str | None = None) -> Survey:
    """What one pass tells about all rows, or the errors that data in memory get."""
    validation.check_no_text(blocks.not_numeric)
    n_sample = validation.check_count("sample_rows", sample_rows, 10)
    found = survey(blocks, n_sample, entropy, title)
    check_survey(found, blocks.names)
    return found


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
) -> Any:
    """Models of all partitions (`BlockModels`): of the sample first, then refined on all rows.

    Without a setting, clusters are not clustered again.
    """
    sample, engine = reference.sample, reference.sample.engine
    candidates = tuple(k for k in k_values if k > 1)
    family = _family(engine)
    one = (1,) if family.fits_one_cluster and 1 in k_values else ()
    again = (*one, *(k for k in omega if k not in candidates))
    layout = Layout(candidates, again, tuple(omega))
    partitions = _starts(reference, candidates, race=max_passes > 0)
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
    models = family.start(layout, groups, sample.X, sample.clusterer)
    variance = float(np.mean(reference.survey.squares)) / reference.survey.n_rows
    title = "pass" if progress else None
    return models.refine(reference.blocks, sample.clusterer, variance, max_passes, title)


def _starts(
    reference: BlockReference, k_values: tuple[int, ...], *, race: bool
) -> Sequence[Partition]:
    """Partitions of the sample from which the passes start: for K-means the best of several."""
    from stablek.blockwise.starts import N_SEARCHES, choose_starts, inertia_of
    from stablek.engines.kmeans import KMeansEngine

    sample = reference.sample
    first = sample.partitions(k_values)
    if not isinstance(sample.engine, KMeansEngine) or not k_values:
        return first

    def make() -> list[Partition]:
        engine = KMeansEngine(clone(sample.clusterer).set_params(random_state=None))
        searches, inertia = [first], [inertia_of(first, sample.X)]
        for search in range(1, N_SEARCHES):
            seed = seeding.seed(sample.entropy, "search", search)
            again = reference_partitions(engine, sample.X, k_values, seed, n_jobs=sample.n_jobs)
            inertia.append(inertia_of(again, sample.X))
            searches.append([replace(own, labels=_NO_LABELS) for own in again])  # they are large
        blocks = reference.blocks if race else None
        chosen = choose_starts(searches, np.stack(inertia), blocks)
        return [
            own if len(own.labels) else replace(own, labels=engine.predict(sample.X, own))
            for own in chosen
        ]

    found: list[Partition] = reference.once(("starts", k_values, race), make)
    return found


def store_partition(
    selector: Any, reference: BlockReference, models: BlockModels, title: str | None = None
) -> None:
    """Store the labels of all rows for each candidate, and the chosen model."""
    blocks, sample, k_values = reference.blocks, reference.sample, selector.k_values_.tolist()
    labels, dtype = partial(_labels, models, k_values), label_dtype(max(k_values))
    selector.reference_labels_ = reference.once(
        ("labels", models),
        partial(blocks.per_row, labels, dtype, len(k_values), title),
    )
    best, engine = selector.best_value_, sample.engine
    selector.labels_ = selector.reference_labels_[k_values.index(best)]
    model, attributes = models.fitted(best, reference.survey)
    unlabeled = Partition(best, _NO_LABELS, model)
    partition = replace(unlabeled, labels=engine.predict(sample.X, unlabeled))
    [fitted] = run(engine.estimator, [(sample.X, partition)])
    for name, value in attributes.items():
        setattr(fitted, name, value)
    if hasattr(fitted, "labels_"):
        fitted.labels_ = selector.labels_
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
    clusterer, kind = reference.clusterer, type(reference.clusterer).__name__
    family = _family(reference.engine)
    if family is None:
        return f"{kind} does not run on blocks of rows{_why_not(clusterer)}"
    limit = family.limit(clusterer, reference.X.shape[1])
    if limit is not None:
        return f"{kind} {limit}"
    if setting is None:
        return None
    if setting.relabel == "refit":
        return "relabel='refit' does not run on blocks of rows"
    if not setting.perturbation.is_additive:
        return f"perturbation {setting.perturbation.name!r} does not run on blocks of rows"
    if setting.similarity.of_agreement is None:
        return f"similarity {setting.similarity.name!r} does not run on blocks of rows"
    return None


def _family(engine: Engine) -> Any:
    """The class of `BlockModels` for an engine; None if there is none."""
    from stablek.blockwise.kmeans import BlockKMeans
    from stablek.blockwise.mixtures import BlockMixtures
    from stablek.engines.kmeans import KMeansEngine
    from stablek.engines.mixture import MixtureEngine

    if isinstance(engine, MixtureEngine):
        return BlockMixtures
    # The engine of spherical K-means is a subclass, and has no blocks.
    return BlockKMeans if type(engine) is KMeansEngine else None


def _why_not(clusterer: Any) -> str:
    """Which parameter keeps K-means or a mixture from running on blocks."""
    from stablek.engines import kmeans, mixture

    reason = None
    if type(clusterer) is KMeans:
        reason = kmeans.unsupported(clusterer)
    elif type(clusterer) is GaussianMixture:
        reason = mixture.unsupported(clusterer)
    return "" if reason is None else f" ({reason})"


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
