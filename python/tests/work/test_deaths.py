"""Workers that die: every result is right and comes once, what may not run twice does not, and who is missing is replaced."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import textwrap
import threading
import time
from concurrent.futures import BrokenExecutor
from pathlib import Path

import pytest
import tasks

import parvum

pytestmark = pytest.mark.usefixtures("machine")


def lines(path: Path) -> list[int]:
    return sorted(map(int, path.read_text().split()))


def test_worker_death_loses_only_its_running_call(tmp_path: Path) -> None:
    with parvum.Executor(1) as pool:
        before = [pool.submit(tasks.count_in, str(tmp_path / "ran"), n) for n in range(50)]
        lost = pool.submit(tasks.die)
        after = [pool.submit(tasks.count_in, str(tmp_path / "ran"), n) for n in range(50, 100)]
        with pytest.raises(parvum.WorkerLost, match=r"has died of signal 9, SIGKILL: worker t\w+ \(process \d+\) on host"):
            lost.result()
        assert [future.result() for future in before + after] == list(range(100))
        assert pool.replaced == 1
    assert lines(tmp_path / "ran") == list(range(100)), "each once"


def test_lost_call_names_worker_host_and_signal() -> None:
    host = os.uname().nodename
    with parvum.Executor(1) as pool:
        for how, says in ((signal.SIGKILL, "signal 9, SIGKILL"), (signal.SIGSEGV, "signal 11, SIGSEGV")):
            with pytest.raises(parvum.WorkerLost, match=rf"has died of {says}: worker t\w+ \(process \d+\) on host {host}"):
                pool.submit(tasks.end_by, how).result()
        with pytest.raises(parvum.WorkerLost, match="has died of exit code 3: "):
            pool.submit(os._exit, 3).result()


def test_unknown_host_error_names_known_hosts() -> None:
    with pytest.raises(parvum.errors.Refused, match=r"wanted host nohost, there is \w+"):
        parvum.Executor(1, hosts=["nohost"])
    with pytest.raises(BrokenExecutor, match=rf"on host {os.uname().nodename} to see why"):
        with parvum.Executor(1, tasks.die) as pool:
            pool.submit(tasks.square, 1).result(120)


def test_idempotent_call_is_retried_up_to_limit(tmp_path: Path) -> None:
    with parvum.Executor(2, retries=2) as pool:
        assert pool.submit(tasks.die_until, str(tmp_path / "a"), 2).result() == 3
        with pytest.raises(parvum.WorkerLost, match="the last of 3"):
            pool.submit(tasks.die_until, str(tmp_path / "b"), 9).result()
        assert pool.submit(tasks.square, 5).result() == 25
    assert len((tmp_path / "b").read_text()) == 3


def test_function_can_be_declared_idempotent(tmp_path: Path) -> None:
    with parvum.Executor(1) as pool:
        assert pool.submit(tasks.die_until_marked, str(tmp_path / "a"), 4).result() == 5
        with pytest.raises(parvum.WorkerLost):
            pool.submit(tasks.die_until, str(tmp_path / "b"), 1).result()


def test_repeated_worker_deaths_lose_no_call(tmp_path: Path) -> None:
    """By hand for a minute: python/tests/kill_minute.py."""
    with parvum.Executor(2, retries=50) as pool:
        stop = threading.Event()
        killed: list[int] = []

        def kill() -> None:
            while not stop.is_set() and len(killed) < 12:
                for worker in pool.pids[:1]:
                    os.kill(worker, signal.SIGKILL)
                    killed.append(worker)
                stop.wait(0.1)

        killer = threading.Thread(target=kill)
        killer.start()
        try:
            rounds = 0
            while len(killed) < 12:
                rounds += 1
                assert list(pool.map(tasks.slow_square, range(200))) == [n * n for n in range(200)]
        finally:
            stop.set()
            killer.join()
        assert pool.replaced >= 11
        assert pool.submit(tasks.square, 3).result() == 9


def test_calls_without_retries_never_run_twice(tmp_path: Path) -> None:
    with parvum.Executor(2) as pool:
        sent = [pool.submit(tasks.count_in_slowly, str(tmp_path / "ran"), n) for n in range(300)]
        killed = 0
        while not all(future.done() for future in sent):
            if killed < 5 and pool.pids:
                # The pool may not have heard of the last one's end.
                with contextlib.suppress(ProcessLookupError):
                    os.kill(pool.pids[0], signal.SIGKILL)
                    killed += 1
            time.sleep(0.05)
        lost = {n for n, future in enumerate(sent) if future.exception()}
        right = {n for n, future in enumerate(sent) if not future.exception() and future.result() == n}
    ran = lines(tmp_path / "ran")
    assert len(ran) == len(set(ran)), "no call ran twice"
    assert lost | right == set(range(300)) and right <= set(ran)
    assert len(lost) <= killed, "one call for each worker that died, at most"


def test_straggler_is_repeated_and_first_result_counts(tmp_path: Path) -> None:
    with parvum.Executor(2, retries=1, repeat_stragglers=True) as pool:
        pool.wait_for_workers(2)
        for _ in range(20):
            pool.submit(tasks.square, 1)
        # The first to begin waits for the second.
        assert pool.submit(tasks.wait_for_another, str(tmp_path / "met")).result(60) == "second"
        (tmp_path / "met.done").touch()


def test_pool_grows_and_shrinks_while_calls_run(tmp_path: Path) -> None:
    with parvum.Executor(1) as pool:
        sent = [pool.submit(tasks.slow_square, n) for n in range(400)]
        pool.grow(2)
        assert pool.wait_for_workers(3, 60)
        assert pool.shrink(2) == 2
        assert [future.result() for future in sent] == [n * n for n in range(400)]
        assert len(pool.workers) == 1 and pool.replaced == 0
        pool.grow(1)
        assert pool.wait_for_workers(2, 60)


def test_pool_without_workers_waits_for_some() -> None:
    with parvum.Executor(1) as pool:
        assert pool.submit(tasks.square, 1).result() == 1
        assert pool.shrink(1) == 1
        waiting = pool.submit(tasks.square, 4)
        pool.grow(1)
        assert waiting.result(60) == 16


def test_workers_that_never_become_ready_break_the_pool() -> None:
    with parvum.Executor(1, tasks.die) as pool:
        with pytest.raises(BrokenExecutor, match="before they were ready"):
            pool.submit(tasks.square, 1).result(120)


def test_workers_end_with_process_of_their_pool(tmp_path: Path) -> None:
    script = f"""
        import os, sys, signal
        sys.path[:0] = {sys.path!r}
        import parvum, tasks
        pool = parvum.Executor(2)
        pool.wait_for_workers(2)
        print(*pool.pids, flush=True)
        pool.submit(tasks.square, 1).result()
        os.kill(os.getpid(), signal.SIGKILL)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], timeout=120, capture_output=True, text=True, check=False)
    workers = done.stdout.split()
    assert len(workers) == 2, done.stderr
    while any(os.path.exists(f"/proc/{worker}/exe") for worker in workers):
        time.sleep(0.01)


def test_worker_with_other_python_is_refused_with_both_versions(tmp_path: Path) -> None:
    fake = tmp_path / "python"
    fake.write_text(
        f"#!{sys.executable}\nimport sys\nsys.version_info = (2, 7, 18, 'final', 0)\nexec(sys.argv[2])\n", encoding="utf-8"
    )
    fake.chmod(0o755)
    with parvum.Executor(1, python=str(fake)) as pool:
        with pytest.raises(parvum.VersionsDiffer, match=r"2\.7\.18.*" + ".".join(map(str, sys.version_info[:3]))):
            pool.submit(tasks.square, 1).result(60)


def test_worker_with_other_numpy_is_refused_with_both_versions() -> None:
    numpy = pytest.importorskip("numpy")
    with parvum.Executor(1) as pool:
        assert pool.submit(tasks.total, numpy.ones(3)).result() == 3.0
    # One that the worker has from the beginning.
    with parvum.Executor(1, tasks.pretend_numpy, ("1.2.3",)) as pool:
        with pytest.raises(parvum.VersionsDiffer, match=rf"has NumPy 1\.2\.3, the pool NumPy {numpy.__version__}"):
            pool.submit(tasks.total, numpy.ones(3)).result()
    # And one that shows only when it is loaded.
    with parvum.Executor(1) as pool:
        pool.submit(tasks.pretend_numpy, "1.2.3").result()
        with pytest.raises(parvum.VersionsDiffer, match=rf"{numpy.__version__} where the pool is and 1\.2\.3"):
            pool.submit(tasks.total, numpy.ones(3)).result()


def test_numpy_version_is_read_without_import() -> None:
    numpy = pytest.importorskip("numpy")
    script = "import sys; from parvum.pool import versions; print(versions.numpy_here(), 'numpy' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.split() == [numpy.__version__, "False"]
