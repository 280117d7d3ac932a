"""The future of one call of a pool."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Generator
from concurrent.futures import Future
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from contextvars import Context

    from parvum.pool.messages import Part
    from parvum.pool.pool import Pool
    from parvum.pool.schedule import Call
    from parvum.pool.store import Kept

T = TypeVar("T")


class _Heard:
    """The event that `concurrent.futures.wait` or `as_completed` waits for. An interrupt of this wait also stops the futures."""

    def __init__(self, event: Any) -> None:
        self._event = event
        self.futures: list[weakref.ref[Stoppable[Any]]] = []

    def wait(self, timeout: float | None = None) -> bool:
        """As in `threading.Event`."""
        try:
            is_set: bool = self._event.wait(timeout)
            return is_set
        except KeyboardInterrupt:
            for reference in self.futures:
                if (future := reference()) is not None:
                    future.interrupted()
            raise

    def __getattr__(self, name: str) -> Any:
        return getattr(self._event, name)


class _Waiters(list[Any]):
    """The waiting calls of `wait` and `as_completed` for a future. The future finds these calls only in this list."""

    __slots__ = ("future",)

    def append(self, waiter: Any) -> None:
        """Adds a waiter."""
        if not isinstance(waiter.event, _Heard):
            waiter.event = _Heard(waiter.event)
        waiter.event.futures.append(self.future)
        super().append(waiter)


class Stoppable(Future[T]):
    """A future whose call can be stopped while it runs; it can also be awaited."""

    def __init__(self) -> None:
        super().__init__()
        waiters = _Waiters()
        # Without a cycle: otherwise results would stay until the next garbage collection.
        waiters.future = weakref.ref(self)
        self._waiters = waiters

    def result(self, timeout: float | None = None) -> T:
        """Returns the call's result; waits at most `timeout` seconds. Raises the exception of the call."""
        try:
            return super().result(timeout)
        except KeyboardInterrupt:
            self.interrupted()
            raise

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Returns the exception of the call, or None; waits at most `timeout` seconds."""
        try:
            return super().exception(timeout)
        except KeyboardInterrupt:
            self.interrupted()
            raise

    __parvum_whole__ = True

    def __reduce__(self) -> Any:
        raise TypeError("a future is used where its call was submitted; send its result")

    def become_cancelled(self) -> None:
        """Marks a dropped call as cancelled, and wakes the threads that wait for it."""
        with self._condition:
            if self._state not in ("PENDING", "RUNNING"):
                return
            self._state = "CANCELLED_AND_NOTIFIED"
            for waiter in self._waiters:
                waiter.add_cancelled(self)
            self._condition.notify_all()
        # The callbacks of a Future have no public name.
        invoke: Any = getattr(self, "_invoke_callbacks")  # noqa: B009
        invoke()

    def interrupted(self) -> None:
        """Handles an interrupt of the waiting thread. If the call itself raised KeyboardInterrupt, the call has already ended."""
        raise NotImplementedError

    def __await__(self) -> Generator[Any, None, T]:
        import asyncio

        return asyncio.wrap_future(self).__await__()


class Task(Stoppable[T]):
    """The future of one call; it can also be awaited.

    `cancel` cancels a waiting call, and stops a running call: the running call gets `KeyboardInterrupt`. If the call
    does not end, its worker is killed and replaced. If an interrupt (Ctrl-C, or of a Jupyter kernel) ends a wait for a
    result, the pool stops all calls of the waiting thread.
    """

    call: Call | None = None
    pool: Pool | None = None
    data: bytes = b""
    context: Context | None = None
    """The place where the call was submitted, for example a notebook's cell: the output of the call is shown there."""
    kept: list[Kept] | tuple[()] = ()
    thread: int = 0
    """The thread that submitted the call."""
    limit: float | None = None
    """The time limit of the call in seconds."""
    on_part: Callable[[Part], object] | None = None
    """A function that receives the first results of a chunk that still runs."""

    def cancel(self) -> bool:
        """Cancels the call, or stops it. False: the call has already ended."""
        pool, call = self.pool, self.call
        if pool is None or call is None or not pool.cancel(call, self):
            return super().cancel()
        self.become_cancelled()
        return True

    def withdraw(self) -> bool:
        """Cancels the call if no worker has it."""
        pool, call = self.pool, self.call
        if pool is None or call is None or not pool.cancel(call, self, running=False):
            return False
        self.become_cancelled()
        return True

    def interrupted(self) -> None:
        """Stops all calls that the thread which submitted this call has submitted to the pool."""
        pool = self.pool
        if pool is not None and not self.done():
            pool.interrupt(self.thread)
