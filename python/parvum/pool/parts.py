"""A chunk of a map at its worker. The calls for its items run one after the other, and the pool can take back items that have not begun.

If a chunk takes long, it sends its results and gives back its last items (`split`), so that a long item delays no
other item. The main thread runs the calls; the worker's second thread splits the chunk.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from threading import Lock
from typing import Any, NamedTuple

from parvum.pool.failures import Failure, describe
from parvum.pool.messages import Part


class Failed(NamedTuple):
    """The exception of an item, which takes the place of the item's result."""

    failure: Failure


class Ran(NamedTuple):
    """The result of a chunk, without results that were already sent: the seconds of its items, and the results from item `first` on."""

    seconds: float
    first: int
    results: list[Any]


class Chunk:
    """A chunk that runs."""

    def __init__(self, items: list[tuple[Any, ...]]) -> None:
        self.left = deque(items)
        self.results: list[Any] = []
        self.sent = 0
        self.lock = Lock()
        """A lock that a thread holds while it sends results, so that each result is sent once and in order."""

    def run(self, function: Callable[..., Any], keep_going: bool, where: str) -> Ran:
        """Calls the function for each item that was not given back. An exception ends the chunk, unless `keep_going`."""
        begun = time.perf_counter()
        while True:
            try:
                args = self.left.popleft()
            except IndexError:
                break
            try:
                self.results.append(function(*args))
            except KeyboardInterrupt:
                raise
            except BaseException as error:
                self.results.append(Failed(describe(error, where)))
                if not keep_going:
                    break
        seconds = time.perf_counter() - begun
        with self.lock:
            return Ran(seconds, self.sent, self.results[self.sent :])

    def split(self, send: Callable[[Part], bool]) -> None:
        """Gives back the items that have not begun, and sends the results so far."""
        with self.lock:
            returned = 0
            while self.left:
                try:
                    self.left.pop()
                except IndexError:
                    break
                returned += 1
            results = self.results[self.sent :]
            if (results or returned) and not send(Part(self.sent, results, returned)):
                # One of the results cannot be sent: the final message of the chunk reports this.
                send(Part(self.sent, [], returned))
                return
            self.sent += len(results)


running: Chunk | None = None
"""The chunk that this worker runs."""


def run(function: Callable[..., Any], items: list[tuple[Any, ...]], keep_going: bool) -> Ran:
    """Runs a chunk in a worker."""
    global running
    from parvum.pool import worker

    chunk = running = Chunk(items)
    try:
        return chunk.run(function, keep_going, worker.here.where if worker.here is not None else "")
    finally:
        running = None
