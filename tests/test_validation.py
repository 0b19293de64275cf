"""Checks of input: labels of any type, masked arrays, dates, iterators; warnings' places."""

import threading
import time
import warnings

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import BisectingKMeans
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from stablek import Stadion, evaluate_partition, select_k
from stablek.labels import check_labels
from stablek.selectors.registry import SELECTORS
from stablek.warning import ignored, warn_user

FAST = {
    "k_range": [1, 2],
    "omega": [2],
    "n_perturbations": 2,
    "epsilons": [0.3],
    "one_cluster": "crossing",
}


@pytest.fixture
def X(rng):
    return np.vstack([rng.normal(size=(20, 2)), rng.normal(size=(20, 2)) + 9])


@pytest.mark.parametrize(
    "labels",
    [
        [0, -1, 1, 1],
        [0.0, -1.0, 1.0, 1.0],
        np.array([0, -1, 1, 1], dtype=object),
        np.array([0.0, -2.5, 1.0, 1.0], dtype=object),
        ["a", "-1", "b", "b"],
        np.array(["a", -1, "b", "b"], dtype=object),
        pd.Series([0, -1, 1, 1], dtype="Int64"),
        pd.Series(["a", "-1", "b", "b"], dtype="category"),
        pd.Series(["a", "-1", "b", "b"], dtype="string"),
    ],
    ids=str,
)
def test_noise_stays_noise_whatever_the_type_of_the_labels(labels):
    np.testing.assert_array_equal(check_labels(labels, 4), [0, -1, 1, 1])


def test_whole_numbers_stay_as_they_are_and_other_labels_are_numbered():
    np.testing.assert_array_equal(check_labels([9, 5, -3], 3), [9, 5, -1])
    np.testing.assert_array_equal(check_labels([9.0, 5.0, -3.0], 3), [9, 5, -1])
    np.testing.assert_array_equal(check_labels([0.5, 0.25, -0.5], 3), [1, 0, -1])
    np.testing.assert_array_equal(check_labels([True, False, True], 3), [1, 0, 1])


def test_noise_of_float_labels_is_not_clustered_again(X):
    labels = np.r_[np.zeros(20), np.ones(18), -1.0, -1.0]
    options = {"epsilons": [0.3], "n_perturbations": 2, "random_state": 0}
    given = evaluate_partition(X, labels, **options)
    assert given.n_clusters == 2
    assert [c.size for c in given.cluster_stability] == [20, 18]
    whole = evaluate_partition(X, labels.astype(int), **options)
    np.testing.assert_array_equal(given.stadion_path, whole.stadion_path)


@pytest.mark.parametrize(
    "labels",
    [
        [0.0, np.nan, 1.0],
        np.array(["a", None, "b"], dtype=object),
        pd.Series([0, None, 1], dtype="Int64"),
        np.array(["2020-01-01", "NaT", "2020-01-02"], dtype="datetime64[D]"),
    ],
    ids=str,
)
def test_missing_labels_are_an_error_that_names_the_row(labels):
    with pytest.raises(ValueError, match="labels has no label for row 1"):
        check_labels(labels, 3)


def test_masked_arrays_are_refused_if_anything_is_masked(X):
    masked = np.ma.masked_greater(X, 9)
    with pytest.raises(ValueError, match=r"X is a masked array with \d+ masked value"):
        Stadion(**FAST).fit(masked)
    with pytest.raises(ValueError, match="labels is a masked array with 1 masked"):
        evaluate_partition(X, np.ma.masked_array(np.arange(40) % 2, np.arange(40) == 3))
    whole = Stadion(**FAST, random_state=0).fit(np.ma.masked_array(X))
    np.testing.assert_array_equal(whole.labels_, Stadion(**FAST, random_state=0).fit(X).labels_)


@pytest.mark.parametrize("kind", ["datetime64[s]", "timedelta64[s]"])
def test_dates_are_refused(kind):
    with pytest.raises(ValueError, match=f"X has the type {kind.replace('[', '.').rstrip(']')}"):
        Stadion(**FAST).fit(np.arange(40).reshape(20, 2).astype(kind))


def test_numbers_too_large_for_a_float():
    with pytest.raises(ValueError, match="too large for a float"):
        Stadion(**FAST).fit([[10**400], [0], [1]])
    with pytest.raises(ValueError, match="epsilons must be"):
        Stadion(**{**FAST, "epsilons": [10**400]}).fit(np.eye(3))


def test_k_range_may_be_an_iterator(X):
    plain = Stadion(**FAST, random_state=0).fit(X)
    listed = Stadion(**{**FAST, "k_range": iter([1, 2])}, random_state=0).fit(X)
    np.testing.assert_array_equal(listed.scores_, plain.scores_)
    assert listed.reselect(aggregation="mean").n_clusters == plain.n_clusters_
    with pytest.raises(ValueError, match=r"k_range must hold at least one value.*iterator"):
        listed.fit(X)


CONSTANT = np.ones((10, 2))


@pytest.mark.parametrize(
    "fit",
    [
        lambda: Stadion(k_range=[1]).fit(CONSTANT),
        lambda: select_k(CONSTANT, method="stadion", k_range=[1]),
        lambda: make_pipeline(StandardScaler(), Stadion(k_range=[1])).fit(CONSTANT),
        lambda: Stadion(k_range=[1]).fit_predict(CONSTANT),
        lambda: evaluate_partition(CONSTANT, [0] * 10),
    ],
    ids=["fit", "select_k", "pipeline", "fit_predict", "evaluate_partition"],
)
def test_warnings_point_at_the_users_line(fit):
    with pytest.warns(UserWarning, match="constant") as caught:
        fit()
    assert [w.filename for w in caught] == [__file__]


def test_warn_user_without_a_user_line_still_warns():
    code = compile("warn_user('deep')", "<inside>", "exec")
    with pytest.warns(UserWarning, match="deep"):
        exec(code, {"__name__": "stablek.inside", "warn_user": warn_user})


def test_ignored_warnings_of_overlapping_threads_leave_no_filter_behind():
    """`warnings.catch_warnings` fails this: the last to leave puts back the other's filters."""
    one_is_in, two_is_in, one_is_out = (threading.Event() for _ in range(3))
    before = list(warnings.filters)

    def one():
        with ignored(Warning):
            one_is_in.set()
            two_is_in.wait(10)

    def two():
        one_is_in.wait(10)
        with ignored(Warning):
            two_is_in.set()
            one_is_out.wait(10)
            warnings.warn("quiet", RuntimeWarning, stacklevel=1)  # an error if it is not ignored

    threads = [threading.Thread(target=one), threading.Thread(target=two)]
    for thread in threads:
        thread.start()
    threads[0].join(10)
    one_is_out.set()
    threads[1].join(10)
    assert warnings.filters == before
    with pytest.warns(RuntimeWarning, match="loud"):
        warnings.warn("loud", RuntimeWarning, stacklevel=1)


def test_ignored_keeps_a_filter_of_the_user():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        before = list(warnings.filters)
        with ignored(RuntimeWarning):
            assert len(warnings.filters) == len(before) + 1
        assert warnings.filters == before


class Overlapping(BisectingKMeans):
    """Of two fits at a time, the one that began first ends first."""

    inside = 0
    lock = threading.Lock()
    second_is_in = threading.Event()

    def fit(self, X, y=None):
        with self.lock:
            Overlapping.inside += 1
            first = Overlapping.inside == 1
        if first:
            self.second_is_in.wait(0.1)
        else:
            self.second_is_in.set()
            time.sleep(0.05)
        fitted = super().fit(X)
        with self.lock:
            Overlapping.inside -= 1
            self.second_is_in.clear()
        return fitted


def test_a_fit_in_threads_leaves_the_warnings_of_the_process_alone(X):
    before = list(warnings.filters)
    with joblib.parallel_config(backend="threading", n_jobs=2):
        Stadion(Overlapping(), relabel="refit", **FAST, random_state=0).fit(X)
    assert warnings.filters == before


@pytest.mark.parametrize("name", SELECTORS)
def test_data_whose_squares_vanish_get_one_warning_from_every_selector(name, X):
    with pytest.warns(UserWarning, match=r"spread of only .*e-169.*Rescale") as caught:
        SELECTORS[name](k_range=[2, 3, 4], random_state=0).fit(X * 1e-170)
    assert sum("spread" in str(warning.message) for warning in caught) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        SELECTORS[name](k_range=[2, 3, 4], random_state=0).fit(X * 1e-100)
