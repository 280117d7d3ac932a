"""`Queue`, `Event`, `Barrier` and `Lock`: objects with a name, which all tasks of the virtual machine can use, on all its hosts.

An actor (`parvum.actors.keeper`) stores these objects; the first use starts the actor. If the actor's host is lost,
running operations raise `PlaceLost`, and the contents of all objects are lost. Later operations use a new actor.
"""

from __future__ import annotations

import os
import pickle
import queue
import threading
from collections.abc import Callable
from itertools import count
from types import TracebackType
from typing import Any

import parvum
from parvum import errors
from parvum.actors import messages as m
from parvum.actors.client import lost, rest
from parvum.actors.handles import Handle, task_of
from parvum.actors.keeper import NAME, Keeper
from parvum.pool.calls import apart, pack, unpack
from parvum.pool.failures import Failure, restore

_numbers = count(1)
_keeper: tuple[int, Handle[Any]] | None = None
_places: dict[int, str] = {}
"""Names of hosts by their ids."""


class PlaceLost(errors.ParvumError):
    """The queues, events, barriers and locks of the virtual machine were lost with the host that stored them."""

    code = "E-PLACES"
    remedy = "begin anew: the next operation finds empty queues, free locks and cleared events"


def _find(what: str) -> Handle[Any]:
    """Returns the keeper (the actor that stores the objects), and starts a keeper if there is none."""
    global _keeper
    if _keeper is not None and _keeper[0] == os.getpid():
        return _keeper[1]
    for _ in range(20):
        entry = parvum.enrol().mailbox.get(f"actor:{NAME}")
        if entry is not None:
            found: Handle[Any] = Handle(*entry)
        else:
            try:
                found = Keeper.start(name=NAME, detached=True, output=False)
            except errors.Refused:
                # Another task has started a keeper at the same time.
                continue
            # Another waiting thread would wake with each answer to this thread.
            rest(task_of(found))
        _keeper = os.getpid(), found
        # After the host is lost, its name is no longer known.
        _places.update((int(host.id), host.name) for host in parvum.enrol().hosts())
        return found
    raise PlaceLost(f"{what} has no place: who keeps it can neither be found nor started")


_vm: tuple[int, parvum.Vm] | None = None


def _channel() -> parvum.Vm:
    """The channel of actors' messages."""
    global _vm
    if _vm is None or _vm[0] != os.getpid():
        _vm = os.getpid(), parvum.enrol().channel(m.CHANNEL)
    return _vm[1]


class _Call:
    """A call of the keeper. The calling thread itself receives the answer, without the help of another thread."""

    def __init__(self, keeper: Handle[Any], method: str, args: tuple[Any, ...]) -> None:
        self.keeper = task_of(keeper)
        self.vm = _channel()
        self.number = next(_numbers) % (1 << 30)
        self.came: Any = None
        self.is_taken_back = False
        head = m.HEAD.pack(m.CALL, m.DIRECT | self.number)
        # The call has only names, numbers and packed items, so plain pickle is enough.
        self.vm.send(head + pickle.dumps((method, args, {}), 5), self.keeper, m.CALLS)

    def answer(self, timeout: float | None = None) -> Any:
        """Waits for the answer. Raises the keeper's exception, `TimedOut`, or `TaskGone` if the keeper is gone."""
        if self.came is None:
            self.came = self.vm.recv(self.keeper, m.DIRECT_TAGS + self.number, timeout)
        data, buffers = apart(self.came)
        if data[:1] == m.VALUE:
            return unpack(memoryview(data)[m.HEAD.size :], buffers)
        raise restore(Failure(*pickle.loads(memoryview(data)[m.HEAD.size :])))


def _lost(what: str, gone: errors.TaskGone) -> PlaceLost:
    global _keeper
    actor = 0 if _keeper is None else task_of(_keeper[1])
    _keeper = None
    where = _places.get(int(parvum.TaskId(actor).host))
    return PlaceLost(f"{what} is lost: {lost(parvum.enrol(), actor, NAME, where).cause if actor else gone.cause}")


def _ask(what: str, method: str, *args: Any) -> Any:
    for last in (False, True):
        fresh = _keeper is None
        try:
            return _Call(_find(what), method, args).answer()
        except errors.TaskGone as gone:
            lost = _lost(what, gone)
            # The keeper had already ended before the first request.
            if not fresh or last:
                raise lost from gone
    raise AssertionError


def _wait(
    what: str,
    method: str,
    args: tuple[Any, ...],
    timeout: float | None,
    had: Callable[[Any], Any] = lambda value: value,
) -> Any:
    """Runs an operation that may wait. The function `had` turns the keeper's reply into the result. Raises `TimedOut` after the timeout.

    After a timeout this function cancels the operation. After an interrupt it undoes the operation: if the keeper has
    already sent an item, the item goes back to its place in the queue. An item is therefore never lost.
    """
    if _keeper is None or _keeper[0] != os.getpid():
        # The keeper ends when it has no users: this call makes this task a user.
        _ask(what, "now", "is_set", "")
    number = next(_numbers)
    call: _Call | None = None
    try:
        try:
            call = _Call(_find(what), "wait", (method, number, *args))
            return had(call.answer(timeout))
        except errors.TimedOut:
            assert call is not None
            if not _ask(what, "give_up", number):
                return had(call.answer())
            # The keeper answers in any case; the answer must be received, so that no message is left.
            call.answer()
            call.is_taken_back = True
            raise
    except errors.TaskGone as gone:
        raise _lost(what, gone) from gone
    except BaseException as error:
        if call is not None and (call.is_taken_back or (call.came is not None and isinstance(error, Exception))):
            # The timeout has passed, the keeper has refused, or the answer cannot be read.
            raise
        # A thread does this, because a second interrupt does not reach it.
        undoing = threading.Thread(target=_undo, args=(what, method, args, number, call), name="parvum-undo")
        undoing.start()
        undoing.join()
        raise


def _undo(what: str, method: str, args: tuple[Any, ...], number: int, call: _Call | None) -> None:
    """Undoes an interrupted operation; the keeper may already have answered it."""
    try:
        given_up = _ask(what, "give_up", number)
        if call is None:
            return
        value = call.answer()
        if not given_up:
            _ask(what, "undo", method, number, args[0], value)
    except (errors.ParvumError, threading.BrokenBarrierError, ValueError):
        # The keeper refused the operation or was lost with it: nothing has to be undone.
        return


class _Named:
    def __init__(self, name: str) -> None:
        if not name:
            raise ValueError("the name is empty")
        parvum.enrol()
        self.name = name

    @property
    def _what(self) -> str:
        """The name in error messages."""
        return f"{type(self).__name__.lower()} {self.name!r}"

    def __repr__(self) -> str:
        return f"<parvum.{type(self).__name__} {self.name!r}>"


class Queue(_Named):
    """A first-in, first-out queue. Any number of tasks may put and get. The methods are the same as in `queue.Queue`.

    `maxsize`: `put` waits while the queue has this many items; 0: `put` never waits. Each item goes to one getter. If
    the getter dies before it has read the item, the item is lost. If an interrupt (Ctrl-C) ends `get`, the item is
    still the first of the queue. If an interrupt ends `put`, the item is removed from the queue unless a getter
    already has it.

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
        """Adds an item at the end. Raises `queue.Full` if there is no room within the timeout (seconds)."""
        packed = pack(item, ())
        data = (packed.data, [bytes(buffer.raw()) for buffer in packed.buffers])
        try:
            _wait(self._what, "put", (self.name, self.maxsize, data), timeout if block else 0)
        except errors.TimedOut:
            raise queue.Full from None

    def get(self, block: bool = True, timeout: float | None = None) -> Any:
        """Takes the first item. Raises `queue.Empty` if there is none within the timeout (seconds)."""
        try:
            return _wait(self._what, "get", (self.name,), timeout if block else 0, _item)
        except errors.TimedOut:
            raise queue.Empty from None

    def put_nowait(self, item: Any) -> None:
        """Adds an item, or raises `queue.Full`."""
        self.put(item, False)

    def get_nowait(self) -> Any:
        """Takes an item, or raises `queue.Empty`."""
        return self.get(False)

    def qsize(self) -> int:
        """The present number of items."""
        size: int = _ask(self._what, "now", "size", self.name)
        return size

    def empty(self) -> bool:
        """True if the queue is empty now."""
        return self.qsize() == 0


def _item(given: tuple[bytes, list[bytes]]) -> Any:
    data, buffers = given
    return unpack(data, [bytearray(buffer) for buffer in buffers])


class Event(_Named):
    """An event, set or cleared. The methods are the same as in `threading.Event`."""

    def set(self) -> None:
        """Sets the event: all waiting tasks continue."""
        _ask(self._what, "now", "set", self.name)

    def clear(self) -> None:
        """Clears the event: later calls of `wait` wait."""
        _ask(self._what, "now", "clear", self.name)

    def is_set(self) -> bool:
        """True if the event is set now."""
        is_set: bool = _ask(self._what, "now", "is_set", self.name)
        return is_set

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the event is set; returns False if the timeout (seconds) passes first."""
        try:
            _wait(self._what, "wait", (self.name,), timeout)
        except errors.TimedOut:
            return False
        return True


class Barrier(_Named):
    """A barrier of `parties` tasks or threads. The methods are the same as in `threading.Barrier`.

    If a waiting task dies or its wait ends early, the other tasks get `threading.BrokenBarrierError` with the name of
    this task. Later callers get the same error until `reset`.
    """

    def __init__(self, name: str, parties: int) -> None:
        super().__init__(name)
        if parties < 1:
            raise ValueError(f"parties is {parties}; it must be 1 or more")
        self.parties = parties

    def wait(self, timeout: float | None = None) -> int:
        """Waits for the others; returns the number of this caller, from 0."""
        try:
            place: int = _wait(self._what, "meet", (self.name, self.parties), timeout)
        except errors.TimedOut:
            raise threading.BrokenBarrierError(f"not all came to barrier {self.name!r} in {timeout} s") from None
        return place

    def abort(self) -> None:
        """Breaks the barrier: all waiting callers fail."""
        _ask(self._what, "now", "break_barrier", self.name, self.parties, f"barrier {self.name!r} was aborted")

    def reset(self) -> None:
        """Resets the barrier; callers that wait now fail."""
        _ask(self._what, "now", "reset", self.name)

    @property
    def n_waiting(self) -> int:
        """The number of waiting callers."""
        waiting: int = _ask(self._what, "now", "waiting_at", self.name)
        return waiting


class Lock(_Named):
    """A lock that a task holds. The methods are the same as in `threading.Lock`; it is a context manager.

    If the holder dies, the next task gets the lock, and its `abandoned` is True. The data that the lock protects
    may then be only partly changed. After an interrupt (Ctrl-C) in `acquire` this task does not hold the lock.
    """

    abandoned = False

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Waits for the lock; returns False if the timeout (seconds; negative: no limit) passes first."""
        limit = 0 if not blocking else None if timeout < 0 else timeout
        try:
            _wait(self._what, "acquire", (self.name,), limit, self._hold)
        except errors.TimedOut:
            return False
        return True

    def _hold(self, abandoned: bool) -> None:
        self.abandoned = abandoned

    def release(self) -> None:
        """Releases the lock to the next task. Raises `RuntimeError` if this task does not hold it."""
        if not _ask(self._what, "release", self.name):
            raise RuntimeError(f"this task does not hold lock {self.name!r}")

    def locked(self) -> bool:
        """True if a task holds the lock."""
        held: bool = _ask(self._what, "now", "is_locked", self.name)
        return held

    def __enter__(self) -> Lock:
        self.acquire()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.release()
