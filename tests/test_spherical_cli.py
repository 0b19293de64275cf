"""Embeddings on the command line: --algorithm spherical, and columns of lists."""

import json

import numpy as np
import polars as pl
import pytest
from sklearn.metrics import adjusted_rand_score

from stablek import SphericalKMeans, Stadion
from stablek.cli import main
from stablek.reading import InputError, read_points

QUICK = ["--k", "1:5", "--jobs", "1", "--subsamples", "0"]


@pytest.fixture
def embeddings():
    """Four topics in 24 dimensions, at random lengths."""
    rng = np.random.default_rng(0)
    topic = rng.integers(4, size=160)
    X = rng.normal(size=(4, 24))[topic] + rng.normal(scale=0.4, size=(160, 24))
    return (X * rng.uniform(0.1, 10.0, size=(160, 1))).astype(np.float32), topic


def test_select(tmp_path, capsys, embeddings):
    X, topic = embeddings
    np.save(tmp_path / "e.npy", X)
    report, labels = tmp_path / "r.json", tmp_path / "l.csv"
    options = ["--algorithm", "spherical", "--json", str(report), "--labels", str(labels)]
    assert main(["select", str(tmp_path / "e.npy"), *QUICK, *options]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith("4 clusters")
    assert "spherical" in shown
    assert "standardized" not in shown
    assert adjusted_rand_score(topic, pl.read_csv(labels)["label"].to_list()) == 1.0
    # The same answer as in Python, on rows that nobody scaled.
    found = Stadion(SphericalKMeans(), k_range=range(1, 6), random_state=0).fit(X)
    summary = json.loads(report.read_text())
    assert summary["answer"]["n_clusters"] == found.n_clusters_ == 4


@pytest.mark.parametrize("command", ["test", "compare"])
def test_other_commands(tmp_path, capsys, embeddings, command):
    np.save(tmp_path / "e.npy", embeddings[0])
    name = "--algorithms" if command == "compare" else "--algorithm"
    options = ["--methods", "silhouette,stadion"] if command == "compare" else []
    options += ["--k", "2:5", "--jobs", "1", name, "spherical"]
    assert main([command, str(tmp_path / "e.npy"), *options]) == 0
    assert "standardized" not in capsys.readouterr().out


def test_compare_with_other_algorithms_needs_rows_as_they_are(tmp_path, capsys, embeddings):
    np.save(tmp_path / "e.npy", embeddings[0])
    options = ["--algorithms", "kmeans,spherical", "--methods", "silhouette", "--k", "2:5"]
    assert main(["compare", str(tmp_path / "e.npy"), *options]) == 2
    assert "spherical takes the rows as they are, but kmeans would" in capsys.readouterr().err
    assert main(["compare", str(tmp_path / "e.npy"), *options, "--no-scale"]) == 0


@pytest.mark.parametrize("kind", ["list", "array"])
@pytest.mark.parametrize("suffix", ["parquet", "arrow"])
def test_column_of_lists(tmp_path, embeddings, kind, suffix):
    X = embeddings[0]
    dtype = pl.List(pl.Float32) if kind == "list" else pl.Array(pl.Float32, 24)
    lists = pl.Series("embedding", X.tolist(), dtype=dtype)
    frame = pl.DataFrame({"text": [f"t{i}" for i in range(len(X))], "embedding": lists})
    path = tmp_path / f"e.{suffix}"
    frame.write_parquet(path) if suffix == "parquet" else frame.write_ipc(path)
    for options in ({"id_name": "text"}, {"columns": ["embedding"]}, {"drop": ["text"]}):
        points = read_points(str(path), **options)
        np.testing.assert_array_equal(points.X, X.astype(float))
        assert points.columns[:2] == ("embedding_1", "embedding_2")


def test_select_from_a_column_of_lists(tmp_path, capsys, embeddings):
    frame = pl.DataFrame({"text": ["a"] * 160, "embedding": embeddings[0].tolist()})
    frame.write_parquet(tmp_path / "e.parquet")
    options = [*QUICK, "--algorithm", "spherical", "--columns", "embedding"]
    assert main(["select", str(tmp_path / "e.parquet"), *options]) == 0
    assert capsys.readouterr().out.startswith("4 clusters")


def test_missing_lists_are_missing_values(tmp_path):
    frame = pl.DataFrame({"e": [[1.0, 2.0], None, [3.0, None], [5.0, 6.0]]})
    frame.write_parquet(tmp_path / "e.parquet")
    with pytest.raises(InputError, match="missing values"):
        read_points(str(tmp_path / "e.parquet"))
    points = read_points(str(tmp_path / "e.parquet"), missing="drop")
    np.testing.assert_array_equal(points.X, [[1.0, 2.0], [5.0, 6.0]])
    np.testing.assert_array_equal(points.kept, [True, False, False, True])


def test_lists_of_different_lengths(tmp_path, capsys):
    frame = pl.DataFrame({"e": [[1.0, 2.0], [3.0], [5.0, 6.0]]})
    frame.write_parquet(tmp_path / "e.parquet")
    assert main(["select", str(tmp_path / "e.parquet")]) == 2
    assert "column 'e' holds lists of 1 to 2 numbers" in capsys.readouterr().err


def test_lists_of_texts_are_refused(tmp_path):
    pl.DataFrame({"e": [["a"], ["b"]]}).write_parquet(tmp_path / "e.parquet")
    with pytest.raises(InputError, match="not numeric"):
        read_points(str(tmp_path / "e.parquet"))
