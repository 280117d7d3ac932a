"""Messages of pools, on a separate channel: receives of the user's program do not take them."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Sequence
from itertools import count
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any, Final

from parvum import TaskId, _parvum, errors
from parvum.pool.calls import apart
from parvum.pool.messages import COUNT, OUTPUT

if TYPE_CHECKING:
    import parvum

CHANNEL: Final = 60_000
"""The channel of all pools' messages."""

REAPED: Final = 0.2
"""After a process has lost its connection, the daemon knows in this number of seconds how the process has ended."""

_TAGS = count(16, 2)

PostGone = (errors.TaskGone, errors.MachineGone)
"""The exceptions that a receive raises if the sender or the virtual machine is gone."""


def host_of(task: int) -> int:
    """The id of a task's host."""
    return int(TaskId(task).host)


class Post:
    """One end of a pool's messages. Each pool has two tags: one for calls and results, one for control messages."""

    def __init__(self, vm: parvum.Vm, tag: int, peer: int | None) -> None:
        self._vm = vm
        self._send = vm.send
        self._receive = vm.recv
        self.tag = tag
        self.peer = peer
        """At a worker: the task of the pool. At the pool: None."""
        self.id = int(vm.id)

    @classmethod
    def of_pool(cls) -> Post:
        """The pool's side of the messages between the pool and its workers. If this process is not a task yet, it becomes a task."""
        import parvum

        return cls(parvum.enrol().channel(CHANNEL), next(_TAGS), None)

    @classmethod
    def of_worker(cls, tag: int) -> Post:
        """Makes the worker's end of the messages, for the pool that has started this worker."""
        import parvum

        vm = parvum.enrol().channel(CHANNEL)
        assert vm.parent is not None, "a worker is started by its pool"
        return cls(vm, tag, int(vm.parent))

    @property
    def name(self) -> str:
        """This task's id, as Parvum prints it."""
        return str(self._vm.id)

    @property
    def host(self) -> str:
        """The host's name, from its system."""
        return os.uname().nodename

    # --- at a worker ---

    def send(self, data: bytes) -> None:
        """Sends to the pool."""
        assert self.peer is not None
        self._send(data, self.peer, self.tag)

    def send_with(self, head: bytes, buffers: Sequence[PickleBuffer]) -> None:
        """Sends a message to the pool with separate buffers; the buffers are not copied first."""
        assert self.peer is not None
        # The pool is always receiving: it reads the buffers in place.
        self._vm.isend([head, *buffers], self.peer, self.tag).wait()

    def end_with_pool(self, grace: float) -> None:
        """When the pool's process ends, this process gets signals that end it, `grace` seconds apart."""
        assert self.peer is not None
        _parvum.end_with(self.peer, grace)

    def catch_output(self) -> None:
        """Sends the output of this process to the pool."""
        from parvum.pool.output import catch

        assert self.peer is not None
        catch(self.peer, self.tag, self._vm._context, OUTPUT)  # pyright: ignore[reportPrivateUsage]

    def receive(self) -> bytes:
        """The next message of the pool. If the pool is gone, raises an exception of the tuple `PostGone`."""
        return self._receive(self.peer, self.tag)

    def receive_now(self) -> bytes | None:
        """A message of the pool that has already arrived, or None."""
        try:
            return self._receive(self.peer, self.tag, 0.0)
        except errors.TimedOut:
            return None

    def receive_control(self) -> tuple[int, bytes, memoryview | None]:
        """A control message of the pool or another worker: sender, message, and the buffer of DATA."""
        message, source, _ = self._vm._recv_message(None, self.tag + 1)  # pyright: ignore[reportPrivateUsage]
        data, buffers = apart(message)
        return source, data, memoryview(buffers[0]) if buffers else None

    # --- both ends ---

    def hand(self, data: bytes, to: int) -> None:
        """Sends calls or another message to a worker, with the first tag."""
        self._send(data, to, self.tag)

    def control(self, what: bytes, number: int, to: int, rest: bytes = b"", buffer: PickleBuffer | None = None) -> None:
        """Sends a control message to the second thread of a worker."""
        data = COUNT.pack(what, number) + rest
        self._send(data if buffer is None else [data, buffer], to, self.tag + 1)

    # --- at the pool ---

    def receive_any(self, timeout: float | None) -> tuple[int, Any, int | None] | None:
        """The next message with the first tag: the sender, the message and, if it is an exit notice, the task that ended. None after the timeout."""
        try:
            data, source, _ = self._vm._recv_message(None, self.tag, timeout)  # pyright: ignore[reportPrivateUsage]
        except errors.TimedOut:
            return None
        # The daemon sends this notice, with the ended task.
        return source, data, data.task if source == 0 else None

    def receive_from(self, task: int, timeout: float) -> Any:
        """A message of this task. If the task has ended and all its messages have come, raises an exception of the tuple `PostGone`."""
        return self._receive(task, self.tag, timeout)

    def spawn(self, argv: list[str], count: int, host: str | None, env: Any, cwd: str | None) -> list[int]:
        """Starts tasks; returns their ids."""
        return [int(task) for task in self._vm.spawn(argv, count, host=host, env=env, cwd=cwd)]

    def notify_exit(self, tasks: Sequence[int]) -> None:
        """Asks for a notice, with the first tag, when one of the tasks ends."""
        self._vm.notify_exit(tasks, self.tag)

    def how_ended(self, task: int) -> str:
        """How a worker's process has ended, as text for people. Empty: not known."""
        until = time.monotonic() + REAPED
        while (status := _parvum.how_ended(task)) is None and host_of(task) == host_of(self.id) and time.monotonic() < until:
            # The connection ends a moment before the process.
            time.sleep(0.005)
        if status is None:
            return ""
        if status >= 0:
            return f"exit code {status}"
        try:
            return f"signal {-status}, {signal.Signals(-status).name}"
        except ValueError:
            return f"signal {-status}"

    def is_host_there(self, task: int) -> bool:
        """True if the host of a task is still in the virtual machine; the task itself may be gone."""
        return TaskId(task).host in {host.id for host in self._vm.hosts()}

    def host_names(self) -> dict[int, str]:
        """The names of hosts by their ids."""
        return {int(host.id): host.name for host in self._vm.hosts()}

    def kill(self, task: int, how: int) -> None:
        """Sends a signal to a task's process."""
        self._vm.kill(task, how)

    def processors(self, hosts: Sequence[str] | None) -> int:
        """The number of processors of these hosts, or of all hosts."""
        found = [host.cpus for host in self._vm.hosts() if hosts is None or host.name in hosts]
        return max(1, sum(found) or os.cpu_count() or 1)
