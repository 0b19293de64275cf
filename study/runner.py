"""Run tasks in parallel, store each answer as soon as it is there, and print the time left."""

from __future__ import annotations

import sys
import traceback
import warnings
from collections.abc import Iterator
from concurrent.futures.process import BrokenProcessPool
from contextlib import ExitStack
from time import monotonic
from typing import Any

from joblib import Parallel, delayed, parallel_config

from study.experiments import EXPERIMENTS
from study.plan import Task
from study.store import Store


def run_tasks(
    tasks: list[Task],
    store: Store,
    *,
    jobs: int = 1,
    backend: str = "loky",
    scheduler: str | None = None,
    deadline: float | None = None,
) -> int:
    """Run the tasks and return how many failed. No task starts after the deadline."""
    if not tasks:
        return 0
    progress = _Progress(tasks)
    with ExitStack() as stack:
        if backend == "dask":
            from distributed import Client

            workers = {} if scheduler else {"n_workers": jobs, "threads_per_worker": 1}
            stack.enter_context(Client(scheduler, **workers))
        stack.callback(store.export)
        stack.enter_context(parallel_config(backend=backend))
        # Each worker takes one task at a time, so that no task starts after the deadline.
        parallel = Parallel(
            jobs, return_as="generator_unordered", pre_dispatch="n_jobs", batch_size=1
        )
        ahead, running = iter(enumerate(tasks)), set[int]()
        while True:
            try:
                for index, outcomes, error in parallel(_calls(ahead, running, deadline)):
                    task = tasks[index]
                    if error is None:
                        store.add((run, outcomes[run.method]) for run in task.runs)
                    progress.tell(task, error)
                    running.discard(index)
                break
            except BrokenProcessPool:  # we cannot tell which worker was killed
                for index in sorted(running):
                    progress.tell(tasks[index], KILLED)
                running.clear()
    return progress.failed


KILLED = "A worker was killed while this ran; perhaps memory ran out. Try fewer --jobs."


def _calls(
    ahead: Iterator[tuple[int, Task]], running: set[int], deadline: float | None
) -> Iterator[Any]:
    """Yield the next tasks until the deadline, and add them to the running ones."""
    for index, task in ahead:
        if deadline is not None and monotonic() > deadline:
            return
        running.add(index)
        yield delayed(_compute)(index, task)


def _compute(index: int, task: Task) -> tuple[int, dict[str, Any] | None, str | None]:
    try:
        with warnings.catch_warnings():
            # Too few clusters and no convergence are expected for K up to 60.
            warnings.simplefilter("ignore")
            return index, EXPERIMENTS[task.experiment].compute(task), None
    except Exception:  # one failure must not end hours of work
        return index, None, traceback.format_exc()


class _Progress:
    """Progress lines on stderr. The weights of the tasks give the time left."""

    def __init__(self, tasks: list[Task]) -> None:
        self.total, self.finished, self.failed = len(tasks), 0, 0
        self.left = sum(weight(task) for task in tasks)
        self.spent, self.started = 0.0, monotonic()

    def tell(self, task: Task, error: str | None) -> None:
        self.finished += 1
        self.left -= weight(task)
        self.spent += weight(task)
        seconds = (monotonic() - self.started) * max(self.left, 0.0) / self.spent
        line = f"[{self.finished}/{self.total}] {task}, about {duration(seconds)} left"
        if error is not None:
            self.failed += 1
            line += f"\nFAILED, not stored: {task}\n{error}"
        print(line, file=sys.stderr, flush=True)


def weight(task: Task) -> float:
    """Expected cost of a task, in an arbitrary unit."""
    return float(EXPERIMENTS[task.experiment].weight(task))


def duration(seconds: float) -> str:
    """Seconds as text, in seconds, minutes or hours."""
    minutes = round(seconds / 60)
    if minutes < 1:
        return f"{seconds:.0f} s"
    return f"{minutes // 60} h {minutes % 60:02d} min" if minutes >= 60 else f"{minutes} min"
