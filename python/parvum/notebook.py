"""`%%parvum`: runs a notebook cell on all workers at the same time.

```text
%load_ext parvum
%parvum start 4

%%parvum
import socket
print("I am", rank, "of", size, "on", socket.gethostname())
rank ** 2
```

prints four lines such as `[t40003 a] I am 0 of 4 on a`, and returns `[0, 1, 4, 9]`.

Each worker keeps its variables from cell to cell. It always has `rank`, `size` and `vm`. The output and the exceptions
of workers appear below the cell, with a label. `parvum.notebook.push` and `pull` copy variables to and from workers.
"""

from __future__ import annotations

import shlex
import sys
import time
from concurrent import futures
from typing import Any

from parvum import errors
from parvum.actors.client import Answer
from parvum.actors.declared import actor
from parvum.actors.handles import ActorGroup, Handle, kill, stop
from parvum.pool.stopping import GRACE


@actor
class Interpreter:
    """Runs cells in a separate namespace."""

    def __init__(self) -> None:
        import parvum

        self.names: dict[str, Any] = {"__name__": "__parvum__", "parvum": parvum, "vm": parvum.enrol()}
        self.cells = 0

    def place(self, rank: int, size: int) -> None:
        """Sets the worker's rank and the number of workers."""
        self.names.update(rank=rank, size=size)

    def run(self, cell: str) -> Any:
        """Runs a cell; returns the value of its last line if the line is an expression."""
        import ast
        import linecache

        self.cells += 1
        file = f"<cell {self.cells} of worker {self.names.get('rank')}>"
        # Tracebacks can then show the lines.
        linecache.cache[file] = (len(cell), None, cell.splitlines(keepends=True), file)
        tree = ast.parse(cell, file)
        last = tree.body[-1] if tree.body else None
        if isinstance(last, ast.Expr):
            tree.body.pop()
        exec(compile(tree, file, "exec"), self.names)  # noqa: S102
        if not isinstance(last, ast.Expr):
            return None
        value = eval(compile(ast.Expression(last.value), file, "eval"), self.names)  # noqa: S307
        try:
            from parvum.pool.calls import pack

            pack(value)
        except Exception:
            return repr(value)
        return value

    def push(self, names: dict[str, Any]) -> None:
        """Sets variables."""
        self.names.update(names)

    def pull(self, name: str) -> Any:
        """The value of a variable."""
        if name not in self.names:
            raise NameError(f"name {name!r} is not defined at worker {self.names.get('rank')}")
        return self.names[name]


class Failed(Exception):
    """A cell has failed on some workers. The message has the exception and the traceback of each of these workers."""


_group: ActorGroup[Any] | None = None
_host: str | None = None


def workers() -> ActorGroup[Any]:
    """The workers of `%%parvum`. The first use starts one for each processor of the virtual machine."""
    if _group is None:
        import parvum

        start(max(1, sum(host.cpus for host in parvum.enrol().hosts())))
    assert _group is not None
    return _group


def start(count: int, host: str | None = None) -> None:
    """Starts `count` workers for cells, and ends the present workers."""
    global _group, _host
    stop_workers()
    _host = host
    _group = Interpreter.start_group(count, host=host)
    for rank, worker in enumerate(_group):
        worker.place(rank, count).result()


def stop_workers() -> None:
    """Ends the workers."""
    global _group
    if _group is not None:
        stop(_group)
        _group = None


def run(cell: str, ranks: list[int] | None = None) -> list[Any]:
    """Runs a cell on all workers, or on `ranks`; returns the values of its last line. Raises `Failed`.

    An interrupt (Ctrl-C, or of the kernel) stops the cell on all workers. A worker that does not stop is replaced.
    """
    group = workers()
    chosen = [(n, w) for n, w in enumerate(group) if ranks is None or n in ranks]
    answers: list[tuple[int, Answer[Any]]] = []
    try:
        answers += [(rank, worker.run(cell)) for rank, worker in chosen]
        for _, answer in answers:
            answer.exception()
    except KeyboardInterrupt:
        for _, answer in answers:
            answer.cancel()
        _replace_stubborn(chosen, len(group))
        raise
    failed = [(rank, error) for rank, answer in answers if (error := answer.exception()) is not None]
    if failed:
        texts = [f"worker {rank}: {type(error).__name__}: {error}\n{error.__cause__ or ''}" for rank, error in failed]
        raise Failed(f"the cell failed at {len(failed)} of {len(answers)} workers\n" + "\n".join(texts))
    return [answer.result() for _, answer in answers]


def _replace_stubborn(chosen: list[tuple[int, Handle[Any]]], count: int) -> None:
    """If a worker does not stop a cell, ends this worker and starts another worker in its place. The variables of the ended worker are lost."""
    global _group
    until = time.monotonic() + GRACE
    pings = [(rank, worker, worker.place(rank, count)) for rank, worker in chosen]
    stubborn: dict[int, Handle[Any]] = {}
    for rank, worker, ping in pings:
        try:
            ping.result(max(0.0, until - time.monotonic()))
        except (futures.TimeoutError, errors.ParvumError):
            ping.cancel()
            stubborn[rank] = worker
    if not stubborn or _group is None:
        return
    for worker in stubborn.values():
        kill(worker)
    members = list(_group)
    for rank in stubborn:
        members[rank] = fresh = Interpreter.start(host=_host)
        fresh.place(rank, count)
    _group = ActorGroup(members)
    ranks = ", ".join(map(str, stubborn))
    print(f"parvum: the cell did not stop at worker {ranks}: another process is there now, and its names are gone", file=sys.stderr)


def push(**names: Any) -> None:
    """Sets variables on all workers.

    >>> import parvum.notebook as cells
    >>> cells.start(2)
    >>> cells.push(limit=5)
    >>> cells.run("rank + limit")
    [5, 6]
    >>> cells.stop_workers()
    """
    workers().push(names).result()


def pull(name: str) -> list[Any]:
    """The values of a variable on all workers, in order of rank. Raises `NameError`."""
    values: list[Any] = workers().pull(name).result()
    return values


def load_ipython_extension(shell: Any) -> None:
    """`%load_ext parvum`."""

    def cell_magic(line: str, cell: str) -> list[Any] | None:
        values = run(cell, [int(word) for word in shlex.split(line)] or None)
        return values if any(value is not None for value in values) else None

    def line_magic(line: str) -> Any:
        words = shlex.split(line)
        if words[:1] == ["start"] and len(words) in (2, 3):
            start(int(words[1]), words[2] if len(words) == 3 else None)
        elif words == ["stop"]:
            stop_workers()
        elif words == ["status"] or not words:
            import parvum

            return parvum.status()
        elif words == ["widget"]:
            import parvum

            return parvum.enrol().widget()
        else:
            print("usage: %parvum start COUNT [HOST] | stop | status | widget;  %%parvum [RANK ...]")
        return None

    shell.register_magic_function(cell_magic, "cell", "parvum")
    shell.register_magic_function(line_magic, "line", "parvum")


def unload_ipython_extension(shell: Any) -> None:
    """`%unload_ext parvum`."""
    stop_workers()
