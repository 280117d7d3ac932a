"""What must not be pickled by value, and what cannot be sent: the table of `parvum/_pickles/by_reference.py`, row by row."""

from __future__ import annotations

import functools
import os
import pickle
import socket
import subprocess
import sys
import textwrap
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import support
import tasks

import parvum
from parvum import errors

numpy = pytest.importorskip("numpy")
pytestmark = pytest.mark.usefixtures("machine")


@pytest.fixture(scope="module")
def pool(machine: object) -> Iterator[parvum.Executor]:
    with parvum.Executor(2) as executor:
        yield executor


def look(array: Any) -> tuple[str, Any, str | None, int]:
    """What an array is where it has come: its class, its items, its file, and memory of this process that is not a file's."""
    with open("/proc/self/status", encoding="ascii") as file:
        private = next(int(line.split()[1]) for line in file if line.startswith("RssAnon"))
    return type(array).__name__, array.tolist() if array.size < 100 else float(array.sum()), getattr(array, "filename", None), private


def write(array: Any, at: int, value: float) -> None:
    array[at] = value


# --- Arrays in files ---


@pytest.fixture
def mapped(tmp_path: Path) -> Any:
    array = numpy.memmap(tmp_path / "data", "f8", "w+", shape=(100, 1000))
    array[:] = numpy.arange(100_000.0).reshape(100, 1000)
    return array


def test_mapped_array_is_sent_by_its_file(pool: parvum.Executor, mapped: Any) -> None:
    kind, total, file, _ = pool.submit(look, mapped).result()
    assert (kind, total, file) == ("memmap", float(mapped.sum()), str(mapped.filename))
    pool.submit(write, mapped[3], 5, -1.0).result()
    assert mapped[3, 5] == -1.0, "it is the same file"
    # Nothing of it is in the pickle, nor beside it.
    from parvum.pool.calls import pack

    packed = pack([mapped])
    assert len(packed.data) < 2000 and not packed.buffers


@pytest.mark.parametrize(
    "part", [(slice(10, 20),), (slice(None), slice(5, 900, 7)), (slice(None, None, -1),), (7, slice(3, 9)), (slice(5, 5),)]
)
def test_part_of_mapped_array_arrives_as_that_part(pool: parvum.Executor, mapped: Any, part: Any) -> None:
    here = mapped[part]
    there = pool.submit(numpy.array, here).result()
    assert there.shape == here.shape and (there == numpy.array(here)).all()
    turned = pool.submit(numpy.array, here.T).result()
    assert (turned == numpy.array(here.T)).all()


def test_mapped_arrays_keep_their_access_mode(pool: parvum.Executor, mapped: Any, tmp_path: Path) -> None:
    readable = numpy.memmap(mapped.filename, "f8", "r", offset=8000, shape=(10,))
    assert pool.submit(look, readable).result()[1] == readable.tolist()
    with pytest.raises(ValueError, match="read-only"):
        pool.submit(write, readable, 0, 1.0).result()
    # A private copy has changes that are in no file.
    private = numpy.memmap(mapped.filename, "f8", "c", shape=(10,))
    private[:] = 5
    assert pool.submit(look, private).result()[1] == [5.0] * 10
    # So has one whose file was deleted.
    os.unlink(mapped.filename)
    assert pool.submit(look, mapped).result()[1] == float(mapped.sum())


def test_replaced_file_of_mapped_array_is_refused(pool: parvum.Executor, mapped: Any) -> None:
    from parvum.pool.calls import pack_call, unpack

    packed = pack_call(look, (mapped,), {})
    os.rename(mapped.filename, f"{mapped.filename}.old")
    with pytest.raises(errors.Refused, match="cannot be found on host"):
        unpack(packed.data)
    Path(mapped.filename).write_bytes(b"another")
    with pytest.raises(errors.Refused, match="another file has this name"):
        unpack(packed.data)


def test_mapped_arrays_are_sent_by_file_in_messages_only(mapped: Any) -> None:
    vm = parvum.enrol()
    vm.send({"a": mapped}, vm.id, 1)
    there = vm.recv(tag=1, timeout=60)["a"]
    there[0, 0] = 42.0
    assert mapped[0, 0] == 42.0
    assert len(pickle.dumps(mapped)) > mapped.nbytes, "a pickle that is no message has the items"


# --- Arrays of other classes ---


def test_array_subclasses_keep_their_class(pool: parvum.Executor) -> None:
    vm = parvum.enrol()
    masked = numpy.ma.masked_array(numpy.arange(100_000.0), numpy.arange(100_000) % 2)
    matrix = numpy.asmatrix(numpy.eye(300))
    records = numpy.rec.array([(1, 2.0)] * 30_000, dtype=[("a", "i4"), ("b", "f8")])
    for array in (masked, matrix, records):
        back = pool.submit(tasks.identity, array).result()
        vm.send(array, vm.id, 1)
        for came in (back, vm.recv(tag=1, timeout=60)):
            assert type(came) is type(array) and came.dtype == array.dtype and (came == array).all()
    assert pool.submit(numpy.ma.sum, masked).result() == masked.sum()


# --- Shared arrays ---

SHARED = """
import pickle, sys
import parvum
vm = parvum.enrol()
shared = parvum.shared((3, 4))
other = vm.siblings()[1 - shared.rank]
if shared.rank == 0:
    vm.send(shared, other, 7)
    shared.barrier(1)
    print("sees", shared.array[1, 2])
    with parvum.Executor(1) as pool:
        error = pool.submit(repr, shared).exception()
        print(type(error).__name__, error.code)
else:
    got = vm.recv(other, 7)
    with got.lock(0):
        got.array[1, 2] = 5.0
    assert got.rank == 1 and got.size == 2
    got.barrier(1)
"""


def test_sent_shared_array_is_the_same_memory(tmp_path: Path) -> None:
    script = tmp_path / "shared.py"
    script.write_text(SHARED)
    done = subprocess.run(
        [support.COMMAND, "run", "-n", "2", sys.executable, str(script)], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout.splitlines() == ["sees 5.0", "Refused E-NOTSHARED"], done.stderr


# --- Functions with a cache ---


def test_cached_function_of_module_is_sent_by_name(pool: parvum.Executor) -> None:
    assert pool.submit(tasks.cached, 3).result() == 9


def test_cached_function_of_script_keeps_one_cache_per_worker() -> None:
    pytest.importorskip("cloudpickle")
    script = f"""
        import functools, sys
        sys.path[:0] = {sys.path!r}
        import parvum
        @functools.lru_cache(maxsize=7)
        def slow(x):
            return x * x
        def info():
            return slow.cache_info()
        with parvum.Executor(1) as pool:
            print([pool.submit(slow, n).result() for n in (2, 3, 2, 2)])
            print(pool.submit(info).result())
            print(slow.cache_info().currsize)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True, timeout=120, check=False)
    assert done.stdout.splitlines() == ["[4, 9, 4, 4]", "CacheInfo(hits=2, misses=2, maxsize=7, currsize=2)", "0"], done.stderr


# --- By name ---


def test_queues_locks_and_handles_refer_to_same_object_everywhere(pool: parvum.Executor) -> None:
    from actors import Counter

    queue, lock, counter = parvum.Queue("sent"), parvum.Lock("sent"), Counter.start(4)
    pool.submit(parvum.Queue.put, queue, "from there").result()
    assert queue.get(timeout=10) == "from there"
    assert pool.submit(lock.locked).result() is False
    assert pool.submit(tasks.ask_counter, counter).result() == 5
    parvum.stop(counter)


# --- Not at all ---


def cannot_be_sent() -> list[tuple[Any, str]]:
    vm = parvum.enrol()
    return [
        (threading.Lock(), "lock"),
        (socket.socket(), "socket"),
        ((n for n in ()), "generator"),
        (parvum.Executor(1), "a pool is used where it was made"),
        (vm.irecv(tag=99), "send its result"),
        (parvum.Task(), "send its result"),
    ]


def test_unpicklable_argument_is_named_with_remedy(pool: parvum.Executor) -> None:
    for thing, says in cannot_be_sent():
        error = pool.submit(tasks.identity, {"here": [thing]}).exception()
        assert isinstance(error, parvum.Unpicklable) and error.path == "args[0]['here'][0]", error
        assert says in str(error)
        with pytest.raises(errors.Unpicklable, match=r"\['here'\]\[0\]") as refused:
            parvum.enrol().send({"here": [thing]}, parvum.enrol().id)
        assert says in str(refused.value)
        for each in (error, refused.value):
            assert "cloudpickle" not in each.remedy or "cloudpickle" not in sys.modules
        if isinstance(thing, parvum.Executor):
            thing.shutdown()
        elif isinstance(thing, parvum.Request):
            thing.cancel()
        elif hasattr(thing, "close"):
            thing.close()


def test_pool_in_its_own_call_is_refused_by_name(pool: parvum.Executor) -> None:
    pytest.importorskip("cloudpickle")

    def uses() -> object:
        return pool.submit(abs, -1)

    with pytest.raises(parvum.Unpicklable, match=r"function\.pool \(a parvum\.executor\.Executor\).*a pool is used where it was made"):
        pool.submit(uses).result()
    assert functools.reduce(lambda a, b: a + b, [1, 2]) == 3
