"""The virtual machine, as a task sees it."""

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

# The channel of messages for events().
_EVENTS = 0xFFFF
_EVENT = 1
# PVM's library, after its first use.
_pvm: Pvm | None = None


class HostInfo(NamedTuple):
    """A host of the virtual machine. ``id`` is the id of its daemon; ``speed`` is relative (normally 1000)."""

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
    """The virtual machine, as this task sees it: :func:`parvum.enrol` returns it.

    Tasks send each other objects. Between two tasks, objects with the same tag arrive in the order of sending.
    ``source=None`` matches any sender, and ``tag=None`` any tag. A ``timeout`` is in seconds; None waits without limit,
    0 returns immediately.
    """

    @property
    def id(self) -> TaskId:
        """This task's id."""
        return TaskId(self._identity()[0])

    @property
    def parent(self) -> TaskId | None:
        """The id of the task that spawned this task; None if a shell or ``parvum run`` started this task."""
        parent = self._identity()[1]
        return TaskId(parent) if parent else None

    def channel(self, number: int) -> Vm:
        """The same virtual machine with a separate channel (0 to 65000): only receives on the same channel get messages of this channel.

        Channel 0 is the channel of :func:`parvum.enrol`; Parvum itself uses the channels from 60000 on.
        """
        return Vm(number)

    # --- Messages ---------------------------------------------------------------------------------------------------

    def recv_message(
        self, source: int | None = None, tag: int | None = None, timeout: float | None = None
    ) -> Message:
        """Like ``recv``, but returns the object with its sender and its tag."""
        from parvum._task.message import Message

        obj, sender, its_tag = self._recv_message(source, tag, timeout)
        return Message(obj, TaskId(sender), its_tag)

    def probe(
        self, source: int | None = None, tag: int | None = None, timeout: float | None = 0
    ) -> Status | None:
        """The oldest matching message, which stays in the queue; None after the timeout."""
        from parvum._task.message import Status

        found = self._probe(source, tag, timeout)
        return Status(TaskId(found[0]), found[1], found[2]) if found else None

    def isend(self, obj: Any, to: int, tag: int = 0) -> Request:
        """Starts a send. Do not change arrays in the object until the request is complete: Parvum sends them without a copy."""
        from parvum._task.request import Request

        return Request(self._isend(obj, to, tag))

    def irecv(self, source: int | None = None, tag: int | None = None) -> Request:
        """Starts a receive; the result of the request is the object."""
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
        """Starts ``count`` tasks and returns their ids. If one task cannot start, no task starts.

        Args:
            argv: the program and its arguments; "python" as the program means this interpreter.
            host: the name of a host, or None: the virtual machine chooses.
            env: variables in addition to this process's environment.
            cwd: their working directory; None: this process's working directory.
            output: "inherit": their output goes to the same place as this task's output. "events": it comes by :meth:`events`, as
                :class:`parvum.TaskOutput`.

        Raises:
            Refused: for example, the program does not exist, or the host has no room.
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
        """Sends a signal to a task's process. Raises TaskGone if the task does not exist."""
        _parvum.kill(task, int(signal))

    def tasks(self) -> list[TaskInfo]:
        """All tasks of the virtual machine."""
        return [
            TaskInfo(TaskId(me), TaskId(parent) if parent else None, TaskId(host), pid, name, state)
            for me, parent, host, pid, name, state in _parvum.tasks()
        ]

    def siblings(self) -> list[TaskId]:
        """The tasks that ``parvum run -n N`` or one ``spawn`` started together, in order, including this one."""
        return [TaskId(task) for task in _parvum.siblings()]

    # --- Hosts ------------------------------------------------------------------------------------------------------

    def hosts(self) -> list[HostInfo]:
        """All hosts of the virtual machine."""
        return [HostInfo(TaskId(me), name, arch, speed, cpus) for me, name, arch, speed, cpus in _parvum.hosts()]

    def loads(self) -> dict[TaskId, float]:
        """The number of tasks that want a processor, for each host."""
        return {TaskId(host): load for host, load in _parvum.loads()}

    def add_host(self, name: str) -> TaskId:
        """Adds a host, by ssh or as configured; returns the id of its daemon."""
        return TaskId(_parvum.add_hosts([name])[0])

    def remove_host(self, name: str) -> None:
        """Removes a host; its tasks end."""
        _parvum.remove_hosts([name])

    def halt(self) -> None:
        """Stops the virtual machine and all its tasks. This process continues to run, but is no longer a task."""
        from parvum._task.session import stop_machine

        # The virtual machine would otherwise also stop its members, such as this process.
        _parvum.leave()
        stop_machine()

    def leave(self) -> None:
        """Delivers all sent messages, and leaves the virtual machine. :func:`parvum.enrol` joins again, as another task."""
        _parvum.leave()

    # --- Events -----------------------------------------------------------------------------------------------------

    def notify_exit(self, tasks: int | Iterable[int], tag: int | None = None) -> None:
        """Asks for one event for each of the tasks, when the task ends. If a task has already ended, the event comes immediately.

        Without a tag, the events come by :meth:`events`. With a tag, they come as messages with this tag and source 0;
        the object of such a message is a :class:`parvum.TaskExited`.
        """
        targets = [tasks] if isinstance(tasks, int) else list(tasks)
        if targets:
            _parvum.notify("exit", [int(task) for task in targets], *self._news(tag), False)

    def notify_host_added(self, tag: int | None = None) -> None:
        """Asks for an event :class:`parvum.HostAdded` for each host that joins after this call. ``tag`` is as in :meth:`notify_exit`."""
        _parvum.notify("added", [], *self._news(tag), False)

    def notify_host_lost(self, hosts: Iterable[int] | None = None, tag: int | None = None) -> None:
        """Asks for one event :class:`parvum.HostLost` for each of the hosts (None: all present hosts), when the host leaves."""
        targets = [int(host) for host in hosts] if hosts is not None else [int(host.id) for host in self.hosts()]
        _parvum.notify("lost", targets, *self._news(tag), False)

    def next_event(self, timeout: float | None = None) -> Event | None:
        """The next event; None if the timeout passes first."""
        try:
            return _parvum.Vm(_EVENTS).recv(None, None, timeout)
        except TimedOut:
            return None

    def events(self, timeout: float | None = None) -> Iterator[Event]:
        """Yields events as they arrive; ends if no event arrives for ``timeout`` seconds."""
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
        """The mailbox of the virtual machine: a mapping from names to objects, for all tasks."""
        from parvum._task.mailbox import Mailbox

        return Mailbox()

    # --- Display ----------------------------------------------------------------------------------------------------

    def widget(self, interval: float = 1.0, rows: int = 16) -> Widget:
        """A live view of hosts, tasks and rates. A notebook shows the view if it is the last line of a cell; a ``with`` block shows it anywhere."""
        from parvum._show.widget import Widget

        return Widget(interval, rows)

    # --- Other interfaces -------------------------------------------------------------------------------------------

    @property
    def pvm(self) -> Pvm:
        """PVM's calls, for messages with PVM tasks in other languages."""
        global _pvm
        if _pvm is None:
            from parvum._task.pvm import Pvm

            _pvm = Pvm()
        return _pvm

    def __repr__(self) -> str:
        return f"<parvum.Vm of task {self.id}>"


# Variables of one process only, which its children must not inherit.
_OWN = ("PARVUM_TID", "PARVUM_TICKET")


def _environment(more: dict[str, str] | None) -> list[bytes]:
    own = {name: value for name, value in os.environ.items() if name not in _OWN}
    own.update(more or {})
    return [os.fsencode(f"{name}={value}") for name, value in own.items()]
