"""The generator of the study, and its experiments on harder and on real data."""

import sys
from collections import Counter
from dataclasses import replace
from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.metrics import adjusted_rand_score

sys.path.insert(0, str(Path(__file__).parent.parent))

from stablek import Stadion
from study import data, generator
from study.experiments import harder, real, seconds
from study.generator import Archetype
from study.plan import tasks_of
from study.protocol import PAPER, TINY
from study.report import cost
from study.report import harder as report

EASY = Archetype(
    n_clusters=4,
    overlap=0.01,
    n_features=3,
    distribution="normal",
    aspect=1.0,
    imbalance=1.0,
    radius_ratio=1.0,
    n_samples=400,
)


def test_the_design_is_balanced_and_so_are_its_first_sets():
    design = generator.design()
    assert len(design) == PAPER.n_archetypes == 500
    assert set(Counter(each.n_clusters for each in design).values()) == {25}
    for n_sets in (60, 500):
        first = generator.design(n_sets)
        assert first == design[:n_sets]
        for name, values in generator.LEVELS.items():
            if name == "n_samples":  # more points where there are many clusters
                continue
            counts = Counter(getattr(each, name) for each in first)
            assert set(counts) == set(values)
            assert max(counts.values()) - min(counts.values()) <= 1
    assert all(each.n_samples >= 30 * each.n_clusters for each in design)


def test_factors_of_the_design_are_unrelated():
    frame = pd.DataFrame([vars(each) for each in generator.design()])
    frame["distribution"] = frame["distribution"].map(generator.DISTRIBUTIONS.index)
    ranks = frame.drop(columns="n_samples").corr("spearman").to_numpy()
    assert np.abs(ranks[np.triu_indices(len(ranks), 1)]).max() < 0.15


@pytest.mark.parametrize("number", [0, 3, 5, 6, 17])
def test_the_largest_overlap_is_the_chosen_one(number):
    """Each cluster has a neighbor at exactly the overlap, and none is closer."""
    archetype = replace(generator.design()[number], n_clusters=6)
    found = generator.draw(archetype, 1)
    z = stats.norm.isf(archetype.overlap / 2.0)
    gaps = np.full((6, 6), np.inf)
    for a, b in combinations(range(6), 2):
        gap = found.centers[b] - found.centers[a]
        gaps[a, b] = gaps[b, a] = generator.separation(
            gap, found.covariances[a], found.covariances[b]
        )
    np.testing.assert_allclose(gaps.min(axis=1), z)


def test_separation_by_hand():
    """Round clusters: half the distance in deviations. Unequal ones share it by their width."""
    gap, one = np.array([4.0, 0.0]), np.eye(2)
    assert generator.separation(gap, one, one) == pytest.approx(2.0)
    assert generator.separation(gap, 9.0 * one, one) == pytest.approx(1.0)


def test_the_overlap_is_the_share_of_points_beyond_the_boundary():
    archetype = replace(EASY, n_clusters=2, overlap=0.1, n_features=2, n_samples=40_000)
    found = generator.draw(replace(archetype, aspect=3.0, radius_ratio=2.0), 0)
    first, second = found.covariances
    axis = np.linalg.solve(first + second, found.centers[1] - found.centers[0])
    spreads = [np.sqrt(axis @ each @ axis) for each in found.covariances]
    along = (found.X - found.centers[0]) @ axis
    border = (found.centers[1] - found.centers[0]) @ axis * spreads[0] / sum(spreads)
    beyond = np.mean(along[found.y == 0] > border) + np.mean(along[found.y == 1] < border)
    assert beyond == pytest.approx(0.1, abs=0.005)


@pytest.mark.parametrize("distribution", generator.DISTRIBUTIONS)
def test_clusters_have_the_shape_of_their_recipe(distribution):
    archetype = replace(
        EASY,
        distribution=distribution,
        aspect=5.0,
        imbalance=4.0,
        radius_ratio=3.0,
        n_samples=80_000,
    )
    found = generator.draw(archetype, 2)
    sizes = np.bincount(found.y)
    assert sizes.sum() == len(found.X) == 80_000
    assert sizes.max() / sizes.min() == pytest.approx(4.0, rel=0.01)
    radii = []
    for label, covariance in enumerate(found.covariances):
        own = found.X[found.y == label]
        np.testing.assert_allclose(own.mean(axis=0), found.centers[label], atol=0.15)
        np.testing.assert_allclose(np.cov(own.T), covariance, atol=0.1 * np.trace(covariance))
        axes = np.sqrt(np.linalg.eigvalsh(covariance))
        assert axes[-1] / axes[0] == pytest.approx(5.0)
        radii.append(np.exp(np.log(axes).mean()))
    assert max(radii) / min(radii) == pytest.approx(3.0)
    own = found.X[found.y == 0] @ np.linalg.inv(np.linalg.cholesky(found.covariances[0])).T
    kurtosis = (own - own.mean(axis=0)) ** 4
    assert (kurtosis.mean() > 3.3) == (distribution != "normal")


def test_the_same_seed_gives_the_same_points():
    first, again, other = (generator.draw(EASY, seed).X for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)
    X, y = data.load("archetype_007", standardize=False)
    assert (X.shape[1], len(X)) == data.size("archetype_007")
    assert len(np.unique(y)) == generator.named("archetype_007").n_clusters


def test_the_truth_labels_clear_clusters():
    clear = generator.draw(replace(EASY, overlap=1e-12), 0)
    for labels in (clear.by_centers(), clear.by_components()):
        np.testing.assert_array_equal(labels, clear.y)
    # Clusters of one width: an even boundary. Long ones need the components.
    long = generator.draw(replace(EASY, aspect=8.0, n_features=2, n_samples=2000), 0)
    nearest, likeliest = long.by_centers(), long.by_components()
    assert adjusted_rand_score(long.y, likeliest) > adjusted_rand_score(long.y, nearest) + 0.05


@pytest.mark.parametrize("algorithm", harder.ALGORITHMS)
@pytest.mark.parametrize("number", [0, 1])
def test_the_shared_test_gives_the_answers_of_the_default(number, algorithm):
    """The structure test is run once for K-means and Ward. Stadion itself answers the same."""
    dataset = f"archetype_{number:03d}"
    tasks = tasks_of(harder.plan(TINY))
    [task] = [
        each
        for each in tasks
        if (each.dataset, each.algorithm, each.fit) == (dataset, algorithm, "stadion")
    ]
    found = harder.compute(task)
    X, y = data.load(dataset)
    model = Stadion(
        data.clusterer(algorithm, TINY.archetype_n_init),
        k_range=range(1, TINY.archetype_k_max + 1),
        n_reference_sets=TINY.n_reference_sets,
        random_state=0,
    ).fit(X)
    for method, aggregation in zip(harder.DEFAULT, ("max", "mean"), strict=True):
        assert found[method]["k"] == model.reselect(aggregation=aggregation).best_value
        assert found[method]["details"]["pvalue"] == model.structure_pvalue_
    aris = [adjusted_rand_score(y, labels) for labels in model.reference_labels_]
    np.testing.assert_allclose(found["oracle"]["details"]["ari"], aris, atol=1e-4)
    assert found["oracle"]["k"] == generator.named(dataset).n_clusters


def test_a_partial_run_has_all_algorithms_and_the_first_sets():
    tasks = sorted(tasks_of(harder.plan(PAPER)), key=harder.order)
    places = {str(each): at for at, each in enumerate(tasks)}

    def place(number, algorithm, fit):
        return places[f"harder · archetype_{number:03d} · {algorithm} · {fit} · seed 0"]

    assert place(99, "ward", "judge") < place(0, "gmm_best", "judge")
    assert place(39, "gmm_best", "stadion") < place(100, "ward", "judge")
    assert place(499, "ward", "judge") < place(40, "gmm_best", "judge")


def row(dataset, method, k, algorithm="kmeans", **details):
    where = {"experiment": harder.NAME, "dataset": dataset, "algorithm": algorithm, "seed": 0}
    return {**where, "method": method, "k": k, "seconds": 1.0, "details": details}


def test_sets_without_hope_are_counted_apart():
    names = [f"archetype_{number:03d}" for number in range(4)]
    rows = []
    for at, name in enumerate(names):
        truth = generator.named(name).n_clusters
        aris = [0.5] * 25
        aris[truth - 1] = 0.9
        attainable = 0.3 if at == 3 else 0.95
        rows.append(row(name, "oracle", truth, ari=aris, attainable=attainable))
        rows.append(row(name, harder.DEFAULT[0], truth))
        rows.append(row(name, "dunn", truth + 1))
        rows.append(row(name, "silhouette", truth if at else pd.NA))
    blocks = list(report.section(pd.DataFrame(rows), PAPER))
    tables = {block.name: block for block in blocks if hasattr(block, "rows")}
    [kmeans, *_] = tables["harder_sets"].rows
    assert kmeans == ["K-means", "4 of 500", 3, 1, "1 of 1", 0]
    found = {line[0]: line[1:] for line in tables["harder_kmeans"].rows}
    assert found["Stadion-max (default of stablek)"][:3] == [3, 1.0, "0.900"]
    assert found["Dunn"][:3] == [0, 0.0, "0.500"]
    assert found["Dunn"][4:6] == [0, 3]
    # No answer counts as no win and ARI 0, and neither as too few nor as too many.
    assert found["Silhouette"][:3] == [2, pytest.approx(2 / 3), "0.600"]
    assert found["Silhouette"][4:6] == [0, 0]


def test_algorithms_are_compared_on_the_sets_that_they_share():
    rows = []
    for at in range(10):
        name = f"archetype_{at:03d}"
        truth = generator.named(name).n_clusters
        for algorithm, ari, attainable in (
            ("kmeans", 0.5, 0.3 if at < 3 else 0.9),  # too hard for K-means three times
            ("ward", 0.6, 0.9),
            ("gmm_best", 0.7, 0.9),
        ):
            if algorithm == "gmm_best" and at >= 4:
                continue  # run on few sets only
            aris = [ari] * 25
            rows.append(row(name, "oracle", truth, algorithm, ari=aris, attainable=attainable))
            rows.append(row(name, harder.DEFAULT[0], truth, algorithm))
    blocks = list(report.section(pd.DataFrame(rows), PAPER))
    [table] = [block for block in blocks if getattr(block, "name", "") == "harder_algorithms"]
    assert list(table.columns) == ["factor", "level", "sets", "K-means", "Ward"]
    assert table.rows[0] == ["all sets", "", 7, "0.50", "0.60"]
    assert "On the 1 sets that all algorithms have" in table.note


def test_real_sets_without_classes_have_no_labels():
    for name, standardize in PAPER.real:
        assert len(np.unique(data.load(name, 0, standardize)[1])) in (2, 3, 10)
    for name, standardize in PAPER.real_unlabeled:
        X, y = data.load(name, 0, standardize)
        assert y is None
        assert X.shape[::-1] == data.size(name)


def test_subsamples_and_partitions_of_real_data():
    tasks = {(t.dataset, t.algorithm, t.fit): t for t in tasks_of(real.plan(TINY))}
    counts = real.compute(tasks["load_iris", "kmeans", "subsamples"])["subsamples"]["details"]
    assert sum(counts.values()) == TINY.n_subsamples
    found = real.compute(tasks["load_iris", "ward", "stadion"])[harder.DEFAULT[0]]
    X, y = data.load("load_iris", 0, False)
    labels = data.clusterer("ward").set_params(n_clusters=found["k"]).fit_predict(X)
    assert found["details"]["ari"] == pytest.approx(adjusted_rand_score(y, labels), abs=1e-4)


def test_every_method_is_timed_by_its_cpu():
    runs = list(seconds.plan(TINY))
    assert {run.algorithm for run in runs} == {"kmeans", "ward", "gmm_best"}
    rows = [
        {
            "experiment": "seconds",
            "dataset": d,
            "algorithm": "ward",
            "method": "dunn",
            "seconds": s,
        }
        for d, s in (("a", 1.0), ("b", 5.0), ("c", 2.0))
    ]
    [table] = cost._methods(pd.DataFrame(rows), TINY)
    assert table.rows == [["Ward", "Dunn", 3, 2.0, 5.0]]
