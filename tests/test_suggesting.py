"""Did you mean ...: nearest names in errors of the library and of the command line."""

from __future__ import annotations

import numpy as np
import pytest
from commands import assert_refused, run

from stablek import Stadion, compare, select_k
from stablek.cli._parser import METHODS, SELECT_ALGORITHMS
from stablek.reading import InputError, read_points
from stablek.selectors import SELECTORS
from stablek.suggesting import (
    ALGORITHM_ALIASES,
    ALGORITHM_HINTS,
    METHOD_ALIASES,
    METHOD_HINTS,
    canonical,
    nearest,
)

X = np.random.default_rng(0).normal(size=(30, 2))


@pytest.mark.parametrize(
    "name, meant",
    [
        ("silhouette", "silhouette"),
        ("Calinski-Harabasz", "calinski_harabasz"),
        ("gap", "gap_b"),
        ("Gap Statistic", "gap_b"),
        ("gap-a", "gap_a"),
        ("xmeans", "x_means"),
        ("kneedle", "elbow"),
        ("gmm", None),
        ("silhouete", None),
    ],
)
def test_other_names_of_methods(name, meant):
    assert canonical(name, SELECTORS, METHOD_ALIASES) == meant


@pytest.mark.parametrize(
    "name, meant",
    [
        ("k-means", "kmeans"),
        ("KMeans", "kmeans"),
        ("GaussianMixture", "gmm"),
        ("Spherical K-Means", "spherical"),
        ("hierarchical", None),
    ],
)
def test_other_names_of_algorithms(name, meant):
    assert canonical(name, SELECT_ALGORITHMS, ALGORITHM_ALIASES) == meant


@pytest.mark.parametrize(
    "name, meant",
    [("silhouete", ["silhouette"]), ("gmm", ["bic"]), ("wholly unknown", []), (7, [])],
)
def test_methods(name, meant):
    assert nearest(name, SELECTORS, METHOD_HINTS) == meant


@pytest.mark.parametrize(
    "name, meant", [("kmeens", ["kmeans"]), ("hierarchical", ["ward"]), ("DBSCAN", ["hdbscan"])]
)
def test_algorithms(name, meant):
    assert nearest(name, SELECT_ALGORITHMS, ALGORITHM_HINTS) == meant


def test_aliases_and_hints_are_no_names_and_mean_names():
    tables = (
        (METHOD_ALIASES, METHOD_HINTS, METHODS),
        (ALGORITHM_ALIASES, ALGORITHM_HINTS, SELECT_ALGORITHMS),
    )
    for aliases, hints, known in tables:
        assert not {*aliases, *hints} & set(known)
        assert not set(aliases) & set(hints)
        assert {*aliases.values(), *(name for meant in hints.values() for name in meant)} <= set(
            known
        )


def test_the_library_takes_aliases():
    options = {"k_range": range(1, 4), "random_state": 0}
    named, meant = (select_k(X, method, **options) for method in ("gap", "gap_b"))
    assert type(named) is type(meant)
    np.testing.assert_array_equal(named.scores_, meant.scores_)
    rows = compare(X, ["CH", "Gap"], k_range=range(1, 4), options={"gap": {"n_references": 5}})
    assert [row.method for row in rows.rows] == ["calinski_harabasz", "gap_b"]
    with pytest.raises(ValueError, match=r"each method once, got .*'gap_b', 'gap_b'"):
        compare(X, ["gap", "gap_b"])


def test_the_command_line_takes_aliases(tmp_path):
    path = tmp_path / "a.csv"
    np.savetxt(path, X, delimiter=",", header="x,y", comments="")
    done = run("select", path, "--algorithm", "K-Means", "--method", "gap", "--subsamples", "0")
    assert done.returncode == 0
    assert "; kmeans; gap_b; seed 0;" in done.stdout
    assert run("test", path, "--algorithm", "k-means").returncode == 0
    done = run("compare", path, "--methods", "ch,db", "--algorithms", "k-means,mixture")
    assert done.returncode == 0
    for name in ("calinski_harabasz", "davies_bouldin", "gmm"):
        assert name in done.stdout


@pytest.mark.parametrize(
    "call, meant",
    [
        (lambda: select_k(X, "aic"), "'bic'"),
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
        (["select", "a.csv", "--method", "wss"], "'elbow'"),
        (["select", "a.csv", "--algorithm", "kmeens"], "'kmeans'"),
        (["test", "a.csv", "--algorithm", "hierarchical"], "'ward'"),
        (["select", "a.csv", "--reprot", "r.html"], "'--report'"),
        (["select", "a.csv", "--reprot=r.html"], "'--report'? (see stablek select --help)"),
        (["compare", "a.csv", "--methods", "dunn,aic"], "'bic'"),
        (["datasets", "fetch", "hepta", "--ouput", "x"], "'--output'"),
    ],
)
def test_the_command_line_suggests(arguments, meant):
    done = run(*arguments)
    assert_refused(done, f"did you mean {meant}" if "?" in meant else f"did you mean {meant}?")
