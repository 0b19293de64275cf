"""The gallery's examples run, and the documentation has a page for every public name."""

import csv
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


def test_wins_in_the_text_are_those_of_the_study():
    tables = ROOT / "study" / "results" / "tables"

    def wins(table, column, method):
        text = (tables / table).read_text(encoding="utf-8")
        rows = [row for row in csv.DictReader(text.splitlines()) if row["method"] == method]
        return int(rows[0][column].split()[0])

    default = wins("table1_default.csv", "wins by seed", "Stadion-max (default of stablek)")
    others = {
        name: wins("table1_kmeans.csv", "wins, ours", name)
        for name in ("Silhouette", "Wemmert-Gançarski", "Gap statistic (B)")
    }
    text = {
        name: " ".join((ROOT / "docs" / name).read_text(encoding="utf-8").split())
        for name in ("faq.md", "choose.md", "coming_from/clusgap.md")
    }
    silhouette = others["Silhouette"]
    both = f"`Stadion()` found the true K on {default}, the silhouette on {silhouette} "
    assert both in text["faq.md"]
    assert f'method="silhouette")`: {silhouette} of 73' in text["choose.md"]
    assert f'gancarski")`: {others["Wemmert-Gançarski"]} of 73' in text["choose.md"]
    gap = f"true K on {others['Gap statistic (B)']}, `Stadion()` on {default}."
    assert gap in text["coming_from/clusgap.md"]


def public_names():
    for name in stablek.__all__:
        yield name
        module = getattr(stablek, name)
        if hasattr(module, "__path__") or name in {"ranking"}:
            yield from module.__all__


def test_api_page_names_everything_public():
    page = (ROOT / "docs" / "api.rst").read_text(encoding="utf-8")
    assert not [name for name in public_names() if name not in page]
