"""What calls print, sent to where the pool is: line by line, labelled there with the worker it is from."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable

class Sent(io.TextIOBase):
    """A text stream whose lines go to somebody else. Half a line waits for its end, or for `flush`."""

    def __init__(self, say: Callable[[str, str], None], name: str) -> None:
        self._say = say
        self._name = name
        self._half = ""

    encoding = "utf-8"
    """Text is sent as it is."""

    def writable(self) -> bool:
        """Yes."""
        return True

    def write(self, text: str, /) -> int:
        """Sends whole lines; gives the number of characters."""
        whole, newline, rest = (self._half + text).rpartition("\n")
        self._half = rest
        if newline:
            self._say(self._name, whole + newline)
        return len(text)

    def flush(self) -> None:
        """Sends what there is."""
        if self._half:
            half, self._half = self._half, ""
            self._say(self._name, half)


def catch(say: Callable[[str, str], None]) -> None:
    """From here on what Python code prints in this process goes to `say`, with the name of its stream."""
    sys.stdout = Sent(say, "stdout")
    sys.stderr = Sent(say, "stderr")


Printer = Callable[[int, str, str, str], None]
"""Shows what a call has printed: the worker's task, its host, "stdout" or "stderr", and the text."""


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
