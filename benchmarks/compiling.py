"""CPU seconds that numba takes to compile the kernels of a first fit, one by one.

    python -m benchmarks.compiling kmeans    # one kind of fit, in a fresh cache
    python -m benchmarks.run compile         # all kinds, into RESULTS.md

A kernel contains the inner kernels that it calls. "alone" leaves out the time to compile these
before, but not the time to optimize their copies inside the kernel.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections import defaultdict
from time import process_time, thread_time
from typing import Any

import numpy as np

HEADER = ["fit", "CPU s", "to compile", "kernels", "of these, the longest"]
KINDS = {
    "kmeans": "K-means, 200 x 2",
    "column": "K-means, 200 x 1",
    "wide": "K-means, 60 x 300",
    "ward": "Ward, 200 x 2",
    "gmm": "Gaussian mixtures, 200 x 2",
}


class Recorder:
    """Listens to numba: CPU seconds of every kernel, with and without those that it calls."""

    def __init__(self) -> None:
        self.total: dict[str, float] = defaultdict(float)
        self.alone: dict[str, float] = defaultdict(float)
        self.count: dict[str, int] = defaultdict(int)
        self._running: list[list[float]] = []

    def notify(self, event: Any) -> None:
        if event.is_start:
            self._running.append([thread_time(), 0.0])
            return
        started, inner = self._running.pop()
        seconds = thread_time() - started
        if self._running:
            self._running[-1][1] += seconds
        function = event.data["dispatcher"].py_func
        name = f"{function.__module__.removeprefix('stablek.kernels.')}.{function.__qualname__}"
        name = name.replace("<locals>.", "")
        self.alone[name] += seconds - inner
        self.count[name] += 1
        if not self._running:
            self.total[name] += seconds


def _fit(kind: str) -> None:
    from sklearn.cluster import AgglomerativeClustering, KMeans
    from sklearn.mixture import GaussianMixture

    from stablek import Stadion

    clusterers = {"ward": AgglomerativeClustering(), "gmm": GaussianMixture()}
    shape = {"column": (200, 1), "wide": (60, 300)}.get(kind, (200, 2))
    X = np.random.default_rng(0).normal(size=shape)
    Stadion(clusterers.get(kind, KMeans(n_init=10)), random_state=0, n_jobs=1).fit(X)


def measure(kind: str) -> dict[str, Any]:
    """Compile the kernels of one kind of fit in a process with an empty cache."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, "-m", "benchmarks.compiling", kind, "--json"],
            env={**os.environ, "NUMBA_CACHE_DIR": cache}, capture_output=True, text=True,
            check=True,
        )  # fmt: skip
    return dict(json.loads(done.stdout))


def table_rows() -> list[list[str]]:
    rows = []
    for kind, title in KINDS.items():
        found = measure(kind)
        total = dict(sorted(found["total"].items(), key=lambda item: -item[1]))
        longest = ", ".join(f"`{name}` {seconds:.1f}" for name, seconds in list(total.items())[:4])
        sums = [f"{found['cpu']:.1f}", f"{sum(total.values()):.1f}", str(len(total))]
        rows.append([title, *sums, longest])
        print(rows[-1], flush=True)
    return rows


def main(kind: str, as_json: bool) -> None:
    from numba.core import event

    recorder = Recorder()
    listener = type("Listener", (event.Listener,), {
        "on_start": lambda self, found: recorder.notify(found),
        "on_end": lambda self, found: recorder.notify(found),
    })()  # fmt: skip
    with event.install_listener("numba:compile", listener):
        _fit(kind)
    found = {"cpu": process_time(), "total": recorder.total, "alone": recorder.alone}
    if as_json:
        print(json.dumps(found))
        return
    print(f"{found['cpu']:.1f} CPU s, {sum(recorder.total.values()):.1f} to compile")
    print("  total   alone  times  kernel")
    for name, alone in sorted(recorder.alone.items(), key=lambda item: -item[1]):
        total = recorder.total.get(name)
        shown = " " * 7 if total is None else f"{total:7.2f}"
        print(f"{shown} {alone:7.2f} {recorder.count[name]:6d}  {name}")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in KINDS:
        sys.exit(f"name one of {', '.join(KINDS)}")
    if "NUMBA_CACHE_DIR" not in os.environ:
        with tempfile.TemporaryDirectory() as folder:
            os.environ["NUMBA_CACHE_DIR"] = folder
            main(sys.argv[1], "--json" in sys.argv)
    else:
        main(sys.argv[1], "--json" in sys.argv)
