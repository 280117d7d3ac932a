"""`with parvum.machine(hosts=[...]) as vm:`: a machine for one block, and what is to be seen of a machine."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import parvum
from parvum import errors


class machine:  # noqa: N801
    """A machine for the time of a block: started if there is none, with these hosts added.

    At the end pools are shut down (what was submitted is done first), and the machine is stopped, if it was
    started here; else the hosts that were added here leave it again.

    `hosts`: names as `vm.add_host` takes them. Hosts that are there already are left as they are. Raises
    `parvum.errors.Refused` for one that cannot be added, and nothing is left started then.

    >>> with parvum.machine() as vm, parvum.Executor(2) as pool:
    ...     print(sum(pool.map(abs, range(-10, 0))))
    55
    """

    def __init__(self, hosts: Sequence[str] = ()) -> None:
        if isinstance(hosts, str):
            raise TypeError(f"hosts is the text {hosts!r}; it must be a list of names")
        self._hosts = list(hosts)
        self._added: list[str] = []
        self._was_there = False
        self._vm: parvum.Vm | None = None

    def __enter__(self) -> parvum.Vm:
        self._was_there = is_running()
        self._vm = vm = parvum.enrol()
        try:
            for name in self._hosts:
                if name not in {host.name for host in vm.hosts()}:
                    vm.add_host(name)
                    self._added.append(name)
        except errors.ParvumError:
            self._end(vm)
            raise
        return vm

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        assert self._vm is not None
        self._end(self._vm)

    def _end(self, vm: parvum.Vm) -> None:
        for name in ("parvum.executor", "parvum.actors.client"):
            # What was never used has nothing to end.
            if (module := sys.modules.get(name)) is not None:
                module.close_all()
        if not self._was_there:
            vm.halt()
            return
        for name in self._added:
            try:
                vm.remove_host(name)
            except errors.ParvumError:
                # It has left already.
                continue


def is_running() -> bool:
    """Is there a machine that `parvum.enrol` would join?"""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(os.path.join(directory(), "daemon.sock"))
        except OSError:
            return False
    return True


def stop_machine() -> None:
    """Stops the machine of this user, and returns when it is down. Raises `parvum.errors.Refused` with what the command said."""
    own = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "parvum")
    command = os.environ.get("PARVUM_BIN") or (own if os.path.exists(own) else "parvum")
    if os.path.isdir(command):
        command = os.path.join(command, "parvum")
    try:
        done = subprocess.run([command, "down"], capture_output=True, text=True, check=False)
    except OSError as error:
        raise errors.Refused(f"the command {command} cannot be run: {error}") from error
    if done.returncode != 0 and is_running():
        raise errors.Refused(f"`{command} down` failed: {done.stderr.strip()}")


def directory() -> str:
    """Where the machine of this user lives: `PARVUM_DIR`, or what docs/options.md says."""
    if own := os.environ.get("PARVUM_DIR"):
        return own
    name = "".join(c for c in os.environ.get("PVM_VMID", "") if c.isascii() and (c.isalnum() or c in "._-"))
    suffix = f"-{name}" if name else ""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and os.path.isdir(runtime):
        return os.path.join(runtime, f"parvum{suffix}")
    return f"/tmp/parvum-{os.geteuid()}{suffix}"


# --- What is to be seen ---


class Picture:
    """The machine at one moment: hosts, tasks, pools. As text by `str`, as a table in a notebook."""

    def __init__(self) -> None:
        vm = parvum.enrol()
        loads = vm.loads()
        tasks = vm.tasks()
        self.hosts = [
            (host.name, host.cpus, loads.get(host.id, 0.0), sum(task.host == host.id for task in tasks))
            for host in vm.hosts()
        ]
        self.tasks = len(tasks)
        self.pools = [(len(pool.schedule.workers), pool.schedule.unfinished, pool.done, pool.rate()) for pool in _pools()]

    def _rows(self) -> tuple[list[tuple[str, ...]], list[tuple[str, ...]]]:
        hosts: list[tuple[str, ...]] = [("host", "processors", "load", "tasks")]
        hosts += [(name, str(cpus), f"{load:.2f}", str(tasks)) for name, cpus, load, tasks in self.hosts]
        pools: list[tuple[str, ...]] = []
        if self.pools:
            pools = [("pool", "workers", "calls open", "done", "per second")]
            rows = enumerate(self.pools, 1)
            pools += [(f"{n}", f"{w}", f"{left}", f"{done}", f"{rate:.1f}") for n, (w, left, done, rate) in rows]
        return hosts, pools

    def __str__(self) -> str:
        return "\n\n".join(_columns(rows) for rows in self._rows() if rows)

    __repr__ = __str__

    def _repr_html_(self) -> str:
        from html import escape

        def table(rows: list[tuple[str, ...]]) -> str:
            lines = ["".join(f"<td>{escape(cell)}</td>" for cell in row) for row in rows[1:]]
            head = "".join(f"<th>{escape(cell)}</th>" for cell in rows[0])
            return f"<table><tr>{head}</tr>" + "".join(f"<tr>{line}</tr>" for line in lines) + "</table>"

        return "".join(table(rows) for rows in self._rows() if rows)


def _pools() -> list[Any]:
    module: Any = sys.modules.get("parvum.executor")
    return [pool for pool in module.living() if not pool.ended.is_set()] if module is not None else []


def _columns(rows: list[tuple[str, ...]]) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows)


def status() -> Picture:
    """Hosts with their load and tasks, and this process's pools with their rates, as they are now.

    >>> print(parvum.status())  # doctest: +SKIP
    host  processors  load  tasks
    vm    2           0.10  3
    """
    return Picture()


class monitor:  # noqa: N801
    """Shows `status` again and again while a block runs: in a notebook in one place, else as text on the terminal.

    `interval`: seconds between two pictures.
    """

    def __init__(self, interval: float = 1.0) -> None:
        if not interval > 0:
            raise ValueError(f"interval is {interval}; it must be more than 0")
        self._interval = interval
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._run, name="parvum-monitor", daemon=True)

    def __enter__(self) -> monitor:
        self._show = _notebook_display() or _terminal_display()
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def _run(self) -> None:
        while True:
            try:
                self._show(Picture())
            except errors.ParvumError:
                # The machine ended before the block.
                return
            if self._over.wait(self._interval):
                return


def _notebook_display() -> Any:
    module: Any = sys.modules.get("IPython")
    shell = module.get_ipython() if module is not None else None
    if shell is None or not hasattr(shell, "kernel"):
        return None
    from IPython.display import display  # type: ignore[import-not-found]  # pyright: ignore

    handle: Any = display(Picture(), display_id=True)  # pyright: ignore
    return handle.update


def _terminal_display() -> Any:
    def show(picture: Picture) -> None:
        print(time.strftime("%H:%M:%S"), f"{picture.tasks} tasks\n{picture}\n", flush=True)

    return show
