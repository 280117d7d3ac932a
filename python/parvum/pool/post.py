"""Messages of pools, in a channel of their own: no receive of the user's program takes them."""

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
"""Seconds in which the daemon knows how a process has ended whose connection is gone."""

_TAGS = count(16, 2)

PostGone = (errors.TaskGone, errors.MachineGone)
"""What a receive raises when who should send is gone, or the machine."""


def host_of(task: int) -> int:
    """The id of a task's host."""
    return int(TaskId(task).host)


class Post:
    """One end of the messages of a pool. Each pool has two tags: one for its calls and results, one for control."""

    def __init__(self, vm: parvum.Vm, tag: int, peer: int | None) -> None:
        self._vm = vm
        self._send = vm.send
        self._receive = vm.recv
        self.tag = tag
        self.peer = peer
        """The pool, at a worker."""
        self.id = int(vm.id)

    @classmethod
    def of_pool(cls) -> Post:
        """The pool's end. This process becomes a task, if it is none."""
        import parvum

        return cls(parvum.enrol().channel(CHANNEL), next(_TAGS), None)

    @classmethod
    def of_worker(cls, tag: int) -> Post:
        """A worker's end, of the pool that has started it."""
        import parvum

        vm = parvum.enrol().channel(CHANNEL)
        assert vm.parent is not None, "a worker is started by its pool"
        return cls(vm, tag, int(vm.parent))

    @property
    def name(self) -> str:
        """This task's id, as it is printed."""
        return str(self._vm.id)

    @property
    def host(self) -> str:
        """The host's name, as its system says it."""
        return os.uname().nodename

    # --- at a worker ---

    def send(self, data: bytes) -> None:
        """To the pool."""
        assert self.peer is not None
        self._send(data, self.peer, self.tag)

    def send_with(self, head: bytes, buffers: Sequence[PickleBuffer]) -> None:
        """To the pool, with buffers beside it, which are not copied first."""
        assert self.peer is not None
        # The pool is always receiving: it reads the buffers where they lie.
        self._vm.isend([head, *buffers], self.peer, self.tag).wait()

    def end_with_pool(self, grace: float) -> None:
        """Has this process end when the pool's does: by signals, `grace` seconds apart."""
        assert self.peer is not None
        _parvum.end_with(self.peer, grace)

    def catch_output(self) -> None:
        """Has what this process writes sent to the pool."""
        from parvum.pool.output import catch

        assert self.peer is not None
        catch(self.peer, self.tag, self._vm._context, OUTPUT)  # pyright: ignore[reportPrivateUsage]

    def receive(self) -> bytes:
        """What the pool says next. Raises one of `PostGone` when it is gone."""
        return self._receive(self.peer, self.tag)

    def receive_now(self) -> bytes | None:
        """What the pool has said already; None: nothing."""
        try:
            return self._receive(self.peer, self.tag, 0.0)
        except errors.TimedOut:
            return None

    def receive_control(self) -> tuple[int, bytes, memoryview | None]:
        """What the pool or another worker asks while calls run: who, what, and the buffer of DATA."""
        message, source, _ = self._vm._recv_message(None, self.tag + 1)  # pyright: ignore[reportPrivateUsage]
        data, buffers = apart(message)
        return source, data, memoryview(buffers[0]) if buffers else None

    # --- anybody ---

    def hand(self, data: bytes, to: int) -> None:
        """Calls to a worker, or anything on the first tag."""
        self._send(data, to, self.tag)

    def control(self, what: bytes, number: int, to: int, rest: bytes = b"", buffer: PickleBuffer | None = None) -> None:
        """Something for the second thread of a worker."""
        data = COUNT.pack(what, number) + rest
        self._send(data if buffer is None else [data, buffer], to, self.tag + 1)

    # --- at the pool ---

    def receive_any(self, timeout: float | None) -> tuple[int, Any, int | None] | None:
        """The next message on the first tag: who, what, and the task that a notice says has ended. None: time is over."""
        try:
            data, source, _ = self._vm._recv_message(None, self.tag, timeout)  # pyright: ignore[reportPrivateUsage]
        except errors.TimedOut:
            return None
        # The machine itself says which task has ended.
        return source, data, data.task if source == 0 else None

    def receive_from(self, task: int, timeout: float) -> Any:
        """What that task has sent. Raises one of `PostGone` when it has ended and no more can come."""
        return self._receive(task, self.tag, timeout)

    def spawn(self, argv: list[str], count: int, host: str | None, env: Any, cwd: str | None) -> list[int]:
        """Starts tasks; their ids."""
        return [int(task) for task in self._vm.spawn(argv, count, host=host, env=env, cwd=cwd)]

    def notify_exit(self, tasks: Sequence[int]) -> None:
        """Has the ends of tasks told on the first tag."""
        self._vm.notify_exit(tasks, self.tag)

    def how_ended(self, task: int) -> str:
        """How a worker's process has ended, for people. Empty: nobody knows."""
        until = time.monotonic() + REAPED
        while (status := _parvum.how_ended(task)) is None and host_of(task) == host_of(self.id) and time.monotonic() < until:
            # Its connection ends a moment before the process does.
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
        """Is the host of a task, which may be gone itself, still of the machine?"""
        return TaskId(task).host in {host.id for host in self._vm.hosts()}

    def host_names(self) -> dict[int, str]:
        """The names of hosts by their ids."""
        return {int(host.id): host.name for host in self._vm.hosts()}

    def kill(self, task: int, how: int) -> None:
        """Sends a signal to a task's process."""
        self._vm.kill(task, how)

    def processors(self, hosts: Sequence[str] | None) -> int:
        """Processors of these hosts, or of all."""
        found = [host.cpus for host in self._vm.hosts() if hosts is None or host.name in hosts]
        return max(1, sum(found) or os.cpu_count() or 1)
