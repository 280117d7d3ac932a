"""`share`: an object that many calls need, pickled once and sent once per host."""

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
"""So many shared objects a worker keeps ready."""

_numbers = count(1)
_here: OrderedDict[tuple[int, int], object] = OrderedDict()


class Shared(Generic[T]):
    """A handle for an object. Calls that get it see the object itself, which they must not change.

    `value` is the object, here.
    """

    def __init__(self, value: T) -> None:
        self.value = value
        self._name = (os.getpid(), next(_numbers))
        packed = pack(value)
        # Short ones go with the call; memory that is mapped is taken as it is.
        self._parts: list[memoryview | bytes] = [_placed(memoryview(packed.data), self)]
        self._parts += [_placed(buffer.raw(), self) for buffer in packed.buffers]

    def __reduce__(self) -> tuple[Any, ...]:
        # In the same bytes of the same memory each time: pools know it again without looking at it.
        return _shared, (self._name, *(PickleBuffer(part) for part in self._parts))

    def __repr__(self) -> str:
        size = sum(len(part) for part in self._parts)
        return f"<Shared {type(self.value).__name__}, {size} bytes>"


def share(value: T) -> Shared[T]:
    """Makes a handle of an object for calls of executors, actors and `map`, wherever it stands in their arguments.

    The object is pickled here and now, and each host gets it once; the calls of one worker see the same object,
    and large arrays in it are read-only memory that all workers of the host share. Raises `Unpicklable`.

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
    known_memory[id(view.obj)] = place
    weakref.finalize(owner, _forget, id(view.obj), place)
    return view


def _forget(memory: int, place: int) -> None:
    del known_memory[memory]
    os.close(place)


def _shared(name: tuple[int, int], *parts: Any) -> object:
    """The object of a handle, in another process: made once, and kept while others are not newer."""
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
