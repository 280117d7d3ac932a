"""joblib over the machine, and scikit-learn over joblib, unchanged."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
import tasks

import parvum

joblib = pytest.importorskip("joblib")
pytestmark = pytest.mark.usefixtures("machine")


@pytest.fixture(autouse=True)
def backend(machine: object) -> Iterator[None]:
    import parvum.joblib

    parvum.joblib.register()
    with joblib.parallel_backend("parvum", n_jobs=2):
        yield


@pytest.fixture(scope="module", autouse=True)
def no_worker_is_left() -> Iterator[None]:
    yield
    import parvum.joblib

    parvum.joblib.shutdown()


def test_joblib_returns_results_in_order() -> None:
    assert joblib.Parallel()(joblib.delayed(tasks.square)(n) for n in range(500)) == [n * n for n in range(500)]


def test_joblib_returns_results_as_generator() -> None:
    if not hasattr(joblib, "parallel_config"):
        pytest.skip("joblib gives results as a generator from 1.3 on")
    found = joblib.Parallel(return_as="generator")(joblib.delayed(tasks.square)(n) for n in range(50))
    assert list(found) == [n * n for n in range(50)]


def test_joblib_calls_run_in_persistent_workers() -> None:
    first = set(joblib.Parallel()(joblib.delayed(tasks.where)() for _ in range(20)))
    second = set(joblib.Parallel()(joblib.delayed(tasks.where)() for _ in range(20)))
    assert len(first | second) <= 2


def test_joblib_sends_lambdas_with_cloudpickle() -> None:
    pytest.importorskip("cloudpickle")
    assert joblib.Parallel()(joblib.delayed(lambda x: x + 1)(n) for n in range(5)) == [1, 2, 3, 4, 5]


def test_joblib_exception_reaches_the_caller() -> None:
    with pytest.raises(KeyError, match="wrong"):
        joblib.Parallel()(joblib.delayed(tasks.fail)(KeyError, "wrong") for _ in range(10))
    assert joblib.Parallel()(joblib.delayed(tasks.square)(n) for n in range(3)) == [0, 1, 4]


def test_joblib_times_out(tmp_path: Path) -> None:
    import multiprocessing

    try:
        # What joblib raises with every backend from 1.3 on; before, with most of them.
        with pytest.raises((multiprocessing.TimeoutError, TimeoutError)):
            joblib.Parallel(timeout=0.2)(joblib.delayed(tasks.wait_for)(str(tmp_path / "go")) for _ in range(2))
    finally:
        (tmp_path / "go").touch()


@pytest.mark.parametrize("inner", [1, 3, 2])
def test_joblib_limits_inner_threads_per_call(inner: int) -> None:
    if not hasattr(joblib, "parallel_config"):
        pytest.skip("joblib has inner_max_num_threads in parallel_config from 1.3 on")
    with joblib.parallel_config("parvum", n_jobs=2, inner_max_num_threads=inner):
        found = joblib.Parallel()(joblib.delayed(tasks.limits)() for _ in range(2))
    assert all(set(one.values()) == {str(inner)} for one in found), found


def test_pool_limits_inner_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in tasks.limits():
        monkeypatch.delenv(name, raising=False)
    processors = sum(host.cpus for host in parvum.enrol().hosts())
    for workers, more, limit in ((2, {}, max(1, processors // 2)), (1, {"inner_threads": 5}, 5), (1, {"env": {"OMP_NUM_THREADS": "7"}}, 7)):
        with parvum.Executor(workers, **more) as pool:
            assert pool.submit(tasks.limits).result()["OMP_NUM_THREADS"] == str(limit)
    monkeypatch.setenv("OMP_NUM_THREADS", "9")
    with parvum.Executor(1) as pool:
        assert pool.submit(tasks.limits).result()["OMP_NUM_THREADS"] == "9", "what the program has set stays"
    with pytest.raises(ValueError, match="inner_threads"):
        parvum.Executor(1, inner_threads=0)


def test_joblib_call_survives_worker_death(tmp_path: Path) -> None:
    assert joblib.Parallel()([joblib.delayed(tasks.die_until)(str(tmp_path / "n"), 2)]) == [3]


def test_joblib_accepts_an_executor() -> None:
    with parvum.Executor(2) as pool:
        # One worker would be none for joblib: it runs the calls itself then.
        pool.wait_for_workers(2)
        with joblib.parallel_backend("parvum", executor=pool):
            processes = {place[0] for place in joblib.Parallel()(joblib.delayed(tasks.where)() for _ in range(9))}
        assert processes <= set(pool.pids)


def test_joblib_calls_may_use_joblib() -> None:
    assert joblib.Parallel()(joblib.delayed(tasks.squares_by_joblib)(n) for n in (3, 4)) == [[0, 1, 4], [0, 1, 4, 9]]


def test_grid_search_result_is_that_of_other_backends() -> None:
    pytest.importorskip("sklearn")
    from sklearn.datasets import load_iris
    from sklearn.model_selection import GridSearchCV
    from sklearn.svm import SVC

    x, y = load_iris(return_X_y=True)
    grid = {"C": [0.1, 1, 10], "kernel": ["linear", "rbf"]}
    here = GridSearchCV(SVC(), grid, cv=3, n_jobs=2).fit(x, y)
    with joblib.parallel_backend("sequential"):
        alone = GridSearchCV(SVC(), grid, cv=3).fit(x, y)
    assert here.best_params_ == alone.best_params_ and here.best_score_ == alone.best_score_
    assert list(here.cv_results_["mean_test_score"]) == list(alone.cv_results_["mean_test_score"])
