"""`empty`: arrays in memory that workers of the host map, so that a call passes them without a copy."""

from __future__ import annotations

import math
import mmap
import operator
import os
import threading
import weakref
from collections.abc import Sequence
from itertools import count
from typing import Any, Final, Literal, SupportsIndex

from parvum import _parvum, errors
from parvum.pool.calls import LARGE

_PAGE: Final = mmap.PAGESIZE

_numbers = count(1)
_regions: dict[int, _Region] = {}
"""The memory of the arrays that `empty` has made and that still exist; the key is the start address.

An array that the program has changed since a call is no longer here: calls copy it as any other array.
"""
_lock = threading.RLock()
"""Held during changes of regions. Finalizers of arrays run in any thread, also in the thread that holds the lock."""


class _Region:
    """The memory of one array.

    At first the array is a shared mapping of the descriptor. `freeze` makes it a private mapping: the descriptor's memory stays as it
    is, and later writes of the program go to private pages.
    """

    def __init__(self, memory: mmap.mmap, place: int) -> None:
        self.memory = weakref.ref(memory)
        self.place = place
        self.name = b""
        """The name of the frozen contents; none are frozen yet."""

    def freeze(self) -> bool:
        """Ensures that the descriptor's memory has the present contents, and that these no longer change. False: it has others."""
        if (memory := self.memory()) is None:
            return False
        if self.name:
            return not _parvum.is_touched(memory)
        _parvum.freeze(memory, self.place)
        self.name = b"array %d" % next(_numbers)
        return True


def frozen(data: memoryview) -> tuple[int, bytes] | None:
    """For the memory of an array of `empty`: a new descriptor of the same bytes, which no longer change, and the name of the bytes.

    None for other memory, and for an array that the program has changed since an earlier call. The caller closes the descriptor.
    """
    if not _regions:
        return None
    import numpy

    start: int = numpy.frombuffer(data, "u1").__array_interface__["data"][0]
    with _lock:
        region = _regions.get(start)
        if region is None:
            return None
        if not region.freeze():
            _forget(start, region)
            return None
        return os.dup(region.place), b"%b %d" % (region.name, data.nbytes)


def _forget(start: int, region: _Region) -> None:
    with _lock:
        # Another array may have the address already.
        if _regions.get(start) is region:
            del _regions[start]
        place, region.place = region.place, -1
        if place >= 0:
            os.close(place)


def _before_fork() -> None:
    """Parent and child then have separate arrays, as with other arrays."""
    _lock.acquire()
    for region in list(_regions.values()):
        if not region.name:
            region.freeze()


def _after_fork_in_child() -> None:
    global _lock
    _lock = threading.RLock()


def empty(shape: SupportsIndex | Sequence[int], dtype: Any = float, order: Literal["C", "F"] = "C") -> Any:
    """Makes a NumPy array, as `numpy.empty` does, that calls of executors and `map` pass without a copy.

    The workers of this host map the memory of the array, read-only. If the program writes to the array after a call, the call does not
    see this: the kernel copies the page at the first write. After that, calls copy the array as any other array: make a new array for
    new data. An array of less than 256 KiB is an ordinary array. Raises `ImportError` without NumPy, and `BadArgument` for a type
    that contains Python objects.

    >>> import parvum
    >>> table = parvum.empty((1000, 100))
    >>> table[:] = 2.0
    >>> with parvum.Executor(2) as pool:
    ...     pool.submit(float, table.sum()).result()
    200000.0
    """
    import numpy

    kind = numpy.dtype(dtype)
    if kind.hasobject:
        raise errors.BadArgument(f"an array of type {kind} contains Python objects, and other processes cannot map them")
    sides = tuple(map(operator.index, shape)) if isinstance(shape, Sequence) else (operator.index(shape),)
    size = math.prod(sides) * kind.itemsize
    if size < LARGE or any(side < 0 for side in sides):
        return numpy.empty(sides, kind, order)
    place = -1
    try:
        place = os.memfd_create("parvum-array", os.MFD_CLOEXEC)
        os.ftruncate(place, -(-size // _PAGE) * _PAGE)
        memory = mmap.mmap(place, 0)
    except (OSError, OverflowError):
        # No descriptor is left, or the array is too long. NumPy decides.
        if place >= 0:
            os.close(place)
        return numpy.empty(sides, kind, order)
    array = numpy.ndarray(sides, kind, memory, order=order)
    start = array.__array_interface__["data"][0]
    with _lock:
        region = _regions[start] = _Region(memory, place)
    weakref.finalize(memory, _forget, start, region)
    return array


os.register_at_fork(before=_before_fork, after_in_parent=lambda: _lock.release(), after_in_child=_after_fork_in_child)
