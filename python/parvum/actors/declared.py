"""`@parvum.actor`: classes whose objects can run in separate tasks."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from parvum.actors import messages as m
from parvum.actors.client import client
from parvum.actors.handles import ActorGroup, Handle
from parvum.actors.runtime import EVERY
from parvum.pool.calls import in_one_piece, pack_call

if TYPE_CHECKING:
    from typing_extensions import Self

T = TypeVar("T")
F = TypeVar("F", bound=Callable[..., Any])


class ActorClass(Generic[T]):
    """A class declared as an actor. A call of the class makes an ordinary object in this process; `start` makes an object in a separate task."""

    def __init__(self, cls: type[T]) -> None:
        self.cls = cls
        self.__doc__ = cls.__doc__
        self.__name__ = cls.__name__
        self.__qualname__ = cls.__qualname__
        self.__module__ = cls.__module__
        self.__wrapped__ = cls

    def __call__(self, *args: Any, **kwargs: Any) -> T:
        """Makes an object of the class in this process."""
        return self.cls(*args, **kwargs)

    def start(
        self,
        *args: Any,
        name: str | None = None,
        host: str | None = None,
        detached: bool = False,
        output: bool = True,
        **kwargs: Any,
    ) -> Handle[T]:
        """Makes an object in a separate task, waits until it is ready, and returns a handle.

        `name`: `parvum.find` finds the actor by this name, anywhere in the virtual machine, until the actor ends.
        `host`: the actor's host; None: the virtual machine chooses. The actor ends when this process ends. A `detached`
        actor ends when the virtual machine ends, or by `parvum.stop`. `output`: this process prints the actor's output,
        with a label.

        If the constructor of the class raises an exception, `start` raises the same exception. Raises
        `parvum.errors.Refused` if another actor has the name or the host does not exist, and `Unpicklable` if
        arguments cannot be sent.
        """
        return self._start(1, name, host, detached, output, args, kwargs)[0]

    def start_group(
        self, count: int, *args: Any, host: str | None = None, detached: bool = False, output: bool = True, **kwargs: Any
    ) -> ActorGroup[T]:
        """Makes `count` objects at the same time, each in a separate task; returns their group."""
        if count < 1:
            raise ValueError(f"count is {count}; it must be 1 or more")
        return ActorGroup(self._start(count, None, host, detached, output, args, kwargs))

    def _start(
        self,
        count: int,
        name: str | None,
        host: str | None,
        detached: bool,
        output: bool,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
    ) -> list[Handle[T]]:
        made = in_one_piece(pack_call(_make, (self, args, kwargs), {}))
        paths = [place or os.getcwd() for place in sys.path]
        calls = client()
        package = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
        code = f"import sys; sys.path.insert(0, {package!r}); from parvum.actors.runtime import main; main()"
        tasks = [int(task) for task in calls.vm.spawn([sys.executable, "-c", code], count, host=host)]
        hosts = {int(info.id): info.name for info in calls.vm.hosts()}
        for task in tasks:
            calls.hosts[task] = hosts.get(task & ~((1 << 18) - 1), "?")
        if name is not None:
            calls.names[tasks[0]] = name
        answers = calls.start(tasks, m.Setup(paths, made.data, name, detached, output))
        for answer in answers:
            error = answer.exception()
            if error is not None:
                raise error
        return [Handle(task, self.__qualname__) for task in tasks]

    def __reduce__(self) -> Any:
        # Pickled by name if the name leads to this object, otherwise with its class.
        module = sys.modules.get(self.__module__)
        found: Any = module
        for part in self.__qualname__.split("."):
            found = getattr(found, part, None)
        if found is self and self.__module__ != "__main__":
            return _named, (self.__module__, self.__qualname__)
        return ActorClass, (self.cls,)

    def __repr__(self) -> str:
        return f"<actor class {self.__qualname__}>"


class Actor:
    """A base class for actors: the same as the decorator `parvum.actor`, by inheritance.

    mypy does not see the methods that a decorator adds to a class. It sees the methods of a base class.

    >>> class Summer(parvum.Actor):
    ...     def add(self, a: int, b: int) -> int:
    ...         return a + b
    >>> summer = Summer.start()
    >>> summer.call(Summer.add, 2, 3).result()
    5
    >>> parvum.stop(summer)
    True
    """

    @classmethod
    def start(
        cls,
        *args: Any,
        name: str | None = None,
        host: str | None = None,
        detached: bool = False,
        output: bool = True,
        **kwargs: Any,
    ) -> Handle[Self]:
        """As `ActorClass.start`: makes an object in a separate task and waits until it is ready."""
        return ActorClass(cls).start(*args, name=name, host=host, detached=detached, output=output, **kwargs)

    @classmethod
    def start_group(
        cls, count: int, *args: Any, host: str | None = None, detached: bool = False, output: bool = True, **kwargs: Any
    ) -> ActorGroup[Self]:
        """As `ActorClass.start_group`: makes `count` objects, each in a separate task."""
        return ActorClass(cls).start_group(count, *args, host=host, detached=detached, output=output, **kwargs)


def actor(cls: type[T]) -> ActorClass[T]:
    """Declares a class whose objects can run in separate tasks, on any host; other tasks call their methods by messages.

    >>> @parvum.actor
    ... class Counter:
    ...     def __init__(self, start=0):
    ...         self.value = start
    ...     def add(self, n):
    ...         self.value += n
    ...         return self.value
    >>> counter = Counter.start(10, name="counter")
    >>> counter.add(5).result()
    15
    >>> parvum.find("counter").add.tell(1)

    An actor runs one call after the other, in its main thread. A method may return a `concurrent.futures.Future`, or
    be `async def`: the actor then runs other calls until the result exists. Methods that begin with `_` are private.
    """
    return ActorClass(cls)


def every(seconds: float) -> Callable[[F], F]:
    """Declares a method that the actor calls every `seconds` seconds, between other calls."""
    if not seconds > 0:
        raise ValueError(f"seconds is {seconds}; it must be more than 0")

    def mark(function: F) -> F:
        setattr(function, EVERY, seconds)
        return function

    return mark


def _make(declared: ActorClass[Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> object:
    return declared.cls(*args, **kwargs)


def _named(module: str, name: str) -> Any:
    import importlib

    found: Any = importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found

