"""``stablek datasets``: the benchmark data sets of the paper."""

from __future__ import annotations

import argparse
import csv
from typing import TextIO

from stablek.cli._files import check_outputs
from stablek.cli._outputs import write_text
from stablek.cli._tables import Table, show
from stablek.reading import InputError

__all__ = ["run"]


def run(args: argparse.Namespace) -> None:
    """List the data sets, or write one to a file."""
    if args.action == "list":
        _list()
    else:
        _fetch(args.name, args.output or f"{args.name}.csv")


def _list() -> None:
    from stablek.datasets import list_benchmark

    rows = [
        [info.name, str(info.n_samples), str(info.n_features), str(info.n_clusters)]
        for info in list_benchmark()
    ]
    show(Table(["name", "rows", "features", "clusters"], rows, left=["name"]))


def _fetch(name: str, output: str) -> None:
    from stablek.datasets import fetch_benchmark, list_benchmark

    if name in {info.name for info in list_benchmark()}:  # fetch_benchmark refuses other names
        check_outputs({"--output": output})
    try:
        X, y = fetch_benchmark(name)
    except ImportError as error:
        raise InputError(str(error)) from error

    def write(file: TextIO) -> None:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow([*(f"x{j}" for j in range(1, X.shape[1] + 1)), "label"])
        writer.writerows(
            [*map(repr, row), label] for row, label in zip(X.tolist(), y.tolist(), strict=True)
        )

    write_text(output, write)
    if output != "-":
        print(f"wrote {output}: {X.shape[0]} rows, {X.shape[1]} features, and the column label")
        print(f"next: stablek select {output} --drop label")
