"""What callers hold of actors: a handle of one, or of a group. Both can be sent to other tasks."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Sequence
from typing import Any

from parvum import errors
from parvum.actors.client import ActorLost, Answer, client


class Method:
    """A method of an actor. Calling it sends a message and gives a future; `tell` waits for nothing and gives none."""

    __slots__ = ("_actor", "_name")

    def __init__(self, actor: int, name: str) -> None:
        self._actor = actor
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Answer:
        """Has the actor called; its answer as a future. Calls of one caller are served in their order."""
        return client().call(self._actor, self._name, args, kwargs)

    def tell(self, *args: Any, **kwargs: Any) -> None:
        """Has the actor called and answers nothing. What the call raises is logged where the actor is."""
        client().tell(self._actor, self._name, args, kwargs)


class Handle:
    """An actor, wherever it is: its methods are attributes. Equal handles are of the same actor.

    >>> counter.add(5).result()
    5
    """

    __slots__ = ("_kind", "_task")

    def __init__(self, task: int, kind: str) -> None:
        self._task = int(task)
        self._kind = kind

    def __getattr__(self, name: str) -> Method:
        if name.startswith("_"):
            raise AttributeError(name)
        return Method(self._task, name)

    def __reduce__(self) -> tuple[Any, ...]:
        return Handle, (self._task, self._kind)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Handle) and other._task == self._task

    def __hash__(self) -> int:
        return hash(self._task)

    def __repr__(self) -> str:
        return f"<actor {self._kind} t{self._task:x}>"


class ActorGroup:
    """Several actors, called together: a call goes to each, and its future's result is the list of theirs, in order."""

    __slots__ = ("_members",)

    def __init__(self, members: Sequence[Handle]) -> None:
        self._members = tuple(members)

    def __getattr__(self, name: str) -> GroupMethod:
        if name.startswith("_"):
            raise AttributeError(name)
        return GroupMethod(self._members, name)

    def __iter__(self) -> Iterator[Handle]:
        return iter(self._members)

    def __len__(self) -> int:
        return len(self._members)

    def __getitem__(self, place: int) -> Handle:
        return self._members[place]

    def __reduce__(self) -> tuple[Any, ...]:
        return ActorGroup, (self._members,)

    def __repr__(self) -> str:
        return f"<group of {', '.join(map(repr, self._members))}>"


class GroupMethod:
    """A method of each actor of a group."""

    __slots__ = ("_members", "_name")

    def __init__(self, members: tuple[Handle, ...], name: str) -> None:
        self._members = members
        self._name = name

    def __call__(self, *args: Any, **kwargs: Any) -> Answer:
        """Calls all. The future has the list of their results when the last has come, or what the first that failed raised."""
        return _gather([getattr(member, self._name)(*args, **kwargs) for member in self._members])

    def tell(self, *args: Any, **kwargs: Any) -> None:
        """Tells all, and waits for nothing. Members that are gone are left out."""
        for member in self._members:
            try:
                getattr(member, self._name).tell(*args, **kwargs)
            except ActorLost:
                continue


def _gather(answers: list[Answer]) -> Answer:
    import threading

    whole = Answer()
    whole.set_running_or_notify_cancel()
    left = len(answers)
    lock = threading.Lock()

    def over(_: object) -> None:
        nonlocal left
        with lock:
            left -= 1
            if left:
                return
        failed = [error for error in (answer.exception() for answer in answers) if error is not None]
        if failed:
            whole.set_exception(failed[0])
        else:
            whole.set_result([answer.result() for answer in answers])

    for answer in answers:
        answer.add_done_callback(over)
    if not answers:
        whole.set_result([])
    return whole


# --- What is done with actors and is no call of theirs ---


def find(name: str, timeout: float | None = 0) -> Handle:
    """The actor of that name, anywhere on the machine. Waits for it `timeout` seconds; None: as long as it takes.

    Raises `KeyError` (`parvum.errors.NoEntry`) when there is none.
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
    handle = Handle(*found)
    client().names[task_of(handle)] = name
    return handle


def stop(actor: Handle | ActorGroup, wait: bool = True, timeout: float | None = None) -> bool:
    """Has actors end after the calls that were sent before. `wait`: until they have; False when the time is over."""
    members = [actor] if isinstance(actor, Handle) else list(actor)
    ends = [client().end_of(task_of(member)) for member in members] if wait else []
    for member in members:
        client().stop(task_of(member))
    for end in ends:
        if not end.wait(timeout):
            return False
    return True


def kill(actor: Handle | ActorGroup) -> None:
    """Ends actors at once, in whatever they do. Their calls fail with `ActorLost`."""
    for member in [actor] if isinstance(actor, Handle) else list(actor):
        try:
            client().vm.kill(task_of(member), signal.SIGKILL)
        except errors.TaskGone:
            continue


def task_of(actor: Handle) -> int:
    """The id of an actor's task."""
    return actor._task  # pyright: ignore[reportPrivateUsage]
