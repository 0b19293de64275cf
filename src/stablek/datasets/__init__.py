"""Data with a known answer: seeded generators, and the benchmark data sets of the paper."""

from stablek.datasets._benchmark import BenchmarkInfo, fetch_benchmark, list_benchmark
from stablek.datasets._generators import (
    make_correlated_gaussians,
    make_demo,
    make_exponential,
    make_gaussian,
    make_golf_ball,
    make_student,
    make_symmetric_triangle,
    make_three_gaussians,
    make_uniform,
)

__all__ = [
    "BenchmarkInfo",
    "fetch_benchmark",
    "list_benchmark",
    "make_correlated_gaussians",
    "make_demo",
    "make_exponential",
    "make_gaussian",
    "make_golf_ball",
    "make_student",
    "make_symmetric_triangle",
    "make_three_gaussians",
    "make_uniform",
]
