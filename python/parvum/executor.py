"""`Executor`: a `concurrent.futures.Executor` whose workers are tasks of the virtual machine, on all its hosts."""

from __future__ import annotations

import atexit
import logging
import os
import sys
import threading
import time
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent import futures
from itertools import islice
from types import TracebackType
from typing import Any, Final, Literal, ParamSpec, TypeVar

from parvum.pool import messages as m
from parvum.pool.calls import in_one_piece, pack_call
from parvum.pool.crew import Plan
from parvum.pool.output import Printer, show_labelled
from parvum.pool.pool import Pool
from parvum.pool.post import Post
from parvum.pool.stopping import GRACE
from parvum.pool.task import Task

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])
P = ParamSpec("P")

RETRIES: Final = "__parvum_retries__"

_living: weakref.WeakSet[Pool] = weakref.WeakSet()


def idempotent(retries: int = 3) -> Callable[[F], F]:
    """Declares that a call of the function may run again if its worker dies, at most `retries` times.

    >>> import parvum
    >>> @parvum.idempotent(retries=5)
    ... def price(option): ...
    """
    if retries < 0:
        raise ValueError(f"retries is {retries}; it must be 0 or more")

    def mark(function: F) -> F:
        setattr(function, RETRIES, retries)
        return function

    return mark


class Executor(futures.Executor):
    """Runs calls in worker processes on every host of the virtual machine, like `concurrent.futures.Executor`.

    `max_workers`: the number of workers; None: one for each processor of the virtual machine (of `hosts`, if given).
    `hosts`: names of the hosts that get workers in turn; None: the virtual machine chooses the hosts.
    `initializer(*initargs)`: a function that each worker calls before its first call. If it raises, the pool is broken.
    `retries`: declares all calls idempotent: if a worker dies, its call runs again, at most `retries` times.
    None: only calls of functions marked with `idempotent` run again; all other calls fail with `WorkerLost`.
    `repeat_stragglers`: if an idempotent call takes three times as long as other calls and a worker is idle, that
    worker runs the call too. The first result counts.
    `output`: where the printed lines of calls go. "labelled": this process's output, with a label. "inherit": the
    daemon's output. Otherwise a function of (task, host, "stdout" or "stderr", text).
    `env`, `cwd`: additional environment variables, and the working directory, of workers.
    `python`: the interpreter on all hosts.
    `max_time`: the time limit of a call in seconds. After this time the pool stops the call, and its future raises
    `CallTimedOut`.
    `grace`: the pool stops a call with `KeyboardInterrupt`, and waits this number of seconds for its end. If the
    call still runs, the worker gets SIGTERM, and after the same time SIGKILL; another worker replaces it.
    `inner_threads`: threads of OpenMP, OpenBLAS, MKL and similar libraries in a worker; None: the processors divided
    by the workers. If the environment or `env` already sets a variable for such threads, the variable does not
    change.

    If no virtual machine is up, the executor starts one. If a worker dies, the pool starts another worker, and
    calls that the dead worker had not begun still run. Arguments are pickled when a call is submitted. Arrays of
    256 KiB or more are sent once to each host, and are read-only in calls. Raises `ValueError` for invalid numbers,
    and `parvum.errors.ParvumError` if the virtual machine refuses to start workers.

    >>> import parvum
    >>> with parvum.Executor(2) as pool:
    ...     pool.submit(pow, 2, 10).result()
    1024
    """

    def __init__(
        self,
        max_workers: int | None = None,
        initializer: Callable[..., object] | None = None,
        initargs: tuple[Any, ...] = (),
        *,
        hosts: Sequence[str] | None = None,
        retries: int | None = None,
        repeat_stragglers: bool = False,
        output: str | Printer = "labelled",
        env: Mapping[str, str] | None = None,
        cwd: str | None = None,
        python: str | None = None,
        max_time: float | None = None,
        grace: float = GRACE,
        inner_threads: int | None = None,
    ) -> None:
        if max_workers is not None and max_workers <= 0:
            raise ValueError("max_workers must be greater than 0")
        if retries is not None and retries < 0:
            raise ValueError(f"retries is {retries}; it must be 0 or more, or None")
        if initializer is not None and not callable(initializer):
            raise TypeError("initializer must be a callable")
        if isinstance(hosts, str):
            raise TypeError(f"hosts is the text {hosts!r}; it must be a list of names")
        if isinstance(output, str) and output not in ("labelled", "inherit"):
            raise ValueError(f"output is {output!r}; it must be 'labelled', 'inherit' or a function")
        if max_time is not None and not max_time > 0:
            raise ValueError(f"max_time is {max_time}; it must be more than 0, or None")
        if not 0 <= grace < float("inf"):
            raise ValueError(f"grace is {grace}; it must be 0 or more")
        if inner_threads is not None and inner_threads < 1:
            raise ValueError(f"inner_threads is {inner_threads}; it must be 1 or more, or None")
        start = None if initializer is None else _initial(initializer, initargs)
        post = Post.of_pool()
        show = output if callable(output) else show_labelled if output == "labelled" else None
        level = logging.getLogger("parvum").level
        setup = m.Setup(_module_places(), start, _numpy_version(), level, show is not None, grace)
        processors = post.processors(hosts)
        workers = max_workers or processors
        limits = thread_limits(inner_threads, processors, workers, env)
        plan = Plan(workers, hosts, m.say(b"", tuple(setup)), limits, cwd or os.getcwd(), python or sys.executable)
        self._retries = retries
        self._pool = Pool(plan, post, repeat_stragglers, show, max_time, grace)
        _living.add(self._pool)
        # No thread can submit any more: workers end when all calls are done.
        self._end = weakref.finalize(self, _close, self._pool)
        # After the pool has become a task: functions that were registered later run first.
        atexit.unregister(_close_late)
        atexit.register(_close_late)
        self._end.atexit = False

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> Task[T]:
        """Submits `fn(*args, **kwargs)` to a worker. Returns immediately.

        If an argument cannot be pickled, the future fails with `Unpicklable`. Raises `RuntimeError` after
        `shutdown`, and `BrokenExecutor` if the pool is broken.
        """
        task: Task[T] = Task()
        self._submit(task, fn, args, kwargs, getattr(fn, RETRIES, self._retries))
        return task

    def submit_with(
        self,
        fn: Callable[..., T],
        args: Iterable[object] = (),
        kwargs: Mapping[str, object] | None = None,
        *,
        timeout: float | None = None,
        retries: int | None | Literal["as the function says"] = "as the function says",
    ) -> Task[T]:
        """Submits a call like `submit`, with options for this call.

        `timeout`: the time limit of the call in seconds. After this time the pool stops the call, and its future
        raises `CallTimedOut`. None: `max_time` of the pool. `retries`: how often the call may run again if its worker
        dies; None: never. If `retries` is not given, the value of the function (`idempotent`) or of the pool applies.

        >>> import parvum, time
        >>> with parvum.Executor(1) as pool:
        ...     type(pool.submit_with(time.sleep, (1000,), timeout=0.1).exception()).__name__
        'CallTimedOut'
        """
        if timeout is not None and not timeout > 0:
            raise ValueError(f"timeout is {timeout}; it must be more than 0, or None")
        again: int | None = getattr(fn, RETRIES, self._retries) if isinstance(retries, str) else retries
        task: Task[T] = Task()
        task.limit = timeout
        self._submit(task, fn, tuple(args), kwargs or {}, again)
        return task

    def submit_task(self, task: Task[T], fn: Callable[..., T], args: tuple[object, ...], retries: int | None, first: bool) -> None:
        """Submits a call like `submit`, for an existing future: for `parvum.map`."""
        self._submit(task, fn, args, {}, retries, first)

    def _submit(
        self,
        task: Task[Any],
        fn: Callable[..., object],
        args: tuple[object, ...],
        kwargs: Mapping[str, object],
        retries: int | None,
        first: bool = False,
    ) -> None:
        pool = self._pool
        try:
            packed = pack_call(fn, args, kwargs)
        except Exception as error:
            with pool.lock:
                pool.check_open()
            task.set_running_or_notify_cancel()
            task.set_exception(error)
            return
        try:
            pool.submit(packed, retries, task, first)
        except KeyboardInterrupt:
            # An interrupt in this moment counts as one during the wait for the result.
            pool.interrupt(threading.get_ident())
            raise

    def map(
        self,
        fn: Callable[..., T],
        *iterables: Iterable[Any],
        timeout: float | None = None,
        chunksize: int = 1,
        buffersize: int | None = None,
    ) -> Iterator[T]:
        """Calls `fn` on each item, `chunksize` items per message, and yields the results in order.

        `timeout`: seconds from now after which the wait for a result raises `TimeoutError`. `buffersize`: the number of
        chunks that are submitted before their results are taken; None: all chunks. If a call raises an exception, the
        iterator raises this exception in place of the result, and cancels calls that have not begun.
        """
        if chunksize < 1:
            raise ValueError("chunksize must be >= 1.")
        if buffersize is not None and buffersize < 1:
            raise ValueError("buffersize must be None or > 0")
        retries = getattr(fn, RETRIES, self._retries)
        end = None if timeout is None else time.monotonic() + timeout
        items = zip(*iterables)
        if chunksize == 1:
            calls = ((fn, args) for args in items)
        else:
            calls = ((_call_all, (fn, chunk)) for chunk in _chunks(items, chunksize))
        begun = (self._begin(function, args, retries) for function, args in calls)
        ahead = list(begun if buffersize is None else islice(begun, buffersize))
        results = _results(ahead, begun, end, weakref.ref(self))
        return results if chunksize == 1 else (result for chunk in results for result in chunk)

    def _begin(self, fn: Callable[..., object], args: tuple[object, ...], retries: int | None) -> Task[Any]:
        task: Task[Any] = Task()
        self._submit(task, fn, args, {}, retries)
        return task

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False, stop: bool = False) -> None:
        """Accepts no more calls. `wait`: returns when all calls have ended and the workers have ended.
        `cancel_futures`: cancels calls that no worker has yet. `stop`: also stops running calls. A second shutdown is
        allowed.

        An interrupt (Ctrl-C) during the wait stops the running calls. `KeyboardInterrupt` is raised when the
        workers have ended.
        """
        if os.getpid() != self._pool.process:
            return
        self._end.detach()
        self._pool.close(cancel_futures or stop, stop)
        if wait and threading.current_thread() is not self._pool.thread:
            self._pool.finish()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> bool | None:
        # An interrupt of the block means that its calls are no longer wanted.
        self.shutdown(stop=kind is not None and issubclass(kind, KeyboardInterrupt))
        return None

    def interrupt(self) -> None:
        """Cancels all waiting calls and stops all running calls, whichever thread submitted them. The pool accepts further calls."""
        self._pool.interrupt()

    # --- more than `concurrent.futures` has ---

    __parvum_whole__ = True

    def __reduce__(self) -> Any:
        raise TypeError("a pool is used where it was made; a call that submits makes a pool of its own, or gives back what is to be submitted")

    def grow(self, count: int = 1, host: str | None = None) -> None:
        """Starts `count` more workers, on `host` or on hosts that the pool chooses. Returns before the workers are ready."""
        if count < 1:
            raise ValueError(f"count is {count}; it must be 1 or more")
        self._pool.grow(count, host)

    def shrink(self, count: int = 1, host: str | None = None) -> int:
        """Ends the `count` least busy workers after their present call. Returns the number of ended workers."""
        if count < 1:
            raise ValueError(f"count is {count}; it must be 1 or more")
        return self._pool.shrink(count, host)

    def wait_for_workers(self, count: int = 1, timeout: float | None = None) -> bool:
        """Waits until `count` workers are ready; returns False if the timeout (seconds) passes or the pool breaks first."""
        return self._pool.await_workers(count, timeout)

    @property
    def workers(self) -> dict[int, str]:
        """The ready workers: task ids, and their hosts."""
        with self._pool.lock:
            return {worker.name: worker.host for worker in self._pool.schedule.workers.values() if not worker.retiring}

    @property
    def worker_count(self) -> int:
        """The number of ready workers."""
        return len(self._pool.schedule.workers)

    @property
    def retries(self) -> int | None:
        """How often a call may run again after its worker has died, if the function of the call does not set a number; None: never."""
        return self._retries

    @property
    def is_open(self) -> bool:
        """True if the pool accepts calls: not shut down, broken or inherited by a fork."""
        pool = self._pool
        return not pool.closing and pool.broken is None and pool.process == os.getpid()

    @property
    def pids(self) -> list[int]:
        """The process ids of the ready workers, each on its host."""
        with self._pool.lock:
            return [member.pid for member in self._pool.crew.members.values() if member.ready and not member.leaving]

    @property
    def replaced(self) -> int:
        """The number of workers that died and were replaced."""
        return self._pool.crew.replaced


def _close(pool: Pool) -> None:
    if os.getpid() == pool.process:
        pool.close(cancel_futures=False)


def living() -> list[Pool]:
    """The open pools of this process."""
    return [pool for pool in _living if pool.process == os.getpid()]


def close_all() -> None:
    """At the end of the interpreter, waits until all submitted calls have ended, as every executor of `concurrent.futures` does.

    If an interrupt ends the program, or comes during this wait, this function stops the calls instead.
    """
    interrupted = isinstance(getattr(sys, "last_value", None), KeyboardInterrupt) and not hasattr(sys, "ps1")
    pools = living()
    for pool in pools:
        pool.close(cancel_futures=interrupted, stop=interrupted)
    for pool in pools:
        try:
            pool.finish()
        except KeyboardInterrupt:
            for other in pools:
                other.close(cancel_futures=True, stop=True)


def _close_late() -> None:
    """Ends pools that `close_all` has not ended: an interrupt at the first step of the interpreter's end keeps `close_all` from running.

    A thread that still runs after this function would abort the process.
    """
    pools = [pool for pool in living() if not pool.ended.is_set()]
    for pool in pools:
        pool.close(cancel_futures=True, stop=True)
    for pool in pools:
        pool.finish()


# Registered to run before the interpreter joins threads: the receiving thread ends only when `close_all` stops it.
threading._register_atexit(close_all)  # type: ignore[attr-defined]  # pyright: ignore


def _initial(initializer: Callable[..., object], initargs: tuple[Any, ...]) -> bytes:
    return in_one_piece(pack_call(initializer, tuple(initargs), {})).data


THREADS: Final = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
    "NUMBA_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
)
"""Variables that limit the threads of libraries; loky sets the same variables."""


def thread_limits(inner: int | None, processors: int, workers: int, env: Mapping[str, str] | None) -> dict[str, str]:
    """The environment of workers: `env`, and limits for the threads of libraries that `env` does not set.

    >>> thread_limits(None, 8, 2, {"OMP_NUM_THREADS": "1"})["OMP_NUM_THREADS"], thread_limits(3, 8, 2, None)["MKL_NUM_THREADS"]
    ('1', '3')
    """
    given = dict(env or {})
    for name in THREADS:
        if inner is not None:
            given.setdefault(name, str(inner))
        elif name not in os.environ:
            given.setdefault(name, str(max(1, processors // workers)))
    return given


def _module_places() -> list[str]:
    return [place or os.getcwd() for place in sys.path]


def _numpy_version() -> str | None:
    return getattr(sys.modules.get("numpy"), "__version__", None)


def _call_all(function: Callable[..., T], chunk: list[tuple[Any, ...]]) -> list[T]:
    return [function(*args) for args in chunk]


def _chunks(items: Iterable[tuple[Any, ...]], size: int) -> Iterator[list[tuple[Any, ...]]]:
    items = iter(items)
    while chunk := list(islice(items, size)):
        yield chunk


def _results(
    ahead: list[Task[Any]], more: Iterator[Task[Any]], end: float | None, executor: Callable[[], object]
) -> Iterator[Any]:
    """Yields results in order; after each result that the caller takes, another call is submitted."""
    ahead.reverse()
    try:
        while ahead:
            future = ahead.pop()
            # After its executor is gone, nothing more is submitted.
            if executor() is not None and (following := next(more, None)) is not None:
                ahead.insert(0, following)
            try:
                yield future.result(None if end is None else end - time.monotonic())
            finally:
                future.withdraw()
    finally:
        for future in ahead:
            future.withdraw()
