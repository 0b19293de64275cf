"""Sizes of the experiments: the paper's settings, and a tiny version of them for tests."""

from __future__ import annotations

from dataclasses import dataclass

from stablek.datasets import list_benchmark

VERSION = 1
"""Part of the settings of every run. Raise it when the results of stablek change."""

TEST_VERSION = 5
"""Part of the settings of runs with the structure test. Raise it when that test changes."""


@dataclass(frozen=True)
class Protocol:
    """Sizes of all experiments. Settings that the paper fixes have the paper's values."""

    name: str
    benchmark: tuple[str, ...]
    algorithms: tuple[str, ...] = ("kmeans", "ward", "gmm", "gmm_best", "gmm_svd")
    k_max: int = 60
    n_init: int = 35
    n_init_resampled: int = 5  # for Gap, Hennig, Lange, Ben-Hur: they cluster hundreds of sets
    omega_max: int = 10
    n_perturbations: int = 10
    n_epsilons: int = 10
    seeds: tuple[int, ...] = (0, 1, 2)
    n_references: int = 100
    n_bootstraps: int = 100
    n_splits: int = 20
    n_pairs: int = 100

    distributions: tuple[str, ...] = ("uniform", "gaussian", "exponential", "student")
    dimensions: tuple[int, ...] = (1, 2, 3, 5, 10, 30)
    sizes: tuple[int, ...] = (200, 1000)
    separated: tuple[int, ...] = (1, 2, 3, 5, 10, 30, 128)
    unclustered: tuple[str, ...] = (
        "uniform_2d_1000",
        "uniform_10d_1000",
        "gaussian_2d_1000",
        "gaussian_10d_1000",
        "golfball",
    )
    n_samplings: int = 20
    unclustered_k_max: int = 10

    shapes: tuple[str, ...] = (
        "uniform",
        "gaussian",
        "exponential",
        "rotated_exponential",
        "log_normal",
        "student",
        "student3",
        "correlated",
        "ball",
        "sphere",
    )
    shape_dimensions: tuple[int, ...] = (1, 2, 3, 5, 10, 30, 100)
    n_shape_drawings: int = 50
    tested_rows: int = 2000  # the most that the test takes by default
    pair_dimensions: tuple[int, ...] = (1, 2, 3, 5, 10, 30, 64, 128)
    n_few_drawings: int = 10  # of pairs, and for Ward, mixtures and other methods
    structure_k_max: int = 20  # on the benchmark; else it is unclustered_k_max
    n_reference_sets: int = 50
    tested_settings: tuple[str, ...] = (
        *(f"{kind}_{p}d_200" for kind in ("uniform", "gaussian", "log_normal") for p in (2, 10)),
        *(f"rotated_pair_{d}_{p}d_200" for d in (3, 4) for p in (2, 10, 30)),
    )
    real: tuple[tuple[str, bool], ...] = (  # name, and whether to standardize
        ("load_digits", False),
        ("load_wine", True),
        ("load_breast_cancer", True),
        ("load_iris", False),
    )
    real_unlabeled: tuple[tuple[str, bool], ...] = (
        ("load_diabetes", True),
        ("china.jpg", False),
        ("flower.jpg", False),
    )
    real_k_max: int = 20
    n_subsamples: int = 10

    n_archetypes: int = 500
    n_archetypes_resampled: int = 100  # sets on which methods that resample run
    n_archetypes_mixtures: int = 500
    archetype_k_max: int = 25
    archetype_n_init: int = 10
    n_resamples: int = 20  # reference sets, bootstraps, pairs; half as many splits

    draws: tuple[int, ...] = tuple(range(1, 11))
    omegas: tuple[tuple[int, int], ...] = (
        (2, 2),
        (3, 3),
        (5, 5),
        (10, 10),
        (2, 5),
        (2, 10),
        (10, 20),
        (2, 20),
    )

    n_trees: int = 100

    examples: tuple[str, ...] = ("2d-4c", "4clusters_corner", "golfball")
    example_seeds: tuple[int, ...] = (0, 1, 2, 3, 4)
    example_size: int = 1000
    n_jumps: int = 60

    cost: tuple[tuple[str, tuple[int, ...]], ...] = (
        ("N", (1000, 2000, 4000, 8000, 16000)),
        ("K", (4, 8, 16, 32, 64)),
        ("K'", (3, 6, 12, 24)),
        ("D", (2, 4, 8, 16, 32)),
        ("M", (2, 4, 8, 16, 32)),
    )
    n_timings: int = 3
    timed: tuple[str, ...] = ("hepta", "R15", "DS-850", "fourty", "2d-4c", "dim032")
    timed_k_max: int = 20

    # The paper does not name its sixteen measures. We take ARI, NMI and the fourteen external
    # criteria of clusterCrit.
    measures: tuple[str, ...] = (
        "ari",
        "nmi",
        "rand",
        "jaccard",
        "fowlkes_mallows",
        "precision",
        "recall",
        "czekanowski_dice",
        "kulczynski",
        "rogers_tanimoto",
        "sokal_sneath_1",
        "sokal_sneath_2",
        "russel_rao",
        "hubert",
        "phi",
        "mcnemar",
    )


PAPER = Protocol(
    name="paper",
    benchmark=tuple(info.name for info in list_benchmark() if info.n_clusters > 1),
)

TINY = Protocol(
    name="tiny",
    benchmark=("three_gaussians_2d_60", "two_gaussians_3d_50"),
    algorithms=("kmeans", "ward", "gmm", "gmm_best"),  # gmm_svd takes long to compile
    k_max=4,
    n_init=2,
    n_init_resampled=1,
    omega_max=3,
    n_perturbations=2,
    n_epsilons=3,
    seeds=(0, 1),
    n_references=3,
    n_bootstraps=3,
    n_splits=2,
    n_pairs=3,
    distributions=("uniform", "gaussian"),
    dimensions=(1, 2),
    sizes=(40,),
    separated=(2,),
    unclustered=("uniform_2d_40",),
    n_samplings=2,
    unclustered_k_max=3,
    shapes=("gaussian", "sphere"),
    shape_dimensions=(1, 2),
    n_shape_drawings=2,
    tested_rows=60,
    pair_dimensions=(1, 2),
    n_few_drawings=1,
    structure_k_max=3,
    n_reference_sets=3,
    tested_settings=("gaussian_2d_40",),
    real=(("load_iris", False),),
    real_unlabeled=(("load_diabetes", True),),
    real_k_max=3,
    n_subsamples=2,
    n_archetypes=3,
    n_archetypes_resampled=1,
    n_archetypes_mixtures=2,
    archetype_k_max=21,
    archetype_n_init=4,  # with fewer, the structure test of Stadion has fewer starts too
    n_resamples=2,
    draws=(1, 2),
    omegas=((2, 2), (3, 3), (2, 3)),
    n_trees=5,
    examples=(),
    example_seeds=(0,),
    example_size=60,
    n_jumps=3,
    cost=(("N", (50, 100)), ("K", (2, 4))),
    n_timings=1,
    timed=("three_gaussians_2d_60",),
    timed_k_max=3,
    measures=("ari", "nmi", "mcnemar"),
)

PROTOCOLS = {protocol.name: protocol for protocol in (PAPER, TINY)}
