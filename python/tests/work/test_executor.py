"""`parvum.Executor` keeps the contract of `concurrent.futures`. The cases are those of CPython's own tests."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
import textwrap
import threading
import time
import weakref
from collections.abc import Iterator
from concurrent import futures
from concurrent.futures import BrokenExecutor, CancelledError, as_completed
from pathlib import Path
from typing import Any

import pytest
import tasks

import parvum

pytestmark = pytest.mark.usefixtures("machine")


@pytest.fixture(scope="module")
def pool(machine: object) -> Iterator[parvum.Executor]:
    with parvum.Executor(2) as executor:
        yield executor


def begun(path: Path, count: int) -> None:
    while len(list(path.parent.glob(f"{path.name}.begun-*"))) < count:
        time.sleep(0.002)


# --- submit ---


def test_submit_returns_result_with_any_arguments(pool: parvum.Executor) -> None:
    assert pool.submit(pow, 2, 8).result() == 256
    assert pool.submit(sorted, [1, 3, 2], reverse=True).result() == [3, 2, 1]
    assert pool.submit(dict, self=7, fn=8).result() == {"self": 7, "fn": 8}


def test_submit_without_function_fails(pool: parvum.Executor) -> None:
    with pytest.raises(TypeError):
        pool.submit()  # type: ignore[call-arg]


def test_calls_run_in_main_thread_of_another_process(pool: parvum.Executor) -> None:
    process, main, directory = pool.submit(tasks.where).result()
    assert process != os.getpid() and main and directory == os.getcwd()


def test_waiting_worker_imports_no_extra_modules(pool: parvum.Executor) -> None:
    with parvum.Executor(1) as fresh:
        loaded = fresh.submit(eval, "set(__import__('sys').modules)").result()
    assert not loaded & {"numpy", "asyncio", "multiprocessing", "cloudpickle", "concurrent.futures", "logging"}


def test_short_calls_run_exactly_once(pool: parvum.Executor, tmp_path: Path) -> None:
    submitted = [pool.submit(tasks.square, n) for n in range(3000)]
    assert [future.result() for future in submitted] == [n * n for n in range(3000)]


def test_single_worker_runs_calls_in_submission_order(tmp_path: Path) -> None:
    with parvum.Executor(1) as one:
        for n in range(50):
            one.submit(tasks.count_in, str(tmp_path / "order"), n)
    assert (tmp_path / "order").read_text().split() == [str(n) for n in range(50)]


def test_long_call_delays_no_other(pool: parvum.Executor, tmp_path: Path) -> None:
    """Calls that were handed to the worker of a long one are given back and run by the other."""
    for _ in range(200):
        pool.submit(tasks.square, 1)
    long = pool.submit(tasks.wait_for, str(tmp_path / "go"))
    short = [pool.submit(tasks.square, n) for n in range(100)]
    assert [future.result(60) for future in short] == [n * n for n in range(100)]
    assert not long.done()
    (tmp_path / "go").touch()
    assert long.result(60)


def test_futures_work_with_wait_and_as_completed(pool: parvum.Executor, tmp_path: Path) -> None:
    slow = pool.submit(tasks.wait_for, str(tmp_path / "go"))
    quick = pool.submit(tasks.square, 2)
    failing = pool.submit(tasks.fail, KeyError, "x")
    done, not_done = futures.wait([slow, quick, failing], return_when=futures.FIRST_EXCEPTION)
    assert failing in done and slow in not_done
    with pytest.raises(futures.TimeoutError):
        slow.result(0.01)
    (tmp_path / "go").touch()
    assert set(as_completed([slow, quick, failing])) == {slow, quick, failing}


def test_callbacks_run_in_the_submitting_process(pool: parvum.Executor) -> None:
    seen: list[tuple[int, int]] = []
    future = pool.submit(tasks.square, 3)
    future.add_done_callback(lambda done: seen.append((done.result(), os.getpid())))
    future.result()
    while not seen:
        time.sleep(0.001)
    assert seen == [(9, os.getpid())]


def test_callback_may_submit(pool: parvum.Executor) -> None:
    more: futures.Future[Any] = futures.Future()

    def on_done(done: futures.Future[int]) -> None:
        pool.submit(tasks.square, done.result()).add_done_callback(lambda last: more.set_result(last.result()))

    pool.submit(tasks.square, 3).add_done_callback(on_done)
    assert more.result(60) == 81


def test_pool_accepts_calls_from_many_threads(pool: parvum.Executor) -> None:
    right: list[bool] = []

    def use(base: int) -> None:
        sent = [pool.submit(tasks.square, base + n) for n in range(100)]
        right.append([f.result() for f in sent] == [(base + n) ** 2 for n in range(100)])

    threads = [threading.Thread(target=use, args=(1000 * n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert right == [True] * 8


def test_pool_accepts_calls_from_asyncio_loops_in_threads(pool: parvum.Executor) -> None:
    import asyncio

    async def gather() -> list[int]:
        loop = asyncio.get_running_loop()
        return list(await asyncio.gather(*(loop.run_in_executor(pool, tasks.square, n) for n in range(50))))

    found: list[list[int]] = []
    threads = [threading.Thread(target=lambda: found.append(asyncio.run(gather()))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == [[n * n for n in range(50)]] * 3


# --- map ---


@pytest.mark.parametrize("chunksize", [1, 3, 100])
def test_map_returns_results_in_order(pool: parvum.Executor, chunksize: int) -> None:
    assert list(pool.map(pow, range(10), range(10), chunksize=chunksize)) == list(map(pow, range(10), range(10)))
    assert list(pool.map(tasks.square, [], chunksize=chunksize)) == []


def test_map_raises_exception_of_call_at_its_position(pool: parvum.Executor) -> None:
    results = pool.map(divmod, [1, 1, 1, 1], [2, 5, 0, 3])
    assert next(results) == (0, 1)
    assert next(results) == (0, 1)
    with pytest.raises(ZeroDivisionError):
        next(results)


def test_map_times_out(pool: parvum.Executor, tmp_path: Path) -> None:
    results = pool.map(tasks.wait_for, [str(tmp_path / "there"), str(tmp_path / "never")], timeout=0.2)
    (tmp_path / "there").touch()
    found: list[object] = []
    with pytest.raises(futures.TimeoutError):
        for result in results:
            found.append(result)
    (tmp_path / "never").touch()
    assert len(found) <= 1


@pytest.mark.parametrize("chunksize", [0, -1])
def test_map_refuses_invalid_chunksize(pool: parvum.Executor, chunksize: int) -> None:
    with pytest.raises(ValueError, match="chunksize"):
        pool.map(pow, [1], [1], chunksize=chunksize)


def test_map_submits_at_most_buffersize_ahead(pool: parvum.Executor) -> None:
    taken: list[int] = []

    def source() -> Iterator[int]:
        for n in range(100):
            taken.append(n)
            yield n

    results = pool.map(tasks.square, source(), buffersize=5)
    assert len(taken) == 5
    assert next(results) == 0
    assert len(taken) == 6
    assert list(results) == [n * n for n in range(1, 100)]


# --- cancel and shutdown ---


def test_cancel_stops_waiting_call(tmp_path: Path) -> None:
    with parvum.Executor(1) as one:
        go = tmp_path / "go"
        running = one.submit(tasks.wait_for, str(go))
        begun(go, 1)
        waiting = [one.submit(tasks.count_in, str(tmp_path / "ran"), n) for n in range(300)]
        last = waiting[-1]
        assert last.cancel() and last.cancel() and last.cancelled() and last.done()
        assert futures.wait([last], timeout=60).done == {last}
        with pytest.raises(CancelledError):
            last.result()
        go.touch()
        assert running.result() == str(go)
        assert not running.cancel(), "it has ended"
    assert "299" not in (tmp_path / "ran").read_text().split()


def test_shutdown_waits_for_all_calls(tmp_path: Path) -> None:
    executor = parvum.Executor(2)
    sent = [executor.submit(tasks.count_in, str(tmp_path / "ran"), n) for n in range(100)]
    executor.shutdown()
    assert all(future.done() for future in sent)
    assert len((tmp_path / "ran").read_text().split()) == 100
    with pytest.raises(RuntimeError, match="after shutdown"):
        executor.submit(pow, 2, 5)
    executor.shutdown()


def test_shutdown_can_cancel_waiting_calls(tmp_path: Path) -> None:
    executor = parvum.Executor(1)
    go = tmp_path / "go"
    executor.submit(tasks.wait_for, str(go))
    begun(go, 1)
    sent = [executor.submit(tasks.square, n) for n in range(300)]
    executor.shutdown(wait=False, cancel_futures=True)
    assert any(future.cancelled() for future in sent)
    go.touch()
    executor.shutdown()
    assert all(future.done() for future in sent)
    assert all(future.cancelled() or future.result() == n * n for n, future in enumerate(sent))


def test_workers_are_gone_after_shutdown() -> None:
    with parvum.Executor(3) as executor:
        executor.wait_for_workers(3)
        processes = {future.result()[0] for future in [executor.submit(tasks.where) for _ in range(20)]}
    assert processes
    # They have left the machine; the system may take a moment to bury them.
    while any(os.path.exists(f"/proc/{process}/exe") for process in processes):
        time.sleep(0.002)


def test_unreferenced_executor_ends() -> None:
    executor = parvum.Executor(1)
    inner = executor._pool
    future = executor.submit(tasks.square, 5)
    reference = weakref.ref(executor)
    del executor
    gc.collect()
    assert reference() is None
    assert future.result(60) == 25
    assert inner.ended.wait(60)


def test_exiting_interpreter_finishes_submitted_calls(tmp_path: Path) -> None:
    script = f"""
        import sys
        sys.path[:0] = {sys.path!r}
        import parvum, tasks
        pool = parvum.Executor(2)
        for n in range(20):
            pool.submit(tasks.count_in, {str(tmp_path / "ran")!r}, n)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], timeout=120, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and done.stderr == "", done.stderr
    assert sorted(map(int, (tmp_path / "ran").read_text().split())) == list(range(20))


def test_forked_child_must_make_its_own_pool(pool: parvum.Executor) -> None:
    pool.submit(tasks.square, 1).result()
    child = os.fork()
    if child == 0:
        try:
            pool.submit(tasks.square, 1)
        except BrokenExecutor as error:
            os._exit(0 if "forked" in str(error) else 1)
        os._exit(2)
    assert os.waitpid(child, 0)[1] == 0
    assert pool.submit(tasks.square, 4).result() == 16


# --- exceptions ---


def test_exception_arrives_with_worker_traceback(pool: parvum.Executor) -> None:
    with pytest.raises(ValueError, match="wrong") as caught:
        pool.submit(tasks.fail, ValueError, "wrong").result()
    cause = caught.value.__cause__
    assert isinstance(cause, parvum.RemoteTraceback)
    assert "raise kind(*args)" in str(cause) and "In worker" in str(cause)


@pytest.mark.parametrize("kind", [SystemExit, KeyboardInterrupt, GeneratorExit])
def test_base_exceptions_arrive_from_worker(pool: parvum.Executor, kind: type[BaseException]) -> None:
    with pytest.raises(kind):
        pool.submit(tasks.fail, kind).result()
    assert pool.submit(tasks.square, 2).result() == 4


def test_exception_that_cannot_be_unpickled_becomes_remote_error(pool: parvum.Executor) -> None:
    with pytest.raises(parvum.RemoteError, match="TwoArguments: 1 and 2"):
        pool.submit(tasks.fail_with_two).result()
    assert pool.submit(tasks.square, 2).result() == 4


def test_unpicklable_arguments_are_named(pool: parvum.Executor) -> None:
    future = pool.submit(tasks.square, {"lock": threading.Lock()})  # type: ignore[arg-type]
    with pytest.raises(parvum.Unpicklable, match=r"args\[0\]\['lock'\]"):
        future.result()


def test_unpicklable_results_fail_only_their_call(pool: parvum.Executor) -> None:
    with pytest.raises(RuntimeError, match="never pickled"):
        pool.submit(tasks.give, tasks.BadToPickle).result()
    with pytest.raises(KeyError, match="cannot be read"):
        pool.submit(tasks.give, tasks.BadToRead).result()
    with pytest.raises(parvum.Unpicklable, match="lock"):
        pool.submit(threading.Lock).result()
    assert pool.submit(tasks.square, 2).result() == 4


def test_unreadable_arguments_fail_only_their_call(pool: parvum.Executor) -> None:
    with pytest.raises(KeyError, match="cannot be read"):
        pool.submit(tasks.square, tasks.BadToRead()).result()  # type: ignore[arg-type]
    assert pool.submit(tasks.square, 2).result() == 4


def test_results_are_freed_without_reference_cycle(pool: parvum.Executor) -> None:
    future = pool.submit(tasks.fail, ValueError, "x")
    with pytest.raises(ValueError):
        future.result()
    reference = weakref.ref(future)
    del future
    gc.collect()
    assert reference() is None


# --- initializer ---


def test_initializer_runs_first_in_each_worker() -> None:
    with parvum.Executor(2, tasks.remember, (1, "two")) as executor:
        assert [executor.submit(tasks.recall).result() for _ in range(10)] == [(1, "two")] * 10


def test_failing_initializer_breaks_the_pool() -> None:
    with parvum.Executor(2, tasks.fail, (ValueError, "bad start")) as executor:
        with pytest.raises(BrokenExecutor) as caught:
            executor.submit(pow, 2, 5).result()
        assert "bad start" in repr(caught.value.__cause__)
        with pytest.raises(BrokenExecutor):
            executor.submit(pow, 2, 5)


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ({"max_workers": 0}, ValueError),
        ({"max_workers": -1}, ValueError),
        ({"max_workers": 1, "initializer": 5}, TypeError),
        ({"max_workers": 1, "hosts": "a"}, TypeError),
        ({"max_workers": 1, "retries": -1}, ValueError),
        ({"max_workers": 1, "output": "loud"}, ValueError),
        ({"max_workers": 1, "initializer": tasks.remember, "initargs": (threading.Lock(),)}, parvum.Unpicklable),
    ],
)
def test_invalid_arguments_are_refused(arguments: dict[str, Any], error: type[Exception]) -> None:
    with pytest.raises(error):
        parvum.Executor(**arguments)


def test_future_can_be_awaited(pool: parvum.Executor) -> None:
    import asyncio

    async def twice() -> int:
        first: int = await pool.submit(tasks.square, 3)  # type: ignore[misc]
        return first + await pool.submit(tasks.square, 4)  # type: ignore[misc]

    assert asyncio.run(twice()) == 25
