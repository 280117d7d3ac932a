"""What actors and their callers say to each other, in a channel of their own.

```text
creator to actor   SETUP    pickle of Setup
caller to actor    CALL     number, pickle of (method, args, kwargs); large buffers follow; DIRECT numbers
                            are answered on a tag of their own, which the calling thread receives itself
                   TELL     the same; nothing is answered
                   STOP                                     after the calls before it
  (CONTROL)        HALT     number                          stop that call: nobody wants its answer
actor to caller    VALUE    number, 0, pickle; large buffers follow
                   FAILED   number, 0, pickle of Failure
actor to creator   READY    pickle of the class's name
                   UNFIT    pickle of Failure
                   OUTPUT   number, "1" or "2" for the stream, and what was written
caller to itself   WAKE     look at what has changed
```
"""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

CHANNEL: Final = 60_001
CALLS: Final = 1
REPLIES: Final = 2
CONTROL: Final = 3

DIRECT: Final = 1 << 63
DIRECT_TAGS: Final = 16
"""The tag of the answer to a DIRECT number is that number above this."""

SETUP, CALL, TELL, STOP, HALT = b"S", b"C", b"T", b"X", b"K"
VALUE, FAILED, READY, UNFIT, OUTPUT, WAKE = b"V", b"E", b"R", b"I", b"O", b"Q"

HEAD: Final = struct.Struct("<cQ")


class Setup(NamedTuple):
    """What an actor's process is told first."""

    path: list[str]
    made: bytes
    """A packed call that makes the object."""
    name: str | None
    detached: bool
    catch_output: bool
