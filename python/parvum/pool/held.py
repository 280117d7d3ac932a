"""Large buffers of workers: each exists once on a host, in read-only memory that all workers of the host map.

Workers on the pool's own host map the pool's buffers: a reference contains the path of the memory. On another host the
pool sends a buffer to one worker, the holder. The other workers ask the holder for the path. If the holder is gone,
they ask the pool, and the pool sends the buffer again.
"""

from __future__ import annotations

import mmap
import os
from threading import Condition
from typing import TYPE_CHECKING, Final

from parvum.pool import messages as m

if TYPE_CHECKING:
    from parvum.pool.post import Post

PATIENCE: Final = 2.0
"""After this number of seconds without an answer, a worker asks the holder again, to check that the holder still exists.

The holder may itself wait for the buffer.
"""

known_memory: dict[int, tuple[int, bytes]] = {}
"""The descriptors and the names of the memory of `parvum.share`; the key is the identity of the mapping.

Each memory has another name, also if a later mapping has the same identity.
"""


def keep_bytes(data: memoryview, name: str) -> tuple[int, memoryview]:
    """Copies bytes into memory that other processes of this host can map; returns its descriptor and a read-only view."""
    place = os.memfd_create(name, os.MFD_CLOEXEC)
    left = data.cast("B") if data.nbytes else data
    while left.nbytes:
        left = left[os.write(place, left) :]
    return place, map_bytes(place, data.nbytes)


def map_bytes(place: int, size: int) -> memoryview:
    """Maps the memory behind a descriptor, read-only."""
    return memoryview(mmap.mmap(place, size, prot=mmap.PROT_READ)) if size else memoryview(b"")


def path_of(place: int) -> str:
    """The path by which other processes of this host open a descriptor of this process."""
    return f"/proc/{os.getpid()}/fd/{place}"


class Held:
    """The large buffers that a worker has mapped, and the buffers that it holds for others."""

    def __init__(self, post: Post) -> None:
        self.post = post
        self.maps: dict[int, memoryview] = {}
        self.places: dict[int, int] = {}
        self.wanted: dict[int, set[int]] = {}
        self.asked: set[int] = set()
        """The buffers that this worker has already requested from the pool. After a second request, the pool would send a buffer twice."""
        self.changed = Condition()

    def fetch(self, reference: m.Reference) -> memoryview:
        """Waits until the buffer is on this host, and returns the mapped buffer."""
        key = reference.key
        with self.changed:
            if (found := self.maps.get(key)) is not None:
                return found
            if reference.path and self._map(key, reference.path, reference.size):
                return self.maps[key]
            here = lambda: key in self.maps  # noqa: E731
            holder = reference.holder
            while holder not in (self.post.id, self.post.peer) and self._ask(key, holder):
                if self.changed.wait_for(here, PATIENCE):
                    return self.maps[key]
            if holder != self.post.id:
                self._ask_pool(key)
            self.changed.wait_for(here)
            return self.maps[key]

    def serve(self, source: int, what: bytes, key: int, message: bytes, buffer: memoryview | None) -> None:
        """Handles a message about a buffer, in the second thread."""
        with self.changed:
            if what == m.DATA:
                if buffer is not None and key not in self.maps:
                    self.places[key], self.maps[key] = keep_bytes(buffer, "parvum-pool")
                self.asked.discard(key)
                for other in self.wanted.pop(key, ()):
                    self._tell(key, other)
            elif what == m.WANT:
                if key in self.places:
                    self._tell(key, source)
                else:
                    self.wanted.setdefault(key, set()).add(source)
            elif what == m.HELD:
                size, _, path = message[m.COUNT.size :].partition(b" ")
                if key not in self.maps and not self._map(key, path.decode(), int(size)):
                    self._ask_pool(key)
            elif what == m.DROP:
                self.maps.pop(key, None)
                if (place := self.places.pop(key, None)) is not None:
                    os.close(place)
            self.changed.notify_all()

    def _map(self, key: int, path: str, size: int) -> bool:
        try:
            place = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            # The holder is in another process namespace, or has just ended: the pool can answer.
            return False
        try:
            self.maps[key] = map_bytes(place, size)
        finally:
            os.close(place)
        return True

    def _tell(self, key: int, other: int) -> None:
        where = f"{self.maps[key].nbytes} {path_of(self.places[key])}"
        try:
            self.post.control(m.HELD, key, other, where.encode())
        except Exception:
            # The worker is gone, and does not need the answer.
            return

    def _ask(self, key: int, holder: int) -> bool:
        """Asks a holder for the path of a buffer. False: the holder has ended."""
        try:
            self.post.control(m.WANT, key, holder)
        except Exception:
            return False
        return True

    def _ask_pool(self, key: int) -> None:
        if key in self.asked:
            return
        self.asked.add(key)
        self.post.send(m.COUNT.pack(m.WANT, key))
