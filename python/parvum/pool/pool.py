"""A pool: its scheduler, its workers and its messages. `Executor` is its public interface.

One lock protects the scheduler, the workers and the store; no user code runs while a thread holds this lock. The
thread that submits a call also sends it to a worker. One other thread receives; it sleeps while no message comes,
and ends when the last worker ends.
"""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from contextvars import copy_context
from functools import partial
from typing import TYPE_CHECKING, Any, cast

from parvum.pool import messages as m
from parvum.pool.calls import Packed, apart, unpack
from parvum.pool.crew import Crew, Plan
from parvum.pool.failures import CallTimedOut, Failure, WorkerLost, restore
from parvum.pool.post import Post
from parvum.pool.schedule import Ask, Call, Hand, Schedule
from parvum.pool.stopping import LIMIT, SPLIT, TERM, Stops
from parvum.pool.store import Store
from parvum.pool.task import Task

from parvum.pool.output import read_output

if TYPE_CHECKING:
    from parvum.pool.output import Printer

log = logging.getLogger("parvum.pool")

UNEVEN = 0.005
"""If a worker is idle, the pool asks another worker again for calls after this number of seconds. Workers answer only between two calls."""

IMPATIENT = 3.0
"""If a call takes this number of times as long as other calls, it is a straggler."""


class Pool:
    """The state of an executor. This state exists while there is work, even if the program no longer has a reference to the executor."""

    def __init__(
        self, plan: Plan, post: Post, repeat_stragglers: bool, show: Printer | None, max_time: float | None, grace: float
    ) -> None:
        self.post = post
        self.process = os.getpid()
        self.lock = threading.Lock()
        self.schedule = Schedule()
        self.store = Store(post, post.host)
        self.crew = Crew(plan, post)
        self.repeat_stragglers = repeat_stragglers
        self.show = show
        self.max_time = max_time
        self.stops = Stops(grace)
        self.broken: BrokenExecutor | None = None
        self.closing = False
        self._watchful = max_time is not None
        """True if a call has a time limit, can be split, or was stopped: the pool then checks the running calls of workers."""
        self._running: dict[int, int] = {}
        self._leave_at = 0.0
        """The time at which the pool kills stopped workers, even during calls."""
        self.count = 0
        self._quiet_until: float | None = None
        """The time at which the pool checks for stragglers, if no message comes before this time."""
        self.done = 0
        """The number of calls that have sent their results."""
        self._seen = (time.monotonic(), 0)
        self.numpy_told = False
        self.ended = threading.Event()
        self._grown = threading.Condition(self.lock)
        with self.lock:
            self.crew.grow(plan.workers)
        self.thread = threading.Thread(target=self._receive, name="parvum-pool")
        self.thread.start()

    # --- for any thread ---

    def submit(self, packed: Packed, retries: int | None, task: Task[Any], first: bool = False) -> None:
        """Accepts a call; `first`: the call runs before the waiting calls.

        Raises `RuntimeError` if the pool has ended, or the reason why the pool broke.
        """
        if not self.numpy_told and "numpy" in sys.modules:
            self._tell_numpy()
        task.data = packed.data
        if task.limit is None:
            task.limit = self.max_time
        if not task.thread:
            task.thread = threading.get_ident()
        if self.show is not None:
            task.context = copy_context()
        with self.lock:
            self.check_open()
            self.count = number = self.count + 1
            task.call = call = Call(number, task, retries)
            task.pool = self
            if task.limit is not None or task.on_part is not None:
                self._watchful = True
            if packed.buffers:
                task.kept = self.store.keep(packed.buffers)
            schedule = self.schedule
            schedule.submit(call, first)
            if schedule.orders:
                self._obey()

    def check_open(self) -> None:
        """Raises the reason why the pool does not accept calls."""
        if self.broken is not None:
            raise type(self.broken)(*self.broken.args) from (self.broken.__cause__ or self.broken)
        if self.closing:
            raise RuntimeError("cannot schedule new futures after shutdown")
        if os.getpid() != self.process:
            raise BrokenExecutor("this process was forked after the pool was made: make one of its own here")

    def cancel(self, call: Call, task: Task[Any], running: bool = True) -> bool:
        """Cancels a waiting call; with `running`, also stops a call that a worker has. False: the call has already ended, or continues."""
        with self.lock:
            if call.done or (call.holders and not running):
                return False
            self._drop([call])
            return True

    def interrupt(self, thread: int | None = None) -> None:
        """Stops all calls that a thread has submitted; None: all calls."""
        with self.lock:
            calls = [call for call in self.schedule.all_calls() if thread in (None, self._task(call).thread)]
            self._drop(calls)
        for call in calls:
            self._task(call).become_cancelled()

    def grow(self, count: int, host: str | None) -> None:
        """Starts more workers; returns before they are ready."""
        with self.lock:
            self.check_open()
            self.crew.grow(count, host)

    def shrink(self, count: int, host: str | None) -> int:
        """Ends workers after their present calls. Returns their number."""
        with self.lock:
            going = self.crew.dismiss(count, host, self.schedule)
            for member in going:
                if member.task in self.schedule.workers:
                    self.schedule.shrink(member.task)
                else:
                    self.post.hand(m.STOP, member.task)
            self._obey()
            return len(going)

    def await_workers(self, count: int, timeout: float | None) -> bool:
        """Waits until `count` workers are ready, or the pool is broken."""
        with self._grown:
            return self._grown.wait_for(lambda: self.broken or len(self.schedule.workers) >= count, timeout) is True

    def close(self, cancel_futures: bool, stop: bool = False) -> None:
        """Accepts no more calls; the workers end when all calls have ended. `stop`: stops running calls."""
        cancelled: list[Call] = []
        with self.lock:
            self.closing = True
            if cancel_futures:
                cancelled = self.schedule.drop_waiting()
            if stop:
                self.crew.patience = 2 * self.stops.grace
        for call in cancelled:
            self._task(call).become_cancelled()
        if stop:
            self.interrupt()
        if not self.ended.is_set():
            self.wake()

    def finish(self) -> None:
        """Waits until all calls and all workers have ended. An interrupt stops the calls, and a second interrupt kills the workers."""
        interrupted: KeyboardInterrupt | None = None
        while self.thread.is_alive():
            try:
                self.ended.wait()
                self.thread.join()
            except KeyboardInterrupt as interrupt:
                if interrupted is not None:
                    self.crew.leave()
                interrupted = interrupt
                self.close(cancel_futures=True, stop=True)
        if interrupted is not None:
            raise interrupted

    def rate(self) -> float:
        """The number of calls per second that have ended since `rate` was last called."""
        (then, before), now = self._seen, time.monotonic()
        self._seen = now, self.done
        return (self.done - before) / max(now - then, 1e-6)

    def wake(self) -> None:
        """Wakes the receiving thread."""
        try:
            self.post.hand(m.WAKE, self.post.id)
        except Exception:
            # The virtual machine is gone; the receiving thread finds this out itself.
            log.debug("cannot wake the pool's thread", exc_info=True)

    def _tell_numpy(self) -> None:
        """Tells workers that this process has loaded NumPy; ends workers that have another version of NumPy."""
        with self.lock:
            if self.numpy_told:
                return
            self.numpy_told = True
            for member in self.crew.tell_numpy():
                self.schedule.shrink(member.task)
            self._obey()
            broken = self.crew.broken
        if broken is not None:
            self._break(broken, None)

    # --- under the lock ---

    def _obey(self) -> None:
        """Executes the commands of the scheduler."""
        schedule = self.schedule
        while schedule.orders:
            for order in schedule.take():
                if isinstance(order, Hand):
                    self._hand(order.worker.name, order.worker.host, order.calls)
                    continue
                worker = order.worker.name
                if isinstance(order, Ask):
                    self._try(worker, partial(self.post.control, m.ASK, order.most, worker))
                else:
                    self.crew.stopped(worker)
                    self._try(worker, partial(self.post.hand, m.STOP, worker))

    def _drop(self, calls: list[Call]) -> None:
        """Drops calls if their results are not wanted: removes waiting calls, and makes workers stop the calls that they have."""
        for call in calls:
            workers = self.schedule.abandon(call)
            if workers is None:
                continue
            self._release(self._task(call))
            for worker in workers:
                self._watchful = True
                self._try(worker.name, partial(self.post.control, m.HALT, call.number, worker.name))
                self._look_at(worker.name)

    def _look_at(self, worker: int) -> None:
        """Updates the next step of a worker (see `stopping`) if its running call may have changed."""
        call = self.schedule.running(worker)
        number = 0 if call is None else -call.number if call.abandoned else call.number
        if self._running.get(worker, 0) == number:
            return
        before, now = self.stops.next, time.monotonic()
        if call is None:
            self._running.pop(worker, None)
            self.stops.ended(worker)
            return
        self._running[worker] = number
        if call.abandoned:
            self.stops.stop(worker, call.number, now)
        else:
            task = self._task(call)
            self.stops.runs(worker, call.number, now, task.limit, task.on_part is not None)
        after = self.stops.next
        if after is not None and (before is None or after < before) and threading.current_thread() is not self.thread:
            self.wake()

    def _hand(self, worker: int, host: str, calls: list[Call]) -> None:
        batch: list[tuple[int, bytes, tuple[m.Reference, ...]]] = []
        for call in calls:
            task = self._task(call)
            # A call that another worker had before already counts as running for its caller.
            if not task.running():
                task.set_running_or_notify_cancel()
            references = tuple([self.store.refer(kept, host, worker) for kept in task.kept]) if task.kept else ()
            batch.append((call.number, task.data, references))
        self._try(worker, lambda: self.post.hand(m.CALLS + pickle.dumps(batch, 5), worker))
        if self._watchful:
            self._look_at(worker)

    def _try(self, worker: int, send: Callable[[], None]) -> None:
        """Sends a message to a worker. If the worker has died, ignores the error: the notice of its death will arrive."""
        try:
            send()
        except Exception as error:
            log.debug("worker t%x cannot be reached: %s", worker, error)

    @staticmethod
    def _task(call: Call) -> Task[Any]:
        task: Any = call.item
        assert isinstance(task, Task)
        return cast("Task[Any]", task)

    def _release(self, task: Task[Any]) -> None:
        """Frees the bytes and buffers of a call that has ended."""
        task.data = b""
        task.pool = task.call = task.context = task.on_part = None
        if task.kept:
            kept, task.kept = task.kept, ()
            for key in self.store.release(kept):
                for worker in self.schedule.workers:
                    self._try(worker, lambda worker=worker, key=key: self.post.control(m.DROP, key, worker))

    # --- the receiving thread ---

    def _receive(self) -> None:
        try:
            while self._goes_on():
                if self.stops:
                    self._step()
                self._take(self.crew.receive(self._patience()))
        except Exception as error:
            self._break(BrokenExecutor(f"the pool's machine is gone: {error}"), error)
        finally:
            with self.lock:
                self.crew.leave()
                self.store.close()
                self._grown.notify_all()
            self.ended.set()

    def _goes_on(self) -> bool:
        """True if more messages may come. When all calls have ended, stops the workers; the thread then waits until they have ended."""
        if not self.closing and self.broken is None:
            return True
        with self.lock:
            if self.broken is not None:
                return False
            if self.schedule.unfinished == 0:
                if not self.crew.stopping:
                    self._leave_at = time.monotonic() + self.crew.patience
                self.crew.stop_all()
            return not self.crew.is_empty()

    def _patience(self) -> float | None:
        """Seconds to wait for a message; None: no limit."""
        now = time.monotonic()
        self._quiet_until = None
        if self.crew.stopping:
            self._leave_at = min(self._leave_at, now + self.crew.patience)
            patience: float | None = max(0.0, self._leave_at - now)
        else:
            patience = self._straggler_patience()
            if patience is not None:
                self._quiet_until = now + patience
        step = self.stops.next
        if step is not None:
            patience = min(max(0.0, step - now), float("inf") if patience is None else patience)
        return patience

    def _straggler_patience(self) -> float | None:
        """Seconds until the pool checks for stragglers; None: all workers are busy, or repeats are off."""
        schedule = self.schedule
        if not schedule.some_idle:
            return None
        with self.lock:
            if schedule.is_uneven:
                return UNEVEN
            if not self.repeat_stragglers or not schedule.mean or not schedule.unfinished:
                return None
            return max(0.02, schedule.mean * IMPATIENT)

    def _take(self, message: tuple[int, Any] | None) -> None:
        if message is None:
            with self.lock:
                if self.crew.stopping:
                    if time.monotonic() >= self._leave_at:
                        self.crew.leave()
                    return
                if self._quiet_until is None or time.monotonic() < self._quiet_until:
                    return
                if self.schedule.is_uneven:
                    self.schedule.ask_again()
                elif self.repeat_stragglers:
                    self.schedule.repeat()
                self._obey()
            return
        worker, said = message
        data, buffers = apart(said)
        what = data[:1]
        if what == m.VALUE or what == m.FAILED or what == m.STOPPED:
            self._result(worker, data, buffers)
        elif what == m.PART:
            self._part(worker, data, buffers)
        elif what == m.RETURNED:
            with self.lock:
                self.schedule.returned(worker, pickle.loads(data[1:]))
                self._obey()
                if self._watchful:
                    self._look_at(worker)
        elif what == m.OUTPUT:
            self._show(worker, *read_output(data[1:]))
        elif what != m.WAKE:
            self._about_worker(worker, what, data)

    def _show(self, worker: int, stream: str, text: str) -> None:
        """Shows the output of a worker at the place where the worker's running call was submitted."""
        if self.show is None:
            return
        with self.lock:
            known = self.schedule.workers.get(worker)
            # The oldest call of the worker is the running one.
            call = next(iter(known.held.values()), None) if known is not None else None
            context = self._task(call).context if call is not None else None
        show = partial(self.show, worker, self.crew.host_of(worker), stream, text)
        if context is None:
            show()
        else:
            context.run(show)

    def _step(self) -> None:
        """Does the steps whose time has come: stops calls that have reached their time limit, and kills workers that do not stop."""
        late: list[tuple[Task[Any], float, str]] = []
        ended: list[tuple[int, signal.Signals]] = []
        with self.lock:
            for worker, number, what in self.stops.due(time.monotonic()):
                call = self.schedule.running(worker)
                if call is None or call.number != number:
                    continue
                if what == SPLIT:
                    self._try(worker, partial(self.post.control, m.SPLIT, number, worker))
                elif what == LIMIT:
                    task = self._task(call)
                    late.append((task, task.limit or 0.0, self.crew.place_of(worker)))
                    self._drop([call])
                else:
                    ended.append((worker, signal.SIGTERM if what == TERM else signal.SIGKILL))
                    self.crew.stop(worker)
        for task, limit, place in late:
            task.set_exception(CallTimedOut(f"the call ran longer than {limit:g} s, on {place}; it was stopped"))
        for worker, how in ended:
            self._try(worker, partial(self.post.kill, worker, how))

    def _part(self, worker: int, data: bytes, buffers: list[Any]) -> None:
        """Gives the first results of a chunk that still runs to its map."""
        _, number, _ = m.RESULT.unpack_from(data)
        with self.lock:
            known = self.schedule.workers.get(worker)
            call = known.held.get(number) if known is not None else None
            on_part = None if call is None or call.done else self._task(call).on_part
        if on_part is not None:
            on_part(m.Part(*unpack(memoryview(data)[m.RESULT.size :], buffers)))

    def _result(self, worker: int, data: bytes, buffers: list[Any]) -> None:
        what, number, seconds = m.RESULT.unpack_from(data)
        with self.lock:
            schedule = self.schedule
            call = schedule.result(worker, number, seconds)
            if schedule.orders:
                self._obey()
            if self._watchful:
                self._look_at(worker)
            if call is None:
                return
            self.done += 1
            task = self._task(call)
            self._release(task)
        try:
            if what == m.VALUE:
                task.set_result(unpack(memoryview(data)[m.RESULT.size :], buffers))
            else:
                task.set_exception(restore(Failure(*pickle.loads(memoryview(data)[m.RESULT.size :]))))
        except Exception as error:
            # The worker pickled the result, and this process cannot read it.
            task.set_exception(error)

    def _about_worker(self, worker: int, what: bytes, data: bytes) -> None:
        how = self.post.how_ended(worker) if what == m.GONE and self.schedule.running(worker) is not None else ""
        with self.lock:
            if what == m.READY:
                member = self.crew.ready(worker, m.Ready(*pickle.loads(data[1:])))
                if member is not None:
                    self.schedule.grow(worker, member.host)
                    self._grown.notify_all()
                self._obey()
            elif what == m.UNFIT:
                error = restore(Failure(*pickle.loads(data[1:])))
                self.crew.unfit(worker, BrokenExecutor("a worker's initializer has failed"), error)
            elif what == m.WANT:
                self._try(worker, lambda: self.store.give(m.COUNT.unpack_from(data)[1], worker))
            elif what == m.GONE:
                self._gone(worker, data[1:] == b"?", how)
            broken = self.crew.broken
        if broken is not None:
            self._break(broken, broken.__cause__)

    def _gone(self, worker: int, all_begun: bool, how: str) -> None:
        """Handles the end of a worker: its calls run on other workers or are lost, and another worker replaces it."""
        place = self.crew.place_of(worker)
        lost = self.schedule.lost(worker, all_begun)
        self.store.lost(worker)
        self.stops.ended(worker)
        self._running.pop(worker, None)
        self.crew.gone(worker)
        self._obey()
        for call in lost:
            task = self._task(call)
            self._release(task)
            tries = f", the last of {call.tries}" if call.tries > 1 else ""
            cause = f" of {how}" if how else ""
            task.set_exception(WorkerLost(f"the worker that ran the call has died{cause}: {place}{tries}"))

    def _break(self, reason: BrokenExecutor, cause: BaseException | None) -> None:
        """Breaks the pool: all unfinished calls fail."""
        with self.lock:
            if self.broken is not None:
                return
            reason.__cause__ = cause
            self.broken = reason
            tasks = [self._task(call) for call in self.schedule.all_calls()]
            self._grown.notify_all()
        for task in tasks:
            task.pool = task.call = task.on_part = None
            error = type(reason)(*reason.args)
            error.__cause__ = cause
            if task.running() or task.set_running_or_notify_cancel():
                task.set_exception(error)
