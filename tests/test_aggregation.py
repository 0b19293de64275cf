"""The selection rule: crossing, ties, K = 1, aggregation, resampled draws."""

import numpy as np
import pytest

from stablek.aggregation import cluster_stability, crossing, select
from stablek.results import Member, StabilityPaths

EPSILONS = np.array([0.0, 1.0, 2.0, 3.0])


def make_paths(stadion, *, n_draws=4, values=None):
    """Paths with the given Stadion values as between stability, and a within stability of 0."""
    stadion = np.asarray(stadion, dtype=float)
    n_k = len(stadion)
    values = tuple(range(1, n_k + 1)) if values is None else values
    between = np.repeat(stadion[:, :, None], n_draws, axis=2)
    return StabilityPaths(
        k_values=values,
        n_clusters=tuple(range(1, n_k + 1)),
        omega=(2, 3),
        epsilons=EPSILONS,
        between=between,
        clusters=np.zeros((1, 2, 4, n_draws)),
        members=tuple((Member(0, 0, 10),) for _ in values),
    )


def test_scores_count_positive_levels_up_to_the_crossing():
    paths = make_paths([[0, 0.1, 0.4, 0.9], [0.9, 0.5, 0.6, 0.1], [0, 0.7, 0.1, 0.8]])
    chosen = select(paths, (1, 2, 3))
    assert chosen.crossing_epsilon == 2.0
    np.testing.assert_allclose(chosen.scores, [0.4, 0.6, 0.7])
    assert chosen.n_clusters == 3
    mean = select(paths, (1, 2, 3), aggregation="mean")
    np.testing.assert_allclose(mean.scores, [0.25, 0.55, 0.4])
    assert mean.n_clusters == 2
    never = select(paths, (1, 2, 3), one_cluster="never")
    np.testing.assert_allclose(never.scores, [np.nan, 0.6, 0.8])
    assert never.n_clusters == 3
    assert select(paths, (1, 2, 3), one_cluster="test").n_clusters == 3
    nothing = select(paths, (1, 2, 3), one_cluster="test", has_structure=False)
    assert nothing.n_clusters == 1
    assert nothing.selection_frequency.tolist() == [1.0, 0.0, 0.0]
    assert select(paths, (2, 3), one_cluster="test", has_structure=False).n_clusters == 3
    least = select(paths, (1, 2, 3), aggregation=np.min)
    np.testing.assert_allclose(least.scores, [0.1, 0.5, 0.1])


def test_epsilon_zero_decides_nothing():
    paths = make_paths([[0, 0.5, 0.5, 0.5], [1.0, 0.4, 0.4, 0.4]])
    chosen = select(paths, (1, 2))
    assert (chosen.n_clusters, chosen.crossing_epsilon) == (1, 0.0)


def test_one_cluster_wins_ties_and_smaller_k_wins_ties():
    assert select(make_paths(np.zeros((3, 4))), (1, 2, 3)).n_clusters == 1
    paths = make_paths([[0, 0, 0, 0], [0, 0.5, 0, 0], [0, 0.5 + 1e-13, 0, 0]])
    assert select(paths, (1, 2, 3)).n_clusters == 2


def test_without_one_among_the_candidates_it_is_never_chosen():
    paths = make_paths([[0, 0.5, 0.5, 0.9], [0, 0.1, 0.2, 0.1], [0, 0.3, 0.1, 0.1]])
    chosen = select(paths, (2, 3))
    assert (chosen.n_clusters, chosen.crossing_epsilon) == (3, 0.0)
    np.testing.assert_allclose(chosen.scores, [0.2, 0.3])
    assert chosen.selection_frequency.tolist() == [0.0, 1.0]


def test_crossing_index():
    stack = np.array([[[0, 0, 0.0, 1], [0, 1, 1, 0]], [[1, 1, 1, 1], [2, 0, 0, 0]]], dtype=float)
    assert crossing(stack, EPSILONS).tolist() == [2, -1]
    assert crossing(stack[:, :1], EPSILONS).tolist() == [-1, -1]


def test_frequency_is_that_of_resampled_draws():
    paths = make_paths([[0, 0, 0, 1], [0, 0.5, 0, 0], [0, 0.5, 0, 0]], n_draws=2)
    between = paths.between.copy()
    between[1, 1] = [0.6, 0.3]
    between[2, 1] = [0.3, 0.5]
    paths = StabilityPaths(**{**paths.__dict__, "between": between})
    frequency = select(paths, (1, 2, 3)).selection_frequency
    # A resample has both draws with probability 1/2: K = 2 wins with 0.45 against 0.40. It has
    # the first draw twice (1/4): K = 2 wins. It has the second draw twice (1/4): K = 3 wins.
    np.testing.assert_allclose(frequency, [0, 0.75, 0.25], atol=0.05)
    assert frequency.sum() == pytest.approx(1)


def test_within_mean_leaves_invalid_sizes_out_and_counts_empty_as_stable():
    paths = make_paths(np.ones((2, 4)))
    clusters = np.full((3, 2, 4, 4), np.nan)
    clusters[0], clusters[1, 0] = 0.5, 0.2
    members = ((Member(0, 0, 10),), (Member(0, 1, 6), Member(1, 2, 4)))
    paths = StabilityPaths(**{**paths.__dict__, "clusters": clusters, "members": members})
    within = paths.within_stability()
    np.testing.assert_allclose(within[0], 0.5)
    np.testing.assert_allclose(within[1], 0.6 * 0.2 + 0.4 * 1.0)
    np.testing.assert_allclose(paths.within.mean(axis=1), within)
    # If only K' = 3 counts, no K' is valid in the clusters of the second partition.
    np.testing.assert_allclose(paths.within_stability(np.array([1]))[1], 1.0)


def test_a_partition_of_noise_only_has_within_stability_one():
    paths = make_paths(np.ones((2, 4)))
    paths = StabilityPaths(**{**paths.__dict__, "members": ((Member(0, 0, 10),), ())})
    np.testing.assert_allclose(paths.within_stability()[1], 1.0)


def test_standard_errors():
    paths = make_paths(np.ones((2, 4)))
    between = np.random.default_rng(0).uniform(size=paths.between.shape)
    paths = StabilityPaths(**{**paths.__dict__, "between": between})
    np.testing.assert_allclose(
        paths.stadion_standard_error, between.std(axis=-1, ddof=1) / 2, rtol=1e-12
    )
    single = StabilityPaths(**{**paths.__dict__, "between": between[..., :1]})
    assert np.isnan(single.between_standard_error).all()


def test_cluster_stability_tells_hidden_clusters():
    paths = make_paths([[0, 0, 0, 1], [0.9, 0.9, 0.8, 0]])
    clusters = np.zeros((3, 2, 4, 4))
    clusters[1, 1] = 0.95
    members = ((Member(0, 0, 10),), (Member(0, 1, 6), Member(1, 2, 4)))
    paths = StabilityPaths(**{**paths.__dict__, "clusters": clusters, "members": members})
    first, second = cluster_stability(paths, select(paths, (1, 2)))
    assert (first.label, first.size, first.hidden_k) == (0, 6, 3)
    assert first.within_stability == pytest.approx(0.95 / 2)
    assert (second.size, second.hidden_k, second.within_stability) == (4, None, 0.0)


def test_errors():
    paths = make_paths(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="aggregation must be one of"):
        select(paths, (1, 2), aggregation="median")
    with pytest.raises(ValueError, match="finite"):
        select(paths, (1, 2), aggregation=lambda path: np.nan)
    with pytest.raises(ValueError, match=r"omega .*\[2, 3\], got \[7\]"):
        select(paths, (1, 2), omega=(7,))
    with pytest.raises(ValueError, match="n_perturbations must be from 1 to the 4"):
        select(paths, (1, 2), n_perturbations=5)
