"""Waiting that costs nothing, however long.

The main thread of a process looks ten times a second whether a signal has come, when it waits for a message.
After a while it leaves the waiting to another thread, and sleeps until that has something.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, TypeVar

from parvum import errors

T = TypeVar("T")

WAKEFUL: Final = 0.5
"""Seconds for which the main thread waits itself: the quicker way, as long as messages come."""


def receive_at_rest(receive: Callable[[float | None], T]) -> T:
    """What `receive(timeout)` gives, whenever it comes. Raises what that raises; signals are handled meanwhile."""
    try:
        return receive(WAKEFUL)
    except errors.TimedOut:
        pass
    from queue import SimpleQueue
    from threading import Thread

    came: SimpleQueue[tuple[Any, BaseException | None]] = SimpleQueue()

    def wait() -> None:
        try:
            came.put((receive(None), None))
        except BaseException as error:
            came.put((None, error))

    Thread(target=wait, name="parvum-rest", daemon=True).start()
    value, error = came.get()
    if error is not None:
        raise error
    return value
