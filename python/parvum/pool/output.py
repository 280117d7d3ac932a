"""What calls write, sent to where the pool is: line by line, labelled there with the worker it is from.

The descriptors 1 and 2 of a worker are pipes that the native module reads. So what C code, `os.system` and other
programs write in a call comes too, and in its order.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

_settle: Callable[[], None] | None = None


class _Stream(io.TextIOWrapper):
    """Python's standard output or error. Who writes to the other stream first has that sent: both keep their order."""

    last: _Stream | None = None

    def write(self, text: str, /) -> int:
        """As of any text stream."""
        if _Stream.last is not self:
            if _Stream.last is not None:
                settle()
            _Stream.last = self
        return super().write(text)


def catch(task: int, tag: int, context: int, head: bytes) -> None:
    """From here on what this process and its children write goes to a task."""
    global _settle
    from parvum import _parvum

    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.flush()
    _parvum.catch_output(task, tag, context, head)
    sys.stdout = _open(1, "strict")
    sys.stderr = _open(2, "backslashreplace")
    _settle = _parvum.settle


def _open(descriptor: int, problems: str) -> _Stream:
    raw = io.FileIO(descriptor, "w", closefd=False)
    return _Stream(io.BufferedWriter(raw), "utf-8", "surrogateescape" if problems == "strict" else problems, line_buffering=True)


def settle() -> None:
    """Sends what was written so far, also half a line."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            # Somebody has put another one there, or none.
            pass
    if _settle is not None:
        _settle()


Printer = Callable[[int, str, str, str], None]
"""Shows what a call has printed: the worker's task, its host, "stdout" or "stderr", and the text."""


def read_output(data: bytes | memoryview) -> tuple[str, str]:
    """What a message of output says: "stdout" or "stderr", and the text."""
    said = bytes(data)
    return "stdout" if said[:1] == b"1" else "stderr", said[1:].decode("utf-8", "replace")


def show_labelled(task: int, host: str, stream: str, text: str) -> None:
    """Prints each line with the worker and the host it is from."""
    out = sys.stdout if stream == "stdout" else sys.stderr
    label = f"[{name_of(task)} {host}] "
    ended = text.endswith("\n")
    lines = (text[:-1] if ended else text).split("\n")
    out.write("".join(f"{label}{line}\n" for line in lines))
    out.flush()


def name_of(task: int) -> str:
    """A task's id as the machine prints it."""
    return f"t{task:x}"
