"""A machine of the tests' own, which ends with them."""

from __future__ import annotations

import atexit
import os
import shutil
import subprocess
import sys
import tempfile
import textwrap
import time
from pathlib import Path
from typing import Any, Callable

import parvum

_PLACE = tempfile.mkdtemp(prefix="parvum-python-")
os.environ["PARVUM_DIR"] = _PLACE
COMMAND = str(Path(parvum.__file__).parent / "bin" / "parvum")


def down() -> None:
    """Ends the machine and waits for its end."""
    subprocess.run([COMMAND, "down"], env=os.environ, capture_output=True)


@atexit.register
def _end() -> None:
    # The machine's end is that of its tasks.
    parvum.enrol().leave()
    down()
    shutil.rmtree(_PLACE, ignore_errors=True)


def vm() -> parvum.Vm:
    """The tests' own task."""
    return parvum.enrol()


def spawn(source: str, count: int = 1, **how: Any) -> list[parvum.TaskId]:
    """Starts tasks that run this source; `vm` and `parvum` are there, and `boss` is this task."""
    before = "import parvum, sys, os, time\nvm = parvum.enrol()\nboss = vm.parent\n"
    return vm().spawn(["python", "-c", before + textwrap.dedent(source)], count, **how)


def run(source: str, *, timeout: float = 60, **env: str) -> subprocess.CompletedProcess[str]:
    """Runs a process of its own, and gives what it said."""
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(source)],
        env={**os.environ, **env},
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def eventually(true: Callable[[], Any], seconds: float = 60) -> Any:
    """What `true` gives as soon as it is something."""
    until = time.monotonic() + seconds
    while not (found := true()):
        assert time.monotonic() < until, "it did not come to pass"
        time.sleep(0.01)
    return found
