"""How often each K is chosen on subsamples of the rows."""

import numpy as np
import pytest
from sklearn.cluster import DBSCAN, KMeans
from sklearn.datasets import make_blobs

from stablek import Stadion, subsample_frequency
from stablek.selectors import BIC, SELECTORS, Silhouette

CLEAR = make_blobs(90, centers=[[0, 0], [9, 0], [0, 9]], random_state=0)[0]
QUICK = {"k_range": range(1, 5), "n_perturbations": 1, "n_reference_sets": 6, "random_state": 0}


def test_clear_clusters_are_found_on_every_subsample():
    found = subsample_frequency(Stadion(**QUICK), CLEAR, n_subsamples=4)
    assert found.answers == (3, 3, 3, 3)
    assert found.counts == {3: 4}
    assert found.frequency(3) == 1.0
    assert found.frequency(2) == 0.0
    assert found.n_rows == 72


def test_an_answer_that_depends_on_the_rows_is_not_always_given(rng):
    X = rng.uniform(size=(40, 2))
    found = subsample_frequency(Silhouette(random_state=0), X, n_subsamples=15, fraction=0.5)
    assert len(found.counts) > 1
    assert sum(found.counts.values()) == 15
    assert list(found.counts.values()) == sorted(found.counts.values(), reverse=True)


def test_the_rows_are_drawn_without_replacement_and_the_selector_stays_as_it_is():
    seen = []

    class Recording(KMeans):
        def fit(self, X, y=None, sample_weight=None):
            seen.append(X.copy())
            return super().fit(X)

    selector = Silhouette(Recording(n_init=1), k_range=[2], random_state=0)
    before = selector.get_params()
    subsample_frequency(selector, CLEAR, n_subsamples=3, fraction=0.5)
    subsets = [X for X in seen if len(X) == 45]
    assert len({X.tobytes() for X in subsets}) == 3
    rows = {row.tobytes() for row in CLEAR}
    for X in subsets:
        assert len(np.unique(X, axis=0)) == 45
        assert all(row.tobytes() in rows for row in X)
    assert selector.get_params() == before
    assert not hasattr(selector, "labels_")


def test_the_same_seed_gives_the_same_answers_for_any_number_of_workers(rng):
    X = rng.normal(size=(60, 2))
    runs = [
        subsample_frequency(Silhouette(random_state=s), X, n_subsamples=8, n_jobs=n)
        for s, n in ((1, 1), (1, 2), (2, 1))
    ]
    assert runs[0] == runs[1] != runs[2]


def test_many_rows_are_bounded():
    X = np.repeat(CLEAR, 10, axis=0) + np.random.default_rng(0).normal(size=(900, 2)) * 1e-3
    found = subsample_frequency(Silhouette(random_state=0), X, n_subsamples=2, max_rows=100)
    assert found.n_rows == 100


@pytest.mark.parametrize("name", SELECTORS)
def test_every_selector_has_answers(name):
    selector = SELECTORS[name](k_range=[2, 3, 4], random_state=0)
    if name == "stadion":
        selector.set_params(n_perturbations=1, n_reference_sets=3)
    if name in ("gap_a", "gap_b"):
        selector.set_params(n_references=5)
    found = subsample_frequency(selector, CLEAR, n_subsamples=2)
    assert len(found.answers) == 2


def test_a_method_that_cannot_judge_abstains():
    found = subsample_frequency(BIC(KMeans(), random_state=0), CLEAR, n_subsamples=2)
    assert found.answers == (None, None)
    assert found.counts == {}


def test_candidates_above_the_number_of_rows_are_left_out():
    selector = Silhouette(k_range=range(2, 80), random_state=0)
    assert subsample_frequency(selector, CLEAR, n_subsamples=1, fraction=0.5).answers == (3,)


def test_values_that_are_no_numbers_of_clusters():
    options = {**QUICK, "k_range": [0.8, 1.5], "omega": [0.8], "n_reference_sets": 10}
    selector = Stadion(DBSCAN(), param_name="eps", **options)
    assert subsample_frequency(selector, CLEAR, n_subsamples=2).counts == {3: 2}


@pytest.mark.parametrize(
    ("options", "match"),
    [
        ({"n_subsamples": 0}, "n_subsamples"),
        ({"fraction": 1.5}, "fraction must be a number between 0 and 1, got 1.5"),
        ({"fraction": "half"}, "fraction"),
        ({"fraction": 0.01}, "leaves 0"),
        ({"max_rows": 1}, "max_rows"),
    ],
)
def test_bad_input(options, match):
    with pytest.raises(ValueError, match=match):
        subsample_frequency(Silhouette(), CLEAR, **options)


def test_only_selectors():
    with pytest.raises(TypeError, match="selector must be a selector of stablek"):
        subsample_frequency(KMeans(), CLEAR)
