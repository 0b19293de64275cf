"""Importing stablek stays light."""

import subprocess
import sys

import pytest

import stablek

HEAVY = ["numba", "matplotlib", "pandas", "polars", "plotly", "dask", "tqdm", "rich"]


def modules_after(code: str) -> set[str]:
    script = f"{code}; import sys; print('\\n'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return set(done.stdout.split())


def test_import_loads_nothing_heavy():
    assert not modules_after("import stablek") & {*HEAVY, "sklearn"}


def test_stadion_loads_nothing_that_sklearn_does_not():
    ours = modules_after("from stablek import Stadion")
    theirs = modules_after("import sklearn.cluster, sklearn.neighbors, sklearn.pipeline")
    assert not (ours - theirs) & set(HEAVY)


def test_every_public_name_is_there():
    for name in stablek.__all__:
        assert getattr(stablek, name).__name__.removeprefix("stablek.") == name
    assert set(stablek.__all__) <= set(dir(stablek))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        stablek.nothing
