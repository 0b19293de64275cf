"""Data in blocks: the same bits for every source, chunking and number of workers."""

from __future__ import annotations

from pathlib import Path

import dask.array as da
import dask.dataframe as dd
import numpy as np
import polars as pl
import pyarrow.dataset as pds
import pyarrow.parquet as pq
import pytest
from sklearn.cluster import AgglomerativeClustering, KMeans
from sklearn.datasets import make_blobs
from sklearn.mixture import GaussianMixture

from blockwise_cases import make_blocks_small
from stablek import Stadion, compare
from stablek.blockwise import core
from stablek.indices import index_values
from stablek.selectors import (
    BIC,
    CalinskiHarabasz,
    DaviesBouldin,
    RayTuri,
    Silhouette,
    WemmertGancarski,
)
from stablek.selectors.base import BaseSelector

N, P = 9000, 3
OPTIONS = {
    "k_range": range(1, 6),
    "random_state": 0,
    "n_perturbations": 2,
    "n_epsilons": 4,
    "n_reference_sets": 3,
    "max_rows_in_memory": 1000,
    "sample_rows": 1500,
    "max_passes": 4,
}


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    make_blocks_small(monkeypatch, 1024, P)


@pytest.fixture(scope="module")
def X():
    return make_blobs(N, centers=5, n_features=P, cluster_std=1.5, random_state=1)[0]


@pytest.fixture(scope="module")
def folder(X, tmp_path_factory):
    """The same rows as .npy, as one Parquet file and as several with other row groups."""
    folder = tmp_path_factory.mktemp("blocks")
    np.save(folder / "x.npy", X)
    frame = pl.DataFrame(X, schema=["a", "b", "c"])
    frame.write_parquet(folder / "one.parquet", row_group_size=500)
    (folder / "many").mkdir()
    for i, (low, high) in enumerate([(0, 10), (10, 10), (10, 4000), (4000, N)]):
        path = folder / "many" / f"part{i}.parquet"
        pq.write_table(frame[low:high].to_arrow(), path, row_group_size=333 + i)
    return folder


def mapped(folder: Path) -> np.memmap:
    return np.load(folder / "x.npy", mmap_mode="r")


_fits: dict[str, Stadion] = {}


@pytest.fixture
def reference(folder):
    """One fit for all tests of the module: that of the memory map."""
    if "map" not in _fits:
        _fits["map"] = Stadion(**OPTIONS).fit(mapped(folder))
    return _fits["map"]


def assert_same_bits(one: Stadion, two: Stadion) -> None:
    np.testing.assert_array_equal(one.paths_.between, two.paths_.between)
    np.testing.assert_array_equal(one.paths_.clusters, two.paths_.clusters)
    np.testing.assert_array_equal(one.scores_, two.scores_)
    assert one.n_clusters_ == two.n_clusters_
    assert one.structure_pvalue_ == two.structure_pvalue_
    for name in ("labels_", "reference_labels_", "point_stability_", "sample_indices_"):
        np.testing.assert_array_equal(
            np.asarray(getattr(one, name)), np.asarray(getattr(two, name))
        )
    np.testing.assert_array_equal(
        one.best_estimator_.cluster_centers_, two.best_estimator_.cluster_centers_
    )
    assert one.best_estimator_.inertia_ == two.best_estimator_.inertia_


SOURCES = {
    "map, two threads": lambda f: (mapped(f), {"n_jobs": 2}),
    "one file": lambda f: (str(f / "one.parquet"), {}),
    "folder": lambda f: (f / "many", {"n_jobs": 2}),
    "glob": lambda f: (f"{f}/many/part*.parquet", {}),
    "pyarrow data set": lambda f: (pds.dataset(f / "many"), {}),
    "LazyFrame": lambda f: (pl.scan_parquet(f / "one.parquet"), {}),
    "Dask, chunks of 777": lambda f: (da.from_array(mapped(f), chunks=(777, 2)), {}),
    "Dask, chunks of 3001": lambda f: (da.from_array(mapped(f), chunks=(3001, -1)), {}),
    "Dask, chunks of 200000": lambda f: (da.from_array(mapped(f), chunks=(200_000, 1)), {}),
    "Dask data frame": lambda f: (dd.read_parquet(f / "many"), {}),
}


@pytest.mark.parametrize("source", SOURCES)
def test_every_source_gives_the_same_bits(source, folder, reference):
    X, options = SOURCES[source](folder)
    assert_same_bits(Stadion(**OPTIONS, **options).fit(X), reference)


def test_parquet_without_polars_gives_the_same_bits(folder, reference, monkeypatch):
    from stablek.blockwise import parquet

    monkeypatch.setattr(parquet, "find_spec", lambda name: None if name == "polars" else name)
    assert_same_bits(Stadion(**OPTIONS).fit(folder / "many"), reference)


def test_length_of_runs_does_not_change_bits(folder, reference, monkeypatch):
    for run in (4, 1 << 20):
        monkeypatch.setattr(core, "RUN_NUMBERS", 1024 * P * run)
        assert_same_bits(Stadion(**OPTIONS).fit(mapped(folder)), reference)


def test_unknown_chunks_are_computed(X, folder, reference):
    array = da.from_array(mapped(folder), chunks=(2500, -1))
    unknown = array[(array[:, 0] < np.inf).compute_chunk_sizes()]
    assert np.isnan(unknown.shape[0])
    assert_same_bits(Stadion(**OPTIONS).fit(unknown), reference)


def test_shuffled_rows_give_the_same_k(X, reference, tmp_path):
    np.save(tmp_path / "x.npy", np.random.default_rng(3).permutation(X))
    shuffled = Stadion(**OPTIONS).fit(np.load(tmp_path / "x.npy", mmap_mode="r"))
    assert shuffled.n_clusters_ == reference.n_clusters_


def test_below_the_limit_the_answer_is_that_of_memory(X, folder):
    options = {**OPTIONS, "max_rows_in_memory": N}
    memory = Stadion(**options).fit(pl.DataFrame(X, schema=["a", "b", "c"]))
    sources = [
        mapped(folder),
        folder / "many",
        pds.dataset(folder / "many"),
        pl.scan_parquet(folder / "one.parquet"),
        da.from_array(X, chunks=777),
        dd.read_parquet(folder / "many"),
    ]
    for source in sources:
        fitted = Stadion(**options).fit(source)
        np.testing.assert_array_equal(fitted.paths_.between, memory.paths_.between)
        np.testing.assert_array_equal(fitted.labels_, memory.labels_)
        assert type(fitted.labels_) is np.ndarray
    assert list(fitted.feature_names_in_) == ["a", "b", "c"]


def test_blocks_find_what_memory_finds(X, reference):
    memory = Stadion(**OPTIONS).fit(X)
    assert memory.n_clusters_ == reference.n_clusters_
    np.testing.assert_allclose(memory.stadion_paths_, reference.stadion_paths_, atol=0.05)
    own, other = memory.best_estimator_, reference.best_estimator_
    assert other.inertia_ == pytest.approx(own.inertia_, rel=1e-3)
    # The estimator is an ordinary KMeans, and its inertia is the sum of squared distances.
    assert type(other) is KMeans
    distances = other.transform(X).min(axis=1)
    assert other.inertia_ == pytest.approx(np.sum(distances**2), rel=1e-9)
    np.testing.assert_array_equal(other.predict(X), np.asarray(reference.labels_))


def test_predict_takes_blocks(X, folder, reference):
    expected = reference.predict(X)
    np.testing.assert_array_equal(reference.predict(mapped(folder)), expected)
    np.testing.assert_array_equal(reference.predict(folder / "many"), expected)
    lazy = reference.predict(da.from_array(X, chunks=(777, 2)))
    assert isinstance(lazy, da.Array)
    np.testing.assert_array_equal(lazy.compute(), expected)
    with pytest.raises(ValueError, match=r"2 features.*expecting 3"):
        reference.predict(da.from_array(X[:, :2], chunks=777))


def test_other_clusterers_run_on_the_sample_and_say_so(folder):
    clusterer = AgglomerativeClustering()
    options = {**OPTIONS, "one_cluster": "never", "sample_rows": 300, "k_range": [2, 3]}
    with pytest.warns(UserWarning, match=r"Agglomerative.*sample of 300 of 9000 rows"):
        fitted = Stadion(clusterer, **options).fit(mapped(folder))
    assert len(fitted.labels_) == len(fitted.sample_indices_) == 300
    with pytest.warns(UserWarning, match=r"'refit' .*sample of 300 of 9000 rows"):
        fitted = Stadion(relabel="refit", **options).fit(mapped(folder))
    assert len(fitted.labels_) == N  # K-means predicts the other rows


@pytest.mark.parametrize("index", [CalinskiHarabasz, DaviesBouldin, RayTuri, WemmertGancarski])
def test_centroid_indices_use_all_rows(index, folder, monkeypatch):
    monkeypatch.setattr(index, "max_rows_in_memory", 1000)
    monkeypatch.setattr(index, "sample_rows", 1500)
    fitted = index(k_range=[1, 2, 5, 6], random_state=0).fit(folder / "many")
    assert fitted.n_rows_ == len(fitted.labels_) == N
    expected = index_values(mapped(folder), list(fitted.reference_labels_), index.method)
    np.testing.assert_allclose(fitted.index_values_, expected, rtol=1e-9)
    lazy = index(k_range=[1, 2, 5, 6], random_state=0).fit(da.from_array(mapped(folder), 777))
    np.testing.assert_array_equal(lazy.index_values_, fitted.index_values_)


@pytest.fixture
def low_limits(monkeypatch):
    for name, value in (("max_rows_in_memory", 1000), ("sample_rows", 400)):
        monkeypatch.setattr(BaseSelector, name, value)


def test_other_selectors_use_the_sample(folder, low_limits):
    with pytest.warns(UserWarning, match=r"Silhouette .*sample of 400 of 9000 rows"):
        fitted = Silhouette(k_range=[2, 3], random_state=0).fit(mapped(folder))
    assert len(fitted.labels_) == N


def test_centroid_indices_of_mixtures_use_all_rows(folder, low_limits):
    fitted = DaviesBouldin(GaussianMixture(), k_range=[2, 5], random_state=0).fit(mapped(folder))
    expected = index_values(mapped(folder), list(fitted.reference_labels_), "davies_bouldin")
    np.testing.assert_allclose(fitted.index_values_, expected, rtol=1e-9)
    assert type(fitted.best_estimator_) is GaussianMixture


@pytest.mark.parametrize("kind", ["full", "tied", "diag", "spherical"])
def test_bic_uses_all_rows(kind, X, folder, low_limits):
    clusterer = GaussianMixture(covariance_type=kind)
    fitted = BIC(clusterer, k_range=[1, 2, 5, 6], random_state=0).fit(folder / "many")
    best = fitted.best_estimator_
    # Scikit-learn's own criterion of the same mixture on all rows.
    assert fitted.bic_.min() == pytest.approx(best.bic(X), rel=1e-12)
    assert best.n_components == fitted.n_clusters_ == 5
    assert len(fitted.labels_) == fitted.n_rows_ == N
    lazy = BIC(clusterer, k_range=[1, 2, 5, 6], random_state=0).fit(da.from_array(X, 777))
    np.testing.assert_array_equal(lazy.bic_, fitted.bic_)
    memory = BIC(clusterer, k_range=[1], random_state=0).fit(X)
    assert fitted.bic_[0] == pytest.approx(memory.bic_[0], rel=1e-12)


def test_bic_of_one_component_only(X, folder, low_limits):
    fitted = BIC(k_range=[1], random_state=0).fit(mapped(folder))
    assert fitted.n_clusters_ == 1
    assert fitted.best_estimator_.bic(X) == pytest.approx(fitted.bic_[0])


def test_compare_uses_all_rows_where_it_can_and_says_so(X, folder, low_limits):
    methods = ["stadion", "davies_bouldin", "wemmert_gancarski", "silhouette", "bic"]
    clusterers = [KMeans(n_init=2), GaussianMixture(), AgglomerativeClustering()]
    options = {"stadion": {"n_perturbations": 2, "n_epsilons": 4, "one_cluster": "never"}}
    with pytest.warns(UserWarning, match="sample of 400 of 9000 rows: silhouette of KMeans, "):
        compared = compare(
            folder / "many", methods, clusterers, k_range=[2, 5], options=options, random_state=0
        )
    used = {(row.clusterer, row.method): row.rows for row in compared}
    for name in ("KMeans", "GaussianMixture"):
        for method in methods[:3]:
            assert used[name, method] == "all 9000"
        assert used[name, "silhouette"] == "sample of 400"
    assert used["GaussianMixture", "bic"] == "all 9000"
    assert used["KMeans", "bic"] == ""  # not defined
    assert {used["AgglomerativeClustering", m] for m in methods[:4]} == {"sample of 400"}
    lines = repr(compared).splitlines()
    assert "rows" in lines[0].split()
    assert "all 9000" in lines[1]
    row = compared.row("davies_bouldin", "KMeans")
    alone = DaviesBouldin(KMeans(n_init=2), k_range=[2, 5], random_state=0).fit(folder / "many")
    np.testing.assert_array_equal(row.selector.index_values_, alone.index_values_)
    np.testing.assert_array_equal(row.selector.labels_, alone.labels_)
    # All chose the five clusters; those of the sample differ in few points.
    assert 0.9 < row.agreement <= 1.0
    assert row.stadion_agreement == 1.0
