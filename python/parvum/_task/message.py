"""Properties of a message. A separate module, because the module of requests imports much, and a first receive should be fast."""

from __future__ import annotations

from typing import Any, NamedTuple

from parvum._task.ids import TaskId


class Message(NamedTuple):
    """A received object, its sender and its tag."""

    obj: Any
    source: TaskId
    tag: int


class Status(NamedTuple):
    """Properties of a message. ``length`` is in bytes of data."""

    source: TaskId
    tag: int
    length: int
