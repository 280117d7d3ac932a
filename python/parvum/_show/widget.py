"""A live view of the virtual machine: in one place of a notebook, or as plain text on a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from parvum import errors
from parvum._show.picture import Picture

Show = Callable[[Picture, str], None]


def status() -> Picture:
    """The hosts with their load and tasks, and this process's pools with their rates, at this moment.

    >>> print(parvum.status())  # doctest: +SKIP
    host  processors  load  tasks
    vm             2  0.10      3
    """
    return Picture()


class Widget:
    """A live view of hosts, tasks and rates. `Vm.widget` and `monitor` return it.

    In a notebook the view appears below a cell if it is the value of the last line or used in `with`. The notebook updates
    the view in place. Outside a notebook, `with` prints the view as text. On a terminal each snapshot replaces the previous
    snapshot; in a file the snapshots follow each other. The view ends when the block ends, after `close`, or when the
    virtual machine ends.

    `interval`: seconds between two snapshots, over which rates are measured (at least 0.1). `rows`: the number of tasks to show, the
    busiest first.
    """

    def __init__(self, interval: float = 1.0, rows: int = 16) -> None:
        if not interval > 0:
            raise ValueError(f"interval is {interval}; it must be more than 0")
        if rows < 1:
            raise ValueError(f"rows is {rows}; it must be 1 or more")
        self._interval = interval
        self._rows = rows
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self.picture: Picture | None = None
        """The last snapshot."""

    def __enter__(self) -> Widget:
        self._start(_notebook_display(self) or _terminal_display())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Ends the view; the last snapshot stays visible. A second call does nothing."""
        self._over.set()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()

    def __str__(self) -> str:
        return str(self.picture or Picture(max(0.1, min(self._interval, 1.0)), self._rows))

    def __repr__(self) -> str:
        return f"<parvum.Widget, every {self._interval} s{', closed' if self._over.is_set() else ''}>"

    def _ipython_display_(self) -> None:
        """Called by IPython to show the view."""
        show = _notebook_display(self)
        if show is None:
            # IPython in a terminal cannot change text above the present line.
            print(self)
        elif self._thread is None:
            self._start(show)

    def _start(self, show: Show) -> None:
        if self._thread is not None:
            raise RuntimeError("this widget is shown already; make another: vm.widget()")
        self._thread = threading.Thread(target=self._run, args=(show,), name="parvum-widget", daemon=True)
        self._thread.start()

    def _run(self, show: Show) -> None:
        while not self._over.is_set():
            began = time.monotonic()
            try:
                self.picture = Picture(self._interval, self._rows)
                show(self.picture, time.strftime("%H:%M:%S"))
            except errors.ParvumError:
                # The virtual machine ended before the widget.
                self._over.set()
            self._over.wait(max(0.0, self._interval - (time.monotonic() - began)))
        if self.picture is not None:
            show(self.picture, time.strftime("ended at %H:%M:%S"))


def monitor(interval: float = 1.0, rows: int = 16) -> Widget:
    """Shows hosts, tasks and rates while a block runs.

    >>> with parvum.monitor():  # doctest: +SKIP
    ...     results = list(parvum.map(work, items))
    """
    return Widget(interval, rows)


class _Shown:
    """The snapshot for a notebook, as HTML and as text."""

    def __init__(self, picture: Picture | None, note: str) -> None:
        self._picture = picture
        self._note = note

    def _repr_html_(self) -> str:
        return self._picture.html(self._note) if self._picture is not None else f"<i>{self._note}</i>"

    def __repr__(self) -> str:
        return f"{self._picture.headline()}, {self._note}\n\n{self._picture}" if self._picture is not None else self._note


def _notebook_display(widget: Widget) -> Show | None:
    module: Any = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display  # type: ignore[import-not-found]  # pyright: ignore

    handle: Any = display(_Shown(None, "looking at the machine"), display_id=True)  # pyright: ignore
    return lambda picture, note: handle.update(_Shown(picture, note))


def _terminal_display() -> Show:
    height = 0
    live = sys.stdout.isatty()

    def show(picture: Picture, note: str) -> None:
        nonlocal height
        text = f"{picture.headline()}, {note}\n\n{picture}\n"
        # Replaces the last snapshot: moves up its lines, and clears everything below.
        before = f"\x1b[{height}A\x1b[J" if live and height else ""
        height = text.count("\n")
        print(f"{before}{text}", end="" if live else "\n", flush=True)

    return show
