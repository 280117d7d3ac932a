"""Exceptions of any type that are sent to another process, with the traceback of the place where they were raised."""

from __future__ import annotations

from concurrent.futures import BrokenExecutor
from typing import Any, NamedTuple

from parvum import errors
from parvum.pool.calls import Unpicklable, pack, unpack


class RemoteTraceback(Exception):
    """The traceback of a call that failed in another process. It is the `__cause__` of the exception of the call."""

    def __init__(self, text: str) -> None:
        super().__init__(text)
        self.text = text

    def __str__(self) -> str:
        return self.text


class RemoteError(errors.ParvumError):
    """Replaces an exception of a call that cannot be pickled, or cannot be read in this process.

    Remedy: give the class of the exception a `__reduce__` that calls the class with the right arguments.
    """

    code = "E-REMOTE"
    remedy = "give that exception a __reduce__ that calls its class with the arguments it takes"

    def __init__(self, kind: str, text: str, reason: str) -> None:
        super().__init__(f"{kind}: {text} (it did not come itself: {reason})")
        self.kind = kind
        """The name of the original class, as in `package.module.Class`."""
        self.text = text
        """The `str` of the original exception."""
        self.reason = reason
        """The reason why the original exception could not be sent."""

    def __reduce__(self) -> tuple[Any, ...]:
        return RemoteError, (self.kind, self.text, self.reason)


class WorkerLost(errors.ParvumError, BrokenExecutor):
    """A worker died during a call, and the call may not run again, or has already run as often as allowed. The pool continues without the worker.

    Remedy: if a call may run again without harm, declare it: `@parvum.idempotent(retries=3)` at the function, or
    `Executor(retries=3)` for all calls.
    """

    code = "E-WORKER"
    remedy = "mark functions that may be run again with @parvum.idempotent(retries=3), or use Executor(retries=3)"


class CallTimedOut(errors.TimedOut):
    """A call ran longer than its limit (`timeout=` of the call, `max_time=` of the pool), and the pool stopped it.

    Remedy: give the call more time, or split the work into shorter calls.
    """

    remedy = "allow it more time (timeout= of the call, max_time= of the pool), or split the work into shorter calls"


class VersionsDiffer(errors.VersionMismatch, BrokenExecutor):
    """A worker has another version of Python or NumPy than this process, so pickles may not be readable on both sides.

    Remedy: install the same versions on the worker's host, or do not use this host: `Executor(hosts=[...])`.
    """


class Failure(NamedTuple):
    """An exception as a message: a description, and the exception itself if it can be pickled."""

    kind: str
    text: str
    traceback: str
    where: str
    pickled: bytes | None
    reason: str


def describe(error: BaseException, where: str) -> Failure:
    """Turns an exception into a message. `where` names the task and its host."""
    import traceback

    kind = f"{type(error).__module__}.{type(error).__qualname__}".removeprefix("builtins.")
    try:
        text = str(error)
    except Exception as worse:
        text = f"<its text cannot be had: {type(worse).__name__}>"
    try:
        lines = "".join(traceback.format_exception(type(error), error, error.__traceback__))
    except Exception as worse:
        lines = f"{kind}: {text}\n(its traceback cannot be had: {worse!r})\n"
    pickled: bytes | None = None
    reason = ""
    try:
        packed = pack(error)
        # Many exceptions can be pickled and then not read. This process finds out, because it can still report it.
        unpack(packed.data, packed.buffers)
        if packed.buffers:
            reason = "it holds large arrays"
        else:
            pickled = packed.data
    except Unpicklable as refusal:
        reason = str(refusal)
    except Exception as worse:
        reason = f"reading it back gives {type(worse).__name__}: {worse}"
    return Failure(kind, text, lines, where, pickled, reason)


def restore(failure: Failure) -> BaseException:
    """The exception of a failed call for its caller: the original or a `RemoteError`, caused by a `RemoteTraceback`."""
    error: object = None
    reason = failure.reason
    if failure.pickled is not None:
        try:
            error = unpack(failure.pickled)
        except Exception as worse:
            reason = f"reading it gives {type(worse).__name__}: {worse}"
    if not isinstance(error, BaseException):
        error = RemoteError(failure.kind, failure.text, reason)
    text = f'\nIn {failure.where}:\n"""\n{failure.traceback}"""'
    error.__cause__ = RemoteTraceback(text)
    return error
