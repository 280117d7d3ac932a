"""A worker: a task that runs a pool's calls, one after the other, in its main thread.

A second thread sleeps until the pool asks for calls that were not begun, stops a call, or has a large buffer for
the workers of this host. So a long call holds up neither. What takes time to import is imported when it is needed:
a waiting worker is a bare interpreter.

To stop a call, the second thread notes the call's number and sends SIGINT to the main thread. The handler runs in
the main thread, which alone knows what it runs: it raises KeyboardInterrupt in that call and in no other one.
"""

from __future__ import annotations

import os
import pickle
import signal
import sys
from collections import deque
from threading import Lock, Thread, main_thread
from time import perf_counter, sleep
from typing import TYPE_CHECKING, Any

from parvum.pool import messages as m
from parvum.pool import versions
from parvum.pool.calls import pack, unpack
from parvum.pool.output import settle

if TYPE_CHECKING:
    from types import FrameType

    from parvum.pool.failures import Failure
    from parvum.pool.held import Held
    from parvum.pool.post import Post


def main(tag: int) -> None:
    """Runs calls of the task that started this one, until it says stop or is gone."""
    from parvum.pool.post import Post, PostGone

    global here
    here = Worker(Post.of_worker(tag))
    try:
        here.run()
    except (*PostGone, KeyboardInterrupt):
        # Its pool has ended without a word, or its user wants all to end.
        sys.exit(1)


here: Worker | None = None
"""This process as a worker."""


class Halted(KeyboardInterrupt):
    """What a call gets that is to end: nobody wants its result."""


class Worker:
    """The state of this process as a worker."""

    def __init__(self, post: Post) -> None:
        self.post = post
        self.calls: deque[tuple[int, bytes, tuple[m.Reference, ...]]] = deque()
        self.intake = Lock()
        """Held by the thread that takes calls in, so that they stay in their order."""
        self.receiving = False
        """The main thread is taking calls in: there are none that it has not begun."""
        self.held: Held | None = None
        self.making = Lock()
        self.stopped = False
        self.current = 0
        """The number of the call that runs; 0: none. Only the main thread changes it."""
        self.halted = 0
        """The number of the call that SIGINT is for; 0: a signal is from somebody else."""
        self.doomed = 0
        """The number of a call that was to be stopped when the main thread was about to begin it."""
        self.numpy: str | None = None
        self.where = f"worker {post.name} on host {post.host}, process {os.getpid()}"

    def run(self) -> None:
        """Until the pool says stop."""
        setup = m.Setup(*pickle.loads(self.post.receive()[1:]))
        self.post.end_with_pool(setup.grace)
        signal.signal(signal.SIGINT, self.on_interrupt)
        if not self.set_up(setup):
            return
        version = tuple(sys.version_info[:3])
        ready = m.Ready(version, sys.implementation.name, self.post.host, os.getpid(), versions.numpy_here())
        Thread(target=self.serve, name="parvum-worker-control", daemon=True).start()
        self.post.send(m.say(m.READY, tuple(ready)))
        pop = self.calls.popleft
        while True:
            try:
                number, data, references = pop()
            except IndexError:
                if not self.take_in():
                    break
                continue
            self.call(number, data, references)
        self.flush()

    def take_in(self) -> bool:
        """Waits for the next message of the pool. False: it says stop."""
        with self.intake:
            # The second thread may have taken some in.
            if self.calls or self.stopped:
                return bool(self.calls)
            self.receiving = True
        message = self.post.receive()
        with self.intake:
            self.receiving = False
            return self.heed(message)

    def heed(self, message: bytes) -> bool:
        """Does what a message says that is not for the second thread. False: it says stop."""
        what = message[:1]
        if what == m.CALLS:
            self.calls.extend(pickle.loads(memoryview(message)[1:]))
        elif what == m.NUMPY:
            self.numpy = message[1:].decode()
        else:
            self.stopped = True
        return not self.stopped

    def set_up(self, setup: m.Setup) -> bool:
        """Makes this process like the pool's. False: it is of no use, which was said."""
        known = set(sys.path)
        sys.path[:] = [*setup.path, *(place for place in sys.path if place not in set(setup.path))]
        if set(sys.path) != known:
            import importlib

            importlib.invalidate_caches()
        self.numpy = setup.numpy
        if setup.catch_output:
            self.post.catch_output()
        if setup.log_level:
            import logging

            logging.getLogger("parvum").setLevel(setup.log_level)
        if setup.initializer is None:
            return True
        try:
            function, args, kwargs = unpack(setup.initializer)
            function(*args, **kwargs)
        except BaseException as error:
            self.post.send(m.say(m.UNFIT, tuple(self.failure(error))))
            return False
        return True

    def call(self, number: int, data: bytes, references: tuple[m.Reference, ...]) -> None:
        """Runs one call and sends what came of it."""
        begun = perf_counter()
        try:
            try:
                self.current = number
                if self.doomed == number:
                    raise Halted
                buffers = [self.fetch(reference) for reference in references] if references else ()
                function, args, kwargs = unpack(data, buffers)
                if self.numpy is not None:
                    self.compare_numpy()
                packed = pack(function(*args, **kwargs))
                # What the call was made of goes before its result does: memory is the next call's.
                del function, args, kwargs, buffers
            finally:
                # From here on no interrupt of this call is raised.
                self.current = 0
        except BaseException as error:
            self.current = 0
            settle()
            seconds = perf_counter() - begun
            if isinstance(error, Halted):
                self.post.send(m.RESULT.pack(m.STOPPED, number, seconds))
                return
            failure = self.failure(error)
            self.post.send(m.RESULT.pack(m.FAILED, number, seconds) + pickle.dumps(tuple(failure), 5))
            return
        settle()
        head = m.RESULT.pack(m.VALUE, number, perf_counter() - begun) + packed.data
        if packed.buffers:
            self.post.send_with(head, packed.buffers)
        else:
            self.post.send(head)

    def on_interrupt(self, signum: int, frame: FrameType | None) -> None:
        """SIGINT, in the main thread. One that was meant for a call which has ended is nobody's."""
        halted, self.halted = self.halted, 0
        if halted == 0:
            raise KeyboardInterrupt
        if halted == self.current:
            raise Halted

    def failure(self, error: BaseException) -> Failure:
        """An exception of a call, ready to be sent."""
        from parvum.pool.failures import VersionsDiffer, describe

        if self.numpy is not None and not isinstance(error, VersionsDiffer):
            try:
                self.compare_numpy()
            except VersionsDiffer as difference:
                difference.__cause__ = error
                error = difference
        return describe(error, self.where)

    def compare_numpy(self) -> None:
        """Refuses to go on when NumPy is loaded here too and is another version than the pool's."""
        numpy: Any = sys.modules.get("numpy")
        here: str | None = getattr(numpy, "__version__", None)
        if here is None or self.numpy is None:
            return
        there = self.numpy
        if not versions.alike(here, there):
            from parvum.pool.failures import VersionsDiffer

            raise VersionsDiffer(f"NumPy is {there} where the pool is and {here} at {self.where}: install the same on both")
        self.numpy = None

    # --- what the second thread does ---

    def serve(self) -> None:
        """Answers the pool and other workers while a call runs."""
        from parvum.pool.post import PostGone

        try:
            while True:
                try:
                    self.obey(*self.post.receive_control())
                except PostGone:
                    raise
                except Exception:
                    # The pool waits for this thread: it must not end.
                    import logging

                    logging.getLogger("parvum.pool").exception("%s: a request of the pool has failed", self.where)
        except PostGone:
            return

    def obey(self, source: int, message: bytes, buffer: memoryview | None) -> None:
        """Does what the pool or another worker asks."""
        what, number = m.COUNT.unpack_from(message)
        if what == m.ASK:
            self.give_back(number)
        elif what == m.HALT:
            self.halt(number)
        elif what == m.SPLIT:
            # In a thread of its own: the chunk may still wait for a large buffer, which this thread serves.
            Thread(target=self.split, args=(number,), name="parvum split", daemon=True).start()
        else:
            self.keeper().serve(source, what, number, message, buffer)

    def give_back(self, count: int) -> None:
        """Gives back calls that were not begun, last ones first."""
        back: list[int] = []
        with self.intake:
            if not self.receiving:
                # Calls that were sent later lie in the mailbox still.
                while (message := self.post.receive_now()) is not None:
                    self.heed(message)
                while len(back) < count and self.calls:
                    try:
                        back.append(self.calls.pop()[0])
                    except IndexError:
                        break
        self.post.send(m.say(m.RETURNED, back))

    def halt(self, number: int) -> None:
        """Stops a call, or drops it when it has not begun."""
        with self.intake:
            if not self.receiving:
                while (message := self.post.receive_now()) is not None:
                    self.heed(message)
            waiting = next((call for call in self.calls.copy() if call[0] == number), None)
            if waiting is not None:
                try:
                    self.calls.remove(waiting)
                except ValueError:
                    # The main thread has begun it.
                    waiting = None
        if waiting is not None:
            self.post.send(m.RESULT.pack(m.STOPPED, number, -1.0))
            return
        # The main thread looks at this after it has said what it runs, and here it is the other way round.
        self.doomed = number
        if self.current == number:
            self.halted = number
            ident = main_thread().ident
            assert ident is not None
            signal.pthread_kill(ident, signal.SIGINT)

    def split(self, number: int) -> None:
        """Has a chunk of a map that runs long send its results, and give back what it has not begun."""
        from parvum.pool.post import PostGone

        chunk = None
        while self.current == number and chunk is None:
            # The module is imported with the first chunk, which may take longer than that chunk should run.
            chunk = getattr(sys.modules.get("parvum.pool.parts"), "running", None)
            if chunk is None:
                sleep(0.002)
        if chunk is None or self.current != number:
            return

        def send(part: m.Part) -> bool:
            try:
                packed = pack(tuple(part))
            except Exception:
                return False
            head = m.RESULT.pack(m.PART, number, 0.0) + packed.data
            try:
                if packed.buffers:
                    self.post.send_with(head, packed.buffers)
                else:
                    self.post.send(head)
            except PostGone:
                # Nobody waits for the results any more.
                return False
            return True

        chunk.split(send)

    def fetch(self, reference: m.Reference) -> memoryview:
        """A large buffer of a call, shared with the other workers of this host: not to be written."""
        return self.keeper().fetch(reference)

    def keeper(self) -> Held:
        """The large buffers here."""
        with self.making:
            # Both threads come here first when a buffer and the first call with it arrive together.
            if self.held is None:
                from parvum.pool.held import Held

                self.held = Held(self.post)
            return self.held

    def flush(self) -> None:
        """Ends what the calls began and left open: their output, and what they registered for the end."""
        settle()
