"""What a reader should know before relying on the answer."""

from __future__ import annotations

from typing import Any

import numpy as np

from stablek.inspection import pvalue_text
from stablek.report.answer import WEAK_FREQUENCY
from stablek.report.fitted import Fitted
from stablek.report.numbers import percentage
from stablek.spherical import SphericalKMeans, cohesion

__all__ = ["cautions"]

UNCERTAIN = 0.75
"""An answer is called uncertain if fewer than this share of the resampled draws give it."""

LOOSE = 1 / 3
"""A cluster of directions is loose below this share of the usual mean cosine of two rows."""


def cautions(fitted: Fitted, clusters: list[dict[str, Any]]) -> list[str]:
    """Return what a reader should know before relying on the answer with these clusters."""
    found = [*_sample(fitted), *_uncertainty(fitted), *_no_structure(fitted)]
    found += _loose(fitted)
    last = fitted.selected == len(fitted.values) - 1
    if last and fitted.parameter == "K" and (fitted.n_clusters or 0) > 1:
        found.append(
            f"{fitted.values[-1]} is the largest candidate. A larger K may be better: try "
            f"more values."
        )
    hides = [cluster for cluster in clusters if cluster["hidden_k"] is not None]
    for cluster in hides[:5]:
        hidden = f"{cluster['hidden_k']} sub-clusters"
        if fitted.parameter != "K":
            hidden = f"sub-clusters, found with {fitted.parameter} = {cluster['hidden_k']},"
        found.append(
            f"Cluster {cluster['label']} hides {hidden} as stable as the partition itself."
        )
    if len(hides) > 5:
        found.append(f"{len(hides) - 5} more clusters hide stable sub-clusters.")
    if fitted.paths is None:
        return found
    if fitted.selected is not None:
        path = fitted.selector.stadion_paths_[fitted.selected]
        if np.argmax(path) == len(path) - 1 > 0 and not np.isnan(fitted.scores[fitted.selected]):
            found.append(
                "The chosen path still rises at the largest noise level. Try larger epsilons."
            )
    if fitted.paths.n_draws < 2:
        found.append(
            "One draw for each noise level gives no standard errors and no selection frequency."
        )
    return found


def _sample(fitted: Fitted) -> list[str]:
    """Say what comes from a sample if the data were read in blocks."""
    if fitted.n_rows is None or fitted.row_numbers is None:
        return []
    return [
        f"The data have {fitted.n_rows:,} rows. Points, cluster sizes and feature means of the "
        f"report are those of a random sample of {len(fitted.row_numbers):,} rows."
    ]


def _uncertainty(fitted: Fitted) -> list[str]:
    """Say which answers subsamples of the rows, and other draws of the noise, would give."""
    found = []
    frequency = fitted.subsample_frequency
    if frequency is not None and frequency < WEAK_FREQUENCY:
        found.append(f"The answer depends on the rows: {_other_rows(fitted)}.")
    frequency = fitted.answer_frequency
    if frequency is not None and frequency < UNCERTAIN:
        found.append(f"The answer is uncertain: {_other_draws(fitted)}.")
    return found


def _other_rows(fitted: Fitted) -> str:
    """Name the answers on subsamples, the most frequent first."""
    assert fitted.subsamples is not None
    answers = fitted.subsamples.answers
    others = [(k, n) for k, n in fitted.subsamples.counts.items() if k != fitted.n_clusters]
    named = [f"K = {k} on {n}" for k, n in others[:3]]
    if None in answers:
        named.append(f"no answer on {answers.count(None)}")
    return f"{', '.join(named)} of {len(answers)} subsamples"


def _no_structure(fitted: Fitted) -> list[str]:
    """Say if nothing shows that there are clusters at all."""
    if fitted.paths is None or (fitted.n_clusters or 0) < 2:
        return []
    if fitted.test is not None:
        if fitted.test.rejected:
            return []
        return [
            f"The structure test finds no clusters ({pvalue_text(fitted.test.pvalue)}). K = 1 was "
            f"not a candidate, so the answer is the best of the others."
        ]
    if fitted.selector.one_cluster != "crossing":
        return ["No structure test was made, so the answer does not show that there are clusters."]
    if fitted.parameter != "K" or 1 in fitted.values:
        return []
    text = "K = 1 was not a candidate, so the answer does not show that there are clusters."
    if fitted.selector.crossing_epsilon_ == 0:
        text += " In fact, no candidate beats K = 1 at any noise level."
    return [text]


def _loose(fitted: Fitted) -> list[str]:
    """Say which clusters of directions are so loose that they may be no topics."""
    if not isinstance(getattr(fitted.selector, "best_estimator_", None), SphericalKMeans):
        return []
    if fitted.X is None or fitted.labels is None or (fitted.n_clusters or 0) < 2:
        return []
    tightness = cohesion(fitted.X, fitted.labels)
    usual = float(np.median(tightness[fitted.labels]))
    loose = np.flatnonzero(tightness < LOOSE * usual)
    if not len(loose):
        return []
    share = float(np.isin(fitted.labels, loose).mean())
    return [
        f"{len(loose)} of {fitted.n_clusters} clusters are loose, with {percentage(share)} of the "
        f"rows: {', '.join(map(str, loose[:10]))}{', ...' if len(loose) > 10 else ''}. Two of "
        f"their rows have a mean cosine of at most {tightness[loose].max():.2f}; {usual:.2f} is "
        f"usual. They may be parts of a background of unrelated rows. K-means on unit rows can "
        f"put all of it into one cluster: make_pipeline(Normalizer(), "
        f"Stadion(noise_scale='global'))."
    ]


def _other_draws(fitted: Fitted) -> str:
    """Name the candidates that other draws would choose."""
    assert fitted.frequency is not None
    order = np.argsort(-fitted.frequency, kind="stable").tolist()
    others = [i for i in order if i != fitted.selected and fitted.frequency[i] >= 0.05][:3]
    named = ", ".join(f"{fitted.named(i)} in {percentage(fitted.frequency[i])}" for i in others)
    return f"other draws of the noise would give {named}" if named else "other draws differ"
