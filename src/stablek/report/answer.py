"""The answer in words: the headline, the reasons and the cautions."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from stablek.report.fitted import Curves, Fitted
from stablek.report.numbers import percentage

__all__ = ["cautions", "reasons", "sentence"]

UNCERTAIN = 0.75
"""An answer is called uncertain if fewer than this share of the resamplings give it."""


def sentence(fitted: Fitted) -> str:
    """Return the answer: "5 clusters. Next best: 6. Chosen in 97% of resampled draws."."""
    if fitted.n_clusters is None:
        return f"no answer: {fitted.abstention or 'no candidate could be chosen'}"
    if fitted.n_clusters == 1:
        parts = ["no cluster structure: K = 1"]
    else:
        parts = [f"{fitted.n_clusters} clusters"]
    if fitted.parameter != "K" and fitted.selected is not None:
        parts[0] += f" ({fitted.named(fitted.selected)})"
    if fitted.runner_up is not None:
        parts.append(f"Next best: {fitted.values[fitted.runner_up]}")
    if fitted.answer_frequency is not None:
        parts.append(f"Chosen in {percentage(fitted.answer_frequency)} of resampled draws")
    return f"{'. '.join(parts)}."


def reasons(fitted: Fitted) -> list[str]:
    """Return the reasons for the answer."""
    if fitted.n_clusters is None:
        return []
    if fitted.curves is None:
        return _score_reasons(fitted)
    if fitted.n_clusters == 1:
        return _one_cluster_reasons(fitted, fitted.curves)
    return _stadion_reasons(fitted, fitted.curves)


def _score_reasons(fitted: Fitted) -> list[str]:
    if fitted.selected is None:
        return []
    score = fitted.scores[fitted.selected]
    if fitted.runner_up is not None:
        second = fitted.scores[fitted.runner_up]
        return [
            f"{fitted.method} gives the best score to {fitted.named(fitted.selected)}: "
            f"{score:.3g}. The next best is {fitted.named(fitted.runner_up)} with {second:.3g}."
        ]
    return [f"{fitted.method} chose {fitted.named(fitted.selected)} by its own rule."]


def _stadion_reasons(fitted: Fitted, curves: Curves) -> list[str]:
    assert fitted.selected is not None
    chosen = fitted.selected
    levels = np.flatnonzero(curves.counted)
    if curves.aggregation == "max":
        best = levels[np.argmax(curves.stadion[chosen, levels])]
        between, within = curves.between[chosen, best], curves.within[chosen, best]
        where = f"At noise level ε = {curves.epsilons[best]:.2f}"
    else:
        between, within = (
            curves.between[chosen, levels].mean(),
            curves.within[chosen, levels].mean(),
        )
        where = "On average over the noise levels that count"
    first = (
        f"{where}, the partition into {fitted.n_clusters} clusters survives the noise (between "
        f"stability {between:.2f}), but splits of its clusters do not (within stability "
        f"{within:.2f})."
    )
    second = f"Its score of {fitted.scores[chosen]:.3f} is the highest."
    if fitted.runner_up is not None:
        second += (
            f" The next best is {fitted.named(fitted.runner_up)} "
            f"with {fitted.scores[fitted.runner_up]:.3f}."
        )
    found = [first, second]
    if curves.crossing_epsilon > 0:
        found.append(
            f"Some K ≥ 2 beats K = 1 up to ε = {curves.crossing_epsilon:.2f}, the crossing. "
            f"Stronger noise destroys the structure."
        )
    return found


def _one_cluster_reasons(fitted: Fitted, curves: Curves) -> list[str]:
    if curves.crossing_epsilon == 0:
        found = [
            "No partition into two or more clusters beats leaving the data whole, at any noise "
            "level."
        ]
    else:
        found = [
            f"K = 1 has the highest score up to the crossing at ε = {curves.crossing_epsilon:.2f}."
        ]
    one = curves.paths.stadion[0].mean(axis=-1)
    others = [i for i in range(len(fitted.values)) if curves.index[i] != 0]
    levels = np.flatnonzero(curves.epsilons > 0)
    if others and len(levels):
        gaps = one[levels] - curves.stadion[others][:, levels]
        row, column = np.unravel_index(np.argmin(gaps), gaps.shape)
        if gaps[row, column] >= 0:
            found.append(
                f"{fitted.named(others[row])} comes closest: at ε = "
                f"{curves.epsilons[levels[column]]:.2f} it is {gaps[row, column]:.3f} below K = 1."
            )
    return found


def cautions(fitted: Fitted, clusters: list[dict[str, Any]]) -> list[str]:
    """Return what a reader should know before relying on the answer.

    Parameters
    ----------
    fitted : Fitted
    clusters : list of dict
        Clusters of the chosen partition, with ``label`` and ``hidden_k``.
    """
    found = []
    frequency = fitted.answer_frequency
    if frequency is not None and frequency < UNCERTAIN:
        found.append(f"The answer is uncertain: {_rivals(fitted)}.")
    last = fitted.selected == len(fitted.values) - 1
    if last and fitted.parameter == "K" and (fitted.n_clusters or 0) > 1:
        found.append(
            f"{fitted.values[-1]} is the largest candidate. A larger K may be better: try a "
            f"wider k_range."
        )
    hides = [cluster for cluster in clusters if cluster.get("hidden_k") is not None]
    for cluster in hides[:5]:
        found.append(
            f"Cluster {cluster['label']} hides {cluster['hidden_k']} sub-clusters as stable as "
            f"the partition itself."
        )
    if len(hides) > 5:
        found.append(f"{len(hides) - 5} more clusters hide stable sub-clusters.")
    if fitted.curves is not None:
        found += _stadion_cautions(fitted, fitted.curves)
    return found


def _stadion_cautions(fitted: Fitted, curves: Curves) -> list[str]:
    found = []
    if fitted.parameter == "K" and 1 not in fitted.values:
        text = "K = 1 was not a candidate, so the answer does not show that there are clusters."
        if curves.crossing_epsilon == 0:
            text += " In fact, no candidate beats K = 1 at any noise level."
        found.append(text)
    if fitted.selected is not None and _rises_at_the_end(curves.stadion[fitted.selected]):
        found.append(
            "The chosen path still rises at the largest noise level. Try larger epsilons."
        )
    if curves.paths.n_draws < 2:
        found.append(
            "One draw for each noise level gives no standard errors and no selection frequency."
        )
    return found


def _rivals(fitted: Fitted) -> str:
    """Name the candidates that other draws would choose."""
    assert fitted.frequency is not None
    order = np.argsort(-fitted.frequency, kind="stable").tolist()
    others = [i for i in order if i != fitted.selected and fitted.frequency[i] >= 0.05][:3]
    named = ", ".join(f"{fitted.named(i)} in {percentage(fitted.frequency[i])}" for i in others)
    return f"other draws of the noise would give {named}" if named else "other draws differ"


def _rises_at_the_end(path: NDArray[np.float64]) -> bool:
    return len(path) > 1 and int(np.argmax(path)) == len(path) - 1
