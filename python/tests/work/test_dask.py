"""Dask's collections with `parvum.dask.get` as their scheduler."""

from __future__ import annotations

import os
from collections.abc import Iterator
from operator import add
from pathlib import Path

import pytest
import tasks

import parvum

dask = pytest.importorskip("dask")
pytestmark = pytest.mark.usefixtures("machine")


@pytest.fixture(scope="module")
def pool(machine: object) -> Iterator[parvum.Executor]:
    with parvum.Executor(2) as executor:
        yield executor


@pytest.fixture(autouse=True)
def scheduler(pool: parvum.Executor) -> Iterator[None]:
    from functools import partial

    import parvum.dask

    with dask.config.set(scheduler=partial(parvum.dask.get, executor=pool)):
        yield


def test_dask_get_computes_handmade_graph() -> None:
    import parvum.dask

    graph = {"a": 1, "b": (tasks.square, 3), "c": (add, "a", "b"), "d": (sum, ["a", "b", "c"])}
    assert parvum.dask.get(graph, "d", num_workers=1) == 20
    assert parvum.dask.get(graph, ["c", ["d"]], num_workers=1) == (10, (20,))


def test_delayed_calls_run_in_workers() -> None:
    places = dask.compute(*[dask.delayed(tasks.where, pure=False)() for _ in range(10)])
    assert os.getpid() not in {place[0] for place in places}
    total = dask.delayed(sum)([dask.delayed(tasks.square)(n) for n in range(100)])
    assert total.compute() == sum(n * n for n in range(100))


def test_dask_arrays_are_computed() -> None:
    numpy = pytest.importorskip("numpy")
    array = pytest.importorskip("dask.array")
    data = numpy.arange(1_000_000.0).reshape(1000, 1000)
    found = (array.from_array(data, chunks=(250, 500)).T @ array.ones((1000, 10), chunks=250)).sum(axis=0).compute()
    assert numpy.allclose(found, (data.T @ numpy.ones((1000, 10))).sum(axis=0))


def test_ready_tasks_go_to_all_workers(tmp_path: Path, pool: parvum.Executor) -> None:
    pool.wait_for_workers(2)
    # Each ends only when another worker has one too.
    found = dask.compute(*[dask.delayed(tasks.meet_in, pure=False)(str(tmp_path), 2) for _ in range(6)])
    assert len(set(found)) == 2


def test_dask_exception_shows_where_it_was_raised() -> None:
    with pytest.raises(KeyError, match="wrong") as caught:
        dask.delayed(tasks.fail)(KeyError, "wrong").compute()
    assert "raise kind(*args)" in str(caught.value.__cause__)


def test_dask_task_of_dead_worker_runs_again(tmp_path: Path) -> None:
    assert dask.delayed(tasks.die_until)(str(tmp_path / "n"), 2).compute() == 3
