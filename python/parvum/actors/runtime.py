"""The process of an actor: it makes the object, then runs its calls one after the other, and its timers."""

from __future__ import annotations

import os
import pickle
import signal
import sys
import time
from collections import deque
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from parvum import _parvum, errors
from parvum.actors import messages as m
from parvum.pool.calls import apart, pack, unpack
from parvum.pool.output import settle
from parvum.pool.stopping import GRACE

if TYPE_CHECKING:
    from concurrent.futures import Future
    from types import FrameType

    import parvum

EVERY = "__parvum_every__"

LATE = 0.5
"""A signal and its message take different routes; the message may arrive this number of seconds after the signal."""

_running: Runtime | None = None


def caller() -> int:
    """Inside an actor's call: the id of the calling task; 0 in a timer. Raises `RuntimeError` outside an actor."""
    return _here().caller


def watch(task: int, function: Callable[[int], object]) -> None:
    """Inside an actor: when the task ends, the actor calls `function(task)`, between two other calls."""
    _here().watch(task, function)


def finish() -> None:
    """Inside an actor: ends the actor after all calls that were already sent to it."""
    here = _here()
    here.vm.send(m.STOP, int(here.vm.id), m.CALLS)


def _here() -> Runtime:
    if _running is None:
        raise RuntimeError("this process is no actor")
    return _running


def main() -> None:
    """Runs an actor until it is stopped or its creator is gone."""
    global _running
    import parvum

    vm = parvum.enrol().channel(m.CHANNEL)
    assert vm.parent is not None, "an actor is started by a task"
    _running = Runtime(vm, int(vm.parent))
    try:
        _running.run()
    except (errors.MachineGone, KeyboardInterrupt):
        sys.exit(1)


class Runtime:
    """The actor of this process."""

    def __init__(self, vm: parvum.Vm, creator: int) -> None:
        self.vm = vm
        self.creator = creator
        self.caller = 0
        self.catches = False
        self.current: tuple[int, int] | None = None
        """The running call: its caller and number. Only the main thread changes it."""
        self.doomed: deque[tuple[int, int]] = deque(maxlen=1024)
        """The calls that must be stopped, and may not have begun yet."""
        self.hears = self.hears_again = False
        """The first is True while the main thread reads which calls it must stop. The second is True if a signal has come in this time."""
        self.told = float("-inf")
        """The time of the last message that asked to stop a call."""
        self.coroutines: dict[tuple[int, int], Future[Any]] = {}
        self.instance: Any = None
        self.timers: list[tuple[float, float, Callable[[], object]]] = []
        self.watched: dict[int, list[Callable[[int], object]]] = {}
        self.where = f"actor {vm.id} on host {os.uname().nodename}, process {os.getpid()}"

    def run(self) -> None:
        """Runs until the actor is stopped."""
        setup = m.Setup(*pickle.loads(self.vm.recv(self.creator, m.CALLS)[1:]))
        if not setup.detached:
            _parvum.end_with(self.creator, GRACE)
        signal.signal(signal.SIGINT, self.on_interrupt)
        if not self.set_up(setup):
            return
        while True:
            message, source = self.next()
            if source == 0:
                self.ended(int(message.task))
                continue
            data, buffers = apart(message)
            if data[:1] == m.STOP:
                break
            self.serve(source, data, buffers)
        settle()

    def set_up(self, setup: m.Setup) -> bool:
        """Makes the object, and sends the result to the creator. False: the object could not be made."""
        sys.path[:] = [*setup.path, *(place for place in sys.path if place not in setup.path)]
        if setup.catch_output:
            from parvum.pool.output import catch

            self.catches = True

            catch(self.creator, m.REPLIES, self.vm._context, m.HEAD.pack(m.OUTPUT, 0))  # pyright: ignore[reportPrivateUsage]
        try:
            function, args, kwargs = unpack(setup.made)
            self.instance = function(*args, **kwargs)
            if setup.name is not None:
                self.register(setup.name)
        except BaseException as error:
            self.answer(self.creator, m.UNFIT, 0, self.failure(error), ())
            return False
        if not setup.detached:
            self.watch(self.creator, lambda _: sys.exit(1))
        now = time.monotonic()
        kind: type[object] = self.instance.__class__
        for name in dir(kind):
            seconds: float | None = getattr(getattr(kind, name, None), EVERY, None)
            if seconds is not None:
                self.timers.append((now + seconds, seconds, getattr(self.instance, name)))
        self.answer(self.creator, m.READY, 0, pickle.dumps(kind.__qualname__), ())
        return True

    def register(self, name: str) -> None:
        """Registers the actor under a name, until the actor ends."""
        try:
            self.vm.mailbox.put(f"actor:{name}", (int(self.vm.id), type(self.instance).__qualname__), overwritable=False)
        except errors.ParvumError as refusal:
            raise errors.Refused(f"the name {name!r} is taken by another actor: {refusal.cause}") from refusal

    def next(self) -> tuple[Any, int]:
        """Returns the next message; timers whose time has come run first."""
        while True:
            patience: float | None = None
            if self.timers:
                due, seconds, function = min(self.timers, key=lambda timer: timer[0])
                patience = due - time.monotonic()
                if patience <= 0:
                    self.timers.remove((due, seconds, function))
                    # A timer that was late runs only once.
                    self.timers.append((max(due + seconds, time.monotonic()), seconds, function))
                    self.caller = 0
                    self.quietly(function)
                    continue
            try:
                return self.receive(patience)
            except errors.TimedOut:
                continue

    def receive(self, timeout: float | None) -> tuple[Any, int]:
        """The next message and its sender."""
        data, source, _ = self.vm._recv_message(None, m.CALLS, timeout)  # pyright: ignore[reportPrivateUsage]
        return data, source

    def serve(self, source: int, data: bytes, buffers: list[Any]) -> None:
        """Runs one call."""
        what, number = m.HEAD.unpack_from(data)
        wanted = what == m.CALL
        self.caller = source
        try:
            try:
                self.current = (source, number) if wanted else None
                # A caller that waits for a direct answer cancels with a separate call, and never sends a stop.
                if number < m.DIRECT:
                    self.hear_what_stops()
                    if self.doomed and self.current in self.doomed:
                        return
                name, args, kwargs = unpack(memoryview(data)[m.HEAD.size :], buffers)
                if name.startswith("_"):
                    raise AttributeError(f"{name!r} begins with '_': it is the actor's own")
                value: object = getattr(self.instance, name)(*args, **kwargs)
            finally:
                # No interrupt of this call is raised after this line.
                self.current = None
            if hasattr(value, "add_done_callback") or hasattr(value, "cr_frame"):
                self.later(source, number if wanted else None, value)
                return
            if wanted:
                self.answer_value(source, number, value)
        except BaseException as error:
            self.failed(source, number if wanted else None, error)
            if isinstance(error, SystemExit):
                raise

    def later(self, source: int, number: int | None, value: Any) -> None:
        """Answers a call that returned a future or a coroutine, when the result exists. Until then other calls may run."""
        if hasattr(value, "cr_frame"):
            from parvum.actors.loop import start

            value = start(value)
            if number is not None:
                self.coroutines[source, number] = value

        def over(future: Future[Any]) -> None:
            self.coroutines.pop((source, number or 0), None)
            try:
                result = future.result()
                if number is not None:
                    self.answer_value(source, number, result)
            except BaseException as error:
                self.failed(source, number, error)

        value.add_done_callback(over)

    def hear_what_stops(self, patience: float = 0) -> bool:
        """Reads which calls must be stopped, and returns True if the running call is one of these calls.

        The signal may arrive after the call has begun, and its message may have arrived earlier. A signal during this
        method only repeats the check. It must not raise an exception after a message has been received and before the
        message has been recorded.
        """
        stops = False
        while True:
            self.hears, self.hears_again = True, False
            try:
                stops |= self.take_in_what_stops(patience)
            finally:
                self.hears = False
            if not self.hears_again:
                return stops
            patience = LATE

    def take_in_what_stops(self, patience: float) -> bool:
        """Reads all messages that have arrived; waits at most `patience` seconds for the first message."""
        stops = False
        while True:
            try:
                data, source, _ = self.vm._recv_message(None, m.CONTROL, patience)  # pyright: ignore[reportPrivateUsage]
            except errors.TimedOut:
                return stops
            self.told, patience = time.monotonic(), 0
            call = source, m.HEAD.unpack_from(data)[1]
            if (coroutine := self.coroutines.get(call)) is not None:
                coroutine.cancel()
            else:
                # A call that is not running has ended or has not begun.
                stops |= call == self.current
                self.doomed.append(call)

    def on_interrupt(self, signum: int, frame: FrameType | None) -> None:
        """Handles SIGINT in the main thread, between two steps of the running code. Messages that came before name the calls that must be stopped.

        No thread waits for these messages, because a second waiting thread would cost each call of an actor a wake-up.
        """
        if self.hears:
            self.hears_again = True
            return
        stops = self.hear_what_stops(LATE)
        # A signal without a message usually comes from another program. The previous signal may also have read two
        # messages.
        if stops or time.monotonic() - self.told > 1:
            raise KeyboardInterrupt

    def answer_value(self, source: int, number: int, value: object) -> None:
        """Sends a result."""
        packed = pack(value)
        self.answer(source, m.VALUE, number, packed.data, packed.buffers)

    def failed(self, source: int, number: int | None, error: BaseException) -> None:
        """Sends the exception of a call to the caller; if the call is one-way, logs the exception."""
        if number is not None:
            self.answer(source, m.FAILED, number, self.failure(error), ())
        else:
            self.log(error)

    def failure(self, error: BaseException) -> bytes:
        """An exception as bytes."""
        from parvum.pool.failures import describe

        return pickle.dumps(tuple(describe(error, self.where)), 5)

    def answer(self, to: int, what: bytes, number: int, data: bytes, buffers: Any) -> None:
        """Sends a message to a caller, which may be gone."""
        head = m.HEAD.pack(what, number) + data
        tag = m.REPLIES if number < m.DIRECT else m.DIRECT_TAGS + (number & ~m.DIRECT)
        if self.catches:
            # The output of the call comes first.
            settle()
        try:
            self.vm.send([head, *buffers] if buffers else head, to, tag)
        except errors.TaskGone:
            return

    def watch(self, task: int, function: Callable[[int], object]) -> None:
        """Like the function `watch`."""
        if task not in self.watched:
            self.vm.notify_exit([task], m.CALLS)
        self.watched.setdefault(task, []).append(function)

    def ended(self, task: int) -> None:
        """Handles the end of a watched task."""
        self.caller = 0
        for function in self.watched.pop(task, ()):
            self.quietly(lambda function=function: function(task))

    def quietly(self, function: Callable[[], object]) -> None:
        """Calls a function that has no caller to get its result; logs an exception."""
        try:
            value: Any = function()
            if hasattr(value, "cr_frame"):
                self.later(0, None, value)
        except Exception as error:
            self.log(error)

    def log(self, error: BaseException) -> None:
        """Logs an exception that no caller gets."""
        import logging

        logging.getLogger("parvum.actors").error("%s: nobody waits for this", self.where, exc_info=error)
