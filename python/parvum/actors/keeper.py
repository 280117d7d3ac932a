"""The actor that stores queues, events, barriers and locks. The virtual machine has one such actor; the first use starts it.

The actor ends when it stores nothing and all tasks that used it have ended.
"""

from __future__ import annotations

from concurrent.futures import Future
from typing import Any, Final

from parvum.actors.declared import actor
from parvum.actors.places import Answer, Places, Ticket
from parvum.actors.runtime import caller, finish, watch

NAME: Final = "parvum.places"


@actor
class Keeper:
    """The state machine `Places` as an actor: a call that must wait returns a future."""

    def __init__(self) -> None:
        self.places = Places()
        self.futures: dict[Ticket, Future[Any]] = {}
        self.users: set[int] = set()

    def wait(self, what: str, number: int, *args: Any) -> Any:
        """Runs an operation that may wait: the method `what` of `Places`, with the caller's ticket number."""
        ticket = Ticket(self._user(), number)
        getattr(self.places, what)(*args, ticket)
        own: Answer | None = None
        for answer in self.places.take():
            if answer.ticket == ticket:
                own = answer
            else:
                self._give(answer)
        if own is None:
            future = self.futures[ticket] = Future()
            return future
        if own.error is not None:
            raise _error(own.error)
        return own.value

    def now(self, what: str, *args: Any) -> Any:
        """Runs an operation that does not wait."""
        self._user()
        result = getattr(self.places, what)(*args)
        self._answer()
        return result

    def release(self, name: str) -> bool:
        """Gives the caller's lock to the next task."""
        held = self.places.release(name, self._user())
        self._answer()
        return held

    def give_up(self, number: int) -> bool:
        """Cancels the caller's wait; False: the answer to the caller has already been sent."""
        ticket = Ticket(caller(), number)
        given_up = self.places.give_up(ticket)
        if given_up and (future := self.futures.pop(ticket, None)) is not None:
            # The caller gets an answer in any case: no call stays open.
            future.set_result(None)
        self._answer()
        return given_up

    def undo(self, what: str, number: int, name: str, value: Any) -> None:
        """Undoes an operation; its caller was interrupted before the caller received the answer."""
        self.places.undo(what, name, Ticket(caller(), number), value)
        self._answer()

    def _user(self) -> int:
        task = caller()
        if task not in self.users:
            self.users.add(task)
            watch(task, self._gone)
        return task

    def _gone(self, task: int) -> None:
        self.users.discard(task)
        self.futures = {ticket: future for ticket, future in self.futures.items() if ticket.task != task}
        self.places.gone(task)
        self._answer()
        if not self.users and self.places.is_empty:
            finish()

    def _answer(self) -> None:
        for answer in self.places.take():
            self._give(answer)

    def _give(self, answer: Answer) -> None:
        future = self.futures.pop(answer.ticket, None)
        if future is None:
            return
        if answer.error is None:
            future.set_result(answer.value)
        else:
            future.set_exception(_error(answer.error))


def _error(error: tuple[str, str]) -> Exception:
    import threading

    kind, text = error
    return ValueError(text) if kind == "ValueError" else threading.BrokenBarrierError(text)
