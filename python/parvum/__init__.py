"""Parvum: one virtual machine that has the cores of one host or of many hosts.

>>> import parvum
>>> vm = parvum.enrol()                       # joins the virtual machine, and starts one if none is up
>>> vm.send({"answer": 42}, to=vm.id, tag=7)
>>> vm.recv(tag=7)
{'answer': 42}
"""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING, Any

from . import _parvum, errors
from ._task.ids import TaskId
from ._task.vm import HostInfo, TaskInfo, Vm
from .errors import ParvumError

if TYPE_CHECKING:
    from ._task.events import HostAdded, HostLost, TaskExited, TaskOutput, TaskStarted
    from ._task.group import Group
    from ._task.mailbox import Mailbox, MailEntry
    from ._task.message import Message, Status
    from ._task.pvm import Pvm
    from ._task.request import Request
    from ._task.session import machine
    from ._task.shared import SharedArray, shared
    from ._show.picture import Picture
    from ._show.widget import Widget, monitor, status
    from .actors.client import ActorLost, Answer
    from .actors.declared import Actor, ActorClass, actor, every
    from .actors.handles import ActorGroup, Handle, find, kill, stop
    from .actors.runtime import caller, watch
    from .arrays import empty
    from .executor import Executor, idempotent
    from .mapping import map  # noqa: A004
    from .notebook import load_ipython_extension, unload_ipython_extension
    from .pool.calls import Unpicklable
    from .pool.failures import CallTimedOut, RemoteError, RemoteTraceback, VersionsDiffer, WorkerLost
    from .pool.task import Task
    from .sharing import Shared, share
    from .sync import Barrier, Event, Lock, PlaceLost, Queue

# These names are imported at their first use. A waiting worker is then a bare interpreter, and `import parvum` is fast.
_LATER = {
    "_task.events": "HostAdded HostLost TaskExited TaskOutput TaskStarted",
    "_task.group": "Group",
    "_task.mailbox": "Mailbox MailEntry",
    "_task.message": "Message Status",
    "_task.pvm": "Pvm",
    "_task.request": "Request",
    "_task.session": "machine",
    "_task.shared": "SharedArray shared",
    "_show.widget": "Picture Widget monitor status",
    "actors.client": "ActorLost Answer",
    "actors.declared": "Actor ActorClass actor every",
    "actors.handles": "ActorGroup Handle find kill stop",
    "actors.runtime": "caller watch",
    "arrays": "empty",
    "executor": "Executor idempotent",
    "mapping": "map",
    "notebook": "load_ipython_extension unload_ipython_extension",
    "pool.calls": "Unpicklable",
    "pool.failures": "CallTimedOut RemoteError RemoteTraceback VersionsDiffer WorkerLost",
    "pool.task": "Task",
    "sharing": "Shared share",
    "sync": "Barrier Event Lock PlaceLost Queue",
}
_MODULES = {name: module for module, names in _LATER.items() for name in names.split()}

__all__ = [
    "Actor",
    "ActorClass",
    "ActorGroup",
    "ActorLost",
    "Answer",
    "Barrier",
    "CallTimedOut",
    "Event",
    "Executor",
    "Group",
    "Handle",
    "HostAdded",
    "HostInfo",
    "HostLost",
    "Lock",
    "MailEntry",
    "Mailbox",
    "Message",
    "ParvumError",
    "Picture",
    "PlaceLost",
    "Pvm",
    "Queue",
    "RemoteError",
    "RemoteTraceback",
    "Request",
    "Shared",
    "SharedArray",
    "Status",
    "Task",
    "TaskExited",
    "TaskId",
    "TaskInfo",
    "TaskOutput",
    "TaskStarted",
    "Unpicklable",
    "VersionsDiffer",
    "Vm",
    "Widget",
    "WorkerLost",
    "actor",
    "caller",
    "empty",
    "enrol",
    "errors",
    "every",
    "find",
    "idempotent",
    "kill",
    "load_ipython_extension",
    "machine",
    "map",
    "monitor",
    "share",
    "shared",
    "status",
    "stop",
    "unload_ipython_extension",
    "wait_any",
    "watch",
]

__version__: str = _parvum.RELEASE

_leaves = False


def enrol() -> Vm:
    """Makes this process a task of the virtual machine, and starts a virtual machine if none is up.

    A second call returns the same task. A process that a task has forked is not a task until it calls `enrol` itself.

    Raises:
        MachineGone: no virtual machine could be reached or started; the message has the reason.
    """
    global _leaves
    _parvum.enrol()
    if not _leaves:
        # The engine may still read memory that the end of the interpreter frees.
        atexit.register(_parvum.finish_all)
        _leaves = True
    return Vm()


def wait_any(requests: list[Request], timeout: float | None = None) -> int | None:
    """Waits until one of the requests is complete, and returns its index in the list. None: the timeout has passed."""
    return _parvum.wait_any([request._operation for request in requests], timeout)  # pyright: ignore[reportPrivateUsage]


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'parvum' has no attribute {name!r}")
    from importlib import import_module

    found = getattr(import_module(f"parvum.{module}"), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *_MODULES})
