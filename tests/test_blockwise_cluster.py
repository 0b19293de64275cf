"""Dask clusters: the same bits for any number of workers, and what happens when parts fail."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

from blockwise_cases import QUICK, make_blocks_small
from stablek import Stadion

N, P = 4000, 2


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    make_blocks_small(monkeypatch, 256, P, per_task=2)


@pytest.fixture(scope="module")
def X():
    return make_blobs(N, centers=3, n_features=P, random_state=0)[0]


@pytest.fixture(scope="module")
def cluster():
    options = {"processes": True, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(n_workers=1, **options) as cluster:
        yield cluster


def answer(fitted: Stadion) -> list[np.ndarray]:
    best = fitted.best_estimator_
    return [
        fitted.paths_.between,
        fitted.paths_.clusters,
        fitted.scores_,
        best.cluster_centers_ if hasattr(best, "cluster_centers_") else best.covariances_,
        np.asarray(fitted.labels_),
        np.asarray(fitted.point_stability_),
    ]


@pytest.fixture
def expected(X, tmp_path):
    np.save(tmp_path / "x.npy", X)
    return answer(Stadion(**QUICK).fit(np.load(tmp_path / "x.npy", mmap_mode="r")))


def assert_same(found: list[np.ndarray], expected: list[np.ndarray]) -> None:
    for one, two in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, two)


def test_any_number_of_worker_processes_gives_the_same_bits(X, cluster, expected):
    with Client(cluster) as client:
        for n, chunk in ((1, 777), (2, 3001), (4, 200_000)):
            cluster.scale(n)
            client.wait_for_workers(n)
            array = da.from_array(X, chunks=(chunk, 1))
            assert_same(answer(Stadion(**QUICK).fit(array)), expected)


def test_mixtures_have_the_same_bits_on_worker_processes(X, cluster, tmp_path):
    np.save(tmp_path / "x.npy", X)
    mapped = np.load(tmp_path / "x.npy", mmap_mode="r")
    expected = answer(Stadion(GaussianMixture(), **QUICK).fit(mapped))
    with Client(cluster) as client:
        cluster.scale(2)
        client.wait_for_workers(2)
        array = da.from_array(X, chunks=(777, 1))
        assert_same(answer(Stadion(GaussianMixture(), **QUICK).fit(array)), expected)


def _kill_worker_once(chunk, marker, victim=None, block_info=None):
    """On one chunk, end a process with kill -9 the first time: this worker, or the victim."""
    if block_info is not None and block_info[0]["chunk-location"][0] == 2:
        try:
            os.close(os.open(marker, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return chunk
        os.kill(victim or os.getpid(), signal.SIGKILL)
    return chunk


def test_a_killed_worker_does_not_change_the_bits(X, cluster, expected, tmp_path):
    marker = tmp_path / "killed"
    array = da.from_array(X, chunks=(777, P))
    fatal = array.map_blocks(_kill_worker_once, marker=str(marker), meta=np.empty((0, 0)))
    with Client(cluster):
        found = answer(Stadion(**QUICK).fit(fatal))
    assert marker.exists()
    assert_same(found, expected)


def _slow(chunk):
    time.sleep(0.3)
    return chunk


@pytest.fixture
def interruptible():
    """Ctrl-C raises, also where the shell runs the tests in the background and ignores it."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_interrupt_ends_soon_and_leaves_the_client_usable(X, cluster):
    array = da.from_array(X, chunks=(100, P)).map_blocks(_slow, meta=np.empty((0, 0)))
    with Client(cluster) as client:
        timer = threading.Timer(1.0, os.kill, (os.getpid(), signal.SIGINT))
        started = time.monotonic()
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            Stadion(**QUICK).fit(array)
        assert time.monotonic() - started < 10
        assert client.submit(sum, [1, 2]).result(timeout=30) == 3


SCHEDULER = """
import asyncio
from distributed import Scheduler

async def serve():
    async with Scheduler(port=0, dashboard=False) as scheduler:
        print(scheduler.address, flush=True)
        await scheduler.finished()

asyncio.run(serve())
"""


def test_a_lost_scheduler_is_one_clear_error(X, tmp_path):
    env = {**os.environ, "PYTHONPATH": os.path.dirname(__file__)}
    started = [sys.executable, "-c", SCHEDULER]
    scheduler = subprocess.Popen(started, stdout=subprocess.PIPE, text=True, env=env)
    assert scheduler.stdout is not None
    address = scheduler.stdout.readline().strip()
    command = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
    worker = subprocess.Popen([*command, "--no-dashboard", "--nthreads", "1"], stderr=-3, env=env)
    array = da.from_array(X, chunks=(777, P)).map_blocks(
        _kill_worker_once,
        marker=str(tmp_path / "killed"),
        victim=scheduler.pid,
        meta=np.empty((0, 0)),
    )
    try:
        with (
            Client(address, timeout=60),
            pytest.raises(RuntimeError, match="the Dask cluster failed"),
        ):
            Stadion(**QUICK).fit(array)
    finally:
        for process in (scheduler, worker):
            process.kill()
            process.wait()
