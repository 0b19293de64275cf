"""Measure stablek against the plain way and write ``benchmarks/RESULTS.md``.

    python -m benchmarks.run              # every section
    python -m benchmarks.run small wide   # these sections anew, the others as they are

Every ratio is of two times taken in the same section's run, on the same data and noise levels.
Where the plain way would take more than five minutes a stated part of its work is run and its
time scaled by count.
"""

from __future__ import annotations

import datetime
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.metrics import silhouette_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from benchmarks import blocks, compiling, embeddings, plain, ways
from stablek import Stadion
from stablek.datasets import fetch_benchmark
from stablek.engines import Setting, engine_for
from stablek.perturbations import PERTURBATIONS
from stablek.results import Group, Request
from stablek.similarity import SIMILARITIES

RESULTS = Path(__file__).with_name("RESULTS.md")


def timed(function: Callable[[], Any], repeats: int = 1) -> float:
    """Shortest of some runs."""
    times = []
    for _ in range(repeats):
        started = perf_counter()
        function()
        times.append(perf_counter() - started)
    return min(times)


def data(name: str) -> np.ndarray:
    return StandardScaler().fit_transform(fetch_benchmark(name)[0])


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines) + "\n"


def plain_seconds(
    X: np.ndarray,
    clusterer: Any,
    name: str,
    ks: Any,
    omega: range,
    epsilons: np.ndarray,
    n_draws: int,
    extend: bool,
    *,
    part: int,
) -> float:
    """Time of the plain way with all draws, from a run with some of them.

    The reference fits do not depend on the number of draws: a run without draws measures them.
    """  # fmt: skip
    work = (X, clusterer, name, ks, omega, epsilons)
    some = timed(lambda: plain.stadion(*work, part, extend))
    if part == n_draws:
        return some
    none = timed(lambda: plain.stadion(*work, 0, extend))
    return none + (some - none) * n_draws / part


def ours_seconds(X: np.ndarray, clusterer: Any, repeats: int = 3, **options: Any) -> float:
    make = Stadion(clusterer, one_cluster="crossing", random_state=0, n_jobs=-1, **options)
    make.fit(X)  # warm: compiled and cached
    return timed(lambda: make.fit(X), repeats)


def small() -> str:
    """The four workloads with targets."""
    X = data("exemples2_5g")
    ks, omega, epsilons = range(1, 11), range(2, 6), np.linspace(0, np.sqrt(2), 10)
    cases = [
        ("K-means extend", KMeans(n_init=10), "n_clusters", "extend", 10, 300),
        ("K-means refit", KMeans(n_init=10), "n_clusters", "refit", 2, 100),
        ("Ward refit", AgglomerativeClustering(), "n_clusters", "refit", 3, 150),
        ("GMM extend", GaussianMixture(n_init=10), "n_components", "extend", 3, 100),
    ]
    rows = []
    for title, clusterer, name, relabel, part, target in cases:
        ours = ours_seconds(
            X, clusterer, k_range=ks, omega=omega, epsilons=epsilons, relabel=relabel
        )
        theirs = plain_seconds(
            X, clusterer, name, ks, omega, epsilons, 10, relabel == "extend", part=part
        )
        ratio = f"{theirs / ours:.0f}x"
        rows.append([title, f"{theirs:.1f}", f"{part}/10", f"{ours:.3f}", ratio, f"{target}x"])
        print(rows[-1], flush=True)
    head = ["workload", "plain s", "draws run", "stablek s", "ratio", "to reach"]
    return (
        "`exemples2_5g`, N = 1375, p = 2; K 1..10, omega 2..5, D = 10, 10 levels on [0, sqrt 2], "
        "n_init 10; all cores; warm cache.\n\n" + table(head, rows)
    )


def paper_setting() -> str:
    """K = 1..60, omega 2..10, n_init 35."""
    rows = []
    for name, part in [("exemples2_5g", range(5, 61, 11)), ("s-set1", range(15, 61, 30))]:
        X = data(name)
        epsilons = np.linspace(0, np.sqrt(X.shape[1]), 10)
        clusterer = KMeans(n_init=35)
        ours = ours_seconds(
            X, clusterer, repeats=1, k_range=range(1, 61), omega=range(2, 11), epsilons=epsilons,
            relabel="extend",
        )  # fmt: skip
        theirs = plain_seconds(
            X, clusterer, "n_clusters", part, range(2, 11), epsilons, 10, True, part=1
        )
        theirs *= 60 / len(part)
        run, ratio = f"K = {list(part)}, 1 draw of 10", f"{theirs / ours:.0f}x"
        rows.append([name, str(len(X)), f"{theirs:.0f}", run, f"{ours:.1f}", ratio])
        print(rows[-1], flush=True)
    head = ["data", "N", "plain s (scaled)", "part run", "stablek s", "ratio"]
    return "K-means extend, K 1..60, omega 2..10, n_init 35, D = 10, 10 levels.\n\n" + table(
        head, rows
    )


def wide() -> str:
    """Many features: about as many as points, and far more."""
    few, _ = make_blobs(200, 5000, centers=4, cluster_std=6.0, random_state=0)
    cases = [
        ("dim1024", data("dim1024"), "extend"),
        ("dim1024", data("dim1024"), "refit"),
        ("blobs", few, "extend"),
        ("blobs", few, "refit"),
    ]
    return (
        "K-means, K 1..10, omega 2..5, D = 10, 10 levels, n_init 10; blobs: four of them.\n\n"
        + _many_features(KMeans(n_init=10), "n_clusters", cases)
    )


def wide_mixtures() -> str:
    """Full mixtures on many features."""
    cases = [(name, data(name), "extend") for name in ("dim064", "dim128", "dim256")]
    return "Full mixtures, K 1..10, omega 2..5, D = 10, 10 levels, one start.\n\n" + (
        _many_features(GaussianMixture(), "n_components", cases)
    )


def mixture_refits() -> str:
    """Mixtures that are fitted again to every noisy copy, in batches."""
    X = data("exemples2_5g")[::2]
    options = {"k_range": range(1, 6), "omega": range(2, 4), "epsilons": np.linspace(0, 1, 5)}
    clusterer, rows = GaussianMixture(), []
    ours = ours_seconds(X, clusterer, relabel="refit", **options)
    work = (X, clusterer, "n_components", *options.values())
    theirs = plain_seconds(*work, 10, False, part=1)
    rows.append([f"{theirs:.1f}", "1/10", f"{ours:.3f}", f"{theirs / ours:.0f}x"])
    return (
        f"Every second point of `exemples2_5g`, N = {len(X)}, p = 2; K 1..5, omega 2..3, D = 10, "
        "5 levels on [0, 1], one start; all cores.\n\n"
        + table(["plain s", "draws run", "stablek s", "ratio"], rows)
    )


def _many_features(
    clusterer: Any, parameter: str, cases: list[tuple[str, np.ndarray, str]]
) -> str:
    ks, omega, rows = range(1, 11), range(2, 6), []
    for name, X, relabel in cases:
        epsilons = np.linspace(0, np.sqrt(X.shape[1]), 10)
        ours = ours_seconds(
            X, clusterer, repeats=1, k_range=ks, omega=omega, epsilons=epsilons, relabel=relabel
        )
        work = (X, clusterer, parameter, ks, omega, epsilons)
        theirs = plain_seconds(*work, 10, relabel == "extend", part=1)
        shape = [str(n) for n in X.shape]
        ratio = f"{theirs / ours:.0f}x"
        rows.append([name, *shape, relabel, f"{theirs:.1f}", "1/10", f"{ours:.2f}", ratio])
        print(rows[-1], flush=True)
    head = ["data", "N", "p", "relabel", "plain s", "draws run", "stablek s", "ratio"]
    return table(head, rows)


def _large(n: int) -> np.ndarray:
    X, _ = make_blobs(n, n_features=10, centers=5, cluster_std=3.0, random_state=0)
    return StandardScaler().fit_transform(X)


LARGE = {"k_range": range(1, 11), "omega": range(2, 6), "relabel": "extend"}

MEMORY = """
import json
import numpy as np
from time import perf_counter
from benchmarks.run import _large, LARGE
from stablek import Stadion
from sklearn.cluster import KMeans
Stadion(KMeans(n_init=10), one_cluster="crossing", **LARGE).fit(_large(1000))
X = np.load("{path}")
started = perf_counter()
stadion = Stadion(KMeans(n_init=10), one_cluster="crossing", random_state=0, n_jobs=-1,
                  epsilons=np.linspace(0, np.sqrt(10), 10), **LARGE).fit(X)
seconds = perf_counter() - started
status = open("/proc/self/status").read()  # getrusage would count the parent's memory
peak = 1024 * int(status.split("VmHWM:")[1].split()[0])
print(json.dumps(dict(seconds=seconds, peak=peak, x=X.nbytes, k=int(stadion.n_clusters_))))
"""


def _run_large(n: int) -> dict[str, float]:
    with tempfile.TemporaryDirectory() as folder:
        # Made here, so that the memory of making it does not count.
        path = os.path.join(folder, "X.npy")
        np.save(path, _large(n))
        done = subprocess.run(
            [sys.executable, "-c", MEMORY.replace("{path}", path)],
            capture_output=True,
            text=True,
            check=True,
        )
    return dict(json.loads(done.stdout))


def growth() -> str:
    """Time and memory against N, and against scikit-learn's reference fits alone."""
    rows, before = [], None
    for n in (1_000, 10_000, 100_000, 1_000_000):
        result = _run_large(n)
        factor = "" if before is None else f"{result['seconds'] / before:.1f}x"
        rows.append(
            [f"{n:,}", f"{result['seconds']:.2f}", factor, f"{result['x'] / 2**20:.0f}",
             f"{result['peak'] / 2**20:.0f}", str(result["k"])]
        )  # fmt: skip
        print(rows[-1], flush=True)
        before = result["seconds"]
    X = _large(1_000_000)
    part = 2  # of 10 restarts
    fits = timed(lambda: [KMeans(k, n_init=part, random_state=0).fit(X) for k in range(1, 11)])
    fits *= 10 / part
    limit = (3 * X.nbytes + 500e6) / 2**20
    return (
        "p = 10, K 1..10, omega 2..5, D = 10, 10 levels, n_init 10, K-means extend; one process "
        "each; targets: at most 12x for each decade, peak memory at N = 1,000,000 below "
        f"3 X + 500 MB = {limit:.0f} MB.\n\n"
        + table(["N", "s", "growth", "X MB", "peak MB", "K found"], rows)
        + "\nscikit-learn's reference fits alone (K 1..10, n_init 10, all cores; "
        f"{part} of 10 restarts run and scaled) at N = 1,000,000: {fits:.0f} s, so that the whole "
        f"of Stadion-extend costs {before / fits:.2f}x of them (to reach: at most 3x).\n"
    )


def silhouette_sweep() -> str:
    """What people use instead."""
    X = _large(20_000)
    labels = [KMeans(k, n_init=10, random_state=0).fit_predict(X) for k in range(2, 11)]
    theirs = timed(lambda: [silhouette_score(X, y) for y in labels])
    fits = timed(lambda: [KMeans(k, n_init=10, random_state=0).fit(X) for k in range(2, 11)])
    ours = ours_seconds(
        X, KMeans(n_init=10), repeats=1, **{**LARGE, "epsilons": np.linspace(0, np.sqrt(10), 10)}
    )
    head = [
        "scikit-learn silhouettes s",
        "with its K-means fits s",
        "all of Stadion-extend s",
        "ratio",
    ]
    all_theirs = theirs + fits
    row = [f"{theirs:.1f}", f"{all_theirs:.1f}", f"{ours:.2f}", f"{all_theirs / ours:.1f}x"]
    return "N = 20,000, p = 10, K 2..10 (Stadion: 1..10).\n\n" + table(head, [row])


COLD = """
import numpy as np
from time import perf_counter
started = perf_counter()
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.mixture import GaussianMixture
from stablek import Stadion
X = np.random.default_rng(0).normal(size=(200, 2))
kinds = {"kmeans": KMeans(n_init=10), "ward": AgglomerativeClustering(), "gmm": GaussianMixture()}
Stadion(kinds["KIND"], random_state=0).fit(X)
print(perf_counter() - started)
"""


def cold() -> str:
    """First fit in a fresh environment, and in the next process; imports included."""
    rows = []
    for kind in ("kmeans", "ward", "gmm"):
        with tempfile.TemporaryDirectory() as cache:
            environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
            times = [
                float(
                    subprocess.run(
                        [sys.executable, "-c", COLD.replace("KIND", kind)],
                        capture_output=True, text=True, check=True, env=environment,
                    ).stdout
                )
                for _ in range(2)
            ]  # fmt: skip
        rows.append([kind, f"{times[0]:.1f}", f"{times[1]:.1f}"])
    return "200 points, defaults; imports included.\n\n" + table(
        ["clusterer", "first process s (compiles)", "second process s"], rows
    )


def kernel() -> str:
    """The nearest-center kernel against the arithmetic rate of one core."""
    n, p, k, n_levels = 200_000, 10, 10, 10
    X = _large(n)
    engine = engine_for(KMeans(n_init=1), "n_clusters")
    setting = Setting(0, PERTURBATIONS["uniform"], X.std(axis=0), SIMILARITIES["ari"], "extend")
    [(partition,)] = engine.references(X, [Request(None, (k,))], setting.entropy)
    groups, levels = [Group(None, (partition,))], np.linspace(0, 1, n_levels)
    with threadpool_limits(1):
        A = np.random.default_rng(0).normal(size=(1500, 1500))
        peak = 2 * len(A) ** 3 / timed(lambda: A @ A, 5)
        ours = timed(lambda: engine.similarities(X, groups, 0, levels, setting), 5)
    # A squared distance is p subtractions, p products and p sums.
    rate = 3 * n * k * p * n_levels / ours
    return (
        f"Noise, nearest of {k} centers and contingency table for {n:,} points with {p} features "
        f"at {n_levels} levels, one core: {rate / 1e9:.1f} Gflop/s (counting only the 3 p of each "
        f"distance), {rate / peak:.0%} of the {peak / 1e9:.0f} Gflop/s that a matrix product "
        f"(BLAS) reaches on the same core.\n"
    )


def indices() -> str:
    """Sweeps of internal indices."""
    command = [sys.executable, "-m", "benchmarks.indices"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


def structure() -> str:
    """What the structure test adds to a fit that never answers K = 1."""
    rng = np.random.default_rng(0)
    near = rng.normal(size=(1375, 2))
    near[:700, 0] += 3.4
    work = [
        ("clear clusters", data("exemples2_5g"), 15),
        ("no clusters", rng.normal(size=(1375, 2)), 15),
        ("p near alpha", near, 40),
        ("clear clusters", _large(100_000), 2),
    ]
    rows = []
    for name, X, limit in work:
        models = [
            Stadion(one_cluster=rule, random_state=0, n_jobs=1) for rule in ("never", "test")
        ]
        for model in models:
            model.fit(X)
        never, test = (timed(partial(model.fit, X)) for model in models)
        found = models[1].structure_test_
        sets = sum(len(values) for values in found.reference_statistics.values())
        shape, ratio = f"{len(X):,} x {X.shape[1]}", f"{test / never:.1f}x"
        cells = [f"{found.pvalue:.2g}", str(sets), f"{never:.2f}", f"{test:.2f}"]
        rows.append([name, shape, *cells, ratio, f"{limit}x"])
        print(rows[-1], flush=True)
    head = ["data", "shape", "p", "sets", "never s", "test s", "ratio", "at most"]
    return "K-means, K 1..10, one core.\n\n" + table(head, rows)


def ways_gain() -> str:
    """The same work with each way of the engines switched off."""
    return "Stadion: K 1..10, omega 2..5, D = 3, 10 levels, one core.\n\n" + table(
        ways.HEADER, ways.table_rows()
    )


def compile_seconds() -> str:
    """What a first fit compiles."""
    return (
        "Defaults, one core, an empty cache; CPU seconds. A busy machine takes up to three times "
        "as long. `python -m benchmarks.compiling kmeans` lists every kernel.\n\n"
    ) + table(compiling.HEADER, compiling.table_rows())


def install_size() -> str:
    """What ``pip install`` puts on the disk."""
    command = [sys.executable, "-m", "benchmarks.install_size", "cli", "plot"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout


SECTIONS: dict[str, tuple[str, Callable[[], str]]] = {
    "small": ("Against the plain way", small),
    "paper": ("The paper's setting", paper_setting),
    "wide": ("Many features", wide),
    "mixtures": ("Mixtures on many features", wide_mixtures),
    "refits": ("Refits of mixtures", mixture_refits),
    "silhouette": ("Against a silhouette sweep", silhouette_sweep),
    "growth": ("Growth with N", growth),
    "blocks": ("Data in blocks", lambda: blocks.measure(table)),
    "embeddings": ("Embeddings", embeddings.section),
    "kernel": ("The assign kernel", kernel),
    "indices": ("Internal indices", indices),
    "structure": ("The structure test", structure),
    "ways": ("What each way gains", ways_gain),
    "cold": ("First fit", cold),
    "compile": ("What a first fit compiles", compile_seconds),
    "install": ("Size of an installation", install_size),
}


def main(names: list[str]) -> None:
    unknown = [name for name in names if name not in SECTIONS]
    if unknown:
        sys.exit(f"unknown sections {unknown}; there are {list(SECTIONS)}")
    texts = _read()
    for name in names or SECTIONS:
        title, section = SECTIONS[name]
        print(f"== {title}", flush=True)
        text = section()
        texts[title] = f"Measured on {datetime.date.today()}.\n\n{text.strip()}\n"
        print(text, flush=True)
        _write(texts)


def _read() -> dict[str, str]:
    """Text of each section of the results, by title."""
    if not RESULTS.exists():
        return {}
    parts = RESULTS.read_text().split("\n## ")[1:]
    return {title: text.strip() + "\n" for title, _, text in (p.partition("\n") for p in parts)}


def _write(texts: dict[str, str]) -> None:
    head = (
        "# Benchmarks\n\n"
        f"`make bench`; {os.cpu_count()} cores ({platform.machine()}), "
        f"Python {platform.python_version()}. Ratios are of times taken in one run of a section; "
        "seconds are those of one machine.\n"
    )
    titles = [title for title, _ in SECTIONS.values() if title in texts]
    titles += [title for title in texts if title not in titles]  # of commands of their own
    RESULTS.write_text(head + "".join(f"\n## {t}\n\n{texts[t]}" for t in titles))


if __name__ == "__main__":
    main(sys.argv[1:])
