"""Data in blocks: files that break, bad input, and defects of other distributed K-means."""

from __future__ import annotations

import os

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.dataset as pds
import pyarrow.parquet as pq
import pytest
from sklearn.datasets import make_blobs

from blockwise_cases import QUICK, make_blocks_small
from stablek import Stadion
from stablek.blockwise import parquet
from stablek.blockwise.arrow import ArrowSource
from stablek.selectors import DaviesBouldin

N = 3000


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    make_blocks_small(monkeypatch, 256, 2, per_task=2)


@pytest.fixture
def frame():
    return pl.DataFrame(make_blobs(N, centers=3, random_state=0)[0], schema=["a", "b"])


def fit(X, **changes):
    return Stadion(**{**QUICK, **changes}).fit(X)


def test_a_truncated_file_is_named(frame, tmp_path):
    for i in range(3):
        frame.write_parquet(tmp_path / f"{i}.parquet")
    whole = (tmp_path / "1.parquet").read_bytes()
    (tmp_path / "1.parquet").write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ValueError, match=r"1\.parquet' cannot be read"):
        fit(tmp_path)


@pytest.mark.parametrize("library", ["polars", "pyarrow"])
def test_repeated_column_names_are_refused(tmp_path, monkeypatch, library):
    monkeypatch.setattr(parquet, "find_spec", lambda name: name if name == library else None)
    table = pa.table([pa.array(np.arange(9.0))] * 3, names=["a", "b", "a"])
    pq.write_table(table, tmp_path / "x.parquet")
    with pytest.raises(ValueError, match=r"x\.parquet' has several columns .*same name: .*'a'"):
        fit(tmp_path / "x.parquet")


def test_a_file_with_damaged_pages_is_named(frame, tmp_path):
    """The end of the file, which has the schema, is intact: the pass finds the damage."""
    path = tmp_path / "x.parquet"
    frame.write_parquet(path, compression="zstd", row_group_size=500)
    damaged = bytearray(path.read_bytes())
    middle = slice(len(damaged) // 3, len(damaged) // 2)
    damaged[middle] = bytes(middle.stop - middle.start)
    path.write_bytes(damaged)
    with pytest.raises(ValueError, match=r"rows \d+ to \d+ of '.*x\.parquet' cannot be read"):
        fit(path)
    with pytest.raises(ValueError, match=r"x\.parquet' cannot be read"):
        fit(pds.dataset(path))


def test_a_file_of_a_pyarrow_data_set_that_changes_is_named(frame, tmp_path):
    path = tmp_path / "x.parquet"
    frame.write_parquet(path)
    source = ArrowSource(pds.dataset(path))
    frame[:1000].write_parquet(path)
    with pytest.raises(ValueError, match=r"x\.parquet' (changed while it was|cannot be) read"):
        source.read(500, 2500)


def test_a_file_that_changes_between_passes_is_named(frame, tmp_path, monkeypatch):
    path = tmp_path / "x.parquet"
    frame.write_parquet(path)
    read, calls = parquet._read_polars, []

    def changing(*arguments):
        calls.append(arguments)
        if len(calls) == 20:  # in a later pass
            frame[:1000].write_parquet(path)
        return read(*arguments)

    monkeypatch.setattr(parquet, "_read_polars", changing)
    with pytest.raises(ValueError, match=r"x\.parquet' changed while it was read"):
        fit(path)


def test_a_memory_map_that_shrinks_is_an_error(frame, tmp_path):
    path = tmp_path / "x.npy"
    np.save(path, frame.to_numpy())
    X = np.load(path, mmap_mode="r")
    from stablek.blockwise.files import MapSource

    source = MapSource(X)
    os.truncate(path, 1000)
    with pytest.raises(ValueError, match=r"x\.npy' changed while it was read"):
        source.read(0, 10)


def test_a_column_that_becomes_text_in_a_later_file_is_named(frame, tmp_path):
    for i in range(40):
        part = frame[: N // 40]
        part = part.with_columns(pl.lit("text").alias("b")) if i == 37 else part
        part.write_parquet(tmp_path / f"{i:02}.parquet")
    with pytest.raises(
        ValueError, match=r"37\.parquet' has columns that are not numeric: \['b'\]"
    ):
        fit(tmp_path)


def test_text_in_a_later_partition_of_a_dask_frame_is_named(frame):
    table = pd.DataFrame(frame.to_numpy(), columns=["a", "b"]).astype({"b": object})
    table.loc[2500, "b"] = "text"
    with pytest.raises(ValueError, match="row 2500 of column 1 is 'text'"):
        fit(dd.from_pandas(table, npartitions=6).to_dask_array(lengths=True))


def test_columns_that_are_not_numeric_are_named(frame, tmp_path):
    frame.with_columns(pl.lit("text").alias("c")).write_parquet(tmp_path / "x.parquet")
    for source in (tmp_path, pl.scan_parquet(tmp_path / "x.parquet"), dd.read_parquet(tmp_path)):
        with pytest.raises(ValueError, match=r"columns that are not numeric: \['c'\]"):
            fit(source)


def test_missing_values_are_counted_as_in_memory(frame, tmp_path):
    X = frame.to_numpy().copy()
    X[[700, 2999], 1] = np.nan
    X[50, 1] = np.inf
    pl.DataFrame(X, schema=["a", "b"]).write_parquet(tmp_path / "x.parquet")
    message = "2 NaN and 1 infinite value(s) in column 'b', the first in row 50"
    for source in (tmp_path, pd.DataFrame(X, columns=["a", "b"])):
        with pytest.raises(ValueError) as error:
            fit(source)
        assert message in str(error.value)
    with pytest.raises(ValueError, match="in column 1, the first in row 50"):
        fit(da.from_array(X, chunks=400))


def test_files_with_other_columns_are_named(frame, tmp_path):
    frame.write_parquet(tmp_path / "0.parquet")
    frame.rename({"b": "z"}).write_parquet(tmp_path / "1.parquet")
    with pytest.raises(ValueError, match=r"1\.parquet' has other columns.*lacks \['b'\]"):
        fit(tmp_path)


def test_paths_that_name_nothing(frame, tmp_path):
    with pytest.raises(ValueError, match="no file matches"):
        fit(str(tmp_path / "nothing*.parquet"))
    with pytest.raises(ValueError, match="without Parquet files"):
        fit(tmp_path)
    frame.write_csv(tmp_path / "x.csv")
    with pytest.raises(ValueError, match="is not a Parquet file"):
        fit(tmp_path / "x.csv")
    frame[:0].write_parquet(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="0 rows"):
        fit(tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="two dimensions"):
        fit(da.ones(5000))


@pytest.mark.parametrize("name", ["max_rows_in_memory", "sample_rows", "max_passes"])
def test_limits_are_checked(frame, name):
    with pytest.raises(ValueError, match=name):
        fit(da.from_array(frame.to_numpy(), chunks=500), **{name: -1})


def test_one_candidate(frame):
    """K = 1 alone has nothing to refine."""
    fitted = fit(da.from_array(frame.to_numpy(), chunks=500), k_range=[1], one_cluster="crossing")
    assert fitted.n_clusters_ == 1
    np.testing.assert_allclose(
        fitted.best_estimator_.cluster_centers_[0], frame.to_numpy().mean(axis=0)
    )


def test_an_index_of_one_cluster_is_the_error_of_memory(frame, monkeypatch):
    monkeypatch.setattr(DaviesBouldin, "max_rows_in_memory", 100)
    for X in (frame.to_numpy(), da.from_array(frame.to_numpy(), chunks=500)):
        with pytest.raises(ValueError, match="'davies_bouldin' cannot judge any K"):
            DaviesBouldin(k_range=[1]).fit(X)


def test_more_clusters_than_distinct_rows_in_the_sample(frame):
    X = np.repeat([[0.0, 0.0], [1.0, 1.0]], N // 2, axis=0)
    with pytest.raises(ValueError, match="only 2 distinct rows"):
        fit(da.from_array(X, chunks=500))


# What is known to go wrong in other distributed K-means (dask-ml).


def test_the_first_row_is_no_special_center(frame):
    X = frame.to_numpy().copy()
    X[0] = [1000.0, 1000.0]
    fitted = fit(da.from_array(X, chunks=500), sample_rows=300)
    assert 0 not in fitted.sample_indices_
    shuffled = np.roll(X, 7, axis=0)
    assert fit(da.from_array(shuffled, chunks=500)).n_clusters_ == fitted.n_clusters_


def test_small_clusters_are_found_beside_large_ones():
    rng = np.random.default_rng(0)
    X = np.concatenate([rng.normal(size=(19_600, 2)), rng.normal(size=(400, 2)) + 40.0])
    fitted = fit(da.from_array(rng.permutation(X), chunks=3000), k_range=[2])
    assert np.bincount(np.asarray(fitted.labels_)).min() == 400


def test_no_center_is_at_the_origin():
    # A cluster that the sample lacks: its sub-clusters start empty, and take real points.
    rng = np.random.default_rng(0)
    X = np.full((5000, 3), 7.0)  # the last feature is constant
    X[:, :2] = 50.0 + rng.normal(size=(5000, 2))
    X[::5] = X[0]  # duplicates
    fitted = fit(da.from_array(X, chunks=700), k_range=[2, 3, 4, 8], omega=[2, 5])
    assert fitted.best_estimator_.cluster_centers_.min() > 5.0
    assert np.isfinite(fitted.stadion_paths_).all()
    assert len(np.unique(np.asarray(fitted.reference_labels_)[-1])) == 8


def test_inertia_is_squared_also_without_convergence(frame):
    X = frame.to_numpy()
    for passes in (0, 1):
        fitted = fit(da.from_array(X, chunks=500), max_passes=passes)
        centers = fitted.best_estimator_.cluster_centers_
        gaps = np.square(X[:, None] - centers).sum(axis=2).min(axis=1)
        assert fitted.best_estimator_.inertia_ == pytest.approx(gaps.sum(), rel=1e-12)
