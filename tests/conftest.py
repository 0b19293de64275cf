"""Shared fixtures."""

import os

import numpy as np
import pytest
from hypothesis import settings
from sklearn.datasets import make_blobs

settings.register_profile("stablek", deadline=None, derandomize=True, max_examples=40)
settings.load_profile("stablek")

needs_data = pytest.mark.skipif(
    "STABLEK_DATA_DIR" not in os.environ,
    reason="the benchmark data sets are read from STABLEK_DATA_DIR, which is not set",
)


@pytest.fixture(scope="session")
def blobs():
    """Three well separated clusters."""
    X, _ = make_blobs(90, centers=[[0, 0], [8, 0], [0, 8]], random_state=0)
    return X


@pytest.fixture
def rng():
    return np.random.default_rng(0)
