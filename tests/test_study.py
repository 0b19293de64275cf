"""The study's harness, on a tiny plan of two small generated data sets."""

import csv
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import adjusted_rand_score

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from stablek import Stadion  # noqa: E402
from stablek.selectors import compare  # noqa: E402
from study import __main__ as command  # noqa: E402
from study import data, fitting, protocol, runner  # noqa: E402
from study.experiments import EXPERIMENTS, hyperparameters, plan, similarity, table1  # noqa: E402
from study.fanova import fanova  # noqa: E402
from study.plan import Task, filtered, tasks_of  # noqa: E402
from study.protocol import PAPER, TINY  # noqa: E402
from study.report import examples, page, paper, scores, significance, timing  # noqa: E402
from study.report import similarity as report_similarity  # noqa: E402
from study.report import table1 as report_table1  # noqa: E402
from study.report.blocks import Drawing  # noqa: E402
from study.store import Store  # noqa: E402

SMALL = ["--only", "table1", "--algorithm", "kmeans", "--seed", "0"]


def study(*arguments):
    return command.main([str(each) for each in arguments])


def rows(home, experiment="table1"):
    """Rows of the CSV file, without their times."""
    with (home / "results" / f"{experiment}.csv").open(newline="") as file:
        return [{k: v for k, v in row.items() if k != "seconds"} for row in csv.DictReader(file)]


@pytest.fixture(scope="session")
def home(tmp_path_factory):
    """The whole tiny plan, run once."""
    home = tmp_path_factory.mktemp("study")
    assert study("run", "--plan", "tiny", "--home", home) == 0
    return home


@pytest.fixture(scope="session")
def docs(home):
    """Page and figures of the tiny plan."""
    assert study("tables", "--plan", "tiny", "--home", home, "--docs", home / "docs") == 0
    assert study("figures", "--plan", "tiny", "--home", home, "--docs", home / "docs") == 0
    return home / "docs"


def test_every_run_is_done_once(home, capsys):
    runs = plan(TINY)
    assert len({run.key for run in runs}) == len(runs)
    assert Store(home).done() == {run.key for run in runs}
    assert study("status", "--plan", "tiny", "--home", home) == 0
    assert f"{len(runs)} of {len(runs)} runs are done" in capsys.readouterr().out


def pages(docs):
    """Text of all pages: the overview and one for each section."""
    files = [docs / "study.md", *sorted((docs / "study").glob("*.md"))]
    return {file.stem: file.read_text(encoding="utf-8") for file in files}


def test_pages_have_every_section_table_and_figure(docs):
    found = pages(docs)
    page = "\n".join(found.values())
    sections = re.findall(r"\]\(study/(\w+)\.md\)", found["study"])
    assert len(sections) == 11
    assert sorted(sections) == sorted(set(found) - {"study"})
    assert all(found[name].startswith("# ") for name in sections)
    assert "Not run yet" not in page
    linked = set(re.findall(r"!\[[^]]*\]\(([^)]+)\)", page))
    assert linked == {path.name for path in (docs / "study").iterdir() if path.suffix != ".md"}
    expected = {"differences_kmeans.svg", "importance.svg", "dimension.svg", "k_to_n.svg"}
    assert expected | {"jump_init.png", "cost.svg", "paths_three_gaussians.svg"} <= linked
    for number in ("7.58", "8.33", "17.07"):  # numbers of the paper
        assert number in page


def test_tables_of_one_experiment(home, docs, tmp_path):
    options = ["--plan", "tiny", "--home", home, "--docs", tmp_path, "--only", "similarity"]
    assert study("tables", *options) == 0
    assert study("figures", *options) == 0
    found = pages(tmp_path)
    assert set(found) == {"study", "similarity"}
    assert all(pages(docs)[name] == text for name, text in found.items())


def test_wins_of_the_table_are_those_of_the_rows(home, docs):
    answers = {(r["dataset"], r["method"]): r["k"] for r in rows(home) if _first(r)}
    truth = {dataset: k for (dataset, method), k in answers.items() if method == "oracle"}
    assert truth == {"three_gaussians_2d_60": "3", "two_gaussians_3d_50": "2"}
    with (home / "results" / "tables" / "table1_kmeans.csv").open(newline="") as file:
        table = {row["method"]: row for row in csv.DictReader(file)}
    assert len(table) == 21
    for method in table1.INDICES:
        wins = sum(answers[dataset, method] == k for dataset, k in truth.items())
        assert table[paper.title(method)]["wins, ours"] == f"{wins} of 2"


def _first(row):
    return row["algorithm"] == "kmeans" and row["seed"] == "0"


def test_rows_of_a_part_are_missing_and_said_so(tmp_path):
    filters = ["--only", "table1", "--algorithm", "kmeans", "--fit", "judge", "stadion_extend"]
    assert study("run", "--plan", "tiny", "--home", tmp_path, *filters) == 0
    assert study("tables", "--plan", "tiny", "--home", tmp_path, "--docs", tmp_path) == 0
    found = pages(tmp_path)
    assert sum(text.count("Not run yet.") for text in found.values()) == 9
    page = found["table1"]
    # 14 of 21 methods were run. The others have only the paper's numbers.
    assert "| Stadion-max | 7.46 | – | 50 | – |" in page
    assert "Ranks among 14 of 21 methods on 2 of 2 data sets" in page


def test_killed_and_resumed_gives_the_same_rows(home, tmp_path):
    options = ["run", "--plan", "tiny", "--home", str(tmp_path), *SMALL]
    process = subprocess.Popen(
        [sys.executable, "-m", "study", *options], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    database = tmp_path / "study.sqlite"
    while process.poll() is None and _count(database) == 0:
        time.sleep(0.005)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    total = sum(run.algorithm == "kmeans" for run in _small_runs())
    assert 0 < _count(database) < total
    assert study(*options) == 0
    assert _count(database) == total
    assert rows(tmp_path) == [row for row in rows(home) if _first(row)]


def test_terminated_it_ends_in_order_and_exports_what_it_has(tmp_path):
    options = ["run", "--plan", "tiny", "--home", str(tmp_path), *SMALL]
    process = subprocess.Popen(
        [sys.executable, "-m", "study", *options], cwd=ROOT, stderr=subprocess.DEVNULL
    )
    while process.poll() is None and _count(tmp_path / "study.sqlite") == 0:
        time.sleep(0.005)
    process.terminate()
    assert process.wait() == 128 + signal.SIGTERM
    lines = (tmp_path / "results" / "table1.csv").read_text().splitlines()
    assert len(lines) - 1 == _count(tmp_path / "study.sqlite") > 0


def _small_runs():
    wanted = {"experiment": ["table1"], "algorithm": ["kmeans"], "seed": [0]}
    return list(filtered(plan(TINY), wanted))


def _count(database):
    if not database.exists():
        return 0
    try:
        with sqlite3.connect(database) as connection:
            return connection.execute("SELECT count(*) FROM runs").fetchone()[0]
    except sqlite3.OperationalError:  # the table does not exist yet
        return 0


def test_committed_rows_are_taken_over(home, docs, tmp_path, capsys):
    shutil.copytree(home / "results", tmp_path / "results")
    assert study("run", "--plan", "tiny", "--home", tmp_path) == 0
    assert "0 tasks to do" in capsys.readouterr().err
    assert study("tables", "--plan", "tiny", "--home", tmp_path, "--docs", tmp_path) == 0
    assert pages(tmp_path) == pages(docs)
    for path in (home / "results").glob("*.csv"):
        assert (tmp_path / "results" / path.name).read_text() == path.read_text()


def test_only_run_writes_to_the_store(home, tmp_path, capsys):
    """Fresh from the repository, and with a database: status works on a read-only folder."""
    runs = plan(TINY)
    shutil.copytree(home / "results", tmp_path / "fresh" / "results")
    shutil.copytree(home, tmp_path / "used")
    for name in ("fresh", "used"):
        before = _contents(tmp_path / name)
        assert study("status", "--plan", "tiny", "--home", tmp_path / name) == 0
        assert f"{len(runs)} of {len(runs)} runs are done" in capsys.readouterr().out
        assert _contents(tmp_path / name) == before
    assert study("status", "--plan", "tiny", "--home", tmp_path / "none") == 0
    assert not (tmp_path / "none").exists()


def _contents(folder):
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files}


@pytest.mark.parametrize("damage", ["not a database", "half of it"])
def test_a_damaged_store_says_how_it_is_rebuilt(home, tmp_path, damage, capsys):
    shutil.copytree(home / "results", tmp_path / "results")
    whole = (home / "study.sqlite").read_bytes()
    database = tmp_path / "study.sqlite"
    broken = b"damaged" * 1000 if damage == "not a database" else whole[: len(whole) // 2]
    database.write_bytes(broken)
    for name in ("status", "run", "tables"):
        with pytest.raises(SystemExit, match=r"study\.sqlite is damaged .* delete it: .*results"):
            study(name, "--plan", "tiny", "--home", tmp_path, "--docs", tmp_path)
    assert database.read_bytes() == broken
    database.unlink()
    assert study("run", "--plan", "tiny", "--home", tmp_path) == 0
    assert "0 tasks to do" in capsys.readouterr().err


def test_the_part_of_a_killed_export_is_not_imported(home, tmp_path):
    shutil.copytree(home / "results", tmp_path / "results")
    whole = (home / "results" / "table1.csv").read_text()
    (tmp_path / "results" / ".stablek-killed.csv").write_text(whole[: len(whole) // 2])
    assert Store(tmp_path).done() == Store(home).done()


def test_a_figure_is_the_same_file_for_the_same_rows(home, docs, tmp_path):
    frame = Store(home).frame(plan(TINY))
    drawings = [b for b in examples.section(frame, TINY) if isinstance(b, Drawing)]
    for drawing in drawings[:3]:
        page.save(drawing, tmp_path)
        assert (tmp_path / drawing.file).read_bytes() == (
            docs / "study" / drawing.file
        ).read_bytes()


def test_a_changed_setting_is_a_new_row(tmp_path):
    wanted = {"experiment": ["table1"], "fit": ["judge", "stadion_extend"]}
    old = list(filtered(plan(TINY), wanted))
    new = list(filtered(plan(replace(TINY, n_perturbations=3)), wanted))
    for before, after in zip(old, new, strict=True):
        assert (before.key != after.key) == (before.fit == "stadion_extend")
    store = Store(tmp_path)
    before = next(run for run in old if run.fit == "stadion_extend")
    after = new[old.index(before)]
    store.add([(before, {"k": 2, "seconds": 1.0}), (after, {"k": 3, "seconds": 1.0})])
    assert store.frame(old)["k"].tolist() == [2]
    assert store.frame(new)["k"].tolist() == [3]


def test_rows_of_the_search_for_levels_are_shown_until_the_grid_has_rows(tmp_path):
    run = next(run for run in plan(TINY) if run.method == "stadion_max_extended")
    assert run.former.key != run.key
    assert run.former.former is None
    store = Store(tmp_path)
    store.add([(run.former, {"k": 2, "seconds": 1.0})])
    assert run.key not in store.done()
    assert "1 runs used the search of the first version, 0 the fixed grid" in _status(store)
    assert store.frame([run])[["key", "former", "k"]].values.tolist() == [[run.key, True, 2]]
    store.add([(run, {"k": 3, "seconds": 1.0})])
    assert store.frame([run])[["key", "former", "k"]].values.tolist() == [[run.key, False, 3]]
    assert "0 runs used the search of the first version, 1 the fixed grid" in _status(store)


def _status(store):
    return page._status(plan(TINY), store.frame(plan(TINY))).markdown()


def test_only_the_default_levels_have_former_rows():
    """The committed settings with a search are those of `Run.former`, and no others."""
    with (ROOT / "study" / "results" / "settings.csv").open(newline="") as file:
        texts = {row["text"] for row in csv.DictReader(file)}
    later = ('"bootstrap"', '"levels"')
    searched = {text for text in texts if '"auto"' in text and not any(w in text for w in later)}
    runs = plan(PAPER)
    former = {run.former.settings for run in runs if run.former is not None}
    assert searched == former
    assert searched.isdisjoint(run.settings for run in runs)


def test_a_new_version_is_a_new_row(monkeypatch):
    before = {run.key for run in plan(TINY)}
    monkeypatch.setattr(protocol, "VERSION", protocol.VERSION + 1)
    assert before.isdisjoint(run.key for run in plan(TINY))


def test_no_run_starts_after_the_time(tmp_path):
    assert study("run", "--plan", "tiny", "--home", tmp_path, *SMALL, "--minutes", "0") == 0
    assert Store(tmp_path).done() == set()


def test_a_failure_is_told_and_not_stored(tmp_path, monkeypatch, capsys):
    compute = table1.compute

    def fails(task):
        if task.fit == "lange":
            raise ValueError("on purpose")
        return compute(task)

    monkeypatch.setattr(table1, "compute", fails)
    filters = [*SMALL, "--fit", "lange", "judge"]
    assert study("run", "--plan", "tiny", "--home", tmp_path, *filters) == 1
    assert "on purpose" in capsys.readouterr().err
    done = Store(tmp_path).done()
    assert done == {run.key for run in _small_runs() if run.fit == "judge"}


def test_a_killed_worker_does_not_end_the_run(tmp_path, monkeypatch, capsys):
    compute = runner._compute

    def killed(index, task):
        if task.fit == "judge":
            os.kill(os.getpid(), signal.SIGKILL)
        return compute(index, task)

    monkeypatch.setattr(runner, "_compute", killed)
    filters = [*SMALL, "--fit", "judge", "lange", "ben_hur", "hennig"]
    where = ["--plan", "tiny", "--home", tmp_path, *filters]
    assert study("run", *where, "--jobs", "2") == 1
    assert runner.KILLED in capsys.readouterr().err
    done = Store(tmp_path).done()
    runs = [run for run in _small_runs() if run.fit in filters]
    assert not done & {run.key for run in runs if run.fit == "judge"}
    assert done & {run.key for run in runs}
    monkeypatch.undo()
    assert study("run", *where) == 0
    assert Store(tmp_path).done() == {run.key for run in runs}


def test_the_same_rows_from_dask(home, tmp_path):
    pytest.importorskip("distributed")
    filters = [*SMALL, "--fit", "judge", "lange"]
    options = ["--backend", "dask", "--jobs", "1"]
    assert study("run", "--plan", "tiny", "--home", tmp_path, *filters, *options) == 0
    methods = {run.method for run in _small_runs() if run.fit in ("judge", "lange")}
    expected = [row for row in rows(home) if _first(row) and row["method"] in methods]
    assert rows(tmp_path) == expected


def test_other_plans_stay_out_of_the_study():
    with pytest.raises(SystemExit, match="--home"):
        study("run", "--plan", "tiny")


def test_list_and_filters(tmp_path, capsys):
    assert study("list", "--plan", "tiny", "--home", tmp_path, *SMALL, "--fit", "lange") == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"table1 · {dataset} · kmeans · lange · seed 0 · lange" for dataset in TINY.benchmark
    ]
    with pytest.raises(SystemExit, match="no run"):
        study("list", "--plan", "tiny", "--home", tmp_path, "--method", "nothing")


def test_the_paper_plan_is_the_papers():
    runs = plan(PAPER)
    assert len(PAPER.benchmark) == 73
    assert len(scores.distinct(PAPER.benchmark)) == 72
    for algorithm in ("kmeans", "ward", "gmm"):
        planned = {run.method for run in runs if _is(run, "table1", algorithm)}
        assert planned >= {m for m, columns in paper.TABLE1.items() if algorithm in columns}
        ranks = [
            columns[algorithm][0] for columns in paper.TABLE1.values() if algorithm in columns
        ]
        # Average ranks of m methods sum to m (m + 1) / 2, which finds typing errors.
        assert sum(ranks) == pytest.approx(len(ranks) * (len(ranks) + 1) / 2, abs=0.15)
    settings = len(PAPER.draws) * len(hyperparameters.NOISES) * len(PAPER.omegas)
    assert settings == 160
    assert len(PAPER.measures) == 16


def _is(run, experiment, algorithm):
    return run.experiment == experiment and run.algorithm == algorithm


def test_tasks_group_runs_of_one_fit():
    tasks = tasks_of(_small_runs())
    assert sum(len(task.runs) for task in tasks) == len(_small_runs())
    for task in tasks:
        assert isinstance(task, Task)
        assert {run.fit for run in task.runs} == {task.fit}
        assert runner.weight(task) > 0
    assert all(hasattr(module, "compute") for module in EXPERIMENTS.values())


def test_common_partitions_are_those_that_stadion_judges():
    X, _ = data.load("three_gaussians_2d_60")
    model = data.clusterer("kmeans", 3)
    fitted = Stadion(model, k_range=range(1, 5), random_state=5, n_perturbations=1).fit(X)
    [row] = compare(X, ["dunn"], model, k_range=range(1, 5), random_state=5)
    np.testing.assert_array_equal(row.selector.reference_labels_, fitted.reference_labels_)


@pytest.mark.filterwarnings("ignore:similarity .mcnemar. is not 1")
def test_similarities_together_answer_as_each_alone():
    runs = [run for run in plan(TINY) if run.experiment == "similarity"]
    [task] = tasks_of(run for run in runs if run.dataset == TINY.benchmark[0])
    together = similarity.compute(task)
    X, y = data.load(task.dataset)
    for measure in TINY.measures:
        model, _ = fitting.fit_stadion(
            X, "kmeans", task.seed, {**task.common, "similarity": measure}
        )
        alone = fitting.stadion_outcomes(model, 0.0, f"{measure}_", "")
        for method, outcome in alone.items():
            assert together[method]["k"] == outcome["k"]
            assert together[method]["details"] == outcome["details"]
    aris = [adjusted_rand_score(y, labels) for labels in model.reference_labels_]
    np.testing.assert_allclose(together["external"]["details"]["ari"], aris, atol=1e-4)
    [only] = tasks_of(run for run in task.runs if run.method == "external")
    assert similarity.compute(only)["external"] == together["external"]


def test_ranks_and_wins_by_hand():
    def row(dataset, method, k, **details):
        fields = {"algorithm": "kmeans", "seed": 0, "seconds": 1.0, "details": details}
        return {"dataset": dataset, "method": method, "k": k, **fields}

    frame = pd.DataFrame(
        [
            row("a", "oracle", 2, ari=[0.0, 0.9, 0.6]),
            row("b", "oracle", 3, ari=[0.0, 0.8, 0.7]),
            row("a", "good", 2),
            row("b", "good", 2),  # has a higher ARI than the oracle's partition, but is no win
            row("a", "poor", 3),
            row("b", "poor", pd.NA),  # no answer counts as one cluster
            row("c", "good", 2),  # cannot be judged without a row of the oracle
        ]
    )
    judged = scores.judged(frame)
    assert set(judged["dataset"]) == {"a", "b"}
    table = scores.wide(judged, "kmeans", ["oracle", "good", "poor"])
    np.testing.assert_allclose(table.loc["a"], [0.9, 0.9, 0.6])
    np.testing.assert_allclose(table.loc["b"], [0.7, 0.8, 0.0])
    # Ranks: a 1.5, 1.5, 3; b 2, 1, 3.
    assert scores.average_ranks(table).tolist() == [1.75, 1.25, 3.0]
    wins = scores.wide(judged, "kmeans", ["oracle", "good", "poor"], value="win")
    assert wins.sum().tolist() == [2, 1, 0]


def test_ranks_by_seed_take_what_ran_once_from_the_first_seed():
    def row(method, k, seed, **details):
        where = {"dataset": "a", "experiment": "table1", "algorithm": "kmeans", "seed": seed}
        return {**where, "method": method, "k": k, "seconds": 1.0, "details": details}

    unsure = {"margin": 0.1, "frequency": 0.5}
    rows = [
        *(row("oracle", 2, seed, ari=[0.0, 0.9, 0.6]) for seed in (0, 1)),
        row("stadion_max", 2, 0, **unsure),
        row("stadion_max", 3, 1, **unsure),
        row("silhouette", 2, 0),
    ]
    blocks = report_table1.section(pd.DataFrame(rows), TINY)
    [seeds] = [block for block in blocks if getattr(block, "name", "") == "table1_seeds"]
    [stadion] = [dict(zip(seeds.columns, row, strict=True)) for row in seeds.rows]
    assert stadion["wins by seed"] == "1 of 1, 0 of 1"
    # All three agree for the first seed. For the second, oracle and silhouette share rank 1.5.
    assert stadion["rank and place by seed"] == "2.00 (1), 3.00 (3)"


def test_a_missing_run_is_no_answer_of_one_cluster():
    def row(dataset, experiment, method, k, **details):
        where = {"dataset": dataset, "experiment": experiment, "algorithm": "kmeans", "seed": 0}
        return {**where, "method": method, "k": k, "seconds": 1.0, "details": details}

    def blocks():
        return list(report_similarity.section(pd.DataFrame(rows), protocol_of_ari))

    protocol_of_ari, aris = replace(TINY, measures=("ari",)), [0.0, 0.9, 0.6]
    rows = [
        row("a", "similarity", "external", 2, ari=aris),
        *(row("a", "similarity", f"ari_{a}", 2) for a in ("max", "mean")),
        row("a", "table1", "oracle", 2, ari=aris),
        row("a", "table1", "silhouette", 2),
        row("a", "table1", "special_k", pd.NA),  # no answer
        row("a", "table1", "dunn", 3),
    ]
    [_, _, success] = blocks()
    assert success.note == "Average ranks of 4 methods on 1 data sets."
    rows += [
        row("b", "similarity", "external", 2, ari=aris),
        row("b", "table1", "oracle", 2, ari=aris),
        row("b", "table1", "silhouette", 2),
    ]
    assert len(blocks()) == 2  # only two methods have both data sets, too few to rank


def test_methods_with_few_data_sets_are_not_ranked():
    table = pd.DataFrame(
        {"all": [1.0] * 10, "nine": [1.0] * 9 + [None], "few": [1.0, *[None] * 9]}
    )
    kept = scores.complete(table)
    assert list(kept.columns) == ["all", "nine"]
    assert len(kept) == 9


def test_sign_test_by_hand():
    ours, theirs = pd.Series([1, 1, 1, 1, 0, 1]), pd.Series([0, 0, 0, 0, 0, 0])
    # Five are better and one is equal: p is twice the probability of five heads.
    assert significance.sign_test(ours, theirs) == (5, 1, 0, pytest.approx(2 / 32))
    assert significance.sign_test(ours, ours) == (0, 6, 0, 1.0)


def _design():
    d, n, o = np.indices((10, 2, 8))
    t = np.arange(160).reshape(10, 2, 8)
    return 0.6 - 0.02 * o + 0.005 * d + 0.01 * n + 0.0004 * d * o + 0.001 * np.sin(t)


EXACT = {
    (0,): 0.1601225846,
    (1,): 0.0118888060,
    (2,): 0.8244785706,
    (0, 1): 0.0000053871,
    (0, 2): 0.0033738342,
    (1, 2): 0.0000012656,
    (0, 1, 2): 0.0001295518,
}


def test_fanova_without_bootstrap_is_exact():
    found = fanova(_design(), bootstrap=False)
    assert found.keys() == EXACT.keys()
    np.testing.assert_allclose(list(found.values()), list(EXACT.values()), atol=1e-9)


def test_fanova_with_bootstrap():
    found = fanova(_design())
    expected = [0.1546, 0.0059, 0.8255, 0.0005, 0.0100, 0.0008, 0.0028]
    np.testing.assert_allclose(list(found.values()), expected, atol=0.002)
    assert sum(found.values()) == pytest.approx(1.0)


def test_fanova_of_a_constant_says_nothing():
    assert fanova(np.full((2, 2, 3), 0.7)) == {}


def test_slices_have_their_own_setting(home):
    """A slice of the wide fit equals a separate fit with that setting."""
    [row] = [
        row
        for row in Store(home).frame(plan(TINY)).itertuples()
        if (row.experiment, row.dataset, row.algorithm, row.method)
        == ("hyperparameters", TINY.benchmark[0], "kmeans", "uniform")
    ]
    found = np.array(row.details["k"]).reshape(len(TINY.draws), len(TINY.omegas), 2)
    X, _ = data.load(TINY.benchmark[0])
    for i, n_draws in enumerate(TINY.draws):
        for j, (first, last) in enumerate(TINY.omegas):
            for k, aggregation in enumerate(hyperparameters.AGGREGATIONS):
                alone = Stadion(
                    data.clusterer("kmeans", TINY.n_init),
                    k_range=range(1, TINY.k_max + 1),
                    omega=range(first, last + 1),
                    n_perturbations=n_draws,
                    epsilons=np.linspace(0.0, np.sqrt(2), TINY.n_epsilons),
                    relabel="extend",
                    aggregation=aggregation,
                    random_state=0,
                ).fit(X)
                assert found[i, j, k] == alone.n_clusters_


def test_seconds_of_a_computation_count_once():
    runs = tasks_of(run for run in plan(TINY) if run.experiment == "table1")[0].runs
    rows = [{**vars(run), "key": run.key, "seconds": 2.0 + i} for i, run in enumerate(runs)]
    [found] = timing.task_seconds(pd.DataFrame(rows).drop(columns="fit"), runs)
    assert found == 1.0 + len(runs) > 2.0
