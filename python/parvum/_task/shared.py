"""NumPy arrays in TreadMarks' shared memory."""

from __future__ import annotations

import atexit
import ctypes
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generator

from parvum import _parvum
from parvum._task.group import Group
from parvum._libraries import load
from parvum.errors import BadArgument, Refused

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

    Array = NDArray[Any]
else:
    Array = Any
    DTypeLike = Any

_LOCKS = 4096
_BARRIERS = 256


class _Run:
    """The tasks that share memory: all tasks of ``parvum run -n N``, or of one spawn."""

    def __init__(self) -> None:
        _parvum.enrol()
        self.group = Group(_parvum.siblings())
        self.library = load("libTmk.so.1")
        self.library.Tmk_malloc.restype = ctypes.c_void_p
        name = ctypes.create_string_buffer(b"python")
        self.library.Tmk_startup(1, (ctypes.c_char_p * 2)(ctypes.cast(name, ctypes.c_char_p), None))
        atexit.register(self._end)

    def _end(self) -> None:
        # A task that fails exits without Tmk_exit: this ends the run.
        if not hasattr(sys, "last_value"):
            self.library.parvum_tmk_leave()


_run: _Run | None = None


def run() -> _Run:
    """Returns the run. The first call in a task joins the run and waits for the other tasks, so all tasks of the run must make this call."""
    global _run
    if _run is None:
        _run = _Run()
    return _run


class SharedArray:
    """An array that all tasks of a run share. Tasks of one host use the same pages; between hosts, locks and barriers make the array consistent.

    Attributes:
        array: the NumPy array. Other tasks see a task's writes after both tasks have passed the same barrier. They also
            see the writes after both have held the same lock, one after the other.
        rank: this task's number in the run.
        size: the number of tasks that share the array.
    """

    def __init__(self, array: Array) -> None:
        self.array = array
        self.rank = run().group.rank
        self.size = run().group.size

    @contextmanager
    def view(self, region: Any = ..., write: bool = True) -> Generator[Array]:
        """Fetches a part of the array immediately, for system calls and for C code that cannot wait for a page.

        >>> import numpy as np, parvum
        >>> shared = parvum.shared((4, 1000), "f8")
        >>> with shared.view(np.s_[1, 10:20]) as part:
        ...     part[:] = 7
        >>> float(shared.array[1].sum())
        70.0
        """
        part: Array = self.array[region]
        if part.base is None and part.size:
            raise BadArgument("the region is no slice: it would be a copy")
        low, high = _bounds(part)
        if part.size:
            run().library.Tmk_touch(ctypes.c_void_p(low), ctypes.c_uint(high - low), int(write))
        yield part

    @contextmanager
    def lock(self, number: int = 0) -> Generator[None]:
        """Holds one of the run's locks (0 to 4095) in a ``with`` block."""
        if not 0 <= number < _LOCKS:
            raise BadArgument(f"lock {number} is not in 0 to {_LOCKS - 1}")
        run().library.Tmk_lock_acquire(number)
        try:
            yield
        finally:
            run().library.Tmk_lock_release(number)

    def barrier(self, number: int = 0) -> None:
        """Waits until all tasks of the run have called the same barrier (0 to 255)."""
        if not 0 <= number < _BARRIERS:
            raise BadArgument(f"barrier {number} is not in 0 to {_BARRIERS - 1}")
        run().library.Tmk_barrier(number)

    def __reduce__(self) -> tuple[Any, ...]:
        # Any task of the run gets the same memory. Other tasks have no such memory.
        start = int(self.array.__array_interface__["data"][0])
        tasks = tuple(int(task) for task in run().group.tasks)
        return _again, (tasks, start, self.array.shape, self.array.dtype, self.array.strides)

    def __repr__(self) -> str:
        return f"<parvum.SharedArray {self.array.shape} of {self.array.dtype}, of {self.size} tasks>"


def _again(tasks: tuple[int, ...], start: int, shape: tuple[int, ...], kind: Any, strides: tuple[int, ...]) -> SharedArray:
    """Restores a shared array that another task of the run has sent."""
    import numpy as np

    if _run is None or tuple(int(task) for task in _run.group.tasks) != tasks:
        raise Refused(
            "a shared array was sent to a task that does not share its memory: tasks of one run do, each after its first parvum.shared",
            code="E-NOTSHARED",
            remedy="send a copy of what is in it, numpy.array(shared.array); or start the tasks together, by `parvum run -n N` or one vm.spawn",
        )
    length = max(1, int(np.prod(shape, dtype=np.int64)) * kind.itemsize)
    memory: Any = (ctypes.c_char * length).from_address(start)
    array: Array = np.ndarray(shape, kind, memory, 0, strides)
    return SharedArray(array)


def _bounds(part: Array) -> tuple[int, int]:
    """The address of the first byte of an array, and the address of the first byte after the array."""
    low = high = int(part.__array_interface__["data"][0])
    for items, stride in zip(part.shape, part.strides):
        reach = (items - 1) * stride
        low, high = (low + reach, high) if reach < 0 else (low, high + reach)
    return low, high + part.itemsize


def shared(shape: int | tuple[int, ...], dtype: DTypeLike = float) -> SharedArray:
    """Makes an array of zeros that all tasks of this run share. All tasks must make the same calls of ``shared`` in the same order.

    A run is the tasks of ``parvum run -n N``, or of one ``vm.spawn``. A task that neither of the two has started is a
    run with one task. Needs NumPy.

    Raises:
        Refused: too little memory is left (``TMK_HEAP``).
    """
    import numpy as np

    kind = np.dtype(dtype)
    if kind.hasobject:
        raise BadArgument(f"items of type {kind} have parts elsewhere, which cannot be shared")
    of = run()
    count = int(np.prod(shape, dtype=np.int64))
    length = max(1, count * kind.itemsize)
    # The allocator of the engine takes an unsigned int.
    if length >= 1 << 32:
        raise BadArgument(f"{length} bytes are more than one array may have, 4 GiB")
    place = np.zeros(1, np.uint64)
    if of.group.rank == 0:
        place[0] = of.library.Tmk_malloc(length) or 0
    of.group.bcast(place)
    start = int(place[0])
    if not start:
        raise Refused(f"there is no room for {length} bytes in the shared heap", code="E-NOMEMORY", remedy="make it larger: treadmarks(7)")
    memory: Any = (ctypes.c_char * length).from_address(start)
    array: Array = np.ndarray(shape, kind, memory)
    if of.group.rank == 0:
        ctypes.memset(start, 0, length)
    of.library.Tmk_barrier(_BARRIERS - 1)
    return SharedArray(array)
