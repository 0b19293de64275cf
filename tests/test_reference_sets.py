"""Reference sets: the shape of the data, without clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest, ortho_group, rankdata, skew, spearmanr

from stablek.reference_sets import REFERENCE_SETS, _ranks, draw_sets, resolve_reference_sets

KINDS = list(REFERENCE_SETS)


def draw(name, X, entropy=0, number=0):
    return draw_sets(REFERENCE_SETS[name], name, X, [number], entropy)[0]


@pytest.mark.parametrize("name", KINDS)
@pytest.mark.parametrize("shape", [(60, 1), (60, 3), (20, 50), (10, 2)])
def test_sets_have_the_shape_and_are_reproducible(name, shape, rng):
    X = rng.normal(size=shape)
    first, again, other = draw(name, X), draw(name, X), draw(name, X, number=1)
    assert first.shape == shape
    assert np.isfinite(first).all()
    np.testing.assert_array_equal(first, again)
    assert (first != other).any()


def test_box_is_uniform_in_the_box_of_the_principal_components(rng):
    turn = ortho_group.rvs(2, random_state=0)
    X = rng.uniform(size=(3000, 2)) * [10.0, 1.0] @ turn
    points = (draw("box", X) - X.mean(axis=0)) @ turn.T
    for column, width in zip(points.T, (10.0, 1.0), strict=True):
        assert kstest(column / width + 0.5, "uniform").pvalue > 0.001


def test_box_turns_with_the_data(rng):
    X = rng.normal(size=(100, 3)) * [3.0, 2.0, 1.0]
    turn = ortho_group.rvs(3, random_state=1)
    np.testing.assert_allclose(draw("box", X @ turn), draw("box", X) @ turn, atol=1e-10)


def test_copula_keeps_skewness_and_correlation(rng):
    normal = rng.multivariate_normal([0, 0], [[1, 0.8], [0.8, 1]], size=3000)
    X = np.column_stack([np.exp(normal[:, 0]), normal[:, 1]])
    points = draw("copula", X)
    found, expected = spearmanr(points).statistic, spearmanr(X).statistic
    assert found == pytest.approx(expected, abs=0.05)
    for ours, theirs in zip(points.T, X.T, strict=True):
        assert kstest(ours, theirs).pvalue > 0.001


def test_ranks_are_those_of_scipy(rng):
    for values in (rng.normal(size=50), rng.integers(0, 5, 50).astype(float), np.ones(3)):
        np.testing.assert_array_equal(_ranks(values), rankdata(values))


def test_sources_keep_rotated_skewness_which_the_copula_loses(rng):
    turn = ortho_group.rvs(3, random_state=2)
    X = rng.exponential(size=(2000, 3)) @ turn
    unmixed = {name: skew(draw(name, X) @ turn.T) for name in ("copula", "sources")}
    assert np.abs(skew(X @ turn.T) - unmixed["sources"]).max() < 0.6
    assert np.abs(unmixed["copula"]).mean() < 1.2 < unmixed["sources"].min()


@pytest.mark.parametrize("name", ["copula", "sources"])
def test_clusters_are_gone(name, rng):
    """Two groups far apart leave a gap that the reference sets fill."""
    X = np.concatenate([rng.normal(0, 1, (300, 2)), rng.normal(12, 1, (300, 2))])
    points = draw(name, X)
    middle = np.abs(points.mean(axis=1) - 6.0) < 2.0
    assert middle.mean() > 0.05


@pytest.mark.parametrize("name", KINDS)
def test_what_is_no_matter_of_clusters_stays(name, rng):
    X = rng.normal(size=(200, 4))
    X[:, 1] = 7.0  # constant
    X[:, 2] = rng.integers(0, 5, 200)  # on a grid
    X[:, 3] = (rng.integers(0, 9, 200) - 4.1) / 2.7  # integers, standardized
    points = draw(name, X)
    np.testing.assert_allclose(points[:, 1], 7.0)
    np.testing.assert_allclose(points[:, 2], np.rint(points[:, 2]), atol=1e-9)
    on_grid = points[:, 3] * 2.7 + 4.1
    np.testing.assert_allclose(on_grid, np.rint(on_grid), atol=1e-6)


@pytest.mark.parametrize("name", KINDS)
def test_equal_features_stay_nearly_equal(name, rng):
    column = rng.normal(size=(200, 1))
    points = draw(name, np.hstack([column, column]))
    np.testing.assert_allclose(points[:, 0], points[:, 1], atol=1e-6)


@pytest.mark.parametrize("name", KINDS)
def test_normalized_rows_stay_normalized(name, rng):
    X = rng.normal(size=(100, 5))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    np.testing.assert_allclose(np.linalg.norm(draw(name, X), axis=1), 1.0)


def test_a_callable_is_a_kind(rng):
    def permuted(X, generator):
        return generator.permuted(X, axis=0)

    kinds = resolve_reference_sets(["box", permuted])
    assert list(kinds) == ["box", "permuted"]
    X = rng.normal(size=(20, 2))
    points = draw_sets(kinds["permuted"], "permuted", X, [0], 0)[0]
    np.testing.assert_array_equal(np.sort(points, axis=0), np.sort(X, axis=0))


def flat(X, generator):
    return X[:, 0]


def infinite(X, generator):
    return X * np.inf


@pytest.mark.parametrize(("kind", "match"), [(flat, "shape"), (infinite, "finite")])
def test_bad_callables(kind, match, rng):
    [function] = resolve_reference_sets(kind).values()
    with pytest.raises(ValueError, match=match):
        draw_sets(function, "own", rng.normal(size=(20, 2)) + 1.0, [0], 0)


@pytest.mark.parametrize("kinds", ["cube", [], ["box", "box"], [3], None])
def test_unknown_kinds(kinds):
    with pytest.raises(ValueError, match="reference_sets"):
        resolve_reference_sets(kinds)
