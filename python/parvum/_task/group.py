"""Collectives on NumPy arrays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

from parvum import _parvum
from parvum._task.ids import TaskId
from parvum.errors import WrongShape

if TYPE_CHECKING:
    from numpy.typing import NDArray

    Array = NDArray[Any]
else:
    Array = Any

# Ufuncs, and types for each, that the engine implements.
_KNOWN = ("add", "multiply", "minimum", "maximum", "bitwise_and", "bitwise_or", "bitwise_xor")


class Group(_parvum.Group):
    """An ordered set of tasks for collectives.

    All members make the group from the same ids in the same order, and call the same collectives in the same order.
    ``Group(vm.siblings())`` has all tasks of ``parvum run -n N`` or of one ``spawn``. Collectives work on contiguous
    arrays. A collective waits for another member only if it needs data of this member. If a member ends, the calls of
    the other members raise :class:`~parvum.errors.TaskGone`; ``.task`` of the exception is the ended member. The
    remaining members can then make a new group.
    """

    def __new__(cls, tasks: Iterable[int]) -> Group:  # pyright: ignore[reportInconsistentConstructor]
        return super().__new__(cls, [int(task) for task in tasks])

    @property
    def tasks(self) -> list[TaskId]:
        """The ids of the members, in order."""
        return [TaskId(task) for task in self._tasks()]

    def bcast(self, array: Array, root: int = 0) -> Array:
        """Copies the root's array into every member's array. All arrays must have the same shape and type. Returns the array."""
        self._bcast(array, root)
        return array

    def bcast_object(self, obj: Any = None, root: int = 0) -> Any:
        """Sends the root's object to all members; every member gets this object as the result."""
        import pickle

        data = bytearray(pickle.dumps(obj, protocol=5)) if self.rank == root else bytearray()
        length = bytearray(len(data).to_bytes(8, "little"))
        self._bcast(length, root)
        if self.rank != root:
            data = bytearray(int.from_bytes(length, "little"))
        self._bcast(data, root)
        return obj if self.rank == root else pickle.loads(data)

    def scatter(self, array: Array | None, out: Array, root: int = 0) -> Array:
        """Sends each member its part of the root's array: ``out`` of member n becomes ``array[n]``. Returns ``out``."""
        whole = None
        if self.rank == root:
            whole = _dense(array)
            _same_type(whole, out)
            _fits(whole.nbytes, self.size * out.nbytes)
        self._scatter(whole, out, root)
        return out

    def gather(self, array: Array, root: int = 0, out: Array | None = None) -> Array | None:
        """Collects all arrays at the root: ``result[n]`` is the array of member n. Other members get None."""
        part = _dense(array)
        if self.rank == root:
            out = self._room(part, out)
        self._gather(part, out if self.rank == root else None, root)
        return out if self.rank == root else None

    def allgather(self, array: Array, out: Array | None = None) -> Array:
        """Collects all arrays on every member: ``result[n]`` is the array of member n."""
        part = _dense(array)
        out = self._room(part, out)
        self._allgather(part, out)
        return out

    def alltoall(self, array: Array, out: Array | None = None) -> Array:
        """Sends each member its part of every array: ``result[n]`` is ``array[rank]`` of member n."""
        import numpy as np

        whole = _dense(array)
        if whole.ndim == 0 or whole.shape[0] != self.size:
            raise WrongShape(f"the first dimension of the array has {whole.shape[:1]} items, the group {self.size} members")
        if out is None:
            out = np.empty_like(whole)
        _same_type(whole, out)
        _fits(whole.nbytes, out.nbytes)
        self._alltoall(whole, out)
        return out

    def reduce(self, array: Array, op: Any = None, root: int = 0, out: Array | None = None) -> Array | None:
        """Combines all arrays at the root with a ufunc (None: ``numpy.add``). If ``out is array``, the result replaces the array."""
        result = self._start(array, out)
        self._combine(result, op, root)
        return result if self.rank == root else None

    def allreduce(self, array: Array, op: Any = None, out: Array | None = None) -> Array:
        """Combines all arrays with a ufunc (None: ``numpy.add``); every member gets exactly the same result.

        If ``out is array``, the result replaces the array. Any ufunc of two arguments works, and any function of two
        arrays. If a function does not commute, it combines the arrays in the order of the members.
        """
        result = self._start(array, out)
        self._combine(result, op, None)
        return result

    def _start(self, array: Array, out: Array | None) -> Array:
        import numpy as np

        if out is None:
            return np.array(array, order="C")
        if out is not array:
            _same_type(np.asarray(array), out)
            out[...] = array
        return out

    def _combine(self, data: Array, op: Any, root: int | None) -> None:
        import numpy as np

        op = np.add if op is None else op
        name = str(getattr(op, "__name__", "")) if isinstance(op, np.ufunc) else ""
        kind = f"{data.dtype.kind}{data.dtype.itemsize}"
        native = data.dtype.isnative and data.dtype.kind in "iufc" and name in _KNOWN
        # NumPy's maximum and minimum keep NaN on either side.
        native = native and not (name in ("minimum", "maximum") and data.dtype.kind in "fc")
        native = native and not (name.startswith("bitwise") and data.dtype.kind != "i" and data.dtype.kind != "u")
        native = native and data.dtype.itemsize <= 16 and kind in _KINDS
        if native:
            self._reduce(data, root, name, kind, data.dtype.itemsize, None)
            return

        def combine(into: memoryview, other: memoryview) -> None:
            first: Array = np.frombuffer(into, data.dtype)
            first[...] = op(first, np.frombuffer(other, data.dtype))

        # The buffer protocol has no format for dates.
        view: Any = np.ndarray(data.nbytes, np.uint8, data) if data.dtype.kind in "mM" else data
        self._reduce(view, root, name, kind, data.dtype.itemsize, combine)

    def _room(self, part: Array, out: Array | None) -> Array:
        import numpy as np

        if out is None:
            return np.empty((self.size, *part.shape), part.dtype)
        _same_type(part, out)
        _fits(out.nbytes, self.size * part.nbytes)
        return out

    def __repr__(self) -> str:
        return f"<parvum.Group: member {self.rank} of {self.size}>"


_KINDS = {"i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8", "c8", "c16"}


def _dense(array: Any) -> Array:
    import numpy as np

    return np.ascontiguousarray(array) if np.ndim(array) else np.asarray(array)


def _same_type(one: Array, other: Array) -> None:
    if one.dtype != other.dtype:
        raise WrongShape(f"one array has items of type {one.dtype}, the other of {other.dtype}")


def _fits(have: int, wanted: int) -> None:
    if have != wanted:
        raise WrongShape(f"an array has {have} bytes where {wanted} are wanted")
