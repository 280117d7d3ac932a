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
    """The event that `concurrent.futures.wait` or `as_completed` waits for: an interrupt there reaches the futures."""

    def __init__(self, event: Any) -> None:
        self._event = event
        self.futures: list[weakref.ref[Stoppable[Any]]] = []

    def wait(self, timeout: float | None = None) -> bool:
        """As of `threading.Event`."""
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
    """Who waits for a future in those two: the module has no other place where a future hears of them."""

    __slots__ = ("future",)

    def append(self, waiter: Any) -> None:
        """One more."""
        if not isinstance(waiter.event, _Heard):
            waiter.event = _Heard(waiter.event)
        waiter.event.futures.append(self.future)
        super().append(waiter)


class Stoppable(Future[T]):
    """A future whose call may be stopped while it runs, and which can be awaited too."""

    def __init__(self) -> None:
        super().__init__()
        waiters = _Waiters()
        # No cycle: results would stay until the next collection.
        waiters.future = weakref.ref(self)
        self._waiters = waiters

    def result(self, timeout: float | None = None) -> T:
        """The call's result; waits `timeout` seconds for it at most. Raises what the call has raised."""
        try:
            return super().result(timeout)
        except KeyboardInterrupt:
            self.interrupted()
            raise

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """What the call has raised, or None; waits `timeout` seconds for it at most."""
        try:
            return super().exception(timeout)
        except KeyboardInterrupt:
            self.interrupted()
            raise

    __parvum_whole__ = True

    def __reduce__(self) -> Any:
        raise TypeError("a future is used where its call was submitted; send its result")

    def become_cancelled(self) -> None:
        """The call was dropped: whoever waits hears of that."""
        with self._condition:
            if self._state not in ("PENDING", "RUNNING"):
                return
            self._state = "CANCELLED_AND_NOTIFIED"
            for waiter in self._waiters:
                waiter.add_cancelled(self)
            self._condition.notify_all()
        # The callbacks of a Future have no other name.
        invoke: Any = getattr(self, "_invoke_callbacks")  # noqa: B009
        invoke()

    def interrupted(self) -> None:
        """The thread that waits was interrupted. A call may have raised KeyboardInterrupt itself: then it is done."""
        raise NotImplementedError

    def __await__(self) -> Generator[Any, None, T]:
        import asyncio

        return asyncio.wrap_future(self).__await__()


class Task(Stoppable[T]):
    """The future of one call, which can be awaited too.

    `cancel` takes a call back that waits, and stops one that runs: the call gets `KeyboardInterrupt`; when it does
    not end, its worker is ended and replaced. An interrupt (Ctrl-C, a kernel's) of the thread that waits for a
    result stops all calls that the thread has submitted to the pool.
    """

    call: Call | None = None
    pool: Pool | None = None
    data: bytes = b""
    context: Context | None = None
    """Where it was submitted: what the call prints is shown there, as a notebook has it below the cell."""
    kept: list[Kept] | tuple[()] = ()
    thread: int = 0
    """The thread that has submitted it."""
    limit: float | None = None
    """Seconds that the call may run."""
    on_part: Callable[[Part], object] | None = None
    """Takes results of a chunk that still runs."""

    def cancel(self) -> bool:
        """Takes the call back, or stops it. False: it has ended already."""
        pool, call = self.pool, self.call
        if pool is None or call is None or not pool.cancel(call, self):
            return super().cancel()
        self.become_cancelled()
        return True

    def withdraw(self) -> bool:
        """Takes the call back if no worker has it."""
        pool, call = self.pool, self.call
        if pool is None or call is None or not pool.cancel(call, self, running=False):
            return False
        self.become_cancelled()
        return True

    def interrupted(self) -> None:
        """Stops all calls that the thread of this one has submitted to the pool."""
        pool = self.pool
        if pool is not None and not self.done():
            pool.interrupt(self.thread)
