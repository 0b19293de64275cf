"""Run tasks in order, in threads or with joblib: the only door to parallel work."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import lru_cache
from threading import Lock
from typing import Any, Literal, TypeVar

from joblib import Parallel, delayed, effective_n_jobs
from joblib.parallel import ThreadingBackend, get_active_backend
from threadpoolctl import OpenBLASController, ThreadpoolController

__all__ = ["n_workers", "run", "stream"]

T = TypeVar("T")


@lru_cache(maxsize=2)
def _controller(user_api: Literal["blas", "openmp"]) -> ThreadpoolController:
    return ThreadpoolController().select(user_api=user_api)


class _BlasLimit:
    """Limits BLAS to one thread for as long as any fit runs.

    The number of BLAS threads belongs to the process, so overlapping fits of several threads are
    counted: the first sets the limit and the last lifts it.
    """

    def __init__(self) -> None:
        self._lock, self._users = Lock(), 0
        self._limiter: Any = None

    def __enter__(self) -> None:
        with self._lock:
            if self._users == 0:
                with _any_thread_may_set():
                    self._limiter = _controller("blas").limit(limits=1)
            self._users += 1

    def __exit__(self, *exception: object) -> None:
        with self._lock:
            self._users -= 1
            if self._users == 0:
                with _any_thread_may_set():
                    self._limiter.restore_original_limits()


@contextmanager
def _any_thread_may_set() -> Iterator[None]:
    """Recent threadpoolctl lets only the thread that set a limit change it; ours are counted."""
    free = getattr(OpenBLASController, "clear_controlling_thread", lambda force: None)
    free(force=True)
    yield
    free(force=True)


_blas_limit = _BlasLimit()


@contextmanager
def _one_thread() -> Iterator[None]:
    """Sums in BLAS and OpenMP get one thread: their last bits depend on the number of threads.

    OpenMP keeps its number of threads per calling thread, so that limits nest there.
    """
    with _blas_limit, _controller("openmp").limit(limits=1):
        yield


def _call(function: Callable[..., T], task: Sequence[Any]) -> T:
    with _one_thread():
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
    return list(stream(function, tasks, n_jobs=n_jobs, prefer=prefer, progress=progress))


def stream(
    function: Callable[..., T],
    tasks: Sequence[Sequence[Any]],
    *,
    n_jobs: int | None = None,
    prefer: Literal["threads", "processes"] = "processes",
    progress: str | None = None,
) -> Iterator[T]:
    """`run` that yields each result in its turn, for results that are not all kept."""
    # The outer limit keeps tasks from switching thread counts back and forth.
    with _one_thread():
        workers = min(n_workers(n_jobs), len(tasks))
        results: Iterable[T]
        if workers < 2:
            results = (function(*task) for task in tasks)
        else:
            backend, _ = get_active_backend(prefer=prefer)
            if isinstance(backend, ThreadingBackend):
                results = _threads(function, tasks, workers)
            else:
                results = _processes(function, tasks, n_jobs, backend)
        yield from _watched(results, len(tasks), progress)


def _processes(
    function: Callable[..., T], tasks: Sequence[Sequence[Any]], n_jobs: int | None, backend: Any
) -> Iterable[T]:
    # The multiprocessing backend has no generators: its results come all at once.
    kind = "generator" if getattr(backend, "supports_return_generator", False) else "list"
    parallel = Parallel(n_jobs=n_jobs, prefer="processes", return_as=kind)
    results: Iterable[T] = parallel(delayed(_call)(function, task) for task in tasks)
    return results


def _threads(
    function: Callable[..., T], tasks: Sequence[Sequence[Any]], workers: int
) -> Iterator[T]:
    # joblib looks for finished threads every 10 ms, which is as long as some whole fits take.
    with ThreadPoolExecutor(workers) as pool:
        try:
            yield from pool.map(_call, [function] * len(tasks), tasks)
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
