"""Queues, events, barriers and locks by name: the state machine by seed, then the real ones over tasks that die."""

from __future__ import annotations

import queue
import random
import threading
from collections import deque

import pytest
import support

import parvum
from parvum.actors.places import Places, Ticket

# --- The state machine ---


@pytest.mark.parametrize("seed", range(40))
def test_queue_loses_nothing_and_keeps_order(seed: int) -> None:
    draw = random.Random(seed)
    places, numbers, room = Places(), iter(range(10**6)), draw.choice([0, 1, 3])
    inside: deque[int] = deque()
    putting: dict[Ticket, int] = {}
    getting: set[Ticket] = set()
    got: list[int] = []
    put_in_order: list[int] = []
    for _ in range(400):
        what = draw.random()
        task = draw.randrange(1, 5)
        if what < 0.45:
            ticket, item = Ticket(task, next(numbers)), next(numbers)
            putting[ticket] = item
            put_in_order.append(item)
            places.put("q", room, item, ticket)
        elif what < 0.85:
            ticket = Ticket(task, next(numbers))
            getting.add(ticket)
            places.get("q", ticket)
        elif what < 0.95 and (putting or getting):
            ticket = draw.choice([*putting, *getting])
            assert places.give_up(ticket)
            if ticket in putting:
                put_in_order.remove(putting.pop(ticket))
            getting.discard(ticket)
        else:
            for ticket in [t for t in putting if t.task == task]:
                put_in_order.remove(putting.pop(ticket))
            getting = {t for t in getting if t.task != task}
            places.gone(task)
        for answer in places.take():
            if answer.ticket in putting:
                inside.append(putting.pop(answer.ticket))
            else:
                getting.remove(answer.ticket)
                got.append(answer.value)
                assert answer.value == put_in_order[len(got) - 1], "first in, first out"
        assert places.size("q") == len(inside) - len(got)
        assert room == 0 or places.size("q") <= room
        assert not (getting and places.size("q")), "nobody waits while there is something"


@pytest.mark.parametrize("seed", range(40))
def test_lock_has_one_holder_at_a_time(seed: int) -> None:
    draw = random.Random(seed)
    places, numbers = Places(), iter(range(10**6))
    holder: int | None = None
    waiting: deque[Ticket] = deque()
    abandoned = False
    for _ in range(400):
        task, what = draw.randrange(1, 6), draw.random()
        if what < 0.5:
            waiting.append(Ticket(task, next(numbers)))
            places.acquire("l", waiting[-1])
        elif what < 0.8:
            assert places.release("l", task) == (holder == task)
            if holder == task:
                holder = None
        else:
            waiting = deque(t for t in waiting if t.task != task)
            places.gone(task)
            if holder == task:
                abandoned, holder = True, None
        for answer in places.take():
            assert holder is None and answer.ticket == waiting.popleft(), "in the order in which they asked"
            holder = answer.ticket.task
            assert answer.value is abandoned
            abandoned = False
        assert (holder is None) <= (not waiting) and places.is_locked("l") == (holder is not None)


def test_barrier_opens_or_breaks_for_all() -> None:
    places = Places()
    places.meet("b", 3, Ticket(1, 1))
    places.meet("b", 3, Ticket(2, 2))
    assert places.take() == [] and places.waiting_at("b") == 2
    places.meet("b", 3, Ticket(3, 3))
    assert [(a.ticket.task, a.value) for a in places.take()] == [(1, 0), (2, 1), (3, 2)]
    places.meet("b", 2, Ticket(1, 4))
    places.gone(1)
    places.meet("b", 2, Ticket(2, 5))
    (answer,) = places.take()
    assert answer.error is not None and "task t1 has ended" in answer.error[1]
    places.reset("b")
    places.meet("b", 2, Ticket(2, 6))
    places.meet("b", 3, Ticket(3, 7))
    (answer,) = places.take()
    assert answer.error is not None and "for 2 parties, not for 3" in answer.error[1]


def test_places_free_finished_entries() -> None:
    places = Places()
    places.put("q", 0, "x", Ticket(1, 1))
    places.get("q", Ticket(1, 2))
    places.acquire("l", Ticket(1, 3))
    places.release("l", 1)
    places.set("e")
    places.clear("e")
    places.wait("e", Ticket(1, 4))
    places.gone(1)
    assert places.is_empty


# --- The real ones ---

pytestmark = pytest.mark.usefixtures("machine")


def test_queue_passes_items_between_tasks() -> None:
    numpy = pytest.importorskip("numpy")
    jobs, done = parvum.Queue("jobs"), parvum.Queue("done")
    support.spawn(
        """
        while (job := parvum.Queue("jobs").get()) is not None:
            parvum.Queue("done").put((job, job * 2))
        """,
        2,
    )
    for n in range(20):
        jobs.put(n)
    assert sorted(done.get(timeout=60) for _ in range(20)) == [(n, 2 * n) for n in range(20)]
    large = numpy.arange(200_000.0)
    jobs.put(large)
    back = done.get(timeout=60)
    assert (back[1] == 2 * large).all()
    jobs.put(None)
    jobs.put(None)


def test_queue_has_bounded_room() -> None:
    small = parvum.Queue("small", maxsize=2)
    small.put(1)
    small.put_nowait(2)
    with pytest.raises(queue.Full):
        small.put(3, timeout=0.01)
    with pytest.raises(queue.Full):
        small.put_nowait(3)
    assert [small.get(), small.get_nowait()] == [1, 2] and small.empty()
    with pytest.raises(queue.Empty):
        small.get(timeout=0.01)
    with pytest.raises(queue.Empty):
        small.get_nowait()


def test_event_wakes_all_waiters() -> None:
    event, came = parvum.Event("go"), parvum.Queue("came")
    assert not event.is_set() and not event.wait(0.01)
    support.spawn('parvum.Queue("came").put(parvum.Event("go").wait())', 2)
    event.set()
    assert [came.get(timeout=60) for _ in range(2)] == [True, True]
    assert event.wait() and event.is_set()
    event.clear()
    assert not event.is_set()


def test_barrier_joins_tasks_and_threads() -> None:
    came = parvum.Queue("places")
    support.spawn('parvum.Queue("places").put(parvum.Barrier("meeting", 3).wait())', 2)
    mine = parvum.Barrier("meeting", 3).wait(60)
    assert sorted([mine, came.get(timeout=60), came.get(timeout=60)]) == [0, 1, 2]


def test_barrier_breaks_when_a_waiter_dies() -> None:
    barrier = parvum.Barrier("broken", 3)
    (task,) = support.spawn('parvum.Barrier("broken", 3).wait()')
    support.eventually(lambda: barrier.n_waiting == 1)
    parvum.enrol().kill(task, 9)
    with pytest.raises(threading.BrokenBarrierError, match="has ended"):
        while True:
            barrier.wait(0.05) if barrier.n_waiting == 0 else None
    barrier.reset()
    with pytest.raises(threading.BrokenBarrierError, match="not all came"):
        barrier.wait(0.01)


def test_lock_passes_on_from_dead_task() -> None:
    lock, told = parvum.Lock("lock"), parvum.Queue("told")
    (task,) = support.spawn('parvum.Lock("lock").acquire(); parvum.Queue("told").put(1); time.sleep(1000)')
    assert told.get(timeout=60) == 1
    assert lock.locked() and not lock.acquire(timeout=0.01) and not lock.acquire(blocking=False)
    with pytest.raises(RuntimeError, match="does not hold"):
        lock.release()
    parvum.enrol().kill(task, 9)
    with lock:
        assert lock.abandoned
    with lock:
        assert not lock.abandoned
    assert not lock.locked()


def test_queue_items_are_lost_with_keeper_and_reported() -> None:
    from parvum.actors.keeper import NAME

    waiting: list[BaseException] = []

    def wait() -> None:
        try:
            parvum.Queue("nothing").get()
        except parvum.PlaceLost as lost:
            waiting.append(lost)

    thread = threading.Thread(target=wait)
    parvum.Queue("something").put(1)
    thread.start()
    parvum.kill(parvum.find(NAME))
    thread.join()
    support.eventually(lambda: works_anew())
    assert len(waiting) <= 1
    for lost in waiting:
        assert f"queue 'nothing' is lost: actor {NAME!r} (t" in str(lost)


def works_anew() -> bool:
    try:
        parvum.Queue("something").put(2)
        return parvum.Queue("something").get(timeout=60) == 2
    except parvum.PlaceLost:
        return False


def test_queue_and_lock_users_have_no_receiver_thread() -> None:
    """A second thread that waits for messages would be woken with each answer: that made them slower than a Manager's."""
    done = support.run(
        """
        import threading
        import parvum
        queue, lock = parvum.Queue("alone"), parvum.Lock("alone")
        for number in range(10):
            queue.put(number)
            with lock:
                assert queue.get() == number
        print(threading.active_count())
        """
    )
    assert done.stdout == "1\n", done.stderr
