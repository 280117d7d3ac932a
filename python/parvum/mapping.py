"""`map`: calls a function on many items, on all hosts, and yields each result as soon as it exists.

A thread takes items from the source and makes chunks, so a slow source does not delay results. If a chunk takes long,
it is split: the worker sends the results that it has, and the remaining items go to other workers. A long item
therefore delays only results that must come after the result of this item.
"""

from __future__ import annotations

import threading
import time
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FuturesTimeout
from contextvars import copy_context
from functools import partial
from operator import length_hint
from typing import Any, Final, Literal, TypeVar, overload

from parvum.executor import RETRIES, Executor
from parvum.pool import parts
from parvum.pool.failures import restore
from parvum.pool.messages import Part
from parvum.pool.stopping import SPLIT_AFTER
from parvum.pool.task import Task
from parvum.progress import Bar, make_bar

T = TypeVar("T")

WORTHWHILE: Final = 0.005
"""Target for the seconds of work in a chunk: sending a chunk then costs less than a hundredth of its work."""

LARGEST: Final = 4096
"""The most items in a chunk."""

SLOW: Final = 0.0005
"""If the source takes this number of seconds or more for an item, each item is sent immediately, without chunks."""

AHEAD: Final = 10_000
"""If this number of results waits for the caller, `map` stops taking items from the source."""


@overload
def map(
    fn: Callable[..., T],
    *iterables: Iterable[Any],
    executor: Executor | None = None,
    workers: int | None = None,
    ordered: bool = True,
    chunksize: int | None = None,
    timeout: float | None = None,
    progress: bool | str | Callable[..., Bar] = False,
    retries: int | None = None,
    max_time: float | None = None,
    return_exceptions: Literal[False] = False,
) -> Iterator[T]: ...
@overload
def map(
    fn: Callable[..., T],
    *iterables: Iterable[Any],
    executor: Executor | None = None,
    workers: int | None = None,
    ordered: bool = True,
    chunksize: int | None = None,
    timeout: float | None = None,
    progress: bool | str | Callable[..., Bar] = False,
    retries: int | None = None,
    max_time: float | None = None,
    return_exceptions: bool,
) -> Iterator[T | BaseException]: ...
def map(  # noqa: A001
    fn: Callable[..., T],
    *iterables: Iterable[Any],
    executor: Executor | None = None,
    workers: int | None = None,
    ordered: bool = True,
    chunksize: int | None = None,
    timeout: float | None = None,
    progress: bool | str | Callable[..., Bar] = False,
    retries: int | None = None,
    max_time: float | None = None,
    return_exceptions: bool = False,
) -> Iterator[Any]:
    """Calls `fn` on each item of the iterables and yields the results, in order or as they complete.

    `executor`: the executor that runs the calls; None: a new executor with `workers` workers, which ends after the
    last result.
    `chunksize`: the most items per message; None: the number of items that takes about 5 ms, measured during the run.
    Near the end chunks are small, so that all workers end at about the same time. A thread takes items from the
    iterables, at most 10,000 more than the results that the caller has taken. The iterables may therefore be endless
    or slow. `timeout`: seconds from now for the whole map; after this time `map` raises `TimeoutError`.
    `progress`: True, a text, or a class like `tqdm.tqdm`. `retries`: as in `Executor`; None: the value of the executor.
    `max_time`: the time limit in seconds for the call of one item. After this time the call is stopped, and raises
    `CallTimedOut`.

    If a call raises an exception, `map` yields all earlier results, raises the same exception, and begins no more
    calls. With `return_exceptions`, `map` yields the exception as the result, and continues. No call begins before
    the caller requests the first result. An interrupt (Ctrl-C) stops running calls.

    >>> import parvum
    >>> list(parvum.map(pow, [2, 3, 4], [5, 2, 1], workers=2))
    [32, 9, 4]
    >>> [repr(result) for result in parvum.map(divmod, [6, 1], [4, 0], workers=1, return_exceptions=True)]
    ['(1, 2)', "ZeroDivisionError('integer division or modulo by zero')"]
    """
    if chunksize is not None and chunksize < 1:
        raise ValueError(f"chunksize is {chunksize}; it must be 1 or more")
    if not iterables:
        raise TypeError("map needs a function and at least one iterable")
    if max_time is not None and not max_time > 0:
        raise ValueError(f"max_time is {max_time}; it must be more than 0, or None")
    return _map(fn, iterables, executor, workers, ordered, chunksize, timeout, progress, retries, max_time, return_exceptions)


def _map(
    fn: Callable[..., T],
    iterables: tuple[Iterable[Any], ...],
    executor: Executor | None,
    workers: int | None,
    ordered: bool,
    chunksize: int | None,
    timeout: float | None,
    progress: bool | str | Callable[..., Bar],
    retries: int | None,
    max_time: float | None,
    keep_going: bool,
) -> Iterator[Any]:
    end = None if timeout is None else time.monotonic() + timeout
    bar = make_bar(progress, _length(iterables)) if progress else None
    pool = executor or Executor(workers, retries=retries)
    allowed: int | None = getattr(fn, RETRIES, pool.retries if retries is None else retries)
    run = _Run(pool, fn, zip(*iterables), _length(iterables), chunksize, allowed, ordered, keep_going)
    # After this time a chunk gives back all items except the running one.
    run.limit = None if max_time is None else max_time + SPLIT_AFTER
    finished = interrupted = False
    try:
        run.begin()
        while results := run.take(end):
            if bar is not None:
                bar.update(len(results))
            for result in results:
                if not isinstance(result, _Raised):
                    yield result
                elif keep_going:
                    yield result.error
                else:
                    raise result.error
        finished = True
    except KeyboardInterrupt:
        interrupted = True
        raise
    finally:
        run.stop(running=interrupted)
        if bar is not None:
            bar.close()
        if executor is None:
            # No consumer can get more results.
            pool.shutdown(stop=not finished)


def _length(iterables: tuple[Iterable[Any], ...]) -> int | None:
    lengths = [length_hint(iterable, -1) for iterable in iterables]
    known = [length for length in lengths if length >= 0]
    return min(known) if known else None


class _Raised:
    """An exception that takes the place of a result."""

    __slots__ = ("error",)

    def __init__(self, error: BaseException) -> None:
        self.error = error


class _Chunk:
    """The items, from number `first` on, that were sent to a worker. The results of the first `came` items have arrived."""

    __slots__ = ("came", "first", "items", "task")

    def __init__(self, first: int, items: list[tuple[Any, ...]]) -> None:
        self.first = first
        self.items = items
        self.came = 0
        self.task: Task[parts.Ran] = Task()


class _Run:
    """One map. A thread takes items and begins chunks, the pool's thread brings results, and the consumer takes results."""

    def __init__(
        self,
        pool: Executor,
        fn: Callable[..., Any],
        items: Iterator[tuple[Any, ...]],
        total: int | None,
        size: int | None,
        retries: int | None,
        ordered: bool,
        keep_going: bool,
    ) -> None:
        self.pool = pool
        self.fn = fn
        self.items = items
        self.left = total
        self.fixed = size
        self.size = size or 1
        self.retries = retries
        self.ordered = ordered
        self.keep_going = keep_going
        self.limit: float | None = None
        self.owner = threading.get_ident()
        self.lock = threading.Lock()
        self.came = threading.Condition(self.lock)
        self.room = threading.Condition(self.lock)
        self.pending: set[_Chunk] = set()
        self.partial: list[tuple[Any, ...]] = []
        """The items that are not in a chunk yet."""
        self.number = 0
        """The number of items that are in chunks."""
        self.results: dict[int, Any] = {}
        self.arrived: deque[Any] = deque()
        """The first stores results by item number, the second in order of arrival; a run uses only one of the two."""
        self.next = 0
        self.asked = 0.0
        """The time at which the thread asked the source for an item; 0: the thread is not waiting for the source."""
        self.exhausted = False
        self.over = False
        self.error: BaseException | None = None
        """The exception that the source raised."""

    def begin(self) -> None:
        feed = partial(copy_context().run, self.feed)
        threading.Thread(target=feed, name="parvum-map", daemon=True).start()

    # --- the thread that takes items ---

    def feed(self) -> None:
        """Takes items from the source while the limit of waiting items allows."""
        error: BaseException | None = None
        try:
            while True:
                with self.room:
                    while not self.over and not self.has_room():
                        self.room.wait()
                    if self.over:
                        return
                    self.asked = begun = time.perf_counter()
                item = next(self.items, None)
                if item is None:
                    break
                with self.lock:
                    self.asked = 0.0
                    self.partial.append(item)
                    slow = time.perf_counter() - begun > SLOW
                    wanted = 1 if slow and not self.is_busy() else self.wanted()
                    chunk = self.cut() if len(self.partial) >= wanted or not self.pending else None
                self.submit(chunk)
        except BaseException as raised:
            error = raised
        with self.lock:
            self.asked = 0.0
            chunk = self.cut() if self.partial and not self.over else None
            self.error = error
        self.submit(chunk)
        with self.lock:
            self.exhausted = True
            self.came.notify_all()

    def submit(self, chunk: _Chunk | None, first: bool = False) -> None:
        """Submits a chunk to a worker."""
        if chunk is None:
            return
        task = chunk.task
        task.thread = self.owner
        task.limit = self.limit
        task.on_part = partial(self.on_part, chunk)
        task.add_done_callback(partial(self.on_end, chunk))
        try:
            self.pool.submit_task(task, parts.run, (self.fn, chunk.items, self.keep_going), self.retries, first)
        except Exception as error:
            task.set_running_or_notify_cancel()
            task.set_exception(error)

    # --- under the lock ---

    def has_room(self) -> bool:
        waiting = len(self.results) + len(self.arrived)
        return waiting < AHEAD and len(self.pending) < 4 * self.workers

    @property
    def workers(self) -> int:
        return max(1, self.pool.worker_count)

    def is_busy(self) -> bool:
        """True if all workers have a chunk, and another one after it."""
        return len(self.pending) >= 2 * self.workers

    def wanted(self) -> int:
        """The number of items for the next chunk."""
        if self.fixed is not None or self.left is None:
            return self.size
        # The last chunks are short, so that all workers end together.
        return max(1, min(self.size, (self.left - self.number) // (4 * self.workers)))

    def cut(self) -> _Chunk:
        """Makes a chunk of the items that are here."""
        items, self.partial = self.partial, []
        chunk = _Chunk(self.number, items)
        self.number += len(items)
        self.pending.add(chunk)
        return chunk

    def cut_if_stalled(self) -> _Chunk | None:
        """Makes a chunk of the waiting items if the source is slow and workers are idle."""
        if not self.partial or self.over or self.is_busy():
            return None
        asked = self.asked
        stalled = not self.pending or (asked and time.perf_counter() - asked > SLOW)
        return self.cut() if stalled else None

    def keep(self, chunk: _Chunk, first: int, results: list[Any]) -> None:
        """Stores results of a chunk, from item `first` on. A chunk that runs again brings the same results again."""
        for place in range(max(0, chunk.came - first), len(results)):
            result = results[place]
            if isinstance(result, parts.Failed):
                result = _Raised(restore(result.failure))
            if self.ordered:
                self.results[chunk.first + first + place] = result
            else:
                self.arrived.append(result)
        chunk.came = max(chunk.came, first + len(results))
        self.came.notify_all()

    # --- the pool's thread ---

    def on_part(self, chunk: _Chunk, part: Part) -> None:
        """Stores the first results of a chunk that takes long, and takes back the last items of the chunk."""
        back: list[_Chunk] = []
        with self.lock:
            if self.over:
                return
            self.keep(chunk, part.first, part.results)
            if part.returned:
                kept = len(chunk.items) - part.returned
                items, chunk.items = chunk.items[kept:], chunk.items[:kept]
                size = -(-len(items) // self.workers)
                for at in range(0, len(items), size):
                    back.append(_Chunk(chunk.first + kept + at, items[at : at + size]))
                self.pending.update(back)
        for one in reversed(back):
            self.submit(one, first=True)

    def on_end(self, chunk: _Chunk, task: Future[parts.Ran]) -> None:
        """Handles the end of a chunk: results, failure or loss."""
        with self.lock:
            self.pending.discard(chunk)
            error = None if task.cancelled() else task.exception()
            if error is not None:
                missing = len(chunk.items) - chunk.came
                self.keep(chunk, chunk.came, [_Raised(error)] * missing)
            elif not task.cancelled():
                ran = task.result()
                if self.fixed is None and (count := ran.first + len(ran.results)):
                    each = ran.seconds / count
                    wanted = min(LARGEST, int(WORTHWHILE / each) if each > 0 else LARGEST)
                    # At most twice as large: the first items may be the shortest.
                    self.size = max(1, min(wanted, 2 * self.size))
                self.keep(chunk, ran.first, ran.results)
            more = self.cut_if_stalled()
            self.room.notify()
            self.came.notify_all()
        self.submit(more)

    # --- the consumer ---

    def take(self, end: float | None) -> list[Any]:
        """Waits for a result, and returns all results that have arrived.

        An empty list means that there are no more. Raises the source's exception.
        """
        while True:
            with self.lock:
                results = self.due()
                if results:
                    self.room.notify()
                    return results
                if self.exhausted and not self.pending:
                    if self.error is not None:
                        raise self.error
                    return []
                if end is not None and time.monotonic() >= end:
                    raise FuturesTimeout
                patience = None if end is None else end - time.monotonic()
                if self.partial:
                    # No other thread checks whether the source is slow.
                    patience = SLOW if patience is None else min(patience, SLOW)
                self.came.wait(patience)
                chunk = self.cut_if_stalled()
            self.submit(chunk)

    def due(self) -> list[Any]:
        found: list[Any] = []
        if self.ordered:
            while self.next in self.results:
                found.append(self.results.pop(self.next))
                self.next += 1
        else:
            found.extend(self.arrived)
            self.arrived.clear()
            if not self.keep_going:
                # All results that have come are returned before the exception is raised.
                found.sort(key=lambda result: isinstance(result, _Raised))
        return found

    def stop(self, running: bool) -> None:
        """Begins no more calls; with `running`, also stops running calls."""
        with self.lock:
            self.over = True
            self.partial.clear()
            pending = list(self.pending)
            self.room.notify_all()
        for chunk in pending:
            chunk.task.cancel() if running else chunk.task.withdraw()
