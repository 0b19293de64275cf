"""The command line: list, run, status, tables, figures."""

from __future__ import annotations

import argparse
import signal
import sqlite3
import sys
from pathlib import Path
from time import monotonic

from study.experiments import EXPERIMENTS, plan
from study.plan import Run, filtered, tasks_of
from study.protocol import PROTOCOLS, Protocol
from study.store import Store


def main(arguments: list[str] | None = None) -> int:
    """Run a command; return 1 if a run failed, else 0."""
    options = _parser().parse_args(arguments)
    protocol = PROTOCOLS[options.plan]
    if options.plan != "paper" and options.home == Path("study"):
        raise SystemExit("--home: a plan other than 'paper' needs its own folder for its rows")
    runs = plan(protocol)
    chosen = list(filtered(runs, _filters(options)))
    if not chosen:
        raise SystemExit("no run matches these filters; see: python -m study list")
    if options.command == "list":
        return _list(chosen)
    try:
        return _with_store(chosen, protocol, options)
    except sqlite3.OperationalError as error:  # locked, read-only, disk full
        raise SystemExit(f"cannot use {options.home / 'study.sqlite'}: {error}") from None
    except sqlite3.DatabaseError as error:
        raise SystemExit(
            f"{options.home / 'study.sqlite'} is damaged ({error}); delete it: the next command "
            f"reads the rows in {options.home / 'results'} again, and run computes the others"
        ) from None


def _with_store(chosen: list[Run], protocol: Protocol, options: argparse.Namespace) -> int:
    store = Store(options.home, read_only=options.command != "run")
    if options.command == "status":
        return _status(chosen, store)
    if options.command == "run":
        return _run(chosen, store, options)
    from study.report import page

    if options.command == "tables":
        page.write_tables(store, protocol, options.docs, options.only)
    else:
        page.write_figures(store, protocol, options.docs, options.only)
    return 0


def _list(runs: list[Run]) -> int:
    for experiment in EXPERIMENTS:
        for task in tasks_of(run for run in runs if run.experiment == experiment):
            print(f"{task} · {' '.join(task.methods)}")
    return 0


def _status(runs: list[Run], store: Store) -> int:
    done = store.done()
    counts: dict[tuple[str, str, str], list[int]] = {}
    for run in runs:
        count = counts.setdefault((run.experiment, run.algorithm, run.fit), [0, 0])
        count[0] += run.key in done
        count[1] += 1
    for (experiment, algorithm, fit), (finished, total) in counts.items():
        print(f"{experiment:16} {algorithm:14} {fit:22} {finished:6} of {total}")
    todo = [run for run in runs if run.key not in done]
    print(f"{len(runs) - len(todo)} of {len(runs)} runs are done")
    older = sum(each.former is not None and each.former.key in done for each in todo)
    if older:
        print(f"{older} of the others have rows from the first version's search for noise levels")
    return 0


def _run(runs: list[Run], store: Store, options: argparse.Namespace) -> int:
    from study.runner import run_tasks, weight

    # Turn SIGTERM into an exception, which also stops the workers and their long runs.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    done = store.done()
    tasks = tasks_of(run for run in runs if run.key not in done)
    print(f"{len(tasks)} tasks to do", file=sys.stderr, flush=True)
    # Cheap tasks first, which gives the most rows in limited time, or an experiment's own order.
    names = list(EXPERIMENTS)
    orders = {name: getattr(module, "order", weight) for name, module in EXPERIMENTS.items()}
    tasks.sort(key=lambda task: (names.index(task.experiment), orders[task.experiment](task)))
    groups: tuple[list, list] = ([], [])
    for task in tasks:
        groups[getattr(EXPERIMENTS[task.experiment], "SERIAL", False)].append(task)
    deadline = None if options.minutes is None else monotonic() + 60.0 * options.minutes
    where = {"backend": options.backend, "scheduler": options.scheduler}
    failed = run_tasks(groups[0], store, jobs=options.jobs, deadline=deadline, **where)
    failed += run_tasks(groups[1], store, jobs=1, deadline=deadline)
    return 1 if failed else 0


def _filters(options: argparse.Namespace) -> dict[str, list | None]:
    fields = {name: getattr(options, name) for name in ("algorithm", "method", "dataset", "fit")}
    return {"experiment": options.only, "seed": options.seed, **fields}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m study", description=__doc__)
    commands = ("list", "run", "status", "tables", "figures")
    parser.add_argument("command", choices=commands)
    parser.add_argument("--plan", choices=list(PROTOCOLS), default="paper")
    parser.add_argument("--home", type=Path, default=Path("study"), help="folder of the rows")
    parser.add_argument("--docs", type=Path, default=Path("docs"), help="folder of the page")
    which = parser.add_argument_group("which runs (each option takes several values)")
    which.add_argument("--only", nargs="+", choices=list(EXPERIMENTS))
    for name in ("algorithm", "method", "dataset", "fit"):
        which.add_argument(f"--{name}", nargs="+")
    which.add_argument("--seed", nargs="+", type=int)
    how = parser.add_argument_group("how to run")
    how.add_argument("--jobs", type=int, default=1)
    how.add_argument("--backend", choices=("loky", "threading", "dask"), default="loky")
    how.add_argument("--scheduler", help="address of a Dask scheduler (default: a local one)")
    how.add_argument("--minutes", type=float, help="start no new run after this many minutes")
    return parser


if __name__ == "__main__":
    sys.exit(main())
