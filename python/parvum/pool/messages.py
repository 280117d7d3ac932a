"""The messages between a pool and its workers: one byte for the kind, then the rest.

```text
pool to worker    SETUP    pickle of Setup                   once, first
                  CALLS    pickle of [(number, bytes, references)]
                  STOP                                       after the last call
  (CONTROL)       ASK      count                             give back this many calls
                  DATA     key, then the buffer              hold this for the workers of your host
                  DROP     key                               this buffer is no longer needed
                  HALT     number                            stop this call: its result is no longer wanted
                  SPLIT    number                            send the chunk's results, give back its remaining items
worker to worker  WANT     key                               ask for the place; the answer is HELD
  (CONTROL)       HELD     key, path                         the place
worker to pool    READY    pickle of Ready                   set up, and waiting for calls
                  VALUE    number, seconds, pickle           a call's result; large buffers follow
                  FAILED   number, seconds, pickle of Failure
                  STOPPED  number, seconds                   a call that was stopped; seconds below 0: it had not begun
                  PART     number, seconds, pickle of Part   results of a chunk that still runs
                  RETURNED pickle of [number]
                  UNFIT    pickle of Failure                 the initializer has failed
                  OUTPUT   "1" or "2" for the stream, and the output
                  WANT     key                               the holder is gone
                  NUMPY    version                           the pool has loaded NumPy
pool to itself    WAKE                                       check for changes
                  GONE     whether its last messages are here    a worker has ended
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
"""The first fields of VALUE, FAILED, STOPPED and PART: kind, number, seconds."""

COUNT: Final = struct.Struct("<cQ")
"""The first fields of ASK, DATA, DROP, WANT, HELD, HALT and SPLIT: kind, then a count, a key or a number."""


class Reference(NamedTuple):
    """A large buffer that is not in the pickle of the call: a worker maps the buffer from `path`, or asks `holder` for the path."""

    key: int
    size: int
    path: str
    """If this is empty, the worker asks the holder."""
    holder: int


class Setup(NamedTuple):
    """The first message to a worker."""

    path: list[str]
    """The search path for modules, as in the pool's process."""
    initializer: bytes | None
    """A packed call."""
    numpy: str | None
    """The NumPy version that the pool's process has loaded."""
    log_level: int
    catch_output: bool
    grace: float
    """The number of seconds in which a call must end after the pool's process has ended."""


class Part(NamedTuple):
    """Results of a chunk that still runs: the number of the first item, and how many of the last items the worker gives back."""

    first: int
    results: list[Any]
    returned: int


class Ready(NamedTuple):
    """A worker's message that it is ready for calls."""

    python: tuple[int, ...]
    implementation: str
    host: str
    pid: int
    numpy: str | None
    """The NumPy version that `import numpy` would load, if the worker can find the version without the import."""


def say(what: bytes, thing: object) -> bytes:
    """A message that is a pickle."""
    return what + pickle.dumps(thing, 5)
