"""What a pool and its workers say to each other: one byte that says what it is, then the rest.

```text
pool to worker    SETUP    pickle of Setup                   once, first
                  CALLS    pickle of [(number, bytes, references)]
                  STOP                                       after the last call
  (CONTROL)       ASK      count                             give back so many calls
                  DATA     key, then the buffer              keep this for the workers of your host
                  DROP     key                               nobody needs it any more
                  HALT     number                            stop that call: nobody wants its result
                  SPLIT    number                            send what that chunk has, give back what it has not begun
worker to worker  WANT     key                               where is it? answered by HELD
  (CONTROL)       HELD     key, path                         there
worker to pool    READY    pickle of Ready                   set up, and waiting for calls
                  VALUE    number, seconds, pickle           a call's result; large buffers follow
                  FAILED   number, seconds, pickle of Failure
                  STOPPED  number, seconds                   a call that was stopped; seconds below 0: it had not begun
                  PART     number, seconds, pickle of Part   results of a chunk that still runs
                  RETURNED pickle of [number]
                  UNFIT    pickle of Failure                 the initializer has failed
                  OUTPUT   "1" or "2" for the stream, and what was written
                  WANT     key                               who had it is gone
                  NUMPY    version                           the pool has loaded NumPy
pool to itself    WAKE                                       look at what has changed
                  GONE     whether its last words are here   a worker has ended
```
"""

from __future__ import annotations

import pickle
import struct
from typing import Any, Final, NamedTuple

SETUP, CALLS, NUMPY, STOP, ASK, DATA, DROP, WANT, HELD = b"S", b"C", b"N", b"X", b"A", b"D", b"F", b"W", b"H"
HALT, SPLIT = b"K", b"Y"
READY, VALUE, FAILED, RETURNED, UNFIT, OUTPUT, WAKE, GONE = b"R", b"V", b"E", b"B", b"I", b"O", b"Q", b"G"
STOPPED, PART = b"T", b"P"

RESULT: Final = struct.Struct("<cQd")
"""Head of VALUE, FAILED, STOPPED and PART: what, number, seconds."""

COUNT: Final = struct.Struct("<cQ")
"""ASK, DATA, DROP, WANT, HELD, HALT, SPLIT: what, and a count, key or number."""


class Reference(NamedTuple):
    """A large buffer that is not in the call itself: a worker reads it at `path`, or asks `holder` where it is."""

    key: int
    size: int
    path: str
    """Empty: ask."""
    holder: int


class Setup(NamedTuple):
    """What a worker is told first."""

    path: list[str]
    """Where modules are looked for: as in the pool's process."""
    initializer: bytes | None
    """A packed call."""
    numpy: str | None
    """The version that the pool's process has loaded."""
    log_level: int
    catch_output: bool
    grace: float
    """Seconds that a call has to end, when the pool's process is gone."""


class Part(NamedTuple):
    """Results of a chunk that still runs: from which item on, and how many items at its end were not begun and come back."""

    first: int
    results: list[Any]
    returned: int


class Ready(NamedTuple):
    """What a worker says when it can take calls."""

    python: tuple[int, ...]
    implementation: str
    host: str
    pid: int
    numpy: str | None
    """The version that `import numpy` gives, where that can be told without it."""


def say(what: bytes, thing: object) -> bytes:
    """A message that is a pickle."""
    return what + pickle.dumps(thing, 5)
