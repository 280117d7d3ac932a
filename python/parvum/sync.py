"""`Queue`, `Event`, `Barrier` and `Lock` by name: the same for all tasks of the machine, on all its hosts.

They are kept by an actor (`parvum.actors.keeper`), which the first use starts. When that is lost with its host,
operations under way raise `PlaceLost`, and what was kept is lost; later operations begin anew.
"""

from __future__ import annotations

import os
import queue
from concurrent.futures import TimeoutError as FuturesTimeout
from itertools import count
from types import TracebackType
from typing import Any

from parvum import errors
from parvum.actors.client import ActorLost, client
from parvum.actors.handles import Handle, find
from parvum.actors.keeper import NAME, Keeper
from parvum.pool.calls import pack, unpack

_numbers = count(1)
_keeper: tuple[int, Handle] | None = None


class PlaceLost(errors.ParvumError):
    """The queues, events, barriers and locks of the machine were lost with the host that kept them."""

    code = "E-PLACES"
    remedy = "begin anew: the next operation finds empty queues, free locks and cleared events"


def _find(what: str) -> Handle:
    """The keeper; it is started if there is none."""
    global _keeper
    if _keeper is not None and _keeper[0] == os.getpid():
        return _keeper[1]
    for _ in range(20):
        try:
            found = find(NAME)
        except errors.NoEntry:
            try:
                found = Keeper.start(name=NAME, detached=True, output=False)
            except errors.Refused:
                # Another task has started one at the same time.
                continue
        _keeper = os.getpid(), found
        return found
    raise PlaceLost(f"{what} has no place: who keeps it can neither be found nor started")


def _ask(what: str, method: str, *args: Any) -> Any:
    global _keeper
    for last in (False, True):
        fresh = _keeper is None
        try:
            return getattr(_find(what), method)(*args).result()
        except ActorLost as lost:
            _keeper = None
            # It had ended before anything was asked of it.
            if not fresh or last:
                raise PlaceLost(f"{what} is lost: {lost.cause}") from lost
    raise AssertionError


def _wait(what: str, method: str, args: tuple[Any, ...], timeout: float | None) -> Any:
    """An operation that may wait. Raises `TimeoutError` when the time is over; then it is taken back."""
    global _keeper
    if _keeper is None or _keeper[0] != os.getpid():
        # The keeper may be about to end, for nobody uses it: this makes us a user.
        _ask(what, "now", "is_set", "")
    number = next(_numbers)
    answer = _find(what).wait(method, number, *args)
    try:
        try:
            return answer.result(timeout)
        except FuturesTimeout:
            if answer.done() or not _ask(what, "give_up", number):
                return answer.result()
            raise errors.TimedOut(f"nothing came in {timeout} s") from None
        except KeyboardInterrupt:
            _ask(what, "give_up", number)
            raise
    except ActorLost as lost:
        _keeper = None
        raise PlaceLost(f"{what} is lost: {lost.cause}") from lost


class _Named:
    def __init__(self, name: str) -> None:
        if not name:
            raise ValueError("the name is empty")
        client()
        self.name = name

    @property
    def _what(self) -> str:
        """How failures name it."""
        return f"{type(self).__name__.lower()} {self.name!r}"

    def __repr__(self) -> str:
        return f"<parvum.{type(self).__name__} {self.name!r}>"


class Queue(_Named):
    """A queue: first in, first out, for any number of tasks that put and get. The methods are those of `queue.Queue`.

    `maxsize`: `put` waits while so many items are in it; 0: never. An item is given to one getter; when that task
    dies before it has looked at it, the item is gone.

    >>> import parvum
    >>> parvum.Queue("jobs").put(("a", 1))
    >>> parvum.Queue("jobs").get()
    ('a', 1)
    """

    def __init__(self, name: str, maxsize: int = 0) -> None:
        super().__init__(name)
        if maxsize < 0:
            raise ValueError(f"maxsize is {maxsize}; it must be 0 or more")
        self.maxsize = maxsize

    def put(self, item: Any, block: bool = True, timeout: float | None = None) -> None:
        """Puts an item at the end. Raises `queue.Full` when there is no room in time (seconds)."""
        packed = pack(item, ())
        data = (packed.data, [bytes(buffer.raw()) for buffer in packed.buffers])
        try:
            _wait(self._what, "put", (self.name, self.maxsize, data), timeout if block else 0)
        except errors.TimedOut:
            raise queue.Full from None

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Takes the first item. Raises `queue.Empty` when there is none in time (seconds)."""
        try:
            data, buffers = _wait(self._what, "get", (self.name,), timeout if block else 0)
        except errors.TimedOut:
            raise queue.Empty from None
        return unpack(data, [bytearray(buffer) for buffer in buffers])

    def put_nowait(self, item: Any) -> None:
        """Puts an item, or raises `queue.Full`."""
        self.put(item, False)

    def get_nowait(self) -> Any:
        """Takes an item, or raises `queue.Empty`."""
        return self.get(False)

    def qsize(self) -> int:
        """Items in it now."""
        size: int = _ask(self._what, "now", "size", self.name)
        return size

    def empty(self) -> bool:
        """Is it empty now?"""
        return self.qsize() == 0


class Event(_Named):
    """An event: set, or not. The methods are those of `threading.Event`."""

    def set(self) -> None:
        """All who wait go on."""
        _ask(self._what, "now", "set", self.name)

    def clear(self) -> None:
        """Who waits from now on, waits."""
        _ask(self._what, "now", "clear", self.name)

    def is_set(self) -> bool:
        """Is it set now?"""
        is_set: bool = _ask(self._what, "now", "is_set", self.name)
        return is_set

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until it is set; False when the time (seconds) is over."""
        try:
            _wait(self._what, "wait", (self.name,), timeout)
        except errors.TimedOut:
            return False
        return True


class Barrier(_Named):
    """A meeting of `parties` tasks or threads. The methods are those of `threading.Barrier`.

    When one of those who wait dies or waits no longer, the others get `threading.BrokenBarrierError`, which says
    who, and so does everybody until `reset`.
    """

    def __init__(self, name: str, parties: int) -> None:
        super().__init__(name)
        if parties < 1:
            raise ValueError(f"parties is {parties}; it must be 1 or more")
        self.parties = parties

    def wait(self, timeout: float | None = None) -> int:
        """Waits for the others; which one this was, from 0."""
        try:
            place: int = _wait(self._what, "meet", (self.name, self.parties), timeout)
        except errors.TimedOut:
            import threading

            raise threading.BrokenBarrierError(f"not all came to barrier {self.name!r} in {timeout} s") from None
        return place

    def abort(self) -> None:
        """Breaks it: everybody who waits fails."""
        _ask(self._what, "now", "break_barrier", self.name, self.parties, f"barrier {self.name!r} was aborted")

    def reset(self) -> None:
        """Makes it whole again; who waits now fails."""
        _ask(self._what, "now", "reset", self.name)

    @property
    def n_waiting(self) -> int:
        """How many wait now."""
        waiting: int = _ask(self._what, "now", "waiting_at", self.name)
        return waiting


class Lock(_Named):
    """A lock, which a task holds. The methods are those of `threading.Lock`; it is a context manager.

    When the task that holds it dies, the next gets it, and `abandoned` is True there: what the lock guards may
    be half changed.
    """

    abandoned = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Waits for it; False when the time (seconds; negative: without end) is over."""
        limit = 0 if not blocking else None if timeout < 0 else timeout
        try:
            self.abandoned = bool(_wait(self._what, "acquire", (self.name,), limit))
        except errors.TimedOut:
            return False
        return True

    def release(self) -> None:
        """Gives it to the next. Raises `RuntimeError` when this task does not hold it."""
        if not _ask(self._what, "release", self.name):
            raise RuntimeError(f"this task does not hold lock {self.name!r}")

    def locked(self) -> bool:
        """Does any task hold it?"""
        held: bool = _ask(self._what, "now", "is_locked", self.name)
        return held

    def __enter__(self) -> Lock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()
