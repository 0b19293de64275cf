"""Generators have the documented structure. The fetcher loses no data and checks every file."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import http.server
import os
import shutil
import subprocess
import sys
import threading
import zlib
from pathlib import Path

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

from stablek import datasets
from stablek.datasets import BenchmarkInfo, _benchmark, fetch_benchmark, list_benchmark

CLUSTERED = {
    "make_three_gaussians": 3,
    "make_correlated_gaussians": 2,
    "make_symmetric_triangle": 3,
    "make_demo": 5,
}
ONE_CLUSTER = {
    "make_uniform": (1000, 2),
    "make_gaussian": (1000, 2),
    "make_exponential": (1000, 2),
    "make_student": (1000, 2),
    "make_golf_ball": (4002, 3),
}
GENERATORS = [*CLUSTERED, *ONE_CLUSTER]


def kmeans(X, k, n_init=10):
    return KMeans(k, n_init=n_init, random_state=0).fit(X)


# Generators


def test_every_generator_is_listed_here():
    assert {name for name in datasets.__all__ if name.startswith("make_")} == set(GENERATORS)


@pytest.mark.parametrize("name", GENERATORS)
def test_generator_is_a_function_of_its_seed(name):
    make = getattr(datasets, name)
    np.random.seed(0)  # noqa: NPY002 (the global state must play no part)
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    X, y = make(random_state=3)
    again, y_again = make(random_state=3)
    other, _ = make(random_state=4)
    np.testing.assert_array_equal(X, again)
    np.testing.assert_array_equal(y, y_again)
    assert not np.array_equal(X, other)
    np.testing.assert_array_equal(state, np.random.get_state()[1])  # noqa: NPY002
    assert X.dtype == np.float64
    assert y.dtype == np.int64
    assert y.shape == (len(X),)
    assert np.isfinite(X).all()
    assert X.flags.c_contiguous


@pytest.mark.parametrize("name", CLUSTERED)
@pytest.mark.parametrize("seed", range(3))
def test_kmeans_at_the_true_k_finds_the_clusters(name, seed):
    X, y = getattr(datasets, name)(random_state=seed)
    k = CLUSTERED[name]
    assert sorted(set(y.tolist())) == list(range(k))
    assert adjusted_rand_score(y, kmeans(X, k).labels_) > 0.95


@pytest.mark.parametrize(("name", "shape"), ONE_CLUSTER.items())
def test_data_without_clusters(name, shape):
    X, y = getattr(datasets, name)(random_state=0)
    assert X.shape == shape
    assert not y.any()


@pytest.mark.parametrize("name", ["uniform", "gaussian", "exponential", "student"])
def test_distribution_by_kolmogorov_smirnov(name):
    from scipy import stats

    law = {"uniform": "uniform", "gaussian": "norm", "exponential": "expon", "student": "t"}[name]
    X, _ = getattr(datasets, f"make_{name}")(2000, 3, random_state=0)
    assert X.shape == (2000, 3)
    args = (5,) if name == "student" else ()
    for column in X.T:
        assert stats.kstest(column, law, args=args).pvalue > 1e-3
    # The columns are independent.
    assert np.abs(np.corrcoef(X.T) - np.eye(3)).max() < 0.1


def test_student_degrees_of_freedom_make_the_tails():
    heavy, _ = datasets.make_student(5000, 1, df=2, random_state=0)
    light, _ = datasets.make_student(5000, 1, df=50, random_state=0)
    assert np.abs(heavy).max() > 2 * np.abs(light).max()


@pytest.mark.parametrize("seed", range(3))
def test_three_gaussians_at_k_2_join_the_two_right_ones(seed):
    X, y = datasets.make_three_gaussians(random_state=seed)
    assert adjusted_rand_score(y > 0, kmeans(X, 2).labels_) == 1.0


def test_three_gaussians_may_be_few():
    X, y = datasets.make_three_gaussians(50, random_state=0)
    assert X.shape == (50, 2)
    assert np.bincount(y).tolist() == [17, 17, 16]


@pytest.mark.parametrize("seed", range(3))
def test_correlated_gaussians_at_k_4_are_cut_in_the_middle(seed):
    X, y = datasets.make_correlated_gaussians(random_state=seed)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X.std(axis=0), 1)
    for cluster in range(2):
        assert np.corrcoef(X[y == cluster].T)[0, 1] > 0.7
    labels = kmeans(X, 4).labels_
    table = np.array([np.bincount(labels[y == cluster], minlength=4) for cluster in range(2)])
    # Each Gaussian is split into two clusters, with about half of its points in each.
    share = np.sort(table / table.sum(axis=1, keepdims=True), axis=1)
    assert (share[:, :2] < 0.02).all()
    assert (share[:, 2:] > 0.35).all()


@pytest.mark.parametrize(("separation", "separates"), [(1.3, False), (1.9, True)])
def test_separation_decides_what_k_2_does(separation, separates):
    X, y = datasets.make_correlated_gaussians(separation=separation, random_state=0)
    ari = adjusted_rand_score(y, kmeans(X, 2).labels_)
    assert ari > 0.95 if separates else ari < 0.1


def test_symmetric_triangle_is_its_own_rotation():
    X, y = datasets.make_symmetric_triangle(300, random_state=0)
    third = 2 * np.pi / 3
    turn = np.array([[np.cos(third), np.sin(third)], [-np.sin(third), np.cos(third)]])
    distance = np.linalg.norm((X @ turn)[:, None] - X, axis=2)
    assert distance.min(axis=1).max() < 1e-12
    assert np.bincount(y).tolist() == [100, 100, 100]
    assert np.bincount(datasets.make_symmetric_triangle(301)[1]).tolist() == [101, 100, 100]


def test_symmetric_triangle_jumps_between_three_pairs_at_k_2():
    X, y = datasets.make_symmetric_triangle(300, random_state=0)
    rng = np.random.default_rng(0)
    alone = set()
    for _ in range(20):
        labels = kmeans(X + rng.uniform(-0.1, 0.1, X.shape), 2).labels_
        sides = [
            int(np.bincount(labels[y == corner], minlength=2).argmax()) for corner in range(3)
        ]
        alone.add(sides.index(0) if sum(sides) == 2 else sides.index(1))
    assert alone == {0, 1, 2}


def test_golf_ball_is_even():
    X, _ = datasets.make_golf_ball(random_state=0)
    np.testing.assert_allclose(np.linalg.norm(X, axis=1), 1)
    np.testing.assert_allclose(X.mean(axis=0), 0, atol=1e-3)
    np.testing.assert_allclose(np.cov(X.T), np.eye(3) / 3, atol=1e-3)
    from sklearn.neighbors import NearestNeighbors

    nearest = NearestNeighbors(n_neighbors=2).fit(X).kneighbors(X)[0][:, 1]
    assert nearest.max() / nearest.min() < 1.5  # for random points on a sphere it is above 50


@pytest.mark.parametrize(
    ("call", "word"),
    [
        (lambda: datasets.make_three_gaussians(2), "n_samples"),
        (lambda: datasets.make_three_gaussians(scale=0), "scale"),
        (lambda: datasets.make_symmetric_triangle(2), "n_samples"),
        (lambda: datasets.make_symmetric_triangle(scale=-1), "scale"),
        (lambda: datasets.make_correlated_gaussians(10.0), "n_samples"),
        (lambda: datasets.make_correlated_gaussians(separation=0), "separation"),
        (lambda: datasets.make_uniform(0), "n_samples"),
        (lambda: datasets.make_gaussian(10, 0), "n_features"),
        (lambda: datasets.make_student(df=0), "df"),
        (lambda: datasets.make_golf_ball(True), "n_samples"),
        (lambda: datasets.make_uniform(random_state="x"), "random_state"),
    ],
)
def test_bad_parameters_are_named(call, word):
    with pytest.raises(ValueError, match=f"{word} must be"):
        call()


# The manifest and the shared files


def test_manifest():
    infos = list_benchmark()
    assert len(infos) == 74
    assert len({info.name for info in infos}) == 74
    paper = [info for info in infos if info.n_clusters > 1]
    assert len(paper) == 73
    # One pair is the same file twice, so 72 are distinct.
    assert len({info.sha256_data for info in paper}) == 72
    for info in infos:
        assert len(info.sha256_data) == 64
        assert len(info.sha256_target) == (64 if info.n_clusters > 1 else 0)
        assert info.size_data > 0
        assert (info.size_target > 0) == (info.n_clusters > 1)


@pytest.mark.skipif(
    "STABLEK_DATA_DIR" not in os.environ,
    reason="needs the benchmark files: set STABLEK_DATA_DIR to their folder",
)
class TestSharedFiles:
    @pytest.mark.parametrize("info", list_benchmark(), ids=lambda info: info.name)
    def test_every_set_is_as_the_manifest_says(self, info):
        X, y = fetch_benchmark(info.name, download_if_missing=False)
        assert X.shape == (info.n_samples, info.n_features)
        assert y.shape == (info.n_samples,)
        assert np.unique(y).size == info.n_clusters
        assert np.isfinite(X).all()
        assert X.dtype == np.float64
        assert y.dtype == np.int64

    @pytest.mark.parametrize("info", list_benchmark(), ids=lambda info: info.name)
    def test_sizes(self, info):
        home = Path(os.environ["STABLEK_DATA_DIR"])
        if info.sha256_target:
            points = home / "skstab" / "data" / "artificial" / f"{info.file}.csv"
            labels = home / "skstab" / "target" / f"{info.file}.csv"
            sizes = points.stat().st_size, labels.stat().st_size
        else:
            sizes = (home / "clustering-benchmark" / f"{info.file}.arff").stat().st_size, 0
        assert (info.size_data, info.size_target) == sizes

    def test_numbers_and_labels_are_read_as_written(self):
        X, y = fetch_benchmark("2d-4c")
        assert X[0].tolist() == [2.74531, 41.5491]  # decimal commas
        assert X[1].tolist() == [-0.628169, 41.1591]
        X, y = fetch_benchmark("exemples7_elbow_3g")
        assert np.unique(y).tolist() == [2, 3, 4]
        X, y = fetch_benchmark("golfball")
        assert X[1].tolist() == [0.0, 0.052336, 0.99863]
        assert np.unique(y).tolist() == [1]

    def test_notes_are_true(self):
        first, second = (
            fetch_benchmark(name) for name in ("exemples8_Overlap_Uvar_5g", "exemples9_YoD_6g")
        )
        np.testing.assert_array_equal(first[0], second[0])
        np.testing.assert_array_equal(first[1], second[1])
        rows = {
            name: set(map(tuple, fetch_benchmark(name)[0]))
            for name in ("DS-577", "DS-850", "4clusters_corner")
        }
        assert rows["DS-577"] < rows["DS-850"]
        assert len(rows["4clusters_corner"]) == 1575 - 350
        assert 6 not in fetch_benchmark("2d-10c")[1]


# Fetching, from a server in this process


POINTS = b'"V1";"V2"\n1,5;-2\n0,25;1e-05\n3;4\n'
LABELS = b'"x"\n7\n2\n7\n'
ARFF = b"% made up\n@relation r\n@ATTRIBUTE x REAL\n@ATTRIBUTE class {1}\n\n@data\n0.5,1\n-1,1\n"


def sha256(content):
    return hashlib.sha256(content).hexdigest()


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        if "endless" in self.path:
            return self.send_zeros()
        if "broken" not in self.path:
            return super().do_GET()
        self.send_response(200)
        self.send_header("Content-Length", "1000")
        self.end_headers()
        self.wfile.write(b'"V1";"V2"\n')  # and the connection closes early

    def send_zeros(self):
        """Send a compressed file that never ends, and count the blocks."""
        self.send_response(200)
        self.send_header("Content-Encoding", "gzip")
        self.end_headers()
        packer = zlib.compressobj(wbits=31)
        with contextlib.suppress(ConnectionError):
            for _ in range(1000):
                self.wfile.write(packer.compress(bytes(1 << 20)) + packer.flush(zlib.Z_SYNC_FLUSH))
                self.server.blocks += 1


@pytest.fixture
def upstream(tmp_path, monkeypatch):
    """A tiny upstream on 127.0.0.1, and a manifest that describes it."""
    root = tmp_path / "upstream"
    for path, content in {
        "data/artificial/tiny.csv": POINTS,
        "target/tiny.csv": LABELS,
        "ball.arff": ARFF,
    }.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content)
    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(root))
    )
    threading.Thread(target=server.serve_forever, daemon=True).start()
    infos = [
        BenchmarkInfo(name, file, 3, 2, 2, sha256(data), sha256(LABELS), len(POINTS), len(LABELS))
        for name, file, data in [
            ("Tiny", "tiny", POINTS),
            ("changed", "tiny", b"as it was"),
            ("broken", "broken", POINTS),
            ("absent", "absent", POINTS),
            ("endless", "endless", POINTS),
        ]
    ]
    infos.append(BenchmarkInfo("ball", "ball", 2, 1, 1, sha256(ARFF), "", len(ARFF), 0))
    url = f"http://127.0.0.1:{server.server_port}"
    monkeypatch.setattr(
        _benchmark, "_SOURCES", dict.fromkeys(("skstab", "clustering-benchmark"), url)
    )
    monkeypatch.setattr(_benchmark, "_manifest", lambda: {info.name: info for info in infos})
    monkeypatch.delenv("STABLEK_DATA_DIR", raising=False)
    monkeypatch.setenv("STABLEK_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    server.url, server.cache = url, tmp_path / "cache"
    yield server
    server.shutdown()
    server.server_close()


def files_in(folder: Path) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


def assert_is_tiny(X, y):
    np.testing.assert_array_equal(X, [[1.5, -2.0], [0.25, 1e-05], [3.0, 4.0]])
    np.testing.assert_array_equal(y, [7, 2, 7])


def test_download_then_cache_with_the_server_gone(upstream):
    assert_is_tiny(*fetch_benchmark("Tiny"))
    assert files_in(upstream.cache) == [
        "skstab/data/artificial/tiny.csv",
        "skstab/target/tiny.csv",
    ]
    X, y = fetch_benchmark("ball")
    assert X.tolist() == [[0.5], [-1.0]]
    assert y.tolist() == [1, 1]
    upstream.shutdown()
    upstream.server_close()
    assert_is_tiny(*fetch_benchmark("Tiny"))
    assert_is_tiny(*fetch_benchmark("Tiny", download_if_missing=False))


def test_data_home_wins_over_the_environment(upstream, tmp_path, monkeypatch):
    monkeypatch.setenv("STABLEK_DATA_DIR", str(tmp_path / "nowhere"))
    assert_is_tiny(*fetch_benchmark("Tiny", data_home=tmp_path / "mine"))
    assert len(files_in(tmp_path / "mine")) == 2
    assert not upstream.cache.exists()


def test_data_dir_is_read_and_never_written(upstream, tmp_path, monkeypatch):
    fetch_benchmark("Tiny", data_home=tmp_path / "given")
    monkeypatch.setenv("STABLEK_DATA_DIR", str(tmp_path / "given"))
    assert_is_tiny(*fetch_benchmark("Tiny"))
    assert not upstream.cache.exists()
    fetch_benchmark("ball")  # not given: goes to the cache
    assert files_in(upstream.cache) == ["clustering-benchmark/ball.arff"]
    assert len(files_in(tmp_path / "given")) == 2


def test_default_cache_is_in_the_home_folder(upstream, tmp_path, monkeypatch):
    monkeypatch.delenv("STABLEK_CACHE")
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("USERPROFILE", str(tmp_path))
    fetch_benchmark("ball")
    assert files_in(tmp_path / "stablek_data") == ["clustering-benchmark/ball.arff"]


def test_wrong_download_is_refused_and_not_kept(upstream):
    with pytest.raises(ValueError, match="sha256") as error:
        fetch_benchmark("changed")
    for part in (f"{upstream.url}/data/artificial/tiny.csv", sha256(POINTS), sha256(b"as it was")):
        assert part in str(error.value)
    assert files_in(upstream.cache) == []


def test_endless_download_is_cut_off(upstream):
    upstream.blocks = 0
    with pytest.raises(ValueError, match=rf"endless\.csv .* more than {len(POINTS)} bytes"):
        fetch_benchmark("endless")
    assert upstream.blocks < 900
    assert files_in(upstream.cache) == []


def test_damaged_cache_is_refused(upstream):
    fetch_benchmark("Tiny")
    damaged = upstream.cache / "skstab" / "target" / "tiny.csv"
    damaged.write_bytes(LABELS + b"9\n")
    with pytest.raises(ValueError, match="sha256") as error:
        fetch_benchmark("Tiny")
    assert str(damaged) in str(error.value)
    assert sha256(LABELS) in str(error.value)


def test_interrupted_download_leaves_no_file(upstream):
    with pytest.raises(ConnectionError, match=r"broken\.csv.*STABLEK_DATA_DIR"):
        fetch_benchmark("broken")
    assert files_in(upstream.cache) == []


def test_interrupted_write_leaves_no_file(upstream, monkeypatch):
    def full_disk(source, target):
        raise OSError("no space left")

    monkeypatch.setattr(shutil, "move", full_disk)
    with pytest.raises(OSError, match="no space left"):
        fetch_benchmark("ball")
    assert files_in(upstream.cache) == []


def test_file_that_upstream_does_not_have(upstream):
    with pytest.raises(ConnectionError, match=r"absent\.csv.*404"):
        fetch_benchmark("absent")


def test_offline_says_what_to_do(upstream):
    upstream.shutdown()
    upstream.server_close()
    with pytest.raises(ConnectionError) as error:
        fetch_benchmark("Tiny")
    assert f"{upstream.url}/data/artificial/tiny.csv" in str(error.value)
    assert "STABLEK_DATA_DIR" in str(error.value)


def test_download_can_be_forbidden(upstream):
    with pytest.raises(FileNotFoundError, match="download_if_missing=False"):
        fetch_benchmark("Tiny", download_if_missing=False)


def test_download_without_pooch_says_what_to_install(upstream, tmp_path, monkeypatch):
    fetch_benchmark("Tiny", data_home=tmp_path / "given")
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"tiny\.csv needs pooch.*'stablek\[datasets\]'"):
        fetch_benchmark("Tiny")
    assert_is_tiny(*fetch_benchmark("Tiny", data_home=tmp_path / "given"))


def test_unknown_name_suggests_the_nearest():
    with pytest.raises(ValueError, match=r"got 'Hepta'; did you mean 'hepta'"):
        fetch_benchmark("Hepta")
    with pytest.raises(ValueError, match="'R15'"):
        fetch_benchmark("r15")
    with pytest.raises(ValueError, match=r"see list_benchmark\(\)"):
        fetch_benchmark("qqqqqqqq")


def test_upstream_urls():
    # The full URLs, because no other test would notice a wrong folder.
    assert _benchmark._url("skstab/target/hepta.csv") == (
        "https://raw.githubusercontent.com/FlorentF9/skstab/"
        "5ce9a2ca270375c81c5ff82401356600c1bfedcf/datasets/target/hepta.csv"
    )
    assert _benchmark._url("clustering-benchmark/golfball.arff") == (
        "https://raw.githubusercontent.com/deric/clustering-benchmark/"
        "fc7aba73c873b0e017dd3a6d7113b1cb2ede118a/"
        "src/main/resources/datasets/artificial/golfball.arff"
    )


def test_import_needs_no_optional_package():
    # None in sys.modules makes an import fail, as if the package were not installed.
    code = (
        "import sys\n"
        "sys.modules.update(dict.fromkeys(('pandas', 'polars', 'matplotlib', 'pooch')))\n"
        "import stablek.datasets as d; print(len(d.list_benchmark()), d.make_demo()[0].shape)"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "74 (500, 2)"
