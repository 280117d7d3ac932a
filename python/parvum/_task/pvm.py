"""PVM's calls, as in C, for messages with PVM tasks in C, Fortran or any other language.

The calls use the task of this process: its id is :attr:`parvum.Vm.id`. A call that fails raises
:class:`parvum.errors.PvmFailed` with PVM's error code.
"""

from __future__ import annotations

import ctypes
import math
import threading
import time
from array import array
from typing import Any, Iterable, Sequence

from parvum import _parvum
from parvum._task.ids import TaskId
from parvum._libraries import load
from parvum.errors import BadArgument, PvmFailed, Refused, TimedOut

DATA_DEFAULT, DATA_RAW, DATA_IN_PLACE = 0, 1, 2
_AUTO_ERR = 3
# A signal ends the wait of the thread that handles signals. A signal just before the thread sleeps is found by polling: soon at first, and
# then less and less often. In seconds.
_FIRST_LOOK, _LAST_LOOK = 0.005, 10.0


class _TimeVal(ctypes.Structure):
    _fields_ = [("seconds", ctypes.c_long), ("microseconds", ctypes.c_long)]


class Pvm:
    """PVM 3.4's calls without the prefix ``pvm_``; :attr:`parvum.Vm.pvm` is the object of this process.

    ``pk...`` takes a number, a sequence of numbers, or an array of the type (any buffer; a NumPy array may have ``stride``).
    ``upk...`` returns one number. ``upk...(n)`` returns an :class:`array.array` of n numbers, which ``numpy.asarray`` uses without a copy.
    ``upk...(out=array)`` fills an array.

    >>> import parvum
    >>> pvm = parvum.enrol().pvm
    >>> pvm.initsend()
    >>> pvm.pkint([1, 2, 3]); pvm.pkstr("hello")
    >>> pvm.send(pvm.mytid(), 7)
    >>> _ = pvm.recv(-1, 7)
    >>> pvm.upkint(3).tolist(), pvm.upkstr()
    ([1, 2, 3], 'hello')
    """

    def __init__(self) -> None:
        self._library = load("libpvm3.so.3")
        self._call("setopt", _AUTO_ERR, 0)

    def _call(self, name: str, *arguments: Any) -> int:
        """Calls a function; a negative result means that the call has failed."""
        return self._answer(name, getattr(self._library, "pvm_" + name)(*arguments))

    @staticmethod
    def _answer(name: str, answer: int) -> int:
        if answer < 0:
            raise PvmFailed(name, answer)
        return answer

    # --- Tasks ------------------------------------------------------------------------------------------------------

    def mytid(self) -> TaskId:
        """This task's id."""
        return TaskId(self._call("mytid"))

    def parent(self) -> TaskId:
        """The id of the task that spawned this task. Fails with PvmNoParent (-23) if no task spawned it."""
        return TaskId(self._call("parent"))

    def spawn(self, task: str, argv: Sequence[str] = (), flag: int = 0, where: str = "", ntask: int = 1) -> list[TaskId]:
        """Starts tasks; returns the ids of the tasks that have started."""
        words = (ctypes.c_char_p * (len(argv) + 1))(*(word.encode() for word in argv), None)
        tids = (ctypes.c_int * ntask)()
        begun = self._call("spawn", task.encode(), words, flag, where.encode(), ntask, tids)
        if begun == 0 and ntask:
            raise PvmFailed("spawn", tids[0])
        return [TaskId(tid) for tid in tids[:begun]]

    def kill(self, tid: int) -> None:
        """Ends a task."""
        self._call("kill", tid)

    def exit(self) -> None:
        """Leaves the virtual machine."""
        self._call("exit")

    # --- Messages ---------------------------------------------------------------------------------------------------

    def initsend(self, encoding: int = DATA_DEFAULT) -> None:
        """Starts a new send buffer."""
        self._call("initsend", encoding)

    def send(self, tid: int, msgtag: int) -> None:
        """Sends the active send buffer."""
        self._call("send", tid, msgtag)

    def mcast(self, tids: Iterable[int], msgtag: int) -> None:
        """Sends the active send buffer to several tasks."""
        numbers = [int(tid) for tid in tids]
        self._call("mcast", (ctypes.c_int * len(numbers))(*numbers), len(numbers), msgtag)

    def recv(self, tid: int = -1, msgtag: int = -1, timeout: float | None = None) -> int:
        """Receives a message into the active receive buffer, and returns the id of the buffer. -1 matches any sender or tag.

        Raises TimedOut after ``timeout`` seconds.
        """
        if timeout is not None and math.isnan(timeout):
            raise BadArgument("a timeout of NaN")
        if threading.current_thread() is not threading.main_thread():
            return self._recv(tid, msgtag, timeout)
        end = None if timeout is None else time.monotonic() + timeout
        look = _FIRST_LOOK
        while True:
            # Python handles signals between these waits.
            begun = time.monotonic()
            left = look if end is None else min(look, max(0.0, end - begun))
            answer = self._library.parvum_pvm_trecv(tid, msgtag, ctypes.c_int64(int(left * 1e9)))
            buffer = self._answer("trecv", answer)
            if buffer:
                return buffer
            if end is not None and time.monotonic() >= end:
                raise TimedOut("no such message has come in time")
            # Something has interrupted the wait, and may do so again.
            early = time.monotonic() - begun < left
            look = _FIRST_LOOK if early else min(4 * look, _LAST_LOOK)

    def _recv(self, tid: int, msgtag: int, timeout: float | None) -> int:
        """Receives in a thread that handles no signals."""
        if timeout is None:
            return self._call("recv", tid, msgtag)
        seconds = min(max(0.0, timeout), 1e9)
        limit = _TimeVal(int(seconds), int(seconds % 1 * 1e6))
        buffer = self._call("trecv", tid, msgtag, ctypes.byref(limit))
        if not buffer:
            raise TimedOut("no such message has come in time")
        return buffer

    def nrecv(self, tid: int = -1, msgtag: int = -1) -> int:
        """Like :meth:`recv` if a matching message has arrived; otherwise returns 0."""
        return self._call("nrecv", tid, msgtag)

    def probe(self, tid: int = -1, msgtag: int = -1) -> int:
        """Returns the buffer id of a matching message that has arrived, for :meth:`bufinfo`; otherwise 0."""
        return self._call("probe", tid, msgtag)

    def bufinfo(self, bufid: int) -> tuple[int, int, TaskId]:
        """Bytes, tag and sender of a message."""
        length, tag, tid = ctypes.c_int(), ctypes.c_int(), ctypes.c_int()
        self._call("bufinfo", bufid, ctypes.byref(length), ctypes.byref(tag), ctypes.byref(tid))
        return length.value, tag.value, TaskId(tid.value)

    def freebuf(self, bufid: int) -> None:
        """Frees a buffer."""
        self._call("freebuf", bufid)

    # --- Packing ----------------------------------------------------------------------------------------------------

    def _pack(self, name: str, code: str, values: Any, stride: int, each: int = 1) -> None:
        address, count, _kept = _memory(values, code, each)
        self._call(name, ctypes.c_void_p(address), (count // each + stride - 1) // stride, stride)

    def _unpack(self, name: str, code: str, count: int | None, out: Any, stride: int, each: int = 1) -> Any:
        if out is not None:
            address, room, _kept = _memory(out, code, each, writable=True)
            self._call(name, ctypes.c_void_p(address), (room // each + stride - 1) // stride, stride)
            return out
        wanted = 1 if count is None else count
        made = array(code, bytes(array(code).itemsize * wanted * each))
        self._call(name, ctypes.c_void_p(made.buffer_info()[0]), wanted, 1)
        if count is not None:
            return made
        return complex(made[0], made[1]) if each == 2 else made[0]

    def pkbyte(self, data: Any, stride: int = 1) -> None:
        """Packs bytes."""
        self._pack("pkbyte", "B", data, stride)

    def upkbyte(self, count: int | None = None, out: Any = None, stride: int = 1) -> Any:
        """Unpacks bytes."""
        made = self._unpack("upkbyte", "B", count, out, stride)
        return made.tobytes() if out is None and count is not None else made

    def pkshort(self, values: Any, stride: int = 1) -> None:
        """Packs C's short."""
        self._pack("pkshort", "h", values, stride)

    def upkshort(self, count: int | None = None, out: Any = None, stride: int = 1) -> Any:
        """Unpacks C's short."""
        return self._unpack("upkshort", "h", count, out, stride)

    def pkushort(self, values: Any, stride: int = 1) -> None:
        """Packs C's unsigned short."""
        self._pack("pkushort", "H", values, stride)

    def upkushort(self, count: int | None = None, out: Any = None, stride: int = 1) -> Any:
        """Unpacks C's unsigned short."""
        return self._unpack("upkushort", "H", count, out, stride)

    def pkint(self, values: Any, stride: int = 1) -> None:
        """Packs C's int (32 bits)."""
        self._pack("pkint", "i", values, stride)

    def upkint(self, count: int | None = None, out: Any = None, stride: int = 1) -> Any:
        """Unpacks C's int."""
        return self._unpack("upkint", "i", count, out, stride)

    def pkuint(self, values: Any, stride: int = 1) -> None:
        """Packs C's unsigned int."""
        self._pack("pkuint", "I", values, stride)

    def upkuint(self, count: int | None = None, out: Any = None, stride: int = 1) -> Any:
        """Unpacks C's unsigned int."""
        return self._unpack("upkuint", "I", count, out, stride)

    def pklong(self, values: Any, stride: int = 1) -> None:
        """Packs C's long (64 bits)."""
        self._pack("pklong", "l", values, stride)

    def upklong(self, count: int | None = None, out: Any = None, stride: int = 1) -> Any:
        """Unpacks C's long."""
        return self._unpack("upklong", "l", count, out, stride)

    def pkulong(self, values: Any, stride: int = 1) -> None:
        """Packs C's unsigned long."""
        self._pack("pkulong", "L", values, stride)

    def upkulong(self, count: int | None = None, out: Any = None, stride: int = 1) -> Any:
        """Unpacks C's unsigned long."""
        return self._unpack("upkulong", "L", count, out, stride)

    def pkfloat(self, values: Any, stride: int = 1) -> None:
        """Packs C's float."""
        self._pack("pkfloat", "f", values, stride)

    def upkfloat(self, count: int | None = None, out: Any = None, stride: int = 1) -> Any:
        """Unpacks C's float."""
        return self._unpack("upkfloat", "f", count, out, stride)

    def pkdouble(self, values: Any, stride: int = 1) -> None:
        """Packs C's double."""
        self._pack("pkdouble", "d", values, stride)

    def upkdouble(self, count: int | None = None, out: Any = None, stride: int = 1) -> Any:
        """Unpacks C's double."""
        return self._unpack("upkdouble", "d", count, out, stride)

    def pkdcplx(self, values: Any, stride: int = 1) -> None:
        """Packs complex numbers of two doubles."""
        self._pack("pkdcplx", "d", values, stride, 2)

    def upkdcplx(self, count: int | None = None, out: Any = None, stride: int = 1) -> Any:
        """Unpacks complex numbers of two doubles; in an array, real and imaginary parts alternate."""
        return self._unpack("upkdcplx", "d", count, out, stride, 2)

    def pkstr(self, text: str) -> None:
        """Packs a string, in UTF-8."""
        self._call("pkstr", text.encode())

    def upkstr(self) -> str:
        """Unpacks a string."""
        length = self.bufinfo(self._call("getrbuf"))[0]
        room = ctypes.create_string_buffer(length + 1)
        self._call("upkstr", room)
        return room.value.decode()

    # --- Groups -----------------------------------------------------------------------------------------------------

    def joingroup(self, group: str) -> int:
        """Joins a group; returns this task's instance number."""
        return self._call("joingroup", group.encode())

    def lvgroup(self, group: str) -> None:
        """Leaves a group."""
        self._call("lvgroup", group.encode())

    def gsize(self, group: str) -> int:
        """The number of members of a group."""
        return self._call("gsize", group.encode())

    def gettid(self, group: str, inum: int) -> TaskId:
        """The member with this instance number."""
        return TaskId(self._call("gettid", group.encode(), inum))

    def barrier(self, group: str, count: int = -1) -> None:
        """Waits until ``count`` members have called ``barrier``. If a signal handler raises an exception during the
        wait, this task counts as arrived; call ``barrier`` again to continue the wait.
        """
        if count == 0 or count < -1 or threading.current_thread() is not threading.main_thread():
            self._call("barrier", group.encode(), count)
            return
        try:
            _parvum.meet(group, count)
        except Refused:
            # PVM's error code for an interrupt.
            self._call("barrier", group.encode(), count)

    def bcast(self, group: str, msgtag: int) -> None:
        """Sends the active send buffer to all other members."""
        self._call("bcast", group.encode(), msgtag)


_FORMATS = {"B": "Bbc?", "h": "h", "H": "H", "i": "i", "I": "I", "l": "lq", "L": "LQ", "f": "f", "d": "d"}


def _memory(values: Any, code: str, each: int, writable: bool = False) -> tuple[int, int, Any]:
    """The address of numbers of this type, their count, and the object that owns the memory."""
    if isinstance(values, complex):
        values = (values,)
    if each == 2 and isinstance(values, (list, tuple)):
        pairs: list[float] = []
        for value in values:  # pyright: ignore[reportUnknownVariableType]
            number = complex(value)  # pyright: ignore[reportUnknownArgumentType]
            pairs += (number.real, number.imag)
        values = pairs
    if isinstance(values, (int, float)):
        values = (values,)
    if isinstance(values, (list, tuple)):
        made: array[Any] = array(code, values)  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return (*made.buffer_info(), made)
    view = memoryview(values)
    formats = _FORMATS[code] + ("Zd" if each == 2 else "")
    if view.format.lstrip("@=<") not in formats:
        raise TypeError(f"an array of format {view.format!r} where {code!r} is wanted")
    if not view.c_contiguous:
        raise TypeError("the items of the array do not lie one behind the other; pack it with a stride, from its whole")
    if view.readonly:
        if writable:
            raise TypeError("the array is read-only")
        copy = array("B", view.tobytes())
        return copy.buffer_info()[0], view.nbytes // array(code).itemsize, copy
    place = (ctypes.c_char * view.nbytes).from_buffer(view.cast("B") if view.nbytes else bytearray(1))
    return ctypes.addressof(place), view.nbytes // array(code).itemsize, (place, view)
