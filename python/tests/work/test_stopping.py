"""Calls that run are stopped: by an interrupt, a limit of time, `cancel`, or the end of the program. Others are not harmed."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from concurrent import futures
from concurrent.futures import CancelledError
from pathlib import Path
from typing import Any

import pytest
import stopping
import support
import tasks

import parvum
from parvum.pool.schedule import Ask, Call, Hand, Schedule
from parvum.pool.stopping import Stops

pytestmark = pytest.mark.usefixtures("machine")

DEAF = [stopping.spin, stopping.sleep_in_c, stopping.deaf, stopping.deafest, stopping.count_without_the_interpreter]


@pytest.fixture(scope="module")
def pool(machine: object) -> Iterator[parvum.Executor]:
    with parvum.Executor(2) as executor:
        yield executor
        executor.interrupt()


def wait_until_begun(folder: Path, count: int) -> list[int]:
    found: list[int] = support.eventually(lambda: (those := stopping.begun(folder)) and len(those) >= count and those)
    return found


# --- The state machines ---


def test_abandoned_call_is_held_until_worker_confirms() -> None:
    schedule = Schedule()
    schedule.grow(1, "here")
    calls = [Call(number, None) for number in range(1, 5)]
    for call in calls:
        schedule.submit(call)
    handed = [call for order in schedule.take() if isinstance(order, Hand) for call in order.calls]
    assert handed == calls[:2] and schedule.running(1) is calls[0]
    assert [worker.name for worker in schedule.abandon(calls[0]) or ()] == [1]
    assert schedule.abandon(calls[0]) is None and schedule.unfinished == 3
    assert schedule.abandon(calls[2]) == [], "nobody has it"
    assert schedule.result(1, 1, 0.1) is None and schedule.running(1) is calls[1]
    # The worker dies: what it ran is lost, what was abandoned is not run again.
    assert schedule.abandon(calls[3]) is not None
    schedule.take()
    assert schedule.lost(1) == [calls[1]] and schedule.unfinished == 0
    assert not [order for order in schedule.take() if not isinstance(order, Ask)]


def test_stop_steps_occur_once_and_end_with_call() -> None:
    stops = Stops(grace=1)
    stops.runs(1, 7, 10, limit=5, splits=True)
    assert [step.what for step in stops.due(10.5)] == ["split"] and stops.due(14) == []
    stops.stop(1, 7, 15)
    assert stops.next == 16 and [step.what for step in stops.due(18)] == ["term", "kill"]
    stops.stop(2, 8, 20)
    stops.ended(2)
    assert not stops and stops.next is None


# --- cancel ---


def wait_until_computing(process: int) -> None:
    """Waits until the process has used 20 ticks since now: before, it may still be in Python, where it obeys."""

    def ticks() -> int:
        return int(Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[11])

    first = ticks()
    support.eventually(lambda: ticks() >= first + 20)


@pytest.mark.parametrize("call", DEAF)
def test_cancel_stops_running_call_of_any_kind(tmp_path: Path, call: Any) -> None:
    with parvum.Executor(1) as one:
        running = one.submit(call, str(tmp_path))
        (process,) = wait_until_begun(tmp_path, 1)
        if call is stopping.count_without_the_interpreter:
            wait_until_computing(process)
        waiting = [one.submit(tasks.square, n) for n in range(20)]
        assert running.cancel() and running.cancelled() and running.done()
        with pytest.raises(CancelledError):
            running.result()
        assert futures.wait([running]).done == {running}
        # The calls behind it are run, by this worker or the next.
        assert [future.result(60) for future in waiting] == [n * n for n in range(20)]
        obeyed = call in (stopping.spin, stopping.sleep_in_c)
        assert (process in one.pids) == obeyed and one.replaced == (not obeyed)
        assert stopping.is_alive(process) == obeyed


def test_stopped_call_runs_its_cleanup(tmp_path: Path, pool: parvum.Executor) -> None:
    running = pool.submit(stopping.clean_up, str(tmp_path))
    wait_until_begun(tmp_path, 1)
    assert running.cancel()
    support.eventually((tmp_path / "cleaned").exists)


def test_cancelled_call_that_worker_has_not_begun_never_runs(tmp_path: Path) -> None:
    with parvum.Executor(1) as one:
        for _ in range(200):
            one.submit(tasks.square, 1)
        first = one.submit(tasks.wait_for, str(tmp_path / "go"))
        support.eventually(lambda: list(tmp_path.glob("go.begun*")))
        ahead = [one.submit(tasks.count_in, str(tmp_path / "ran"), n) for n in range(40)]
        assert all(future.cancel() for future in ahead[::2])
        # The worker has dropped those that it had.
        schedule = one._pool.schedule
        support.eventually(lambda: not any(call.abandoned for worker in schedule.workers.values() for call in worker.held.values()))
        (tmp_path / "go").touch()
        assert first.result(60) and [future.result(60) for future in ahead[1::2]] == list(range(1, 40, 2))
    assert sorted(map(int, (tmp_path / "ran").read_text().split())) == list(range(1, 40, 2))


def test_stopped_call_harms_no_other(tmp_path: Path) -> None:
    """A stop that comes when its call has just ended must not reach the next one."""
    with parvum.Executor(1) as one:
        for round in range(300):
            short = one.submit(tasks.square, round)
            after = [one.submit(tasks.square, n) for n in range(3)]
            if round % 3 == 0:
                time.sleep(0.0005)
            stopped = short.cancel()
            assert [future.result(60) for future in after] == [0, 1, 4]
            assert stopped or short.result() == round * round
        assert one.replaced == 0


def test_awaited_call_stops_with_its_asyncio_task(tmp_path: Path, pool: parvum.Executor) -> None:
    import asyncio

    async def impatient() -> str:
        try:
            await asyncio.wait_for(asyncio.wrap_future(pool.submit(stopping.spin, str(tmp_path))), 0.5)
        except (TimeoutError, asyncio.TimeoutError):
            return "late"
        return "done"

    assert asyncio.run(impatient()) == "late"
    assert pool.submit(tasks.square, 3).result(60) == 9
    assert [pool.submit(tasks.square, 3).result(20) for _ in range(10)] == [9] * 10


# --- limits of time ---


def test_call_stops_at_its_timeout(tmp_path: Path, pool: parvum.Executor) -> None:
    late = pool.submit_with(stopping.spin, (str(tmp_path),), timeout=0.3)
    with pytest.raises(parvum.CallTimedOut, match=r"longer than 0\.3 s, on worker t\w+ \(process \d+\) on host") as caught:
        late.result(60)
    assert isinstance(caught.value, TimeoutError)
    # Time in the queue does not count.
    quick = [pool.submit_with(time.sleep, (0.05,), timeout=5.0) for _ in range(20)]
    assert [future.result(60) for future in quick] == [None] * 20
    with pytest.raises(ValueError, match="timeout"):
        pool.submit_with(abs, (1,), timeout=0)


def test_timeout_counts_from_start_of_call(tmp_path: Path) -> None:
    with parvum.Executor(1) as one:
        before = one.submit(tasks.wait_for, str(tmp_path / "go"))
        short = one.submit_with(tasks.square, (5,), timeout=0.2)
        time.sleep(0.6)
        assert not short.done(), "it waits behind another"
        (tmp_path / "go").touch()
        assert before.result(60) and short.result(60) == 25


def test_pool_timeout_applies_to_all_calls(tmp_path: Path) -> None:
    with parvum.Executor(2, max_time=0.3) as limited:
        found = [limited.submit(stopping.deaf, str(tmp_path)), limited.submit(tasks.square, 3)]
        with pytest.raises(parvum.CallTimedOut):
            found[0].result(60)
        assert found[1].result(60) == 9
        assert limited.submit_with(time.sleep, (0.5,), timeout=30.0).result(60) is None, "one may have more"
    with pytest.raises(ValueError, match="max_time"):
        parvum.Executor(1, max_time=-1)
    with pytest.raises(ValueError, match="grace"):
        parvum.Executor(1, grace=-1)


def test_timeouts_apply_to_map_joblib_and_dask(tmp_path: Path) -> None:
    with parvum.Executor(2) as pool:
        folders = ["", str(tmp_path), ""]
        found = list(parvum.map(tasks.spin_in, folders, executor=pool, max_time=0.3, return_exceptions=True))
        assert found[::2] == ["", ""] and isinstance(found[1], parvum.CallTimedOut)
        with pytest.raises(ValueError, match="max_time"):
            parvum.map(abs, [1], executor=pool, max_time=0)
        dask = pytest.importorskip("dask")
        from parvum.dask import get

        with pytest.raises(parvum.CallTimedOut):
            dask.compute(dask.delayed(stopping.spin)(str(tmp_path)), scheduler=get, executor=pool, max_time=0.3)
    joblib = pytest.importorskip("joblib")
    from parvum.joblib import register, shutdown

    register()
    with joblib.parallel_backend("parvum", n_jobs=2, max_time=0.3), pytest.raises(parvum.CallTimedOut):
        joblib.Parallel()(joblib.delayed(stopping.spin)(str(tmp_path)) for _ in range(2))
    shutdown()


def test_joblib_timeout_stops_its_calls(tmp_path: Path) -> None:
    joblib = pytest.importorskip("joblib")
    import multiprocessing

    import parvum.joblib

    parvum.joblib.register()
    with joblib.parallel_backend("parvum", n_jobs=2):
        with pytest.raises((multiprocessing.TimeoutError, TimeoutError)):
            joblib.Parallel(timeout=0.5)(joblib.delayed(stopping.spin)(str(tmp_path)) for _ in range(2))
        # The workers are free again at once, or the next call waits a minute.
        begun = time.monotonic()
        assert joblib.Parallel()(joblib.delayed(tasks.square)(n) for n in range(4)) == [0, 1, 4, 9]
        assert time.monotonic() - begun < 30
    parvum.joblib.shutdown()


# --- interrupts ---


@contextlib.contextmanager
def interrupted_when(true: Any) -> Iterator[None]:
    """Sends this process SIGINT, once, when that is so."""

    def send() -> None:
        support.eventually(true)
        os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    thread = threading.Thread(target=send)
    thread.start()
    try:
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        thread.join()
        signal.signal(signal.SIGINT, before)


def test_interrupt_stops_only_calls_of_its_thread(tmp_path: Path) -> None:
    mine, other = tmp_path / "mine", tmp_path / "other"
    mine.mkdir()
    other.mkdir()
    with parvum.Executor(2) as pool:
        kept: list[parvum.Task[str]] = []
        thread = threading.Thread(target=lambda: kept.append(pool.submit(tasks.wait_for, str(other / "go"))))
        thread.start()
        thread.join()
        ahead: list[parvum.Task[object]] = []
        with interrupted_when(lambda: len(ahead) == 5 and stopping.begun(mine)):
            ahead += [pool.submit(stopping.spin, str(mine)) for _ in range(5)]
            ahead[0].result()
        assert all(future.cancelled() for future in ahead)
        assert pool.submit(tasks.square, 3).result(20) == 9, "the pool goes on"
        (other / "go").touch()
        assert kept[0].result(60) == str(other / "go")
        assert len(stopping.begun(mine)) == 1


@pytest.mark.parametrize("wait", [futures.wait, lambda calls: list(futures.as_completed(calls))])
def test_interrupt_during_wait_stops_all_awaited_calls(tmp_path: Path, wait: Any) -> None:
    with parvum.Executor(2) as pool, parvum.Executor(1) as other:
        calls = [pool.submit(stopping.spin, str(tmp_path)) for _ in range(4)] + [other.submit(stopping.spin, str(tmp_path))]
        with interrupted_when(lambda: len(stopping.begun(tmp_path)) == 3):
            wait(calls)
        assert all(call.cancelled() for call in calls)
        assert pool.submit(tasks.square, 2).result(20) == other.submit(tasks.square, 2).result(20) == 4


def test_interrupted_shutdown_stops_running_calls(tmp_path: Path) -> None:
    pool = parvum.Executor(2)
    running = [pool.submit(stopping.spin, str(tmp_path)) for _ in range(2)]
    with interrupted_when(lambda: len(stopping.begun(tmp_path)) == 2):
        pool.shutdown()
    assert all(future.cancelled() for future in running) and pool._pool.ended.is_set()
    # They have left the machine; the system may take a moment to bury them.
    support.eventually(lambda: not any(map(stopping.is_alive, stopping.begun(tmp_path))), 20)


KINDS = ["executor", "global", "completed", "executor.map", "map", "end", "joblib", "dask", "actor", "cells"]


@pytest.mark.parametrize("call", ["spin", "deafest"])
@pytest.mark.parametrize("kind", KINDS)
def test_ctrl_c_ends_a_program_and_its_workers(tmp_path: Path, kind: str, call: str) -> None:
    if kind in ("joblib", "dask"):
        pytest.importorskip(kind)
    if kind == "actor" and call != "spin":
        pytest.skip("an actor that is deaf is ended by its creator's end, which test_actors.py has")
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [sys.executable, "stopping.py", kind, str(tmp_path), call]
    with subprocess.Popen(arguments, env=env, stderr=subprocess.PIPE, text=True, start_new_session=True) as program:
        computing = wait_until_begun(tmp_path, 2)
        os.killpg(program.pid, signal.SIGINT)
        try:
            # They would compute for a minute.
            _, said = program.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            program.kill()
            raise
    if kind == "end":
        # It came before the end of the script, or while the interpreter waited for the calls.
        assert program.returncode in (0, 1, -signal.SIGINT), said
    else:
        assert program.returncode != 0 and "KeyboardInterrupt" in said
    support.eventually(lambda: not any(map(stopping.is_alive, computing)), 20)
    assert len(stopping.begun(tmp_path)) == 2, "nothing more was begun"


INTERRUPTED_END = """
import threading
import parvum, stopping, sys
from actors import Worker

def interrupted() -> None:
    raise KeyboardInterrupt

pool = parvum.Executor(1)
pool.submit(stopping.spin, sys.argv[1])
worker = Worker.start()
while not stopping.begun(__import__("pathlib").Path(sys.argv[1])):
    pass
threading._shutdown = interrupted
"""


def test_interrupt_at_first_step_of_interpreters_end_aborts_nothing(tmp_path: Path) -> None:
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    arguments = [sys.executable, "-c", INTERRUPTED_END, str(tmp_path)]
    done = subprocess.run(arguments, env=env, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode in (0, 1, 120), done.stderr
    support.eventually(lambda: not any(map(stopping.is_alive, stopping.begun(tmp_path))), 20)


def test_workers_end_with_killed_program(tmp_path: Path) -> None:
    for call in ("spin", "deafest", "count_without_the_interpreter"):
        folder = tmp_path / call
        folder.mkdir()
        env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        arguments = [sys.executable, "stopping.py", "executor", str(folder), call]
        with subprocess.Popen(arguments, env=env, stderr=subprocess.DEVNULL) as program:
            computing = wait_until_begun(folder, 2)
            program.kill()
        support.eventually(lambda: not any(map(stopping.is_alive, computing)), 20)


# --- the machine ends, and a session lives on ---

SESSION = """
import os, sys
import parvum
vm = parvum.enrol()
first = int(vm.id)
pool = parvum.Executor(1)
running = pool.submit(__import__("time").sleep, 1000)
print(os.getpid(), flush=True)
sys.stdin.readline()
for call in (vm.tasks, lambda: vm.recv(timeout=60), lambda: running.result(60), lambda: pool.submit(abs, 1)):
    try:
        call()
    except (parvum.errors.MachineGone, parvum.executor.futures.BrokenExecutor) as error:
        print(type(error).__name__)
# The next machine, as another task.
vm = parvum.enrol()
vm.send("anew", vm.id, 1)
with parvum.Executor(1) as again:
    print(vm.recv(tag=1, timeout=60), again.submit(abs, -3).result(60))
vm.halt()
"""


def test_session_outlives_its_machine(tmp_path: Path) -> None:
    env = {**os.environ, "PARVUM_DIR": str(tmp_path)}
    with subprocess.Popen([sys.executable, "-c", SESSION], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as session:
        assert session.stdin is not None and session.stdout is not None
        assert int(session.stdout.readline()) == session.pid
        down = subprocess.run([support.COMMAND, "down"], env=env, capture_output=True, text=True, timeout=60, check=False)
        assert down.returncode == 0, down.stderr
        said, _ = session.communicate("go on\n", timeout=120)
    assert said.splitlines() == ["MachineGone", "MachineGone", "BrokenExecutor", "BrokenExecutor", "anew 3"]
    assert session.returncode == 0


# --- actors and cells ---


def test_stopped_actor_call_leaves_actor_alive(tmp_path: Path) -> None:
    from actors import Worker

    worker = Worker.start()
    assert worker.count().result() == 1
    for method in ("run", "sleep", "wait"):
        folder = tmp_path / method
        folder.mkdir()
        running = getattr(worker, method)(str(folder))
        # Others are served while a coroutine waits, and otherwise not.
        behind = worker.remember("never") if method != "wait" else None
        other = worker.count()
        wait_until_begun(folder, 1)
        assert behind is None or behind.cancel()
        assert running.cancel() and running.cancelled()
        assert other.result(20) > 1
    # A call that has not begun is not begun.
    assert worker.remembered().result(20) == []
    assert worker.count().result(20) == 5
    parvum.stop(worker)


def test_interrupt_stops_awaited_actor_call(tmp_path: Path) -> None:
    from actors import Worker

    group = Worker.start_group(2)
    with interrupted_when(lambda: len(stopping.begun(tmp_path)) == 2):
        group.run(str(tmp_path)).result()
    assert group.count().result(20) == [1, 1]
    parvum.stop(group)


def test_interrupted_cell_stops_on_all_workers_and_keeps_names(tmp_path: Path) -> None:
    from parvum import notebook

    notebook.start(2)
    path = f"import sys; sys.path[:0] = {sys.path!r}; import stopping"
    notebook.run(f"{path}\nx = rank")
    with interrupted_when(lambda: len(stopping.begun(tmp_path)) == 2):
        notebook.run(f"stopping.spin({str(tmp_path)!r})")
    assert notebook.run("x") == [0, 1]
    deaf = tmp_path / "deaf"
    deaf.mkdir()
    with interrupted_when(lambda: stopping.begun(deaf)):
        notebook.run(f"if rank == 1: stopping.deafest({str(deaf)!r})")
    # On a busy computer a process lives for a moment after SIGKILL.
    support.eventually(lambda: not any(map(stopping.is_alive, stopping.begun(deaf))), 20)
    assert notebook.run("rank + size") == [2, 3], "another is in its place"
    assert notebook.run("x", [0]) == [0]
    with pytest.raises(notebook.Failed, match="NameError"):
        notebook.run("x", [1])
    notebook.stop_workers()
