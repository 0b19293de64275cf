"""The evidence of a fitted selector, as a small table."""

from __future__ import annotations

from typing import Any

import numpy as np

from stablek.cli._tables import Table, number
from stablek.inspection import own_values, parameter_label, selected_index, single_choice

__all__ = ["evidence", "notes"]

N_SHOWN = 12
"""Most rows of the table. With more candidates it shows those with the best scores."""


def evidence(selector: Any) -> Table:
    """Return one row for each K: its score, and for Stadion its stabilities."""
    chosen = selected_index(selector)
    shown = _shown(selector, chosen)
    if hasattr(selector, "stadion_paths_"):
        headers = ["K", "between", "within", "stadion", "frequency"]
        rows = _stadion_rows(selector)
        if single_choice(selector):
            headers, rows = headers[:-1], [row[:-1] for row in rows]
    else:
        headers, columns = ["K", "score"], [selector.scores_]
        own = own_values(selector)
        if own is not None:
            headers.append(own[0])
            columns.append(own[1])
        rows = [
            [str(k), *map(number, values)]
            for k, *values in zip(selector.k_values_, *columns, strict=True)
        ]
    parameter = parameter_label(selector)
    if parameter != "K":
        headers[:1] = [parameter, "clusters"]
        rows = [
            [row[0], str(len(np.unique(labels[labels >= 0]))), *row[1:]]
            for row, labels in zip(rows, selector.reference_labels_, strict=True)
        ]
    position = shown.index(chosen) if chosen is not None else None
    return Table(headers, [rows[i] for i in shown], position)


def notes(selector: Any) -> list[str]:
    """Say what the table leaves out, and what its frequencies measure."""
    found = []
    if len(selector.k_values_) > N_SHOWN:
        found.append(f"the {N_SHOWN} best of {len(selector.k_values_)} candidates")
    if _draws_decide(selector):
        found.append("frequency: how often K wins if the noise is drawn again, on the same rows")
    return found


def _draws_decide(selector: Any) -> bool:
    """Whether other draws could change the answer. They do not change a structure test."""
    chosen = selected_index(selector)
    return (
        hasattr(selector, "selection_frequency_")
        and not single_choice(selector)
        and chosen is not None
        and not np.isnan(selector.scores_[chosen])
    )


def _stadion_rows(selector: Any) -> list[list[str]]:
    """Show the stabilities where the path is highest: between minus within is the score."""
    levels = np.flatnonzero(selector.counted_levels_)
    decide = _draws_decide(selector)
    best = levels[np.argmax(selector.stadion_paths_[:, levels], axis=1)]
    return [
        [
            str(k),
            number(selector.between_stability_[i, best[i]]),
            number(selector.within_stability_[i, best[i]]),
            number(selector.scores_[i]),
            f"{frequency:.0%}" if decide and not np.isnan(selector.scores_[i]) else "-",
        ]
        for i, (k, frequency) in enumerate(
            zip(selector.k_values_, selector.selection_frequency_, strict=True)
        )
    ]


def _shown(selector: Any, chosen: int | None) -> list[int]:
    scores = np.where(np.isfinite(selector.scores_), selector.scores_, -np.inf).astype(float)
    if chosen is not None:
        scores[chosen] = np.inf
    return sorted(np.argsort(-scores, kind="stable")[:N_SHOWN].tolist())
