"""Other hosts of the test bed that a script runs on, as an administrator reaches them."""

from __future__ import annotations

import os
import shlex
import subprocess
import time
from collections.abc import Callable
from typing import Any

import parvum


def on(host: str, script: str) -> str:
    """Runs a shell's script on that host; what it said."""
    start = [word.replace("{host}", host) for word in shlex.split(os.environ["PARVUM_START_BY"])]
    return subprocess.run([*start, "sh", "-c", shlex.quote(script)], check=True, capture_output=True, text=True).stdout


def kill_all(vm: parvum.Vm, name: str) -> None:
    """Kills the daemon of a host and all tasks there, by their numbers."""
    (host,) = [host for host in vm.hosts() if host.name == name]
    tasks = [str(task.pid) for task in vm.tasks() if task.host == host.id]
    assert tasks, f"nothing runs on {name}"
    # Tasks may end with their daemon.
    on(name, f"kill -9 $(cat $PARVUM_DIR/daemon.lock); kill -9 {' '.join(tasks)} 2>/dev/null || :")


def sent() -> int:
    """Bytes that this host has sent to others."""
    with open("/proc/net/dev", encoding="ascii") as table:
        return sum(int(line.split(":")[1].split()[8]) for line in table if ":" in line and "lo:" not in line)


def eventually(what: str, true: Callable[[], Any]) -> Any:
    """What `true` gives as soon as it is something."""
    until = time.monotonic() + 120
    while not (found := true()):
        assert time.monotonic() < until, f"it did not come to pass: {what}"
        time.sleep(0.01)
    return found
