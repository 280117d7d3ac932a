"""A snapshot of the virtual machine, as text and as HTML."""

from __future__ import annotations

import json
import sys
from typing import Any, Final, NamedTuple

import parvum
from parvum import errors
from parvum._task.session import run_command

SHORTEST: Final = 0.1
"""The shortest time in seconds over which rates are measured."""


class Host(NamedTuple):
    """A host. ``load``: the number of tasks that want a processor."""

    name: str
    processors: int
    load: float
    tasks: int


class Pool(NamedTuple):
    """A pool of this process, of an executor or a map. ``rate``: calls done per second."""

    workers: int
    calls_open: int
    done: int
    rate: float


class Task(NamedTuple):
    """A task and its activity: messages and bytes that it sends and receives per second, and per cent of a processor."""

    name: str
    host: str
    program: str
    state: str
    processor: float
    sent: tuple[float, float]
    arrived: tuple[float, float]
    memory: int


class Picture:
    """A snapshot of the virtual machine: hosts, pools, and on request the activity of tasks. `str` gives text, a notebook shows tables.

    Attributes:
        hosts, pools, tasks: tuples of named tuples.
        count: the number of tasks.
    """

    def __init__(self, seconds: float | None = None, rows: int = 16) -> None:
        # The command measures tasks over this many seconds.
        told = None if seconds is None else _told(seconds)
        vm = parvum.enrol()
        loads = vm.loads()
        tasks = vm.tasks()
        self.rows = rows
        self.hosts = [
            Host(host.name, host.cpus, loads.get(host.id, 0.0), sum(task.host == host.id for task in tasks)) for host in vm.hosts()
        ]
        self.count = len(tasks)
        self.pools = [
            Pool(len(pool.schedule.workers), pool.schedule.unfinished, pool.done, pool.rate()) for pool in _living_pools()
        ]
        self.tasks = [_task(line) for line in told["tasks"]] if told is not None else []

    def headline(self) -> str:
        """The numbers of hosts, processors and tasks."""
        return f"{_many(len(self.hosts), 'host')}, {_many(self.count, 'task')}"

    def tables(self) -> list[Table]:
        """All parts as tables of texts."""
        found = [_hosts(self.hosts)]
        if self.pools:
            found.append(_pools(self.pools))
        if self.tasks:
            found.append(_tasks(self.tasks, self.rows))
        return found

    def __str__(self) -> str:
        return "\n\n".join(_columns(table) for table in self.tables())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.html()

    def html(self, note: str = "") -> str:
        """The snapshot as HTML. It needs no other files, and takes its colours from the surrounding page."""
        from html import escape

        head = f"<b>{escape(self.headline())}</b>" + (f"<span style='opacity:.6'> &ensp;{escape(note)}</span>" if note else "")
        inside = "".join(_table_html(table) for table in self.tables())
        return f"<div style='font-size:13px;line-height:1.5'>{head}{inside}</div>"


class Table(NamedTuple):
    """Rows of texts.

    ``numbers``: the right-aligned columns. ``bars``: the columns with a bar, and for each row the length of the
    bar, from 0 to 1.
    """

    head: tuple[str, ...]
    rows: list[tuple[str, ...]]
    numbers: frozenset[int]
    bars: dict[int, list[float]]
    more: str = ""


def _hosts(hosts: list[Host]) -> Table:
    rows = [(name, str(cpus), f"{load:.2f}", str(tasks)) for name, cpus, load, tasks in hosts]
    shares = [load / max(1, cpus) for _, cpus, load, _ in hosts]
    return Table(("host", "processors", "load", "tasks"), rows, frozenset({1, 2, 3}), {2: shares})


def _pools(pools: list[Pool]) -> Table:
    rows = [(str(n), f"{w}", f"{left}", f"{done}", f"{rate:,.1f}") for n, (w, left, done, rate) in enumerate(pools, 1)]
    shares = [done / max(1, done + left) for _, left, done, _ in pools]
    return Table(("pool", "workers", "calls open", "done", "per second"), rows, frozenset(range(1, 5)), {3: shares})


def _tasks(tasks: list[Task], most: int) -> Table:
    head = ("task", "host", "program", "state", "processor", "sent per second", "got per second", "memory")
    # If there is not enough room, the busiest tasks are shown.
    shown = sorted(tasks, key=lambda task: (task.processor, task.sent, task.arrived), reverse=True)[:most]
    shown.sort(key=lambda task: (len(task.name), task.name))
    rows = [
        (
            task.name, task.host, task.program, task.state, f"{task.processor:.0f} %", _rate(task.sent), _rate(task.arrived),
            _size(task.memory),
        )
        for task in shown
    ]  # fmt: skip
    more = f"and {_many(len(tasks) - len(shown), 'task')} more that do less" if len(tasks) > len(shown) else ""
    return Table(head, rows, frozenset(range(4, 8)), {4: [task.processor / 100 for task in shown]}, more)


def _columns(table: Table) -> str:
    rows = [table.head, *(tuple(_cut(word) for word in row) for row in table.rows)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(table.head))]
    lines = ["  ".join(_aligned(row[n], widths[n], n in table.numbers) for n in range(len(widths))).rstrip() for row in rows]
    return "\n".join([*lines, table.more] if table.more else lines)


LONGEST: Final = 36
"""The largest number of letters that a table shows of a text."""


def _cut(word: str) -> str:
    return word if len(word) <= LONGEST else f"{word[: LONGEST - 3]}..."


def _aligned(word: str, width: int, to_the_right: bool) -> str:
    return word.rjust(width) if to_the_right else word.ljust(width)


_LINE = "border-bottom:1px solid rgba(128,128,128,.25)"


def _table_html(table: Table) -> str:
    from html import escape

    def cell(row: int, column: int, word: str) -> str:
        side = "right" if column in table.numbers else "left"
        style = f"text-align:{side};padding:1px 10px;{_LINE};white-space:nowrap;max-width:17em;overflow:hidden;text-overflow:ellipsis"
        if column in table.bars:
            whole = max(0.0, table.bars[column][row])
            # A load over 1 has another colour.
            colour, share = ("255,140,0", 100.0) if whole > 1.005 else ("56,132,255", 100 * whole)
            style += f";background:linear-gradient(90deg,rgba({colour},.35) {share:.0f}%,rgba(128,128,128,.1) {share:.0f}%);min-width:70px"
        return f"<td style='{style}' title='{escape(word)}'>{escape(word)}</td>"

    heads = "".join(
        f"<th style='text-align:{'right' if n in table.numbers else 'left'};padding:1px 10px;font-weight:600;opacity:.7;{_LINE}'>{escape(word)}</th>"
        for n, word in enumerate(table.head)
    )
    rows = "".join(
        f"<tr style='background:none'>{''.join(cell(n, column, word) for column, word in enumerate(row))}</tr>"
        for n, row in enumerate(table.rows)
    )
    more = f"<div style='opacity:.6;padding:0 10px'>{escape(table.more)}</div>" if table.more else ""
    return f"<table style='border-collapse:collapse;margin:6px 0;border:0;font-size:inherit;color:inherit'><tr style='background:none'>{heads}</tr>{rows}</table>{more}"


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _rate(of: tuple[float, float]) -> str:
    """Messages and their bytes, as text.

    >>> _rate((0.0, 0.0)), _rate((1250.0, 5e6))
    ('0', '1,250, 5.0 MB')
    """
    return f"{of[0]:,.0f}, {_size(of[1])}" if of[0] else "0"


def _size(count: float) -> str:
    """Bytes, as text for people.

    >>> _size(0), _size(999), _size(1_234_000), _size(5.6e10)
    ('0 B', '999 B', '1.2 MB', '56.0 GB')
    """
    for unit in ("B", "kB", "MB", "GB"):
        if count < 1000 or unit == "GB":
            break
        count /= 1000
    return f"{count:.0f} {unit}" if unit == "B" else f"{count:.1f} {unit}"


def _told(seconds: float) -> dict[str, Any]:
    """The JSON that the command prints about tasks, measured over this number of seconds."""
    done = run_command("top", "--json", "--interval", f"{max(SHORTEST, seconds):.3f}")
    if done.returncode != 0:
        raise errors.MachineGone(done.stderr.strip().removeprefix("parvum: ") or "the machine is gone")
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def _task(line: dict[str, Any]) -> Task:
    sent = (line["sent_messages_per_s"], line["sent_bytes_per_s"])
    arrived = (line["arrived_messages_per_s"], line["arrived_bytes_per_s"])
    return Task(line["tid"], line["host"], line["name"], line["state"], line["cpu_percent"], sent, arrived, line["memory_bytes"])


def _living_pools() -> list[Any]:
    module: Any = sys.modules.get("parvum.executor")
    return [pool for pool in module.living() if not pool.ended.is_set()] if module is not None else []
