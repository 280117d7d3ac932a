"""No thread stands still because another one waits: each call that waits, while the partner is silent or stopped or the daemon is stopped.

A thread works with itself meanwhile. Its longest pause is counted in ticks of another process, about a millisecond each: if the host has no
core for the thread, the other process has none either.
"""

from __future__ import annotations

import mmap
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest
import support

import parvum

pytestmark = pytest.mark.usefixtures("machine")

LATE = 0.6
TRIES = 5
FLOOR = 15

TICKER = """
import mmap, sys, time
with open(sys.argv[1], "r+b") as file:
    ticks = mmap.mmap(file.fileno(), 8)
count = 0
while True:
    time.sleep(0.001)
    count += 1
    ticks[:] = count.to_bytes(8, "little")
"""


@pytest.fixture(scope="module")
def ticks() -> Iterator[Callable[[], int]]:
    with tempfile.NamedTemporaryFile() as file:
        file.write(bytes(8))
        file.flush()
        with mmap.mmap(file.fileno(), 8) as counter:
            ticker = subprocess.Popen([sys.executable, "-c", TICKER, file.name])
            try:
                yield lambda: int.from_bytes(counter[:], "little")
            finally:
                ticker.kill()
                ticker.wait()


class Worker:
    """A thread that sends itself messages, short and long ones, and notes its longest pause in ticks."""

    def __init__(self, ticks: Callable[[], int]) -> None:
        self.ticks, self.worst, self.rounds, self.over = ticks, 0, 0, False
        self.thread = threading.Thread(target=self.work)

    def work(self) -> None:
        vm, last = support.vm(), self.ticks()
        long = bytes(100_000)
        while not self.over:
            vm.send("short", vm.id, 71)
            assert vm.recv(vm.id, 71) == "short"
            vm.send(long, vm.id, 72)
            assert vm.recv(vm.id, 72) == long
            now = self.ticks()
            self.worst, last = max(self.worst, now - last), now
            self.rounds += 1
            time.sleep(0.0001)

    def __enter__(self) -> Worker:
        self.thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.over = True
        self.thread.join()


def alone(ticks: Callable[[], int]) -> int:
    with Worker(ticks) as worker:
        time.sleep(0.4)
    return worker.worst


def disturb(process: int) -> threading.Thread:
    """Stops a process twice, from a thread of its own."""

    def stop() -> None:
        for _ in range(2):
            time.sleep(0.03)
            os.kill(process, signal.SIGSTOP)
            time.sleep(LATE / 2)
            os.kill(process, signal.SIGCONT)

    thread = threading.Thread(target=stop)
    thread.start()
    return thread


PARTNER = """
    import threading
    from parvum import Queue, Lock, Event, Barrier
    vm.send(os.getpid(), boss, 1)
    while (word := vm.recv(boss, 2)) != "end":
        name, late, size = word
        if name == "lock":
            with Lock("beside"):
                vm.send("held", boss, 3)
                time.sleep(late)
            continue
        time.sleep(late)
        if name in ("recv", "request"):
            for _ in range(4):
                vm.send(bytes(size), boss, 4)
        elif name == "queue":
            Queue("beside").put("item")
        elif name == "event":
            Event("beside").set()
        elif name == "barrier":
            Barrier("beside", 2).wait()
        elif name == "mailbox":
            vm.mailbox.put("beside", "entry", overwritable=True)
"""


def sleeps(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


@parvum.actor
class Sleeper:
    def rest(self, seconds: float) -> float:
        time.sleep(seconds)
        return seconds


def receive(partner: parvum.TaskId) -> None:
    for _ in range(4):
        support.vm().recv(partner, 4)


def receive_by_request(partner: parvum.TaskId) -> None:
    for _ in range(4):
        support.vm().irecv(partner, 4).result(60)


def take_lock(partner: parvum.TaskId) -> None:
    assert support.vm().recv(partner, 3) == "held"
    with parvum.Lock("beside"):
        pass


def wait_for_event(_: parvum.TaskId) -> None:
    parvum.Event("beside").wait(60)
    parvum.Event("beside").clear()


def take_from_mailbox(_: parvum.TaskId) -> None:
    assert support.vm().mailbox.get("beside", wait=True, timeout=60) == "entry"
    support.vm().mailbox.take("beside")


# What the partner is told, and what this side calls.
CALLS: dict[str, Callable[[parvum.TaskId], Any]] = {
    "recv": receive,
    "request": receive_by_request,
    "queue": lambda _: parvum.Queue("beside").get(timeout=60),
    "lock": take_lock,
    "event": wait_for_event,
    "barrier": lambda _: parvum.Barrier("beside", 2).wait(60),
    "mailbox": take_from_mailbox,
}


@pytest.mark.parametrize("situation", ["silent", "stopped", "daemon", "long"])
def test_thread_works_while_another_waits_for_task(situation: str, ticks: Callable[[], int]) -> None:
    vm = support.vm()
    (partner,) = support.spawn(PARTNER)
    process = vm.recv(partner, 1)
    daemon = int(subprocess.run([support.COMMAND, "info"], capture_output=True, text=True).stdout.split("daemon process")[1].split()[0])
    limit = 3 * max(FLOOR, alone(ticks))
    bad = []
    for name in ["recv", "request"] if situation == "long" else CALLS:
        for _ in range(TRIES):
            with Worker(ticks) as worker:
                vm.send((name, LATE if situation == "silent" else 0.05, 30_000_000 if situation == "long" else 5), partner, 2)
                stopper = disturb(process if situation == "stopped" else daemon) if situation in ("stopped", "daemon") else None
                CALLS[name](partner)
                if stopper is not None:
                    stopper.join()
            # A pause that the host makes does not come five times in a row.
            if worker.worst <= limit:
                break
        else:
            bad.append((name, worker.worst, worker.rounds))
    vm.send("end", partner, 2)
    assert bad == [], f"{situation}: call, ticks, rounds; at most {limit}"


def test_thread_works_while_another_waits_for_pool_or_actor(ticks: Callable[[], int]) -> None:
    sleeper = Sleeper.start()
    with parvum.Executor(1) as pool:
        calls: dict[str, Callable[[], Any]] = {
            "Future.result": lambda: pool.submit(sleeps, LATE).result(60),
            "Executor.map": lambda: list(pool.map(sleeps, [LATE])),
            "parvum.map": lambda: list(parvum.map(sleeps, [LATE])),
            "actor": lambda: sleeper.rest(LATE).result(60),
        }
        assert calls["Future.result"]() == LATE
        limit = 3 * max(FLOOR, alone(ticks))
        bad = []
        for name, call in calls.items():
            for _ in range(TRIES):
                with Worker(ticks) as worker:
                    call()
                if worker.worst <= limit:
                    break
            else:
                bad.append((name, worker.worst, worker.rounds))
    parvum.stop(sleeper)
    assert bad == [], f"call, ticks, rounds; at most {limit}"
