"""The base class of all selectors: checked input, reference partitions, the fitted answer."""

from __future__ import annotations

from functools import partial
from time import perf_counter
from typing import Any, Literal, Self

from sklearn.base import BaseEstimator, ClusterMixin
from sklearn.cluster import KMeans
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from stablek.announcing import listen, watched
from stablek.blockwise.core import Blocks
from stablek.execution import run
from stablek.inspection import selected_index
from stablek.seeding import entropy_of
from stablek.selectors.blockwise import (
    BlockReference,
    fit_on_sample,
    make_block_reference,
    opened,
    predict_blocks,
    store_columns,
)
from stablek.selectors.reference import Reference, make_reference, warn_of_pipeline
from stablek.settings import warn_unequal_spread
from stablek.spherical import SphericalKMeans
from stablek.validation import check_data
from stablek.warning import warn_user

__all__ = ["BaseSelector", "warn_fewer_clusters"]


def _best_can_predict(selector: Any) -> bool:
    if not hasattr(selector, "best_estimator_"):
        # Before fit: say what the clusterer can do, so that pipelines know.
        clusterer = selector.clusterer
        return clusterer is None or hasattr(clusterer, "predict")
    return hasattr(selector.best_estimator_, "predict")


class BaseSelector(ClusterMixin, BaseEstimator):  # type: ignore[misc]
    """Chooses a number of clusters; subclasses fill in ``fit``.

    A fitted selector has ``k_values_``, ``scores_``, ``best_score_``, ``n_clusters_``, ``labels_``
    and ``best_estimator_``.
    """

    clusterer: Any
    param_name: str | None = None
    random_state: Any
    n_jobs: int | None
    _engine: Literal["auto", "generic"] = "auto"
    """Private: "generic" keeps the fast engines out, for comparing them."""

    _answers_only: bool = False
    """Private: leaves out what describes the chosen partition, for fits on many subsamples."""

    # Limits for data in files or on a cluster; parameters of Stadion.
    max_rows_in_memory: int = 1_000_000
    sample_rows: int = 100_000
    max_passes: int = 20

    supports_one_cluster: bool = False
    """Whether K = 1 can be the answer."""

    def fit(self, X: Any, y: Any = None) -> Self:
        """Cluster X with every candidate, judge the partitions and choose one.

        Parameters
        ----------
        X : array-like or data frame of shape (n_samples, n_features)
            Also data that need not fit into memory: a NumPy memory map, a Dask array or data
            frame, a path or glob of Parquet files, a pyarrow data set or a polars LazyFrame.
        y : ignored

        Returns
        -------
        self
        """
        started = perf_counter()
        clusterer = self._default_clusterer() if self.clusterer is None else self.clusterer
        X, blocks = opened(X, self.max_rows_in_memory, self.n_jobs)
        watching = watched(bool(getattr(self, "verbose", 0)))
        if blocks is not None:
            with watching:
                return self._fit_all_blocks(blocks, clusterer, started)
        X = check_data(X, self, single=isinstance(clusterer, SphericalKMeans))
        if hasattr(clusterer, "steps"):  # a Pipeline may scale
            warn_of_pipeline(clusterer)
        else:
            warn_unequal_spread(X, getattr(self, "feature_names_in_", None), clusterer)
        reference = make_reference(
            X,
            clusterer,
            self.param_name,
            entropy=entropy_of(self.random_state),
            n_jobs=self.n_jobs,
            engine=self._engine,
        )
        with watching:
            return self._fit_reference(reference, started)

    def _fit_reference(self, reference: Reference, started: float) -> Self:
        """Fit on partitions that other selectors may share."""
        listen()  # the engine has imported its kernels
        self._fit(reference)
        # The report shows the points, the seed and the time.
        self._fit_X, self._entropy = reference.X, reference.entropy
        self._seconds = perf_counter() - started
        return self

    def _fit(self, reference: Reference) -> None:
        raise NotImplementedError

    def _fit_all_blocks(self, blocks: Blocks, clusterer: Any, started: float) -> Self:
        """Fit on data that are read in blocks."""
        reference = make_block_reference(self, blocks, clusterer)
        store_columns(self, blocks)
        listen()
        reason = self._no_blocks(reference)
        if reason is None:
            self._fit_blocks(reference)
        else:
            fit_on_sample(self, reference, reason)
        self._store_blocks(reference, started)
        return self

    def _store_blocks(self, reference: BlockReference, started: float) -> None:
        """Store what was read."""
        self._fit_X, self._entropy = reference.sample.X, reference.sample.entropy
        self.n_rows_, self.sample_indices_ = reference.blocks.n_rows, reference.survey.sample_rows
        self._seconds = perf_counter() - started

    def _no_blocks(self, reference: BlockReference) -> str | None:
        """Why the answer must come from the sample; None if all rows can be used."""
        return f"{type(self).__name__} does not run on blocks of rows"

    def _fit_blocks(self, reference: BlockReference) -> None:
        """Fit on all rows, if `_no_blocks` allows it."""
        raise NotImplementedError

    def _store_best(self, reference: Reference, value: Any) -> None:
        """Keep the chosen model, as an estimator for users and as what `predict` asks."""
        best = reference.with_model(value)
        self.best_estimator_ = reference.estimator(best)
        self._predict = partial(reference.engine.predict, partition=best)

    def _default_clusterer(self) -> Any:
        return KMeans(n_init=10)

    @property
    def best_score_(self) -> float:
        """Score of the answer; NaN if it has none, as one cluster by the structure test."""
        check_is_fitted(self)
        position = selected_index(self)
        return float("nan") if position is None else float(self.scores_[position])

    def plot(self, ax: Any = None) -> Any:
        """Draw what led to the answer: the stability paths, or the scores of other methods.

        Parameters
        ----------
        ax : Axes, default=None
            None makes a new figure.

        Returns
        -------
        Display
            With ``ax_``, ``figure_`` and ``frame()``.
        """
        from stablek.display import ScoresDisplay, StabilityPathsDisplay

        check_is_fitted(self)
        kind = StabilityPathsDisplay if hasattr(self, "stadion_paths_") else ScoresDisplay
        return kind.from_estimator(self, ax=ax)

    def report(self, path: Any, **options: Any) -> None:
        """Write the answer and its evidence to a file.

        Parameters
        ----------
        path : str or path
            ``.html`` for one self-contained page, ``.json`` or ``.md``.
        **options
            As for `stablek.report.write_report`.
        """
        from stablek.report import write_report

        check_is_fitted(self)
        write_report(self, path, **options)

    def __str__(self) -> str:
        """Return the answer in a sentence if fitted, else the parameters."""
        from stablek.report import repr_text

        return repr_text(self) if hasattr(self, "labels_") else repr(self)

    def _html_repr(self) -> str:
        """What notebooks show: the answer of a fitted selector, else scikit-learn's diagram."""
        from stablek.report import repr_html

        return repr_html(self) if hasattr(self, "labels_") else str(super()._html_repr())

    @available_if(_best_can_predict)  # type: ignore[untyped-decorator]
    def predict(self, X: Any) -> Any:
        """Label new points with the best estimator.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features), or data in blocks as for ``fit``

        Returns
        -------
        ndarray of shape (n_samples,)
            For data in blocks, a lazy Dask array or an array in a temporary file.
        """
        check_is_fitted(self)
        X, blocks = opened(X, self.max_rows_in_memory, self.n_jobs)
        if blocks is not None:
            return predict_blocks(self, blocks)
        X = check_data(X, self, reset=False, min_samples=1)
        [labels] = run(self._predict, [(X,)])
        return labels


def warn_fewer_clusters(asked: tuple[Any, ...], found: tuple[int, ...]) -> None:
    """Warn once of all reference partitions with fewer clusters than asked for."""
    fewer = {k: n for k, n in zip(asked, found, strict=True) if n < k}
    if fewer:
        listed = ", ".join(f"{n} for K = {k}" for k, n in fewer.items())
        warn_user(
            f"The clusterer found fewer clusters than asked for: {listed}. "
            f"The results are those of the partitions that it found"
        )
