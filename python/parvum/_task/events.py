"""Events of the virtual machine: the end of tasks, hosts that come and go, output of tasks."""

from __future__ import annotations

from typing import NamedTuple, Union

from parvum._task.ids import TaskId

LOCAL_BITS = 18


class TaskExited(NamedTuple):
    """A task has ended, or its host is gone."""

    task: TaskId


class HostLost(NamedTuple):
    """A host has left the virtual machine. ``host`` is the id of its daemon, as in :meth:`parvum.Vm.hosts`."""

    host: TaskId


class HostAdded(NamedTuple):
    """A host was added. ``host`` is the id of its daemon."""

    host: TaskId


class TaskStarted(NamedTuple):
    """A task has started, and its output comes to this task. The event comes twice: when the daemon starts the task, and when the task runs."""

    task: TaskId


class TaskOutput(NamedTuple):
    """A task has written output. If ``data`` is empty, all output of the task has arrived."""

    task: TaskId
    data: bytes


Event = Union[TaskExited, HostLost, HostAdded, TaskStarted, TaskOutput]


def decode(words: bytes) -> Event | bytes:
    """Decodes a message of the daemon: big-endian numbers of 4 bytes."""

    def number(at: int) -> int:
        return int.from_bytes(words[4 * at : 4 * at + 4], "big", signed=True)

    if len(words) == 4:
        who = TaskId(number(0))
        return TaskExited(who) if who & ((1 << LOCAL_BITS) - 1) else HostLost(who)
    if len(words) == 8 and number(0) == 1:
        return HostAdded(TaskId(number(1)))
    if len(words) >= 8 and number(0) > 1:
        task, length = TaskId(number(0)), number(1)
        return TaskOutput(task, words[8 : 8 + length]) if length >= 0 else TaskStarted(task)
    return words
