"""Runs, and the tasks that compute them. A run is one answer; a task computes several runs."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from study import protocol


def canonical(settings: Any) -> str:
    """Settings as text: equal settings give equal text."""
    return json.dumps(settings, sort_keys=True, separators=(",", ":"))


def _digest(text: str, length: int) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:length]


@dataclass(frozen=True)
class Run:
    """One answer: a method, on a data set, with an algorithm, for a seed.

    ``fit`` names the computation that gives the answer. ``common`` holds the settings that all
    runs of that computation share, and ``own`` the settings of this method alone. Both are
    canonical text.
    """

    experiment: str
    dataset: str
    algorithm: str
    method: str
    seed: int
    fit: str
    common: str
    own: str = "{}"

    @property
    def settings(self) -> str:
        """All settings that decide the result, besides the fields of the row."""
        return (
            f'{{"common":{self.common},"fit":"{self.fit}","own":{self.own},'
            f'"version":{protocol.VERSION}}}'
        )

    @property
    def settings_id(self) -> str:
        """Short name of the settings."""
        return _digest(self.settings, 8)

    @property
    def key(self) -> str:
        """Identity of the run. A changed setting gives another key."""
        return row_key(
            self.experiment, self.dataset, self.algorithm, self.method, self.seed, self.settings_id
        )

    @property
    def former(self) -> Run | None:
        """The same run in the first version of stablek, which searched for noise levels.

        None if the run did not use the search, or is of a method that came later.
        """
        common = json.loads(self.common)
        if common.get("levels") != "grid" or common.get("relabel") == "noise":
            return None
        del common["levels"]
        return replace(self, common=canonical(common))


def row_key(*fields: Any) -> str:
    """Key of a row from its fields. The last field is the short name of the settings."""
    return _digest(canonical([str(each) for each in fields]), 16)


@dataclass(frozen=True)
class Task:
    """One computation that gives the answers of several methods."""

    experiment: str
    dataset: str
    algorithm: str
    fit: str
    seed: int
    common: dict[str, Any]
    runs: list[Run] = field(repr=False)

    @property
    def methods(self) -> dict[str, dict[str, Any]]:
        """The requested methods, each with its own settings."""
        return {run.method: json.loads(run.own) for run in self.runs}

    def __str__(self) -> str:
        fields = (self.experiment, self.dataset, self.algorithm, self.fit, f"seed {self.seed}")
        return " · ".join(fields)


def tasks_of(runs: Iterable[Run]) -> list[Task]:
    """Group runs that share one computation, in the order of their first run."""
    groups: dict[Any, list[Run]] = {}
    for run in runs:
        group = (run.experiment, run.dataset, run.algorithm, run.fit, run.seed, run.common)
        groups.setdefault(group, []).append(run)
    return [Task(*group[:5], json.loads(group[5]), runs) for group, runs in groups.items()]


def filtered(runs: Iterable[Run], wanted: dict[str, list[Any] | None]) -> Iterator[Run]:
    """Runs that have one of the wanted values in every named field; None keeps all values."""
    for run in runs:
        if all(values is None or getattr(run, name) in values for name, values in wanted.items()):
            yield run
