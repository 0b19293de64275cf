"""Shared fixtures."""

import os
import shutil

import numpy as np
import pandas as pd
import pytest
from hypothesis import settings
from sklearn.datasets import make_blobs

from stablek import Stadion

settings.register_profile("stablek", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("stablek")

needs_data = pytest.mark.skipif(
    "STABLEK_DATA_DIR" not in os.environ,
    reason="the benchmark data sets are read from STABLEK_DATA_DIR, which is not set",
)

CHROMIUM = os.environ.get("STABLEK_CHROMIUM") or shutil.which("chromium") or "chromium"
ARGUMENTS = [
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]


@pytest.fixture(scope="session")
def browser():
    """Chromium, driven by Playwright."""
    # Chosen by a marker: a missing browser is an error, never a silent pass.
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS)
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def blobs():
    """Three well separated clusters."""
    X, _ = make_blobs(90, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    return X


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="module")
def data():
    """Three clusters in named columns."""
    X, _ = make_blobs(150, centers=[[0, 0], [8, 0], [0, 12]], random_state=0)
    return pd.DataFrame(X, columns=["height", "width"])


@pytest.fixture(scope="module")
def fitted(data):
    """A fit that reports and displays show. A module may have data of its own."""
    selector = Stadion(k_range=range(1, 6), n_perturbations=3, n_epsilons=5, random_state=0)
    return selector.fit(data)


@pytest.fixture(scope="module")
def crossed(data):
    """The same by the paper's rule."""
    selector = Stadion(k_range=range(1, 6), n_perturbations=3, n_epsilons=5, random_state=0)
    return selector.set_params(one_cluster="crossing").fit(data)
