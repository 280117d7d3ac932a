"""The scheduler of a pool under seeded simulations: workers, messages and deaths are made up, the orders are real."""

from __future__ import annotations

import random
from collections import Counter, deque
from dataclasses import dataclass, field

import pytest

from parvum.pool.schedule import AHEAD, Ask, Call, Hand, Schedule, Stop


@dataclass
class Simulated:
    """A worker: what is on its way to it, what it holds, and what it said that has not arrived."""

    name: int
    inbox: deque[Hand | Ask] = field(default_factory=deque)
    queue: deque[Call] = field(default_factory=deque)
    running: Call | None = None
    said: deque[tuple[str, object]] = field(default_factory=deque)


class World:
    """A pool with simulated workers; each step is one event drawn by the seed."""

    def __init__(self, seed: int, deaths: float, repeats: bool, hosts_die: bool = False) -> None:
        self.random = random.Random(seed)
        self.deaths = deaths
        self.repeats = repeats
        self.hosts_die = hosts_die
        self.pool = Schedule()
        self.workers: dict[int, Simulated] = {}
        self.names = 0
        self.begun: Counter[int] = Counter()
        self.died_running: Counter[int] = Counter()
        self.given_up: Counter[int] = Counter()
        self.delivered: Counter[int] = Counter()
        self.failed: Counter[int] = Counter()
        self.cancelled: set[int] = set()
        self.calls: dict[int, Call] = {}
        self.allowed: dict[int, int | None] = {}

    def grow(self) -> None:
        self.names += 1
        self.workers[self.names] = Simulated(self.names)
        self.pool.grow(self.names, "host")
        self.obey()

    def submit(self) -> None:
        number = len(self.calls)
        retries = self.random.choice([None, 0, 1, 5])
        call = self.calls[number] = Call(number, f"item {number}", retries)
        self.allowed[number] = retries
        self.pool.submit(call)
        self.obey()

    def obey(self) -> None:
        for order in self.pool.take():
            worker = self.workers[order.worker.name]
            if isinstance(order, Stop):
                assert not worker.queue and not worker.running and not any(isinstance(o, Hand) for o in worker.inbox), "stopped with calls in hand"
                del self.workers[worker.name]
            else:
                worker.inbox.append(order)

    def step(self) -> None:
        draw = self.random.random()
        if not self.workers:
            self.grow()
        worker = self.random.choice(list(self.workers.values()))
        if draw < self.deaths:
            self.die(worker)
        elif draw < 0.35 and worker.inbox:
            self.arrive(worker)
        elif draw < 0.65:
            self.work(worker)
        elif worker.said:
            self.hear(worker)
        if self.repeats and self.random.random() < 0.05:
            self.pool.repeat()
            self.obey()

    def arrive(self, worker: Simulated) -> None:
        order = worker.inbox.popleft()
        if isinstance(order, Hand):
            worker.queue.extend(order.calls)
        else:
            back = [worker.queue.pop().number for _ in range(min(order.most, len(worker.queue)))]
            worker.said.append(("returned", back))

    def work(self, worker: Simulated) -> None:
        if worker.running:
            worker.said.append(("result", worker.running.number))
            worker.running = None
        elif worker.queue:
            worker.running = worker.queue.popleft()
            self.begun[worker.running.number] += 1

    def hear(self, worker: Simulated) -> None:
        kind, what = worker.said.popleft()
        if kind == "returned":
            assert isinstance(what, list)
            self.pool.returned(worker.name, what)
        else:
            assert isinstance(what, int)
            call = self.pool.result(worker.name, what, self.random.choice([1e-6, 1e-3, 1.0]))
            if call is not None:
                self.delivered[call.number] += 1
        self.obey()

    def die(self, worker: Simulated) -> None:
        del self.workers[worker.name]
        host_gone = self.hosts_die and self.random.random() < 0.5
        if not host_gone:
            # What it sent before arrives before the news of its death.
            self.workers[worker.name] = worker
            while worker.said:
                self.hear(worker)
            if worker.name in self.workers:
                del self.workers[worker.name]
        held = [call.number for call in self.pool.workers[worker.name].held.values()] if worker.name in self.pool.workers else []
        if worker.running:
            self.died_running[worker.running.number] += 1
        for number in held if host_gone else held[:1]:
            self.given_up[number] += 1
        for call in self.pool.lost(worker.name, all_begun=host_gone):
            self.failed[call.number] += 1
        self.obey()
        if not self.workers or self.random.random() < 0.9:
            self.grow()

    def finish(self) -> None:
        self.deaths = 0
        for _ in range(400_000):
            if not self.pool.unfinished and not any(w.inbox or w.queue or w.running or w.said for w in self.workers.values()):
                return
            self.step()
        pytest.fail("calls are left over and nothing happens")


def check(world: World) -> None:
    for number in world.calls:
        outcomes = world.delivered[number] + world.failed[number] + (number in world.cancelled)
        assert outcomes == 1, f"call {number} ended {outcomes} times"
        allowed = world.allowed[number]
        if allowed is None:
            assert world.begun[number] <= 1, f"call {number} may run once and ran {world.begun[number]} times"
        else:
            # Each life of a call has one repeat at most.
            assert world.begun[number] <= (allowed + 1) * 2 + world.given_up[number]
        if world.failed[number]:
            assert world.given_up[number] > (allowed or 0), f"call {number} was given up too early"
    assert world.pool.unfinished == 0 and world.pool.all_calls() == []


@pytest.mark.parametrize("seed", range(60))
def test_calls_end_exactly_once_despite_deaths(seed: int) -> None:
    world = World(seed, deaths=0.01 if seed % 3 else 0, repeats=seed % 2 == 0, hosts_die=seed % 5 == 0)
    for _ in range(world.random.randint(1, 5)):
        world.grow()
    for _ in range(600):
        if world.random.random() < 0.5:
            world.submit()
        for _ in range(world.random.randint(0, 6)):
            world.step()
        draw = world.random.random()
        if draw < 0.02:
            world.grow()
        elif draw < 0.04 and len([w for w in world.pool.workers.values() if not w.retiring]) > 1:
            alive = [w.name for w in world.pool.workers.values() if not w.retiring]
            world.pool.shrink(world.random.choice(alive))
            world.obey()
        elif draw < 0.1 and world.calls:
            call = world.random.choice(list(world.calls.values()))
            if world.pool.cancel(call):
                world.cancelled.add(call.number)
    world.finish()
    check(world)


def test_unstarted_call_costs_no_retry() -> None:
    pool = Schedule()
    pool.grow(1, "a")
    calls = [Call(n, None, None) for n in range(2)]
    for call in calls:
        pool.submit(call)
    pool.take()
    assert pool.lost(1) == [calls[0]]
    pool.grow(2, "a")
    assert [order.calls for order in pool.take() if isinstance(order, Hand)] == [[calls[1]]]


def test_lost_host_counts_all_calls_as_begun() -> None:
    pool = Schedule()
    pool.grow(1, "a")
    calls = [Call(n, None, None) for n in range(2)]
    for call in calls:
        pool.submit(call)
    assert pool.lost(1, all_begun=True) == calls


def test_first_result_of_repeated_call_counts() -> None:
    pool = Schedule()
    pool.grow(1, "a")
    call = Call(0, None, 3)
    pool.submit(call)
    pool.grow(2, "a")
    pool.take()
    assert pool.repeat() == 1
    assert pool.repeat() == 0, "one copy is enough"
    assert pool.result(2, 0, 0.1) is call
    assert pool.result(1, 0, 9.0) is None
    assert pool.unfinished == 0


def test_schedule_batches_short_calls_only() -> None:
    for seconds, most, least in ((1e-6, 200, 100), (AHEAD / 3, 8, 3), (1.0, 1, 1)):
        pool = Schedule()
        pool.grow(1, "a")
        for number in range(1000):
            pool.submit(Call(number, None))
        number = 0
        for number in range(300):
            pool.result(1, number, seconds)
        held = len(pool.workers[1].held)
        assert least * 0.5 <= held <= most, f"{held} calls of {seconds} s ahead"


def test_idle_worker_gets_half_of_unstarted_calls() -> None:
    pool = Schedule()
    pool.grow(1, "a")
    for number in range(50):
        pool.submit(Call(number, None))
    for number in range(10):
        pool.result(1, number, 1e-6)
    held = len(pool.workers[1].held)
    assert held == 40
    pool.take()
    pool.grow(2, "b")
    (ask,) = pool.take()
    assert isinstance(ask, Ask) and ask.most == held // 2
    pool.returned(1, list(range(50 - ask.most, 50)))
    (hand,) = pool.take()
    assert isinstance(hand, Hand) and hand.worker.name == 2
    assert [call.number for call in hand.calls] == list(range(50 - ask.most, 50)), "in their order"


def test_retiring_worker_stops_when_it_has_no_calls() -> None:
    pool = Schedule()
    pool.grow(1, "a")
    pool.submit(Call(0, None))
    pool.submit(Call(1, None))
    pool.take()
    pool.shrink(1)
    (ask,) = pool.take()
    assert isinstance(ask, Ask) and ask.most == 1
    pool.returned(1, [1])
    assert pool.take() == []
    pool.result(1, 0, 0.1)
    (stop,) = pool.take()
    assert isinstance(stop, Stop)
    pool.grow(2, "a")
    (hand,) = pool.take()
    assert isinstance(hand, Hand) and hand.calls[0].number == 1


def test_cancelled_calls_are_never_handed_out() -> None:
    pool = Schedule()
    calls = [Call(n, None) for n in range(10)]
    for call in calls:
        pool.submit(call)
    assert all(pool.cancel(call) for call in calls[:9])
    pool.grow(1, "a")
    assert [order.calls for order in pool.take() if isinstance(order, Hand)] == [calls[9:]]
    assert not pool.cancel(calls[9])
