"""``stablek demo``: choose the number of clusters of built-in data."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from typing import Any

from stablek.cli._files import check_outputs
from stablek.cli._models import make_selector
from stablek.cli._outputs import check_report, write_plot
from stablek.cli._running import collected_warnings, tell, wants_progress
from stablek.cli._select import print_answer
from stablek.cli._subsamples import N_SUBSAMPLES, ask_subsamples
from stablek.reading import standardize

__all__ = ["run"]

_LOAD = """\
from stablek.datasets import make_demo
from stablek.reading import standardize

X = standardize(make_demo()[0])"""


def run(args: argparse.Namespace) -> None:
    """Choose the number of clusters of the demo data; write the report and the picture."""
    report = os.path.join(args.output_dir, "stablek-demo.html")
    plot = os.path.join(args.output_dir, "stablek-demo.png")
    check_report(report)
    drawn = find_spec("matplotlib") is not None
    for path in (report, plot):
        check_outputs({"--output-dir": path})
    from stablek.datasets import make_demo

    X, _ = make_demo()
    selector = make_selector(
        "stadion", "kmeans", None, seed=0, jobs=args.jobs, verbose=wants_progress()
    )
    with collected_warnings() as warned:
        selector.fit(standardize(X))
        subsamples = ask_subsamples(selector, standardize(X), N_SUBSAMPLES)
    from stablek.report import summarize, write_summary

    told: dict[str, Any] = {
        "X": X,
        "subsamples": subsamples,
        "source": "stablek.datasets.make_demo()",
        "load": _LOAD,
    }
    summary = summarize(selector, **told)
    write_summary(summary, report)
    if drawn:
        write_plot(selector, plot)
    largest = selector.k_values_[-1]
    print(f"{X.shape[0]} points in the plane, K-means, K = 1 to {largest}: how many clusters?\n")
    print_answer(selector, summary["answer"], sys.stdout, subsamples)
    print(f"wrote {report}, the report to open in a browser")
    if drawn:
        print(f"wrote {plot}, the stability paths")
    else:
        print("pip install 'stablek[plot]' adds a picture of the stability paths")
    tell(warned)
