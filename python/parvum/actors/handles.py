"""Handles of actors and of groups of actors. Handles can be sent to other tasks."""

from __future__ import annotations

import signal
from collections.abc import Callable, Coroutine, Iterator, Sequence
from concurrent.futures import CancelledError, Future
from typing import Any, Concatenate, Generic, ParamSpec, TypeVar, overload

from parvum import errors
from parvum.actors.client import ActorLost, Answer, client


T = TypeVar("T")
R = TypeVar("R")
P = ParamSpec("P")


class Method:
    """A method of an actor. A call sends a message and returns a future; `tell` sends a message and returns nothing."""

    __slots__ = ("_actor", "_name")

    def __init__(self, actor: int, name: str) -> None:
        self._actor = actor
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Answer[Any]:
        """Calls the method; returns the answer as a future. Calls of one caller run in order."""
        return client().call(self._actor, self._name, args, kwargs)

    def tell(self, *args: Any, **kwargs: Any) -> None:
        """Calls the method without an answer. If the call raises an exception, the actor logs it."""
        client().tell(self._actor, self._name, args, kwargs)


class Handle(Generic[T]):
    """A handle of an actor on any host. The methods of the actor are attributes of the handle. Handles are equal if they are for the same actor.

    >>> counter.add(5).result()
    5

    Type checkers do not know the type of such a result, but they know the type of `call`. If `Counter.add` returns
    an `int`, `counter.call(Counter.add, 5)` is an `Answer[int]`.
    """

    __slots__ = ("_kind", "_task")

    def __init__(self, task: int, kind: str) -> None:
        self._task = int(task)
        self._kind = kind

    def __getattr__(self, name: str) -> Method:
        if name.startswith("_"):
            raise AttributeError(name)
        return Method(self._task, name)

    @overload
    def call(self, method: Callable[Concatenate[T, P], Coroutine[Any, Any, R]], *args: P.args, **kwargs: P.kwargs) -> Answer[R]: ...
    @overload
    def call(self, method: Callable[Concatenate[T, P], Future[R]], *args: P.args, **kwargs: P.kwargs) -> Answer[R]: ...
    @overload
    def call(self, method: Callable[Concatenate[T, P], R], *args: P.args, **kwargs: P.kwargs) -> Answer[R]: ...
    def call(self, method: Callable[..., Any], *args: Any, **kwargs: Any) -> Answer[Any]:
        """Calls a method of the actor's class; returns the answer as a future with the method's result type."""
        return client().call(self._task, method.__name__, args, kwargs)

    def __reduce__(self) -> tuple[Any, ...]:
        return Handle, (self._task, self._kind)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Handle) and task_of(other) == self._task  # pyright: ignore[reportUnknownArgumentType]

    def __hash__(self) -> int:
        return hash(self._task)

    def __repr__(self) -> str:
        return f"<actor {self._kind} t{self._task:x}>"


class ActorGroup(Generic[T]):
    """Several actors that are called together: a call goes to each actor, and the future of the call gets the list of results, in order."""

    __slots__ = ("_members",)

    def __init__(self, members: Sequence[Handle[T]]) -> None:
        self._members = tuple(members)

    def __getattr__(self, name: str) -> GroupMethod:
        if name.startswith("_"):
            raise AttributeError(name)
        return GroupMethod(self._members, name)

    def __iter__(self) -> Iterator[Handle[T]]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, place: int) -> Handle[T]:
        return self._members[place]

    def __reduce__(self) -> tuple[Any, ...]:
        return ActorGroup, (self._members,)

    def __repr__(self) -> str:
        return f"<group of {', '.join(map(repr, self._members))}>"


class GroupMethod:
    """A method of each actor of a group."""

    __slots__ = ("_members", "_name")

    def __init__(self, members: tuple[Handle[Any], ...], name: str) -> None:
        self._members = members
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Answer[list[Any]]:
        """Calls all actors. The future gets the list of results when the last result has arrived, or the first exception of a call."""
        return _gather([getattr(member, self._name)(*args, **kwargs) for member in self._members])

    def tell(self, *args: Any, **kwargs: Any) -> None:
        """Sends a one-way call to all actors that still exist."""
        for member in self._members:
            try:
                getattr(member, self._name).tell(*args, **kwargs)
            except ActorLost:
                continue


def _gather(answers: list[Answer[Any]]) -> Answer[list[Any]]:
    import threading

    whole: Answer[list[Any]] = Answer()
    whole.set_running_or_notify_cancel()
    left = len(answers)
    lock = threading.Lock()

    def over(_: object) -> None:
        nonlocal left
        with lock:
            left -= 1
            if left:
                return
        if whole.cancelled():
            return
        cancelled = [CancelledError() for answer in answers if answer.cancelled()]
        failed = [*cancelled, *(error for answer in answers if not answer.cancelled() and (error := answer.exception()) is not None)]
        if failed:
            whole.set_exception(failed[0])
        else:
            whole.set_result([answer.result() for answer in answers])

    def stop() -> bool:
        return any([answer.cancel() for answer in answers if not answer.done()])

    whole.stop = stop
    for answer in answers:
        answer.add_done_callback(over)
    if not answers:
        whole.set_result([])
    return whole


# --- Functions on actors ---


def find(name: str, timeout: float | None = 0) -> Handle[Any]:
    """Returns the actor with this name, anywhere in the virtual machine. If there is none, waits at most `timeout` seconds; None: no limit.

    Raises `KeyError` (`parvum.errors.NoEntry`) if there is still no such actor.
    """
    box = client().vm.mailbox
    key = f"actor:{name}"
    if timeout == 0:
        found = box.get(key)
    else:
        try:
            found = box.get(key, wait=True, timeout=timeout)
        except errors.TimedOut:
            found = None
    if found is None:
        raise errors.NoEntry(f"there is no actor of the name {name!r}")
    handle: Handle[Any] = Handle(*found)
    client().names[task_of(handle)] = name
    return handle


def stop(actor: Handle[Any] | ActorGroup[Any], wait: bool = True, timeout: float | None = None) -> bool:
    """Ends actors after all calls that were already sent. `wait`: waits until the actors have ended. Returns False if the timeout passes first."""
    members = [actor] if isinstance(actor, Handle) else list(actor)
    ends = [client().end_of(task_of(member)) for member in members] if wait else []
    for member in members:
        client().stop(task_of(member))
    for end in ends:
        if not end.wait(timeout):
            return False
    return True


def kill(actor: Handle[Any] | ActorGroup[Any]) -> None:
    """Ends actors immediately, even during a call. Their calls fail with `ActorLost`."""
    for member in [actor] if isinstance(actor, Handle) else list(actor):
        try:
            client().vm.kill(task_of(member), signal.SIGKILL)
        except errors.TaskGone:
            continue


def task_of(actor: Handle[Any]) -> int:
    """The id of an actor's task."""
    return actor._task  # pyright: ignore[reportPrivateUsage]
