"""What comes with a message. Apart from requests, whose module imports much: a first receive shall not wait for that."""

from __future__ import annotations

from typing import Any, NamedTuple

from parvum._task.ids import TaskId


class Message(NamedTuple):
    """A received object, and where it came from."""

    obj: Any
    source: TaskId
    tag: int


class Status(NamedTuple):
    """What is known of a message. ``length`` counts bytes of data."""

    source: TaskId
    tag: int
    length: int
