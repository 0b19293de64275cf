"""``stablek test``: test whether the rows of a file have cluster structure at all."""

from __future__ import annotations

import argparse
import sys
from time import perf_counter
from typing import Any

from stablek.cli._data import check_test_rows, described, load, resolve_k
from stablek.cli._files import check_outputs
from stablek.cli._models import keep_directions, make_clusterer
from stablek.cli._outputs import check_plot, save_figure, write_json
from stablek.cli._running import collected_warnings, tell, wants_progress
from stablek.cli._tables import Table, number, printable, show
from stablek.inspection import pvalue_text

__all__ = ["run"]


def run(args: argparse.Namespace) -> None:
    """Read, test, write, print."""
    outputs = {"--json": args.json, "--plot": args.plot}
    check_plot(args.plot)
    check_outputs(outputs, args.file)
    keep_directions(args, [args.algorithm])
    points, frame = load(args)
    k_range = resolve_k(args.k, points, args.file)
    check_test_rows(points, args.file)
    from stablek.selectors.structure import structure_test

    started = perf_counter()
    with collected_warnings() as warned:
        test = structure_test(
            frame,
            make_clusterer(args.algorithm),
            k_range=k_range,
            alpha=args.alpha,
            n_reference_sets=args.reference_sets,
            random_state=args.seed,
            n_jobs=args.jobs,
            verbose=int(wants_progress()),
        )
    seconds = perf_counter() - started
    if args.json is not None:
        write_json({"source": printable(args.file), "seed": args.seed, **_record(test)}, args.json)
    if args.plot is not None:
        from stablek.display import StructureTestDisplay

        save_figure(lambda: StructureTestDisplay.from_test(test), args.plot)

    stream = sys.stderr if args.json == "-" else sys.stdout
    print(f"{_sentence(test)}\n", file=stream)
    show(_table(test), stream)
    tested = "" if test.n_rows == len(points.X) else f" ({test.n_rows} tested)"
    print(
        f"\n{described(args, points)}{tested}; {args.algorithm}; alpha {args.alpha:g}; "
        f"seed {args.seed}; {seconds:.1f} s",
        file=stream,
    )
    for path in outputs.values():
        if path not in (None, "-"):
            print(f"wrote {printable(path)}", file=stream)
    tell([*points.notes, *warned])


def _sentence(test: Any) -> str:
    """Return the answer, such as "No cluster structure found (p = 0.41)."."""
    from stablek.report.answer import WEAK_PVALUE

    text = "Cluster structure found" if test.rejected else "No cluster structure found"
    if test.rejected and test.pvalue > WEAK_PVALUE * test.alpha:
        text = "Weak evidence of cluster structure"
    return f"{text} ({pvalue_text(test.pvalue)})."


def _table(test: Any) -> Table:
    """Return one row for each kind of reference sets. The largest p-value decides."""
    headers = [
        "reference sets",
        "number",
        "their statistic",
        "statistic",
        "their valley",
        "valley",
        "p-value",
    ]
    rows = [
        [
            kind,
            str(len(test.reference_statistics[kind])),
            number(test.reference_statistics[kind].mean()),
            number(test.statistics[kind]),
            number(test.reference_valleys[kind].mean()),
            number(test.valley),
            pvalue_text(pvalue).removeprefix("p ").removeprefix("= "),
        ]
        for kind, pvalue in test.pvalues.items()
    ]
    return Table(headers, rows, list(test.pvalues).index(test.kind), left=["reference sets"])


def _record(test: Any) -> dict[str, Any]:
    """Return the test for JSON."""
    return {
        "sentence": _sentence(test),
        "structure": test.rejected,
        "pvalue": test.pvalue,
        "statistic": test.statistic,
        "kind": test.kind,
        "alpha": test.alpha,
        "pvalues": test.pvalues,
        "statistics": test.statistics,
        "reference_statistics": {
            kind: values.tolist() for kind, values in test.reference_statistics.items()
        },
        "valley": test.valley,
        "valley_pvalues": test.valley_pvalues,
        "reference_valleys": {
            kind: values.tolist() for kind, values in test.reference_valleys.items()
        },
        "k_values": test.k_values.tolist(),
        "epsilons": test.epsilons.tolist(),
        "excess": test.excess.tolist(),
        "n_rows": test.n_rows,
    }
