"""`@parvum.actor`: classes whose objects may live in tasks of their own."""

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
    """A class declared as an actor. Calling it makes an ordinary object here; `start` makes one in a task of its own."""

    def __init__(self, cls: type[T]) -> None:
        self.cls = cls
        self.__doc__ = cls.__doc__
        self.__name__ = cls.__name__
        self.__qualname__ = cls.__qualname__
        self.__module__ = cls.__module__
        self.__wrapped__ = cls

    def __call__(self, *args: Any, **kwargs: Any) -> T:
        """An object of the class, in this process."""
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
        """Makes an object in a task of its own and waits until it is there; a handle of it.

        `name`: under which `parvum.find` finds it, on the whole machine, as long as it lives. `host`: where; None:
        the machine decides. It ends with this process, unless `detached`: then with the machine, or `parvum.stop`.
        `output`: what it prints appears here, labelled.

        What the class raises is raised here. Raises `parvum.errors.Refused` for a name that is taken and a host
        that is not there, and `Unpicklable` for arguments that cannot be sent.
        """
        return self._start(1, name, host, detached, output, args, kwargs)[0]

    def start_group(
        self, count: int, *args: Any, host: str | None = None, detached: bool = False, output: bool = True, **kwargs: Any
    ) -> ActorGroup[T]:
        """Makes `count` objects, each in a task of its own, at the same time; a group of them."""
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
        # By its name where it has one that gives this object, else with its class.
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
    """A base of classes whose objects may live in tasks of their own: as `parvum.actor`, for who would rather inherit.

    mypy does not see what a decorator makes of a class. It sees these methods.

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
        """As `ActorClass.start`: makes an object in a task of its own and waits until it is there."""
        return ActorClass(cls).start(*args, name=name, host=host, detached=detached, output=output, **kwargs)

    @classmethod
    def start_group(
        cls, count: int, *args: Any, host: str | None = None, detached: bool = False, output: bool = True, **kwargs: Any
    ) -> ActorGroup[Self]:
        """As `ActorClass.start_group`: makes `count` objects, each in a task of its own."""
        return ActorClass(cls).start_group(count, *args, host=host, detached=detached, output=output, **kwargs)


def actor(cls: type[T]) -> ActorClass[T]:
    """Declares a class whose objects may live in tasks of their own, on any host, and be called by messages.

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

    An actor serves one call after the other, in its main thread. A method may give a `concurrent.futures.Future`,
    or be `async def`: then others are served until that has a result. Methods that begin with `_` are its own.
    """
    return ActorClass(cls)


def every(seconds: float) -> Callable[[F], F]:
    """A method that an actor calls by itself every so many seconds, between other calls."""
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

