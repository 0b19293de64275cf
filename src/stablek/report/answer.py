"""The answer in words: the headline, the reasons and the cautions."""

from __future__ import annotations

from typing import Any

import numpy as np

from stablek.report.fitted import Fitted
from stablek.report.numbers import percentage

__all__ = ["cautions", "reasons", "sentence"]

UNCERTAIN = 0.75
"""An answer is called uncertain if fewer than this share of the resamplings give it."""


def sentence(fitted: Fitted) -> str:
    """Return the answer: "5 clusters. Next best: 6. Chosen in 97% of resampled draws."."""
    if fitted.n_clusters is None:
        abstention = getattr(fitted.selector, "abstention_", None)
        return f"no answer: {abstention or 'no candidate could be chosen'}"
    one = fitted.n_clusters == 1
    text = "no cluster structure: K = 1" if one else f"{fitted.n_clusters} clusters"
    if fitted.parameter != "K" and fitted.selected is not None:
        text += f" ({fitted.named(fitted.selected)})"
    if fitted.runner_up is not None:
        text += f". Next best: {fitted.values[fitted.runner_up]}"
    if fitted.answer_frequency is not None:
        text += f". Chosen in {percentage(fitted.answer_frequency)} of resampled draws"
    return f"{text}."


def reasons(fitted: Fitted) -> list[str]:
    """Return the reasons for the answer."""
    if fitted.n_clusters is None:
        return []
    if fitted.paths is None:
        return _score_reasons(fitted)
    return _one_cluster_reasons(fitted) if fitted.n_clusters == 1 else _stadion_reasons(fitted)


def _score_reasons(fitted: Fitted) -> list[str]:
    if fitted.selected is None:
        return []
    chosen, second = fitted.named(fitted.selected), fitted.runner_up
    if second is None:
        return [f"{fitted.method} chose {chosen} by its own rule."]
    return [
        f"{fitted.method} gives the best score to {chosen}: {fitted.scores[fitted.selected]:.3g}. "
        f"The next best is {fitted.named(second)} with {fitted.scores[second]:.3g}."
    ]


def _stadion_reasons(fitted: Fitted) -> list[str]:
    assert fitted.selected is not None
    chosen, selector = fitted.selected, fitted.selector
    levels = np.flatnonzero(selector.counted_levels_)
    where = "On average over the noise levels that count"
    if selector.aggregation == "max":
        levels = levels[[np.argmax(selector.stadion_paths_[chosen, levels])]]
        where = f"At noise level ε = {selector.epsilons_[levels[0]]:.2f}"
    between = selector.between_stability_[chosen, levels].mean()
    within = selector.within_stability_[chosen, levels].mean()
    score = f"Its score of {fitted.scores[chosen]:.3f} is the highest."
    if fitted.runner_up is not None:
        second = fitted.scores[fitted.runner_up]
        score += f" The next best is {fitted.named(fitted.runner_up)} with {second:.3f}."
    found = [
        f"{where}, the partition into {fitted.n_clusters} clusters survives the noise (between "
        f"stability {between:.2f}), but splits of its clusters do not (within stability "
        f"{within:.2f}).",
        score,
    ]
    if selector.crossing_epsilon_ > 0:
        found.append(
            f"Some K ≥ 2 beats K = 1 up to ε = {selector.crossing_epsilon_:.2f}, the crossing. "
            f"Stronger noise destroys the structure."
        )
    return found


def _one_cluster_reasons(fitted: Fitted) -> list[str]:
    assert fitted.paths is not None
    crossing, epsilons = fitted.selector.crossing_epsilon_, fitted.selector.epsilons_
    found = [
        "No partition into two or more clusters beats leaving the data whole, at any noise level."
        if crossing == 0
        else f"K = 1 has the highest score up to the crossing at ε = {crossing:.2f}."
    ]
    one = fitted.paths.k_values[0]
    others = [i for i, value in enumerate(fitted.values) if value != one]
    levels = np.flatnonzero(epsilons > 0)
    if others and len(levels):
        paths = fitted.selector.stadion_paths_[others][:, levels]
        gaps = fitted.paths.stadion[0].mean(axis=-1)[levels] - paths
        row, column = np.unravel_index(np.argmin(gaps), gaps.shape)
        if gaps[row, column] >= 0:
            found.append(
                f"{fitted.named(others[row])} comes closest: at ε = "
                f"{epsilons[levels[column]]:.2f} it is {gaps[row, column]:.3f} below K = 1."
            )
    return found


def cautions(fitted: Fitted, clusters: list[dict[str, Any]]) -> list[str]:
    """Return what a reader should know before relying on the answer with these clusters."""
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
    hides = [cluster for cluster in clusters if cluster["hidden_k"] is not None]
    found += [
        f"Cluster {cluster['label']} hides {cluster['hidden_k']} sub-clusters as stable as "
        f"the partition itself."
        for cluster in hides[:5]
    ]
    if len(hides) > 5:
        found.append(f"{len(hides) - 5} more clusters hide stable sub-clusters.")
    if fitted.paths is None:
        return found
    if fitted.parameter == "K" and 1 not in fitted.values:
        text = "K = 1 was not a candidate, so the answer does not show that there are clusters."
        if fitted.selector.crossing_epsilon_ == 0:
            text += " In fact, no candidate beats K = 1 at any noise level."
        found.append(text)
    if fitted.selected is not None:
        path = fitted.selector.stadion_paths_[fitted.selected]
        if np.argmax(path) == len(path) - 1 > 0:
            found.append(
                "The chosen path still rises at the largest noise level. Try larger epsilons."
            )
    if fitted.paths.n_draws < 2:
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
