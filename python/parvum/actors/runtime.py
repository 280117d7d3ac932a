"""The process of an actor: makes the object, then serves its calls one after the other, and its timers."""

from __future__ import annotations

import os
import pickle
import sys
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from parvum import errors
from parvum.actors import messages as m
from parvum.pool.calls import apart, pack, unpack
from parvum.pool.rest import receive_at_rest

if TYPE_CHECKING:
    from concurrent.futures import Future

    import parvum

EVERY = "__parvum_every__"

_running: Runtime | None = None


def caller() -> int:
    """Inside an actor's call: the id of the task that has called; 0 in a timer. Raises `RuntimeError` elsewhere."""
    return _here().caller


def watch(task: int, function: Callable[[int], object]) -> None:
    """Inside an actor: has `function(task)` called, between two calls, when that task ends."""
    _here().watch(task, function)


def finish() -> None:
    """Inside an actor: has it end after the calls that were sent before."""
    here = _here()
    here.vm.send(m.STOP, int(here.vm.id), m.CALLS)


def _here() -> Runtime:
    if _running is None:
        raise RuntimeError("this process is no actor")
    return _running


def main() -> None:
    """Serves an actor until it is stopped, or its creator is gone."""
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
        self.instance: Any = None
        self.timers: list[tuple[float, float, Callable[[], object]]] = []
        self.watched: dict[int, list[Callable[[int], object]]] = {}
        self.where = f"actor {vm.id} on host {os.uname().nodename}, process {os.getpid()}"

    def run(self) -> None:
        """Until it is stopped."""
        if not self.set_up(m.Setup(*pickle.loads(self.vm.recv(self.creator, m.CALLS)[1:]))):
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
        sys.stdout.flush()
        sys.stderr.flush()

    def set_up(self, setup: m.Setup) -> bool:
        """Makes the object, and says so. False: it could not be made, which was said."""
        sys.path[:] = [*setup.path, *(place for place in sys.path if place not in setup.path)]
        if setup.catch_output:
            from parvum.pool.output import catch

            catch(self.output)
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
        """Makes the actor known by a name, as long as it lives."""
        try:
            self.vm.mailbox.put(f"actor:{name}", (int(self.vm.id), type(self.instance).__qualname__), overwritable=False)
        except errors.ParvumError as refusal:
            raise errors.Refused(f"the name {name!r} is taken by another actor: {refusal.cause}") from refusal

    def next(self) -> tuple[Any, int]:
        """The next message; timers that are due come first."""
        while True:
            patience: float | None = None
            if self.timers:
                due, seconds, function = min(self.timers, key=lambda timer: timer[0])
                patience = due - time.monotonic()
                if patience <= 0:
                    self.timers.remove((due, seconds, function))
                    # A timer that was held up does not run twice for that.
                    self.timers.append((max(due + seconds, time.monotonic()), seconds, function))
                    self.caller = 0
                    self.quietly(function)
                    continue
            try:
                return receive_at_rest(self.receive) if patience is None else self.receive(patience)
            except errors.TimedOut:
                continue

    def receive(self, timeout: float | None) -> tuple[Any, int]:
        """The next message, and who sent it."""
        data, source, _ = self.vm._recv_message(None, m.CALLS, timeout)  # pyright: ignore[reportPrivateUsage]
        return data, source

    def serve(self, source: int, data: bytes, buffers: list[Any]) -> None:
        """One call."""
        what, number = m.HEAD.unpack_from(data)
        wanted = what == m.CALL
        self.caller = source
        try:
            name, args, kwargs = unpack(memoryview(data)[m.HEAD.size :], buffers)
            if name.startswith("_"):
                raise AttributeError(f"{name!r} begins with '_': it is the actor's own")
            value: object = getattr(self.instance, name)(*args, **kwargs)
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
        """A call gave a future or a coroutine: its answer goes when there is one, and other calls come before that."""
        if hasattr(value, "cr_frame"):
            from parvum.actors.loop import start

            value = start(value)

        def over(future: Future[Any]) -> None:
            try:
                result = future.result()
                if number is not None:
                    self.answer_value(source, number, result)
            except BaseException as error:
                self.failed(source, number, error)

        value.add_done_callback(over)

    def answer_value(self, source: int, number: int, value: object) -> None:
        """Sends a result."""
        packed = pack(value)
        self.answer(source, m.VALUE, number, packed.data, packed.buffers)

    def failed(self, source: int, number: int | None, error: BaseException) -> None:
        """Sends what a call has raised; of one-way calls it is logged."""
        if number is not None:
            self.answer(source, m.FAILED, number, self.failure(error), ())
        else:
            self.log(error)

    def failure(self, error: BaseException) -> bytes:
        """An exception in bytes."""
        from parvum.pool.failures import describe

        return pickle.dumps(tuple(describe(error, self.where)), 5)

    def answer(self, to: int, what: bytes, number: int, data: bytes, buffers: Any) -> None:
        """Sends something to a caller, who may be gone."""
        head = m.HEAD.pack(what, number) + data
        try:
            self.vm.send([head, *buffers] if buffers else head, to, m.REPLIES)
        except errors.TaskGone:
            return

    def output(self, stream: str, text: str) -> None:
        """Sends what was printed to the creator."""
        self.answer(self.creator, m.OUTPUT, 0, pickle.dumps((stream, text)), ())

    def watch(self, task: int, function: Callable[[int], object]) -> None:
        """See `watch` above."""
        if task not in self.watched:
            self.vm.notify_exit([task], m.CALLS)
        self.watched.setdefault(task, []).append(function)

    def ended(self, task: int) -> None:
        """A task that was watched has ended."""
        self.caller = 0
        for function in self.watched.pop(task, ()):
            self.quietly(lambda function=function: function(task))

    def quietly(self, function: Callable[[], object]) -> None:
        """Calls something that nobody waits for."""
        try:
            value: Any = function()
            if hasattr(value, "cr_frame"):
                self.later(0, None, value)
        except Exception as error:
            self.log(error)

    def log(self, error: BaseException) -> None:
        """An exception that nobody waits for."""
        import logging

        logging.getLogger("parvum.actors").error("%s: nobody waits for this", self.where, exc_info=error)
