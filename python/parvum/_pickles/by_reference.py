"""A table of the types that are sent to other processes by reference, because a copy would be a different object or too large.

| object | how Parvum sends it |
|---|---|
| `numpy.memmap` | by the name of its file; the receiver maps the same file |
| `parvum.SharedArray` | by its place in the shared memory of the run; tasks outside the run cannot receive it |
| `functools.lru_cache` of a script | by its function; the receiver's process has one cache for the function |
| `parvum.Queue`, `Lock`, `Event`, `Barrier`, actors' handles | by name |
| `threading.Lock`, sockets, generators | Parvum refuses them: the exception names the part |
| `parvum.Executor`, `Request`, futures | Parvum refuses them: the exception suggests what to send instead |

When the program itself pickles objects, these rules do not apply.
"""

from __future__ import annotations

import copyreg
import functools
import hashlib
import io
import os
import pickle
import sys
from collections import ChainMap, OrderedDict
from collections.abc import Callable
from typing import Any, Final, cast

from parvum import errors

Reducer = Callable[[Any], Any]

_CACHES: Final = 64
"""Caches of functions in this process."""

_lru_cache: Final[type[Any]] = type(functools.lru_cache(len))
_own: dict[type[Any], Reducer] = {}
_table: dict[type[Any], Reducer] = {}
_known = -1


def table() -> dict[type[Any], Reducer]:
    """The table that tells how types are pickled for other processes: the types above, and the types that the program has put into `copyreg`."""
    global _table, _known
    registered = len(copyreg.dispatch_table)
    numpy: Any = sys.modules.get("numpy")
    memmap: type[Any] | None = getattr(numpy, "memmap", None)
    if _known != registered or (memmap is not None and memmap not in _table):
        _own[_lru_cache] = _reduce_cached
        if memmap is not None:
            _own[memmap] = _reduce_memmap
        _table = {**copyreg.dispatch_table, **_own}
        _known = registered
    return _table


def dumps(thing: object, callback: Callable[[pickle.PickleBuffer], Any]) -> bytes:
    """A pickle of protocol 5 for another process. If `callback` returns a false value for a buffer, the pickle does not contain this buffer."""
    if "numpy" not in sys.modules:
        return pickle.dumps(thing, 5, buffer_callback=callback)
    out = io.BytesIO()
    pickler = pickle.Pickler(out, 5, buffer_callback=callback)
    pickler.dispatch_table = table()
    pickler.dump(thing)
    return out.getvalue()


def dumps_by_value(helper: Any, thing: object, callback: Callable[[pickle.PickleBuffer], Any] | None = None) -> bytes:
    """Does the same as `dumps` with cloudpickle (`helper`), which sends functions and classes without a name by value."""
    out = io.BytesIO()
    _by_value(helper)(out, 5, buffer_callback=callback).dump(thing)
    return out.getvalue()


def _by_value(helper: Any) -> Any:
    """cloudpickle's pickler; it uses the table above before cloudpickle's own table. `__init__` of the pickler reads the table."""
    known: type[Any] = helper.CloudPickler

    class Pickler(known):
        dispatch_table = ChainMap({kind: how for kind, how in table().items() if kind in _own}, known.dispatch_table)

    return Pickler


# --- Arrays in files ---


def _reduce_memmap(array: Any) -> Any:
    place = _place_of(array)
    if place is None:
        return array.__reduce_ex__(5)
    path, offset = place
    try:
        status = os.stat(path)
    except OSError:
        # The file was deleted, or only this process can see it.
        return array.__reduce_ex__(5)
    mode = "r" if array.mode == "r" else "r+"
    identity = status.st_ino, status.st_size
    return _map_file, (path, identity, array.dtype, mode, offset, array.shape, array.strides)


def _place_of(array: Any) -> tuple[str, int] | None:
    """The file of a mapped array, and the offset of its first item. None if other processes cannot open a file with the array."""
    numpy: Any = sys.modules["numpy"]
    # A part of a mapped array has the same class, and the offset of the whole array.
    whole: Any = array
    while isinstance(whole.base, numpy.memmap):
        whole = whole.base
    if array.filename is None or getattr(whole, "_mmap", None) is None or array.mode not in ("r", "r+", "w+"):
        return None
    first = int(array.__array_interface__["data"][0]) - int(whole.__array_interface__["data"][0])
    lowest = first + sum(min(0, (side - 1) * stride) for side, stride in zip(array.shape, array.strides) if side)
    if lowest < 0 or array.dtype.hasobject:
        return None
    path = cast("str | os.PathLike[str]", array.filename)
    return os.path.abspath(path), int(whole.offset) + first


def _map_file(
    path: str,
    identity: tuple[int, int],
    kind: Any,
    mode: str,
    offset: int,
    shape: tuple[int, ...],
    strides: tuple[int, ...],
) -> Any:
    """Maps an array in another process."""
    from importlib import import_module

    numpy: Any = import_module("numpy")
    try:
        status = os.stat(path)
        why = "" if (status.st_ino, status.st_size) == identity else "another file has this name"
    except OSError as error:
        why = str(error.strerror)
    if why:
        raise errors.Refused(
            f"{path}, the file of a memory-mapped array, cannot be found on host {os.uname().nodename}: {why}",
            code="E-FILE",
            remedy="put the file where all hosts have it, or send a copy of the array: numpy.array(a)",
        )
    if 0 in shape:
        return numpy.empty(shape, kind)
    reach = [(side - 1) * stride for side, stride in zip(shape, strides)]
    low = offset + sum(step for step in reach if step < 0)
    high = offset + sum(step for step in reach if step > 0) + kind.itemsize
    memory: Any = numpy.memmap(path, numpy.uint8, mode, low, (high - low,))
    array: Any = numpy.ndarray.__new__(numpy.memmap, shape, kind, memory, offset - low, strides)
    # NumPy's own way to tell a part of a mapped array its file.
    array.__array_finalize__(memory)
    array._mmap, array.filename, array.offset, array.mode = memory._mmap, memory.filename, low, mode
    return array


# --- Functions with a cache ---

_caches: OrderedDict[tuple[bytes, int | None, bool], Any] = OrderedDict()


def _reduce_cached(function: Any) -> Any:
    if _is_importable(function):
        return function.__reduce__()
    how = function.cache_parameters()
    try:
        import cloudpickle  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        return function.__reduce__()
    return _cached, (dumps_by_value(cloudpickle, function.__wrapped__), how["maxsize"], how["typed"])


def _is_importable(function: Any) -> bool:
    module: Any = sys.modules.get(function.__module__) if function.__module__ != "__main__" else None
    for part in function.__qualname__.split("."):
        module = getattr(module, part, None)
    return module is function


def _cached(pickled: bytes, maxsize: int | None, typed: bool) -> Any:
    """Restores a function with a cache in another process: the same function always has the same cache."""
    key = hashlib.sha256(pickled).digest(), maxsize, typed
    try:
        _caches.move_to_end(key)
        return _caches[key]
    except KeyError:
        pass
    made = _caches[key] = functools.lru_cache(maxsize, typed)(pickle.loads(pickled))
    if len(_caches) > _CACHES:
        _caches.popitem(last=False)
    return made
