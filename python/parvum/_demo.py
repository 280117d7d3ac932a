"""``python -m parvum demo``: workers draw the Mandelbrot set row by row, and the demo measures messages. The demo takes ten seconds."""

from __future__ import annotations

import os
import shutil
import sys
import time
from typing import Any

import parvum

_ROW, _DONE, _ECHO = 1, 2, 3
_SHADES = " .:-=+*#%@"
# Colours for a terminal with 256 colours: for the workers, and for points of the picture from far to near.
_WORKERS = (39, 208, 118, 205, 226, 51, 196, 141)
_PICTURE = (16, 17, 18, 19, 20, 21, 27, 33, 39, 45, 51, 50, 49, 48, 84, 120, 156, 192, 228, 222, 216, 210, 204, 198)
_DEPTH = 400


def row(y: float, width: int, zoom: float) -> bytes:
    """The depth of each point of a row: 255 for points of the set."""
    depths = bytearray(width)
    for at in range(width):
        c = complex(-0.65 + (at / width - 0.5) * 3.0 * zoom, y * zoom)
        z = 0j
        for step in range(_DEPTH):
            z = z * z + c
            if z.real * z.real + z.imag * z.imag > 4.0:
                depths[at] = int(254 * (step / _DEPTH) ** 0.35)
                break
        else:
            depths[at] = 255
    return bytes(depths)


def work() -> None:
    """Runs a worker: it computes the rows that it gets, and sends messages with another tag back to their sender."""
    vm = parvum.enrol()
    boss = vm.parent
    assert boss is not None
    while True:
        message = vm.recv_message(boss)
        if message.tag == _DONE:
            return
        if message.tag == _ECHO:
            vm.send(message.obj, boss, _ECHO)
            continue
        number, y, width, zoom = message.obj
        vm.send((number, row(y, width, zoom)), boss, _ROW)


def _line(depths: bytes, worker: int, colours: bool) -> str:
    if not colours:
        return "".join(_SHADES[depth * 9 // 255] for depth in depths) + f" {worker}"
    points = (16 if depth == 255 else _PICTURE[depth * (len(_PICTURE) - 1) // 254] for depth in depths)
    picture = "".join(f"\x1b[48;5;{colour}m " for colour in points)
    return f"{picture}\x1b[0m\x1b[38;5;{_WORKERS[worker % len(_WORKERS)]}m \u2588\u2588 worker {worker}\x1b[0m"


def draw(vm: parvum.Vm, workers: list[parvum.TaskId], size: tuple[int, int], zoom: float) -> list[int]:
    """Draws the picture, row by row as rows arrive; returns how many rows each worker has computed."""
    width, height = size
    colours = sys.stdout.isatty() and "NO_COLOR" not in os.environ
    jobs = [(n, (n / height - 0.5) * 2.2, width, zoom) for n in range(height)]
    jobs.reverse()
    numbers = {task: at for at, task in enumerate(workers)}
    counts = [0] * len(workers)
    lines: dict[int, str] = {}
    shown = 0
    # Two rows for each worker, so that no worker waits for its next row.
    for task in workers * 2:
        if jobs:
            vm.send(jobs.pop(), task, _ROW)
    while shown < height:
        (number, depths), source, _ = vm.recv_message(tag=_ROW)
        if jobs:
            vm.send(jobs.pop(), source, _ROW)
        counts[numbers[source]] += 1
        lines[number] = _line(depths, numbers[source], colours)
        while shown in lines:
            print(lines.pop(shown), flush=True)
            shown += 1
    return counts


def half_round_trip(vm: parvum.Vm, other: parvum.TaskId, obj: Any, rounds: int) -> float:
    """The shortest one-way time of an object, in seconds."""
    best = float("inf")
    for _ in range(5):
        began = time.perf_counter()
        for _ in range(rounds):
            vm.send(obj, other, _ECHO)
            vm.recv(other, _ECHO)
        best = min(best, (time.perf_counter() - began) / rounds / 2)
    return best


def main(arguments: list[str]) -> int:
    """Runs the demo."""
    if arguments:
        print("usage: python -m parvum demo", file=sys.stderr)
        return 2
    began = time.perf_counter()
    vm = parvum.enrol()
    up = time.perf_counter()
    count = max(2, min(8, os.cpu_count() or 2))
    workers = vm.spawn(["python", "-m", "parvum._demo"], count)
    for task in workers:
        vm.send(None, task, _ECHO)
    for task in workers:
        vm.recv(task, _ECHO)
    ready = time.perf_counter()
    terminal = shutil.get_terminal_size((100, 30))
    size = (max(20, min(terminal.columns - 14, 120)), max(10, min(terminal.lines - 8, 40)))
    counts = draw(vm, workers, size, 1.0)
    drawn = time.perf_counter()
    hosts = vm.hosts()
    rows = ", ".join(f"worker {at}: {n}" for at, n in enumerate(counts))
    print(f"\n{len(hosts)} host(s), {count} workers ({', '.join(map(str, workers))}); rows by {rows}")
    print(f"joined the machine in {(up - began) * 1e3:.0f} ms, workers ready {(ready - up) * 1e3:.0f} ms later, ", end="")
    print(f"picture in {drawn - ready:.2f} s")
    small = half_round_trip(vm, workers[0], b"8 bytes.", 2000)
    large = half_round_trip(vm, workers[0], bytes(1 << 20), 50)
    print(f"half a round trip: {small * 1e6:.2f} us for 8 bytes, {large * 1e6:.0f} us for 1 MiB ({(1 << 20) / large / 1e9:.1f} GB/s)")
    for task in workers:
        vm.send(None, task, _DONE)
    print("the machine stays up, asleep: `python -m parvum ps` lists its tasks, `python -m parvum down` ends it")
    return 0


if __name__ == "__main__":
    work()
