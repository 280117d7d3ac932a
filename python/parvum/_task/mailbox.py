"""The mailbox of the virtual machine, as a mapping."""

from __future__ import annotations

import queue
import threading
from collections.abc import MutableMapping
from typing import Any, Iterator, NamedTuple

from parvum import _parvum
from parvum._task.ids import TaskId
from parvum.errors import NoEntry, TimedOut

_PERSISTENT = 1
_MULTI = 2
_OVERWRITABLE = 4


class MailEntry(NamedTuple):
    """An entry of the mailbox, without its object. ``owner`` is None if the task that put it has ended."""

    name: str
    index: int  # pyright: ignore[reportIncompatibleMethodOverride]
    owner: TaskId | None
    persistent: bool


class Mailbox(MutableMapping[str, Any]):
    """A mapping from names to objects, which the virtual machine stores for all its tasks, like PVM's ``pvm_putinfo``.

    ``mailbox[name] = obj`` stores an entry. Any task may replace the entry, and it is deleted when this task ends.
    :meth:`put` has options. An entry has at most 4 MiB; send a larger object as a message.
    """

    def put(
        self, name: str, obj: Any, *, persistent: bool = False, overwritable: bool = True, beside: bool = False
    ) -> int:
        """Puts an object under a name, and returns its index.

        Args:
            persistent: the entry stays after this task has ended.
            overwritable: other tasks may replace and delete the entry.
            beside: the entry is added to other entries of the name, and does not replace them.
        """
        flags = _PERSISTENT * persistent | _OVERWRITABLE * overwritable | _MULTI * beside
        return _parvum.mail_put(name, obj, flags)

    def get(  # type: ignore[override]
        self,
        name: str,
        default: Any = None,
        *,
        index: int | None = None,
        wait: bool = False,
        timeout: float | None = None,
    ) -> Any:
        """Returns the object under a name: the oldest entry, or the entry at ``index``; ``default`` if there is none.

        With ``wait`` the call waits for an entry, at most ``timeout`` seconds (:class:`~parvum.errors.TimedOut`).
        """
        try:
            return _parvum.mail_get(name, index, False, False)[0]
        except NoEntry:
            if not wait:
                return default
        return _wait(name, index, timeout)

    def take(self, name: str, *, index: int | None = None) -> Any:
        """Returns ``mailbox[name]`` and deletes the entry. If several tasks call this, only one of them gets the entry."""
        return _parvum.mail_get(name, index, True, False)[0]

    def entries(self, name: str | None = None) -> list[MailEntry]:
        """All entries, or the entries of one name."""
        return [
            MailEntry(found, index, TaskId(owner) if owner else None, bool(flags & _PERSISTENT))
            for found, index, owner, flags in _parvum.mail_list()
            if name is None or found == name
        ]

    def __getitem__(self, name: str) -> Any:
        return _parvum.mail_get(name, None, False, False)[0]

    def __setitem__(self, name: str, obj: Any) -> None:
        self.put(name, obj)

    def __delitem__(self, name: str) -> None:
        indices = [entry.index for entry in self.entries(name)]
        if not indices:
            raise NoEntry(f"there is no mailbox entry {name!r}")
        for index in indices:
            _parvum.mail_remove(name, index)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(entry.name for entry in self.entries()))

    def __len__(self) -> int:
        return len({entry.name for entry in self.entries()})

    def __contains__(self, name: object) -> bool:
        return any(entry.name == name for entry in self.entries())

    def __repr__(self) -> str:
        return f"<parvum mailbox: {', '.join(self) or 'empty'}>"


def _wait(name: str, index: int | None, timeout: float | None) -> Any:
    """Sends the request from another thread, because the request cannot be cancelled if a signal ends the wait."""
    answers: queue.SimpleQueue[tuple[bool, Any]] = queue.SimpleQueue()

    def ask() -> None:
        try:
            answers.put((True, _parvum.mail_get(name, index, False, True)[0]))
        except BaseException as error:
            answers.put((False, error))

    threading.Thread(target=ask, name="parvum-mailbox", daemon=True).start()
    try:
        good, answer = answers.get(timeout=timeout)
    except queue.Empty:
        raise TimedOut(f"nobody has put {name!r} in time") from None
    if not good:
        raise answer
    return answer
