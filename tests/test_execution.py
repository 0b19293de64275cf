"""Parallel work: results in order, one BLAS thread during a fit, limits lifted afterwards."""

import threading

import joblib
import numpy as np
import pytest
import scipy.linalg  # noqa: F401  loads the BLAS of SciPy
from threadpoolctl import threadpool_info, threadpool_limits

from stablek.execution import run


def blas_threads():
    return [lib["num_threads"] for lib in threadpool_info() if lib["user_api"] == "blas"]


@pytest.mark.parametrize("backend", ["loky", "threading", "multiprocessing", "sequential"])
def test_results_are_in_order_with_every_backend_of_joblib(backend):
    with joblib.parallel_config(backend=backend, n_jobs=2):
        assert run(pow, [(2, 3), (3, 2), (5, 1)]) == [8, 9, 5]


def test_overlapping_runs_have_one_blas_thread_and_lift_the_limit_at_the_end():
    """The first run ends while the second goes on: the second must still have one thread."""
    first_is_in, second_is_in, first_is_out = (threading.Event() for _ in range(3))
    seen = {}

    def first():
        first_is_in.set()
        second_is_in.wait(10)
        seen["first"] = blas_threads()

    def second():
        second_is_in.set()
        first_is_out.wait(10)
        seen["second"] = blas_threads()

    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        assert before
        assert set(before) == {2}
        one = threading.Thread(target=run, args=(first, [()]))
        two = threading.Thread(target=run, args=(second, [()]))
        one.start()
        first_is_in.wait(10)
        two.start()
        one.join(10)
        first_is_out.set()
        two.join(10)
        assert seen == {"first": [1] * len(before), "second": [1] * len(before)}
        assert blas_threads() == before


def test_a_failing_run_lifts_the_limit():
    with threadpool_limits(2, user_api="blas"):
        with pytest.raises(np.linalg.LinAlgError):
            run(np.linalg.inv, [(np.zeros((2, 2)),)])
        assert set(blas_threads()) == {2}
