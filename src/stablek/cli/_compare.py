"""``stablek compare``: compare what several criteria choose among the same partitions."""

from __future__ import annotations

import argparse
import math
import sys
from time import perf_counter
from typing import Any

from stablek.cli._blocks import open_blocks
from stablek.cli._data import MemoryInput, check_test_rows, load, resolve_k
from stablek.cli._files import check_outputs
from stablek.cli._models import keep_directions, make_clusterer, stadion_options
from stablek.cli._outputs import check_report, write_json
from stablek.cli._parser import METHODS
from stablek.cli._running import collected_warnings, tell, wants_progress
from stablek.cli._tables import Table, number, printable, show
from stablek.reading import InputError

__all__ = ["run"]


def run(args: argparse.Namespace) -> None:
    """Read, compare, write, print."""
    methods = args.methods or METHODS
    stadion = stadion_options(args)
    for option in [*stadion, *(["report"] if args.report else [])]:
        if "stadion" not in methods:
            raise InputError(f"--{option.replace('_', '-')} needs stadion among --methods")
    outputs = {"--report": args.report, "--json": args.json}
    check_report(args.report)
    check_outputs(outputs, args.file)
    keep_directions(args, args.algorithms)
    blocks = open_blocks(args, wants_progress())
    data = _in_memory(args) if blocks is None else blocks
    tests = "stadion" in methods and stadion.get("one_cluster", "test") == "test"
    if isinstance(data, MemoryInput) and tests and data.k_range[-1] > 1:
        check_test_rows(
            data.points,
            args.file,
            "use --one-cluster never or crossing, or --methods without stadion",
        )
    from stablek.selectors.compare import compare

    started = perf_counter()
    with collected_warnings() as warned:
        comparison = compare(
            data.X,
            methods,
            {name: make_clusterer(name) for name in args.algorithms},
            k_range=data.k_range,
            options={"stadion": {**stadion, "verbose": int(wants_progress())}},
            random_state=args.seed,
            n_jobs=args.jobs,
        )
    seconds = perf_counter() - started
    if args.report is not None:
        from stablek.report import write_report

        best = comparison.best.selector
        write_report(
            best,
            args.report,
            X=data.original(best),
            comparison=comparison,
            source=printable(args.file),
            load=data.loading_code(),
        )
    if args.json is not None:
        write_json(_records(comparison), args.json)

    stream = sys.stderr if args.json == "-" else sys.stdout
    print(_sentence(comparison), file=stream)
    if comparison.header:
        print(comparison.header, file=stream)
    print(file=stream)
    show(_table(comparison, args.algorithms), stream)
    for sentence in comparison.advice:
        print(sentence, file=stream)
    k_values = data.k_range or _k_values(comparison)
    tried = f"K = {k_values[0]} to {k_values[-1]}; " if k_values else ""
    print(f"\n{data.described()}; {tried}seed {args.seed}; {seconds:.1f} s", file=stream)
    for path in (args.report, args.json):
        if path not in (None, "-"):
            print(f"wrote {printable(path)}", file=stream)
    abstentions = [
        f"{row.method} abstains for {row.clusterer}: {row.abstention}"
        for row in comparison
        if row.abstention is not None
    ]
    tell([*data.notes, *warned, *abstentions])


def _in_memory(args: argparse.Namespace) -> MemoryInput:
    points, frame = load(args)
    return MemoryInput(args, points, frame, resolve_k(args.k, points, args.file))


def _k_values(comparison: Any) -> list[int]:
    """Return the candidates that a method had."""
    found = (row.selector.k_values_ for row in comparison if row.selector is not None)
    return [int(k) for k in next(found, ())]


def _sentence(comparison: Any) -> str:
    """Return Stadion's choice (its scores compare across algorithms) and the votes."""
    parts = []
    rows = [row for row in comparison if row.method == "stadion"]
    if rows:
        best = comparison.best
        among = f" of {best.clusterer}, the best of {len(rows)}" if len(rows) > 1 else ""
        chosen = f"{best.n_clusters} clusters{among}"
        parts.append(f"stadion: {chosen if best.n_clusters > 1 else 'no cluster structure'}")
    if len(comparison) > len(rows):
        votes = comparison.votes()
        counted = ", ".join(f"K = {k} by {n}" for k, n in list(votes.items())[:4])
        parts.append(f"votes: {counted or 'none'} of {len(comparison)}")
    return "; ".join(parts)


def _table(comparison: Any, algorithms: tuple[str, ...]) -> Table:
    several = len(algorithms) > 1
    headers = [
        *(["algorithm"] if several else []),
        "method",
        "K",
        "score",
        "own value",
        "agreement",
        *(["rows"] if comparison.in_blocks else []),
        "seconds",
    ]
    rows = [
        [
            *([row.clusterer] if several else []),
            row.method,
            "-" if row.n_clusters is None else str(row.n_clusters),
            number(row.score),
            "" if math.isnan(row.own_value) else number(row.own_value),
            number(row.agreement),
            *([row.rows] if comparison.in_blocks else []),
            number(row.seconds, 2),
        ]
        for row in comparison
    ]
    stadion = any(row.method == "stadion" for row in comparison)
    chosen = comparison.rows.index(comparison.best) if stadion else None
    return Table(headers, rows, chosen, left=["algorithm", "method"])


def _records(comparison: Any) -> list[dict[str, Any]]:
    """Return the rows for JSON, with null where a number is not finite."""
    names = (
        "method",
        "n_clusters",
        "score",
        "own_value",
        "agreement",
        "stadion_agreement",
        "rows",
        "seconds",
    )
    return [
        {
            "algorithm": row.clusterer,
            **{name: _finite(getattr(row, name)) for name in names},
            "structure_pvalue": _finite(getattr(row.selector, "structure_pvalue_", None)),
            "abstention": row.abstention,
        }
        for row in comparison
    ]


def _finite(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value
