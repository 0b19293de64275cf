"""``stablek select`` and ``compare`` on Parquet files that are read in blocks."""

from __future__ import annotations

import json

import numpy as np
import polars as pl
import pytest
from sklearn.datasets import make_blobs
from sklearn.metrics import adjusted_rand_score

from blockwise_cases import make_blocks_small
from stablek.cli import _blocks, main
from stablek.selectors.base import BaseSelector

N = 6000


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    make_blocks_small(monkeypatch, 512, 3)
    monkeypatch.setattr(_blocks, "MAX_ROWS_IN_MEMORY", 2000)
    monkeypatch.setattr(_blocks, "SAMPLE_ROWS", 1000)
    monkeypatch.setattr(_blocks, "_CHUNK", 700)


@pytest.fixture
def data(tmp_path):
    X, y = make_blobs(N, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)
    frame = pl.DataFrame({"name": [f"r{i}" for i in range(N)], "a": 100 * X[:, 0], "b": X[:, 1]})
    for i in range(3):
        frame[2000 * i : 2000 * (i + 1)].write_parquet(tmp_path / f"part{i}.parquet")
    return tmp_path, frame, y


def test_select_streams_labels_and_reports_a_sample(data, capsys):
    folder, _, y = data
    labels, report = folder / "labels.parquet.out.parquet", folder / "report.json"
    html = folder / "report.html"
    command = ["select", str(folder / "part*.parquet"), "--id", "name", "--k", "1:4"]
    command += ["--labels", str(labels), "--json", str(report), "--report", str(html)]
    assert main([*command, "--subsamples", "0", "--jobs", "1"]) == 0
    out = capsys.readouterr().out
    assert out.startswith("3 clusters")
    assert "6000 rows, 2 columns standardized" in out
    written = pl.read_parquet(labels)
    assert written.columns == ["name", "label"]
    assert written["name"].to_list() == [f"r{i}" for i in range(N)]
    assert adjusted_rand_score(y, written["label"].to_numpy()) > 0.99
    summary = json.loads(report.read_text())
    assert summary["data"]["n_rows"] == N
    assert summary["scatter"]["n_total"] == 1000
    assert any("random sample of 1,000 rows" in text for text in summary["answer"]["cautions"])
    means = summary["features"]["mean"]
    assert max(means) > 100  # the values of the file, not the standardized ones
    assert "random sample of 1,000 rows" in html.read_text()


def test_compare_tells_which_rows_each_method_used(data, capsys, monkeypatch):
    monkeypatch.setattr(BaseSelector, "max_rows_in_memory", 2000)
    monkeypatch.setattr(BaseSelector, "sample_rows", 1000)
    folder, _, _ = data
    report = folder / "compared.json"
    command = ["compare", str(folder / "part*.parquet"), "--id", "name", "--k", "2:4"]
    command += ["--methods", "stadion,davies_bouldin,silhouette", "--one-cluster", "never"]
    assert main([*command, "--json", str(report)]) == 0
    out, err = capsys.readouterr()
    assert out.startswith("stadion: 3 clusters; votes: K = 3 by 3")
    assert "6000 rows, 2 columns standardized; K = 2 to 4" in out
    table = {line.split()[0]: line for line in out.splitlines() if " of 1000 " in line}
    assert list(table) == ["silhouette"]
    assert "used a sample of 1000 of 6000 rows: silhouette" in err
    used = {row["method"]: row["rows"] for row in json.loads(report.read_text())}
    assert used == {
        "stadion": "all 6000", "davies_bouldin": "all 6000", "silhouette": "sample of 1000"
    }  # fmt: skip


def test_labels_as_text(data, capsys):
    folder, _, y = data
    labels = folder / "labels.csv"
    command = ["select", str(folder), "--drop", "name", "--k", "2:3", "--one-cluster", "never"]
    assert main([*command, "--labels", str(labels), "--subsamples", "0"]) == 0
    lines = labels.read_text().splitlines()
    assert lines[0] == "label"
    assert adjusted_rand_score(y, np.array(lines[1:], dtype=int)) > 0.99


def test_standardizing_in_one_pass_equals_memory(data):
    from stablek.blockwise.parquet import ParquetSource, parquet_files
    from stablek.blockwise.scaling import ScaledBlocks
    from stablek.blockwise.survey import survey
    from stablek.blockwise.threads import ThreadBlocks
    from stablek.reading import standardize

    folder, frame, _ = data
    # Far from the origin a sum of squares would lose all digits.
    X = frame.select(pl.col("a") + 1e9, pl.col("b"), pl.lit(7.0).alias("c"))
    X.write_parquet(folder / "far.parquet")
    source = ParquetSource(parquet_files(folder / "far.parquet"))
    blocks = ThreadBlocks(source, 512)
    scaled = ScaledBlocks(blocks, survey(blocks, 10, 0), standardize)
    found = scaled.per_row(_transposed, float, 3)
    np.testing.assert_allclose(found.T, standardize(X.to_numpy()), rtol=1e-9, atol=1e-9)


def _transposed(start, X):
    return X.T


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda f: f.with_columns(pl.lit("x").alias("a")), "not numeric"),
        (lambda f: f.with_columns(a=pl.when(pl.arange(0, 2000) == 5).then(None).otherwise("a")),
         "has missing values: 'a' 1 (the first in row 4006)"),
        (lambda f: f.drop("b"), "has other columns"),
    ],
)  # fmt: skip
def test_bad_files_are_one_error_and_leave_no_output(data, change, message, capsys):
    folder, frame, _ = data
    change(frame[4000:]).write_parquet(folder / "part2.parquet")
    labels = folder / "labels.csv"
    command = ["select", str(folder), "--id", "name", "--k", "2:3", "--labels", str(labels)]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert message in error
    assert "Traceback" not in error
    assert sorted(p.name for p in folder.iterdir()) == [f"part{i}.parquet" for i in range(3)]


def test_missing_option_and_missing_files(data, capsys):
    folder, _, _ = data
    assert main(["select", str(folder), "--missing", "drop"]) == 2
    assert "--missing is for data in memory" in capsys.readouterr().err
    assert main(["select", f"{folder}/nothing*.parquet"]) == 2
    assert "no file matches" in capsys.readouterr().err
