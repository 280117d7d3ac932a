"""Parvum: many machines, or the cores of one, as one parallel virtual machine.

>>> import parvum
>>> vm = parvum.enrol()                       # joins the machine, and starts it if there is none
>>> vm.send({"answer": 42}, to=vm.id, tag=7)
>>> vm.recv(tag=7)
{'answer': 42}
"""

from __future__ import annotations

from . import _parvum, errors
from ._events import Event, HostAdded, HostLost, TaskExited, TaskOutput, TaskStarted
from ._ids import TaskId
from ._mailbox import Mailbox, MailEntry
from ._request import Message, Request, Status
from ._vm import HostInfo, TaskInfo, Vm
from .errors import ParvumError

__all__ = [
    "Event",
    "HostAdded",
    "HostInfo",
    "HostLost",
    "MailEntry",
    "Mailbox",
    "Message",
    "ParvumError",
    "Request",
    "Status",
    "TaskExited",
    "TaskId",
    "TaskInfo",
    "TaskOutput",
    "TaskStarted",
    "Vm",
    "enrol",
    "errors",
    "wait_any",
]

__version__: str = _parvum.RELEASE


def enrol() -> Vm:
    """Makes this process a task of the machine, which is started if there is none; again: the same task.

    A process that was forked from a task is none until it calls this itself.

    Raises:
        MachineGone: there is no machine and none could be started; the text says why.
    """
    _parvum.enrol()
    return Vm()


def wait_any(requests: list[Request], timeout: float | None = None) -> int | None:
    """Waits until one of the requests is over: its place in the list. None: the time is over."""
    return _parvum.wait_any([request._operation for request in requests], timeout)  # pyright: ignore[reportPrivateUsage]
