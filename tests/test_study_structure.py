"""The study's experiment on the structure test: its data, its order of work and its tables."""

import sys
from itertools import groupby
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

sys.path.insert(0, str(Path(__file__).parent.parent))

from stablek import structure_test
from study import data
from study.experiments import structure, structure_settings
from study.plan import Task, tasks_of
from study.protocol import PAPER, TINY
from study.report import structure as report
from study.report import structure_settings as settings_report


def task(dataset, fit, seed=0, algorithm="kmeans", **common):
    common = {"standardize": False, "k_max": 4, "alpha": 0.05, "n_reference_sets": 3, **common}
    return Task(structure.NAME, dataset, algorithm, fit, seed, common, [])


def row(dataset, method="test", seed=0, algorithm="kmeans", k=pd.NA, **details):
    where = {"experiment": structure.NAME, "dataset": dataset, "algorithm": algorithm}
    return {**where, "method": method, "seed": seed, "k": k, "seconds": 1.0, "details": details}


def tables(*rows, protocol=PAPER):
    blocks = report.section(pd.DataFrame(rows), protocol)
    return {block.name: block for block in blocks if isinstance(block, report.Table)}


def test_shapes_are_what_their_names_say():
    def points(name):
        return data.load(name, 3, standardize=False)[0]

    np.testing.assert_allclose(np.linalg.norm(points("sphere_4d_50"), axis=1), 1.0)
    radii = np.linalg.norm(points("ball_3d_4000"), axis=1)
    assert radii.max() <= 1.0
    assert np.mean(radii < 0.5) == pytest.approx(0.5**3, abs=0.02)
    correlations = np.corrcoef(points("correlated_5d_4000").T)[np.triu_indices(5, 1)]
    np.testing.assert_allclose(correlations, 0.9, atol=0.02)
    assert np.log(points("log_normal_2d_4000")).std() == pytest.approx(1.0, abs=0.05)
    turned = points("rotated_exponential_10d_4000")
    turned = turned - turned.mean(axis=0)
    np.testing.assert_allclose(np.cov(turned.T), np.eye(10), atol=0.2)
    # Exponential features have skewness 2; mixtures of ten of them have less. Mardia's skewness
    # does not depend on the rotation: 4 for each feature.
    assert np.abs((turned**3).mean(axis=0)).max() < 1.6
    assert ((turned @ turned.T) ** 3).mean() == pytest.approx(40.0, rel=0.25)


@pytest.mark.parametrize("distance", [3, 8])
def test_rotated_pairs_are_that_far_apart_in_another_direction_each_time(distance):
    directions = []
    for seed in (0, 1):
        X, y = data.load(f"rotated_pair_{distance}_10d_4000", seed, standardize=False)
        directions.append(X[y == 1].mean(axis=0) - X[y == 0].mean(axis=0))
        inside = X - np.outer(y, directions[-1])
        np.testing.assert_allclose(np.cov(inside.T), np.eye(10), atol=0.12)
    lengths = np.linalg.norm(directions, axis=1)
    np.testing.assert_allclose(lengths, distance, atol=0.15)
    assert abs(directions[0] @ directions[1]) < 0.95 * lengths.prod()


def test_every_shape_of_the_paper_plan_can_be_drawn():
    for name in structure.shapes(PAPER):
        n_features, n_samples = data.size(name)
        if n_samples == 200:
            X, _ = data.load(name, 1, standardize=False)
            assert X.shape == (n_samples, n_features)
            assert np.linalg.matrix_rank(X) == n_features
    assert "sphere_1d_200" not in structure.shapes(PAPER)


def test_a_partial_run_is_balanced():
    tasks = sorted(tasks_of(structure.plan(PAPER)), key=structure.order)
    shapes = [
        each
        for each in tasks
        if each.fit == "test"
        and each.algorithm == "kmeans"
        and each.dataset.endswith("_200")
        and each.dataset in set(structure.shapes(PAPER))
        and data.size(each.dataset)[0] < 100
    ]
    assert tasks[: len(shapes) // 5] == shapes[: len(shapes) // 5]
    rounds = [(seed, len(list(group))) for seed, group in groupby(shapes, lambda t: t.seed)]
    assert rounds == [(seed, len(shapes) // 50) for seed in range(50)]
    blocks = [each.seed // 10 for each in tasks]
    assert blocks == sorted(blocks)


# The test of mixtures is that of Stadion: 40 points are too few for the mixture's own partitions.
@pytest.mark.parametrize(
    ("algorithm", "n", "own"), [("kmeans", 40, None), ("gmm", 60, "gmm"), ("gmm", 40, None)]
)
def test_rows_of_the_test_are_those_of_structure_test(algorithm, n, own):
    name = f"gaussian_2d_{n}"
    outcome = structure.compute(task(name, "test", 2, algorithm))["test"]
    X, _ = data.load(name, 2, standardize=False)
    clusterer = None if own is None else data.clusterer(own)
    found = structure_test(X, clusterer, k_range=range(2, 5), n_reference_sets=3, random_state=2)
    assert outcome["details"] == {"pvalue": found.pvalue, "pvalues": found.pvalues, "n_sets": 3}


def test_default_stadion_answers_1_exactly_if_the_test_does_not_reject():
    for name in ("gaussian_2d_60", "rotated_pair_8_2d_60"):
        outcome = structure.compute(task(name, "stadion", n_reference_sets=6))["stadion"]
        assert (outcome["k"] == 1) == (outcome["details"]["pvalue"] >= structure.ALPHA)


def test_the_dip_test_looks_along_the_first_component():
    pytest.importorskip("diptest")
    pvalues = {
        name: structure.compute(task(name, "dip"))["dip"]["details"]["pvalue"]
        for name in ("rotated_pair_8_10d_200", "gaussian_10d_200")
    }
    assert pvalues["rotated_pair_8_10d_200"] < 0.001 < 0.05 < pvalues["gaussian_10d_200"]


def test_false_alarms_and_their_binomial_tests_by_hand():
    rows = [
        *(row("uniform_2d_200", seed=i, pvalue=0.04 if i < 2 else 0.5) for i in range(2)),
        *(row("gaussian_2d_200", seed=i, pvalue=0.05) for i in range(2)),  # 0.05 is no alarm
        row("ball_3d_1000", pvalue=0.2),
    ]
    found = tables(*rows)
    [first, second] = found["structure_summary"].rows
    # Two alarms of four: 6 q^2 (1 - q)^2 + 4 q^3 (1 - q) + q^4 for q = 0.05.
    assert first == [
        "K-means",
        200,
        "2 of 4",
        "0.0%",
        "50.0%",
        "100.0%",
        pytest.approx(0.01401875),
        "1 of 2",
        1,
    ]
    assert second[2:] == ["0 of 1", "0.0%", "0.0%", "0.0%", 1.0, "0 of 1", 0]
    # Two of two have probability 0.0025, which Holm multiplies by the three cells.
    assert found["structure_alarms_kmeans"].rows == [
        [200, "normal", "0 of 2", None],
        [200, "uniform", "2 of 2‡", None],
        [1000, "ball", None, "0 of 1"],
    ]


def test_holm_counts_the_cells_of_a_clusterer():
    frame = pd.DataFrame(
        [
            {"algorithm": algorithm, "n": 200, "kind": kind, "p": p, "found": kind == "uniform"}
            for algorithm, kinds in (("kmeans", ("uniform", "ball")), ("ward", ("uniform",)))
            for kind in kinds
            for p in (1, 2)
        ]
    )
    cells = report.cells(frame)
    alarms = cells[cells["sum"] == 1]
    np.testing.assert_allclose(alarms["pvalue"], 0.05)
    np.testing.assert_allclose(alarms["holm"], [0.2, 0.2, 0.1, 0.1])


def test_power_counts_each_method_in_its_own_way():
    pair = "rotated_pair_4_30d_200"
    found = tables(
        row(pair, pvalue=0.01),
        row(pair, seed=1, pvalue=0.3),
        row("rotated_pair_3_30d_200", pvalue=0.3),
        row(pair, "dip", pvalue=0.01),
        row(pair, "gap_a", k=3),
        row(pair, "gap_b", k=pd.NA),  # no answer finds nothing
        row(pair, "crossing", k=1),
    )["structure_power"]
    shares = {(name, distance): share for name, _, distance, share, _ in found.rows}
    assert shares == {
        ("structure test", 3.0): "0 of 1",
        ("structure test", 4.0): "1 of 2",
        ("the paper's rule", 4.0): "0 of 1",
        ("Gap statistic (A)", 4.0): "1 of 1",
        ("Gap statistic (B)", 4.0): "0 of 1",
        ("dip test, first component", 4.0): "1 of 1",
    }
    assert "test finds 1 of 2 (50.0%) at distance 4 with N = 200." in found.note


def test_missed_benchmark_sets_are_named_and_answers_counted():
    [first, second] = TINY.benchmark
    found = tables(
        row(first, pvalue=0.001),
        row(second, pvalue=0.31),
        *(row("load_iris", "stadion", seed=i, k=k, pvalue=0.001) for i, k in enumerate((2, 2, 3))),
        protocol=TINY,
    )
    assert found["structure_benchmark"].rows == [["structure test", "1 of 2", "50.0%"]]
    assert f"finds none in: {second} (p = 0.31)." in found["structure_benchmark"].note
    assert found["structure_known"].rows == [["load_iris", "more", "2 (2), 3 (1)", 0.001, 0.001]]


def test_settings_of_the_test_differ_one_at_a_time():
    found = structure_settings.variants()
    assert found.pop("default") == structure_settings.DEFAULT
    for name, options in found.items():
        key, _, value = name.partition("=")
        assert options == {**structure_settings.DEFAULT, key: int(value)}
        assert options[key] != structure_settings.DEFAULT[key]


def test_rows_of_a_setting_are_those_of_structure_test():
    options = {"n_reference_sets": 3, "n_epsilons": 4, "n_perturbations": 2}
    common = {"alpha": 0.05, "k_max": 4, **options}
    one = Task(structure_settings.NAME, "gaussian_2d_40", "kmeans", "default", 2, common, [])
    outcome = structure_settings.compute(one)["default"]
    X, _ = data.load("gaussian_2d_40", 2, standardize=False)
    found = structure_test(X, k_range=range(2, 5), random_state=2, **options)
    assert outcome["details"]["pvalue"] == found.pvalue


def test_settings_are_compared_on_the_same_drawings():
    def rows(dataset, seed, **pvalues):
        base = row(dataset, seed=seed) | {"experiment": structure_settings.NAME}
        return [
            base | {"method": name, "details": {"pvalue": p}, "seconds": 2.0 if "=" in name else 1}
            for name, p in pvalues.items()
        ]

    more = "n_epsilons=20"
    given = [
        *rows("gaussian_2d_200", 0, **{"default": 0.5, more: 0.04}),
        *rows("gaussian_2d_200", 1, **{"default": 0.5, more: 0.6}),
        *rows("gaussian_2d_200", 2, **{"default": 0.001}),  # not tested by the other setting
        *rows("rotated_pair_4_2d_200", 0, **{"default": 0.2, more: 0.005}),
    ]
    blocks = list(settings_report.section(pd.DataFrame(given), PAPER))
    assert "3 drawings of 200 points: 2 without clusters and 1 pairs" in blocks[0]
    first, second = blocks[1].rows
    assert first == ["defaults", "0%", "0%", "0%", "0%", "0%", "0%", 0, 1.0]
    assert second == ["20 noise levels", "0%", "50%", "50%", "100%", "100%", "100%", 2, 2.0]


def test_figure_of_false_alarms_shows_every_method_and_clusterer():
    given = [
        row("gaussian_2d_200", pvalue=0.5),
        row("gaussian_2d_200", algorithm="gmm", pvalue=0.01),
        row("gaussian_2d_200", method="gap_a", k=3),
        row("gaussian_2d_1000", method="gap_b", k=3),  # another size
    ]
    blocks = report.section(pd.DataFrame(given), PAPER)
    [drawing] = [block for block in blocks if getattr(block, "name", "") == "structure_alarms"]
    [ax] = drawing.draw().axes
    heights = {line.get_label(): list(line.get_ydata()) for line in ax.get_lines()[:-1]}
    assert heights == {
        "structure test": [0.0],
        "structure test, GMM": [1.0],
        "Gap statistic (A)": [1.0],
    }
