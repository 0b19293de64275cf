"""Small blocks and a quick fit, for the tests of data in blocks."""

from __future__ import annotations

from typing import Any

import pytest

from stablek.blockwise import core

QUICK: dict[str, Any] = {
    "k_range": [2, 3],
    "omega": [2],
    "random_state": 0,
    "n_perturbations": 1,
    "n_epsilons": 3,
    "one_cluster": "never",
    "max_rows_in_memory": 100,
    "sample_rows": 500,
    "max_passes": 3,
}
"""Parameters of a Stadion that reads blocks of few rows and answers soon."""


def make_blocks_small(
    monkeypatch: pytest.MonkeyPatch, block_rows: int, n_features: int, per_task: int = 1
) -> None:
    """Let blocks have few rows, and tasks few blocks."""
    monkeypatch.setattr(core, "BLOCK_ROWS", block_rows)
    monkeypatch.setattr(core, "RUN_NUMBERS", per_task * block_rows * n_features)
