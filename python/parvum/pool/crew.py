"""The workers of a pool. This module starts them as tasks, sets them up, replaces workers that die, and stops them."""

from __future__ import annotations

import logging
import os
import pickle
import signal
import sys
from collections.abc import Mapping, Sequence
from concurrent.futures import BrokenExecutor
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from parvum import errors
from parvum.pool import messages as m
from parvum.pool.post import host_of
from parvum.pool import versions
from parvum.pool.failures import VersionsDiffer
from parvum.pool.post import PostGone

if TYPE_CHECKING:
    from parvum.pool.post import Post
    from parvum.pool.schedule import Schedule

log = logging.getLogger("parvum.pool")

STILLBORN: Final = 4
"""If this number of workers die one after the other before they are ready, the pool breaks."""

STUBBORN: Final = 10.0
"""A stopped worker must end in this number of seconds."""

LAST_WORDS: Final = 2.0
"""The last messages of a dead worker must arrive in this number of seconds."""


class Plan(NamedTuple):
    """How to start workers."""

    workers: int
    hosts: Sequence[str] | None
    """The hosts that get workers in turn; None: the virtual machine chooses the hosts."""
    setup: bytes
    env: Mapping[str, str] | None
    cwd: str | None
    python: str


class Member:
    """A worker, from the request for its start to the notice of its end."""

    __slots__ = ("host", "leaving", "numpy", "pid", "place", "ready", "stopped", "task")

    def __init__(self, task: int, place: str | None, host: str) -> None:
        self.task = task
        self.place = place
        """The requested host."""
        self.host = host
        self.pid = 0
        self.numpy: str | None = None
        """The NumPy version of the worker, if it is known."""
        self.ready = False
        self.leaving = False
        self.stopped = False
        """The worker is being killed because its call did not stop."""


class Crew:
    """The workers. The owner ensures that only one thread is inside at a time, except in `receive`."""

    def __init__(self, plan: Plan, post: Post) -> None:
        self.plan = plan
        self.post = post
        self.members: dict[int, Member] = {}
        self.broken: BrokenExecutor | None = None
        self.stopping = False
        self.patience = STUBBORN
        """Stopped workers must end in this number of seconds."""
        self.replaced = 0
        """The number of workers that replaced a dead worker."""
        self._turn = 0
        self._stillborn = 0
        self._unfit_hosts: set[str] = set()
        self._dying: list[int] = []

    # --- starting ---

    def grow(self, count: int, host: str | None = None) -> None:
        """Starts workers, on `host` or on the hosts of the plan. Raises the exception of the virtual machine if it refuses."""
        if host is not None or self.plan.hosts is None:
            self._start(count, host)
            return
        shares: dict[str, int] = {}
        hosts = [host for host in self.plan.hosts if host not in self._unfit_hosts] or list(self.plan.hosts)
        for _ in range(count):
            place = hosts[self._turn % len(hosts)]
            self._turn += 1
            shares[place] = shares.get(place, 0) + 1
        for place, share in shares.items():
            self._start(share, place)

    def _start(self, count: int, place: str | None) -> None:
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        code = f"import sys; sys.path.insert(0, {package!r}); from parvum.pool.worker import main; main({self.post.tag})"
        tasks = self.post.spawn([self.plan.python, "-c", code], count, place, self.plan.env, self.plan.cwd)
        names = self.post.host_names()
        for task in tasks:
            self.members[task] = Member(task, place, names.get(host_of(task), "?"))
            self.post.hand(m.SETUP + self.plan.setup, task)
        self.post.notify_exit(tasks)

    def ready(self, task: int, ready: m.Ready) -> Member | None:
        """Registers a worker as ready. None if the worker gets no calls, because it is about to end or has another version of Python."""
        member = self.members.get(task)
        if member is None or member.leaving:
            return None
        member.host = ready.host
        member.pid = ready.pid
        here = (sys.implementation.name, *sys.version_info[:2])
        if (ready.implementation, *ready.python[:2]) != here:
            mine = ".".join(map(str, sys.version_info[:3]))
            its = ".".join(map(str, ready.python))
            self._refuse(member, f"{ready.implementation} {its}", f"{sys.implementation.name} {mine}")
            return None
        member.numpy = ready.numpy
        if self._has_other_numpy(member):
            return None
        member.ready = True
        self._stillborn = 0
        return member

    def _has_other_numpy(self, member: Member) -> bool:
        """True if a worker was refused because its NumPy differs from the NumPy loaded here."""
        numpy: Any = sys.modules.get("numpy")
        here: str | None = getattr(numpy, "__version__", None)
        if here is None or member.numpy is None or versions.alike(here, member.numpy):
            return False
        self._refuse(member, f"NumPy {member.numpy}", f"NumPy {here}")
        return True

    def _refuse(self, member: Member, its: str, ours: str) -> None:
        self._unfit_hosts.update({member.host, member.place or member.host})
        text = f"host {member.host} has {its}, the pool {ours}: what one pickles the other may not read"
        self.unfit(member.task, VersionsDiffer(text), None)

    def unfit(self, task: int, reason: BrokenExecutor, cause: BaseException | None) -> None:
        """Handles a worker that cannot run calls. If the worker's initializer has failed, or no other worker is left, the pool breaks."""
        member = self.members.get(task)
        if member is None:
            return
        member.leaving = True
        # A worker with calls ends after these calls: the scheduler ends it.
        if not member.ready:
            self._tell(task, m.STOP)
        if not isinstance(reason, VersionsDiffer) or all(other.leaving for other in self.members.values()):
            reason.__cause__ = cause
            self.broken = reason
        else:
            log.warning("%s", reason)

    # --- ending ---

    def gone(self, task: int) -> None:
        """Handles the end of a worker. Another worker replaces it, unless the pool stopped this worker."""
        member = self.members.pop(task, None)
        if member is None or member.leaving or self.stopping:
            return
        if not member.ready:
            self._stillborn += 1
            if self._stillborn >= STILLBORN:
                self.broken = BrokenExecutor(
                    f"{STILLBORN} workers in a row have died before they were ready; run `{self.plan.python} -c 'import parvum'` "
                    f"on host {member.host} to see why"
                )
                return
        if member.stopped:
            log.info("worker t%x on host %s was ended, for its call did not stop; another is started", task, member.host)
        else:
            log.warning("worker t%x on host %s has died; another is started", task, member.host)
        self.replaced += 1
        try:
            self._start(1, member.place)
        except errors.ParvumError:
            # The worker's host is also gone.
            try:
                self._start(1, None)
            except errors.ParvumError as error:
                log.warning("no worker can be started in its place: %s", error)
                if not self.members:
                    self.broken = BrokenExecutor(f"the last worker has died and no other can be started: {error}")

    def dismiss(self, count: int, host: str | None, schedule: Schedule) -> list[Member]:
        """Chooses the least busy workers; these workers will end, and no other workers replace them."""

        def load(member: Member) -> int:
            worker = schedule.workers.get(member.task)
            return -1 if worker is None else len(worker.held)

        able = [w for w in self.members.values() if not w.leaving and host in (None, w.host, w.place)]
        going = sorted(able, key=load)[:count]
        for member in going:
            member.leaving = True
        return going

    def stopped(self, task: int) -> None:
        """Stops a worker that has no calls left."""
        if (member := self.members.get(task)) is not None:
            member.leaving = True

    def stop_all(self) -> None:
        """Stops all workers; a second call does nothing."""
        if not self.stopping:
            self.stopping = True
            for task in self.members:
                self._tell(task, m.STOP)

    def leave(self) -> None:
        """Kills all remaining workers, even during calls."""
        for task in list(self.members):
            try:
                self.post.kill(task, signal.SIGKILL)
            except Exception as error:
                log.debug("worker t%x cannot be killed: %s", task, error)
        self.members.clear()

    def is_empty(self) -> bool:
        """True if all workers are gone."""
        return not self.members

    def _tell(self, task: int, what: bytes) -> None:
        try:
            self.post.hand(what, task)
        except Exception as error:
            log.debug("worker t%x cannot be told to stop: %s", task, error)

    # --- messages of workers ---

    def receive(self, timeout: float | None) -> tuple[int, Any] | None:
        """The next message of any worker, with its sender. None after the timeout.

        All messages of a worker come before the notice of its end.
        """
        while self._dying:
            task = self._dying[0]
            try:
                return task, self.post.receive_from(task, LAST_WORDS)
            except PostGone:
                self._dying.pop(0)
                # The worker's last messages may be lost with its host.
                return task, m.GONE if self.post.is_host_there(task) else m.GONE + b"?"
            except errors.TimedOut:
                self._dying.pop(0)
                return task, m.GONE + b"?"
        message = self.post.receive_any(timeout)
        if message is None:
            return None
        source, data, gone = message
        if gone is not None:
            self._dying.append(gone)
            return self.receive(timeout)
        return source, data

    def stop(self, task: int) -> None:
        """Notes that a worker will be killed because its call does not stop."""
        if (member := self.members.get(task)) is not None:
            member.stopped = True

    def place_of(self, task: int) -> str:
        """A worker, its process and its host, as text for people."""
        member = self.members.get(task)
        if member is None or not member.pid:
            return f"worker t{task:x}"
        return f"worker t{task:x} (process {member.pid}) on host {member.host}"

    def host_of(self, task: int) -> str:
        """The name of a worker's host."""
        member = self.members.get(task)
        return member.host if member is not None else "?"

    def tell_numpy(self) -> list[Member]:
        """Sends the NumPy version of this process to all workers; returns the workers with another version.

        Workers that start later get this version first.
        """
        version: str = getattr(sys.modules["numpy"], "__version__", "")
        able = [member for member in self.members.values() if member.ready and not member.leaving]
        for member in able:
            self._tell(member.task, m.NUMPY + version.encode())
        setup = m.Setup(*pickle.loads(self.plan.setup))
        self.plan = self.plan._replace(setup=m.say(b"", tuple(setup._replace(numpy=version))))
        return [member for member in able if self._has_other_numpy(member)]
