"""Objects to pickles with their large parts beside them, and back."""

from __future__ import annotations

import importlib
import pickle
from typing import Any, Callable

from .errors import Unpicklable

Pickled = tuple[bytes, list[pickle.PickleBuffer]]


def dumps(obj: Any) -> Pickled:
    """A stream, and the buffers that stay where they are."""
    buffers: list[pickle.PickleBuffer] = []
    try:
        return pickle.dumps(obj, protocol=5, buffer_callback=buffers.append), buffers
    except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as error:
        try:
            cloudpickle: Any = importlib.import_module("cloudpickle")
        except ImportError:
            raise Unpicklable(explain(obj, error)) from error
        return _by(cloudpickle.dumps, obj, error)


def _by(dump: Callable[..., bytes], obj: Any, before: BaseException) -> Pickled:
    buffers: list[pickle.PickleBuffer] = []
    try:
        return dump(obj, protocol=5, buffer_callback=buffers.append), buffers
    except Exception:
        raise Unpicklable(explain(obj, before)) from before


def loads(stream: Any, buffers: list[Any]) -> Any:
    """The object of a stream and its buffers."""
    return pickle.loads(stream, buffers=buffers)


def explain(obj: Any, error: BaseException) -> str:
    """Which part of an object cannot be pickled, and why."""
    path, part, reason = _find(obj, error)
    kind = type(part).__qualname__
    where = f"{path} " if path else ""
    return f"{type(obj).__qualname__}: {where}({kind}) cannot be pickled: {reason}"


def _find(obj: Any, error: BaseException, depth: int = 20) -> tuple[str, Any, BaseException]:
    """The innermost part that cannot be pickled, by the way that leads to it."""
    if depth:
        for step, part in _parts(obj):
            why = _fails(part)
            if why is not None:
                path, culprit, reason = _find(part, why, depth - 1)
                return step + path, culprit, reason
    return "", obj, error


def _fails(obj: Any) -> BaseException | None:
    try:
        pickle.dumps(obj, protocol=5, buffer_callback=lambda _: None)
    except Exception as error:
        return error
    return None


def _parts(obj: Any) -> list[tuple[str, Any]]:
    if isinstance(obj, dict):
        pairs: list[tuple[Any, Any]] = list(obj.items())  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
        return [(f"[{key!r}]", value) for key, value in pairs]
    if isinstance(obj, (list, tuple)):
        items: list[Any] = list(obj)  # pyright: ignore[reportUnknownArgumentType]
        return [(f"[{at}]", value) for at, value in enumerate(items)]
    state = getattr(obj, "__dict__", None)
    if isinstance(state, dict) and not isinstance(obj, type):
        attributes: dict[str, Any] = state  # pyright: ignore[reportUnknownVariableType]
        return [(f".{name}", value) for name, value in attributes.items()]
    return []
