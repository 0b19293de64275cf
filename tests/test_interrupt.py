"""Ctrl-C ends a fit promptly and leaves no worker process behind."""

import os
import signal
import subprocess
import sys
import time

import pytest

SCRIPT = """
import numpy as np
from sklearn.cluster import MiniBatchKMeans
from stablek import Stadion
X = np.random.default_rng(0).normal(size=(2000, 2))
print("ready", flush=True)
Stadion(MiniBatchKMeans(n_init=20), relabel="refit", n_jobs=2, random_state=0).fit(X)
"""


def children_of(pid: int) -> list[int]:
    """Living descendants of a process."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open(f"/proc/{name}/stat") as file:
                parent = int(file.read().rpartition(")")[2].split()[1])
        except (FileNotFoundError, ProcessLookupError):
            continue
        if parent == pid:
            found += [int(name), *children_of(int(name))]
    return found


def interrupt(process: subprocess.Popen) -> str:
    """Press Ctrl-C, and once more if need be; return what the process writes.

    Python drops an interrupt that arrives in a finalizer.
    """
    process.send_signal(signal.SIGINT)
    try:
        return process.communicate(timeout=30)[1]
    except subprocess.TimeoutExpired:
        process.send_signal(signal.SIGINT)
        return process.communicate(timeout=30)[1]


@pytest.mark.skipif(not os.path.isdir("/proc"), reason="lists processes through /proc")
def test_interrupt_leaves_nothing_behind():
    process = subprocess.Popen(
        [sys.executable, "-c", SCRIPT], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout.readline() == "ready\n"
    deadline = time.monotonic() + 60
    while len(children_of(process.pid)) < 2 and time.monotonic() < deadline:
        time.sleep(0.2)
    workers = children_of(process.pid)
    assert len(workers) >= 2
    time.sleep(1.0)
    try:
        errors = interrupt(process)
    finally:
        process.kill()
    assert process.returncode != 0
    assert "KeyboardInterrupt" in errors
    deadline = time.monotonic() + 20
    while any(os.path.isdir(f"/proc/{pid}") for pid in workers) and time.monotonic() < deadline:
        time.sleep(0.2)
    assert not [pid for pid in workers if os.path.isdir(f"/proc/{pid}")]
