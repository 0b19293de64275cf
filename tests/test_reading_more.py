"""Files as people have them: spreadsheets, JSON, Stata, amounts, labels among the columns."""

from __future__ import annotations

import builtins
import csv
import json

import numpy as np
import pandas as pd
import polars as pl
import pytest
from commands import assert_refused, run

from stablek.reading import InputError, read_points

FRAME = pl.DataFrame({"a": [1.5, 2.0, 4.0, 8.0], "b": [3, 1, 4, 1]})
EXPECTED = FRAME.to_numpy().astype(float)


def write(path, kind):
    if kind == "xlsx":
        FRAME.write_excel(path)
    elif kind == "jsonl":
        path.write_bytes(b"".join(json.dumps(r).encode() + b"\n" for r in FRAME.to_dicts()))
    elif kind == "json":
        path.write_text(json.dumps(FRAME.to_dicts()))
    elif kind == "npz":
        np.savez(path, X=EXPECTED, y=np.arange(4))
    elif kind == "dta":
        pd.DataFrame(FRAME.to_dict(as_series=False)).to_stata(path, write_index=False)


@pytest.mark.parametrize("kind", ["xlsx", "jsonl", "json", "npz", "dta"])
def test_formats(tmp_path, kind):
    path = tmp_path / f"points.{kind}"
    write(path, kind)
    points = read_points(str(path))
    np.testing.assert_array_equal(points.X, EXPECTED)
    assert points.columns == (("x1", "x2") if kind == "npz" else ("a", "b"))


def test_json_of_columns_and_of_rows(tmp_path):
    path = tmp_path / "a.json"
    path.write_text(json.dumps(FRAME.to_dict(as_series=False)))
    np.testing.assert_array_equal(read_points(str(path)).X, EXPECTED)
    path.write_text(json.dumps(EXPECTED.tolist()))
    np.testing.assert_array_equal(read_points(str(path)).X, EXPECTED)
    path.write_text('"text"')
    with pytest.raises(InputError, match="as json: it must hold a list of records"):
        read_points(str(path))


def test_npz_without_a_table(tmp_path):
    np.savez(tmp_path / "a.npz", p=EXPECTED, q=EXPECTED)
    with pytest.raises(InputError, match=r"several arrays \('p' \(4, 2\), 'q'.*call it X"):
        read_points(str(tmp_path / "a.npz"))


@pytest.mark.parametrize(
    "kind, module, install",
    [("xlsx", "fastexcel", "stablek[excel]"), ("dta", "pandas", "pandas")],
)
def test_formats_that_need_a_package_say_so(tmp_path, monkeypatch, kind, module, install):
    write(tmp_path / f"a.{kind}", kind)

    def missing(name, *args, **options):
        if name == module:
            raise ImportError(name=module)
        return original(name, *args, **options)

    original = builtins.__import__
    monkeypatch.setattr("stablek.reading._formats.import_module", missing)
    with pytest.raises(InputError, match=f"need {module}, which is not installed") as raised:
        read_points(str(tmp_path / f"a.{kind}"))
    assert f"pip install {install!r}" in str(raised.value)


def text(tmp_path, content, **options):
    path = tmp_path / "a.csv"
    path.write_text(content, encoding="utf-8")
    return read_points(str(path), **options)


@pytest.mark.parametrize("marker", ["-", "--", "n/a", "N/A", "n.a.", "na", "NA", "?", ""])
def test_markers_of_missing_values(tmp_path, marker):
    content = f"a,b\n1,2\n{marker},3\n4,5\n6,9\n"
    with pytest.raises(InputError, match=r"missing values: 'a' 1 \(in 1 of 4 rows\)"):
        text(tmp_path, content)
    points = text(tmp_path, content, missing="drop")
    assert points.X.tolist() == [[1, 2], [4, 5], [6, 9]]


@pytest.mark.parametrize(
    "content, numbers, note",
    [
        ('a,b\n"1,234",1\n"56",2\n"1,234,567.5",3\n', [1234, 56, 1234567.5], "separator ','"),
        ('a,b\n"1,234",1\n"5,678",2\n9,4\n', [1234, 5678, 9], "separator ','"),
        ("a;b\n1.234,5;1\n2.000,0;2\n7,25;4\n", [1234.5, 2000, 7.25], "separator '.'"),
        ("a;b\n1,234,567;1\n2,000;2\n7;4\n", [1234567, 2000, 7], "separator ','"),
        ("a;b\n1 234;1\n12 345;2\n7;4\n", [1234, 12345, 7], "separator ' '"),
        ("a;b\n1'234;1\n2'345;2\n7;4\n", [1234, 2345, 7], 'separator "\'"'),
        ("a,b\n12%,1\n8.5 %,2\n-3%,4\n", [12, 8.5, -3], "percent signs removed"),
        ("a;b\n12,5%;1\n8%;2\n3%;4\n", [12.5, 8, 3], "percent signs removed"),
    ],
)
def test_amounts(tmp_path, content, numbers, note):
    points = text(tmp_path, content)
    assert points.X[:, 0].tolist() == numbers
    assert any("column 'a':" in each and note in each for each in points.notes)


def test_a_decimal_comma_is_no_thousands_separator(tmp_path):
    points = text(tmp_path, "a;b\n1,234;1\n5,678;2\n9,123;4\n")
    assert points.X[:, 0].tolist() == [1.234, 5.678, 9.123]
    for cells in (["12%", "8", "3"], ["1,23", "4,567", "8"], ["1,234", "x", "8"]):
        rows = "".join(f'"{cell}",{i}\n' for i, cell in enumerate(cells))
        with pytest.raises(InputError, match="columns that are not numeric: 'a'"):
            text(tmp_path, f"a,b\n{rows}")


def test_a_column_that_looks_like_labels_is_noted(tmp_path):
    rows = "".join(f"{i * i},{i % 2},{i % 2}\n" for i in range(9))
    points = text(tmp_path, f"x,Target,rooms\n{rows}")
    [note] = points.notes
    assert "column 'Target' looks like labels (2 distinct integers)" in note
    assert "drop=['Target']" in note
    measured = "".join(f"{i * i},{i + i % 3 / 3}\n" for i in range(9))
    assert text(tmp_path, f"x,class\n{measured}").notes == ()


QUICK = ("--method", "calinski_harabasz", "--k", "2:3", "--jobs", "1", "--subsamples", "0")


def test_labels_beside_the_data(tmp_path):
    source, labels = tmp_path / "in.csv", tmp_path / "out.csv"
    rows = [["id", "label", "x", "y"], ["007", "=SUM(1)", "1", "2"], ["008", "b", "", "3"]]
    rows += [["009", "c", "9", "9"], ["010", "d", "9", "8"], ["011", "e", "1", "1"]]
    with source.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    options = ("--id", "id", "--drop", "label", "--missing", "drop", "--labels", str(labels))
    done = run("select", str(source), *QUICK, *options, "--append", "--safe-csv")
    assert done.returncode == 0, done.stderr
    with labels.open(newline="") as file:
        found = list(csv.reader(file))
    assert found[0] == ["id", "label", "x", "y", "cluster"]
    assert [row[0] for row in found] == [row[0] for row in rows]
    assert [row[1] for row in found[1:]] == ["'=SUM(1)", "b", "c", "d", "e"]
    assert [row[2:4] for row in found] == [row[2:] for row in rows]
    assert found[2][4] == ""
    assert found[3][4] == found[4][4] != found[1][4] == found[5][4]


def test_append_of_a_parquet_file_and_without_labels(tmp_path):
    source, labels = tmp_path / "in.parquet", tmp_path / "out.csv"
    FRAME.with_columns(name=pl.Series(["p", None, "r", "s"])).write_parquet(source)
    options = ("--drop", "name", "--append")
    done = run("select", str(source), *QUICK, *options, "--labels", str(labels))
    assert done.returncode == 0, done.stderr
    with labels.open(newline="") as file:
        found = list(csv.reader(file))
    assert found[0] == ["a", "b", "name", "label"]
    assert [row[:3] for row in found[1:]] == [
        ["1.5", "3", "p"],
        ["2.0", "1", ""],
        ["4.0", "4", "r"],
        ["8.0", "1", "s"],
    ]
    assert_refused(run("select", str(source), *options), "--append needs --labels")
