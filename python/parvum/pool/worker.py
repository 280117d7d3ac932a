"""A worker: a task that runs a pool's calls, one after the other, in its main thread.

A second thread sleeps until the pool asks for unbegun calls, stops a call, or sends a large buffer for the workers of
this host. A long call therefore does not delay these requests. A worker imports slow modules only at their first use:
until then, a worker is a Python interpreter without further modules.

To stop a call, the second thread stores the call's number and sends SIGINT to the main thread. Only the main thread
knows its running call, so the handler runs in this thread, and raises KeyboardInterrupt only in the call with this
number.
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
    """Runs calls of the task that started this worker, until that task sends STOP or has ended."""
    from parvum.pool.post import Post, PostGone

    global here
    here = Worker(Post.of_worker(tag))
    try:
        here.run()
    except (*PostGone, KeyboardInterrupt):
        # The pool has ended without a message, or its user ends everything.
        sys.exit(1)


here: Worker | None = None
"""The worker of this process."""


class Halted(KeyboardInterrupt):
    """The exception in a call that is stopped because its result is not wanted."""


class Worker:
    """The state of this process as a worker."""

    def __init__(self, post: Post) -> None:
        self.post = post
        self.calls: deque[tuple[int, bytes, tuple[m.Reference, ...]]] = deque()
        self.intake = Lock()
        """A lock that a thread holds while it receives calls, so that the calls stay in order."""
        self.receiving = False
        """True while the main thread waits for calls: the worker has then begun all calls that it received."""
        self.held: Held | None = None
        self.making = Lock()
        self.stopped = False
        self.current = 0
        """The number of the running call; 0: none. Only the main thread changes it."""
        self.halted = 0
        """The number of the call that SIGINT must stop. 0: no call is to be stopped, so a SIGINT comes from another program."""
        self.doomed = 0
        """The number of a call that must be stopped, and that the main thread was about to begin."""
        self.numpy: str | None = None
        self.where = f"worker {post.name} on host {post.host}, process {os.getpid()}"

    def run(self) -> None:
        """Runs until the pool sends STOP."""
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
        """Waits for the next message of the pool. False: the message is STOP."""
        with self.intake:
            # The second thread may have received some calls.
            if self.calls or self.stopped:
                return bool(self.calls)
            self.receiving = True
        message = self.post.receive()
        with self.intake:
            self.receiving = False
            return self.heed(message)

    def heed(self, message: bytes) -> bool:
        """Handles a message that is for the main thread. False: the message is STOP."""
        what = message[:1]
        if what == m.CALLS:
            self.calls.extend(pickle.loads(memoryview(message)[1:]))
        elif what == m.NUMPY:
            self.numpy = message[1:].decode()
        else:
            self.stopped = True
        return not self.stopped

    def set_up(self, setup: m.Setup) -> bool:
        """Sets up this process like the pool's process. False: the setup failed, and the pool has been told the reason."""
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
        """Runs one call and sends its result or exception."""
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
                # The call's arguments are freed before its result is sent: the next call can use the memory.
                del function, args, kwargs, buffers
            finally:
                # No interrupt of this call is raised after this line.
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
        """Handles SIGINT in the main thread. Ignores a signal for a call that has ended."""
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
        """Raises `VersionsDiffer` if this worker has also loaded NumPy, in another version than the pool's process."""
        numpy: Any = sys.modules.get("numpy")
        here: str | None = getattr(numpy, "__version__", None)
        if here is None or self.numpy is None:
            return
        there = self.numpy
        if not versions.alike(here, there):
            from parvum.pool.failures import VersionsDiffer

            raise VersionsDiffer(f"NumPy is {there} where the pool is and {here} at {self.where}: install the same on both")
        self.numpy = None

    # --- the second thread ---

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
                    # The pool waits for this thread, so it must not end.
                    import logging

                    logging.getLogger("parvum.pool").exception("%s: a request of the pool has failed", self.where)
        except PostGone:
            return

    def obey(self, source: int, message: bytes, buffer: memoryview | None) -> None:
        """Handles a request of the pool or another worker."""
        what, number = m.COUNT.unpack_from(message)
        if what == m.ASK:
            self.give_back(number)
        elif what == m.HALT:
            self.halt(number)
        elif what == m.SPLIT:
            # In a separate thread: the chunk may still wait for a large buffer, which this thread serves.
            Thread(target=self.split, args=(number,), name="parvum split", daemon=True).start()
        else:
            self.keeper().serve(source, what, number, message, buffer)

    def give_back(self, count: int) -> None:
        """Gives back calls that have not begun, the last ones first."""
        back: list[int] = []
        with self.intake:
            if not self.receiving:
                # Calls that were sent later are still in the message queue.
                while (message := self.post.receive_now()) is not None:
                    self.heed(message)
                while len(back) < count and self.calls:
                    try:
                        back.append(self.calls.pop()[0])
                    except IndexError:
                        break
        self.post.send(m.say(m.RETURNED, back))

    def halt(self, number: int) -> None:
        """Stops a call, or drops it if it has not begun."""
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
        # The main thread first sets its running call, then reads this. This thread first sets this, then reads the
        # running call.
        self.doomed = number
        if self.current == number:
            self.halted = number
            ident = main_thread().ident
            assert ident is not None
            signal.pthread_kill(ident, signal.SIGINT)

    def split(self, number: int) -> None:
        """Makes a long chunk of a map send its results and give back its unbegun items."""
        from parvum.pool.post import PostGone

        chunk = None
        while self.current == number and chunk is None:
            # The first chunk imports the module, and the import may take longer than a chunk should run.
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
                # The results are no longer wanted.
                return False
            return True

        chunk.split(send)

    def fetch(self, reference: m.Reference) -> memoryview:
        """A large buffer of a call, in read-only memory that all workers of this host share."""
        return self.keeper().fetch(reference)

    def keeper(self) -> Held:
        """The object that has the large buffers of this worker."""
        with self.making:
            # Both threads can be the first here, if a buffer and the first call with it arrive together.
            if self.held is None:
                from parvum.pool.held import Held

                self.held = Held(self.post)
            return self.held

    def flush(self) -> None:
        """Sends the remaining output of calls, and runs their exit functions."""
        settle()
