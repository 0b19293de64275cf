"""Random numbers depend only on the seed and on their purpose."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from stablek import seeding


@given(
    entropy=st.integers(0, 2**64),
    draw=st.integers(0, 50),
    n_columns=st.integers(1, 7),
    start=st.integers(0, 60),
    length=st.integers(1, 40),
    gaussian=st.booleans(),
)
def test_noise_of_a_block_is_the_block_of_the_noise(
    entropy, draw, n_columns, start, length, gaussian
):
    whole = seeding.noise(entropy, draw, n_columns, 0, 100, gaussian=gaussian)
    block = seeding.noise(entropy, draw, n_columns, start, start + length, gaussian=gaussian)
    np.testing.assert_array_equal(block, whole[start : start + length])


@pytest.mark.parametrize(
    ("gaussian", "law"), [(False, stats.uniform(-1, 2)), (True, stats.norm())]
)
def test_noise_has_its_distribution(gaussian, law):
    sample = seeding.noise(0, 0, 5, 0, 4000, gaussian=gaussian)
    assert stats.kstest(sample.ravel(), law.cdf).pvalue > 1e-3
    assert np.isfinite(sample).all()


def test_draws_and_seeds_differ():
    first = seeding.noise(0, 0, 2, 0, 50)
    for other in (seeding.noise(0, 1, 2, 0, 50), seeding.noise(1, 0, 2, 0, 50)):
        assert abs(np.corrcoef(first.ravel(), other.ravel())[0, 1]) < 0.3


def test_entropy_of():
    assert seeding.entropy_of(7) == 7
    assert seeding.entropy_of(np.int64(7)) == 7
    assert seeding.entropy_of(None) != seeding.entropy_of(None)
    for make in (np.random.default_rng, np.random.RandomState):
        assert seeding.entropy_of(make(3)) == seeding.entropy_of(make(3))
    for bad in (-1, 1.5, "a", True):
        with pytest.raises(ValueError, match="random_state"):
            seeding.entropy_of(bad)


def test_no_global_state_is_touched():
    np.random.seed(0)  # noqa: NPY002
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    seeding.noise(seeding.entropy_of(None), 0, 2, 0, 10)
    seeding.generator(0, "a").normal()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002
