"""Named queues, events, barriers and locks, as a state machine without messages, threads or clocks.

A *ticket* represents a task that waits. `take` returns the tickets that have stopped waiting, with their results. A
ticket gets one answer, or is cancelled. When a task ends (`gone`), its tickets are cancelled, and its locks go to
the next waiting task. If the task waits in a barrier, the barrier breaks.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any, NamedTuple


class Ticket(NamedTuple):
    """A caller that waits: its task, and the number that the task has given to this wait."""

    task: int
    number: int


class Answer(NamedTuple):
    """The result of a ticket: a value, or an error's name and text."""

    ticket: Ticket
    value: Any = None
    error: tuple[str, str] | None = None


class _Queue:
    def __init__(self, room: int) -> None:
        self.room = room
        self.items: deque[tuple[Ticket | None, Any]] = deque()
        """The items of the queue; each is stored with the ticket of its `put`."""
        self.getters: deque[Ticket] = deque()
        self.putters: deque[tuple[Ticket, Any]] = deque()


class _Barrier:
    def __init__(self, parties: int) -> None:
        self.parties = parties
        self.waiting: list[Ticket] = []
        self.broken: str | None = None


class _Lock:
    def __init__(self) -> None:
        self.owner: int | None = None
        self.abandoned = False
        """The last owner died while it held the lock, and no task has had the lock since."""
        self.waiting: deque[Ticket] = deque()


class Places:
    """All named objects."""

    def __init__(self) -> None:
        self.answers: list[Answer] = []
        self.queues: dict[str, _Queue] = {}
        self.events: dict[str, tuple[bool, list[Ticket]]] = {}
        self.barriers: dict[str, _Barrier] = {}
        self.locks: dict[str, _Lock] = {}

    @property
    def is_empty(self) -> bool:
        """True if this object stores nothing that a task could need."""
        held = any(lock.owner is not None for lock in self.locks.values())
        return not (self.queues or self.events or self.barriers or held)

    def take(self) -> list[Answer]:
        """Returns the answers that must be sent, and removes them."""
        answers, self.answers = self.answers, []
        return answers

    # --- queues ---

    def put(self, name: str, room: int, item: Any, ticket: Ticket) -> None:
        """Adds an item at the end of the queue, or waits if the queue already has `room` items (0: never waits)."""
        queue = self.queues.setdefault(name, _Queue(room))
        queue.room = room or queue.room
        queue.putters.append((ticket, item))
        self._move(name, queue)

    def get(self, name: str, ticket: Ticket) -> None:
        """Takes the first item, or waits if there is none."""
        queue = self.queues.setdefault(name, _Queue(0))
        queue.getters.append(ticket)
        self._move(name, queue)

    def unget(self, name: str, item: Any) -> None:
        """Puts an item back at the front of the queue, because the task that called `get` did not receive the item."""
        queue = self.queues.setdefault(name, _Queue(0))
        queue.items.appendleft((None, item))
        self._move(name, queue)

    def unput(self, name: str, ticket: Ticket) -> None:
        """Removes the item that this ticket's `put` added, unless another task has already taken the item."""
        if (queue := self.queues.get(name)) is not None:
            queue.items = deque(item for item in queue.items if item[0] != ticket)
            self._move(name, queue)

    def size(self, name: str) -> int:
        """The number of items in a queue."""
        return len(self.queues[name].items) if name in self.queues else 0

    def _move(self, name: str, queue: _Queue) -> None:
        moved = True
        while moved:
            moved = False
            if queue.putters and (queue.room == 0 or len(queue.items) < queue.room or queue.getters):
                ticket, item = queue.putters.popleft()
                queue.items.append((ticket, item))
                self.answers.append(Answer(ticket))
                moved = True
            if queue.items and queue.getters:
                self.answers.append(Answer(queue.getters.popleft(), queue.items.popleft()[1]))
                moved = True
        if not (queue.items or queue.getters or queue.putters):
            del self.queues[name]

    # --- events ---

    def set(self, name: str) -> None:
        """Sets an event: all its waiting callers continue."""
        _, waiting = self.events.get(name, (False, []))
        self.events[name] = (True, [])
        self.answers.extend(Answer(ticket, True) for ticket in waiting)

    def clear(self, name: str) -> None:
        """Clears an event."""
        is_set, waiting = self.events.get(name, (False, []))
        if waiting:
            self.events[name] = (False, waiting)
        elif is_set:
            del self.events[name]

    def is_set(self, name: str) -> bool:
        """True if the event is set."""
        return self.events.get(name, (False, []))[0]

    def wait(self, name: str, ticket: Ticket) -> None:
        """Waits until an event is set."""
        is_set, waiting = self.events.get(name, (False, []))
        if is_set:
            self.answers.append(Answer(ticket, True))
        else:
            self.events[name] = (False, [*waiting, ticket])

    # --- barriers ---

    def meet(self, name: str, parties: int, ticket: Ticket) -> None:
        """Waits until `parties` callers have arrived. Each caller gets its number in the order of arrival."""
        barrier = self.barriers.setdefault(name, _Barrier(parties))
        if barrier.broken is not None:
            self.answers.append(Answer(ticket, error=("BrokenBarrierError", barrier.broken)))
        elif barrier.parties != parties:
            text = f"barrier {name!r} is for {barrier.parties} parties, not for {parties}"
            self.answers.append(Answer(ticket, error=("ValueError", text)))
        else:
            barrier.waiting.append(ticket)
            if len(barrier.waiting) == parties:
                self.answers.extend(Answer(waits, place) for place, waits in enumerate(barrier.waiting))
                del self.barriers[name]

    def break_barrier(self, name: str, parties: int, why: str) -> None:
        """Breaks a barrier: callers that wait, and later callers, fail until the barrier is reset."""
        barrier = self.barriers.setdefault(name, _Barrier(parties))
        barrier.broken = why
        self.answers.extend(Answer(ticket, error=("BrokenBarrierError", why)) for ticket in barrier.waiting)
        barrier.waiting = []

    def reset(self, name: str) -> None:
        """Resets a barrier; its waiting callers fail."""
        if (barrier := self.barriers.pop(name, None)) is not None:
            why = f"barrier {name!r} was reset"
            self.answers.extend(Answer(ticket, error=("BrokenBarrierError", why)) for ticket in barrier.waiting)

    def waiting_at(self, name: str) -> int:
        """The number of callers that wait at a barrier."""
        return len(self.barriers[name].waiting) if name in self.barriers else 0

    # --- locks ---

    def acquire(self, name: str, ticket: Ticket) -> None:
        """Waits for a lock. The new holder gets True if the previous holder died while it held the lock, otherwise False."""
        lock = self.locks.setdefault(name, _Lock())
        if lock.owner is None:
            lock.owner = ticket.task
            self.answers.append(Answer(ticket, lock.abandoned))
            lock.abandoned = False
        else:
            lock.waiting.append(ticket)

    def release(self, name: str, task: int, abandoned: bool = False) -> bool:
        """Gives a lock to the next task; False: the task does not hold the lock. `abandoned`: the result that the next task gets from `acquire`."""
        lock = self.locks.get(name)
        if lock is None or lock.owner != task:
            return False
        self._pass_on(name, lock, abandoned)
        return True

    def is_locked(self, name: str) -> bool:
        """True if a task holds the lock."""
        return name in self.locks and self.locks[name].owner is not None

    def _pass_on(self, name: str, lock: _Lock, abandoned: bool) -> None:
        if lock.waiting:
            ticket = lock.waiting.popleft()
            lock.owner = ticket.task
            self.answers.append(Answer(ticket, abandoned))
        elif abandoned:
            lock.owner, lock.abandoned = None, True
        else:
            del self.locks[name]

    # --- the end of waits ---

    def give_up(self, ticket: Ticket) -> bool:
        """Cancels a ticket's wait; False: the ticket was already answered."""
        return self._drop(ticket.__eq__, None)

    def undo(self, what: str, name: str, ticket: Ticket, value: Any) -> None:
        """Takes back an answer that the caller of the ticket did not receive. A barrier that has opened stays open."""
        if what == "put":
            self.unput(name, ticket)
        elif value is None:
            # The ticket was given up before.
            return
        elif what == "get":
            self.unget(name, value)
        elif what == "acquire":
            self.release(name, ticket.task, abandoned=bool(value))

    def gone(self, task: int) -> None:
        """Ends all waits of a task that has ended, and releases its locks."""

        def of_task(ticket: Ticket) -> bool:
            return ticket.task == task

        self._drop(of_task, f"task t{task:x} has ended while it waited there")
        for name, lock in list(self.locks.items()):
            if lock.owner == task:
                self._pass_on(name, lock, abandoned=True)

    def _drop(self, which: Callable[[Ticket], bool], breaks: str | None) -> bool:
        found = False
        for name, queue in list(self.queues.items()):
            count = len(queue.getters) + len(queue.putters)
            queue.getters = deque(ticket for ticket in queue.getters if not which(ticket))
            queue.putters = deque(pair for pair in queue.putters if not which(pair[0]))
            found |= count != len(queue.getters) + len(queue.putters)
            self._move(name, queue)
        for name, (is_set, waiting) in list(self.events.items()):
            left = [ticket for ticket in waiting if not which(ticket)]
            found |= len(left) != len(waiting)
            if left or is_set:
                self.events[name] = (is_set, left)
            else:
                del self.events[name]
        for lock in self.locks.values():
            count = len(lock.waiting)
            lock.waiting = deque(ticket for ticket in lock.waiting if not which(ticket))
            found |= count != len(lock.waiting)
        for name, barrier in list(self.barriers.items()):
            left = [ticket for ticket in barrier.waiting if not which(ticket)]
            if len(left) != len(barrier.waiting):
                found = True
                barrier.waiting = left
                self.break_barrier(name, barrier.parties, breaks or f"somebody waited at barrier {name!r} no longer")
        return found
