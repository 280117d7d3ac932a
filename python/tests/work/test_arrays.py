"""Arrays of `parvum.empty`: calls pass them without a copy, and see them as they were when the call was submitted."""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import tasks

import parvum
from parvum import arrays

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.usefixtures("machine")

ITEMS = 100_000


@pytest.fixture(scope="module")
def pool(machine: object) -> Iterator[parvum.Executor]:
    with parvum.Executor(2) as executor:
        yield executor


def filled(value: float, items: int = ITEMS) -> Any:
    array = parvum.empty(items)
    array[:] = value
    return array


def memory_of(pool: parvum.Executor, array: Any) -> str:
    total, memory = pool.submit(tasks.memory_of, array).result()
    assert total == float(array.sum())
    return memory


def test_worker_maps_the_memory_of_the_array_itself(pool: parvum.Executor) -> None:
    array = filled(2)
    own = os.fstat(arrays._regions[array.__array_interface__["data"][0]].place).st_ino
    assert memory_of(pool, array) == f"/memfd:parvum-array (deleted) {own}"
    assert "memfd:parvum-pool" in memory_of(pool, numpy.full(ITEMS, 2.0)), "another array is copied"
    assert "read-only" in pool.submit(tasks.try_to_write, array).result()


def test_call_sees_the_array_as_submitted(pool: parvum.Executor, tmp_path: Path) -> None:
    array = filled(1)
    go = str(tmp_path / "go")
    before = pool.submit(tasks.total_after, go, array)
    array[:10] = 5
    changed = pool.submit(tasks.total_after, go, array)
    array[:] = 0
    Path(go).touch()
    assert before.result() == ITEMS and changed.result() == ITEMS + 40
    assert array.sum() == 0
    assert pool.submit(tasks.total, array).result() == 0


def test_unchanged_array_is_passed_again_in_the_same_memory(pool: parvum.Executor) -> None:
    array = filled(3)
    first = memory_of(pool, array)
    assert array.sum() == 3 * ITEMS, "reading changes nothing"
    assert memory_of(pool, array) == first
    array[-1] = 4
    second = memory_of(pool, array)
    assert "memfd:parvum-pool" in second, "a changed array is copied as any other"
    assert memory_of(pool, array) == second and not arrays._regions
    array[-1] = 3
    assert pool.submit(tasks.total, array).result() == 3 * ITEMS


def test_parts_and_other_orders_arrive_right(pool: parvum.Executor) -> None:
    table = parvum.empty((400, 300), "f4", order="F")
    table[:] = numpy.arange(300, dtype="f4")
    for part in (table, table.T, table[:, 5:], table[3:, ::2], table[:, :250]):
        assert pool.submit(numpy.array_equal, part, part.copy()).result()
    assert table.flags.f_contiguous and table.dtype == numpy.float32


def test_freed_array_leaves_no_memory_and_no_old_contents(pool: parvum.Executor, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("parvum.pool.store.SPARE", 0)
    pool.submit(tasks.total, filled(0)).result()
    gc.collect()
    before = len(os.listdir("/proc/self/fd"))
    for value in range(1, 30):
        # Each array mostly lies where the last one was.
        assert pool.submit(tasks.total, filled(value)).result() == value * ITEMS
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before and not arrays._regions


def test_shared_objects_with_the_same_place_differ(pool: parvum.Executor) -> None:
    for value in range(30):
        handle = parvum.share({"data": numpy.full(ITEMS, float(value)), "name": str(value)})
        assert pool.submit(tasks.name_and_total, handle).result() == (str(value), value * ITEMS)
        del handle


def test_part_of_an_array_is_passed_while_a_thread_fills_the_rest(pool: parvum.Executor) -> None:
    array = parvum.empty(20 * ITEMS)
    array[:] = 0
    done = threading.Event()

    def fill() -> None:
        for at in range(10 * ITEMS, 20 * ITEMS, 1000):
            array[at : at + 1000] = 1
        done.set()

    thread = threading.Thread(target=fill)
    thread.start()
    while not done.is_set():
        assert pool.submit(tasks.total, array[: 10 * ITEMS]).result() == 0
    thread.join()
    assert array.sum() == 10 * ITEMS, "no write of the program is lost"


def test_two_executors_take_one_array_at_once(pool: parvum.Executor) -> None:
    with parvum.Executor(1) as other:
        for value in range(10):
            array = filled(value)
            both = [one.submit(tasks.total, array) for one in (pool, other)]
            array[0] = -1
            assert [call.result() for call in both] == [value * ITEMS] * 2


def test_forked_child_has_an_array_of_its_own() -> None:
    array = filled(7)
    child = os.fork()
    if child == 0:
        array[:] = 8
        os._exit(int(array[0]))
    _, status = os.waitpid(child, 0)
    assert os.waitstatus_to_exitcode(status) == 8 and (array == 7).all()


def test_short_arrays_are_ordinary_and_wrong_ones_are_refused() -> None:
    assert parvum.empty(3).shape == (3,) and parvum.empty((0, 5)).size == 0
    assert not arrays._regions
    with pytest.raises(parvum.errors.BadArgument, match="Python objects"):
        parvum.empty(ITEMS, object)
    with pytest.raises(ValueError, match="negative"):
        parvum.empty(-1)
    with pytest.raises(TypeError):
        parvum.empty(ITEMS, "no type")
    with pytest.raises((ValueError, MemoryError)):
        parvum.empty(1 << 62)
    assert not arrays._regions
    assert parvum.empty(numpy.int64(ITEMS)).shape == (ITEMS,)
    assert parvum.empty([2, numpy.int64(ITEMS)]).shape == (2, ITEMS)
