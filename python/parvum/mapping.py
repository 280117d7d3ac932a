"""`map`: a function over many items, on all hosts, with a balance that follows how long calls take."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FuturesTimeout
from itertools import islice
from operator import length_hint
from queue import SimpleQueue
from typing import Any, Final, TypeVar

from parvum.executor import RETRIES, Executor
from parvum.progress import Bar, make_bar

T = TypeVar("T")

WORTHWHILE: Final = 0.005
"""Seconds of work that a chunk should hold: the way to a worker costs less than a hundredth of it."""

LARGEST: Final = 4096
"""Most items of a chunk."""


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
) -> Iterator[T]:
    """Calls `fn` on each item of the iterables and gives the results: in order, or as they come.

    `executor`: where calls run; None: one is made, of `workers` workers, and ended with the last result.
    `chunksize`: items per message; None: as many as make 5 ms of work, found out while it runs, and few at the
    end, so that workers end together. Items are taken from the iterables only as workers need them: they may be
    endless. `timeout`: seconds from now, for all; then `TimeoutError`. `progress`: True, a text, or a class like
    `tqdm.tqdm`. `retries`: as of `Executor`; None: what the executor says.

    What a call raises is raised here, and nothing more is begun. Nothing is begun before the first result is asked for.

    >>> import parvum
    >>> list(parvum.map(pow, [2, 3, 4], [5, 2, 1], workers=2))
    [32, 9, 4]
    """
    if chunksize is not None and chunksize < 1:
        raise ValueError(f"chunksize is {chunksize}; it must be 1 or more")
    if not iterables:
        raise TypeError("map needs a function and at least one iterable")
    return _map(fn, iterables, executor, workers, ordered, chunksize, timeout, progress, retries)


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
) -> Iterator[T]:
    end = None if timeout is None else time.monotonic() + timeout
    bar = make_bar(progress, _length(iterables)) if progress else None
    pool = executor or Executor(workers, retries=retries)
    allowed: int | None = getattr(fn, RETRIES, pool.retries if retries is None else retries)
    run = _Run(pool, fn, zip(*iterables), _length(iterables), chunksize, allowed)
    try:
        for chunk in run.in_order(end) if ordered else run.as_they_come(end):
            if bar is not None:
                bar.update(len(chunk))
            yield from chunk
    finally:
        run.stop()
        if bar is not None:
            bar.close()
        if executor is None:
            pool.shutdown(wait=True, cancel_futures=True)


def _length(iterables: tuple[Iterable[Any], ...]) -> int | None:
    lengths = [length_hint(iterable, -1) for iterable in iterables]
    known = [length for length in lengths if length >= 0]
    return min(known) if known else None


class _Run:
    """One map: chunks are made as results come, so many ahead that no worker waits."""

    def __init__(
        self,
        pool: Executor,
        fn: Callable[..., Any],
        items: Iterator[tuple[Any, ...]],
        total: int | None,
        size: int | None,
        retries: int | None,
    ) -> None:
        self.pool = pool
        self.fn = fn
        self.items = items
        self.left = total
        self.fixed = size
        self.size = size or 1
        self.retries = retries
        self.pending: dict[Future[Any], None] = {}
        self.done: SimpleQueue[Future[Any]] = SimpleQueue()
        self.tell = False
        self.over = False

    def in_order(self, end: float | None) -> Iterator[list[Any]]:
        self.fill()
        while self.pending:
            yield self.take(next(iter(self.pending)), end)
            self.fill()

    def as_they_come(self, end: float | None) -> Iterator[list[Any]]:
        from queue import Empty

        self.tell = True
        self.fill()
        while self.pending:
            try:
                future = self.done.get(timeout=None if end is None else max(0.0, end - time.monotonic()))
            except Empty:
                raise FuturesTimeout from None
            yield self.take(future, end)
            self.fill()

    def take(self, future: Future[Any], end: float | None) -> list[Any]:
        seconds, results = future.result(None if end is None else max(0.0, end - time.monotonic()))
        del self.pending[future]
        if self.fixed is None and results:
            each = seconds / len(results)
            wanted = min(LARGEST, int(WORTHWHILE / each) if each > 0 else LARGEST)
            # Twice as large at most: the first items may be the shortest.
            self.size = max(1, min(wanted, 2 * self.size))
        return results

    def fill(self) -> None:
        """Submits chunks until all workers have enough ahead."""
        workers = max(1, len(self.pool.workers))
        while not self.over and len(self.pending) < 4 * workers:
            size = self.size
            if self.fixed is None and self.left is not None:
                # The last ones are short: all workers shall end together.
                size = max(1, min(size, self.left // (4 * workers)))
            chunk = list(islice(self.items, size))
            if not chunk:
                self.over = True
                return
            if self.left is not None:
                self.left -= len(chunk)
            future = self.pool.submit_with(self.retries, _run_chunk, self.fn, chunk)
            self.pending[future] = None
            if self.tell:
                future.add_done_callback(self.done.put)

    def stop(self) -> None:
        self.over = True
        for future in self.pending:
            future.cancel()


def _run_chunk(fn: Callable[..., T], chunk: list[tuple[Any, ...]]) -> tuple[float, list[T]]:
    begun = time.perf_counter()
    results = [fn(*args) for args in chunk]
    return time.perf_counter() - begun, results
