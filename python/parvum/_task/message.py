"""Properties of a message.

This module is separate because the module of requests imports many modules, and the first receive of a program
should be fast.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from parvum._task.ids import TaskId


class Message(NamedTuple):
    """A received object, its sender and its tag."""

    obj: Any
    source: TaskId
    tag: int


class Status(NamedTuple):
    """Properties of a message. ``length`` is the number of bytes of data."""

    source: TaskId
    tag: int
    length: int
