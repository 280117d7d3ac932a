"""The caller's side of actors: calls without an answer yet, and the thread that receives the answers."""

from __future__ import annotations

import atexit
import logging
import os
import pickle
import signal
import threading
from collections.abc import Callable, Mapping
from contextvars import Context, copy_context
from functools import partial
from itertools import count
from typing import TYPE_CHECKING, Any, TypeVar

from parvum import errors
from parvum._task.ids import TaskId
from parvum.actors import messages as m
from parvum.pool.calls import apart, pack, unpack
from parvum.pool.failures import Failure, restore
from parvum.pool.output import read_output, show_labelled
from parvum.pool.task import Stoppable

if TYPE_CHECKING:
    import parvum

T = TypeVar("T")

log = logging.getLogger("parvum.actors")

LAST_WORDS = 2.0
"""Seconds within which the last messages of a dead actor must arrive."""


class ActorLost(errors.TaskGone):
    """The actor was stopped or has died, or its host is lost. The call may already have done a part of its work.

    Remedy: start another actor. If the state of the lost actor is stored elsewhere, the new actor can continue from
    this state.
    """

    remedy = "start another one; parvum.find(name) finds it by its name"


class Answer(Stoppable[T]):
    """The future of an actor's call; it can also be awaited.

    `cancel` stops the call: a running call gets `KeyboardInterrupt`, and a waiting call does not begin. An interrupt
    (Ctrl-C) of the thread that waits for the answer also stops the call. The actor itself continues with the calls
    of other tasks. If the call does not stop, `parvum.kill` ends the actor.
    """

    stop: Callable[[], bool] | None = None
    """Asks the actor to stop the call. False: the call already has an answer."""

    def cancel(self) -> bool:
        """Stops the call. False: the call already has an answer."""
        stop = self.stop
        if stop is None or not stop():
            return super().cancel()
        self.become_cancelled()
        return True

    def interrupted(self) -> None:
        """Stops the call."""
        if not self.done():
            self.cancel()


class Client:
    """The calls of this process that have no answer yet."""

    def __init__(self) -> None:
        import parvum

        self.process = os.getpid()
        self.vm = parvum.enrol().channel(m.CHANNEL)
        # An interrupt at the first step of the interpreter's end keeps `close_all` from running there. This registration comes
        # after the one of `enrol`, so it runs first.
        atexit.unregister(close_all)
        atexit.register(close_all)
        self.lock = threading.Lock()
        self.numbers = count(1)
        self.calls: dict[int, tuple[int, Answer[Any]]] = {}
        self.starting: dict[int, Answer[Any]] = {}
        self.known: set[int] = set()
        self.ends: dict[int, threading.Event] = {}
        self.hosts: dict[int, str] = {}
        self.places: dict[int, str] = {}
        """Names of hosts, including lost hosts."""
        self.names: dict[int, str] = {}
        """The names with which actors were started or found."""
        self.closed = False
        self.rests = False
        """The client's thread ends: another client replaces this one."""
        self.contexts: dict[int, Context] = {}
        """The place of the last call of each actor, for example a notebook's cell: the actor's output is shown there."""
        self.thread = threading.Thread(target=self._receive, name="parvum-actors")
        self.thread.start()

    def call(self, actor: int, method: str, args: tuple[object, ...], kwargs: Mapping[str, object]) -> Answer[Any]:
        """Sends a call; returns the future of its answer."""
        packed = pack((method, args, kwargs), ("method", "args", "kwargs"))
        answer: Answer[Any] = Answer()
        answer.set_running_or_notify_cancel()
        with self.lock:
            if self.rests:
                return client().call(actor, method, args, kwargs)
            number = next(self.numbers)
            answer.stop = partial(self.halt, number)
            self.calls[number] = (actor, answer)
            self.contexts[actor] = copy_context()
            self._know(actor)
        head = m.HEAD.pack(m.CALL, number) + packed.data
        self._send(actor, head, packed.buffers, number)
        return answer

    def halt(self, number: int) -> bool:
        """Stops a call if its answer is no longer wanted. False: the answer has already arrived."""
        with self.lock:
            actor, answer = self.calls.pop(number, (0, None))
        if answer is None:
            return False
        try:
            # The message names the call; the signal makes the actor read the message.
            self.vm.send(m.HEAD.pack(m.HALT, number), actor, m.CONTROL)
            self.vm.kill(actor, signal.SIGINT)
        except errors.ParvumError:
            log.debug("actor t%x cannot be told to stop a call", actor, exc_info=True)
        return True

    def tell(self, actor: int, method: str, args: tuple[object, ...], kwargs: Mapping[str, object]) -> None:
        """Sends a one-way call. Raises `ActorLost` if the actor is known to be gone."""
        packed = pack((method, args, kwargs), ("method", "args", "kwargs"))
        try:
            head = m.HEAD.pack(m.TELL, 0) + packed.data
            self.vm.send([head, *packed.buffers] if packed.buffers else head, actor, m.CALLS)
        except errors.TaskGone as gone:
            raise self.lost(actor) from gone

    def start(self, actors: list[int], setup: m.Setup) -> list[Answer[Any]]:
        """Sets up actors that were just spawned; returns futures that complete when the actors are ready."""
        answers: list[Answer[Any]] = []
        for actor in actors:
            answer: Answer[Any] = Answer()
            answer.set_running_or_notify_cancel()
            with self.lock:
                if self.rests:
                    return client().start(actors, setup)
                self.starting[actor] = answer
                self._know(actor)
            self.vm.send(m.SETUP + pickle.dumps(tuple(setup), 5), actor, m.CALLS)
            answers.append(answer)
        return answers

    def stop(self, actor: int) -> None:
        """Asks an actor to end after all earlier calls."""
        try:
            self.vm.send(m.STOP, actor, m.CALLS)
        except errors.TaskGone:
            return

    def end_of(self, actor: int) -> threading.Event:
        """An event that is set when the actor is gone."""
        with self.lock:
            if self.rests:
                return client().end_of(actor)
            end = self.ends.setdefault(actor, threading.Event())
            self._know(actor)
        return end

    def rest(self, but: int) -> bool:
        """Returns True if no call waits for an answer and `but` is the only known actor. In this case the client accepts no more work."""
        with self.lock:
            self.rests = not (self.calls or self.starting or self.ends or self.known - {but})
            return self.rests

    def close(self) -> None:
        """Ends the receiving thread."""
        self.closed = True
        try:
            self.vm.send(m.WAKE, int(self.vm.id), m.REPLIES)
        except errors.ParvumError:
            log.debug("cannot wake the thread of answers", exc_info=True)

    def lost(self, actor: int) -> ActorLost:
        """The exception for a lost actor: with its name if known, and whether its host is also gone."""
        return lost(self.vm, actor, self.names.get(actor), self.places.get(int(TaskId(actor).host)))

    # --- inside ---

    def _know(self, actor: int) -> None:
        if actor not in self.known:
            if int(TaskId(actor).host) not in self.places:
                self.places.update((int(row.id), row.name) for row in self.vm.hosts())
            self.known.add(actor)
            self.vm.notify_exit([actor], m.REPLIES)

    def _send(self, actor: int, head: bytes, buffers: list[pickle.PickleBuffer], number: int) -> None:
        try:
            self.vm.send([head, *buffers] if buffers else head, actor, m.CALLS)
        except errors.TaskGone:
            # The notice of the actor's end may have come before the call.
            with self.lock:
                _, answer = self.calls.pop(number, (0, None))
            if answer is not None:
                answer.set_exception(self.lost(actor))

    def _receive(self) -> None:
        try:
            while not self.closed:
                data, source, _ = self.vm._recv_message(None, m.REPLIES)
                if source == 0:
                    self._ended(int(data.task))
                else:
                    self._take(source, data)
        except Exception as error:
            self._fail_all(error)

    def _take(self, source: int, message: Any) -> None:
        data, buffers = apart(message)
        what, number = data[:1], 0
        if len(data) >= m.HEAD.size:
            what, number = m.HEAD.unpack_from(data)
        rest = memoryview(data)[m.HEAD.size :]
        if what in (m.VALUE, m.FAILED):
            with self.lock:
                _, answer = self.calls.pop(number, (0, None))
            if answer is not None:
                _settle(answer, what == m.VALUE, rest, buffers)
        elif what in (m.READY, m.UNFIT):
            with self.lock:
                answer = self.starting.pop(source, None)
            if answer is not None:
                _settle(answer, what == m.READY, rest, buffers)
        elif what == m.OUTPUT:
            show = partial(show_labelled, source, self.hosts.get(source, "?"), *read_output(rest))
            context = self.contexts.get(source)
            if context is None:
                show()
            else:
                context.run(show)

    def _ended(self, actor: int) -> None:
        # The actor's last messages come before the notice of its end.
        while True:
            try:
                self._take(actor, self.vm.recv(actor, m.REPLIES, LAST_WORDS))
            except (errors.TaskGone, errors.TimedOut):
                break
        with self.lock:
            self.known.discard(actor)
            self.contexts.pop(actor, None)
            end = self.ends.pop(actor, None)
            lost = [number for number, (of, _) in self.calls.items() if of == actor]
            answers = [self.calls.pop(number)[1] for number in lost]
            if (starting := self.starting.pop(actor, None)) is not None:
                answers.append(starting)
        if end is not None:
            end.set()
        if answers:
            why = self.lost(actor)
            for answer in answers:
                answer.set_exception(why)

    def _fail_all(self, error: Exception) -> None:
        with self.lock:
            answers = [answer for _, answer in self.calls.values()] + list(self.starting.values())
            self.calls.clear()
            self.starting.clear()
        for answer in answers:
            answer.set_exception(error)


def _settle(answer: Answer[Any], good: bool, data: memoryview, buffers: list[Any]) -> None:
    try:
        if good:
            answer.set_result(unpack(data, buffers))
        else:
            answer.set_exception(restore(Failure(*pickle.loads(data))))
    except Exception as error:
        answer.set_exception(error)


def lost(vm: parvum.Vm, actor: int, name: str | None, host_name: str | None = None) -> ActorLost:
    """The exception for a lost actor: with its name if known, and whether its host is also gone."""
    host = int(TaskId(actor).host)
    who = f"actor t{actor:x}" if name is None else f"actor {name!r} (t{actor:x})"
    try:
        # A connection breaks before the daemons know that a host is lost. This call asks all hosts first: its answer comes after the
        # silent host has answered or was removed.
        vm.tasks()
        is_there = any(int(row.id) == host for row in vm.hosts())
    except errors.ParvumError:
        is_there = True
    where = host_name or f"t{host:x}"
    return ActorLost(f"{who} is gone" if is_there else f"{who} is gone with its host {where}", actor)


_client: Client | None = None
_making = threading.Lock()


def client() -> Client:
    """The client of this process; a forked process gets its own client."""
    global _client
    with _making:
        if _client is None or _client.process != os.getpid() or _client.rests or not _client.thread.is_alive():
            _client = Client()
        return _client


def rest(but: int) -> None:
    """Ends the receiving thread if this process knows only one actor and waits for no answer. The next call starts another thread."""
    known = _client
    if known is not None and known.process == os.getpid() and known.rest(but):
        close_all()


def close_all() -> None:
    """Ends the receiving thread of this process; the next call starts another thread."""
    if _client is not None and _client.process == os.getpid() and _client.thread.is_alive():
        _client.close()
        _client.thread.join()


# Registered to run before the interpreter joins threads: the receiving thread ends only when `close_all` stops it.
threading._register_atexit(close_all)  # type: ignore[attr-defined]  # pyright: ignore
