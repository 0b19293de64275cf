"""Did you mean ...: nearest names in errors of the library and of the command line."""

from __future__ import annotations

import numpy as np
import pytest
from commands import assert_refused, run

from stablek import Stadion, compare, select_k
from stablek.cli._parser import METHODS, SELECT_ALGORITHMS
from stablek.reading import InputError, read_points
from stablek.selectors import SELECTORS
from stablek.suggesting import ALGORITHM_ALIASES, METHOD_ALIASES, nearest

X = np.random.default_rng(0).normal(size=(30, 2))


@pytest.mark.parametrize(
    "name, meant",
    [
        ("silhouete", ["silhouette"]),
        ("Calinski-Harabasz", ["calinski_harabasz"]),
        ("gap", ["gap_b", "gap_a"]),
        ("gmm", ["bic"]),
        ("xmeans", ["x_means"]),
        ("kneedle", ["elbow"]),
        ("wholly unknown", []),
        (7, []),
    ],
)
def test_methods(name, meant):
    assert nearest(name, SELECTORS, METHOD_ALIASES) == meant


@pytest.mark.parametrize(
    "name, meant",
    [
        ("k-means", ["kmeans"]),
        ("KMeans", ["kmeans"]),
        ("GaussianMixture", ["gmm"]),
        ("hierarchical", ["ward"]),
        ("DBSCAN", ["hdbscan"]),
    ],
)
def test_algorithms(name, meant):
    assert nearest(name, SELECT_ALGORITHMS, ALGORITHM_ALIASES) == meant


def test_aliases_are_no_names_and_mean_names():
    for aliases, known in ((METHOD_ALIASES, METHODS), (ALGORITHM_ALIASES, SELECT_ALGORITHMS)):
        assert not set(aliases) & set(known)
        assert {name for meant in aliases.values() for name in meant} <= set(known)


@pytest.mark.parametrize(
    "call, meant",
    [
        (lambda: select_k(X, "gap"), "'gap_b' or 'gap_a'"),
        (lambda: select_k(X, "dunn", k_rnge=[2, 3]), "'k_range'"),
        (lambda: compare(X, ["stadium"]), "'stadion'"),
        (lambda: Stadion(similarity="Jacard").fit(X), "'jaccard'"),
        (lambda: Stadion(perturbation="gausian").fit(X), "'gaussian'"),
        (lambda: Stadion(one_cluster="crosing").fit(X), "'crossing'"),
        (lambda: Stadion(param_name="n_cluster").fit(X), "'n_clusters'"),
    ],
)
def test_the_library_suggests(call, meant):
    with pytest.raises((ValueError, TypeError), match=f"did you mean {meant}") as raised:
        call()
    assert str(raised.value).endswith("?")


def test_columns(tmp_path):
    path = tmp_path / "a.csv"
    path.write_text("income,age\n1,2\n3,4\n5,7\n")
    with pytest.raises(InputError, match=r"it has 'income', 'age'; did you mean 'income'\?"):
        read_points(str(path), columns=["Incme"])


@pytest.mark.parametrize(
    "arguments, meant",
    [
        (["selct", "a.csv"], "'select'"),
        (["select", "a.csv", "--method", "kneedle"], "'elbow'"),
        (["select", "a.csv", "--algorithm", "k-means"], "'kmeans'"),
        (["select", "a.csv", "--reprot", "r.html"], "'--report'"),
        (["select", "a.csv", "--reprot=r.html"], "'--report'"),
        (["compare", "a.csv", "--methods", "dunn,gap"], "'gap_b' or 'gap_a'"),
        (["datasets", "fetch", "hepta", "--ouput", "x"], "'--output'"),
    ],
)
def test_the_command_line_suggests(arguments, meant):
    done = run(*arguments)
    assert_refused(done, f"did you mean {meant}?")
