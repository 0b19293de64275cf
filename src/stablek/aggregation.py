"""From stability paths to an answer: crossing, scores, selection and its uncertainty."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from stablek import seeding
from stablek.execution import run
from stablek.results import ClusterStability, Selection, StabilityPaths

__all__ = [
    "AGGREGATIONS",
    "TIE",
    "OneCluster",
    "cluster_stability",
    "counted_levels",
    "crossing",
    "resolve_aggregation",
    "select",
]

Floats = NDArray[np.float64]
Aggregation = Callable[[Floats], float]
OneCluster = Literal["test", "crossing", "never"]

TIE = 1e-12
"""Scores that differ by less are equal. The smaller K wins."""

HIDDEN = 0.9
"""A cluster hides a partition that has this share of the chosen partition's stability."""

N_RESAMPLES = 1000
"""Number of times that the draws are resampled for the selection frequency."""

AGGREGATIONS: dict[str, Any] = {"max": np.max, "mean": np.mean}


def resolve_aggregation(aggregation: str | Aggregation) -> Any:
    """Aggregation of that name, or the callable itself.

    Examples
    --------
    >>> float(resolve_aggregation("max")([0.1, 0.3]))
    0.3
    """
    if callable(aggregation):
        return aggregation
    if isinstance(aggregation, str) and aggregation in AGGREGATIONS:
        return AGGREGATIONS[aggregation]
    raise ValueError(
        f"aggregation must be one of {sorted(AGGREGATIONS)} or a callable, got {aggregation!r}"
    )


def crossing(stadion: Floats, epsilons: Floats) -> NDArray[np.intp]:
    """Index of the last positive level at which some path beats the first one; -1 if none.

    Parameters
    ----------
    stadion : ndarray of shape (..., n_k, n_epsilons)
        Stadion paths, that of the one-cluster partition first.
    epsilons : ndarray of shape (n_epsilons,)

    Examples
    --------
    >>> paths = np.array([[0.0, 0.2, 0.6], [0.0, 0.5, 0.1]])
    >>> int(crossing(paths, np.array([0.0, 1.0, 2.0])))
    1
    """
    if stadion.shape[-2] == 1:
        return np.full(stadion.shape[:-2], -1)
    best = stadion[..., 1:, :].max(axis=-2)
    beats = (best > stadion[..., 0, :] + TIE) & (epsilons > 0)
    last = len(epsilons) - 1 - np.argmax(beats[..., ::-1], axis=-1)
    return np.where(beats.any(axis=-1), last, -1)


def counted_levels(epsilons: Floats, crossing_epsilon: float = 0.0) -> NDArray[np.bool_]:
    """Which noise levels count for a score: the positive ones, up to the crossing if there is one.

    Examples
    --------
    >>> counted_levels(np.array([0.0, 0.5, 1.0]), 0.5)
    array([False,  True, False])
    """
    counted = epsilons > 0
    if crossing_epsilon > 0:
        counted &= epsilons <= crossing_epsilon
    return counted if counted.any() else np.ones_like(counted)


def select(
    paths: StabilityPaths,
    k_values: tuple[Any, ...],
    *,
    aggregation: str | Aggregation = "max",
    one_cluster: OneCluster = "crossing",
    has_structure: bool = True,
    n_perturbations: int | None = None,
    omega: tuple[Any, ...] | None = None,
    entropy: int = 0,
) -> Selection:
    """Choose among the candidates from what was measured.

    Parameters
    ----------
    paths : StabilityPaths
        What was measured.
    k_values : tuple
        The candidates. The one-cluster partition takes part if 1 is among them, or if values are
        not numbers of clusters.
    aggregation : {"max", "mean"} or callable
        Turns the levels of a path that count into a score.
    one_cluster : {"test", "crossing", "never"}
        When the one-cluster partition is the answer. For "crossing" it competes along the path,
        and only levels up to the crossing count. Otherwise it has no score.
    has_structure : bool
        What the test says. Only "test" asks.
    n_perturbations : int or None
        Use the first draws only.
    omega : tuple or None
        Use some of the re-clustering values only.
    entropy : int
        Seed of the resampling of draws.
    """
    aggregate = resolve_aggregation(aggregation)
    columns = _columns(paths, omega)
    n_draws = _n_draws(paths, n_perturbations)
    between = paths.between[..., :n_draws]
    within = paths.within_stability(columns)[..., :n_draws]
    per_draw = between - within

    rule = _Rule(
        paths.epsilons,
        aggregate,
        by_crossing=one_cluster == "crossing",
        one_cluster_allowed=paths.k_values[0] is None or 1 in k_values,
        scored=np.array([one_cluster == "crossing" or n > 1 for n in paths.n_clusters]),
        nothing=one_cluster == "test" and not has_structure,
    )
    scores, winner, last = rule.choose(per_draw.mean(axis=-1)[None])
    weights = seeding.generator(entropy, "selection frequency").multinomial(
        n_draws, np.full(n_draws, 1.0 / n_draws), size=N_RESAMPLES
    )
    # `run` for one thread of BLAS: to wake others takes longer than the product.
    [resampled] = run(np.tensordot, [(weights / n_draws, per_draw, (1, 2))])
    _, winners, _ = rule.choose(resampled)
    frequency = np.bincount(winners, minlength=len(paths.k_values)) / N_RESAMPLES

    index = [paths.k_values.index(k) for k in k_values]
    best = int(winner[0])
    return Selection(
        k_values=k_values,
        n_clusters=paths.n_clusters[best],
        best_value=paths.k_values[best],
        epsilons=paths.epsilons,
        between_stability=between.mean(axis=-1)[index],
        within_stability=within.mean(axis=-1)[index],
        stadion_paths=per_draw.mean(axis=-1)[index],
        scores=scores[0][index],
        crossing_epsilon=rule.crossing_epsilon(last[0]),
        counted_levels=rule.counted(last[0]),
        selection_frequency=frequency[index],
    )


@dataclass(frozen=True)
class _Rule:
    """The rule that turns Stadion paths into a choice."""

    epsilons: Floats
    aggregate: Any
    by_crossing: bool
    one_cluster_allowed: bool
    scored: NDArray[np.bool_]
    nothing: bool

    def choose(self, stadion: Floats) -> tuple[Floats, NDArray[np.intp], NDArray[np.intp]]:
        """Scores (n, n_k), winning path (n,) and index of the crossing (n,).

        ``stadion`` is a stack of paths, (n, n_k, n_epsilons).
        """
        last = crossing(stadion, self.epsilons)
        scores = np.full(stadion.shape[:2], np.nan)
        for end in np.unique(last) if self.by_crossing else [-1]:
            same = last == end if self.by_crossing else np.full(len(last), True)
            paths = stadion[same][:, self.scored][:, :, self.counted(end)]
            scores[np.ix_(same, self.scored)] = self._aggregate(paths)
        ranked = np.where(np.isnan(scores), -np.inf, scores)
        if not self.one_cluster_allowed:
            ranked[:, 0] = -np.inf
        # The first path within a tie of the best: values are in ascending order.
        winner = np.argmax(ranked >= ranked.max(axis=1, keepdims=True) - TIE, axis=1)
        if self.one_cluster_allowed and (self.nothing or not self.scored.any()):
            winner[:] = 0
        elif self.one_cluster_allowed and self.by_crossing:
            winner[last < 0] = 0
        elif not self.scored.any():
            winner[:] = min(1, len(self.scored) - 1)
        return scores, winner, last

    def crossing_epsilon(self, last: int) -> float:
        """Noise level of a crossing's index; 0 if there is no crossing."""
        return float(self.epsilons[last]) if last >= 0 else 0.0

    def counted(self, last: int) -> NDArray[np.bool_]:
        """Which levels count if the crossing has that index."""
        end = self.crossing_epsilon(last) if self.by_crossing else 0.0
        return counted_levels(self.epsilons, end)

    def _aggregate(self, paths: Floats) -> Floats:
        if self.aggregate in (np.max, np.mean):
            return np.asarray(self.aggregate(paths, axis=-1))
        values = [[float(self.aggregate(path)) for path in rows] for rows in paths]
        if not np.isfinite(values).all():
            raise ValueError("aggregation must return finite numbers")
        return np.asarray(values)


def _columns(paths: StabilityPaths, omega: tuple[Any, ...] | None) -> NDArray[np.intp]:
    if omega is None:
        return np.arange(len(paths.omega))
    unknown = [value for value in omega if value not in paths.omega]
    if unknown or not omega:
        raise ValueError(
            f"omega must hold some of the values that were computed, {list(paths.omega)}, "
            f"got {list(omega)}; fit again for others"
        )
    return np.array([paths.omega.index(value) for value in omega])


def _n_draws(paths: StabilityPaths, n_perturbations: int | None) -> int:
    if n_perturbations is None:
        return paths.n_draws
    if not 1 <= n_perturbations <= paths.n_draws:
        raise ValueError(
            f"n_perturbations must be from 1 to the {paths.n_draws} that were computed, "
            f"got {n_perturbations}; fit again for more"
        )
    return int(n_perturbations)


def cluster_stability(paths: StabilityPaths, selection: Selection) -> list[ClusterStability]:
    """Stability inside each cluster of the chosen partition, over the levels that count.

    A cluster hides sub-clusters if some partition of it is nearly as stable as the chosen one, at
    the level at which the chosen path is highest.
    """
    best = paths.k_values.index(selection.best_value)
    levels = selection.counted_levels
    within = paths.mean_over_omega(np.arange(len(paths.omega)))[:, levels].mean(axis=(1, 2))
    path = np.where(levels, paths.stadion[best].mean(axis=-1), -np.inf)
    peak = int(np.argmax(path))
    stable = HIDDEN * float(paths.between[best, peak].mean())
    inside = np.nan_to_num(paths.clusters[:, :, peak].mean(axis=-1), nan=-np.inf)
    found = []
    for member in paths.members[best]:
        similarities = inside[member.row]
        # Nothing beats K = 1 if it was chosen, so it hides nothing.
        hides = best > 0 and similarities.max() >= stable
        hidden_k = paths.omega[int(np.argmax(similarities))] if hides else None
        within_stability = float(within[member.row])
        found.append(ClusterStability(member.label, member.size, within_stability, hidden_k))
    return found
