"""Real data: answers of all methods beside the number of labels."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd

from study import data
from study.experiments import harder, real
from study.protocol import Protocol
from study.report import paper
from study.report.blocks import Block, Table
from study.report.harder import ALGORITHMS

TITLE = "Real data"

_NAMES = {
    "load_digits": "digits",
    "load_wine": "wine",
    "load_breast_cancer": "breast cancer",
    "load_iris": "iris",
    "load_diabetes": "diabetes",
    "china.jpg": "colors of china.jpg",
    "flower.jpg": "colors of flower.jpg",
}
_TITLES = {"elbow": "Elbow"}


def section(frame: pd.DataFrame, protocol: Protocol) -> Iterator[Block]:
    """All blocks: the sets, the answers with each algorithm, and how sure Stadion is."""
    rows = frame[frame["experiment"] == real.NAME]
    datasets = [name for name, _ in (*protocol.real, *protocol.real_unlabeled)]
    yield (
        "These data come with scikit-learn. Nobody knows how many clusters they have. The labels "
        "say what somebody wanted to predict, and a class may be several clusters, or none. So "
        "no answer here is right or wrong, and nothing is counted as a win. Of an image, "
        f"{data.N_PIXELS} random pixels are the points. K ranges from 1 to "
        f"{protocol.real_k_max}; other settings are as on the page about harder truth."
    )
    yield _sets(protocol)
    for algorithm in ALGORITHMS:
        own = rows[rows["algorithm"] == algorithm]
        if len(own):
            yield _answers(own, algorithm, datasets, protocol)
    yield _stadion(rows, datasets, protocol)


def _labels(dataset: str) -> int | None:
    _, y = data.load(dataset)
    return None if y is None else len(np.unique(y))


def _sets(protocol: Protocol) -> Table:
    body = []
    for dataset, standardize in (*protocol.real, *protocol.real_unlabeled):
        p, n = data.size(dataset)
        body.append([_NAMES[dataset], n, p, standardize, _labels(dataset)])
    columns = ("data set", "points", "features", "standardized", "labels")
    return Table("real_sets", "The sets", columns, body)


def _answers(rows: pd.DataFrame, algorithm: str, datasets: list[str], protocol: Protocol) -> Table:
    found = {(row.method, row.dataset): row.k for row in rows.itertuples()}
    methods = [*harder.DEFAULT, *harder.JUDGED[algorithm], *harder.RESAMPLING[algorithm]]
    body = [["number of labels", *(_labels(dataset) for dataset in datasets)]]
    for method in methods:
        cells = [_cell(found, method, dataset) for dataset in datasets]
        body.append([_TITLES.get(method, paper.title(method)), *cells])
    columns = ("method", *(_NAMES[dataset] for dataset in datasets))
    note = (
        f"A dash: not run, or no labels. *none*: the method abstains. Gap, Hennig and Ben-Hur use "
        f"{protocol.n_resamples} reference sets, bootstraps or pairs, and Lange "
        f"{protocol.n_resamples // 2} splits."
    )
    title = f"Number of clusters with {ALGORITHMS[algorithm]}"
    return Table(f"real_{algorithm}", title, columns, body, note)


def _cell(found: dict[tuple[str, str], Any], method: str, dataset: str) -> Any:
    if (method, dataset) not in found:
        return None
    k = found[method, dataset]
    return "none" if pd.isna(k) else int(k)


def _stadion(rows: pd.DataFrame, datasets: list[str], protocol: Protocol) -> Table:
    body = []
    for dataset in datasets:
        for algorithm, name in ALGORITHMS.items():
            own = rows[(rows["dataset"] == dataset) & (rows["algorithm"] == algorithm)]
            by_method = {row.method: row for row in own.itertuples()}
            chosen = by_method.get(harder.DEFAULT[0])
            if chosen is None:
                continue
            again = by_method.get("subsamples")
            counts = again.details.items() if again else ()
            body.append(
                [
                    _NAMES[dataset],
                    name,
                    _labels(dataset),
                    int(chosen.k),
                    chosen.details["pvalue"],
                    chosen.details.get("ari"),
                    ", ".join(f"{k} ({count})" for k, count in _most_frequent(counts)) or None,
                ]
            )
    columns = ("data set", "algorithm", "labels", "K", "p-value", "ARI with the labels")
    columns += ("K on subsamples (how often)",)
    note = (
        f"Stadion-max with its defaults. The last column has the answers on "
        f"{protocol.n_subsamples} subsamples of 80% of the points "
        "(`stablek.subsample_frequency`)."
    )
    return Table("real_stadion", "How sure is Stadion?", columns, body, note)


def _most_frequent(counts: Any) -> list[tuple[int, int]]:
    return sorted(((int(k), count) for k, count in counts), key=lambda each: (-each[1], each[0]))
