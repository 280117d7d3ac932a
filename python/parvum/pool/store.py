"""The large buffers of a pool: which buffers exist, which calls need them, and which worker holds them on each host.

A buffer is stored with its present contents when its call is submitted. Equal bytes of the same or another array are
stored once; the comparison runs at the speed of memory. A buffer that no unfinished call needs is cached for later
calls, up to `SPARE` bytes in all.
"""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Callable, Sequence
from pickle import PickleBuffer
from typing import TYPE_CHECKING, Any, Final

from parvum.pool import messages as m
from parvum.arrays import frozen
from parvum.pool.held import keep_bytes, known_memory, map_bytes, path_of

if TYPE_CHECKING:
    from parvum.pool.post import Post

log = logging.getLogger("parvum.pool")

SPARE: Final = 512 << 20
"""The number of bytes that the store caches for later calls, although no unfinished call needs them."""

_STEP: Final = 1 << 20


class Kept:
    """One buffer.

    `view` is its read-only memory. `holders` has, for each other host, the worker that holds the buffer for all
    workers of this host.
    """

    __slots__ = ("borrowed", "holders", "key", "place", "sample", "users", "view")

    def __init__(self, key: int, place: int, view: memoryview, sample: bytes) -> None:
        self.key = key
        self.place = place
        self.view = view
        self.sample = sample
        self.users = 0
        self.borrowed = False
        """True if the memory is that of a shared object or of an array of `empty`: its name says what is in it."""
        self.holders: dict[str, int] = {}

    @property
    def size(self) -> int:
        """The size in bytes."""
        return self.view.nbytes


class Store:
    """The buffers of one pool. The owner ensures that only one thread is inside at a time."""

    def __init__(self, post: Post, host: str) -> None:
        self.post = post
        self.host = host
        self.kept: dict[int, Kept] = {}
        self.spare: dict[int, Kept] = {}
        self._spare_bytes = 0
        self._by_sample: dict[bytes, list[Kept]] = {}
        self._next = 1

    def keep(self, buffers: Sequence[PickleBuffer]) -> list[Kept]:
        """Stores the buffers of a call until `release`."""
        return [self._keep(buffer.raw()) for buffer in buffers]

    def _keep(self, data: memoryview) -> Kept:
        shared = frozen(data)
        if shared is None and (known_place := known_memory.get(id(data.obj))) is not None:
            # Another descriptor of the same memory: it stays open as long as a call needs it.
            shared = os.dup(known_place[0]), known_place[1]
        sample = shared[1] if shared else _sample(data)
        for known in self._by_sample.get(sample, ()):
            if known.borrowed or _same(known.view, data):
                if shared:
                    os.close(shared[0])
                break
        else:
            if shared:
                place = shared[0]
                try:
                    view = map_bytes(place, data.nbytes)
                except BaseException:
                    os.close(place)
                    raise
            else:
                place, view = keep_bytes(data, "parvum-pool")
            known = Kept(self._next, place, view, sample)
            known.borrowed = shared is not None
            self._next += 1
            self.kept[known.key] = known
            self._by_sample.setdefault(sample, []).append(known)
        if known.users == 0 and self.spare.pop(known.key, None) is not None:
            self._spare_bytes -= known.size
        known.users += 1
        return known

    def release(self, used: Sequence[Kept]) -> list[int]:
        """Ends a call's use of buffers. Returns the keys that are no longer needed: workers must drop them."""
        dropped: list[int] = []
        for kept in used:
            kept.users -= 1
            if kept.users == 0:
                self.spare[kept.key] = kept
                self._spare_bytes += kept.size
        while self._spare_bytes > SPARE:
            oldest = next(iter(self.spare.values()))
            del self.spare[oldest.key]
            self._spare_bytes -= oldest.size
            dropped.append(self._drop(oldest))
        return dropped

    def refer(self, kept: Kept, host: str, worker: int) -> m.Reference:
        """Makes the reference to a buffer for a call at this worker. The first worker of another host gets the buffer itself."""
        if host == self.host:
            return m.Reference(kept.key, kept.size, path_of(kept.place), self.post.id)
        holder = kept.holders.get(host)
        if holder is None:
            holder = kept.holders[host] = worker
            try:
                self.give(kept.key, worker)
            except Exception as error:
                # The holder has died, and the notice is on its way. After the notice another worker holds the buffer.
                log.debug("worker t%x cannot be reached: %s", worker, error)
        return m.Reference(kept.key, kept.size, "", holder)

    def give(self, key: int, worker: int) -> None:
        """Sends the buffer itself to a worker."""
        if (kept := self.kept.get(key)) is not None:
            self.post.control(m.DATA, key, worker, buffer=PickleBuffer(kept.view))

    def lost(self, worker: int) -> None:
        """Records that a worker is gone, with the buffers that it held for its host."""
        for kept in self.kept.values():
            for host in [host for host, holder in kept.holders.items() if holder == worker]:
                del kept.holders[host]

    def close(self) -> None:
        """Frees all memory."""
        for kept in list(self.kept.values()):
            self._drop(kept)
        self.spare.clear()

    def _drop(self, kept: Kept) -> int:
        del self.kept[kept.key]
        self._by_sample[kept.sample].remove(kept)
        if not self._by_sample[kept.sample]:
            del self._by_sample[kept.sample]
        os.close(kept.place)
        return kept.key


def _sample(data: memoryview) -> bytes:
    """The length of a buffer, and a few of its bytes; these differ between most buffers."""
    size = data.nbytes
    places = range(0, size, max(1, size // 16))
    return size.to_bytes(8, "little") + b"".join(bytes(data[place : place + 16]) for place in places)


def _same(one: memoryview, other: memoryview) -> bool:
    if one.nbytes != other.nbytes:
        return False
    equal = _comparison()
    return all(equal(one[at : at + _STEP], other[at : at + _STEP]) for at in range(0, one.nbytes, _STEP))


def _comparison() -> Callable[[memoryview, memoryview], bool]:
    numpy: Any = sys.modules.get("numpy")
    # Another thread may be importing NumPy: then the module exists without its names.
    if not hasattr(numpy, "array_equal") or not hasattr(numpy, "frombuffer"):
        return lambda one, other: one.tobytes() == other.tobytes()

    def equal(one: memoryview, other: memoryview) -> bool:
        return bool(numpy.array_equal(numpy.frombuffer(one, "u1"), numpy.frombuffer(other, "u1")))

    return equal
