"""Large arguments: once per host, read-only, as they were when the call was submitted."""

from __future__ import annotations

import gc
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tasks

import parvum
from parvum.pool import store
from parvum.pool.calls import LARGE

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.usefixtures("machine")


@pytest.fixture(scope="module")
def pool(machine: object) -> Iterator[parvum.Executor]:
    with parvum.Executor(2) as executor:
        yield executor


def array(seed: int = 0, items: int = LARGE) -> Any:
    return numpy.random.default_rng(seed).random(items)


def test_array_is_stored_once_for_many_calls(pool: parvum.Executor) -> None:
    data = array()
    sums = list(pool.map(tasks.total, [data] * 20))
    assert sums == [float(data.sum())] * 20
    assert len(pool._pool.store.kept) == 1
    assert list(pool.map(tasks.total, [data.copy()] * 3)) == [float(data.sum())] * 3
    assert len(pool._pool.store.kept) == 1, "the same bytes are the same buffer"


def test_workers_map_pool_memory_read_only(pool: parvum.Executor) -> None:
    data = array(1)
    total, mapped = pool.submit(tasks.mapped_files, data).result()
    assert total == float(data.sum()) and mapped
    assert "read-only" in pool.submit(tasks.try_to_write, data).result()
    assert pool.submit(tasks.try_to_write, numpy.zeros(10)).result() == "written", "short ones are the call's own"


def test_call_sees_array_as_submitted(pool: parvum.Executor, tmp_path: Path) -> None:
    data = array(2)
    sent, expected = [], []
    for n in range(10):
        data[n] = n
        expected.append(float(data.sum()))
        sent.append(pool.submit(tasks.total, data))
    del data
    gc.collect()
    assert [future.result() for future in sent] == expected


def test_large_results_arrive_whole(pool: parvum.Executor) -> None:
    big = pool.submit(numpy.arange, 3_000_000).result()
    assert (big == numpy.arange(3_000_000)).all()
    several = pool.submit(tasks.many_arrays, 5).result()
    assert [int(a[0]) for a in several] == [0, 1, 2, 3, 4]


def test_unused_memory_of_store_is_freed(pool: parvum.Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(store, "SPARE", 0)
    pool.submit(tasks.total, array(3)).result()
    before = len(os.listdir("/proc/self/fd"))
    for seed in range(4, 10):
        pool.submit(tasks.total, array(seed)).result()
    assert not pool._pool.store.kept
    assert len(os.listdir("/proc/self/fd")) == before


def test_shared_object_is_pickled_once(pool: parvum.Executor) -> None:
    data = array(11)
    handle = parvum.share({"data": data, "name": "x"})
    assert list(pool.map(tasks.name_and_total, [handle] * 10)) == [("x", float(data.sum()))] * 10
    same = {pool.submit(tasks.identity_of, handle).result() for _ in range(20)}
    assert len(same) <= 2, "one object per worker"


def test_shared_object_outlives_its_handle_in_calls(pool: parvum.Executor, tmp_path: Path) -> None:
    go = [pool.submit(tasks.wait_for, str(tmp_path / "go")) for _ in range(2)]
    data = array(12)
    later = pool.submit(tasks.name_and_total, parvum.share({"data": data, "name": "y"}))
    gc.collect()
    (tmp_path / "go").touch()
    assert later.result() == ("y", float(data.sum()))
    assert all(future.result() for future in go)
