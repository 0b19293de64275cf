"""Why not another K? One sentence for each of the best other candidates."""

from __future__ import annotations

from typing import Any

import numpy as np

from stablek.aggregation import HIDDEN
from stablek.inspection import contenders, path_index, peak_level
from stablek.report.fitted import Fitted
from stablek.report.numbers import percentage

__all__ = ["rivals"]

N_RIVALS = 3
"""Number of candidates that get a sentence."""


def rivals(fitted: Fitted) -> list[dict[str, Any]]:
    """Return why the next best candidates lose, the runner-up first.

    The answer and its rivals are compared at the noise level where the answer's path is highest. A
    rival loses there either by its within stability, because its clusters can be split, or by its
    between stability, because its partition does not survive the noise. The larger difference is
    the reason. Each rival is a dict with ``value``, ``reason`` ("within", "between" or "score")
    and ``sentence``.
    """
    if fitted.paths is None or fitted.selected is None or (fitted.n_clusters or 0) < 2:
        return []
    level = peak_level(fitted.selector)
    positions = contenders(fitted.scores, fitted.selected, limit=N_RIVALS + 1)[1:]
    found = []
    for position in positions:
        reason, why = _why(fitted, position, level)
        text = f"{fitted.named(position)} loses {why}."
        found.append({"value": fitted.values[position], "reason": reason, "sentence": text})
    return found


def _why(fitted: Fitted, rival: int, level: int) -> tuple[str, str]:
    """Return the reason and its words."""
    between = fitted.selector.between_stability_[:, level]
    within = fitted.selector.within_stability_[:, level]
    chosen = fitted.selected
    recovered = between[chosen] - between[rival]
    split = within[rival] - within[chosen]
    if split > abs(recovered):
        stable = HIDDEN * between[chosen]
        return "within", _split(fitted, rival, level, stable) or (
            f"because splits of its clusters survive the noise: its within stability is "
            f"{within[rival]:.2f}, against {within[chosen]:.2f}"
        )
    share = max(0.0, between[rival] / between[chosen]) if between[chosen] > 0 else 1.0
    if recovered >= abs(split) and share < 0.995:
        return "between", f"because its partition is recovered only {percentage(share)} as well"
    scores = fitted.scores
    if scores[rival] == scores[chosen]:
        return "score", f"a tie: both score {scores[rival]:.3f}, and the first of equals wins"
    return "score", f"by its score: {scores[rival]:.3f}, against {scores[chosen]:.3f}"


def _split(fitted: Fitted, rival: int, level: int, stable: float) -> str | None:
    """Name the cluster that hides the most of a stable partition, if one does."""
    paths: Any = fitted.paths
    similarity = np.nan_to_num(paths.clusters[:, :, level].mean(axis=-1), nan=-np.inf)
    members = paths.members[path_index(fitted.selector)[rival]]
    hiding = [m for m in members if similarity[m.row].max() >= stable]
    if not hiding:
        return None
    worst = max(hiding, key=lambda m: m.size * similarity[m.row].max())
    k = paths.omega[int(np.argmax(similarity[worst.row]))]
    whole = "the data split" if len(members) == 1 else f"cluster {worst.label} splits"
    into = f"into {k}" if fitted.parameter == "K" else f"with {fitted.parameter} = {k}"
    return f"because {whole} stably {into}"
