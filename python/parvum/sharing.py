"""`share`: an object for many calls, pickled once and sent once to each host."""

from __future__ import annotations

import os
import weakref
from collections import OrderedDict
from itertools import count
from pickle import PickleBuffer
from typing import Any, Final, Generic, TypeVar

from parvum.pool.calls import LARGE, pack, unpack
from parvum.pool.held import keep_bytes, known_memory

T = TypeVar("T")

REMEMBERED: Final = 32
"""The number of shared objects that a worker caches."""

_numbers = count(1)
_here: OrderedDict[tuple[int, int], object] = OrderedDict()


class Shared(Generic[T]):
    """A handle for an object. A call that gets the handle as an argument sees the object itself, and must not change the object.

    `value` is the object, in this process.
    """

    def __init__(self, value: T) -> None:
        self.value = value
        self._name = (os.getpid(), next(_numbers))
        packed = pack(value)
        # A short pickle is sent with the call; mapped memory is used as it is.
        self._parts: list[memoryview | bytes] = [_placed(memoryview(packed.data), self)]
        self._parts += [_placed(buffer.raw(), self) for buffer in packed.buffers]

    def __reduce__(self) -> tuple[Any, ...]:
        # The same bytes at the same address each time: pools recognise them without reading them.
        return _shared, (self._name, *(PickleBuffer(part) for part in self._parts))

    def __repr__(self) -> str:
        size = sum(len(part) for part in self._parts)
        return f"<Shared {type(self.value).__name__}, {size} bytes>"


def share(value: T) -> Shared[T]:
    """Makes a handle for an object. Pass the handle to calls of executors, actors and `map`: as an argument, or inside an argument.

    The object is pickled immediately, and is sent to each host only once. All calls of one worker see the same object.
    Large arrays in the object are read-only memory that all workers of a host share. Raises `Unpicklable`.

    >>> import parvum
    >>> table = parvum.share({"limit": 5, "names": ["a", "b"]})
    >>> with parvum.Executor(2) as pool:
    ...     list(pool.map(len, [table, table]))
    [2, 2]
    """
    return Shared(value)


def _placed(data: memoryview, owner: object) -> memoryview | bytes:
    if data.nbytes < LARGE:
        return bytes(data)
    place, view = keep_bytes(data, "parvum-shared")
    known_memory[id(view.obj)] = place, b"shared %d" % next(_numbers)
    weakref.finalize(owner, _forget, id(view.obj), place)
    return view


def _forget(memory: int, place: int) -> None:
    del known_memory[memory]
    os.close(place)


def _shared(name: tuple[int, int], *parts: Any) -> object:
    """The object of a handle, in another process. The process unpickles the object once, and caches it until newer objects replace it."""
    try:
        _here.move_to_end(name)
        return _here[name]
    except KeyError:
        pass
    value = unpack(parts[0], parts[1:])
    _here[name] = value
    if len(_here) > REMEMBERED:
        _here.popitem(last=False)
    return value
