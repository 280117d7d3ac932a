"""`with parvum.machine(hosts=[...]) as vm:`: a virtual machine for one block."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
from collections.abc import Sequence
from types import TracebackType

import parvum
from parvum import errors


class machine:  # noqa: N801
    """A virtual machine for the time of a block, with `hosts` added. If no virtual machine is up, the block starts one.

    At the end of the block, pools finish their submitted calls and shut down. If the block started the virtual
    machine, the end of the block stops it. Otherwise the end of the block removes the hosts that the block added.

    `hosts`: names as in `vm.add_host`. Hosts that are already in the virtual machine do not change. Raises
    `parvum.errors.Refused` if a host cannot be added, and ends everything that the block has started.

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
            # An unused interface has nothing to end.
            if (module := sys.modules.get(name)) is not None:
                module.close_all()
        if not self._was_there:
            vm.halt()
            return
        for name in self._added:
            try:
                vm.remove_host(name)
            except errors.ParvumError:
                # The host has already left.
                continue


def is_running() -> bool:
    """True if there is a virtual machine that `parvum.enrol` would join."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        try:
            probe.connect(os.path.join(directory(), "daemon.sock"))
        except OSError:
            return False
    return True


def stop_machine() -> None:
    """Stops this user's virtual machine, and returns when it has stopped. If the command fails, raises `parvum.errors.Refused` with its error."""
    done = run_command("down")
    if done.returncode != 0 and is_running():
        raise errors.Refused(f"`parvum down` failed: {done.stderr.strip()}")


def run_command(*words: str) -> subprocess.CompletedProcess[str]:
    """Runs the command `parvum` to its end. Raises `parvum.errors.Refused` if it cannot run."""
    own = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "bin", "parvum")
    command = os.environ.get("PARVUM_BIN") or (own if os.path.exists(own) else "parvum")
    if os.path.isdir(command):
        command = os.path.join(command, "parvum")
    try:
        return subprocess.run([command, *words], capture_output=True, text=True, check=False)
    except OSError as error:
        raise errors.Refused(f"the command {command} cannot be run: {error}") from error


def directory() -> str:
    """The folder of this user's virtual machine: `PARVUM_DIR`, or the default in docs/reference/options.md."""
    if own := os.environ.get("PARVUM_DIR"):
        return own
    name = "".join(c for c in os.environ.get("PVM_VMID", "") if c.isascii() and (c.isalnum() or c in "._-"))
    suffix = f"-{name}" if name else ""
    runtime = os.environ.get("XDG_RUNTIME_DIR", "")
    if os.path.isabs(runtime) and os.path.isdir(runtime):
        return os.path.join(runtime, f"parvum{suffix}")
    return f"/tmp/parvum-{os.geteuid()}{suffix}"
