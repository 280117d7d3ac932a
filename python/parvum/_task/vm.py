"""The machine as a task sees it."""

from __future__ import annotations

import os
import signal as signals
import sys
from typing import TYPE_CHECKING, Any, Iterable, Iterator, NamedTuple, Sequence

from parvum import _parvum
from parvum._task.ids import TaskId
from parvum.errors import BadArgument, TimedOut

if TYPE_CHECKING:
    from parvum._task.events import Event
    from parvum._task.mailbox import Mailbox
    from parvum._task.pvm import Pvm
    from parvum._task.message import Message, Status
    from parvum._task.request import Request
    from parvum._show.widget import Widget

# The channel that events() come by.
_EVENTS = 0xFFFF
_EVENT = 1
# PVM's library, once it is asked for.
_pvm: Pvm | None = None


class HostInfo(NamedTuple):
    """A host of the machine. ``id`` is that of its daemon, ``speed`` relative (1000 is usual)."""

    id: TaskId
    name: str
    arch: str
    speed: int
    cpus: int


class TaskInfo(NamedTuple):
    """A task. ``state`` is "started" (its process runs), "enrolled" or "departed"."""

    id: TaskId
    parent: TaskId | None
    host: TaskId
    pid: int
    name: str
    state: str


class Vm(_parvum.Vm):
    """The machine, as this task sees it: :func:`parvum.enrol` gives it.

    Objects go from task to task; between two tasks, those with one tag keep their order. ``source=None`` and ``tag=None`` stand for
    any. A ``timeout`` counts seconds; None waits without end, 0 looks once.
    """

    @property
    def id(self) -> TaskId:
        """This task's id."""
        return TaskId(self._identity()[0])

    @property
    def parent(self) -> TaskId | None:
        """The task that spawned this one; None when it was started by hand, or by ``parvum run``."""
        parent = self._identity()[1]
        return TaskId(parent) if parent else None

    def channel(self, number: int) -> Vm:
        """The same machine, for messages of their own: what is sent on a channel (0 to 65000) is received on that channel alone.

        Channel 0 is what :func:`parvum.enrol` gives; those from 60000 on are Parvum's own.
        """
        return Vm(number)

    # --- Messages ---------------------------------------------------------------------------------------------------

    def recv_message(
        self, source: int | None = None, tag: int | None = None, timeout: float | None = None
    ) -> Message:
        """As ``recv``, with who sent it and its tag."""
        from parvum._task.message import Message

        obj, sender, its_tag = self._recv_message(source, tag, timeout)
        return Message(obj, TaskId(sender), its_tag)

    def probe(
        self, source: int | None = None, tag: int | None = None, timeout: float | None = 0
    ) -> Status | None:
        """The oldest message that fits; it stays where it is. None: there is none in time."""
        from parvum._task.message import Status

        found = self._probe(source, tag, timeout)
        return Status(TaskId(found[0]), found[1], found[2]) if found else None

    def isend(self, obj: Any, to: int, tag: int = 0) -> Request:
        """Starts to send. Arrays must not change until the request is over; the engine reads them where they lie."""
        from parvum._task.request import Request

        return Request(self._isend(obj, to, tag))

    def irecv(self, source: int | None = None, tag: int | None = None) -> Request:
        """Starts to receive; the request's result is the object."""
        from parvum._task.request import Request

        return Request(self._irecv(source, tag))

    # --- Tasks ------------------------------------------------------------------------------------------------------

    def spawn(
        self,
        argv: Sequence[str | os.PathLike[str]],
        count: int = 1,
        *,
        host: str | None = None,
        env: dict[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
        output: str = "inherit",
    ) -> list[TaskId]:
        """Starts ``count`` tasks, all or none, and gives their ids.

        Args:
            argv: the program and its arguments; "python" as the program stands for this interpreter.
            host: a host's name, or None: the machine decides.
            env: variables set on top of this process's environment.
            cwd: where they begin; this process's working directory when None.
            output: "inherit": what they write goes where this task's output goes. "events": it comes by :meth:`events`, as
                :class:`parvum.TaskOutput`.

        Raises:
            Refused: a program that is not there, no room on the host, ...
        """
        words = [os.fsencode(word) for word in argv]
        if not words:
            raise BadArgument("argv is empty; it begins with the program")
        if words[0] == b"python":
            words[0] = os.fsencode(sys.executable)
        if output not in ("inherit", "events"):
            raise BadArgument(f"output={output!r} is neither 'inherit' nor 'events'")
        sink = (self._events_context, _EVENT) if output == "events" else None
        directory = os.fsencode(cwd if cwd is not None else os.getcwd())
        tasks = _parvum.spawn(words[0], words[1:], count, host, _environment(env), directory, sink, False)
        return [TaskId(task) for task in tasks]

    def kill(self, task: int, signal: int = signals.SIGTERM) -> None:
        """Sends a signal to a task's process. Raises TaskGone when it is not there."""
        _parvum.kill(task, int(signal))

    def tasks(self) -> list[TaskInfo]:
        """All tasks of the machine."""
        return [
            TaskInfo(TaskId(me), TaskId(parent) if parent else None, TaskId(host), pid, name, state)
            for me, parent, host, pid, name, state in _parvum.tasks()
        ]

    def siblings(self) -> list[TaskId]:
        """The tasks that were started together with this one (``parvum run -n N``, one ``spawn``), in their order; this one too."""
        return [TaskId(task) for task in _parvum.siblings()]

    # --- Hosts ------------------------------------------------------------------------------------------------------

    def hosts(self) -> list[HostInfo]:
        """All hosts of the machine."""
        return [HostInfo(TaskId(me), name, arch, speed, cpus) for me, name, arch, speed, cpus in _parvum.hosts()]

    def loads(self) -> dict[TaskId, float]:
        """How many tasks want a processor, on each host."""
        return {TaskId(host): load for host, load in _parvum.loads()}

    def add_host(self, name: str) -> TaskId:
        """Adds a host, by ssh or as the machine's configuration says; the id of its daemon."""
        return TaskId(_parvum.add_hosts([name])[0])

    def remove_host(self, name: str) -> None:
        """Takes a host out; its tasks end."""
        _parvum.remove_hosts([name])

    def halt(self) -> None:
        """Stops the machine and all its tasks; this process goes on, and is no task any more."""
        from parvum._task.session import stop_machine

        # Who belongs to a machine that stops is stopped with it.
        _parvum.leave()
        stop_machine()

    def leave(self) -> None:
        """Hands over all that was sent, and leaves the machine. :func:`parvum.enrol` joins again, as another task."""
        _parvum.leave()

    # --- Events -----------------------------------------------------------------------------------------------------

    def notify_exit(self, tasks: int | Iterable[int], tag: int | None = None) -> None:
        """Asks to be told, once for each, when tasks end; at once of one that has ended.

        Without a tag it comes by :meth:`events`; with one as a message with that tag, from the machine (source 0), whose object is a
        :class:`parvum.TaskExited`.
        """
        targets = [tasks] if isinstance(tasks, int) else list(tasks)
        if targets:
            _parvum.notify("exit", [int(task) for task in targets], *self._news(tag), False)

    def notify_host_added(self, tag: int | None = None) -> None:
        """Asks to be told of hosts that come, from now on: :class:`parvum.HostAdded`, as :meth:`notify_exit` tells."""
        _parvum.notify("added", [], *self._news(tag), False)

    def notify_host_lost(self, hosts: Iterable[int] | None = None, tag: int | None = None) -> None:
        """Asks to be told, once for each, when hosts go (all that there are now when None): :class:`parvum.HostLost`."""
        targets = [int(host) for host in hosts] if hosts is not None else [int(host.id) for host in self.hosts()]
        _parvum.notify("lost", targets, *self._news(tag), False)

    def next_event(self, timeout: float | None = None) -> Event | None:
        """The next event that was asked for; None when the time is over."""
        try:
            return _parvum.Vm(_EVENTS).recv(None, None, timeout)
        except TimedOut:
            return None

    def events(self, timeout: float | None = None) -> Iterator[Event]:
        """Events as they come; ends when none has come for ``timeout`` seconds."""
        while (event := self.next_event(timeout)) is not None:
            yield event

    @property
    def _events_context(self) -> int:
        return _parvum.Vm(_EVENTS)._context

    def _news(self, tag: int | None) -> tuple[int, int]:
        return (self._events_context, _EVENT) if tag is None else (self._context, tag)

    # --- Mailbox ----------------------------------------------------------------------------------------------------

    @property
    def mailbox(self) -> Mailbox:
        """The machine's mailbox: names to objects, for all tasks."""
        from parvum._task.mailbox import Mailbox

        return Mailbox()

    # --- To be seen -------------------------------------------------------------------------------------------------

    def widget(self, interval: float = 1.0, rows: int = 16) -> Widget:
        """Hosts, tasks and rates, live: shown where it is the last line of a notebook's cell, and in ``with`` anywhere."""
        from parvum._show.widget import Widget

        return Widget(interval, rows)

    # --- Other interfaces -------------------------------------------------------------------------------------------

    @property
    def pvm(self) -> Pvm:
        """PVM's calls, for talking to PVM tasks in other languages."""
        global _pvm
        if _pvm is None:
            from parvum._task.pvm import Pvm

            _pvm = Pvm()
        return _pvm

    def __repr__(self) -> str:
        return f"<parvum.Vm of task {self.id}>"


# What belongs to one process alone, and not to those that it starts.
_OWN = ("PARVUM_TID", "PARVUM_TICKET")


def _environment(more: dict[str, str] | None) -> list[bytes]:
    own = {name: value for name, value in os.environ.items() if name not in _OWN}
    own.update(more or {})
    return [os.fsencode(f"{name}={value}") for name, value in own.items()]
