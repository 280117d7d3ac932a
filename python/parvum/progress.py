"""Progress of `map`: tqdm's bar if tqdm is installed, otherwise a plain line on the terminal."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from typing import Any, Protocol, TextIO


class Bar(Protocol):
    """The methods of a bar; `tqdm.tqdm` has them."""

    def update(self, n: int = 1) -> Any:
        """Counts `n` more items as done."""
        ...

    def close(self) -> None:
        """Ends the bar: no more items come."""
        ...


class PlainBar:
    """One line with the number of completed items, their rate, and the remaining time.

    On a terminal the line is redrawn at most ten times a second; in a file it is written once, at the end.
    """

    def __init__(self, total: int | None, description: str = "", out: TextIO | None = None) -> None:
        self.total = total
        self.description = description
        self.done = 0
        self._out = out or sys.stderr
        self._begun = self._drawn = time.monotonic()
        self._live = self._out.isatty()

    def update(self, n: int = 1) -> None:
        """Counts `n` more items as done."""
        self.done += n
        now = time.monotonic()
        if self._live and now - self._drawn >= 0.1:
            self._drawn = now
            self._out.write(f"\r{self.line(now - self._begun)}\x1b[K")
            self._out.flush()

    def close(self) -> None:
        """Ends the bar; the line stays."""
        line = self.line(time.monotonic() - self._begun)
        self._out.write(f"\r{line}\x1b[K\n" if self._live else f"{line}\n")
        self._out.flush()

    def line(self, seconds: float) -> str:
        """The line after this many seconds.

        >>> bar = PlainBar(200, "fit")
        >>> bar.done = 50
        >>> bar.line(10.0)
        'fit: [#####---------------] 50/200, 5.0/s, 30 s left'
        """
        rate = self.done / seconds if seconds > 0 else 0.0
        head = f"{self.description}: " if self.description else ""
        if not self.total:
            return f"{head}{self.done}, {rate:.1f}/s"
        filled = 20 * min(self.done, self.total) // self.total
        left = f", {(self.total - self.done) / rate:.0f} s left" if rate and self.done < self.total else ""
        return f"{head}[{'#' * filled}{'-' * (20 - filled)}] {self.done}/{self.total}, {rate:.1f}/s{left}"


def make_bar(progress: bool | str | Callable[..., Bar], total: int | None) -> Bar:
    """The bar for `progress`: True, a description, or a class like `tqdm.tqdm` that is called with `total=`."""
    if callable(progress):
        return progress(total=total)
    description = progress if isinstance(progress, str) else ""
    try:
        from tqdm.auto import tqdm  # type: ignore[import-untyped]  # pyright: ignore
    except ImportError:
        return PlainBar(total, description)
    return tqdm(total=total, desc=description or None)  # type: ignore[no-any-return]  # pyright: ignore
