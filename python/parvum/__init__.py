"""Parvum: many machines, or the cores of one, as one parallel virtual machine.

>>> import parvum
>>> vm = parvum.enrol()                       # joins the machine, and starts it if there is none
>>> vm.send({"answer": 42}, to=vm.id, tag=7)
>>> vm.recv(tag=7)
{'answer': 42}
"""

from __future__ import annotations

import atexit

from typing import TYPE_CHECKING, Any

from . import _parvum, errors
from ._events import Event, HostAdded, HostLost, TaskExited, TaskOutput, TaskStarted
from ._group import Group
from ._ids import TaskId
from ._mailbox import Mailbox, MailEntry
from ._request import Message, Request, Status
from ._vm import HostInfo, TaskInfo, Vm
from .errors import ParvumError

if TYPE_CHECKING:
    from ._pvm import Pvm
    from ._shared import SharedArray, shared

__all__ = [
    "Event",
    "Group",
    "HostAdded",
    "HostInfo",
    "HostLost",
    "MailEntry",
    "Mailbox",
    "Message",
    "ParvumError",
    "Pvm",
    "Request",
    "SharedArray",
    "Status",
    "TaskExited",
    "TaskId",
    "TaskInfo",
    "TaskOutput",
    "TaskStarted",
    "Vm",
    "enrol",
    "errors",
    "shared",
    "wait_any",
]

__version__: str = _parvum.RELEASE

_leaves = False
# What most programs do not use is loaded when it is asked for.
_LATER = {"Pvm": "_pvm", "SharedArray": "_shared", "shared": "_shared"}


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module 'parvum' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f".{_LATER[name]}", __name__), name)
    globals()[name] = found
    return found



def enrol() -> Vm:
    """Makes this process a task of the machine, which is started if there is none; again: the same task.

    A process that was forked from a task is none until it calls this itself.

    Raises:
        MachineGone: there is no machine and none could be started; the text says why.
    """
    global _leaves
    _parvum.enrol()
    if not _leaves:
        # The interpreter's end frees what the engine may still read.
        atexit.register(_parvum.finish_all)
        _leaves = True
    return Vm()


def wait_any(requests: list[Request], timeout: float | None = None) -> int | None:
    """Waits until one of the requests is over: its place in the list. None: the time is over."""
    return _parvum.wait_any([request._operation for request in requests], timeout)  # pyright: ignore[reportPrivateUsage]
