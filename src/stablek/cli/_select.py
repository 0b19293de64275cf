"""``stablek select``: choose the number of clusters of the rows of a file."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Mapping
from time import perf_counter
from typing import Any, TextIO

from stablek.cli._blocks import open_blocks
from stablek.cli._data import MemoryInput, load, resolve_k
from stablek.cli._evidence import evidence, notes
from stablek.cli._files import check_outputs
from stablek.cli._models import (
    default_algorithm,
    keep_directions,
    make_selector,
    min_cluster_sizes,
    stadion_options,
)
from stablek.cli._outputs import (
    check_plot,
    check_report,
    write_json,
    write_plot,
)
from stablek.cli._running import collected_warnings, tell, wants_progress
from stablek.cli._subsamples import ask_subsamples, counted
from stablek.cli._tables import printable, show
from stablek.reading import InputError

__all__ = ["print_answer", "run"]


def _in_memory(args: argparse.Namespace, algorithm: str) -> MemoryInput:
    points, frame = load(args, keep_table=args.append)
    # The values of HDBSCAN are no numbers of clusters.
    k_range = [] if algorithm == "hdbscan" else resolve_k(args.k, points, args.file)
    return MemoryInput(args, points, frame, k_range)


def run(args: argparse.Namespace) -> None:
    """Read, choose, write, print."""
    outputs = {f"--{name}": getattr(args, name) for name in ("report", "json", "labels", "plot")}
    for option in ("append", "safe_csv"):
        if getattr(args, option) and args.labels is None:
            raise InputError(f"--{option.replace('_', '-')} needs --labels")
    check_report(args.report)
    check_plot(args.plot)
    check_outputs(outputs, args.file)
    options = stadion_options(args)
    algorithm = args.algorithm or default_algorithm(args.method)
    keep_directions(args, [algorithm])
    blocks = open_blocks(args, wants_progress())
    if blocks is not None and args.append:
        raise InputError("--append is not possible for data that are read in blocks")
    data: Any = _in_memory(args, algorithm) if blocks is None else blocks
    if algorithm == "hdbscan":
        data.k_range = args.k = list(args.k or min_cluster_sizes(data.n_rows))
        if args.method == "stadion":
            options.setdefault("omega", data.k_range[:2])
    selector = make_selector(
        args.method,
        algorithm,
        None if args.k is None else data.k_range,
        seed=args.seed,
        jobs=args.jobs,
        verbose=wants_progress(),
        **options,
    )
    data.prepare(selector)
    started = perf_counter()
    with collected_warnings() as warned:
        selector.fit(data.X)
        rows = data.X if blocks is None else selector._fit_X
        subsamples = ask_subsamples(selector, rows, args.subsamples)
    seconds = perf_counter() - started

    from stablek.report import describe_answer, summarize, write_summary

    # The report shows the values of the file, not the standardized values.
    told: dict[str, Any] = {
        "X": data.original(selector),
        "subsamples": subsamples,
        "source": printable(args.file),
        "load": data.loading_code(),
        "ids": data.ids,
    }
    if args.report is None and args.json is None:
        answer = describe_answer(selector, subsamples)
    else:
        summary = summarize(selector, **told)
        answer = summary["answer"]
        if args.report is not None:
            write_summary(summary, args.report)
        if args.json is not None:
            write_json(summary, args.json)
    if args.labels is not None:
        labels = selector.labels_ if selector.n_clusters_ else None
        data.write_labels(labels, args.labels, safe=args.safe_csv)
    if args.plot is not None:
        write_plot(selector, args.plot)

    # Standard output holds the answer, or a file that was requested with "-".
    stream = sys.stderr if "-" in outputs.values() else sys.stdout
    print_answer(selector, answer, stream, subsamples)
    settings = [algorithm, args.method]
    if hasattr(selector, "relabel_"):
        settings.append(f"relabel {selector.relabel_}")
    settings += [f"seed {args.seed}", f"{seconds:.1f} s"]
    print(f"{data.described()}; {'; '.join(settings)}", file=stream)
    for path in outputs.values():
        if path not in (None, "-"):
            print(f"wrote {printable(path)}", file=stream)
    tell([*data.notes, *warned])


def print_answer(
    selector: Any, answer: Mapping[str, Any], stream: TextIO, subsamples: Any = None
) -> None:
    """Print the answer, the table of evidence, the subsamples and the cautions."""
    print(f"{printable(answer['sentence'])}\n", file=stream)
    show(evidence(selector), stream)
    print(file=stream)
    for note in notes(selector):
        print(note, file=stream)
    if subsamples is not None:
        print(f"How sure is it? {counted(subsamples)}", file=stream)
    if getattr(selector, "one_cluster", None) == "crossing":
        crossing = selector.crossing_epsilon_
        text = f"crossing at epsilon {crossing:.3g}: beyond it nothing beats K = 1"
        print(text if crossing > 0 else "no crossing: nothing ever beats K = 1", file=stream)
    for rival in answer["rivals"][:1]:
        print(printable(rival["sentence"]), file=stream)
    for caution in answer["cautions"]:
        print(f"caution: {printable(caution)}", file=stream)
