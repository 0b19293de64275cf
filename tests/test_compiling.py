"""The cache of compiled kernels: never stale, never an error.

Most tests compile a tiny function with a cache in a temporary folder. Those that need a fresh
process use a package with the real decorators and two tiny kernels.
"""

import os
import shutil
import subprocess
import sys
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numba
import numpy as np
import pytest

import stablek
from stablek.kernels import caching, lean
from stablek.kernels.compiling import jit, jit_reordered

PACKAGE = Path(stablek.__file__).parent


def double(x):
    return 2 * x


def triple(x):
    return 3 * x


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache folder, and a process that has not warned yet."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.setattr(caching, "_warned", False)
    return tmp_path / "cache"


def files_in(folder):
    return sorted(path for path in folder.rglob("*") if path.is_file())


def compiled(kernel):
    """How often a kernel was compiled, and how often it was read from disk."""
    return sum(kernel.stats.cache_misses.values()), sum(kernel.stats.cache_hits.values())


def run(folder, code, *, check=True, **environment):
    """Run code in a fresh process that imports the copy of stablek in a folder."""
    settings = {
        **{name: value for name, value in os.environ.items() if not name.startswith("NUMBA_")},
        "PYTHONPATH": str(folder),
        "PYTHONDONTWRITEBYTECODE": "1",
        **environment,
    }
    command = [sys.executable, "-W", "always::RuntimeWarning", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, env=settings)
    assert done.returncode == 0 or not check, done.stderr
    return done


@pytest.fixture
def tiny(tmp_path):
    """A package with the real decorators, an outer kernel and an inner one in a sub-package."""
    kernels = tmp_path / "tiny" / "stablek" / "kernels"
    (kernels / "deep").mkdir(parents=True)
    for name in ("compiling.py", "caching.py", "pipelines.py"):
        shutil.copy(PACKAGE / "kernels" / name, kernels)
    shutil.copy(PACKAGE / "announcing.py", kernels.parent)
    for folder in (kernels.parent, kernels, kernels / "deep"):
        (folder / "__init__.py").write_text("__version__ = '1'\n")
    (kernels / "deep" / "inside.py").write_text(
        "from stablek.kernels.compiling import inner\n\n@inner\ndef step(x):\n    return x + 1\n"
    )
    (kernels / "outside.py").write_text(
        "import numpy as np\n"
        "from stablek.kernels.compiling import jit\n"
        "from stablek.kernels.deep.inside import step\n\n"
        "@jit\ndef walk(x):\n    return step(x) * 10\n\n"
        "@jit\ndef read(values, i):\n    return values[i]\n\n"
        "@jit\ndef fill(n, value):\n    return np.full(n, value)\n"
    )
    return kernels.parent.parent


WALK = """
from stablek.kernels.outside import walk
print(walk(1), sum(walk.stats.cache_misses.values()), sum(walk.stats.cache_hits.values()))
"""


# The note


WATCH = """
import logging
logging.basicConfig(level=logging.INFO, format="log: %(message)s")
from stablek.announcing import listen, watched
listen()  # too early: nothing is imported yet
from stablek.kernels.outside import read, walk
import numpy as np
listen()
with watched(WANTED):
    walk(1), walk(1.0), read(np.zeros(2), 1)
"""


def test_compilation_is_announced_once_and_only_if_something_compiles(tiny, tmp_path):
    note = "Compiling kernels once for this machine"
    for wanted in (True, False):
        folder = str(tmp_path / f"cache-{wanted}")
        code = WATCH.replace("WANTED", str(wanted))
        first = run(tiny, code, NUMBA_CACHE_DIR=folder).stderr
        assert first.count(f"log: {note}") == 1
        assert first.count(f"stablek: {note}") == wanted
        assert note not in run(tiny, code, NUMBA_CACHE_DIR=folder).stderr


WARM = """
import sys, warnings
from numba.core import event
from sklearn.cluster import AgglomerativeClustering
from sklearn.mixture import GaussianMixture
from stablek import Stadion
from stablek.cli._warmup import default_fits
from stablek.datasets import make_demo
warnings.simplefilter("ignore")
class Listener(event.Listener):
    def on_start(self, found):
        function = found.data["dispatcher"].py_func
        print("compiles", title, function.__module__, function.__qualname__, found.data["args"])
    def on_end(self, found):
        pass
with event.install_listener("numba:compile", Listener()):
    for title, fit in default_fits(n=210, seed=1):
        fit()
    for clusterer in (None, AgglomerativeClustering(), GaussianMixture()):
        title = f"defaults, {clusterer}"
        Stadion(clusterer, random_state=0).fit(make_demo()[0])
print("done")
"""


def test_nothing_compiles_after_warmup(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    command = [sys.executable, "-m", "stablek", "warmup"]
    warm = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert warm.returncode == 0, warm.stderr
    assert "The kernels are ready" in warm.stdout
    # Other data than those of the warm-up: more rows, other numbers.
    command = [sys.executable, "-c", WARM]
    fits = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert fits.stdout == "done\n", fits.stdout + fits.stderr


# Stale code


_GATHER = "def gather(X: Floats, noise: Floats"


def test_a_change_in_an_inner_kernel_changes_the_answer(tmp_path):
    """The real package, with a new kernel that calls `gather` of another file."""
    shutil.copytree(PACKAGE, tmp_path / "stablek", ignore=shutil.ignore_patterns("__pycache__"))
    kernels = tmp_path / "stablek" / "kernels"
    [inside] = [path for path in kernels.rglob("*.py") if _GATHER in path.read_text()]
    module = ".".join(inside.relative_to(tmp_path).with_suffix("").parts)
    (kernels / "probe.py").write_text(
        "import numpy as np\n"
        "from stablek.kernels.compiling import jit\n"
        f"from {module} import gather\n\n"
        "@jit\ndef noisy(X, noise, epsilon, rows):\n"
        "    points = np.empty((X.shape[1], len(rows)))\n"
        "    gather(X, noise, epsilon, rows, points)\n"
        "    return points\n"
    )
    code = (
        "import numpy as np\n"
        "from stablek.kernels.probe import noisy\n"
        "print(noisy(np.ones((2, 1)), np.ones((2, 1)), 0.5, np.arange(2))[0, 0])"
    )
    assert run(tmp_path, code).stdout == "1.5\n"
    source = inside.read_text()
    assert source.count("epsilon * noise[") == 1
    inside.write_text(source.replace("epsilon * noise[", "5.0 * epsilon * noise["))
    assert run(tmp_path, code).stdout == "3.5\n"


def test_processes_share_the_code_until_a_kernel_changes(tiny):
    inside = tiny / "stablek" / "kernels" / "deep" / "inside.py"
    before = inside.read_text()
    assert run(tiny, WALK).stdout.split() == ["20", "1", "0"]
    assert run(tiny, WALK).stdout.split() == ["20", "0", "1"]
    inside.write_text(before.replace("x + 1", "x + 2"))
    assert run(tiny, WALK).stdout.split() == ["30", "1", "0"]
    inside.write_text(before)  # back: what was compiled first is still there
    os.utime(inside, (1, 1))  # the time does not matter
    assert run(tiny, WALK).stdout.split() == ["20", "0", "1"]


def test_loaded_code_runs_without_the_compiler_until_something_compiles(tiny):
    code = """
import sys
from stablek.kernels.outside import fill
print(fill(2, 7.0).sum(), sum(fill.stats.cache_hits.values()))
print("numba.typed.dictobject" in sys.modules)  # numba loads it to compile
print(fill(3, 5).sum(), sum(fill.stats.cache_misses.values()))
"""
    assert run(tiny, code).stdout.split() == ["14.0", "0", "True", "15", "2"]
    assert run(tiny, code.replace("fill(3, 5)", "fill(3, True)")).stdout.split() == [
        "14.0",
        "1",
        "False",
        "3",
        "1",
    ]


def test_bounds_checks_have_a_cache_of_their_own(tiny):
    code = """
import numpy as np
from stablek.kernels.outside import read
print(read(np.arange(9)[:3], 5))
"""
    assert run(tiny, code).stdout == "5\n"
    checked = run(tiny, code, check=False, NUMBA_BOUNDSCHECK="1")
    assert checked.stderr.splitlines()[-1].startswith("IndexError")


@pytest.fixture
def sources(tmp_path, monkeypatch):
    (tmp_path / "deep").mkdir()
    (tmp_path / "a.py").write_text("1")
    (tmp_path / "deep" / "b.py").write_text("2")
    monkeypatch.setattr(caching, "_SOURCES", tmp_path)
    return tmp_path


def test_the_key_depends_on_every_source(sources):
    keys = [caching.current_key()]
    for change in (
        lambda: (sources / "a.py").write_text("3"),
        lambda: (sources / "deep" / "b.py").write_text("3"),
        lambda: (sources / "deep" / "b.py").rename(sources / "deep" / "c.py"),
        lambda: (sources / "d.py").write_text(""),
        lambda: (sources / "a.py").unlink(),
    ):
        change()
        assert caching.current_key() == caching.current_key()
        keys.append(caching.current_key())
    assert len(set(keys)) == len(keys)


def test_the_key_ignores_what_is_no_source(sources):
    key = caching.current_key()
    (sources / "notes.txt").write_text("")
    (sources / ".#a.py").symlink_to(sources / "nowhere")  # the lock file of an editor
    (sources / "__pycache__").mkdir()
    (sources / "__pycache__" / "a.cpython-311.pyc").write_text("")
    assert caching.current_key() == key


@pytest.mark.parametrize(
    "name",
    ["__version__", "numba.__version__", "llvmlite.__version__", "np.__version__",
     "numba.config.BOUNDSCHECK"],
)  # fmt: skip
def test_the_key_depends_on_versions_and_bounds_checks(monkeypatch, name):
    key = caching.current_key()
    monkeypatch.setattr(f"stablek.kernels.caching.{name}", "another")
    assert caching.current_key() != key


def test_without_sources_nothing_is_kept(cache, monkeypatch, tmp_path):
    monkeypatch.setattr(caching, "_SOURCES", tmp_path / "stablek.zip" / "stablek" / "kernels")
    monkeypatch.setattr(caching, "key_at_import", caching.current_key)
    with pytest.warns(RuntimeWarning, match="no kernel sources in"):
        kernel = jit(double)
    assert kernel(2) == 4
    assert files_in(cache) == []


def test_code_is_not_kept_when_sources_changed_after_the_import(cache, monkeypatch):
    kernel = jit(double)
    monkeypatch.setattr(caching, "current_key", lambda: "another")
    assert kernel(2) == 4
    assert files_in(cache) == []


# Lean kernels


def test_lean_kernels_allocate_and_return_no_arrays(cache):
    def shift(values, by):
        for i in range(len(values)):
            values[i] += by

    step = lean.inner(shift)

    def twice(values, by):
        step(values, by)
        step(values, by)
        return values.sum()

    values = np.arange(6.0)[::2]
    assert lean.jit(twice)(values, 0.5) == values.sum() == 9.0
    for wrong in (lambda x: np.empty(3)[0], lambda x: (x + x)[0], lambda x: x[1:], lambda x: (x,)):
        with pytest.raises((numba.core.errors.NumbaError, TypeError)):
            lean.jit(wrong)(np.ones(3))


# What is kept


@pytest.mark.parametrize("decorator", [jit, jit_reordered])
def test_every_signature_is_kept(cache, decorator):
    for count in (1, 0):
        kernel = decorator(double)
        assert (kernel(2), kernel(2.5)) == (4, 5.0)
        np.testing.assert_array_equal(kernel(np.arange(3)), [0, 2, 4])
        assert compiled(kernel) == (3 * count, 3 * (1 - count))
    assert len(files_in(cache)) == 3


def test_recompile_compiles(cache):
    jit(double)(2)
    kernel = jit(double)
    kernel(2)
    kernel.recompile()
    assert compiled(kernel) == (1, 1)
    assert len(files_in(cache)) == 1


def test_old_code_is_removed(cache, monkeypatch):
    for number in range(7):
        monkeypatch.setattr(caching, "current_key", lambda number=number: f"{number:016x}")
        monkeypatch.setattr(caching, "key_at_import", caching.current_key)
        assert jit(double)(2) == 4
        assert jit(triple)(2) == 6
        [folder] = cache.glob(f"*/*-{number:016x}")
        os.utime(folder, (number, number))
        if not number:
            others = [folder.parent / name for name in ("stablek-cpython-3-0", "theirs")]
            for other in others:
                other.mkdir()
    kept = sorted(path.name[-1] for path in cache.glob(f"*/{caching._PREFIX}*"))
    assert kept == ["3", "4", "5", "6"]
    assert all(other.exists() for other in others)  # another Python's, another package's


def test_without_jit_kernels_are_plain_functions(cache, monkeypatch):
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    assert jit(double) is double
    assert files_in(cache) == []


def test_processes_write_at_the_same_time(tiny):
    """Each compiles one signature of its own and one that all compile."""

    def misses(arguments):
        code = f"""
from stablek.kernels.outside import walk
assert all(walk(x) == 20 for x in ({arguments}))
print(sum(walk.stats.cache_misses.values()))
"""
        return int(run(tiny, code).stdout)

    with ThreadPoolExecutor(3) as threads:
        assert max(threads.map(misses, ["1, True", "1, 1.0", "1, 1 + 0j"])) == 2
    assert len(list(tiny.rglob("*.nbc"))) == 4
    assert list(tiny.rglob("*.tmp*")) == []
    assert misses("1, True, 1.0, 1 + 0j") == 0


# No errors


def no_folder(tiny):
    """Settings under which no cache folder can be written, also not by root."""
    for file in (tiny / "file", tiny / "stablek" / "kernels" / "__pycache__"):
        file.write_text("")
    below = str(tiny / "file" / "cache")
    return {"NUMBA_CACHE_DIR": below, "HOME": below, "XDG_CACHE_HOME": below}


BOTH = """
import numpy as np
from stablek.kernels.outside import read, walk
print(walk(1), walk(1.5), read(np.arange(3), 2))
"""


def test_no_folder_is_one_warning(tiny):
    done = run(tiny, BOTH, **no_folder(tiny))
    assert done.stdout == "20 25.0 2\n"
    assert done.stderr.count("RuntimeWarning") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr
    assert list(tiny.rglob("*.nbc")) == []


def test_a_full_disk_is_one_warning(tiny, tmp_path):
    code = f"import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))\n{BOTH}"
    done = run(tiny, code, NUMBA_CACHE_DIR=str(tmp_path / "cache"))
    assert done.stdout == "20 25.0 2\n"
    assert done.stderr.count("RuntimeWarning") == 1
    assert "NUMBA_CACHE_DIR" in done.stderr
    assert files_in(tmp_path / "cache") == []


def test_a_folder_that_is_deleted_is_made_again(cache):
    kernel = jit(double)
    assert kernel(2) == 4
    shutil.rmtree(cache)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel(2.5) == 5.0
    assert len(files_in(cache)) == 1


def test_a_folder_that_becomes_a_file_is_one_warning(cache):
    kernel = jit(double)
    shutil.rmtree(cache)
    cache.write_text("")
    with pytest.warns(RuntimeWarning, match="NUMBA_CACHE_DIR"):
        assert kernel(2) == 4
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert kernel(2.5) == 5.0


def cut(content):
    return content[: len(content) // 2]


def flip(tenths):
    def flipped(content):
        at = len(content) * tenths // 10
        return content[:at] + bytes([content[at] ^ 255]) + content[at + 1 :]

    return flipped


@pytest.mark.parametrize(
    "damage", [lambda _: b"", lambda _: b"no pickle", cut, *map(flip, range(10))]
)
def test_damaged_files_are_compiled_again(cache, damage):
    jit(double)(2)
    [path] = files_in(cache)
    path.write_bytes(damage(path.read_bytes()))
    for expected in ((1, 0), (0, 1)):  # compiled, and from then on intact
        kernel = jit(double)
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert kernel(2) == 4
        assert compiled(kernel) == expected


def test_a_file_of_another_signature_is_not_used(cache):
    jit(double)(2)
    [whole] = files_in(cache)
    jit(double)(2.5)
    [fraction] = set(files_in(cache)) - {whole}
    shutil.copy(whole, fraction)
    kernel = jit(double)
    assert kernel(2.5) == 5.0
    assert compiled(kernel) == (1, 0)
