"""Calls that tests stop, and a program that computes until somebody interrupts it: `python stopping.py KIND FOLDER`."""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path
from typing import Any


def spin(folder: str) -> None:
    """Computes for a minute. Its process leaves a file."""
    mark(folder)
    end = time.monotonic() + 60
    while time.monotonic() < end:
        pass


def sleep_in_c(folder: str) -> None:
    """Waits for a minute in one system call."""
    mark(folder)
    time.sleep(60)


def deaf(folder: str) -> None:
    """Computes for a minute, and catches what is to stop it. The file appears only when an interrupt can no longer end the call."""
    end = time.monotonic() + 60
    has_marked = False
    while time.monotonic() < end:
        try:
            if not has_marked:
                mark(folder)
                has_marked = True
            while time.monotonic() < end:
                time.sleep(0.01)
        except KeyboardInterrupt:
            Path(folder, f"caught.{os.getpid()}").touch()


def deafest(folder: str) -> None:
    """The same, and its process takes no SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    deaf(folder)


def count_without_the_interpreter(folder: str) -> None:
    """Keeps the interpreter's lock in one piece of C code for a long time: no thread of Python runs, and no handler."""
    mark(folder)
    sum(range(10**11))


def clean_up(folder: str) -> None:
    """Does something of its own before it ends."""
    mark(folder)
    try:
        time.sleep(60)
    finally:
        Path(folder, "cleaned").touch()


def mark(folder: str) -> None:
    Path(folder, f"begun.{os.getpid()}").touch()


def begun(folder: Path) -> list[int]:
    """The processes that have begun to compute."""
    return [int(path.suffix[1:]) for path in folder.glob("begun.*")]


def is_alive(process: int) -> bool:
    """Whether a process runs: one that is dead and not buried does not."""
    try:
        with open(f"/proc/{process}/stat", encoding="ascii") as file:
            return file.read().rpartition(")")[2].split()[0] not in "ZX"
    # The process may end between the open and the read.
    except (FileNotFoundError, ProcessLookupError):
        return False


def compute(kind: str, folder: str, call: Any = spin) -> None:
    """Has two workers compute, in one of the ways there are."""
    import parvum

    if kind == "executor":
        with parvum.Executor(2) as pool:
            [future.result() for future in [pool.submit(call, folder) for _ in range(4)]]
    elif kind == "global":
        pool = parvum.Executor(2)
        [future.result() for future in [pool.submit(call, folder) for _ in range(4)]]
    elif kind == "completed":
        from concurrent.futures import as_completed

        with parvum.Executor(2) as pool:
            list(as_completed([pool.submit(call, folder) for _ in range(4)]))
    elif kind == "executor.map":
        with parvum.Executor(2) as pool:
            list(pool.map(call, [folder] * 4))
    elif kind == "map":
        list(parvum.map(call, [folder] * 4, workers=2))
    elif kind == "end":
        pool = parvum.Executor(2)
        for _ in range(4):
            pool.submit(call, folder)
        while len(begun(Path(folder))) < 2:
            time.sleep(0.01)
    elif kind == "joblib":
        import joblib

        import parvum.joblib

        parvum.joblib.register()
        with joblib.parallel_backend("parvum", n_jobs=2):
            joblib.Parallel()(joblib.delayed(call)(folder) for _ in range(4))
    elif kind == "dask":
        import dask

        import parvum.dask

        dask.compute(*[dask.delayed(call)(folder) for _ in range(4)], scheduler=parvum.dask.get, num_workers=2)
    elif kind == "actor":
        from actors import Worker

        group = Worker.start_group(2)
        group.run(folder).result()
    elif kind == "cells":
        from parvum import notebook

        notebook.start(2)
        notebook.run(f"import sys; sys.path[:0] = {sys.path!r}; import stopping; stopping.{call.__name__}({folder!r})")


if __name__ == "__main__":
    # Whoever was started in the background ignores it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    import stopping

    stopping.compute(sys.argv[1], sys.argv[2], getattr(stopping, sys.argv[3]))
