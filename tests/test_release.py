"""What a release promises: one version, tested lower bounds, a README that names tests."""

import re
import tomllib
from pathlib import Path

import pytest

import stablek

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


def text(name):
    return (ROOT / name).read_text(encoding="utf-8")


def lower_bounds():
    """From the name of each dependency of the library and its extras to its lower bound."""
    extras = PROJECT["optional-dependencies"]
    needed = [*PROJECT["dependencies"], *extras["study"], *extras["all"], *extras["cli"]]
    needed += [
        need
        for name in ("plot", "progress", "report", "datasets", "dask", "excel")
        for need in extras[name]
    ]
    found = {}
    for need in needed:
        name, bound = re.fullmatch(r"([\w-]+)(?:\[[\w,-]+\])?(?:>=([\d.]+))?", need).groups()
        if name != "stablek":
            found[name] = bound
    return found


@pytest.mark.parametrize("name, bound", lower_bounds().items())
def test_lower_bound_is_the_version_that_is_tested(name, bound):
    (tested,) = re.findall(rf"^{name}==(.+)$", text("constraints-min.txt"), re.MULTILINE)
    assert re.fullmatch(rf"{re.escape(bound)}(\.0)*", tested)


def test_citation_has_the_version():
    assert f"\nversion: {stablek.__version__}\n" in text("CITATION.cff")
    assert "version" in PROJECT["dynamic"]


def test_the_readme_names_tests_that_exist():
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", text("README.md"))
    assert len(named) > 5
    for file, name in named:
        assert f"def {name}(" in text(file)


def test_the_readme_links_to_files_that_exist():
    links = re.findall(r"\]\(([^)#]+)\)", text("README.md"))
    local = [link for link in links if not link.startswith("http")]
    assert local
    assert [link for link in local if not (ROOT / link).exists()] == []


def test_the_speed_table_is_that_of_the_benchmarks():
    results = text("benchmarks/RESULTS.md")
    rows = re.findall(
        r"^\| (?:K-means|Ward|Gaussian)[^|]*\|[^|]*\|[^|]*\| (\d+x) \|$", text("README.md"), re.M
    )
    assert len(rows) == 4
    measured = re.findall(r"\| (\d+x) \| \d+x \|", results.split("## The paper's setting")[0])
    assert rows == measured


def test_pre_commit_runs_the_tools_of_make_check():
    checks = re.search(r"^check:.*\n((?:\t.*\n)+)", text("Makefile"), re.MULTILINE)[1]
    hooks = text(".pre-commit-config.yaml")
    for tool in re.findall(r"\$\(BIN\)/(\S+)", checks):
        assert f".venv/bin/{tool}" in hooks
