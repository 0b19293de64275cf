"""Reference sets: the shape of the data, without clusters."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import kstest, ortho_group, rankdata, skew, spearmanr

from stablek.projected import expected_lengths
from stablek.reference_sets import (
    FOR_POINTS,
    REFERENCE_SETS,
    _ranks,
    draw_sets,
    resolve_reference_sets,
)

KINDS = list(FOR_POINTS)


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


def unit(X):
    return X / np.linalg.norm(X, axis=1, keepdims=True)


@pytest.mark.parametrize("name", list(REFERENCE_SETS))
@pytest.mark.parametrize("length", [1.0, 1e-9])
def test_normalized_rows_stay_normalized(name, length, rng):
    X = length * unit(rng.normal(size=(100, 5)))
    points = draw(name, X)
    np.testing.assert_allclose(np.linalg.norm(points, axis=1), length)
    np.testing.assert_array_equal(points, draw(name, X))
    assert (points != draw(name, X, number=1)).any()


@pytest.mark.parametrize(
    ("n", "mean", "spread"),
    [
        (4000, [0.0, 0.0], [2.0, 1.0]),
        (4000, [1.0, -2.0], [2.0, 1.0]),
        (4000, np.zeros(6), 3.0 ** -np.arange(6)),
        (4000, np.full(6, 0.5), 2.0 ** -np.arange(6)),
        (1000, np.zeros(200), np.r_[8.0, 4.0, np.ones(198)]),
        (1000, np.r_[9.0, np.zeros(199)], np.r_[2.0, 8.0, np.ones(198)]),
    ],
)
def test_angular_sets_are_directions_of_the_same_gaussian_cloud(n, mean, spread, rng):
    turn = ortho_group.rvs(len(mean), random_state=0)
    cloud = (np.asarray(mean) + spread * rng.normal(size=(2 * n, len(mean)))) @ turn
    X, other = np.split(unit(cloud), 2)
    points = draw("angular", X)
    for axis in turn[:2]:
        assert kstest(points @ axis, other @ axis).pvalue > 0.001


def test_angular_sets_keep_the_poles_which_the_other_kinds_lose(rng):
    turn = ortho_group.rvs(3, random_state=0)
    X = unit(rng.normal(size=(2000, 3)) * [6.0, 1.0, 1.0] @ turn)
    cosines = {name: np.abs(draw(name, X) @ turn[0]) for name in REFERENCE_SETS}
    near = {name: (values > 0.95).mean() for name, values in cosines.items()}
    expected = (np.abs(X @ turn[0]) > 0.95).mean()
    assert near.pop("angular") == pytest.approx(expected, abs=0.04)
    assert max(near.values()) < expected - 0.1, (near, expected)


def test_angular_sets_turn_with_the_data(rng):
    X = unit(rng.normal(size=(100, 4)) * [4.0, 3.0, 2.0, 1.0] + 1.0)
    turn = ortho_group.rvs(4, random_state=1)
    np.testing.assert_allclose(draw("angular", X @ turn), draw("angular", X) @ turn, atol=1e-6)


@pytest.mark.parametrize("shape", [(10, 2), (20, 50), (60, 1), (60, 3), (30, 30), (40, 31)])
def test_angular_sets_of_few_rows_are_finite(shape, rng):
    assert np.isfinite(draw("angular", unit(rng.normal(size=shape) + 0.1))).all()


def test_angular_sets_of_a_subspace_stay_in_it(rng):
    axes = ortho_group.rvs(5, random_state=2)[:2]
    points = draw("angular", unit(rng.normal(size=(50, 2)) @ axes))
    np.testing.assert_allclose(points @ axes.T @ axes, points, atol=1e-9)


def test_angular_needs_directions(rng):
    with pytest.raises(ValueError, match="'angular' is for directions"):
        draw("angular", rng.normal(size=(20, 3)))


def test_auto_is_all_kinds_that_suit_the_data():
    assert list(resolve_reference_sets("auto")) == list(FOR_POINTS)
    assert list(resolve_reference_sets("auto", directions=True)) == list(REFERENCE_SETS)


@pytest.mark.parametrize(
    ("n_axes", "square", "product"),
    [(2, 1.0, 0.0), (2, 3.0, -2.0), (5, 2.0, 4.0), (50, 30.0, -9.0)],
)
def test_expected_lengths_are_integrals(n_axes, square, product):
    mode = np.sqrt(n_axes)

    def density(r, power):
        logs = (n_axes - 1 + power) * np.log(r / mode) - square * r**2 / 2 + product * r
        return np.exp(logs + square * mode**2 / 2 - product * mode)

    total, first, second = (quad(density, 1e-9, 20.0, (i,), limit=500)[0] for i in range(3))
    found = expected_lengths(np.array([square]), np.array([product]), n_axes)
    expected = [first / total * mode, second / total * mode**2]
    np.testing.assert_allclose(np.ravel(found), expected, rtol=2e-3)


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
