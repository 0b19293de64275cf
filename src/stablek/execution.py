"""Run tasks in order, in threads or with joblib: the only door to parallel work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from typing import Any, Literal, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import ThreadingBackend, get_active_backend
from threadpoolctl import ThreadpoolController

__all__ = ["n_workers", "run"]

T = TypeVar("T")


@lru_cache(maxsize=1)
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


def _one_thread(function: Callable[..., T], task: Sequence[Any]) -> T:
    # Sums in BLAS and OpenMP depend on the number of threads in their last bits; with one
    # thread per task the same task gives the same bits wherever it runs.
    with _controller().limit(limits=1):
        return function(*task)


def n_workers(n_jobs: int | None) -> int:
    """Number of workers that ``n_jobs`` stands for here (joblib's meaning)."""
    return int(effective_n_jobs(n_jobs))


def run(
    function: Callable[..., T],
    tasks: Sequence[Sequence[Any]],
    *,
    n_jobs: int | None = None,
    prefer: Literal["threads", "processes"] = "processes",
    progress: str | None = None,
) -> list[T]:
    """Call ``function(*task)`` for every task; results in the order of the tasks.

    Parameters
    ----------
    function : callable
        Must be a pure function of its arguments.
    tasks : sequence of argument tuples
        The work.
    n_jobs : int or None
        As in joblib; a surrounding ``joblib.parallel_config`` is honored.
    prefer : {"threads", "processes"}
        The kind of worker, unless a surrounding configuration names a backend.
    progress : str or None
        Title of a progress bar on stderr; None for silence.

    Examples
    --------
    >>> run(pow, [(2, 3), (3, 2)])
    [8, 9]
    """
    # The outer limit keeps tasks from switching thread counts back and forth.
    with _controller().limit(limits=1):
        workers = min(n_workers(n_jobs), len(tasks))
        if workers < 2:
            return list(_watched((function(*task) for task in tasks), len(tasks), progress))
        backend, _ = get_active_backend(prefer=prefer)
        if isinstance(backend, ThreadingBackend):
            return list(_watched(_threads(function, tasks, workers), len(tasks), progress))
        parallel = Parallel(n_jobs=n_jobs, prefer=prefer, return_as="generator")
        results = parallel(delayed(_one_thread)(function, task) for task in tasks)
        return list(_watched(results, len(tasks), progress))


def _threads(
    function: Callable[..., T], tasks: Sequence[Sequence[Any]], workers: int
) -> Iterator[T]:
    # joblib looks for finished threads every 10 ms, which is as long as some fits take in all.
    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from pool.map(_one_thread, [function] * len(tasks), tasks)
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def _watched(results: Iterable[T], total: int, title: str | None) -> Iterator[T]:
    if title is None:
        yield from results
        return
    try:
        from tqdm.auto import tqdm
    except ImportError:
        raise ImportError(
            "verbose=1 shows progress with tqdm, which is not installed: "
            "pip install 'stablek[progress]', or set verbose=0"
        ) from None
    yield from tqdm(results, total=total, desc=title)
