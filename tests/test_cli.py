"""The command line, end to end: formats, errors, pipes, signals, files, exit status."""

from __future__ import annotations

import csv
import gzip
import json
import os
import pty
import re
import shlex
import shutil
import signal
import subprocess
import sys
import termios
import time
from pathlib import Path

import numpy as np
import pandas as pd
import psutil
import pyarrow as pa
import pyarrow.csv
import pytest
from commands import assert_refused, run, run_code, stablek_command
from sklearn.metrics import adjusted_rand_score

import stablek
from stablek.cli import main
from stablek.cli._completion import script
from stablek.cli._files import check_outputs
from stablek.cli._models import make_clusterer
from stablek.cli._parser import ALGORITHMS, METHODS, build_parser
from stablek.cli._subsamples import counted
from stablek.cli._tables import Table, number, printable, show
from stablek.files import replacing
from stablek.reading import FORMATS, InputError, standardize
from stablek.selectors.subsamples import SubsampleFrequency

QUICK = ("--method", "calinski_harabasz", "--k", "2:4", "--jobs", "1", "--subsamples", "0")
COMMANDS = ("select", "test", "compare", "demo", "datasets", "warmup", "completion")


def blobs(n: int = 60) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.arange(n) % 3
    X = np.array([[0.0, 0.0], [8.0, 0.0], [0.0, 80.0]])[y] + rng.normal(size=(n, 2)) * [0.7, 7.0]
    return X, y


@pytest.fixture
def table() -> pd.DataFrame:
    X, y = blobs()
    names = [f"row {i:02}" for i in range(len(X))]
    return pd.DataFrame({"who": names, "x": X[:, 0], "y": X[:, 1], "truth": y})


@pytest.fixture
def points(tmp_path, table) -> str:
    path = tmp_path / "points.csv"
    table[["x", "y"]].to_csv(path, index=False)
    return str(path)


def labels_of(path: Path) -> np.ndarray:
    return pd.read_csv(path)["label"].to_numpy()


# Help, version, completion: no data, quick.


def test_version():
    done = run("--version")
    assert (done.returncode, done.stdout) == (0, f"stablek {stablek.__version__}\n")


def test_installed_command_is_the_module():
    command = shutil.which("stablek", path=os.path.dirname(sys.executable))
    assert command is not None
    done = subprocess.run([command, "--version"], capture_output=True, text=True, timeout=60)
    assert done.stdout == f"stablek {stablek.__version__}\n"


def test_quick_commands_import_nothing_heavy():
    code = (
        "import atexit\n"
        "heavy = 'sklearn pandas polars numba scipy matplotlib plotly rich numpy'.split()\n"
        "atexit.register(lambda: print([m for m in heavy if m in sys.modules]))"
    )
    for arguments in (["--version"], ["select", "--help"], ["completion", "bash"]):
        done = run_code(code, *arguments)
        loaded = done.stdout.rstrip().splitlines()[-1]
        # Names of data sets come from stablek.datasets, which needs numpy.
        assert loaded in ("[]", "['scipy', 'numpy']" if "completion" in arguments else "[]")


@pytest.mark.parametrize("command", ["", *COMMANDS, "datasets list", "datasets fetch"])
def test_help(command, capsys):
    assert main([*command.split(), "--help"]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith(f"usage: stablek {command}".rstrip())
    assert shown.err == ""
    if command in ("", "select", "test", "compare", "completion", "datasets fetch"):
        assert "examples:\n" in shown.out
    if command == "":
        assert "exit status:" in shown.out
        assert all(f"\n    {name} " in shown.out for name in COMMANDS)


def test_examples_in_the_help_parse():
    """The parser accepts every example in the help texts."""
    parser = build_parser()
    texts = [parser.format_help()]
    for action in parser._actions:
        if hasattr(action, "_name_parser_map"):
            texts += [sub.format_help() for sub in action._name_parser_map.values()]
    lines = re.findall(r"^  (?:.*\| )?stablek ([^|>\n]*)", "\n".join(texts), re.MULTILINE)
    assert len(lines) >= 16
    for line in lines:
        assert parser.parse_args(line.split()).command in COMMANDS


def test_names_are_those_of_the_package():
    from stablek.selectors.registry import SELECTORS

    assert tuple(SELECTORS) == METHODS
    select = build_parser()._subparsers._group_actions[0].choices["select"]
    (formats,) = [action.choices for action in select._actions if action.dest == "format"]
    assert tuple(formats) == FORMATS


def test_documented_options():
    """The manual page has every option of every command."""
    manual = (Path(__file__).parents[1] / "docs" / "cli.md").read_text(encoding="utf-8")
    for words in ([], ["select"], ["test"], ["compare"], ["demo"], ["datasets", "fetch"]):
        parser = build_parser()
        for word in words:
            parser = parser._subparsers._group_actions[0].choices[word]
        for action in parser._actions:
            for flag in action.option_strings:
                if flag.startswith("--"):
                    assert re.search(rf"[` ]{flag}\b", manual), flag


SHELL_CASES = [
    ("stablek ", list(COMMANDS)),
    ("stablek se", ["select"]),
    ("stablek test --re", ["--reference-sets"]),
    ("stablek select f.csv --one-cluster ", ["test", "crossing", "never"]),
    ("stablek select --alg", ["--algorithm"]),
    ("stablek select f.csv --relabel ", ["auto", "refit", "extend", "predict"]),
    ("stablek select f.csv --algorithm b", ["bisecting", "birch"]),
    ("stablek compare --me", ["--methods"]),
    ("stablek datasets ", ["list", "fetch"]),
    ("stablek datasets fetch hep", ["hepta"]),
    ("stablek completion f", ["fish"]),
]


def test_completion_bash(tmp_path):
    (tmp_path / "stablek.bash").write_text(run("completion", "bash").stdout)
    tries = [
        f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _shtab_stablek; "
        'echo "${COMPREPLY[*]}"'
        for words in ([repr(word) for word in line.split(" ")] for line, _ in SHELL_CASES)
    ]
    shell = "\n".join([f"source {tmp_path}/stablek.bash", *tries])
    done = subprocess.run(["bash", "-c", shell], capture_output=True, text=True, timeout=60)
    assert done.stderr == ""
    found = [line.split() for line in done.stdout.splitlines()]
    for (line, expected), words in zip(SHELL_CASES, found, strict=True):
        assert sorted(words) == sorted(expected), line


def test_completion_bash_offers_files_and_folders(tmp_path):
    for name in ("points.csv", "my points.csv", "labels.csv"):
        (tmp_path / name).touch()
    (tmp_path / "plots").mkdir()
    (tmp_path / "stablek.bash").write_text(script("bash"))
    tried = {
        "stablek select p": ["plots", "points.csv"],
        "stablek select my": ["my points.csv"],
        "stablek select points.csv --labels l": ["labels.csv"],
        "stablek datasets fetch hepta --output po": ["points.csv"],
        "stablek demo --output-dir p": ["plots"],
    }
    for line, expected in tried.items():
        words = line.split()
        shell = (
            f"source stablek.bash; COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}; "
            'compopt() { :; }; _shtab_stablek; printf "%s\\n" "${COMPREPLY[@]}"'
        )
        done = subprocess.run(
            ["bash", "-c", shell], capture_output=True, text=True, timeout=60, cwd=tmp_path
        )
        assert done.stderr == ""
        assert sorted(done.stdout.splitlines()) == expected, line


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_completion_fish(tmp_path):
    (tmp_path / "stablek.fish").write_text(script("fish"))
    for line, expected in SHELL_CASES:
        done = subprocess.run(
            ["fish", "-c", f"source {tmp_path}/stablek.fish; complete -C {line!r}"],
            capture_output=True,
            text=True,
            timeout=60,
            env={**os.environ, "HOME": str(tmp_path)},
        )
        assert done.stderr == ""
        assert sorted(row.split("\t")[0] for row in done.stdout.splitlines()) == sorted(expected)


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_completion_zsh_is_valid(tmp_path):
    (tmp_path / "_stablek").write_text(script("zsh"))
    done = subprocess.run(
        ["zsh", "-n", str(tmp_path / "_stablek")], capture_output=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_has_every_option_of_every_command(shell):
    text = script(shell)
    for command in COMMANDS:
        parser = build_parser()._subparsers._group_actions[0].choices[command]
        assert command in text
        for action in parser._actions:
            for flag in action.option_strings:
                assert flag in text or f"-l {flag[2:]}" in text, (command, flag)


# Formats.


def write_ipc(path: Path, frame: pd.DataFrame) -> None:
    made = pa.Table.from_pandas(frame)
    with pa.ipc.new_file(str(path), made.schema) as sink:
        sink.write_table(made)


FORMAT_WRITERS = {
    "p.csv": lambda path, frame: frame.to_csv(path, index=False),
    "german.csv": lambda path, frame: frame.to_csv(path, index=False, sep=";", decimal=","),
    "p.tsv": lambda path, frame: frame.to_csv(path, index=False, sep="\t"),
    "p.parquet": lambda path, frame: frame.to_parquet(path),
    "p.feather": lambda path, frame: frame.to_feather(path),
    "p.arrow": write_ipc,
    "p.npy": lambda path, frame: np.save(path, frame.to_numpy()),
    "p.csv.gz": lambda path, frame: path.write_bytes(
        gzip.compress(frame.to_csv(index=False).encode())
    ),
}


@pytest.mark.parametrize("name", FORMAT_WRITERS)
def test_select_from_every_format(tmp_path, table, name):
    FORMAT_WRITERS[name](tmp_path / name, table[["x", "y"]])
    done = run("select", name, *QUICK, "--labels", "labels.csv", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("3 clusters")
    assert adjusted_rand_score(table["truth"], labels_of(tmp_path / "labels.csv")) == 1.0


def test_select_from_standard_input(table):
    text = table[["x", "y"]].to_csv(index=False, sep=";", decimal=",")
    done = subprocess.run(
        stablek_command("select", "-", *QUICK, "--labels", "-"),
        input=text,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    header, *labels = done.stdout.split()
    assert header == "label"
    assert adjusted_rand_score(table["truth"], labels) == 1.0
    # The labels go to standard output, so the answer goes to standard error.
    assert "3 clusters" in done.stderr


def test_select_from_a_pipe_in_the_file_system(points):
    line = f"{sys.executable} -m stablek select <(cat {points}) --format csv {' '.join(QUICK)}"
    done = subprocess.run(["bash", "-c", line], capture_output=True, text=True, timeout=300)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("3 clusters")


# Select: the answer, the evidence, the files.


@pytest.fixture(scope="module")
def stadion_run(tmp_path_factory):
    """One run that writes all output files."""
    folder = tmp_path_factory.mktemp("run")
    X, y = blobs()
    frame = pd.DataFrame({"who": [f"row {i:02}" for i in range(60)], "x": X[:, 0], "y": X[:, 1]})
    frame.loc[[4, 7], "x"] = np.nan
    frame.to_csv(folder / "points.csv", index=False)
    done = run(
        *("select", "points.csv", "--k", "1:5", "--omega", "2:3", "--id", "who"),
        *("--missing", "drop", "--jobs", "2", "--seed", "3"),
        *("--report", "r.html", "--json", "r.json", "--labels", "l.csv", "--plot", "p.png"),
        cwd=folder,
    )
    return folder, done, y


def test_answer_comes_first_and_evidence_after(stadion_run):
    _, done, _ = stadion_run
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert re.fullmatch(
        r"3 clusters \(p < 0\.001 against no structure; same K on \d+ of 20 subsamples\)\. "
        r"Next best: \d\.",
        lines[0],
    )
    header = lines.index(next(line for line in lines if "between" in line))
    assert lines[header].split() == ["K", "between", "within", "stadion", "frequency"]
    rows = [line.replace("*", "").split() for line in lines[header + 1 : header + 6]]
    assert [row[0] for row in rows] == ["1", "2", "3", "4", "5"]
    assert lines[header + 3].startswith("*")
    # The structure test decides about K = 1, not a score.
    assert rows[0][3:] == ["-", "-"]
    for _, between, within, score, frequency in rows[1:]:
        assert float(between) - float(within) == pytest.approx(float(score), abs=0.0011)
        assert frequency.endswith("%")
    scores = [float(row[3]) for row in rows[1:]]
    assert max(scores) == scores[1]
    assert "frequency: how often K wins if the noise is drawn again, on the same rows" in lines
    (sure,) = [line for line in lines if line.startswith("How sure is it? ")]
    assert re.fullmatch(r"How sure is it\? K = 3 on \d+.* of 20 subsamples of 46 rows", sure)
    assert re.search(r"^K = \d loses .*\.$", done.stdout, re.MULTILINE)
    assert "crossing" not in done.stdout
    assert [line for line in lines if line.startswith("wrote")] == [
        "wrote r.html",
        "wrote r.json",
        "wrote l.csv",
        "wrote p.png",
    ]
    assert "\x1b" not in done.stdout


def test_notes_go_to_stderr(stadion_run):
    _, done, _ = stadion_run
    assert done.stderr == (
        "stablek: note: 'points.csv' has missing values: 'x' 2 (in 2 of 60 rows); these rows are "
        "left out\n"
    )


def test_labels_keep_order_and_ids(stadion_run):
    folder, _, y = stadion_run
    with open(folder / "l.csv", newline="") as file:
        header, *rows = csv.reader(file)
    assert header == ["who", "label"]
    assert [row[0] for row in rows] == [f"row {i:02}" for i in range(60)]
    dropped = [4, 7]
    assert [i for i, row in enumerate(rows) if row[1] == ""] == dropped
    kept = [int(row[1]) for row in rows if row[1]]
    assert adjusted_rand_score(np.delete(y, dropped), kept) == 1.0


def test_json_is_the_summary(stadion_run):
    folder, done, _ = stadion_run
    summary = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert summary["answer"]["n_clusters"] == 3
    assert done.stdout.startswith(summary["answer"]["sentence"])
    assert summary["data"]["source"] == "points.csv"
    assert [row["value"] for row in summary["candidates"]] == [1, 2, 3, 4, 5]
    assert summary["seed"] == "3"
    assert summary["candidates"][0]["score"] is None
    assert summary["structure"]["pvalue"] < 0.001
    counts = summary["subsamples"]["counts"]
    assert (sum(counts.values()), summary["subsamples"]["n_rows"]) == (20, 46)
    assert f"K = 3 on {counts['3']}" in done.stdout
    assert f"same K on {counts['3']} of 20" in done.stdout


def test_snippet_gives_the_same_answer(stadion_run):
    folder, _, _ = stadion_run
    summary = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    snippet = summary["snippet"] + "print(selector.scores_[1:].tolist())\n"
    done = subprocess.run(
        [sys.executable, "-c", snippet], capture_output=True, text=True, cwd=folder, timeout=300
    )
    assert done.returncode == 0, done.stderr
    n_clusters, scores = done.stdout.splitlines()
    assert int(n_clusters) == 3
    expected = [row["score"] for row in summary["candidates"][1:]]
    np.testing.assert_allclose(json.loads(scores), expected, rtol=1e-5)


def test_report_shows_the_values_of_the_file(stadion_run):
    folder, _, _ = stadion_run
    page = (folder / "r.html").read_text(encoding="utf-8")
    assert page.lower().startswith("<!doctype html>")
    assert "3 clusters" in page
    summary = json.loads((folder / "r.json").read_text(encoding="utf-8"))
    assert "80" in json.dumps(summary)  # a mean of y before scaling is near 80


def test_plot_is_a_picture(stadion_run):
    folder, _, _ = stadion_run
    assert (folder / "p.png").read_bytes().startswith(b"\x89PNG")


def test_no_temporary_files_are_left(stadion_run):
    folder, _, _ = stadion_run
    names = {path.name for path in folder.iterdir()}
    assert names == {"points.csv", "r.html", "r.json", "l.csv", "p.png"}


def test_files_have_usual_permissions(stadion_run):
    folder, _, _ = stadion_run
    umask = os.umask(0)
    os.umask(umask)
    for name in ("r.html", "r.json", "l.csv", "p.png"):
        assert (folder / name).stat().st_mode & 0o777 == 0o666 & ~umask


def test_same_seed_same_files_for_any_number_of_workers(points, tmp_path, capsys):
    read = []
    for jobs in ("1", "2"):
        out = tmp_path / f"{jobs}.json"
        arguments = ["--k", "1:4", "--omega", "2", "--jobs", jobs, "--json", str(out)]
        assert main(["select", points, *arguments]) == 0
        summary = json.loads(out.read_text())
        keys = ("answer", "candidates", "paths", "partitions", "structure", "subsamples")
        read.append([summary[key] for key in keys])
    assert read[0] == read[1]
    capsys.readouterr()


def test_json_on_standard_output(points, capsys):
    assert main(["select", points, *QUICK, "--json", "-"]) == 0
    shown = capsys.readouterr()
    assert json.loads(shown.out)["answer"]["n_clusters"] == 3
    assert shown.err.startswith("3 clusters")


def test_scaling_decides(points, capsys):
    """Feature y has ten times the spread of x. Without scaling it hides the clusters in x."""
    assert main(["select", points, "--method", "silhouette", "--k", "2:5"]) == 0
    scaled = capsys.readouterr().out
    assert main(["select", points, "--method", "silhouette", "--k", "2:5", "--no-scale"]) == 0
    plain = capsys.readouterr().out
    assert "standardized" in scaled
    assert "standardized" not in plain
    score = r"\n\*  \d +(\S+)"
    assert re.search(score, scaled)[1] != re.search(score, plain)[1]


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_every_algorithm(points, capsys, algorithm):
    assert main(["select", points, *QUICK, "--algorithm", algorithm]) == 0
    shown = capsys.readouterr()
    if algorithm != "spherical":  # one of the three lies in two directions from the origin
        assert shown.out.startswith("3 clusters"), shown
    assert f"; {algorithm}; " in shown.out


def test_algorithms_are_what_they_say():
    linkages = {name: make_clusterer(name).linkage for name in ("ward", "average", "single")}
    assert linkages == {name: name for name in linkages}
    assert make_clusterer("gmm").n_init == make_clusterer("kmeans").n_init == 10
    assert len({repr(make_clusterer(name)) for name in ALGORITHMS}) == len(ALGORITHMS)


@pytest.mark.parametrize("method", METHODS)
def test_every_method(points, capsys, method):
    arguments = ["--k", "1:4", "--jobs", "1", "--subsamples", "0"]
    assert main(["select", points, "--method", method, *arguments]) == 0
    out = capsys.readouterr().out
    # Some methods choose another K, or none.
    answers = ("3 clusters", "2 clusters", "4 clusters", "No cluster structure", "no answer")
    assert out.startswith(answers)
    assert f"; {method}; " in out
    if method in ("stadion", "silhouette", "calinski_harabasz", "gap_a", "bic"):
        assert out.startswith("3 clusters")


def test_default_k_is_limited_by_the_data(tmp_path, capsys):
    (tmp_path / "a.csv").write_text("x,y\n0,0\n0,1\n9,9\n9,8\n0,0\n")
    assert main(["select", str(tmp_path / "a.csv"), "--method", "calinski_harabasz"]) == 0
    rows = re.findall(r"^\*? +(\d+) ", capsys.readouterr().out, re.MULTILINE)
    assert rows == ["1", "2", "3", "4"]


def test_many_candidates_make_a_small_table(points, capsys):
    assert main(["select", points, "--method", "calinski_harabasz", "--k", "2:15"]) == 0
    out = capsys.readouterr().out
    assert len(re.findall(r"^[* ] +\d+ +[\d.]+$", out, re.MULTILINE)) == 12
    assert "the 12 best of 14 candidates" in out
    assert "\n*   3 " in out


def test_abstention_is_an_answer(points, tmp_path, capsys, monkeypatch):
    from stablek.selectors.criterion import Verdict
    from stablek.selectors.index import CalinskiHarabasz

    def judge(self, reference, values):
        return Verdict(np.full(len(values), np.nan), None, "it has no opinion")

    monkeypatch.setattr(CalinskiHarabasz, "_judge", judge)
    labels = tmp_path / "l.csv"
    assert main(["select", points, *QUICK, "--labels", str(labels)]) == 0
    assert "no answer: it has no opinion" in capsys.readouterr().out
    with open(labels, newline="") as file:
        assert list(csv.reader(file)) == [["label"], *([[""]] * 60)]


# The structure test: any clusters at all? How sure is the answer?


@pytest.fixture
def noise(tmp_path) -> str:
    path = tmp_path / "noise.csv"
    X = np.random.default_rng(0).uniform(size=(120, 2))
    pd.DataFrame(X, columns=["x", "y"]).to_csv(path, index=False)
    return str(path)


def test_structure_test(points, tmp_path):
    done = run("test", points, "--k", "2:5", "--json", "t.json", "--plot", "t.png", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert lines[0] == "Cluster structure found (p < 0.001)."
    numbers = ["their statistic", "statistic", "their valley", "valley"]
    columns = ["reference sets", "number", *numbers, "p-value"]
    assert re.split(r"  +", lines[2].strip()) == columns
    assert [line[3:].split()[0] for line in lines[3:6]] == ["box", "copula", "sources"]
    assert [line for line in lines if line.startswith("wrote")] == ["wrote t.json", "wrote t.png"]
    assert (tmp_path / "t.png").read_bytes().startswith(b"\x89PNG")
    found = json.loads((tmp_path / "t.json").read_text())
    X = standardize(pd.read_csv(points).to_numpy())
    expected = stablek.structure_test(X, k_range=range(2, 6), random_state=0)
    # Two ways to standardize differ in the last digit, and so does the valley.
    assert found["pvalues"] == pytest.approx(expected.pvalues, rel=1e-9)
    assert found["pvalue"] == max(found["pvalues"].values())
    assert found["structure"] is True
    assert found["valley"] == pytest.approx(expected.valley, rel=1e-9)
    np.testing.assert_array_equal(found["excess"], expected.excess)
    starred = next(line for line in lines[3:6] if line.startswith("*"))
    assert starred.split()[1] == found["kind"] == max(found["pvalues"], key=found["pvalues"].get)


def test_structure_test_without_structure(noise, capsys):
    arguments = ["--k", "2:5", "--reference-sets", "4"]
    assert main(["test", noise, *arguments, "--json", "-"]) == 0
    shown = capsys.readouterr()
    found = json.loads(shown.out)
    assert found["structure"] is False
    assert {len(sets) for sets in found["reference_statistics"].values()} == {4}
    assert re.match(r"No cluster structure found \(p = 0\.\d+\)\.\n", shown.err)
    assert found["sentence"] == shown.err.splitlines()[0]
    assert main(["test", noise, *arguments, "--alpha", "0.99"]) == 0
    assert capsys.readouterr().out.startswith("Weak evidence of cluster structure (p = 0.")


def test_select_gives_the_pvalue_of_the_test(points, noise, capsys):
    """The p-value is the same in both commands. Without structure it is the whole answer."""
    for file in (points, noise):
        pvalues = []
        for command in ("select", "test"):
            k = "2:6" if command == "test" else "1:6"
            assert main([command, file, "--k", k, "--json", "-"]) == 0
            found = json.loads(capsys.readouterr().out)
            pvalues.append(
                found["structure"]["pvalue"] if command == "select" else found["pvalue"]
            )
        assert pvalues[0] == pytest.approx(pvalues[1], rel=1e-5)  # the summary has six digits


def test_select_without_structure(noise, capsys):
    assert main(["select", noise, "--k", "1:6"]) == 0
    out = capsys.readouterr().out
    assert re.match(r"No cluster structure found \(p = 0\.\d+\)\.\n", out)
    assert re.search(r"^\*  1 +1\.000 +\S+ +- +-$", out, re.MULTILINE)
    assert len(re.findall(r"^   [2-6] .* 0\.\d+ +-$", out, re.MULTILINE)) == 5
    assert "How sure" not in out
    assert "frequency:" not in out
    assert main(["select", noise, "--k", "1:6", "--one-cluster", "never"]) == 0
    never = capsys.readouterr().out
    assert re.match(r"(Weak evidence: )?[2-6] clusters", never)
    assert "How sure is it? K = " in never
    assert main(["select", noise, "--k", "1:6", "--alpha", "0.999", "--subsamples", "0"]) == 0
    assert capsys.readouterr().out.startswith("Weak evidence: ")


def test_select_by_the_rule_of_the_paper(points, capsys):
    arguments = ["--k", "1:4", "--one-cluster", "crossing", "--subsamples", "3"]
    assert main(["select", points, *arguments]) == 0
    out = capsys.readouterr().out
    assert out.startswith("3 clusters")
    assert "p < " not in out
    assert re.search(
        r"^crossing at epsilon \d\S*: beyond it nothing beats K = 1$", out, re.MULTILINE
    )
    assert re.search(r"^ +1 +1\.000 +(\d\.\d+ +){2}0%$", out, re.MULTILINE)
    assert " of 3 subsamples of 48 rows" in out


def test_subsamples_are_those_of_the_library(points, capsys):
    assert main(["select", points, "--k", "1:5", "--subsamples", "7", "--json", "-"]) == 0
    found = json.loads(capsys.readouterr().out)["subsamples"]
    X = standardize(pd.read_csv(points).to_numpy())
    selector = stablek.Stadion(k_range=range(1, 6), one_cluster="never", random_state=0)
    expected = stablek.subsample_frequency(selector, X, 7)
    assert found["counts"] == {str(k): n for k, n in expected.counts.items()}
    assert (found["n_subsamples"], found["n_rows"]) == (7, 48)


def test_subsamples_of_other_methods(points, capsys):
    assert main(["select", points, "--method", "silhouette", "--k", "2:4"]) == 0
    out = capsys.readouterr().out
    assert "How sure is it? K = 3 on 20 of 20 subsamples of 48 rows" in out
    assert "frequency" not in out


@pytest.mark.parametrize("k", ["1:3", "3"])
def test_subsamples_of_few_rows(tmp_path, capsys, k):
    """Subsamples have fewer distinct rows than some candidates, or than all of them."""
    (tmp_path / "a.csv").write_text("x,y\n0,0\n0,1\n9,9\n")
    arguments = ["--k", k, "--one-cluster", "never"]
    assert main(["select", str(tmp_path / "a.csv"), *arguments]) == 0
    out = capsys.readouterr().out
    # A single candidate leaves nothing to ask.
    assert ("How sure is it? K = 2 on 20 of 20 subsamples of 2 rows" in out) == (k == "1:3")
    assert ("How sure" in out) == (k == "1:3")


def test_words_for_subsamples():
    many = SubsampleFrequency((2, 2, 3, 4, 5, 6, 7, 8, None), 50)
    assert counted(many) == (
        "K = 2 on 2, 3 on 1, 4 on 1, 5 on 1, 6 on 1, others on 2, no answer on 1 of 9 subsamples "
        "of 50 rows"
    )
    assert counted(SubsampleFrequency((3,) * 20, 80)) == "K = 3 on 20 of 20 subsamples of 80 rows"


def test_compare_without_structure(noise, tmp_path, capsys):
    table = tmp_path / "c.json"
    arguments = ["--k", "1:5", "--methods", "silhouette,stadion,gap_a", "--json", str(table)]
    assert main(["compare", noise, *arguments]) == 0
    shown = capsys.readouterr()
    assert shown.out.startswith("stadion: no cluster structure; votes: ")
    assert re.search(r"^Structure test: p = 0\.\d+; no clusters found$", shown.out, re.MULTILINE)
    assert re.search(r"^\*  stadion +1 +- ", shown.out, re.MULTILINE)
    assert shown.err.endswith("their K is no evidence of clusters: silhouette\n")
    pvalues = {row["method"]: row["structure_pvalue"] for row in json.loads(table.read_text())}
    assert pvalues["silhouette"] is None
    assert 0.05 < pvalues["stadion"] <= 1
    assert main(["compare", noise, *arguments, "--one-cluster", "never"]) == 0
    shown = capsys.readouterr()
    assert "Structure test" not in shown.out
    assert shown.err == ""


# Compare, demo, data sets.


def test_compare(points, tmp_path):
    done = run(
        *("compare", points, "--k", "1:4", "--methods", "silhouette,calinski_harabasz,bic"),
        *("--algorithms", "kmeans,ward", "--json", "c.json"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("votes: K = 3 by 4 of 6\n")
    rows = json.loads((tmp_path / "c.json").read_text())
    assert [(row["algorithm"], row["method"], row["n_clusters"]) for row in rows] == [
        (algorithm, method, None if method == "bic" else 3)
        for algorithm in ("kmeans", "ward")
        for method in ("silhouette", "calinski_harabasz", "bic")
    ]
    assert rows[0]["agreement"] == 1.0
    assert "wrote c.json" in done.stdout
    assert done.stderr.count("stablek: note: bic abstains") == 2


def test_compare_with_stadion_writes_a_report(points, tmp_path, capsys):
    report, table = str(tmp_path / "c.html"), str(tmp_path / "c.md")
    arguments = ["--k", "1:4", "--omega", "2", "--methods", "stadion,dunn"]
    assert main(["compare", points, *arguments, "--report", report]) == 0
    out = capsys.readouterr().out
    first, second, _ = out.split("\n", 2)
    assert first == "stadion: 3 clusters; votes: K = 3 by 2 of 2"
    assert second == "Structure test: p < 0.001; clusters found"
    assert re.search(r"^\*  stadion +3 ", out, re.MULTILINE)
    assert "dunn" in Path(report).read_text()
    assert main(["compare", points, *arguments, "--report", table]) == 0
    assert "dunn" in Path(table).read_text()


def test_demo(tmp_path):
    done = run("demo", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert "\n5 clusters (p < 0.001 against no structure; same K on 20 of 20 " in done.stdout
    assert "How sure is it? K = 5 on 20 of 20 subsamples of 400 rows" in done.stdout
    assert re.search(r"^\* +5 ", done.stdout, re.MULTILINE)
    assert (tmp_path / "stablek-demo.png").read_bytes().startswith(b"\x89PNG")
    assert "5 clusters" in (tmp_path / "stablek-demo.html").read_text(encoding="utf-8")
    assert "stablek-demo.html" in done.stdout
    assert "stablek-demo.png" in done.stdout
    assert {path.name for path in tmp_path.iterdir()} == {"stablek-demo.html", "stablek-demo.png"}


def test_datasets_list():
    done = run("datasets", "list")
    assert done.returncode == 0
    header, *rows = done.stdout.splitlines()
    assert header.split() == ["name", "rows", "features", "clusters"]
    assert len(rows) == 74
    assert ["hepta", "212", "3", "7"] in [row.split() for row in rows]


def test_datasets_fetch(tmp_path, benchmark_files):
    done = run("datasets", "fetch", "hepta", cwd=tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    frame = pd.read_csv(tmp_path / "hepta.csv")
    assert frame.columns.tolist() == ["x1", "x2", "x3", "label"]
    X, y = stablek.datasets.fetch_benchmark("hepta")
    np.testing.assert_array_equal(frame[["x1", "x2", "x3"]].to_numpy(), X)
    np.testing.assert_array_equal(frame["label"], y)
    assert "stablek select hepta.csv --drop label" in done.stdout


@pytest.fixture
def benchmark_files():
    import stablek.datasets  # noqa: F401

    if "STABLEK_DATA_DIR" not in os.environ:
        pytest.skip("needs the benchmark files: set STABLEK_DATA_DIR to their folder")


def test_datasets_fetch_offline_is_one_line(tmp_path):
    code = (
        "import requests\n"
        "def refuse(*_, **__): raise requests.ConnectionError('no network')\n"
        "requests.get = refuse"
    )
    environment = {**os.environ, "STABLEK_CACHE": str(tmp_path)}
    environment.pop("STABLEK_DATA_DIR", None)
    done = run_code(code, "datasets", "fetch", "hepta", env=environment, cwd=tmp_path)
    assert_refused(done, "cannot download", "STABLEK_DATA_DIR")
    assert list(tmp_path.glob("*.csv")) == []


def test_datasets_fetch_without_pooch_is_one_line(tmp_path):
    environment = {**os.environ, "STABLEK_CACHE": str(tmp_path)}
    environment.pop("STABLEK_DATA_DIR", None)
    code = "sys.modules['pooch'] = None"
    done = run_code(code, "datasets", "fetch", "hepta", env=environment, cwd=tmp_path)
    assert_refused(done, "needs pooch", "pip install 'stablek[datasets]'", "STABLEK_DATA_DIR")


# Bad input: exit 2, one line.


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("", "COMMAND"),
        ("choose points.csv", "invalid choice: 'choose'"),
        ("select", "FILE"),
        ("select points.csv extra", "unrecognized arguments: extra"),
        ("select points.csv --kk 3", "unrecognized arguments"),
        ("select points.csv --algo ward", "unrecognized arguments"),
        ("select points.csv --k", "--k: expected one argument"),
        ("select points.csv --k two", "--k: 'two' is not a range"),
        ("select points.csv --k 0:3", "--k: '0:3' must start at 1"),
        ("select points.csv --k 5:2", "runs backwards"),
        ("select points.csv --k 2,2", "without repeating"),
        ("select points.csv --k 4,2", "must ascend"),
        ("select points.csv --k 1:999999999", "too long"),
        ("select points.csv --k -1:3", "--k"),
        ("select points.csv --omega 1:3", "--omega: '1:3' must start at 2"),
        ("select points.csv --algorithm dbscan", "invalid choice: 'dbscan'"),
        ("select points.csv --method knees", "invalid choice: 'knees'"),
        ("select points.csv --relabel never", "invalid choice: 'never'"),
        ("select points.csv --columns x --drop y", "not allowed with argument"),
        ("select points.csv --columns x,,y", "names separated by commas"),
        ("select points.csv --seed -1", "--seed"),
        ("select points.csv --seed one", "--seed: 'one' must be a whole number"),
        ("select points.csv --jobs 0", "--jobs: '0' must be a whole number other than 0"),
        ("select points.csv --missing zero", "invalid choice: 'zero'"),
        ("select points.csv --one-cluster always", "invalid choice: 'always'"),
        ("select points.csv --alpha 2", "--alpha: '2' must be a number between 0 and 1"),
        ("select points.csv --alpha nan", "--alpha: 'nan' must be a number between 0 and 1"),
        ("select points.csv --alpha small", "--alpha: 'small' must be a number between 0 and 1"),
        ("select points.csv --subsamples -1", "--subsamples"),
        ("select points.csv --subsamples few", "'few' must be a whole number of at least 0"),
        ("test", "FILE"),
        ("test points.csv --alpha 0", "--alpha: '0' must be a number between 0 and 1"),
        ("test points.csv --k 1:5", "--k: '1:5' must start at 2"),
        ("test points.csv --reference-sets 2", "'2' must be a whole number of at least 3"),
        ("test points.csv --report r.html", "unrecognized arguments"),
        ("select points.csv --delimiter ab", "--delimiter: 'ab' must be one character"),
        ("compare points.csv --methods stadion,knees", "unknown name 'knees'"),
        ("compare points.csv --algorithms dbscan", "unknown name 'dbscan'"),
        ("datasets", "ACTION"),
        ("completion tcsh", "invalid choice: 'tcsh'"),
    ],
)
def test_wrong_arguments(arguments, said, capsys):
    assert main(arguments.split()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert said in shown.err


WRONG_DATA = [
    ("select none.csv", "there is no file 'none.csv'"),
    ("select .", "Parquet"),
    ("select . --format csv", "'.' is a folder; name a file in it"),
    ("select points.xyz", "--format csv|tsv|parquet"),
    ("select empty.csv", "'empty.csv' is empty"),
    ("select binary.csv", "binary data"),
    ("select broken.parquet", "'broken.parquet' cannot be read as Parquet"),
    ("select names.csv", "not numeric: 'who' (row 1 of 'who' is 'ann'); leave them out"),
    ("select texts.csv", "not numeric: 'who', 'what' (row 1 of 'who' is 'ann'), and no others"),
    ("select folder", "'folder' is a folder; name a file in it, such as 'points.csv'"),
    ("select https://example.org/a.csv", "is no file but an address; download it first"),
    ("points.csv", "did you mean: stablek select points.csv"),
    ("select gaps.csv", "missing values: 'y' 1 (in 1 of 3 rows); --missing drop"),
    ("select points.csv --columns x,z", "--columns: 'points.csv' has no column 'z'"),
    ("select points.csv --drop z", "--drop: 'points.csv' has no column 'z'"),
    ("select points.csv --id z", "--id: 'points.csv' has no column 'z'"),
    ("select points.csv --k 1:61", "--k asks for 61 clusters", "60 distinct rows; use --k 1:60"),
    ("select same.csv --k 2", "only 1 distinct rows"),
    ("select points.csv --k 1 --method silhouette", "cannot judge any K"),
    ("select points.csv --method bic --algorithm ward", "defined for GaussianMixture only"),
    ("select points.csv --method dunn --omega 2:4", "--omega is an option of --method stadion"),
    ("select points.csv --method dunn --one-cluster never", "--one-cluster is an option of"),
    ("select points.csv --alpha 0.1 --one-cluster never", "--alpha is the level of --one-cluster"),
    ("select points.csv --algorithm ward --relabel extend", "cannot predict"),
    ("select five.csv", "'five.csv' has 5 rows", "at least 10", "--one-cluster never or crossing"),
    ("test five.csv", "'five.csv' has 5 rows, but the structure test needs at least 10; use more"),
    ("test none.csv", "there is no file 'none.csv'"),
    ("test names.csv", "not numeric: 'who'"),
    ("test same.csv --k 2", "only 1 distinct rows"),
    ("test twelve.csv", "distinct"),
    ("test points.csv --k 2:61", "--k asks for 61 clusters"),
    ("test points.csv --json points.csv", "--json 'points.csv' is the input file"),
    ("test points.csv --plot p.txt", "--plot 'p.txt' must end in one of .png"),
    ("compare five.csv", "'five.csv' has 5 rows", "--one-cluster never or crossing, or --methods"),
    ("compare points.csv --methods dunn --alpha 0.1", "--alpha needs stadion among --methods"),
    ("compare points.csv --methods dunn --one-cluster test", "--one-cluster needs stadion among"),
    ("compare points.csv --methods dunn --omega 2:3", "--omega needs stadion among --methods"),
    ("compare points.csv --methods dunn --report r.html", "--report needs stadion"),
    ("datasets fetch heptaa", "did you mean 'hepta'?"),
    # Output files that cannot be written are refused before any work.
    ("select points.csv --report r.docx", "--report 'r.docx' must end in one of .html"),
    ("select points.csv --plot p.txt", "--plot 'p.txt' must end in one of .png"),
    ("select points.csv --labels nofolder/l.csv", "folder", "No such file or directory"),
    ("select points.csv --labels names.csv/l.csv", "names.csv': Not a directory"),
    ("select points.csv --report /proc/r.html", "--report: cannot write '/proc/r.html'"),
    ("select points.csv --json folder", "--json: cannot write 'folder': it is a folder"),
    ("select points.csv --labels points.csv", "--labels 'points.csv' is the input file"),
    ("select points.csv --labels o.csv --json ./o.csv", "--json and --labels both write to"),
    ("select points.csv --labels - --json -", "both write to '-'"),
    ("demo --output-dir nofolder", "No such file or directory"),
    ("demo --output-dir names.csv", "Not a directory"),
    ("datasets fetch hepta --output nofolder/x.csv", "--output: cannot write"),
]


@pytest.fixture
def wrong_world(tmp_path, table, monkeypatch):
    table[["x", "y"]].to_csv(tmp_path / "points.csv", index=False)
    (tmp_path / "empty.csv").touch()
    (tmp_path / "binary.csv").write_bytes(b"\0\1\2")
    (tmp_path / "points.xyz").write_text("1 2\n")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and no more")
    (tmp_path / "names.csv").write_text("who,x\nann,1\nbob,2\n")
    (tmp_path / "texts.csv").write_text("who,what\nann,red\nbob,blue\n")
    (tmp_path / "gaps.csv").write_text("x,y\n1,2\n3,\n5,6\n")
    (tmp_path / "same.csv").write_text("x,y\n1,2\n1,2\n1,2\n")
    (tmp_path / "twelve.csv").write_text("x,y\n" + "1,2\n" * 12)
    table[["x", "y"]].head(5).to_csv(tmp_path / "five.csv", index=False)
    (tmp_path / "folder").mkdir()
    shutil.copy(tmp_path / "points.csv", tmp_path / "folder")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(("arguments", "said"), [(a, s) for a, *s in WRONG_DATA])
def test_wrong_data(arguments, said, capsys, wrong_world):
    before = {path: path.read_bytes() for path in wrong_world.iterdir() if path.is_file()}
    assert main(arguments.split()) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1, shown.err
    assert shown.err.startswith("stablek: ")
    for part in said:
        assert part in shown.err
    after = {path: path.read_bytes() for path in wrong_world.iterdir() if path.is_file()}
    assert after == before


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ("select points.csv --k two", "is not a range"),
        ("select none.csv", "there is no file"),
        ("select names.csv", "not numeric"),
        ("select points.csv --k 1 --method silhouette", "cannot judge any K"),
        ("select points.csv --labels names.csv/l.csv", "Not a directory"),
    ],
)
def test_wrong_input_in_a_process(arguments, said, wrong_world):
    """Run the command in a process: every stage can refuse the run."""
    assert_refused(run(*arguments.split(), cwd=wrong_world), said)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to read-only folders")
def test_read_only_folder(points, tmp_path):
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    done = run("select", points, "--labels", str(locked / "l.csv"))
    assert_refused(done, "Permission denied")


def test_output_is_refused_before_the_work(points, monkeypatch):
    monkeypatch.setattr("stablek.cli._select.load", lambda _: pytest.fail("data were read"))
    assert main(["select", points, "--plot", "/proc/p.png"]) == 2


def test_odd_names_make_one_line(tmp_path, capsys):
    odd = '"a\nb","\x1b[31mred","</script><script>alert(1)</script>","\u202eright to left"\n'
    path = tmp_path / "odd.csv"
    path.write_text(odd + "t,t,t,t\nu,u,u,u\n")
    assert main(["select", str(path)]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1
    assert "\x1b" not in err
    assert "\u202e" not in err


@pytest.mark.parametrize(
    ("module", "arguments"),
    [
        ("polars", ["select", "points.csv"]),
        ("polars", ["compare", "points.csv"]),
        ("plotly", ["select", "points.csv", "--report", "r.html"]),
        ("jinja2", ["select", "points.csv", "--report", "r.html"]),
        ("matplotlib", ["select", "points.csv", "--plot", "p.png"]),
        ("matplotlib", ["test", "points.csv", "--plot", "p.png"]),
        ("shtab", ["completion", "bash"]),
    ],
)
def test_package_that_is_not_installed(module, arguments, wrong_world):
    done = run_code(f"sys.modules[{module!r}] = None", *arguments, cwd=wrong_world)
    extra = "plot" if module == "matplotlib" else "cli"
    assert_refused(done, module, f"pip install 'stablek[{extra}]'")


def test_packages_for_extras_are_not_needed_for_the_answer(points):
    code = """
finders = sys.meta_path[:]
class Hiding:
    def find_spec(self, name, *rest):
        if name not in "rich tqdm matplotlib plotly jinja2 pandas pyarrow".split():
            return next((spec for f in finders if (spec := f.find_spec(name, *rest))), None)
sys.meta_path[:] = [Hiding()]
"""
    done = run_code(code, "select", points, *QUICK, "--json", "/dev/null")
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("3 clusters")


def test_an_error_of_stablek_itself():
    code = "import stablek.cli._demo as demo\ndemo.run = lambda args: {}['no such key']"
    done = run_code(code, "demo")
    assert done.returncode == 1
    assert "Traceback" in done.stderr  # what a bug report needs
    assert done.stderr.splitlines()[-1].startswith("stablek: internal error: KeyError")


# A file is either replaced completely or left as it is.


def test_replacing_is_all_or_nothing(tmp_path):
    target = tmp_path / "file.txt"
    target.write_text("old")
    target.chmod(0o640)
    with pytest.raises(KeyboardInterrupt), replacing(str(target)) as part:
        Path(part).write_text("half of the n")
        raise KeyboardInterrupt
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]
    with replacing(str(target)) as part:
        Path(part).write_text("new")
        assert Path(part).suffix == ".txt"
        assert target.read_text() == "old"
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o640
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]


def test_two_writers_of_one_file_have_their_own_parts(tmp_path):
    target = tmp_path / "rows.csv"
    with replacing(target) as first, replacing(target) as second:
        assert first != second
        Path(first).write_text("first")
        Path(second).write_text("second")
    assert target.read_text() == "first"  # the writer that finishes last
    assert list(tmp_path.iterdir()) == [target]


def test_replacing_follows_links(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "a.csv").write_text("old")
    (tmp_path / "link.csv").symlink_to("real/a.csv")
    with replacing(str(tmp_path / "link.csv")) as part:
        Path(part).write_text("new")
    assert (tmp_path / "link.csv").is_symlink()
    assert (tmp_path / "real" / "a.csv").read_text() == "new"


def test_devices_are_written_to_not_replaced(tmp_path):
    check_outputs({"--labels": "/dev/null"})
    with replacing("/dev/null") as part:
        Path(part).write_text("gone")
    assert not os.path.isfile("/dev/null")
    os.mkfifo(tmp_path / "fifo")
    reader = subprocess.Popen(["cat", tmp_path / "fifo"], stdout=subprocess.PIPE)
    with replacing(str(tmp_path / "fifo")) as part:
        Path(part).write_text("through")
    assert reader.communicate(timeout=60)[0] == b"through"


def test_outputs_that_clash(tmp_path):
    (tmp_path / "link.csv").symlink_to("data.csv")
    (tmp_path / "data.csv").touch()
    data, link = str(tmp_path / "data.csv"), str(tmp_path / "link.csv")
    with pytest.raises(InputError, match="is the input file"):
        check_outputs({"--labels": link}, data)
    with pytest.raises(InputError, match="both write"):
        check_outputs({"--labels": link, "--json": data})
    with pytest.raises(InputError, match="it has no name"):
        check_outputs({"--json": ""})


# Pipes, terminals, signals.


@pytest.mark.parametrize("arguments", [["--help"], ["datasets", "list"], ["completion", "bash"]])
def test_reader_that_goes_away(arguments):
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        stablek_command(*arguments), stdout=writing, stderr=subprocess.PIPE, timeout=60
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_reader_that_goes_away_from_an_answer(points, tmp_path):
    labels = tmp_path / "l.csv"
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        stablek_command("select", points, *QUICK, "--labels", str(labels)),
        stdout=writing,
        stderr=subprocess.PIPE,
        timeout=300,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")
    assert len(labels_of(labels)) == 60  # files come before the answer


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_full_disk():
    with open("/dev/full", "w") as full:
        done = subprocess.run(
            stablek_command("completion", "bash"),
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=60,
            env={**os.environ, "PYTHONUNBUFFERED": ""},
        )
    assert done.returncode == 1
    assert done.stderr == "stablek: cannot write to standard output: No space left on device\n"


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full")
def test_full_disk_under_a_file(points, capsys):
    assert main(["select", points, *QUICK, "--labels", "/dev/full"]) == 1
    assert capsys.readouterr() == ("", "stablek: '/dev/full': No space left on device\n")


def test_on_a_terminal(points):
    """A table with lines and a progress bar, as a terminal shows them."""
    out_main, out = pty.openpty()
    err_main, err = pty.openpty()
    for terminal in (out, err):
        termios.tcsetwinsize(terminal, (40, 100))
    process = subprocess.Popen(
        stablek_command("select", points, "--k", "1:3", "--omega", "2", "--jobs", "1"),
        stdin=subprocess.DEVNULL,
        stdout=out,
        stderr=err,
        env={**os.environ, "TERM": "xterm-256color"},
    )
    os.close(out)
    os.close(err)
    shown, progress = read_all(out_main), read_all(err_main)
    assert process.wait(timeout=300) == 0
    assert shown.startswith("3 clusters")
    assert "───" in shown
    assert "\x1b[1m" in shown  # the chosen row is bold
    assert "100%|" in progress
    assert re.search(r"\[\d\d:\d\d<", progress)  # time spent and time left


def read_all(terminal: int) -> str:
    chunks = []
    while True:
        try:
            chunk = os.read(terminal, 4096)
        except OSError:  # nobody reads the pipe
            break
        if not chunk:
            break
        chunks.append(chunk)
    os.close(terminal)
    return b"".join(chunks).decode()


@pytest.mark.parametrize(
    ("name", "whole_group", "status"),
    [("SIGINT", False, 130), ("SIGINT", True, 130), ("SIGTERM", False, 143)],
)
def test_interrupt_mid_run(tmp_path, name, whole_group, status):
    """After an interrupt no worker runs on and no partial file is left.

    A terminal sends Ctrl-C to the whole process group.
    """
    X, _ = blobs(600)
    pd.DataFrame(X).to_csv(tmp_path / "p.csv", index=False)
    (tmp_path / "l.csv").write_text("old")
    process = subprocess.Popen(
        # There is no fast engine for this, so it runs in worker processes for minutes.
        stablek_command(
            *("select", "p.csv", "--algorithm", "bisecting", "--relabel", "refit", "--k", "1:60"),
            *("--jobs", "2", "--labels", "l.csv"),
        ),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        # A shell that runs tests in the background may set SIGINT to be ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        workers = wait_for_workers(process)
        number_ = getattr(signal, name)
        if whole_group:
            os.killpg(process.pid, number_)
        else:
            process.send_signal(number_)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    assert process.returncode == status
    assert (out, err) == ("", "stablek: interrupted\n")
    _, alive = psutil.wait_procs(workers, timeout=20)
    assert [child for child in alive if child.status() != psutil.STATUS_ZOMBIE] == []
    assert (tmp_path / "l.csv").read_text() == "old"
    assert {path.name for path in tmp_path.iterdir()} == {"p.csv", "l.csv"}


def wait_for_workers(process: subprocess.Popen[str]) -> list[psutil.Process]:
    """Wait until at least two children of the process are busy; return all children."""
    end = time.monotonic() + 120
    while time.monotonic() < end and process.poll() is None:
        children = psutil.Process(process.pid).children(recursive=True)
        busy = [c for c in children if c.is_running() and sum(c.cpu_times()[:2]) > 1.0]
        if len(busy) >= 2:
            return children
        time.sleep(0.1)
    pytest.fail(f"no workers were seen; status {process.poll()}")


def test_interrupt_while_numbers_are_read(tmp_path):
    process = subprocess.Popen(
        stablek_command("select", "-"),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    try:
        end = time.monotonic() + 60
        while time.monotonic() < end:  # until it waits for input
            if psutil.Process(process.pid).status() == psutil.STATUS_SLEEPING and any(
                "polars" in entry.path for entry in psutil.Process(process.pid).memory_maps()
            ):
                break
            time.sleep(0.1)
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=60) == 130
        assert process.stderr.read() == "stablek: interrupted\n"
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--drop", "a\nb"], r"--drop: 'a\nb' has a line break"),
        (["--columns", "a\rb"], r"--columns: 'a\rb' has a line break"),
        (["--delimiter", "\xa7"], "--delimiter: '\xa7' must be one character (ASCII"),
        (["--delimiter", "\n"], r"--delimiter: '\n' must be one character"),
        (["--labels", "l" * 300], "File name too long"),
        (["--labels", "l." + "l" * 250], "File name too long"),
        (["--labels", "l\udcff.csv"], r"cannot write 'l\udcff.csv': its name is not valid UTF-8"),
        (["--safe-csv"], "--safe-csv needs --labels"),
    ],
)
def test_odd_arguments_are_refused_before_the_work(points, arguments, said, capsys, monkeypatch):
    monkeypatch.setattr("stablek.cli._select.load", lambda _: pytest.fail("data were read"))
    assert main(["select", points, *arguments]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert shown.err.count("\n") == 1
    assert said in shown.err


def test_names_with_line_breaks_in_quotes(tmp_path, capsys):
    X, _ = blobs()
    path = tmp_path / "p.csv"
    pd.DataFrame(X, columns=["a\nb", "c"]).to_csv(path, index=False)
    assert main(["select", str(path), *QUICK, "--drop", '"a\nb"']) == 0
    assert "1 column standardized" in capsys.readouterr().out


def in_shell(line: str, **options) -> subprocess.CompletedProcess[str]:
    """Run stablek in a shell, which redirects and closes its streams."""
    command = shlex.join(stablek_command("select"))
    return subprocess.run(
        ["bash", "-c", line.replace("SELECT", command)],
        capture_output=True,
        text=True,
        timeout=300,
        **options,
    )


def test_standard_input_is_never_replaced(points):
    before = Path(points).read_text()
    done = in_shell(f"SELECT - {' '.join(QUICK)} --labels {points} < {points}")
    assert_refused(done, "--labels", "is the input file")
    assert Path(points).read_text() == before


def test_closed_streams(points):
    quick = " ".join(QUICK)
    assert_refused(in_shell(f"SELECT - {quick} <&-"), "standard input is closed; name a file")
    assert_refused(in_shell(f"SELECT {points} >&-"), "standard output is closed", status=1)
    done = in_shell(f"SELECT {points} {quick} --json - 2>&-")
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["answer"]["n_clusters"] == 3
    done = in_shell("SELECT none.csv 2>&-")
    assert (done.returncode, done.stdout) == (2, "")


def test_standard_output_that_is_not_utf8(table, tmp_path):
    table["who"] = "d\u00e9j\u00e0 vu"
    table.drop(columns="truth").to_csv(tmp_path / "\u00e9.csv", index=False)
    options = {"cwd": tmp_path, "env": {**os.environ, "PYTHONIOENCODING": "ascii"}}
    arguments = ["select", "\u00e9.csv", "--id", "who", *QUICK]
    done = run(*arguments, "--json", "-", **options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert json.loads(done.stdout)["data"]["source"] == "\u00e9.csv"
    done = run(*arguments, "--labels", "-", encoding="utf-8", **options)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[1].startswith("d\u00e9j\u00e0 vu,")  # as in a file
    done = run(*arguments, "--labels", "\u00fc.csv", **options)
    assert done.returncode == 0, done.stderr
    assert r"wrote \xfc.csv" in done.stdout


def test_input_name_that_is_not_utf8(points, tmp_path, capsys):
    odd = str(tmp_path / "p\udcff.csv")
    shutil.copy(points, odd)
    written = {name: str(tmp_path / name) for name in ("r.html", "r.json")}
    arguments = ["--report", written["r.html"], "--json", written["r.json"]]
    assert main(["select", odd, *QUICK, *arguments]) == 0, capsys.readouterr()
    summary = json.loads(Path(written["r.json"]).read_text(encoding="utf-8"))
    assert summary["data"]["source"].endswith("p?.csv")


def test_ids_that_spreadsheets_run(table, tmp_path, capsys):
    formulas = ["=1+1", "+1", "-1", "@sum(1)"]
    table["who"] = formulas * 15
    table.rename(columns={"who": "=who"}).to_csv(tmp_path / "p.csv", index=False)
    arguments = [*QUICK, "--id", "=who", "--drop", "truth", "--labels", str(tmp_path / "l.csv")]
    for flags, sign in ([], ""), (["--safe-csv"], "'"):
        assert main(["select", str(tmp_path / "p.csv"), *arguments, *flags]) == 0
        with open(tmp_path / "l.csv", newline="") as file:
            header, *rows = csv.reader(file)
        assert header == [f"{sign}=who", "label"]
        assert [row[0] for row in rows] == [sign + formula for formula in formulas] * 15
    capsys.readouterr()


def test_killed_worker_is_one_line(tmp_path):
    X, _ = blobs(600)
    pd.DataFrame(X).to_csv(tmp_path / "p.csv", index=False)
    process = subprocess.Popen(
        stablek_command(
            *("select", "p.csv", "--algorithm", "bisecting", "--relabel", "refit", "--k", "1:60"),
            *("--jobs", "2", "--labels", "l.csv"),
        ),
        cwd=tmp_path,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        workers = wait_for_workers(process)
        busiest = max(workers, key=lambda worker: sum(worker.cpu_times()[:2]))
        busiest.kill()
        out, err = process.communicate(timeout=120)
    finally:
        process.kill()
    assert (process.returncode, out) == (1, "")
    assert err.count("\n") == 1, err
    assert "a worker process was killed" in err
    assert "--jobs" in err
    assert [path.name for path in tmp_path.iterdir()] == ["p.csv"]


# Size.


def test_a_million_rows(tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(3, size=1_000_000)
    X = np.array([[0, 0], [8, 0], [0, 8]])[y] + rng.normal(size=(len(y), 2))
    pa.csv.write_csv(pa.table({"x": X[:, 0], "y": X[:, 1]}), tmp_path / "million.csv")
    done = run(
        *("select", "million.csv", "--method", "calinski_harabasz", "--k", "2:4"),
        *("--labels", "l.csv", "--json", "-"),
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["answer"]["n_clusters"] == 3
    labels = labels_of(tmp_path / "l.csv")
    assert len(labels) == 1_000_000
    assert adjusted_rand_score(y, labels) > 0.99


# Tables.


def test_plain_table(capsys):
    show(Table(["name", "K"], [["a", "10"], ["bcd\x1b", "2"]], chosen=1, left=["name"]))
    assert capsys.readouterr().out == "   name   K\n   a     10\n*  bcd?   2\n"


def test_numbers_in_tables():
    assert [number(v) for v in (0.12345, -2.0, 1234567.0, float("nan"), float("inf"))] == [
        "0.123",
        "-2.000",
        "1.235e+06",
        "-",
        "-",
    ]
    assert printable("a\x1b[2Jb\n") == "a?[2Jb?"
