"""The settings of the structure test: what each changes in false alarms, power and cost."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from study import data
from study.experiments import structure_settings
from study.protocol import Protocol
from study.report.blocks import Block, Table

TITLE = "Settings of the structure test"

_LEVELS = (0.01, 0.05, 0.1)
_TITLES = {
    "n_reference_sets": "at most {} reference sets of each kind",
    "n_epsilons": "{} noise levels",
    "n_perturbations": "{} draws",
}


def section(frame: pd.DataFrame, protocol: Protocol) -> Iterator[Block]:
    """One table: a row for each setting."""
    rows = frame[frame["experiment"] == structure_settings.NAME]
    table = rows.assign(pvalue=[each["pvalue"] for each in rows["details"]]).pivot(
        index=["dataset", "seed"], columns="method", values=["pvalue", "seconds"]
    )
    # Only drawings that every setting has tested: the settings are compared on the same data.
    table = table.dropna()
    names = [name for name in structure_settings.variants() if name in table["pvalue"]]
    if not len(table) or "default" not in names:
        return
    paired = np.array(
        [name.rsplit("_", 2)[0] in data.ROTATED_PAIRS for name, _ in table.index], dtype=bool
    )
    default = table["pvalue"]["default"].to_numpy()
    yield (
        "One setting at a time differs from the defaults: "
        + ", ".join(_title(f"{key}={value}") for key, value in structure_settings.DEFAULT.items())
        + f". All settings test the same {len(table)} drawings of 200 points: {(~paired).sum()} "
        f"without clusters and {paired.sum()} pairs of Gaussians three or four deviations apart."
    )
    body = []
    for name in names:
        pvalues = table["pvalue"][name].to_numpy()
        changed = int(((pvalues < 0.05) != (default < 0.05)).sum())
        seconds = np.median(table["seconds"][name] / table["seconds"]["default"])
        alarms = [_rate(pvalues[~paired] < level) for level in _LEVELS]
        power = [_rate(pvalues[paired] < level) for level in _LEVELS]
        body.append([_title(name), *alarms, *power, changed, float(seconds)])
    columns = ["setting"]
    columns += [f"{what} at {level:g}" for what in ("alarms", "found") for level in _LEVELS]
    columns += ["answers that change at 0.05", "seconds, to the defaults"]
    note = (
        "Alarms: share of the drawings without clusters that are found to have some, by the level "
        "of the test. Found: share of the pairs. The stages of the test are those of the level "
        "0.05. Seconds: median over the drawings of the ratio."
    )
    yield Table("structure_settings", "One setting at a time", columns, body, note)


def _title(name: str) -> str:
    if name == "default":
        return "defaults"
    key, _, value = name.partition("=")
    title = _TITLES[key].format(value)
    return title.removesuffix("s") if value == "1" else title


def _rate(found: np.ndarray) -> str | None:
    return f"{found.mean():.0%}" if len(found) else None
