"""The gallery's examples run, and the documentation has a page for every public name."""

import runpy
import warnings
from pathlib import Path

import matplotlib
import pytest
from matplotlib import pyplot as plt

import stablek

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples").glob("*/plot_*.py"))


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path, capsys):
    matplotlib.use("Agg")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        runpy.run_path(str(path), run_name="__main__")
    drawn = len(plt.get_fignums())
    plt.close("all")
    assert drawn or capsys.readouterr().out


def public_names():
    for name in stablek.__all__:
        yield name
        module = getattr(stablek, name)
        if hasattr(module, "__path__") or name in {"ranking"}:
            yield from module.__all__


def test_api_page_names_everything_public():
    page = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    assert not [name for name in public_names() if name not in page]
