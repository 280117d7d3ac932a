"""Output of calls: workers send it to the pool's process line by line, and that process prints it with the name of the worker.

The descriptors 1 and 2 of a worker are pipes, which the native module reads. Output of C code, `os.system` and other
programs during a call is therefore included, in its order.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

_settle: Callable[[], None] | None = None


class _Stream(io.TextIOWrapper):
    """Python's standard output or error. A write to one stream first sends the data of the other stream, so that all output stays in order."""

    last: _Stream | None = None

    def write(self, text: str, /) -> int:
        """Like `write` of any text stream."""
        if _Stream.last is not self:
            if _Stream.last is not None:
                settle()
            _Stream.last = self
        return super().write(text)


def catch(task: int, tag: int, context: int, head: bytes) -> None:
    """Makes this process and its children send their output to a task from now on."""
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
    """Sends the output so far, including an incomplete line."""
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):
            # The program has replaced or removed the stream.
            pass
    if _settle is not None:
        _settle()


Printer = Callable[[int, str, str, str], None]
"""Shows the output of a call: the worker's task, its host, "stdout" or "stderr", and the text."""


def read_output(data: bytes | memoryview) -> tuple[str, str]:
    """Decodes a message of output: "stdout" or "stderr", and the text."""
    said = bytes(data)
    return "stdout" if said[:1] == b"1" else "stderr", said[1:].decode("utf-8", "replace")


def show_labelled(task: int, host: str, stream: str, text: str) -> None:
    """Prints each line with its worker and host."""
    out = sys.stdout if stream == "stdout" else sys.stderr
    label = f"[{name_of(task)} {host}] "
    ended = text.endswith("\n")
    lines = (text[:-1] if ended else text).split("\n")
    out.write("".join(f"{label}{line}\n" for line in lines))
    out.flush()


def name_of(task: int) -> str:
    """A task's id as Parvum prints it."""
    return f"t{task:x}"
