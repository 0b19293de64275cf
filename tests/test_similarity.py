"""Every similarity against scikit-learn or reference numbers for iris."""

import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn import metrics
from sklearn.datasets import load_iris

from stablek.similarity import (
    SIMILARITIES,
    Agreement,
    compare_labels,
    contingency,
    resolve_similarity,
)

iris = load_iris()
A = iris.target
B = np.digitize(iris.data[:, 2], [2.5, 4.8])
E = np.digitize(iris.data[:, 2], [2.5, 4, 5, 6])

# (A, B) and (A, E); from the pair counts (3362, 313, 338, 7162) and (2545, 1130, 288, 7212).
REFERENCE = {
    "rand": (0.941744966443, 0.873109619687),
    "ari": (0.868257105022, 0.694704779079),
    "jaccard": (0.837777224022, 0.642190259904),
    "czekanowski_dice": (0.911728813559, 0.782114320836),
    "fowlkes_mallows": (0.911734051920, 0.788743562543),
    "kulczynski": (0.911739290311, 0.795428994047),
    "precision": (0.908648648649, 0.898340981292),
    "recall": (0.914829931973, 0.692517006803),
    "hubert": (0.868268217198, 0.706409228428),
    "mcnemar": (-0.979827252087, -22.360112077755),
    "rogers_tanimoto": (0.889903602232, 0.774795521321),
    "russel_rao": (0.300850111857, 0.227740492170),
    "sokal_sneath_1": (0.720840480274, 0.472960416280),
    "sokal_sneath_2": (0.969998617448, 0.932256831645),
    "nmi": (0.857187188114, 0.731929698317),
}
SKLEARN = {
    "ari": metrics.adjusted_rand_score,
    "nmi": metrics.normalized_mutual_info_score,
    "rand": metrics.rand_score,
    "v_measure": metrics.v_measure_score,
    "ami": metrics.adjusted_mutual_info_score,
}
labels = st.integers(2, 40).flatmap(
    lambda n: st.tuples(*[st.lists(st.integers(-1, 5), min_size=n, max_size=n).map(np.array)] * 2)
)


@pytest.mark.parametrize("name", REFERENCE)
def test_reference_numbers(name):
    measured = SIMILARITIES[name](A, B), SIMILARITIES[name](A, E)
    np.testing.assert_allclose(measured, REFERENCE[name], rtol=1e-11)


def test_phi_and_matching_reference_numbers():
    assert SIMILARITIES["phi"](A, B) == pytest.approx(3.1448e-8, rel=1e-4)
    assert 1 - SIMILARITIES["matching"](A, B) == pytest.approx(0.0466666667)


def test_the_sixteen_and_the_extras_are_all_tested():
    extras = {"v_measure", "variation_of_information", "ami", "matching"}
    assert set(SIMILARITIES) - extras == {*REFERENCE, "phi"}
    assert len(set(SIMILARITIES) - extras) == 16


@pytest.mark.parametrize("name", SKLEARN)
@given(pair=labels)
def test_equal_to_sklearn(name, pair):
    assert SIMILARITIES[name](*pair) == pytest.approx(SKLEARN[name](*pair), abs=1e-12)


@given(pair=labels)
def test_fowlkes_mallows_equals_sklearn_where_pairs_are_together(pair):
    expected = metrics.fowlkes_mallows_score(*pair)
    # Two partitions into singletons are identical: 1 here, 0 in scikit-learn.
    if contingency(*pair).max() > 1:
        assert SIMILARITIES["fowlkes_mallows"](*pair) == pytest.approx(expected)


@given(pair=labels)
def test_variation_of_information_is_minus_the_conditional_entropies(pair):
    table = contingency(*pair) / len(pair[0])
    joint = table[table > 0]
    entropy = -(joint * np.log(joint)).sum()
    rows, columns = table.sum(axis=1), table.sum(axis=0)
    h_rows, h_columns = -(rows * np.log(rows)).sum(), -(columns * np.log(columns)).sum()
    expected = -(2 * entropy - h_rows - h_columns)
    assert SIMILARITIES["variation_of_information"](*pair) == pytest.approx(expected, abs=1e-9)


@pytest.mark.parametrize("name", SIMILARITIES)
@given(pair=labels)
def test_finite_and_blind_to_the_names_of_labels(name, pair):
    first, second = pair
    value = SIMILARITIES[name](first, second)
    assert np.isfinite(value)
    assert SIMILARITIES[name](10 - first, 3 * second) == pytest.approx(value, abs=1e-12)


CAN_BE_NEGATIVE = {"ari", "hubert", "phi", "mcnemar", "variation_of_information", "ami"}


@pytest.mark.parametrize("name", SIMILARITIES)
@given(pair=labels)
def test_flags(name, pair):
    measure = SIMILARITIES[name]
    first, second = pair
    if measure.identical_is_one:
        assert measure(first, 7 - first) == pytest.approx(1.0, abs=1e-12)
    if measure.symmetric:
        assert measure(first, second) == pytest.approx(measure(second, first), abs=1e-12)
    if name not in CAN_BE_NEGATIVE:
        assert measure(first, second) >= 0


@pytest.mark.parametrize("name", ["precision", "recall"])
def test_asymmetric_ones_are_asymmetric(name):
    assert not SIMILARITIES[name].symmetric
    assert SIMILARITIES[name](A, E) != SIMILARITIES[name](E, A)


def test_agreement_of_a_stack_is_the_stack_of_agreements():
    tables = np.random.default_rng(0).integers(0, 9, size=(4, 3, 5))
    stacked = Agreement.of_table(tables)
    for i, table in enumerate(tables):
        np.testing.assert_allclose([s[i] for s in stacked], Agreement.of_table(table))


def test_exact_for_a_million_points():
    first = np.arange(10**6) % 7
    second = np.where(np.arange(10**6) % 1000 == 0, 3, first)
    expected = metrics.adjusted_rand_score(first, second)
    assert compare_labels(first, second) == pytest.approx(expected, rel=1e-13)


def test_errors():
    with pytest.raises(ValueError, match=r"similarity must be one of \['ami', 'ari'.*'arj'"):
        resolve_similarity("arj")
    with pytest.raises(ValueError, match="shapes"):
        compare_labels([0, 1], [0, 1, 2])
    with pytest.raises(ValueError, match="must be finite"):
        resolve_similarity(lambda a, b: np.nan)([0], [0])


@pytest.mark.parametrize("name", SIMILARITIES)
def test_similarities_can_be_pickled(name):
    assert pickle.loads(pickle.dumps(SIMILARITIES[name])) is SIMILARITIES[name]


def test_similarities_of_users_can_be_pickled():
    own = resolve_similarity(metrics.adjusted_rand_score)
    copy = pickle.loads(pickle.dumps(own))
    assert copy == own
    assert copy(A, E) == own(A, E)
