"""Turns calls and results into bytes: with pickle protocol 5, and with cloudpickle for objects of `__main__` and objects without a name.

A function of an importable module is sent by name. Functions and classes of `__main__` (a script, a notebook),
lambdas and inner functions are sent by value. This needs the package cloudpickle in this process and in the
workers. If an object cannot be sent, `Unpicklable` names the part of the object that cannot be pickled.
"""

from __future__ import annotations

import pickle
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final, cast

from parvum import errors
from parvum._pickles.by_reference import dumps, dumps_by_value

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

LARGE: Final = 256 * 1024
"""If a buffer has at least this number of bytes, it is not in the pickle, and is sent once per host."""

_REFUSED: Final = (pickle.PicklingError, AttributeError, TypeError, RecursionError)


class Unpicklable(errors.Unpicklable, pickle.PicklingError):
    """An object cannot be sent to another process; the text names the part that cannot be sent, and the reason.

    Remedy: give the part a `__reduce__` or `__getstate__`, or create the part inside the called function.
    """

    path: str
    """The path of the part, as in `args[0].model.lock`."""

    def __init__(self, cause: str = "", path: str = "", *, remedy: str | None = None) -> None:
        super().__init__(cause, remedy=remedy)
        self.path = path


class Packed:
    """A pickled object: its bytes, and its large buffers, in order."""

    __slots__ = ("buffers", "data")

    def __init__(self, data: bytes, buffers: list[pickle.PickleBuffer]) -> None:
        self.data = data
        self.buffers = buffers


def pack_call(function: Callable[..., object], args: tuple[object, ...], kwargs: Mapping[str, object]) -> Packed:
    """A call as bytes, with the present values of its arguments: the worker does not see later changes.

    Raises `Unpicklable`.
    """
    return pack((function, args, kwargs), ("function", "args", "kwargs"))


def pack(thing: object, names: tuple[str, ...] = ()) -> Packed:
    """An object as bytes. `names` are the names of a tuple's parts in error messages. Raises `Unpicklable`."""
    buffers: list[pickle.PickleBuffer] = []
    try:
        data = dumps(thing, _large_into(buffers))
        if b"__main__" not in data or not _names_main(data):
            return Packed(data, buffers)
        reason: BaseException | None = None
    except _REFUSED as error:
        reason = error
    return _by_value(thing, names, reason)


def in_one_piece(packed: Packed) -> Packed:
    """Packs a call with its buffers inside the pickle, for calls that are sent only once."""
    if not packed.buffers:
        return packed
    return pack_call(_call_packed, (packed.data, [bytes(buffer.raw()) for buffer in packed.buffers]), {})


def _call_packed(data: bytes, buffers: list[bytes]) -> object:
    function, args, kwargs = unpack(data, buffers)
    return function(*args, **kwargs)


def unpack(data: bytes | memoryview, buffers: Iterable[Any] = ()) -> Any:
    """Returns the packed object. Its large arrays use `buffers` without a copy; they are writable if the buffers are writable."""
    return pickle.loads(data, buffers=buffers)


def apart(message: Any) -> tuple[bytes, list[Any]]:
    """The bytes and the buffers of a message; a message without buffers has only bytes."""
    if isinstance(message, list):
        whole = cast("list[Any]", message)
        return whole[0], whole[1:]
    return message, []


def cloudpickle() -> ModuleType | None:
    """The package, or None if it is not installed."""
    try:
        import cloudpickle  # type: ignore[import-untyped]  # pyright: ignore[reportMissingTypeStubs]
    except ImportError:
        return None
    return cloudpickle


def _large_into(buffers: list[pickle.PickleBuffer]) -> Callable[[pickle.PickleBuffer], bool]:
    def keep_in(buffer: pickle.PickleBuffer) -> bool:
        try:
            large = buffer.raw().nbytes >= LARGE
        except BufferError:
            # The buffer is not contiguous: pickle copies it.
            return True
        if large:
            buffers.append(buffer)
        return not large

    return keep_in


def _by_value(thing: object, names: tuple[str, ...], reason: BaseException | None) -> Packed:
    helper = cloudpickle()
    if helper is None:
        if reason is None or _has_no_name(thing):
            raise Unpicklable(
                f"{_what(thing)} lives in __main__ or has no name of its own, so a worker cannot import it",
                remedy="install cloudpickle (pip install cloudpickle), here and on all hosts, or put it into a module",
            ) from reason
        raise _refusal(thing, names, reason, _dumps_whole, helped=False) from reason
    buffers: list[pickle.PickleBuffer] = []
    try:
        return Packed(dumps_by_value(helper, thing, _large_into(buffers)), buffers)
    except Exception as error:
        raise _refusal(thing, names, error, partial(dumps_by_value, helper), helped=True) from error


def _names_main(data: bytes) -> bool:
    """True if the pickle contains a reference to an object of `__main__`; a string with the same letters does not count."""
    import pickletools

    return any(argument == "__main__" for _, argument, _ in pickletools.genops(data))


def _first(thing: Any) -> Any:
    """The user's function of a call; any other object unchanged."""
    if not isinstance(thing, tuple) or not thing:
        return cast("Any", thing)
    parts = cast("tuple[Any, ...]", thing)
    first: Any = parts[0]
    # Parvum's own functions, such as the one for chunks of calls, have the user's function as the first argument.
    if len(parts) > 1 and str(getattr(first, "__module__", "")).startswith("parvum.") and parts[1] and callable(parts[1][0]):
        return parts[1][0]
    return first


def _what(thing: object) -> str:
    first = _first(thing)
    name: str = getattr(first, "__qualname__", None) or type(first).__qualname__
    return f"'{name}'"


def _has_no_name(thing: object) -> bool:
    first = _first(thing)
    name: str = getattr(first, "__qualname__", "")
    return getattr(first, "__module__", "") == "__main__" or "<lambda>" in name or "<locals>" in name


# --- The part that cannot be pickled ---


REMEDY: Final = "give that part a __reduce__ or __getstate__, or make it anew inside the function that is called"


def _refusal(
    thing: object, names: tuple[str, ...], reason: BaseException, dumps: Callable[[object], bytes], helped: bool
) -> Unpicklable:
    path, culprit = find_culprit(thing, names, dumps)
    kind = f"{type(culprit).__module__}.{type(culprit).__qualname__}"
    where = f"{path} (a {kind})" if path else f"a {kind}"
    text = f"{where} cannot be sent to another process: {reason}"
    # The remedy does not suggest cloudpickle if it is installed.
    return Unpicklable(text, path, remedy=REMEDY if helped else None)


def _dumps_whole(thing: object) -> bytes:
    return dumps(thing, lambda _: True)


def find_culprit(thing: object, names: tuple[str, ...], dumps: Callable[[object], bytes]) -> tuple[str, object]:
    """The innermost part of `thing` that `dumps` refuses, and the path to it.

    >>> import threading
    >>> find_culprit({"a": [1, threading.Lock()]}, (), pickle.dumps)
    ("['a'][1]", <unlocked _thread.lock object at ...>)
    """
    path, seen = "", {id(thing)}
    for _ in range(64):
        for step, part in _parts(thing, names):
            if id(part) not in seen and _refuses(part, dumps):
                seen.add(id(part))
                path, thing, names = (path + step).removeprefix("."), part, ()
                break
        else:
            break
    return path, thing


def _refuses(part: object, dumps: Callable[[object], bytes]) -> bool:
    try:
        dumps(part)
    except Exception:
        return True
    return False


def _parts(thing: Any, names: tuple[str, ...]) -> Iterable[tuple[str, object]]:
    """The parts of an object that pickle visits, each with the step of the path that leads to this part."""
    kind: type[Any] = thing.__class__
    if getattr(kind, "__parvum_whole__", False):
        # The object's own exception says why it cannot be sent.
        return
    if names:
        yield from zip(names, thing)
    elif isinstance(thing, dict):
        for key, value in cast("dict[object, object]", thing).items():
            yield f"[{key!r}]", value
            yield f".keys()[{key!r}]", key
    elif isinstance(thing, list | tuple | set | frozenset):
        yield from ((f"[{place}]", part) for place, part in enumerate(cast("list[object]", thing)))
    else:
        yield from _attributes(thing)


def _attributes(thing: Any) -> Iterable[tuple[str, object]]:
    bound: object = getattr(thing, "__self__", None)
    if bound is not None and not isinstance(bound, ModuleType):
        yield ".__self__", bound
    code: Any = getattr(thing, "__code__", None)
    names: tuple[str, ...] = getattr(code, "co_freevars", ())
    cells: tuple[Any, ...] = getattr(thing, "__closure__", None) or ()
    for name, cell in zip(names, cells):
        yield f".{name}", _cell(cell)
    if code is not None:
        known: dict[str, object] = getattr(thing, "__globals__", {})
        yield from ((f".{name}", known[name]) for name in code.co_names if name in known)
        return
    own_state: Any = getattr(thing.__class__, "__getstate__", None)
    if own_state is not None and own_state is not getattr(object, "__getstate__", None):
        try:
            state = own_state(thing)
        except Exception:
            return
        parts = cast("tuple[object, ...]", state if isinstance(state, tuple) else (state,))
        for part in parts:
            if isinstance(part, dict):
                fields = cast("dict[str, object]", part)
                yield from ((f".{name}", value) for name, value in fields.items())
        return
    own_fields: dict[str, object] = getattr(thing, "__dict__", {})
    yield from ((f".{name}", value) for name, value in own_fields.items())
    kinds: tuple[type[object], ...] = thing.__class__.__mro__
    for kind in kinds:
        slots: Any = kind.__dict__.get("__slots__", ())
        for name in (slots,) if isinstance(slots, str) else slots:
            if hasattr(thing, name):
                yield f".{name}", getattr(thing, name)


def _cell(cell: Any) -> object:
    try:
        return cell.cell_contents
    except ValueError:
        return None
