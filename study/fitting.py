"""Fits that several experiments share, and their outcomes in the form that rows store."""

from __future__ import annotations

from time import perf_counter
from typing import Any

import numpy as np

from stablek import Stadion, compare
from stablek.selectors import SELECTORS
from stablek.similarity import compare_labels
from study import data
from study.plan import Task

AGGREGATIONS = ("max", "mean")


def stadion_settings(protocol: Any, **changes: Any) -> dict[str, Any]:
    """The paper's settings of extended Stadion, in full; ``changes`` overrides some of them.

    The committed rows with ``epsilons="auto"`` come from the first version of stablek, which
    searched for noise levels. Today "auto" is a fixed grid. The entry "levels" keeps the rows of
    the two rules apart; see `study.plan.Run.former`.

    The entry "relabel" says "extend" for the paper's extended version, which stablek now calls
    "predict". The entry is part of the keys of committed rows, so it keeps its word. It says
    "noise" for what stablek calls "extend": mixtures that know the noise.

    ``one_cluster`` is the paper's rule unless ``changes`` names another.
    """
    settings = {
        "k_max": protocol.k_max,
        "n_init": protocol.n_init,
        "omega": [2, protocol.omega_max],
        "relabel": "extend",
        "perturbation": "uniform",
        "n_perturbations": protocol.n_perturbations,
        "epsilons": "auto",
        "n_epsilons": protocol.n_epsilons,
        "similarity": "ari",
        **changes,
    }
    if settings["epsilons"] == "auto" and settings["perturbation"] != "bootstrap":
        settings.setdefault("levels", "grid")  # a bootstrap has no levels
    return settings


def stadion(X: np.ndarray, algorithm: str, seed: int, settings: dict[str, Any]) -> Stadion:
    """Stadion with these settings, unfitted."""
    options = {"one_cluster": "crossing"} | settings
    for key in ("levels", "test"):  # parts of the key only
        options.pop(key, None)
    # "extend" is the paper's extended version.
    names = {"extend": "predict", "noise": "extend"}
    options["relabel"] = names.get(options["relabel"], options["relabel"])
    first, last = options.pop("omega")
    epsilons = options.pop("epsilons")
    if epsilons == "sqrt":  # the paper's grid, which is also what "auto" means today
        epsilons = np.linspace(0.0, np.sqrt(X.shape[1]), options["n_epsilons"])
    return Stadion(
        data.clusterer(algorithm, options.pop("n_init")),
        k_range=range(1, options.pop("k_max") + 1),
        omega=range(first, last + 1),
        epsilons=epsilons,
        random_state=seed,
        **options,
    )


def fit_stadion(
    X: np.ndarray, algorithm: str, seed: int, settings: dict[str, Any]
) -> tuple[Stadion, float]:
    """A fitted Stadion, and the seconds that the fit took."""
    model = stadion(X, algorithm, seed, settings)
    started = perf_counter()
    model.fit(X)
    return model, perf_counter() - started


def fit_selector(
    X: np.ndarray, method: str, algorithm: str, seed: int, settings: dict[str, Any]
) -> tuple[Any, float]:
    """A fitted selector of another method, and the seconds that the fit took."""
    options = dict(settings)
    selector = SELECTORS[method](
        data.clusterer(algorithm, options.pop("n_init")),
        k_range=range(1, options.pop("k_max") + 1),
        random_state=seed,
        **options,
    )
    started = perf_counter()
    selector.fit(X)
    return selector, perf_counter() - started


def judge(task: Task, X: np.ndarray) -> dict[str, Any]:
    """Methods that judge given partitions, with the defaults of stablek.

    The time of each method includes making the partitions.
    """
    table = compare(
        X,
        {method: SELECTORS[method]() for method in task.methods},
        {"": data.clusterer(task.algorithm, task.common["n_init"])},
        k_range=range(1, task.common["k_max"] + 1),
        random_state=task.seed,
    )
    shared = table.reference_seconds[""]
    return {row.method: {"k": row.n_clusters, "seconds": row.seconds + shared} for row in table}


def stadion_affixes(fit: str) -> tuple[str, str]:
    """Text before and after the aggregation in the names of a fit's methods."""
    parts = {"extend": "_extended", "sqrt": "_sqrt", "noise": "_noise", "default": "_default"}
    return "stadion_", "".join(suffix for part, suffix in parts.items() if part in fit)


def stadion_names(fit: str) -> list[str]:
    """Names of the methods of a fit, one for each aggregation."""
    prefix, suffix = stadion_affixes(fit)
    return [f"{prefix}{aggregation}{suffix}" for aggregation in AGGREGATIONS]


def stadion_outcomes(model: Stadion, seconds: float, prefix: str, suffix: str) -> dict[str, Any]:
    """Outcomes of both aggregations, with the margins of their answers."""
    outcomes = {}
    tested = model.structure_test_ is not None
    test = {"pvalue": float(model.structure_pvalue_)} if tested else {}
    for aggregation in AGGREGATIONS:
        chosen = model.reselect(aggregation=aggregation)
        scores = np.sort(chosen.scores[~np.isnan(chosen.scores)])
        at = list(chosen.k_values).index(chosen.best_value)
        several = np.where(np.array(chosen.k_values) > 1, chosen.scores, -np.inf)
        outcomes[f"{prefix}{aggregation}{suffix}"] = {
            "k": int(chosen.best_value),
            "seconds": seconds,
            "details": {
                "margin": float(scores[-1] - scores[-2]),
                "best_above_1": int(chosen.k_values[int(several.argmax())]),
                "frequency": float(chosen.selection_frequency[at]),
                "crossing": float(chosen.crossing_epsilon),
                **test,
            },
        }
    return outcomes


def paths_outcome(model: Stadion, y: np.ndarray, seconds: float) -> dict[str, Any]:
    """Outcome with all curves, which the figures need."""
    by_mean = model.reselect(aggregation="mean")
    digits = {name: getattr(model, name).round(4).tolist() for name in _CURVES}
    details = {
        **digits,
        "k_values": [int(k) for k in model.k_values_],
        "crossing": float(model.crossing_epsilon_),
        "mean_k": int(by_mean.best_value),
        "mean_scores": by_mean.scores.round(4).tolist(),
        "ari": [round(compare_labels(y, labels), 4) for labels in model.reference_labels_],
    }
    return {"k": int(model.best_value_), "seconds": seconds, "details": details}


_CURVES = (
    "epsilons_",
    "between_stability_",
    "within_stability_",
    "stadion_paths_",
    "scores_",
)
