"""How long the computations took. One that answers for several methods counts once."""

from __future__ import annotations

from collections.abc import Iterable

import pandas as pd

from study.plan import Run


def task_seconds(frame: pd.DataFrame, runs: Iterable[Run]) -> pd.Series:
    """Seconds by experiment, algorithm, fit, dataset and seed.

    The time of each method that judges common partitions includes making them. So the longest
    time of a computation stands for all its methods.
    """
    fits = frame["key"].map({run.key: run.fit for run in runs})
    where = ["experiment", "algorithm", "fit", "dataset", "seed"]
    return frame.assign(fit=fits).groupby(where)["seconds"].max()
