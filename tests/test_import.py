"""Importing stablek stays light."""

import gc
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


def test_the_command_line_waits_with_scipy_stats_and_pandas(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("x,y\n" + "".join(f"{i % 2 * 9 + i / 50},{i % 7}\n" for i in range(40)))
    code = f"""
import sys
sys.argv = ["stablek", "select", {str(file)!r}, "--k", "1-3"]
from stablek.cli import main
assert main() == 0
modules = set(sys.modules)
assert not modules & {{"pandas", "scipy.stats._stats_py"}}, "loaded"
import pandas, scipy.stats
from scipy.stats import rankdata
from sklearn.metrics import roc_auc_score
from sklearn.metrics._ranking import rankdata as later
from sklearn.covariance import EllipticEnvelope
assert list(rankdata([3, 1, 1])) == list(later([3, 1, 1])) == [3, 1.5, 1.5]
assert abs(scipy.stats.norm.cdf(1.96) - 0.975) < 1e-4
frame = pandas.DataFrame({{"a": [1, 2, 3, 9], "b": [2, 1, 4, 3]}})
assert EllipticEnvelope(random_state=0).fit(frame)
assert "scipy.stats._stats_py" in sys.modules
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_garbage_collection_rests_in_a_process_of_our_own_only(tmp_path):
    file = tmp_path / "points.csv"
    file.write_text("x,y\n" + "".join(f"{i % 2 * 9 + i / 50},{i % 7}\n" for i in range(40)))
    code = f"""
import atexit, gc, sys
argv = ["test", {str(file)!r}, "--reference-sets", "4"]
atexit.register(lambda: print("frozen" if gc.get_freeze_count() else "free", *gc.get_threshold()))
from stablek.cli import main
given = sys.argv[1:] == ["given"]
sys.argv = ["stablek", *argv]
assert main(argv if given else None) == 0
"""
    last = {}
    for how in ("given", "own"):
        done = subprocess.run([sys.executable, "-c", code, how], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        last[how] = done.stdout.splitlines()[-1].split()
    assert last["given"][:2] == ["free", str(gc.get_threshold()[0])]
    assert last["own"][:2] == ["frozen", "100000"]
