"""The evidence of a fitted selector, as a small table."""

from __future__ import annotations

from typing import Any

import numpy as np

from stablek.cli._tables import Table, number
from stablek.inspection import selected_index

__all__ = ["evidence", "shown_note"]

N_SHOWN = 12
"""Most rows of the table. With more candidates it shows those with the best scores."""


def evidence(selector: Any) -> Table:
    """Return one row for each K: its score, and for Stadion its stabilities."""
    chosen = selected_index(selector)
    shown = _shown(selector, chosen)
    if hasattr(selector, "stadion_paths_"):
        headers = ["K", "between", "within", "stadion", "frequency"]
        rows = _stadion_rows(selector)
    else:
        headers = ["K", "score"]
        rows = [
            [str(k), number(score)]
            for k, score in zip(selector.k_values_, selector.scores_, strict=True)
        ]
    position = shown.index(chosen) if chosen is not None else None
    return Table(headers, [rows[i] for i in shown], position)


def shown_note(selector: Any) -> str | None:
    """Say that the table is not complete, if so."""
    n = len(selector.k_values_)
    return f"the {N_SHOWN} best of {n} candidates" if n > N_SHOWN else None


def _stadion_rows(selector: Any) -> list[list[str]]:
    """Show the stabilities where the path is highest: between minus within is the score."""
    levels = np.flatnonzero(selector.counted_levels_)
    best = levels[np.argmax(selector.stadion_paths_[:, levels], axis=1)]
    return [
        [
            str(k),
            number(selector.between_stability_[i, best[i]]),
            number(selector.within_stability_[i, best[i]]),
            number(selector.scores_[i]),
            # The structure test, not the draws, decides about a K without a score.
            "-" if np.isnan(selector.scores_[i]) else f"{selector.selection_frequency_[i]:.0%}",
        ]
        for i, k in enumerate(selector.k_values_)
    ]


def _shown(selector: Any, chosen: int | None) -> list[int]:
    scores = np.where(np.isfinite(selector.scores_), selector.scores_, -np.inf).astype(float)
    if chosen is not None:
        scores[chosen] = np.inf
    return sorted(np.argsort(-scores, kind="stable")[:N_SHOWN].tolist())
