"""The same view of every fitted selector: what a selector does not have is None."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.aggregation import TIE
from stablek.inspection import parameter_label, selected_index, shown_rows, single_choice
from stablek.results import StabilityPaths, StructureTest
from stablek.selectors.subsamples import SubsampleFrequency

__all__ = ["Fitted"]

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]


class Fitted:
    """A fitted selector as the report sees it.

    Only Stadion has ``paths``. Where they are, the report reads the curves from the selector.
    ``subsamples`` are the answers on subsamples of the rows, if they are known.
    """

    def __init__(self, selector: Any, subsamples: SubsampleFrequency | None = None) -> None:
        needed = ("k_values_", "scores_", "n_clusters_")
        missing = [name for name in needed if not hasattr(selector, name)]
        if missing:
            raise ValueError(
                f"A report needs a fitted selector; {type(selector).__name__} has no "
                f"{', '.join(missing)}: call fit first"
            )
        if subsamples is not None and not isinstance(subsamples, SubsampleFrequency):
            raise TypeError(
                f"subsamples must be the result of stablek.subsample_frequency, got {subsamples!r}"
            )

        def known(name: str) -> Any:
            return getattr(selector, name, None)

        def rows(name: str) -> Any:
            return shown_rows(selector, known(name))

        self.selector = selector
        self.method = type(selector).__name__
        self.parameter = parameter_label(selector)
        self.values: list[Any] = np.asarray(selector.k_values_).tolist()
        self.scores: Floats = np.asarray(selector.scores_, dtype=np.float64)
        answered = selector.n_clusters_ is not None
        self.n_clusters = int(selector.n_clusters_) if answered else None
        self.selected = selected_index(selector) if answered else None
        self.labels: Ints | None = rows("labels_") if answered else None
        self.single_choice = single_choice(selector)
        self.frequency: Floats | None = (
            None if self.single_choice else known("selection_frequency_")
        )
        self.reference_labels: Ints | None = rows("reference_labels_")
        self.point_stability: Floats | None = rows("point_stability_")
        self.paths: StabilityPaths | None = known("paths_")
        self.test: StructureTest | None = known("structure_test_")
        self.subsamples = subsamples
        self.X: Floats | None = known("_fit_X")
        self.n_rows: int | None = known("n_rows_")
        self.row_numbers: Ints | None = known("sample_indices_")

    @property
    def method_maximizes(self) -> bool:
        """Whether higher values of the method's own quantity are better, as of the scores."""
        return getattr(self.selector, "minimized", None) is None

    @property
    def nothing_found(self) -> bool:
        """Whether a structure test was made and found no clusters."""
        return self.test is not None and not self.test.rejected

    @property
    def runner_up(self) -> int | None:
        """Position of the second best score; None if the answer does not have the best score.

        Some methods do not choose the highest score. They have no runner-up, and neither has one
        cluster by the structure test, which has no score.
        """
        if self.selected is None:
            return None
        others = np.where(np.isnan(self.scores), -np.inf, self.scores)
        chosen = others[self.selected]
        others[self.selected] = -np.inf
        if others.max() == -np.inf or others.max() > chosen + TIE:
            return None
        return int(np.argmax(others))

    @property
    def answer_frequency(self) -> float | None:
        """Share of resampled noise draws with the same answer.

        None for a single draw or a single candidate, and if the structure test decides: it does
        not resample.
        """
        if self.frequency is None or (self.paths is not None and self.paths.n_draws < 2):
            return None
        if self.nothing_found and self.n_clusters == 1:
            return None
        if self.selected is None:
            return float(1.0 - self.frequency.sum())
        return float(self.frequency[self.selected])

    @property
    def subsample_frequency(self) -> float | None:
        """Share of the subsamples with the same number of clusters; None if not known."""
        if self.subsamples is None or self.n_clusters is None or self.single_choice:
            return None
        return self.subsamples.frequency(self.n_clusters)

    def named(self, position: int) -> str:
        """Return a candidate with the name of its parameter, such as "K = 3"."""
        return f"{self.parameter} = {self.values[position]}"
