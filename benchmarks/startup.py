"""CPU seconds of a small ``stablek select`` with compiled kernels, from start to end.

    python -m benchmarks.startup                # this checkout
    python -m benchmarks.startup --of PATH      # and another one beside it

The commands run in turn, and the least of several runs counts: other work on the machine makes CPU
seconds longer too. The first row, what scikit-learn, numba and polars take to import, is the
measure of the machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

REPOSITORY = Path(__file__).parents[1]
IMPORTS = [sys.executable, "-c", "import sklearn.cluster, numba, polars"]


def cpu_seconds(command: list[str], checkout: Path) -> float:
    environment = {**os.environ, "PYTHONPATH": str(checkout / "src")}
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # an installed package has its bytecode
    done = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(done.pid, 0)
    if status:
        raise RuntimeError(f"{command} failed")
    return usage.ru_utime + usage.ru_stime


def commands(file: Path) -> dict[str, list[str]]:
    select = [sys.executable, "-m", "stablek", "select", str(file)]
    return {
        "--version": [sys.executable, "-m", "stablek", "--version"],
        "select": select,
        "select, no structure test, no subsamples": [
            *select, "--one-cluster", "never", "--subsamples", "0",
        ],
    }  # fmt: skip


def measure(checkouts: dict[str, Path], runs: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "points.csv"
        rng = np.random.default_rng(0)
        points = [rng.normal(center, 0.3, (50, 2)) for center in ([0, 0], [3, 0], [0, 3])]
        np.savetxt(file, np.vstack(points), delimiter=",", header="x,y", comments="")
        tasks = {"import scikit-learn, numba, polars": (IMPORTS, REPOSITORY)}
        for name, checkout in checkouts.items():
            for what, command in commands(file).items():
                tasks[f"{name}{what}"] = (command, checkout)
        least: dict[str, float] = {}
        for command, checkout in tasks.values():  # compiles, and fills the disk's cache
            cpu_seconds(command, checkout)
        for _ in range(runs):
            for what, (command, checkout) in tasks.items():
                seconds = cpu_seconds(command, checkout)
                least[what] = min(seconds, least.get(what, seconds))
    return least


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--of", type=Path, help="another checkout")
    parser.add_argument("--runs", type=int, default=7)
    args = parser.parse_args()
    checkouts = {"": REPOSITORY} if args.of is None else {"before: ": args.of, "": REPOSITORY}
    least = measure(checkouts, args.runs)
    imports = next(iter(least.values()))
    print("| command | CPU s | to the imports |\n|---|---|---|")
    for what, seconds in least.items():
        print(f"| {what} | {seconds:.2f} | {seconds / imports:.2f} |")


if __name__ == "__main__":
    main()
