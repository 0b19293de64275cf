"""Clusterers without a number of clusters: HDBSCAN in the library and on the command line."""

from __future__ import annotations

import json
import warnings

import numpy as np
import pytest
from commands import assert_refused, run
from sklearn.cluster import DBSCAN, HDBSCAN, KMeans
from sklearn.datasets import make_blobs

from stablek import Stadion
from stablek.selectors import Silhouette

X, _ = make_blobs(60, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)


def test_the_error_gives_an_example_that_runs():
    with pytest.raises(ValueError, match="search another, such as min_cluster_size: ") as raised:
        Stadion(HDBSCAN()).fit(X)
    code = str(raised.value).partition("min_cluster_size: ")[2]
    made = eval(code, {"Stadion": Stadion, "HDBSCAN": HDBSCAN})
    assert made.param_name == "min_cluster_size"
    assert made.k_range == [5, 10, 20, 40]
    quick = {"n_perturbations": 1, "epsilons": [0.2], "one_cluster": "never", "random_state": 0}
    assert made.set_params(k_range=[5, 10], **quick).fit(X).n_clusters_ == 3
    with pytest.raises(ValueError, match=r"Stadion\(DBSCAN\(\), param_name='eps'"):
        Stadion(DBSCAN()).fit(X)


class Changing(KMeans):
    """Warns at every fit of a change to come, as HDBSCAN does in some versions."""

    def fit(self, X, y=None, sample_weight=None):
        warnings.warn("a default will change", FutureWarning, stacklevel=2)
        return super().fit(X)


def test_future_warnings_do_not_flood():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        Silhouette(Changing(n_init=1), k_range=[2, 3, 4], random_state=0).fit(X)
    assert not [w for w in caught if w.category is FutureWarning]


def test_the_command_line(tmp_path):
    path = tmp_path / "x.csv"
    np.savetxt(path, X, delimiter=",", header="a,b", comments="")
    options = ("--algorithm", "hdbscan", "--subsamples", "0", "--jobs", "1", "--json")
    done = run("select", str(path), *options, "-", "--k", "5,12", "--one-cluster", "never")
    found = json.loads(done.stdout)
    assert found["answer"]["n_clusters"] == 3
    assert [row["value"] for row in found["candidates"]] == [5, 12]
    assert found["answer"]["headline"].startswith("3 clusters with min_cluster_size = ")
    assert "sub-clusters as stable" not in done.stderr
    assert "min_cluster_size  clusters" in done.stderr
    done = run("select", str(path), *options, "-", "--method", "gap_a")
    assert_refused(done, "--method gap_a needs an algorithm with a number of clusters")
