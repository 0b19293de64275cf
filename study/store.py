"""Finished runs as rows: in SQLite while running, and in CSV files for the repository."""

from __future__ import annotations

import csv
import json
import sqlite3
from collections.abc import Iterable
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd

from stablek.files import PREFIX, replacing
from study.plan import Run, canonical, row_key

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
    key TEXT PRIMARY KEY, experiment TEXT, dataset TEXT, algorithm TEXT, method TEXT,
    seed INTEGER, settings TEXT, k INTEGER, seconds REAL, details TEXT);
CREATE TABLE IF NOT EXISTS settings (id TEXT PRIMARY KEY, text TEXT);
"""
_FIELDS = ("dataset", "algorithm", "method", "seed", "settings", "k", "seconds", "details")


def rounded(value: Any, digits: int = 6) -> Any:
    """Round numbers to a few digits, so that rows stay the same when read back from text."""
    if isinstance(value, dict):
        return {name: rounded(each, digits) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(each, digits) for each in value]
    if isinstance(value, float):
        return float(f"{value:.{digits}g}")
    return value


class Store:
    """Rows of finished runs. A row is stored for good as soon as `add` returns.

    With ``read_only`` the store is a copy in memory, and nothing in ``home`` changes.
    """

    def __init__(self, home: Path, *, read_only: bool = False) -> None:
        self.results = home / "results"
        file = home / "study.sqlite"
        if read_only:
            self._rows = _copy(file)
        else:
            home.mkdir(parents=True, exist_ok=True)
            self._rows = sqlite3.connect(file, timeout=60.0)
        self._rows.executescript(_SCHEMA)
        self._import()

    def add(self, outcomes: Iterable[tuple[Run, dict[str, Any]]]) -> None:
        """Commit the outcomes (k, seconds, details) of one task: all of them or none."""
        with self._rows:
            for run, outcome in outcomes:
                details = canonical(rounded(outcome.get("details", {})))
                seconds = rounded(float(outcome["seconds"]), 3)
                self._insert(
                    run.experiment,
                    (run.dataset, run.algorithm, run.method, run.seed, run.settings_id),
                    (outcome.get("k"), seconds, details),
                )
                setting = (run.settings_id, run.settings)
                self._rows.execute("INSERT OR IGNORE INTO settings VALUES (?, ?)", setting)

    def _insert(
        self, experiment: str, identity: tuple[Any, ...], outcome: tuple[Any, ...]
    ) -> None:
        row = (row_key(experiment, *identity), experiment, *identity, *outcome)
        marks = ", ".join("?" * len(row))
        self._rows.execute(f"INSERT OR IGNORE INTO runs VALUES ({marks})", row)

    def done(self) -> set[str]:
        """Keys of the finished runs."""
        return {key for (key,) in self._rows.execute("SELECT key FROM runs")}

    def frame(self, runs: Iterable[Run]) -> pd.DataFrame:
        """Finished rows of these runs, and of no others.

        A run without a row takes the row of its former settings (`Run.former`), if there is one.
        The column ``former`` marks these rows.
        """
        columns = ("experiment", *_FIELDS)
        found = {
            key: row
            for key, *row in self._rows.execute(f"SELECT key, {', '.join(columns)} FROM runs")
        }
        rows = []
        for run in runs:
            if run.key in found:
                rows.append([run.key, False, *found[run.key]])
            elif (former := run.former) is not None and former.key in found:
                rows.append([run.key, True, *found[former.key]])
        frame = pd.DataFrame(rows, columns=["key", "former", *columns])
        frame["details"] = [json.loads(text) for text in frame["details"]]
        frame["k"] = frame["k"].astype("Int64")
        order = ["experiment", "dataset", "algorithm", "method", "seed"]
        return frame.sort_values(order, kind="stable", ignore_index=True)

    def export(self) -> None:
        """Write one CSV file for each experiment, and one with the settings."""
        self.results.mkdir(parents=True, exist_ok=True)
        for (experiment,) in self._rows.execute("SELECT DISTINCT experiment FROM runs").fetchall():
            rows = self._rows.execute(
                f"SELECT {', '.join(_FIELDS)} FROM runs WHERE experiment = ? "
                "ORDER BY dataset, algorithm, method, seed, settings",
                (experiment,),
            )
            _write(self.results / f"{experiment}.csv", _FIELDS, rows)
        settings = self._rows.execute("SELECT id, text FROM settings ORDER BY text")
        _write(self.results / "settings.csv", ("id", "text"), settings)

    def _import(self) -> None:
        """Read the committed CSV files. A row that is already there stays as it is."""
        with self._rows:
            for path in sorted(self.results.glob("*.csv")):
                if path.name.startswith(PREFIX):
                    continue  # an export that runs now or was killed
                with path.open(encoding="utf-8", newline="") as file:
                    for row in csv.DictReader(file):
                        self._import_row(path.stem, row)

    def _import_row(self, stem: str, row: dict[str, str]) -> None:
        if stem == "settings":
            setting = (row["id"], row["text"])
            self._rows.execute("INSERT OR IGNORE INTO settings VALUES (?, ?)", setting)
            return
        identity = tuple(row[name] for name in _FIELDS[:5])
        k = int(row["k"]) if row["k"] else None
        details = row["details"] or "{}"
        self._insert(stem, identity, (k, float(row["seconds"]), details))


def _copy(file: Path) -> sqlite3.Connection:
    """Copy a database, if there is one, to memory."""
    copy = sqlite3.connect(":memory:")
    if file.exists():
        with closing(sqlite3.connect(f"{file.absolute().as_uri()}?mode=ro", uri=True)) as source:
            source.execute("PRAGMA busy_timeout = 60000")
            source.backup(copy)
    return copy


def _write(path: Path, header: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> None:
    with replacing(path) as part, open(part, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows([["" if cell in (None, "{}") else cell for cell in row] for row in rows])
