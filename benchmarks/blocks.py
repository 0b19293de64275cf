"""Data in blocks: memory, time per row against data in memory, growth, and what Dask adds.

python -m benchmarks.run blocks                     # 1 and 10 million rows: hours on two cores
python -m benchmarks.blocks 200000 2000000          # the same section with other numbers of rows
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

ROWS = (1_000_000, 10_000_000)
DASK_ROWS = 500_000
OPTIONS = """
import json, sys
import numpy as np
from time import perf_counter, process_time
from sklearn.cluster import KMeans
from stablek import Stadion

def selector(**options):
    return Stadion(random_state=0, **options)

def quick(**options):
    return selector(k_range=range(1, 6), n_perturbations=3, one_cluster="never",
                    max_rows_in_memory=1000, **options)

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
quick(n_jobs=-1).fit(X[:1000])
told(lambda: selector(n_jobs=-1).fit(X))
"""
BLOCKS = """
quick(n_jobs=-1).fit(np.random.default_rng(0).normal(size=(1000, 10)))
from stablek.blockwise import threads
spent = {}
reduce = threads.ThreadBlocks.reduce
def timed(self, measure, title=None):
    started = process_time()
    result = reduce(self, measure, title)
    name = getattr(getattr(measure, "func", measure), "__name__", "?")
    spent.setdefault(name, []).append(process_time() - started)
    return result
threads.ThreadBlocks.reduce = timed
fit = selector(n_jobs=-1, max_rows_in_memory=1000).fit
told(lambda: fit(sys.argv[1]), spent=spent)
"""
DASK = """
import dask.array as da
from dask.distributed import Client, LocalCluster
if __name__ == "__main__":
    workers = int(sys.argv[2])
    with LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address=None) as cluster:
        with Client(cluster):
            X = np.load(sys.argv[1], mmap_mode="r")[:int(sys.argv[3])]
            X = da.from_array(X, chunks=(131_072, -1)).persist()
            quick(max_passes=2).fit(X[:20_000])
            told(lambda: quick(max_passes=5).fit(X))
"""
ONE_THREAD = """
X = np.load(sys.argv[1], mmap_mode="r")
quick(max_passes=2).fit(X[:20_000])
told(lambda: quick(max_passes=5).fit(X[:int(sys.argv[2])]))
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


def measure(
    table: Callable[[list[str], list[list[str]]], str], sizes: tuple[int, int] = ROWS
) -> str:
    """The section of the results; the temporary files of 10 million rows take 1 GB."""
    centers = np.random.default_rng(1).uniform(-10, 10, size=(5, 10))
    small, large = sizes
    with tempfile.TemporaryDirectory() as folder:
        import polars as pl

        files = _write(os.path.join(folder, "small"), small, centers)
        array = os.path.join(folder, "X.npy")
        np.save(array, pl.read_parquet(files).to_numpy(order="c"))
        blocks = {small: _run(BLOCKS, files)}
        memory = _run(MEMORY, array)
        n_dask = min(DASK_ROWS, small)
        thread = _run(ONE_THREAD, array, n_dask)
        dask = {workers: _run(DASK, array, workers, n_dask) for workers in (1, 2)}
        os.remove(array)
        blocks[large] = _run(BLOCKS, _write(os.path.join(folder, "large"), large, centers))
    return _text(table, memory, blocks, thread, dask, n_dask)


def _text(
    table: Callable[[list[str], list[list[str]]], str],
    memory: dict[str, Any],
    blocks: dict[int, dict[str, Any]],
    thread: dict[str, Any],
    dask: dict[int, dict[str, Any]],
    n_dask: int,
) -> str:
    small, large = blocks
    per_row = memory["cpu"] / small
    rows = [["memory", f"{small:,}", *_numbers(memory, small), "1.00x", ""]]
    for n, result in blocks.items():
        ratio = result["cpu"] / n / per_row
        rows.append(
            ["Parquet", f"{n:,}", *_numbers(result, n), f"{ratio:.2f}x", str(result["passes"])]
        )
    growth = blocks[large]["cpu"] / blocks[small]["cpu"]
    spent = blocks[large]["spent"]
    raced = len(spent["step"]) - blocks[large]["passes"]
    passes = [
        ["read, check and sample", *_cost(spent["_survey_block"], large)],
        ["race of starts", *_cost(spent["step"][:raced], large)],
        ["Lloyd step, the first: all centers move", *_cost(spent["step"][raced:][:1], large)],
        ["Lloyd step, mean of all", *_cost(spent["step"][raced:], large)],
        ["perturb: 10 draws, 10 levels", *_cost(spent["measure"], large)],
    ]
    # Two sizes tell the cost of a row from what does not depend on the number of rows.
    each = (blocks[large]["cpu"] - blocks[small]["cpu"]) / (large - small)
    once = blocks[small]["cpu"] - each * small
    overhead = dask[1]["seconds"] / thread["seconds"]
    return (
        "p = 10, all parameters at their defaults (K 1..20, omega 2..5, D = 10, 10 levels, at "
        "most 20 passes, a sample of 100,000 rows), two threads; one process each. Ratios are of "
        "CPU times, since other work may share the machine. Targets: at 10,000,000 rows below "
        "2048 MB and at most 1.5x of the time per row of memory; growth at most 1.1x of that of "
        "the rows.\n\n"
        + table(
            ["data", "N", "s", "CPU s", "CPU us per row", "peak MB", "of memory", "passes"], rows
        )
        + f"\nGrowth from {small:,} to {large:,} rows: {growth:.1f}x for {large / small:.0f}x the "
        + "rows.\n\n"
        + table(["pass", "runs", "CPU s per run", "CPU us per row"], passes)
        + f"\nBoth sizes together: {once:.0f} s for the sample and the structure test, and "
        + f"{1e6 * each:.0f} us for each row, labels included. That makes "
        + f"{(once / 1e6 + each) / per_row:.2f}x of memory's time per row (at {small:,} rows) for "
        + f"1,000,000 rows, and {(once / 1e7 + each) / per_row:.2f}x for 10,000,000.\n"
        + f"\nDask, {n_dask:,} rows (tasks: {-(-n_dask // 262_144)}), K 1..5, D = 3, 5 passes: "
        + f"one thread without Dask {thread['seconds']:.1f} s, one worker "
        + f"{dask[1]['seconds']:.1f} s (overhead {overhead:.2f}x), "
        + f"two workers {dask[2]['seconds']:.1f} s "
        + f"({dask[1]['seconds'] / dask[2]['seconds']:.2f}x as fast as one).\n\n"
        + _beyond(each, once, overhead, table)
    )


def _beyond(
    per_row: float,
    once: float,
    overhead: float,
    table: Callable[[list[str], list[list[str]]], str],
) -> str:
    """Bytes of a pass, and the time of more rows on more workers by the measured cost."""
    p, levels, draws, fan_in = 10, 10, 10, 8
    layout = Layout(tuple(range(2, 21)), (), (2, 3, 4, 5))
    centers = int(layout.starts[-1])
    models, sums = 8 * centers * p / 1e6, 8 * centers * (3 + 2 * p) / 1e6
    tables = 8 * int(layout.first_cell(levels)[-1]) * draws / 1e6
    rows = []
    for n in (1e9, 1e10):
        tasks = int(np.ceil(n / 262_144))
        merges = tasks / (fan_in - 1)  # of a tree with eight branches at each node
        # A ratio below 1 is chance: the machine was busier during the other run.
        minutes = (per_row * max(1.0, overhead) * n / 100 + once) / 60
        rows.append(
            [f"{n:,.0f}", f"{tasks:,}", f"{tasks * sums / 1e3:,.1f}",
             f"{tasks * (sums + tables) / 1e3:,.0f}", f"{merges / 100:,.0f}", f"{minutes:.0f}"]
        )  # fmt: skip
    return (
        "Dask moves these bytes for K 1..20, p = 10, D = 10 and 10 levels. They do not depend on "
        f"N: the models, {models:.2f} MB, once to each worker in a pass; the result that the "
        f"client receives, {sums:.2f} MB for a Lloyd step and {sums + tables:.1f} MB for the pass "
        "with noise; the result of a task of 262,144 rows, of the same size. The number of tasks "
        "grows with N, so the bytes of all results together do. A worker merges eight results at "
        "a time and reads those of other workers over the network.\n\n"
        + table(
            [
                "N",
                "tasks of a pass",
                "GB of results, Lloyd step",
                "GB of results, noise",
                "merges of each of 100 workers",
                "minutes on 100 workers",
            ],
            rows,
        )
        + "\nMinutes by the CPU time per row, the overhead of one Dask worker (at "
        + "least 1), and the work that does not depend on N, on the client. 100 workers have one "
        + "core each. The time to schedule tasks and to move results is not in them: it has not "
        + "been measured on so many workers.\n"
    )


def _numbers(result: dict[str, Any], n: float) -> list[str]:
    seconds, cpu, peak = result["seconds"], result["cpu"], result["peak"]
    return [f"{seconds:.0f}", f"{cpu:.0f}", f"{1e6 * cpu / n:.1f}", f"{peak / 2**20:.0f}"]


def _cost(seconds: list[float], n: int) -> list[str]:
    mean = float(np.mean(seconds)) if seconds else 0.0
    return [str(len(seconds)), f"{mean:.1f}", f"{1e6 * mean / n:.2f}"]


if __name__ == "__main__":
    from benchmarks.run import table

    print(measure(table, (int(sys.argv[1]), int(sys.argv[2]))))
