"""The scheduler of a pool, as a state machine: it assigns calls to workers.

The scheduler itself uses no messages, processes or clocks. Its owner reports what happened (`submit`, `result`,
`lost` ...), and executes the commands that `take` returns. A command is to send calls to a worker, to ask a worker to
give back calls, or to stop a worker. All methods return immediately; the owner ensures that only one thread calls a
method at a time.

The scheduler guarantees:

- Only one worker has a call at a time, or two workers if the owner has requested a repeat. The first result of the
  call counts, and later results are dropped.
- A worker runs its calls in the order in which it got them. It gives back only calls that have not begun, the last
  calls first. If the worker dies, only its oldest call without a result may have begun. Its other calls wait again, and
  keep all their retries.
- A call that may have begun on a dead worker runs again if it is declared idempotent, at most `retries` times;
  otherwise it is reported lost.
- A worker gets enough calls in advance, so that it never waits for the next call: if the calls are shorter, it gets
  more calls. If a worker is idle and another worker has unbegun calls, the scheduler asks the other worker to give back
  half of these calls.
"""

from __future__ import annotations

from collections import deque
from typing import Final, NamedTuple

UNKNOWN_DEPTH: Final = 2
"""The number of calls that a worker gets in advance, while the length of calls is unknown."""

DEEPEST: Final = 128
"""The largest number of calls that a worker may have."""

AHEAD: Final = 0.003
"""Seconds of work that a worker gets in advance."""

LONG: Final = 0.5
"""Calls that are longer than this number of seconds are sent one by one, because the time of a message is then unimportant."""


class Call:
    """One call of a pool, as the scheduler sees it. `item` belongs to the owner."""

    __slots__ = ("abandoned", "done", "holders", "item", "number", "repeated", "retries", "tries")

    def __init__(self, number: int, item: object, retries: int | None = None) -> None:
        self.number = number
        self.item = item
        # None: the call may begin only once, because it is not idempotent.
        self.retries = retries
        self.holders: list[Worker] = []
        self.done = False
        self.abandoned = False
        """True if the result is not wanted: workers that have the call must stop it."""
        self.repeated = False
        self.tries = 1
        """How often the call may have begun: this number grows by one each time that a worker dies during the call."""

    def __repr__(self) -> str:
        return f"<Call {self.number} with {[w.name for w in self.holders]}{' done' if self.done else ''}>"


class Worker:
    """One worker as the scheduler sees it. `held` has its calls in the order of execution."""

    __slots__ = ("asked", "held", "host", "name", "retiring")

    def __init__(self, name: int, host: str) -> None:
        self.name = name
        self.host = host
        self.held: dict[int, Call] = {}
        self.asked = False
        self.retiring = False


class Hand(NamedTuple):
    """Command: send these calls to a worker, in this order."""

    worker: Worker
    calls: list[Call]


class Ask(NamedTuple):
    """Command: ask a worker to give back at most `most` calls that have not begun. The worker answers with `returned`."""

    worker: Worker
    most: int


class Stop(NamedTuple):
    """Command: end a worker. The worker has no calls, and the schedule has removed it."""

    worker: Worker


Order = Hand | Ask | Stop


class Schedule:
    """The calls and workers of one pool.

    >>> pool = Schedule()
    >>> pool.grow(1, "here")
    >>> pool.submit(Call(7, "the call"))
    >>> pool.take()
    [Hand(worker=..., calls=[<Call 7 with [1]>])]
    >>> pool.result(1, 7, 0.001).item
    'the call'
    """

    def __init__(self) -> None:
        self.workers: dict[int, Worker] = {}
        self.waiting: deque[Call] = deque()
        self.orders: list[Order] = []
        self.mean: float | None = None
        """The average seconds of a call; recent calls have the most weight."""
        self.depth = UNKNOWN_DEPTH
        self.unfinished = 0
        """Unfinished calls: with workers or waiting."""
        # Workers without a call, and others that may get more, in order of age.
        self._idle: dict[int, Worker] = {}
        self._room: dict[int, Worker] = {}

    def take(self) -> list[Order]:
        """Returns the commands that have not been returned yet, in sequence."""
        orders, self.orders = self.orders, []
        return orders

    # --- calls ---

    def submit(self, call: Call, first: bool = False) -> None:
        """Adds a call. The call goes to an idle worker, or to a worker with room, or waits; `first`: it waits before the other calls."""
        self.unfinished += 1
        if not self.waiting:
            for free in (self._idle, self._room):
                for worker in free.values():
                    self._hand(worker, [call])
                    return
        if first:
            self.waiting.appendleft(call)
        else:
            self.waiting.append(call)

    def cancel(self, call: Call) -> bool:
        """Drops a call if no worker has it."""
        if call.done or call.holders:
            return False
        self._end(call)
        return True

    def abandon(self, call: Call) -> list[Worker] | None:
        """Drops a call, even if workers have it. Returns the workers that have the call and must stop it; None: the call had already ended."""
        if call.done:
            return None
        call.abandoned = True
        self._end(call)
        return list(call.holders)

    def drop_waiting(self) -> list[Call]:
        """Drops all calls that no worker has, and returns them."""
        dropped = [call for call in self.waiting if not call.done]
        for call in dropped:
            self._end(call)
        self.waiting.clear()
        return dropped

    def result(self, name: int, number: int, seconds: float) -> Call | None:
        """Records that a worker has run a call, and the seconds that the call took; below 0: the call has not begun.

        Returns the call, or None if the call already had a result or has been dropped.
        """
        worker = self.workers.get(name)
        if worker is None:
            return None
        call = worker.held.pop(number, None)
        if call is None:
            return None
        call.holders.remove(worker)
        if seconds >= 0:
            mean = self.mean
            self.mean = mean = seconds if mean is None else mean + (seconds - mean) * 0.125
            self.depth = 1 if mean > LONG else min(DEEPEST, 2 + int(AHEAD / (mean + 1e-6)))
        if len(worker.held) * 2 <= self.depth:
            self._refill(worker)
        if call.done:
            return None
        self._end(call)
        return call

    def returned(self, name: int, numbers: list[int]) -> None:
        """Records that a worker gives back calls that have not begun. The list is empty if all calls have begun."""
        worker = self.workers.get(name)
        if worker is None:
            return
        worker.asked = False
        back = [call for call in (worker.held.pop(number, None) for number in numbers) if call is not None]
        for call in sorted(back, key=lambda call: call.number, reverse=True):
            call.holders.remove(worker)
            if not call.done and not call.holders:
                self.waiting.appendleft(call)
        self._serve_idle()
        if worker.retiring and back:
            self._empty(worker)
        self._settle(worker)

    # --- workers ---

    def grow(self, name: int, host: str) -> None:
        """Adds a worker that is ready for calls."""
        assert name not in self.workers, f"worker {name} is here already"
        worker = self.workers[name] = Worker(name, host)
        self._refill(worker)

    def shrink(self, name: int) -> None:
        """Ends a worker: it gets no more calls, gives back its unbegun calls, and ends after its running call."""
        worker = self.workers[name]
        if worker.retiring:
            return
        worker.retiring = True
        self._empty(worker)
        self._settle(worker)

    def lost(self, name: int, all_begun: bool = False) -> list[Call]:
        """Records the death of a worker. Returns its lost calls; its other calls continue elsewhere.

        The owner must first report all results of the worker. If the host of the worker is lost, results may be
        missing: set `all_begun`. The scheduler then assumes that any call of the worker may have begun.
        """
        worker = self.workers.pop(name, None)
        if worker is None:
            return []
        self._idle.pop(name, None)
        self._room.pop(name, None)
        failed: list[Call] = []
        back: list[Call] = []
        for place, call in enumerate(worker.held.values()):
            call.holders.remove(worker)
            call.repeated = False
            if call.done or call.holders:
                continue
            if place == 0 or all_begun:
                if not call.retries:
                    self._end(call)
                    failed.append(call)
                    continue
                call.retries -= 1
                call.tries += 1
            back.append(call)
        self.waiting.extendleft(reversed(back))
        self._serve_idle()
        return failed

    def repeat(self) -> int:
        """Gives idle workers a second copy of the idempotent calls that have run longest; returns the number of copies.

        While the first worker of a call is alive, the call is repeated only once.
        """
        if self.waiting:
            return 0
        count = 0
        for worker in self.workers.values():
            if not self._idle:
                break
            call = next(iter(worker.held.values()), None)
            if call is None or call.retries is None or call.repeated or call.done:
                continue
            call.repeated = True
            self._hand(next(iter(self._idle.values())), [call])
            count += 1
        return count

    def ask_again(self) -> None:
        """If a worker is idle and an earlier request brought no calls, asks other workers for calls again."""
        if self.is_uneven:
            self._ask_back()

    # --- queries ---

    @property
    def is_uneven(self) -> bool:
        """True if a worker is idle, and another worker may hold unbegun calls that the pool has not asked for."""
        return bool(self._idle) and any(len(worker.held) > 1 and not worker.asked for worker in self.workers.values())

    def all_calls(self) -> list[Call]:
        """Unfinished calls, oldest first."""
        held = {call.number: call for worker in self.workers.values() for call in worker.held.values()}
        held.update((call.number, call) for call in self.waiting)
        return [call for _, call in sorted(held.items()) if not call.done]

    def running(self, name: int) -> Call | None:
        """The running call of a worker: the oldest of its calls."""
        worker = self.workers.get(name)
        return None if worker is None else next(iter(worker.held.values()), None)

    @property
    def some_idle(self) -> bool:
        """True if a worker has no call."""
        return bool(self._idle)

    # --- inside ---

    def _end(self, call: Call) -> None:
        call.done = True
        self.unfinished -= 1

    def _hand(self, worker: Worker, calls: list[Call]) -> None:
        for call in calls:
            worker.held[call.number] = call
            call.holders.append(worker)
        self.orders.append(Hand(worker, calls))
        self._place(worker)

    def _place(self, worker: Worker) -> None:
        """Puts a worker into the list in which `submit` looks for workers."""
        name, load = worker.name, len(worker.held)
        self._idle.pop(name, None)
        self._room.pop(name, None)
        if worker.retiring:
            return
        if load == 0:
            self._idle[name] = worker
        elif load < self.depth:
            self._room[name] = worker

    def _refill(self, worker: Worker, sharers: int = 0) -> None:
        """Gives a worker as many calls as it has room for, or asks other workers to give back calls."""
        if not worker.retiring and self.waiting:
            wanted, calls = self.depth - len(worker.held), list[Call]()
            # Near the end all workers get a share.
            wanted = min(wanted, -(-len(self.waiting) // (sharers or len(self.workers))))
            while len(calls) < wanted and self.waiting:
                call = self.waiting.popleft()
                if not call.done:
                    calls.append(call)
            if calls:
                self._hand(worker, calls)
                return
        self._settle(worker)
        if not worker.held and not worker.retiring:
            self._ask_back()

    def _empty(self, worker: Worker) -> None:
        if len(worker.held) > 1 and not worker.asked:
            worker.asked = True
            self.orders.append(Ask(worker, len(worker.held) - 1))

    def _settle(self, worker: Worker) -> None:
        self._place(worker)
        if worker.retiring and not worker.held and self.workers.pop(worker.name, None) is not None:
            self.orders.append(Stop(worker))

    def _serve_idle(self) -> None:
        """Assigns waiting calls: idle workers get them first, then workers with room."""
        for free in (self._idle, self._room):
            for left, worker in zip(range(len(free), 0, -1), list(free.values())):
                if not self.waiting:
                    return
                self._refill(worker, left)

    def _ask_back(self) -> None:
        """If a worker is idle and no call waits, asks the fullest worker for half of its unbegun calls."""
        fullest = max(self.workers.values(), key=lambda worker: 0 if worker.asked else len(worker.held))
        unbegun = len(fullest.held) - 1
        if unbegun >= 1 and not fullest.asked:
            fullest.asked = True
            self.orders.append(Ask(fullest, (unbegun + 1) // 2))
