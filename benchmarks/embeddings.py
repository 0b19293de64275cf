"""Stadion with spherical K-means on embeddings, against scikit-learn's fits alone.

    python -m benchmarks.embeddings [n_rows] [n_features] [k_max] [n_draws]

The plain way is what people do now: `KMeans` on unit rows for each K, and the silhouette of a
sample of 10,000 rows. It gives no p-value and no stability. CPU seconds of one process; peak
memory of the whole process beyond what it had before, with the data counted once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from time import process_time
from typing import Any

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score
from sklearn.preprocessing import normalize
from threadpoolctl import threadpool_limits

from stablek import SphericalKMeans, Stadion

SIZE = (100_000, 384, 30, 10)
SMALL = (10_000, 384, 10, 10)
N_TOPICS = 12


def embeddings(n: int, p: int) -> np.ndarray:
    """Generated embeddings of twelve topics of unequal sizes, in single precision."""
    rng = np.random.default_rng(0)
    topics = normalize(rng.normal(size=(N_TOPICS, p)))
    topic = rng.choice(N_TOPICS, size=n, p=rng.dirichlet(np.full(N_TOPICS, 5.0)))
    X = np.empty((n, p), dtype=np.float32)
    for start in range(0, n, 5000):
        rows = slice(start, start + 5000)
        X[rows] = topics[topic[rows]] + rng.normal(size=(len(topic[rows]), p)) / np.sqrt(p)
    return X


def _status(name: str) -> int:
    """A number of bytes that Linux keeps of this process."""
    with open("/proc/self/status") as file:
        found = next(line for line in file if line.startswith(name))
    return 1024 * int(found.split()[1])


def stadion(n: int, p: int, k_max: int, n_draws: int) -> dict[str, Any]:
    """CPU seconds, peak memory over the size of the data, and the answer of Stadion."""
    make = partial(Stadion, SphericalKMeans(), random_state=0, n_jobs=1)
    make(k_range=[1, 2, 13], n_perturbations=1).fit(embeddings(300, p))  # compile
    X = embeddings(n, p)
    before = _status("VmRSS") - X.nbytes
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")  # the peak starts anew
    started = process_time()
    found = make(k_range=range(1, k_max + 1), n_perturbations=n_draws).fit(X)
    seconds = process_time() - started
    memory = (_status("VmHWM") - before) / X.nbytes
    return {"seconds": seconds, "memory": memory, "k": int(found.n_clusters_)}


def plain(n: int, p: int, k_max: int, n_init: int) -> dict[str, Any]:
    """CPU seconds and answer of KMeans on unit rows and the silhouette of a sample."""
    X = normalize(embeddings(n, p))
    size = min(n, 10_000)
    started = process_time()
    scores = []
    with threadpool_limits(1):
        for k in range(2, k_max + 1):
            labels = KMeans(k, n_init=n_init, random_state=0).fit(X).labels_
            scores.append(silhouette_score(X, labels, sample_size=size, random_state=0))
    return {"seconds": process_time() - started, "k": 2 + int(np.argmax(scores))}


def _apart(call: str) -> dict[str, Any]:
    """Run a function of this module in a process of its own."""
    code = f"import json; from benchmarks import embeddings as e; print(json.dumps(e.{call}))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    return dict(json.loads(done.stdout.splitlines()[-1]))


def section(*sizes: tuple[int, int, int, int]) -> str:
    """The section of RESULTS.md."""
    lines = [
        "| rows x features | K | draws | stablek CPU s | peak memory / data | K found |"
        " KMeans n_init 1 + silhouette | ratio | KMeans n_init 10 + silhouette | ratio |",
        "|" + "---|" * 10,
    ]
    for n, p, k_max, n_draws in sizes or (SMALL, SIZE):
        ours = _apart(f"stadion({n}, {p}, {k_max}, {n_draws})")
        one, ten = (_apart(f"plain({n}, {p}, {k_max}, {n_init})") for n_init in (1, 10))
        cells = [f"{n:,} x {p}", f"1..{k_max}", str(n_draws), f"{ours['seconds']:.1f}"]
        cells += [f"{ours['memory']:.1f}x", str(ours["k"])]
        for theirs in (one, ten):
            ratio = theirs["seconds"] / ours["seconds"]
            cells += [f"{theirs['seconds']:.1f} (K = {theirs['k']})", f"{ratio:.1f}x"]
        lines.append("| " + " | ".join(cells) + " |")
        print(lines[-1], flush=True)
    return (
        "`Stadion(SphericalKMeans())` with its structure test on generated embeddings of twelve "
        "topics in single precision, against the fits of scikit-learn's `KMeans` on unit rows "
        "and the silhouette of 10,000 of them. One core; warm cache.\n\n" + "\n".join(lines) + "\n"
    )


if __name__ == "__main__":
    given = [int(text) for text in sys.argv[1:]]
    print(section(*([(*given, *SMALL[len(given) :])] if given else ())))
