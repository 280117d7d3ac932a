"""A signal between "given" and "had" loses nothing: messages, entries of the mailbox, items of queues, locks, answers."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import support

import parvum
from parvum.actors.places import Places, Ticket

pytestmark = pytest.mark.usefixtures("machine")


class Slow:
    """An object whose making, where it comes, is interrupted once: a signal comes when its data is here and it is not."""

    interrupts = 0

    def __init__(self, value: object) -> None:
        self.value = value

    def __reduce__(self) -> tuple[Any, ...]:
        return _make_slowly, (self.value,)


def _make_slowly(value: object) -> Slow:
    if Slow.interrupts > 0:
        Slow.interrupts -= 1
        os.kill(os.getpid(), signal.SIGINT)
        # The handler runs here.
        time.sleep(60)
    return Slow(value)


@pytest.fixture(autouse=True)
def interrupts() -> Iterator[None]:
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    Slow.interrupts = 0
    signal.signal(signal.SIGINT, before)


def interrupt_in_making(call: Any) -> None:
    Slow.interrupts = 1
    with pytest.raises(KeyboardInterrupt):
        call()
    assert Slow.interrupts == 0


# --- Messages ---


def test_interrupted_message_is_received_again() -> None:
    vm = parvum.enrol()
    for size in (10, 3_000_000):
        vm.send(Slow(b"x" * size), vm.id, 5)
        vm.send("next", vm.id, 5)
        interrupt_in_making(lambda: vm.recv(tag=5))
        assert vm.probe(tag=5) is not None and vm.probe(tag=6) is None
        with pytest.raises(TimeoutError):
            vm.recv(tag=6, timeout=0)
        interrupt_in_making(lambda: vm.recv(tag=5, timeout=60))
        assert len(vm.recv(vm.id, 5, timeout=60).value) == size
        assert vm.recv(tag=5, timeout=60) == "next"
        assert vm.probe() is None


def test_interrupted_long_message_of_other_task_is_received_again() -> None:
    vm = parvum.enrol()
    source = "import sys; sys.path[:0] = %r; from test_interrupts import Slow; vm.send(Slow(bytes(5_000_000)), boss, 9); vm.recv()"
    (task,) = support.spawn(source % ([str(folder) for folder in Path(__file__).resolve().parents[:2]],))
    interrupt_in_making(lambda: vm.recv(task, 9))
    assert len(vm.recv(task, 9, timeout=60).value) == 5_000_000
    vm.send(None, task)


def test_request_keeps_received_message_after_interrupt() -> None:
    vm = parvum.enrol()
    request = vm.irecv(tag=7)
    vm.send(Slow("seven"), vm.id, 7)
    interrupt_in_making(request.wait)
    interrupt_in_making(request.result)
    assert request.result(60).value == "seven" and vm.probe() is None
    vm.send(Slow("eight"), vm.id, 7)
    interrupt_in_making(lambda: vm.recv(tag=7))
    assert vm.irecv(tag=7).result(60).value == "eight"


def test_message_arriving_with_signal_is_received_or_left() -> None:
    """Many times, at all moments: a handler that raises loses no message."""
    vm = parvum.enrol()

    class Raised(Exception):
        pass

    armed = False

    def handler(signum: int, frame: FrameType | None) -> None:
        nonlocal armed
        if armed:
            armed = False
            raise Raised

    got: list[int] = []
    raised = 0
    for number in range(2000):
        vm.send(number, vm.id, 11)
    signal.signal(signal.SIGALRM, handler)
    # A signal each 0.3 ms of real time, wherever the thread is then.
    signal.setitimer(signal.ITIMER_REAL, 0.0003, 0.0003)
    try:
        while len(got) < 2000:
            try:
                armed = True
                # What is received is in the list before a handler can run.
                got.extend(map(vm.recv, (None,), (11,), (60,)))
                armed = False
            except Raised:
                raised += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    assert got == list(range(2000)) and raised > 0


# --- The mailbox ---


def test_mailbox_entry_taken_by_interrupted_call_is_restored() -> None:
    box = parvum.enrol().mailbox
    box.put("slow", Slow("first"), beside=True, persistent=True)
    box.put("slow", "second", beside=True)
    before = box.entries("slow")
    interrupt_in_making(lambda: box.take("slow"))
    support.eventually(lambda: box.entries("slow") == before)
    assert box.take("slow").value == "first" and box.take("slow") == "second"


# --- Queues and locks ---


def test_places_restore_item_of_undone_get() -> None:
    places = Places()
    for number, item in enumerate("abc"):
        places.put("q", 0, item, Ticket(1, number))
    places.get("q", Ticket(2, 10))
    places.take()
    places.undo("get", "q", Ticket(2, 10), "a")
    places.get("q", Ticket(3, 11))
    assert [answer.value for answer in places.take()] == ["a"], "it is the first again"
    places.undo("put", "q", Ticket(1, 1), None)
    places.undo("put", "q", Ticket(1, 0), None)
    places.get("q", Ticket(3, 12))
    assert [answer.value for answer in places.take()] == ["c"] and places.size("q") == 0
    # A lock of a dead task: the next one who has it hears of that.
    places.acquire("l", Ticket(1, 20))
    places.gone(1)
    places.acquire("l", Ticket(2, 21))
    places.undo("acquire", "l", Ticket(2, 21), True)
    places.acquire("l", Ticket(3, 22))
    assert [answer.value for answer in places.take()][-1] is True and not places.undo("acquire", "l", Ticket(2, 21), True)
    assert places.is_locked("l"), "who does not hold it gives nothing back"


def interrupted_late(call: Any, meanwhile: Any) -> None:
    """Has a call interrupted by a handler that takes its time, and the answer come while the handler runs."""
    began = threading.Event()

    def handler(signum: int, frame: FrameType | None) -> None:
        began.set()
        time.sleep(0.5)
        raise KeyboardInterrupt

    def other() -> None:
        time.sleep(0.3)
        os.kill(os.getpid(), signal.SIGINT)
        began.wait()
        meanwhile()

    signal.signal(signal.SIGINT, handler)
    thread = threading.Thread(target=other)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        call()
    thread.join()


def in_another_task(source: str) -> Any:
    """Has a task do something, and waits until it has."""
    (task,) = support.spawn(source + "\nvm.send('done', boss, 3)")
    return lambda: parvum.enrol().recv(task, 3, 60)


def test_queue_keeps_item_after_interrupted_get() -> None:
    queue = parvum.Queue("interrupted")
    interrupted_late(queue.get, lambda: in_another_task('parvum.Queue("interrupted").put("item")')())
    assert queue.qsize() == 1
    interrupt_free = queue.get(timeout=10)
    assert interrupt_free == "item"
    # And when it is interrupted in the making.
    queue.put(Slow("slow"))
    queue.put("behind")
    interrupt_in_making(queue.get)
    assert queue.get(timeout=10).value == "slow" and queue.get(timeout=10) == "behind"


def test_interrupted_put_adds_nothing() -> None:
    full = parvum.Queue("full", maxsize=1)
    full.put("first")
    interrupted_late(lambda: full.put("second"), lambda: in_another_task('parvum.Queue("full").get()')())
    assert full.empty()


def test_lock_is_free_after_interrupted_acquire() -> None:
    lock = parvum.Lock("interrupted")
    (holder,) = support.spawn('parvum.Lock("interrupted").acquire(); vm.send(1, boss, 4); vm.recv(boss); parvum.Lock("interrupted").release(); vm.send(2, boss, 4)')
    vm = parvum.enrol()
    assert vm.recv(holder, 4, 60) == 1

    def give() -> None:
        vm.send(None, holder)
        vm.recv(holder, 4, 60)

    interrupted_late(lock.acquire, give)
    assert not lock.locked()
    assert lock.acquire(timeout=10)
    lock.release()


def test_events_and_barriers_work_after_interrupt() -> None:
    event, barrier = parvum.Event("interrupted"), parvum.Barrier("interrupted", 2)
    interrupted_late(event.wait, lambda: in_another_task('parvum.Event("interrupted").set()')())
    assert event.is_set() and event.wait(10)
    event.clear()
    # One that waits no longer breaks it, as with threads.
    interrupted_late(barrier.wait, lambda: None)
    with pytest.raises(threading.BrokenBarrierError):
        barrier.wait(10)
    barrier.reset()


def test_future_keeps_answer_after_interrupt() -> None:
    from actors import Counter

    counter = Counter.start(1)
    answer = counter.wait()
    interrupted_late(answer.result, lambda: counter.release("late").result())
    # It came while the handler ran: it is there. Or the call was stopped, and that is said.
    assert answer.done() and (answer.cancelled() or answer.result() == "late")
    early = counter.add(1)
    early.result()
    assert early.result() == 2
    parvum.stop(counter)
