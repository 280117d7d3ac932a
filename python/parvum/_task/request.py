"""Nonblocking operations: ``isend`` and ``irecv``."""

from __future__ import annotations

import concurrent.futures
import threading
from typing import Any, Generator

from parvum import _parvum
from parvum._task.ids import TaskId
from parvum._task.message import Message
from parvum.errors import Cancelled, TimedOut

_RUNNING = "RUNNING"


class Request(concurrent.futures.Future[Any]):
    """A nonblocking operation. A program can call its ``wait``, ``await`` it, or pass it to :func:`concurrent.futures.wait`.

    The result of a send is None; the result of a receive is the object. Any thread may wait, and several threads may
    wait at the same time.
    """

    __parvum_whole__ = True

    def __reduce__(self) -> Any:
        raise TypeError("a request belongs to the task that has begun it; send its result")

    # The fields of a Future are made at their first use: see __getattr__.
    def __init__(self, operation: _parvum.Operation) -> None:  # pyright: ignore[reportMissingSuperCall]
        self._operation = operation

    def test(self) -> bool:
        """True if the operation is complete. Does not wait."""
        return self._operation.wait(0)

    def wait(self, timeout: float | None = None) -> bool:
        """Waits until the operation is complete, at most ``timeout`` seconds; returns whether it is complete."""
        return self._operation.wait(timeout)

    def message(self, timeout: float | None = None) -> Message:
        """Like :meth:`result`, but returns the object with its sender and its tag."""
        if not self._operation.wait(timeout):
            raise TimedOut("the request is not over")
        obj, source, tag = self._operation.outcome()
        return Message(obj, TaskId(source), tag)

    def result(self, timeout: float | None = None) -> Any:
        """Waits for the result. Raises :class:`TimedOut`, or the exception of the operation."""
        if not self._operation.wait(timeout):
            raise TimedOut("the request is not over")
        return self._operation.outcome()[0]

    def exception(self, timeout: float | None = None) -> BaseException | None:
        """Waits until the operation is complete; returns its exception, or None."""
        if not self._operation.wait(timeout):
            raise TimedOut("the request is not over")
        try:
            self._operation.outcome()
        except Exception as error:
            return error
        return None

    def cancel(self) -> bool:
        """Cancels a receive. False: the receive is already complete, or the operation is a send; the data of a send may already be on its way."""
        if not self._operation.cancel():
            return False
        if "_condition" in self.__dict__:
            super().cancel()
            with self._condition:
                self.set_running_or_notify_cancel() if self._state == "CANCELLED" else None
        return True

    def cancelled(self) -> bool:
        """True if the operation was cancelled."""
        if self._operation.number() is not None:
            return False
        try:
            self._operation.outcome()
        except Cancelled:
            return True
        except Exception:
            pass
        return False

    def done(self) -> bool:
        """True if the operation is complete."""
        return self._operation.wait(0)

    def running(self) -> bool:
        """True if the operation is not complete."""
        return not self.done()

    def __await__(self) -> Generator[Any, None, Any]:
        # A program that awaits has already loaded asyncio; other programs need not load it.
        import asyncio

        return asyncio.wrap_future(self).__await__()

    def __repr__(self) -> str:
        return f"<parvum.Request {'over' if self._operation.number() is None else 'under way'}>"

    def __getattr__(self, name: str) -> Any:
        # The program uses the request as a Future: from now on a thread waits for it and completes it.
        if name in ("_condition", "_state", "_result", "_exception", "_waiters", "_done_callbacks"):
            concurrent.futures.Future.__init__(self)  # pyright: ignore[reportUnknownMemberType]
            self._state = _RUNNING
            _waiter.add(self)
            return self.__dict__[name]
        raise AttributeError(name)

    def _tell(self) -> None:
        try:
            result = self._operation.outcome()[0]
        except Exception as error:
            if self._state == _RUNNING:
                self.set_exception(error)
        else:
            if self._state == _RUNNING:
                self.set_result(result)


class _Waiter:
    """The thread that waits for requests that the program uses as Futures. The thread runs only while there are such requests."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._requests: list[Request] = []
        self._bell: _parvum.Bell | None = None

    def add(self, request: Request) -> None:
        with self._lock:
            self._requests.append(request)
            if self._bell is not None:
                self._bell.ring()
                return
            self._bell = _parvum.Bell()
        threading.Thread(target=self._run, name="parvum-requests", daemon=True).start()

    def _run(self) -> None:
        bell = self._bell
        assert bell is not None
        while True:
            with self._lock:
                waiting = list(self._requests)
                if not waiting:
                    self._bell = None
                    return
            try:
                at = bell.wait_any([request._operation for request in waiting])  # pyright: ignore[reportPrivateUsage]
            except Exception as error:
                with self._lock:
                    self._requests.clear()
                    self._bell = None
                for request in waiting:
                    request.set_exception(error)
                return
            if at is None:
                continue
            over = waiting[at]
            with self._lock:
                self._requests.remove(over)
            over._tell()  # pyright: ignore[reportPrivateUsage]


_waiter = _Waiter()
