"""The answer in words: the sentence and the reasons."""

from __future__ import annotations

import numpy as np

from stablek.inspection import contenders, deciding_crossing, own_values, pvalue_text
from stablek.report.fitted import Fitted

__all__ = ["headline", "is_weak", "reasons", "sentence"]

WEAK_PVALUE = 0.2
"""Evidence is weak if the p-value is above this share of alpha."""

WEAK_FREQUENCY = 0.6
"""Evidence is weak if fewer than this share of the subsamples give the same K."""

KINDS = {
    "box": "uniform in the box of the principal components",
    "copula": "unimodal features with the correlations of the data",
    "sources": "unimodal independent components",
    "angular": "the directions of a Gaussian cloud",
}
"""What the reference sets of each kind are."""


def headline(fitted: Fitted) -> str:
    """Return the beginning of the sentence: "3 clusters"."""
    if fitted.n_clusters is None:
        return "no answer"
    if fitted.n_clusters < 2 or fitted.nothing_found:
        return "No cluster structure found"
    text = f"{fitted.n_clusters} clusters"
    if fitted.parameter != "K" and fitted.selected is not None:
        text += f" with {fitted.named(fitted.selected)}"
    return f"Weak evidence: {text}" if is_weak(fitted) else text


def sentence(fitted: Fitted) -> str:
    """Return the answer with its evidence.

    For example "3 clusters (p < 0.001 against no structure; same K on 18 of 20 subsamples). Next
    best: 5.". Parts that are not known are left out.
    """
    text = headline(fitted)
    if fitted.n_clusters is None:
        abstention = getattr(fitted.selector, "abstention_", None)
        return f"{text}: {abstention or 'no candidate could be chosen'}"
    known = _evidence(fitted)
    if known:
        text += f" ({known})"
    if fitted.n_clusters > 1 and fitted.nothing_found:
        text += f". Best of the candidates: {fitted.n_clusters}"
    elif fitted.n_clusters > 1 and fitted.runner_up is not None:
        text += f". Next best: {fitted.values[fitted.runner_up]}"
    elif fitted.n_clusters > 1 and fitted.single_choice:
        text += f". No other {fitted.parameter} was a candidate"
    return f"{text}."


def is_weak(fitted: Fitted) -> bool:
    """Whether the evidence for two or more clusters is weak.

    It is if the p-value is above a fifth of alpha, or if fewer than 60% of the subsamples give the
    same K.
    """
    if (fitted.n_clusters or 0) < 2:
        return False
    test, frequency = fitted.test, fitted.subsample_frequency
    return (test is not None and test.pvalue > WEAK_PVALUE * test.alpha) or (
        frequency is not None and frequency < WEAK_FREQUENCY
    )


def _evidence(fitted: Fitted) -> str:
    """Return what stands in parentheses: the p-value and the subsamples."""
    strong = (fitted.n_clusters or 0) > 1 and not is_weak(fitted)
    found = []
    if fitted.test is not None:
        against = " against no structure" if strong else ""
        found.append(f"{pvalue_text(fitted.test.pvalue)}{against}")
    if fitted.subsamples is not None and not fitted.single_choice:
        answers = fitted.subsamples.answers
        same = "same K" if (fitted.n_clusters or 0) > 1 else "same"
        found.append(f"{same} on {answers.count(fitted.n_clusters)} of {len(answers)} subsamples")
    return ("; " if strong else ", ").join(found)


def reasons(fitted: Fitted) -> list[str]:
    """Return the reasons for the answer."""
    if fitted.n_clusters is None:
        return []
    if fitted.paths is None:
        return _score_reasons(fitted)
    return _one_cluster_reasons(fitted) if fitted.n_clusters < 2 else _stadion_reasons(fitted)


def _score_reasons(fitted: Fitted) -> list[str]:
    if fitted.selected is None:
        return []
    chosen, second = fitted.named(fitted.selected), fitted.runner_up
    if fitted.single_choice:
        score = fitted.scores[fitted.selected]
        return [f"{chosen} was the only candidate with a score: {score:.3g}."]
    if second is None:
        return [f"{fitted.method} chose {chosen} by its own rule."]
    own = own_values(fitted.selector)
    name, values = ("", fitted.scores) if own is None else own
    best, next_best = (f"{name} {values[i]:.3g}".strip() for i in (fitted.selected, second))
    smaller = "" if fitted.method_maximizes else " Smaller is better."
    return [
        f"{fitted.method} gives the best score to {chosen}: {best}. "
        f"The next best is {fitted.named(second)} with {next_best}.{smaller}"
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
    if fitted.single_choice:
        score = f"Its score is {fitted.scores[chosen]:.3f}. There is no other to compare it with."
    if fitted.runner_up is not None:
        second = fitted.scores[fitted.runner_up]
        score += f" The next best is {fitted.named(fitted.runner_up)} with {second:.3f}."
    found = [
        f"{where}, the partition into {fitted.n_clusters} clusters survives the noise (between "
        f"stability {between:.2f}), but splits of its clusters do not (within stability "
        f"{within:.2f}).",
        score,
    ]
    if deciding_crossing(selector) > 0:
        found.append(
            f"Some K ≥ 2 beats K = 1 up to ε = {selector.crossing_epsilon_:.2f}, the crossing. "
            f"Stronger noise destroys the structure."
        )
    return found + _test_reasons(fitted)


def _test_reasons(fitted: Fitted) -> list[str]:
    """Say what the structure test compared, and what it found."""
    test = fitted.test
    if test is None:
        return []
    if test.by_valley:
        name, value, sets = "valley between two halves", test.valley, test.reference_valleys
    else:
        name, value, sets = "excess stability", test.statistic, test.reference_statistics
    of_sets = sets[test.kind]
    shape = f"{test.kind}: {KINDS[test.kind]}" if test.kind in KINDS else test.kind
    verdict = "look different" if test.rejected else "can look the same"
    return [
        f"Simulated data without clusters {verdict}: the {name} is {value:.3f} in your data, and "
        f"{of_sets.mean():.3f} ± {of_sets.std(ddof=1):.3f} in the {len(of_sets)} reference sets "
        f"that come closest ({shape}); {pvalue_text(test.pvalue)}."
    ]


def _one_cluster_reasons(fitted: Fitted) -> list[str]:
    assert fitted.paths is not None
    if fitted.nothing_found:
        found = _test_reasons(fitted)
        best = contenders(fitted.scores, None, limit=1)
        if best:
            found.append(
                f"{fitted.named(best[0])} has the highest score of the others: "
                f"{fitted.scores[best[0]]:.3f}."
            )
        return found
    if fitted.selector.one_cluster != "crossing":
        return ["No candidate has two or more clusters."]
    return _crossing_reasons(fitted)


def _crossing_reasons(fitted: Fitted) -> list[str]:
    """Explain one cluster by the paper's rule."""
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
