"""The messages between actors and their callers, on a separate channel.

```text
creator to actor   SETUP    pickle of Setup
caller to actor    CALL     number, pickle of (method, args, kwargs); large buffers follow; DIRECT numbers
                            are answered with a separate tag, which the calling thread receives itself
                   TELL     the same, without an answer
                   STOP                                     after the earlier calls
  (CONTROL)        HALT     number                          stop this call: its answer is no longer wanted
actor to caller    VALUE    number, 0, pickle; large buffers follow
                   FAILED   number, 0, pickle of Failure
actor to creator   READY    pickle of the class's name
                   UNFIT    pickle of Failure
                   OUTPUT   number, "1" or "2" for the stream, and the output
caller to itself   WAKE     check for changes
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
"""The answer to a call with a DIRECT number has the number plus this constant as its tag."""

SETUP, CALL, TELL, STOP, HALT = b"S", b"C", b"T", b"X", b"K"
VALUE, FAILED, READY, UNFIT, OUTPUT, WAKE = b"V", b"E", b"R", b"I", b"O", b"Q"

HEAD: Final = struct.Struct("<cQ")


class Setup(NamedTuple):
    """The first message to an actor's process."""

    path: list[str]
    made: bytes
    """A packed call that creates the actor's object."""
    name: str | None
    detached: bool
    catch_output: bool
