"""Reading points from files: what is detected, what is refused, and the messages."""

from __future__ import annotations

import gzip
import io
import sys
from decimal import Decimal
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from pyarrow import feather
from sklearn.preprocessing import StandardScaler

from stablek.reading import (
    FORMATS,
    InputError,
    Layout,
    format_of,
    read_points,
    standardize,
)
from stablek.validation import n_distinct

NUMBERS = np.array([[1.5, -2.0], [0.25, 1e-3], [-7.125, 3.0], [4.0, 5.5]])


def write(folder: Path, name: str, content: str | bytes) -> str:
    path = folder / name
    if isinstance(content, str):
        path.write_text(content, encoding="utf-8")
    else:
        path.write_bytes(content)
    return str(path)


def text(delimiter: str, decimal: str = ".", header: bool = True) -> str:
    rows = [["first", "second"]] if header else []
    rows += [[repr(v).replace(".", decimal) for v in row] for row in NUMBERS.tolist()]
    return "\n".join(delimiter.join(row) for row in rows) + "\n"


# Text: detection.


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize(
    ("delimiter", "decimal"),
    [
        (",", "."),
        (";", "."),
        (";", ","),
        ("\t", "."),
        ("\t", ","),
        ("|", "."),
        (" ", "."),
    ],
)
def test_layout_is_detected(tmp_path, delimiter, decimal, header):
    points = read_points(write(tmp_path, "a.csv", text(delimiter, decimal, header)))
    np.testing.assert_array_equal(points.X, NUMBERS)
    assert points.columns == (("first", "second") if header else ("x1", "x2"))
    assert points.kept.all()
    assert points.ids is None


def test_layout_that_is_told(tmp_path):
    # "1,5 2,5" could also be split at the comma.
    path = write(tmp_path, "a.txt", text(" ", ",", header=False))
    points = read_points(path, layout=Layout(delimiter=" ", decimal=","))
    np.testing.assert_array_equal(points.X, NUMBERS)


def test_decimal_comma_that_shows_late(tmp_path):
    rows = ["a;b", *(f"{i};{i % 7}" for i in range(20_000)), "1,5;2,5"]
    points = read_points(write(tmp_path, "a.csv", "\n".join(rows)))
    assert points.X[-1].tolist() == [1.5, 2.5]
    assert points.X[19_999].tolist() == [19_999.0, 19_999 % 7]


def test_decimal_comma_beside_a_text_column(tmp_path):
    path = write(tmp_path, "a.csv", "name;x\nann;1,5\nbob;2,5\n")
    assert read_points(path, drop=["name"]).X.tolist() == [[1.5], [2.5]]


def test_decimal_comma_and_point_in_one_file_are_not_guessed(tmp_path):
    path = write(tmp_path, "a.csv", "x;y\n1,5;1.5\n2,5;2.5\n")
    with pytest.raises(InputError, match=r"not numeric: 'x' \(row 1 of 'x' is '1,5'\)"):
        read_points(path)


def test_header_of_numbers_can_be_told(tmp_path):
    path = write(tmp_path, "a.csv", "2019,2020\n1,2\n3,4\n")
    assert read_points(path).X.shape == (3, 2)
    told = read_points(path, layout=Layout(header=True))
    assert told.columns == ("2019", "2020")
    assert told.X.tolist() == [[1, 2], [3, 4]]


def test_single_column(tmp_path):
    points = read_points(write(tmp_path, "a.csv", "height\n1.5\n2.5\n4.0\n"))
    assert points.columns == ("height",)
    assert points.X.tolist() == [[1.5], [2.5], [4.0]]


def test_quoted_names_with_delimiters_and_line_breaks(tmp_path):
    path = write(tmp_path, "a.csv", '"a, b","c\nd"\n1,2\n3,4\n')
    assert read_points(path).columns == ("a, b", "c\nd")


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_encodings(tmp_path, encoding):
    path = write(tmp_path, "a.csv", "größe,länge\n1,2\n3,4\n".encode(encoding))
    points = read_points(path)
    assert points.columns == ("größe", "länge")
    assert points.X.tolist() == [[1, 2], [3, 4]]


def test_line_ends_of_other_systems(tmp_path):
    path = write(tmp_path, "a.csv", b"a,b\r\n1,2\r\n3,4\r\n")
    points = read_points(path)
    assert points.columns == ("a", "b")
    assert points.X.tolist() == [[1, 2], [3, 4]]


@settings(max_examples=60, deadline=None)
@given(
    values=arrays(
        np.float64,
        st.tuples(st.integers(2, 6), st.integers(1, 4)),
        elements=st.floats(-1e100, 1e100, allow_nan=False, allow_subnormal=False),
    ),
    delimiter=st.sampled_from([",", ";", "\t", "|"]),
    header=st.booleans(),
)
def test_any_numbers_survive_the_file(tmp_path_factory, values, delimiter, header):
    frame = pd.DataFrame(values, columns=[f"c{j}" for j in range(values.shape[1])])
    path = tmp_path_factory.mktemp("round") / "a.csv"
    frame.to_csv(path, sep=delimiter, index=False, header=header)
    points = read_points(str(path))
    np.testing.assert_array_equal(points.X, values)


CELLS = [
    "1",
    "-2.5",
    " 3",
    "4 ",
    "1e3",
    "",
    "NA",
    "?",
    "True",
    "x",
    "a b",
    '"q"',
    '"r, s"',
    '"""t"',
]


@settings(max_examples=200, deadline=None)
@given(
    rows=st.integers(1, 3).flatmap(
        lambda width: st.lists(
            st.lists(st.sampled_from(CELLS), min_size=width, max_size=width),
            min_size=2,
            max_size=6,
        )
    ),
    delimiter=st.sampled_from([",", ";", "\t"]),
    end=st.sampled_from(["\n", "\r\n", "\r", "\n\n"]),
)
def test_cells_are_those_of_pandas(tmp_path_factory, rows, delimiter, end):
    rows = [["number", *(f"c{j}" for j in range(len(rows[0])))], *(["7", *row] for row in rows)]
    path = tmp_path_factory.mktemp("cells") / "a.csv"
    path.write_bytes(end.join(delimiter.join(row) for row in rows).encode())
    layout = {"sep": delimiter, "skipinitialspace": True}
    raw = pd.read_csv(path, dtype=str, na_filter=False, **layout)
    known = pd.read_csv(path, na_values="?", **layout)
    assert read_points(str(path), columns=["number"]).X.ravel().tolist() == [7.0] * (len(rows) - 1)
    for name in known.columns[1:]:
        options = {"layout": Layout(delimiter), "missing": "mean"}
        points = read_points(str(path), columns=["number"], id_name=name, **options)
        assert points.ids == raw[name].tolist()
        numbers = pd.to_numeric(known[name].astype(str).str.strip(), errors="coerce")
        if not numbers.isna().any():
            X = read_points(str(path), columns=["number", name], **options).X
            np.testing.assert_array_equal(X[:, 1], numbers)


# Other formats.


def structured() -> np.ndarray:
    return np.rec.fromarrays(NUMBERS.T, names="first,second")


WRITERS = {
    "a.tsv": lambda path: path.write_text(text("\t")),
    "a.parquet": lambda path: pq.write_table(pa.table(frame()), path),
    "a.feather": lambda path: feather.write_feather(frame(), str(path)),
    "a.arrow": lambda path: write_ipc(path, pa.ipc.new_file),
    "stream.arrow": lambda path: write_ipc(path, pa.ipc.new_stream),
    "records.npy": lambda path: np.save(path, structured()),
    "a.csv.gz": lambda path: path.write_bytes(gzip.compress(text(",").encode())),
    "A.CSV": lambda path: path.write_text(text(",")),
}


def frame() -> pd.DataFrame:
    return pd.DataFrame(NUMBERS, columns=["first", "second"])


def write_ipc(path: Path, opener, table: pa.Table | None = None) -> None:
    table = pa.Table.from_pandas(frame()) if table is None else table
    with opener(str(path), table.schema) as sink:
        sink.write_table(table)


@pytest.mark.parametrize("name", WRITERS)
def test_formats(tmp_path, name):
    WRITERS[name](tmp_path / name)
    points = read_points(str(tmp_path / name))
    np.testing.assert_array_equal(points.X, NUMBERS)
    assert points.columns == ("first", "second")


def test_every_format_is_tested():
    more = {"npz", "json", "jsonl", "xlsx", "dta"}  # test_reading_more
    assert {format_of(name) for name in WRITERS} | more == set(FORMATS)


def test_npy_has_numbered_columns(tmp_path):
    np.save(tmp_path / "a.npy", NUMBERS.astype(np.float32))
    points = read_points(str(tmp_path / "a.npy"), columns=["x2"])
    np.testing.assert_array_equal(points.X, NUMBERS[:, 1:].astype(np.float32))
    np.save(tmp_path / "b.npy", NUMBERS[:, 0])
    assert read_points(str(tmp_path / "b.npy")).X.shape == (4, 1)


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros((2, 2, 2)), "3 dimensions"),
        (np.array([[object()]], dtype=object), "allow_pickle"),
        (np.zeros((3, 2), dtype=complex), "not numeric"),
    ],
)
def test_npy_that_is_no_table(tmp_path, array, said):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(InputError, match=said):
        read_points(str(tmp_path / "a.npy"))


def test_parquet_types(tmp_path):
    table = pa.table(
        {
            "whole": pa.array([1, None, 3], pa.int64()),
            "money": pa.array([Decimal("1.50"), Decimal("2.25"), Decimal("3.00")]),
            "flag": pa.array([True, False, True]),
            "key": pa.array([10, None, 30], pa.int64()),
        }
    )
    pq.write_table(table, tmp_path / "a.parquet")
    points = read_points(str(tmp_path / "a.parquet"), id_name="key", missing="mean")
    assert points.X.tolist() == [[1, 1.5, 1], [2, 2.25, 0], [3, 3.0, 1]]
    assert points.ids == ["10", "", "30"]  # not 10.0


def test_parquet_index_of_pandas_is_a_column(tmp_path):
    table = frame().set_index(pd.Index(list("abcd"), name="who"))
    table.to_parquet(tmp_path / "a.parquet")
    points = read_points(str(tmp_path / "a.parquet"), id_name="who")
    assert points.ids == list("abcd")
    np.testing.assert_array_equal(points.X, NUMBERS)


def test_same_name_twice(tmp_path):
    table = pa.Table.from_arrays([pa.array([1.0, 2.0])] * 2, names=["a", "a"])
    write_ipc(tmp_path / "a.arrow", pa.ipc.new_file, table)
    with pytest.raises(InputError, match="do columns have the same name"):
        read_points(str(tmp_path / "a.arrow"))


def test_standard_input(monkeypatch):
    stdin = io.TextIOWrapper(io.BytesIO(text(";", ",").encode()))
    monkeypatch.setattr(sys, "stdin", stdin)
    np.testing.assert_array_equal(read_points("-").X, NUMBERS)


def test_format_can_be_told(tmp_path):
    path = write(tmp_path, "noname", text("\t"))
    with pytest.raises(InputError, match=r"name it with kind csv\|tsv"):
        read_points(path)
    np.testing.assert_array_equal(read_points(path, kind="tsv").X, NUMBERS)


# Columns and ids.


PEOPLE = "id,name,age,pay\n007,ann,31,2.5\nNA,bob,45,3.5\n12,cid,28,1.5\n"


def test_text_columns_are_named_with_both_ways_out(tmp_path):
    path = write(tmp_path, "a.csv", "name,age,my city\nann,31,Rome\nbob,45,Oslo\n")
    with pytest.raises(InputError) as caught:
        read_points(path)
    said = str(caught.value)
    assert "'name', 'my city'" in said
    assert "drop=['name', 'my city']" in said
    assert "id_name='name'" in said


def test_columns_keep_their_order(tmp_path):
    path = write(tmp_path, "a.csv", PEOPLE)
    points = read_points(path, columns=["pay", "age"])
    assert points.columns == ("pay", "age")
    assert points.X[0].tolist() == [2.5, 31.0]


def test_id_stays_the_text_that_it_is(tmp_path):
    points = read_points(write(tmp_path, "a.csv", PEOPLE), id_name="id", drop=["name"])
    assert points.ids == ["007", "NA", "12"]
    assert points.id_name == "id"
    assert points.columns == ("age", "pay")
    nameless = write(tmp_path, "b.csv", "1,2,007\n3,4,008\n5,6,009\n")
    assert read_points(nameless, id_name="x3").ids == ["007", "008", "009"]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"columns": ["agee"]}, "columns: .* no column 'agee'; .*did you mean 'age'"),
        ({"drop": ["nam"]}, "drop: .* no column 'nam'; .*did you mean 'name'"),
        ({"id_name": "who"}, "id_name: .* no column 'who'; it has 'id', 'name', 'age', 'pay'"),
        ({"columns": ["age", "id"], "id_name": "id"}, "cannot be both"),
        ({"drop": ["id", "name", "age", "pay"]}, "no columns left"),
    ],
)
def test_wrong_columns(tmp_path, options, said):
    with pytest.raises(InputError, match=said):
        read_points(write(tmp_path, "a.csv", PEOPLE), **options)


def test_one_bad_cell_is_found(tmp_path):
    path = write(tmp_path, "a.csv", "a,b\n1,2\n3,4\nfive,6\n")
    with pytest.raises(InputError, match=r"row 3 of 'a' is 'five'"):
        read_points(path)


def test_dates_are_not_numbers(tmp_path):
    pd.DataFrame(
        {"day": pd.to_datetime(["2020-01-01", "2020-01-02"]), "x": [1.0, 2.0]}
    ).to_parquet(tmp_path / "a.parquet")
    with pytest.raises(InputError, match="not numeric: 'day'"):
        read_points(str(tmp_path / "a.parquet"))


def test_long_and_odd_names_make_one_line(tmp_path):
    odd = ["x" * 5000, "line\nbreak", "\x1b[31mred", "</script>"]
    rows = pd.DataFrame([["t"] * 4, ["u"] * 4], columns=odd)
    path = tmp_path / "a.csv"
    rows.to_csv(path, index=False)
    with pytest.raises(InputError) as caught:
        read_points(str(path), columns=odd)
    shown = str(caught.value).split("; leave")[0]
    assert "\n" not in shown
    assert "\x1b" not in shown
    assert len(shown) < 500


def test_a_column_that_counts_rows_is_mentioned(tmp_path):
    path = write(tmp_path, "a.csv", ",x\n0,5\n1,3\n2,9\n")
    (note,) = read_points(path).notes
    assert "'Unnamed: 0' counts the rows" in note
    assert read_points(path, id_name="Unnamed: 0").notes == ()


# Missing and infinite values.


GAPS = "a,b\n1,10\n,20\n3,NA\n5,?\n"


def test_missing_values_are_counted(tmp_path):
    with pytest.raises(InputError) as caught:
        read_points(write(tmp_path, "a.csv", GAPS))
    said = str(caught.value)
    assert "'a' 1, 'b' 2 (in 3 of 4 rows)" in said
    assert "missing='drop'" in said
    assert "missing='mean'" in said


def test_missing_mean(tmp_path):
    points = read_points(write(tmp_path, "a.csv", GAPS), missing="mean")
    assert points.X.tolist() == [[1, 10], [3, 20], [3, 15], [5, 15]]
    assert points.kept.all()
    assert "filled in" in points.notes[0]


def test_missing_drop_keeps_count_of_rows(tmp_path):
    content = "a,b,who\n1,10,p\n,20,q\n3,30,r\n"
    points = read_points(write(tmp_path, "a.csv", content), missing="drop", id_name="who")
    assert points.X.tolist() == [[1, 10], [3, 30]]
    assert points.kept.tolist() == [True, False, True]
    assert points.ids == ["p", "q", "r"]


def test_missing_in_columns_that_are_not_used(tmp_path):
    points = read_points(write(tmp_path, "a.csv", "a,b\n1,\n2,5\n"), drop=["b"])
    assert points.X.tolist() == [[1], [2]]


@pytest.mark.parametrize("missing", [None, "drop", "mean"])
def test_empty_column(tmp_path, missing):
    with pytest.raises(InputError, match=r"drop=\['b'\]"):
        read_points(write(tmp_path, "a.csv", "a,b\n1,\n2,\n"), missing=missing)


@pytest.mark.parametrize("missing", [None, "drop", "mean"])
def test_infinite_values_are_refused(tmp_path, missing):
    path = write(tmp_path, "a.csv", "a,b\n1,inf\n2,-inf\n3,4\n")
    with pytest.raises(InputError, match="infinite values: 'b' 2"):
        read_points(path, missing=missing)


# Files that cannot be read.


@pytest.mark.parametrize(
    ("name", "content", "said"),
    [
        ("a.csv", b"", "is empty"),
        ("a.csv", b"a,b\n", "0 rows to cluster"),
        ("a.csv", b"a,b\n1,2\n", "1 rows to cluster"),
        ("a.csv", b"\x00\x01\x02binary", "binary data"),
        ("a.csv", b"a,b\n1,2\n3,4,5\n", "as csv: row 3 has 3 cells; the first row has 2"),
        ("a.txt", b"a b\n1 2  3\n", "as csv: row 2 has 3 cells; the first row has 2"),
        ("a.csv", b'a,b\n1,2\n"3,4\n5,6\n', "as csv: unexpected end of data"),
        ("a.csv", b"\n\n", "as csv: it has no rows"),
        ("a.csv.gz", b"not gzip", "cannot read"),
        ("a.parquet", b"PAR1 not really", "cannot read .* as parquet"),
        ("a.arrow", b"nothing of the kind", "cannot read .* as arrow"),
        ("a.npy", b"nothing of the kind", "cannot read .* as npy"),
        ("a.npy", b"\x93NUMPY\x01\x00", "cannot read .* as npy"),
    ],
)
def test_bad_files(tmp_path, name, content, said):
    with pytest.raises(InputError, match=said) as caught:
        read_points(write(tmp_path, name, content))
    assert "\n" not in str(caught.value)


def test_missing_file_and_folder(tmp_path):
    with pytest.raises(InputError, match=r"there is no file '.*none.csv'$"):
        read_points(str(tmp_path / "none.csv"))
    (tmp_path / "sales.csv").write_text("a\n1\n2\n")
    with pytest.raises(InputError, match=r"no file '.*sale.csv'; did you mean 'sales.csv'\?"):
        read_points(str(tmp_path / "sale.csv"))
    for kind in (None, "csv"):
        with pytest.raises(InputError, match=r"is a folder; name a file in it, such as 'sales"):
            read_points(str(tmp_path), kind=kind)


def test_package_that_is_not_installed(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "polars", None)
    with pytest.raises(InputError, match=r"polars.*pip install 'stablek\[cli\]'"):
        read_points(write(tmp_path, "a.csv", PEOPLE))


# Standardizing and counting.


@settings(max_examples=60, deadline=None)
@given(
    arrays(
        np.float64,
        st.tuples(st.integers(2, 20), st.integers(1, 4)),
        elements=st.integers(-1000, 1000).map(float),
    )
)
def test_standardize_as_scikit_learn(X):
    before = X.copy()
    np.testing.assert_allclose(standardize(X), StandardScaler().fit_transform(X), atol=1e-9)
    np.testing.assert_array_equal(X, before)


@pytest.mark.parametrize("magnitude", [1e-300, 1.0, 1e300])
def test_standardize_does_not_depend_on_the_unit(magnitude):
    X = np.array([[1.0], [2.0], [4.0]])
    np.testing.assert_allclose(standardize(X * magnitude), standardize(X), rtol=1e-9)


def test_standardize_constant_column():
    Z = standardize(np.full((3, 1), 0.1))
    assert Z.tolist() == [[0.0], [0.0], [0.0]]


def test_n_distinct():
    X = np.array([[0.0, 1.0], [-0.0, 1.0], [2.0, 1.0], [3.0, 1.0]])
    assert n_distinct(X, 10) == 3
    assert n_distinct(X, 2) == 2


# Files that are nearly right.


def test_line_ends_of_old_macs(tmp_path):
    lines = text(",").replace("\n", "\r")
    np.testing.assert_array_equal(read_points(write(tmp_path, "a.csv", lines)).X, NUMBERS)
    for name in ("who", "whom"):  # the 64 KiB that detect the encoding end inside a character
        path = write(tmp_path, "long.csv", f"{name},b\r" + "\u00e9\u00e9\u00e9,1\r" * 9_000)
        assert set(read_points(path, id_name=name).ids) == {"\u00e9\u00e9\u00e9"}


@pytest.mark.parametrize(
    ("array", "said"),
    [
        (np.zeros((4, 2), dtype="V8"), r"the array has the type \|V8"),
        (np.zeros(4, dtype=[("a", float), ("b", "V4")]), r"field 'b' has the type \|V4"),
        (np.zeros(4, dtype=[("a", float, (2,))]), "field 'a' has the type"),
        (np.zeros(4, dtype=[("a", [("b", float)])]), "field 'a' has the type"),
        (np.zeros((4, 2), dtype=[("a", float)]), "2 dimensions, not 1"),
        (np.zeros((), dtype=[("a", float)]), "0 dimensions, not 1"),
    ],
)
def test_npy_without_numbers(tmp_path, array, said):
    np.save(tmp_path / "a.npy", array)
    with pytest.raises(InputError, match=f"cannot read '.*' as npy: .*{said}"):
        read_points(str(tmp_path / "a.npy"))


def test_npz_with_the_name_of_npy(tmp_path):
    np.savez(tmp_path / "a.npz", X=NUMBERS)
    (tmp_path / "a.npz").rename(tmp_path / "a.npy")
    with pytest.raises(InputError, match=r"it is an \.npz archive: name it \.npz"):
        read_points(str(tmp_path / "a.npy"))


def test_repeated_names_are_refused_in_every_format(tmp_path):
    table = pa.table([pa.array([1.0, 2.0, 4.0])] * 3, names=["a", "b", "a"])
    pq.write_table(table, tmp_path / "a.parquet")
    write(tmp_path, "a.csv", "a,b,a\n1,1,1\n2,2,2\n4,4,4\n")
    write(tmp_path, "a.tsv", "a\tb\ta\n1\t1\t1\n2\t2\t2\n4\t4\t4\n")
    for name in ("a.parquet", "a.csv", "a.tsv"):
        for id_name in (None, "b"):
            with pytest.raises(InputError, match=r"several columns with the .*name.*'a'"):
                read_points(str(tmp_path / name), id_name=id_name)


def test_several_columns_without_a_name(tmp_path):
    path = write(tmp_path, "a.csv", "a,,\n1,2,3\n3,4,5\n0,0,1\n")
    assert read_points(path).columns == ("a", "Unnamed: 1", "Unnamed: 2")


def test_booleans_with_missing_values(tmp_path):
    flags = [True, None, False, True]
    pq.write_table(pa.table({"a": flags, "b": [1.0, 2.0, 5.0, 9.0]}), tmp_path / "a.parquet")
    write(tmp_path, "a.csv", "a,b\nTrue,1\n,2\nFalse,5\nTrue,9\n")
    for name in ("a.parquet", "a.csv"):
        path = str(tmp_path / name)
        with pytest.raises(InputError, match=r"missing values: 'a' 1 \(in 1 of 4 rows\)"):
            read_points(path)
        points = read_points(path, missing="drop")
        np.testing.assert_array_equal(points.X, [[1.0, 1.0], [0.0, 5.0], [1.0, 9.0]])


@pytest.mark.parametrize("other", ["1", "-1", "1.5"])
def test_integers_of_more_than_64_bits(tmp_path, other):
    path = write(tmp_path, "a.csv", f"a,b\n{10**20},1\n{other},2\n3,5\n")
    np.testing.assert_array_equal(read_points(path).X[:, 0], [1e20, float(other), 3.0])
    path = write(tmp_path, "a.csv", f"a,b\n{10**400},1\n{other},2\n3,5\n")
    with pytest.raises(InputError, match="numbers too large, or infinite values: 'a' 1"):
        read_points(path)
