"""When running calls must end, and how: a state machine without messages or clocks.

A call that must end gets `KeyboardInterrupt` from its worker. If the call still runs after `grace` seconds, the
worker's process gets SIGTERM, and after `grace` more seconds SIGKILL. This module also handles time limits and the
splits of long chunks. Each of these is a step: an action for the call of one worker at a given time. The owner of
this object supplies the current time, and does the steps.
"""

from __future__ import annotations

from typing import Final, NamedTuple

GRACE: Final = 0.4
"""Seconds from KeyboardInterrupt to SIGTERM, and from SIGTERM to SIGKILL: all three happen within one second."""

SPLIT_AFTER: Final = 0.02
"""Seconds after which a chunk of a map sends its results and gives back its unbegun items."""

LIMIT, SPLIT, TERM, KILL = "limit", "split", "term", "kill"


class Step(NamedTuple):
    """An action whose time has come: `what` is the action for the call with this number, if the worker still runs this call."""

    worker: int
    number: int
    what: str


class Stops:
    """The steps of one pool.

    >>> stops = Stops(grace=2)
    >>> stops.runs(worker=1, number=7, now=100, limit=5, splits=False)
    >>> stops.due(104), stops.due(105)
    ([], [Step(worker=1, number=7, what='limit')])
    >>> stops.stop(worker=1, number=7, now=105)
    >>> stops.next, stops.due(107), stops.due(109)
    (107, [Step(worker=1, number=7, what='term')], [Step(worker=1, number=7, what='kill')])
    """

    def __init__(self, grace: float = GRACE) -> None:
        self.grace = grace
        self._due: dict[int, list[tuple[float, int, str]]] = {}

    def __bool__(self) -> bool:
        return bool(self._due)

    @property
    def next(self) -> float | None:
        """The time of the next step, or None."""
        return min((when for steps in self._due.values() for when, _, _ in steps), default=None)

    def runs(self, worker: int, number: int, now: float, limit: float | None, splits: bool) -> None:
        """Records that a worker begins a call, and removes the steps of its previous call."""
        steps: list[tuple[float, int, str]] = []
        if limit is not None:
            steps.append((now + limit, number, LIMIT))
        if splits:
            steps.append((now + SPLIT_AFTER, number, SPLIT))
        self._set(worker, steps)

    def stop(self, worker: int, number: int, now: float) -> None:
        """Records that the running call of a worker was asked to end."""
        self._set(worker, [(now + self.grace, number, TERM), (now + 2 * self.grace, number, KILL)])

    def ended(self, worker: int) -> None:
        """Records that a worker runs no call, or has ended."""
        self._due.pop(worker, None)

    def due(self, now: float) -> list[Step]:
        """Returns the steps whose time has come, in order. Each step is returned only once."""
        found: list[tuple[float, Step]] = []
        for worker, steps in list(self._due.items()):
            found += [(when, Step(worker, number, what)) for when, number, what in steps if when <= now]
            self._set(worker, [step for step in steps if step[0] > now])
        return [step for _, step in sorted(found)]

    def _set(self, worker: int, steps: list[tuple[float, int, str]]) -> None:
        if steps:
            self._due[worker] = steps
        else:
            self._due.pop(worker, None)
