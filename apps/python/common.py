"""What all programs here share: arguments, clocks, and one JSON object a line for each measurement.

A program measures one system. The driver (`compare.py`) starts them in turns; each can be run by itself as well.
"""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from collections.abc import Callable
from typing import Any

SIZES = (8, 1 << 20, 64 << 20)


def arguments(description: str, **more: Any) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--out", default="-", help="file for JSON lines; standard output without it")
    parser.add_argument("--seconds", type=float, default=1.0, help="about so long for each measurement")
    # What the lab says to all its programs (lab/src/runner.rs).
    parser.add_argument("--lab", default="", help="this measurement alone, as the lab's lines of samples")
    parser.add_argument("--sizes", default=",".join(map(str, SIZES)), help="bytes of arrays")
    parser.add_argument("--tasks", type=int, default=2)
    parser.add_argument("--cpus", default="", help="not used: nobody here pins")
    for name, default in more.items():
        parser.add_argument(f"--{name}", default=default, type=type(default))
    options = parser.parse_args()
    options.sizes = [int(size) for size in options.sizes.split(",")]
    return options


def wants(options: argparse.Namespace, measure: str) -> bool:
    """Is it to be measured? The lab asks for one at a time."""
    return options.lab in ("", measure)


def report(
    options: argparse.Namespace, system: str, measure: str, size: int, values: list[float], unit: str, **more: Any
) -> None:
    line: dict[str, Any] = {
        "system": system,
        "measure": measure,
        "size": size,
        "median": statistics.median(values),
        "unit": unit,
        "values": [round(value, 3) for value in values],
    }
    if options.lab:
        nanoseconds = {"us": lambda v: v * 1e3, "s": lambda v: v * 1e9, "/s": lambda v: 1e9 / v, "x": lambda v: v * more["work_ns"]}
        samples = [round(nanoseconds[unit](value)) for value in values] if unit in nanoseconds else []
        line = {"program": f"python-{options.lab}", "tasks": options.tasks, "size": size, "samples_ns": samples, **more}
    out = sys.stdout if options.out == "-" else open(options.out, "a", encoding="utf-8")
    print(json.dumps(line), file=out, flush=True)


def half_round_trips(there_and_back: Callable[[], None], seconds: float) -> list[float]:
    """Microseconds of half a round trip: five averages of batches that take about `seconds` together.

    Before them as much is warmed up as one batch takes, at least 0.2 s: a NumPy that was just imported keeps a thread of its algebra
    library spinning for about 0.1 s, and on two cores two tasks share the other one so long. Batches are sized by what it took at last.
    """
    there_and_back()
    often, each, end = 1, 0.0, time.perf_counter() + max(0.2, seconds / 5)
    while not each or time.perf_counter() < end:
        begun = time.perf_counter()
        for _ in range(often):
            there_and_back()
        each = (time.perf_counter() - begun) / often
        often = max(1, int(0.02 / each))
    count = max(1, min(50_000, int(seconds / 5 / each)))
    found: list[float] = []
    for _ in range(5):
        begun = time.perf_counter()
        for _ in range(count):
            there_and_back()
        found.append((time.perf_counter() - begun) / count / 2 * 1e6)
    return found


def dictionary() -> dict[str, Any]:
    """Ten arrays of 1 MiB."""
    import numpy

    return {f"array {n}": numpy.full(1 << 17, float(n)) for n in range(10)}


def rates(run: Callable[[int], None], count: int, times: int = 3) -> list[float]:
    """Calls a second."""
    run(max(1, count // 20))
    found: list[float] = []
    for _ in range(times):
        begun = time.perf_counter()
        run(count)
        found.append(count / (time.perf_counter() - begun))
    return found


def memory_and_time(pids: list[int], seconds: float = 3.0) -> tuple[float, float]:
    """MiB that these processes take together (shared pages divided), and processor seconds per second while idle."""

    def pss(pid: int) -> float:
        with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as file:
            return sum(int(line.split()[1]) for line in file if line.startswith("Pss:")) / 1024

    def used(pid: int) -> float:
        total = 0.0
        import os

        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as file:
                total += int(file.read().split()[0]) / 1e9
        return total

    time.sleep(1)
    before = sum(map(used, pids))
    time.sleep(seconds)
    after = sum(map(used, pids))
    return sum(map(pss, pids)), (after - before) / seconds


def descendants(of: int) -> list[int]:
    """Processes below one."""
    import os

    parents: dict[int, int] = {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
                    parents[int(name)] = int(file.read().rpartition(")")[2].split()[1])
            except OSError:
                continue
    found, level = [], [of]
    while level:
        level = [pid for pid, parent in parents.items() if parent in level]
        found += level
    return found
