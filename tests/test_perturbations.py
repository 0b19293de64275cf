"""Each kind of perturbation does what its documentation says."""

import numpy as np
import pytest

from stablek.perturbations import PERTURBATIONS, Draw, perturb, resolve_perturbation

X = np.random.default_rng(1).normal(size=(40, 6))
SCALE = X.std(axis=0)


def noisy(name, epsilon, *, data=X, draw=0, rows=None, n_rows=40):
    source = Draw(0, draw, n_rows, rows)
    return perturb(data, epsilon, SCALE, source, PERTURBATIONS[name])


ADDITIVE = ["uniform", "gaussian"]
SERIES = ["shift", "offset", "scale", "warp"]


@pytest.mark.parametrize("name", [*ADDITIVE, *SERIES])
def test_level_zero_changes_nothing(name):
    points, rows = noisy(name, 0.0)
    assert rows is None
    np.testing.assert_allclose(points, X, atol=1e-12)


@pytest.mark.parametrize("name", [*ADDITIVE, *SERIES])
def test_more_noise_moves_points_further(name):
    moves = [np.abs(noisy(name, e)[0] - X).mean() for e in (0.1, 0.5, 1.0)]
    assert 0 < moves[0] < moves[1] < moves[2]


@pytest.mark.parametrize("name", ADDITIVE)
def test_noise_is_scaled_by_feature_and_linear_in_epsilon(name):
    unit = (noisy(name, 1.0)[0] - X) / SCALE
    np.testing.assert_allclose((noisy(name, 0.25)[0] - X) / SCALE, 0.25 * unit, atol=1e-12)
    if name == "uniform":
        assert np.abs(unit).max() <= 1


@pytest.mark.parametrize("name", [*ADDITIVE, *SERIES])
def test_points_of_a_cluster_get_the_noise_of_their_rows(name):
    rows = np.array([3, 7, 20, 39])
    part, _ = noisy(name, 0.4, data=X[rows], rows=rows)
    np.testing.assert_array_equal(part, noisy(name, 0.4)[0][rows])


@pytest.mark.parametrize("name", PERTURBATIONS)
def test_same_draw_same_copy_and_other_draw_other_copy(name):
    first, again, other = noisy(name, 0.5), noisy(name, 0.5), noisy(name, 0.5, draw=1)
    np.testing.assert_array_equal(first[0], again[0])
    assert first[0].shape == other[0].shape
    assert not np.array_equal(first[0], other[0])


def test_bootstrap_draws_rows_with_replacement():
    points, rows = noisy("bootstrap", 1.0)
    np.testing.assert_array_equal(points, X[rows])
    assert len(rows) == 40
    assert 15 < len(np.unique(rows)) < 40


@pytest.mark.parametrize(("share", "kept"), [(0.0, 40), (0.25, 30), (0.99, 2)])
def test_subsample_leaves_a_share_out(share, kept):
    points, rows = noisy("subsample", share)
    np.testing.assert_array_equal(points, X[rows])
    assert len(np.unique(rows)) == len(rows) == kept


@pytest.mark.parametrize(("share", "kept"), [(0.0, 6), (0.5, 3), (0.99, 1)])
def test_delete_features(share, kept):
    points, _ = noisy("delete_features", share)
    assert points.shape == (40, kept)
    assert all(any(np.array_equal(column, x) for x in X.T) for column in points.T)


def test_project_keeps_distances_when_nothing_is_left_out():
    points, _ = noisy("project", 0.0)
    np.testing.assert_allclose(points @ points.T, X @ X.T, atol=1e-9)
    assert noisy("project", 0.5)[0].shape == (40, 3)


def test_series_keep_their_shape():
    line = np.tile(np.linspace(0, 1, 6), (40, 1))
    shifted, _ = noisy("shift", 1.0, data=line)
    assert (np.diff(shifted) >= 0).all()
    np.testing.assert_allclose(np.ptp(noisy("offset", 1.0)[0] - X, axis=1), 0, atol=1e-12)
    ratio = noisy("scale", 1.0)[0] / X
    np.testing.assert_allclose(ratio, np.broadcast_to(ratio[:, :1], ratio.shape))
    warped, _ = noisy("warp", 1.0, data=line)
    assert (np.diff(warped) >= 0).all()
    np.testing.assert_allclose(warped[:, [0, -1]], line[:, [0, -1]], atol=1e-12)


def test_callable_gets_a_seeded_generator():
    def swap_sign(data, epsilon, rng):
        return data * rng.choice([-1.0, 1.0], size=(len(data), 1))

    kind = resolve_perturbation(swap_sign)
    first, _ = perturb(X, 0.3, SCALE, Draw(0, 0, 40), kind)
    again, _ = perturb(X, 0.3, SCALE, Draw(0, 0, 40), kind)
    np.testing.assert_array_equal(first, again)
    np.testing.assert_array_equal(np.abs(first), np.abs(X))


def test_errors():
    with pytest.raises(ValueError, match=r"perturbation must be one of .*'uniform'.*'unifrom'"):
        resolve_perturbation("unifrom")
    kind = resolve_perturbation(lambda data, epsilon, rng: data[:3])
    with pytest.raises(ValueError, match=r"40 rows .*\(3, 6\)"):
        perturb(X, 0.3, SCALE, Draw(0, 0, 40), kind)


@pytest.mark.parametrize("name", sorted(PERTURBATIONS))
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_no_noise_overflows(name):
    kind = PERTURBATIONS[name]
    X = np.random.default_rng(0).normal(size=(30, 8))
    epsilon = 1e6 if kind.levels == "amplitude" else 0.9
    points, _ = perturb(X, epsilon, X.std(axis=0), Draw(0, 0, len(X)), kind)
    assert np.isfinite((points**2).sum())
