"""The experiments of the study, one module each.

A module has three functions: ``plan`` lists the runs, ``weight`` estimates the cost of a task, and
``compute`` runs a task. It may also have ``order``, the sort key of its tasks; without
it, cheap tasks come first.
"""

from __future__ import annotations

from types import ModuleType

from study.experiments import (
    cost,
    examples,
    harder,
    hyperparameters,
    nonclusterable,
    real,
    seconds,
    similarity,
    structure,
    structure_settings,
    table1,
)
from study.plan import Run
from study.protocol import Protocol

EXPERIMENTS: dict[str, ModuleType] = {
    module.NAME: module
    for module in (
        table1,
        harder,
        real,
        nonclusterable,
        structure,
        structure_settings,
        examples,
        hyperparameters,
        similarity,
        cost,
        seconds,
    )
}


def plan(protocol: Protocol) -> list[Run]:
    """Every run of the study."""
    return [run for module in EXPERIMENTS.values() for run in module.plan(protocol)]
