"""Compare answers with the truth: ARI, wins and ranks of the rows of Table 1."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from scipy import stats

from study import data

RANKED = 0.9
"""A method is ranked if it has at least this share of the data sets."""


def judged(frame: pd.DataFrame) -> pd.DataFrame:
    """Rows of Table 1 with two more columns: ``ari`` and ``win``.

    An answer K is judged by the ARI of the algorithm's own partition into K clusters with that
    seed, which the oracle's row stores. No answer counts as the one-cluster partition, with ARI 0.
    Rows without a row of the oracle cannot be judged and are left out.
    """
    oracle = frame[frame["method"] == "oracle"]
    found = {
        (row.dataset, row.algorithm, row.seed): (row.details["ari"], row.k)
        for row in oracle.itertuples()
    }
    rows = []
    for row in frame.itertuples():
        where = (row.dataset, row.algorithm, row.seed)
        if where not in found:
            continue
        aris, truth = found[where]
        failed = pd.isna(row.k)
        rows.append(
            {
                "dataset": row.dataset,
                "algorithm": row.algorithm,
                "method": row.method,
                "seed": row.seed,
                "k": None if failed else int(row.k),
                "ari": 0.0 if failed else aris[int(row.k) - 1],
                "win": not failed and row.k == truth,
                "truth": truth,
                "seconds": row.seconds,
                "details": row.details,
            }
        )
    return pd.DataFrame(rows, columns=[*_COLUMNS])


_COLUMNS = (
    "dataset",
    "algorithm",
    "method",
    "seed",
    "k",
    "ari",
    "win",
    "truth",
    "seconds",
    "details",
)


def wide(
    rows: pd.DataFrame, algorithm: str, methods: Sequence[str], value: str = "ari", seed: int = 0
) -> pd.DataFrame:
    """Table of data sets by methods for one seed.

    A method without a row for the seed has its row of the first seed. A method without any row
    has no column.
    """
    own = rows[(rows["algorithm"] == algorithm) & rows["seed"].isin([0, seed])]
    latest = own.sort_values("seed").drop_duplicates(["dataset", "method"], keep="last")
    table = latest.pivot(index="dataset", columns="method", values=value)
    return table.reindex(columns=[method for method in methods if method in table])


def complete(table: pd.DataFrame) -> pd.DataFrame:
    """Methods that have nearly all data sets, on the data sets that all of these methods have."""
    enough = table.notna().sum() >= RANKED * len(table)
    return table.loc[:, enough].dropna()


def average_ranks(table: pd.DataFrame) -> pd.Series:
    """Mean rank of each method. Rank 1 is the highest ARI; ties share their ranks."""
    ranks = stats.rankdata(-table.to_numpy(dtype=float), axis=1)
    return pd.Series(ranks.mean(axis=0), index=table.columns)


def distinct(datasets: Sequence[str]) -> list[str]:
    """Data sets without those whose file equals that of an earlier one."""
    files: dict[str, str] = {}
    for name in sorted(datasets):
        info = data.INFO.get(name)
        files.setdefault(info.sha256_data if info else name, name)
    return sorted(files.values())
