"""Turns objects into pickles with separate large buffers, and back."""

from __future__ import annotations

import importlib
import pickle
from typing import Any

from parvum._pickles.by_reference import dumps as by_reference
from parvum._pickles.by_reference import dumps_by_value
from parvum.errors import Unpicklable

Pickled = tuple[bytes, list[pickle.PickleBuffer]]


def dumps(obj: Any) -> Pickled:
    """The pickle of an object, and the buffers that are not in the pickle."""
    buffers: list[pickle.PickleBuffer] = []
    try:
        return by_reference(obj, buffers.append), buffers
    except (pickle.PicklingError, AttributeError, TypeError, RecursionError) as error:
        try:
            cloudpickle: Any = importlib.import_module("cloudpickle")
        except ImportError:
            raise Unpicklable(explain(obj, error)) from error
        return _by_value(cloudpickle, obj, error)


def _by_value(cloudpickle: Any, obj: Any, before: BaseException) -> Pickled:
    buffers: list[pickle.PickleBuffer] = []
    try:
        return dumps_by_value(cloudpickle, obj, buffers.append), buffers
    except Exception:
        # The remedy does not suggest cloudpickle if it is installed.
        raise Unpicklable(explain(obj, before), remedy="leave that part out (__getstate__), or send what it is made of") from before


def loads(stream: Any, buffers: list[Any]) -> Any:
    """Restores an object from its pickle and its buffers."""
    return pickle.loads(stream, buffers=buffers)


def explain(obj: Any, error: BaseException) -> str:
    """Finds the part of an object that cannot be pickled, and the reason."""
    path, part, reason = _find(obj, error)
    kind = type(part).__qualname__
    where = f"{path} " if path else ""
    return f"{type(obj).__qualname__}: {where}({kind}) cannot be pickled: {reason}"


def _find(obj: Any, error: BaseException, depth: int = 20) -> tuple[str, Any, BaseException]:
    """The innermost part that cannot be pickled, and the path to it."""
    if depth:
        for step, part in _parts(obj):
            why = _fails(part)
            if why is not None:
                path, culprit, reason = _find(part, why, depth - 1)
                return step + path, culprit, reason
    return "", obj, error


def _fails(obj: Any) -> BaseException | None:
    try:
        by_reference(obj, lambda _: None)
    except Exception as error:
        return error
    return None


def _parts(obj: Any) -> list[tuple[str, Any]]:
    kind: type[Any] = obj.__class__
    if getattr(kind, "__parvum_whole__", False):
        # The object's own exception says why it cannot be sent.
        return []
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
