"""Data in blocks: memory, time per row against data in memory, growth, and what Dask adds.

python -m benchmarks.run blocks
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np

from stablek.blockwise.layout import Layout

LARGEST = 10_000_000
OPTIONS = """
import json, sys
import numpy as np
from time import perf_counter, process_time
from sklearn.cluster import KMeans
from stablek import Stadion

def selector(**options):
    return Stadion(KMeans(n_init=10), k_range=range(1, 6), relabel="extend",
                   one_cluster="crossing", epsilons=np.linspace(0, np.sqrt(10), 10),
                   n_perturbations=3, random_state=0, **options)

def told(make, **more):
    started, cpu = perf_counter(), process_time()
    fitted = make()
    seconds, cpu = perf_counter() - started, process_time() - cpu
    status = open("/proc/self/status").read()
    peak = 1024 * int(status.split("VmHWM:")[1].split()[0])
    print(json.dumps(dict(seconds=seconds, cpu=cpu, peak=peak, k=int(fitted.n_clusters_),
                          passes=getattr(fitted, "n_passes_", 0), **more)))
"""
MEMORY = """
X = np.load(sys.argv[1])
selector(n_jobs=-1).fit(X[:1000])
told(lambda: selector(n_jobs=-1).fit(X))
"""
BLOCKS = """
selector(n_jobs=-1).fit(np.random.default_rng(0).normal(size=(1000, 10)))
from stablek.blockwise import core, kmeans, threads
spent = {}
reduce = threads.ThreadBlocks.reduce
def timed(self, measure, title=None):
    started = process_time()
    result = reduce(self, measure, title)
    name = getattr(getattr(measure, "func", measure), "__name__", "?")
    spent.setdefault(name, []).append(process_time() - started)
    return result
threads.ThreadBlocks.reduce = timed
fit = selector(n_jobs=-1, max_rows_in_memory=1000, max_passes=5).fit
told(lambda: fit(sys.argv[1]), spent=spent)
"""
DASK = """
import dask.array as da
from dask.distributed import Client, LocalCluster
if __name__ == "__main__":
    workers = int(sys.argv[2])
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster):
            X = np.load(sys.argv[1], mmap_mode="r")[:500_000]
            X = da.from_array(X, chunks=(131_072, -1)).persist()
            selector(max_rows_in_memory=1000, max_passes=2).fit(X[:20_000])
            told(lambda: selector(max_rows_in_memory=1000, max_passes=5).fit(X))
"""
ONE_THREAD = """
X = np.load(sys.argv[1], mmap_mode="r")
selector(max_rows_in_memory=1000, max_passes=2).fit(X[:20_000])
told(lambda: selector(max_rows_in_memory=1000, max_passes=5).fit(X[:500_000]))
"""


def _run(code: str, *arguments: Any) -> dict[str, Any]:
    """Run a program in a process of its own, which reports as JSON."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as file:
        file.write(OPTIONS + code)
        file.flush()
        command = [sys.executable, file.name, *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        sys.exit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    print(result, flush=True)
    return result


def _write(folder: str, n: int, centers: np.ndarray) -> str:
    """Parquet files of a million rows each, as the other sections' data: five broad clusters."""
    import polars as pl

    os.makedirs(folder)
    rng = np.random.default_rng(0)
    for part in range(0, n, 1_000_000):
        size = min(1_000_000, n - part)
        X = centers[rng.integers(5, size=size)] + 3.0 * rng.normal(size=(size, 10))
        frame = pl.DataFrame(X / 6.0, schema=[f"x{j}" for j in range(10)])
        frame.write_parquet(os.path.join(folder, f"{part:012}.parquet"))
    return folder


def measure(table: Callable[[list[str], list[list[str]]], str]) -> str:
    """The section of the results; the temporary files take 1 GB."""
    centers = np.random.default_rng(1).uniform(-10, 10, size=(5, 10))
    with tempfile.TemporaryDirectory() as folder:
        import polars as pl

        small = _write(os.path.join(folder, "small"), 1_000_000, centers)
        array = os.path.join(folder, "X.npy")
        np.save(array, pl.read_parquet(small).to_numpy(order="c"))
        memory = _run(MEMORY, array)
        blocks = {1_000_000: _run(BLOCKS, small)}
        thread = _run(ONE_THREAD, array)
        dask = {workers: _run(DASK, array, workers) for workers in (1, 2)}
        os.remove(array)
        large = _write(os.path.join(folder, "large"), LARGEST, centers)
        blocks[LARGEST] = _run(BLOCKS, large)
    per_row = memory["cpu"] / 1e6
    rows = [["memory", "1,000,000", *_numbers(memory, 1e6), "1.00x", ""]]
    for n, result in blocks.items():
        ratio = result["cpu"] / n / per_row
        rows.append(
            ["Parquet", f"{n:,}", *_numbers(result, n), f"{ratio:.2f}x", str(result["passes"])]
        )
    return _text(table, rows, blocks, thread, dask)


def _text(
    table: Callable[[list[str], list[list[str]]], str],
    rows: list[list[str]],
    blocks: dict[int, dict[str, Any]],
    thread: dict[str, Any],
    dask: dict[int, dict[str, Any]],
) -> str:
    growth = blocks[LARGEST]["cpu"] / blocks[1_000_000]["cpu"]
    spent = blocks[LARGEST]["spent"]
    passes = [
        ["read, check and sample", *_cost(spent["_survey_block"])],
        ["Lloyd step (the first: all centers move)", *_cost(spent["step"][:1])],
        ["Lloyd step (mean of all)", *_cost(spent["step"])],
        ["perturb: 3 draws, 10 levels", *_cost(spent["measure"])],
    ]
    return (
        "p = 10, K 1..5, omega 2..5, D = 3, 10 levels, K-means extend, two threads, at most 5 "
        "passes (memory runs until the centers rest); one process each. Ratios are of CPU times, "
        "since other work may share the machine. Targets: at 10,000,000 rows below 2048 MB and "
        "at most 1.5x of the time per row of memory; growth at most 11x.\n\n"
        + table(
            ["data", "N", "s", "CPU s", "CPU us per row", "peak MB", "of memory", "passes"], rows
        )
        + f"\nGrowth from 1,000,000 to {LARGEST:,} rows: {growth:.1f}x.\n\n"
        + table(["pass", "runs", "CPU s per run", "CPU us per row"], passes)
        + "\nDask, 500,000 rows and 5 passes: "
        + f"one thread without Dask {thread['seconds']:.1f} s, one worker "
        + f"{dask[1]['seconds']:.1f} s (overhead {dask[1]['seconds'] / thread['seconds']:.2f}x), "
        + f"two workers {dask[2]['seconds']:.1f} s "
        + f"({dask[1]['seconds'] / dask[2]['seconds']:.2f}x as fast as one).\n\n"
        + _beyond(blocks[LARGEST]["cpu"] / LARGEST, dask[1]["seconds"] / thread["seconds"], table)
    )


def _beyond(
    per_row: float, overhead: float, table: Callable[[list[str], list[list[str]]], str]
) -> str:
    """Bytes of a pass, and the time of more rows on more workers by the measured cost."""
    rows = []
    for largest, draws in ((5, 3), (20, 10)):
        layout = Layout(tuple(range(2, largest + 1)), (), (2, 3, 4, 5))
        centers, p = int(layout.starts[-1]), 10
        cells = int(layout.first_cell(10)[-1]) * draws
        rows.append(
            [f"K 1..{largest}, D = {draws}", f"{8 * centers * p / 1e6:.2f}",
             f"{8 * centers * (3 + 2 * p) / 1e6:.2f}", f"{8 * cells / 1e6:.2f}"]
        )  # fmt: skip
    # A ratio below 1 is chance: the machine was busier during the other run.
    minutes = [per_row * max(1.0, overhead) * n / 100 / 60 for n in (1e9, 1e10)]
    return (
        "Megabytes of a pass (p = 10, 10 levels). None depends on N; the number of tasks, each of "
        "262,144 rows, does. The client receives one merged result.\n\n"
        + table(["work", "models to each worker", "sums of a task", "its tables"], rows)
        + "\nBy the CPU time per row at 10,000,000 rows and the overhead of one Dask worker (at "
        + "least 1), without the time to move results and to schedule, 100 "
        + f"workers with one core each would take {minutes[0]:.0f} minutes for 1 billion rows and "
        + f"{minutes[1]:.0f} minutes for 10 billion (K 1..5, D = 3, 5 passes).\n"
    )


def _numbers(result: dict[str, Any], n: float) -> list[str]:
    seconds, cpu, peak = result["seconds"], result["cpu"], result["peak"]
    return [f"{seconds:.0f}", f"{cpu:.0f}", f"{1e6 * cpu / n:.1f}", f"{peak / 2**20:.0f}"]


def _cost(seconds: list[float]) -> list[str]:
    mean = float(np.mean(seconds))
    return [str(len(seconds)), f"{mean:.1f}", f"{1e6 * mean / LARGEST:.2f}"]
