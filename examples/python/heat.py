"""Heat in a plate: each task has a block of rows, and exchanges its edge rows with its neighbours in each step.

    python heat.py [--tasks 2] [--size 256] [--steps 2000] [--picture heat.png]

The plate is 0 inside and at three edges, and 1 at the top. One task also computes the result alone, for comparison.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import parvum

UP, DOWN, DONE = 1, 2, 3
Rows = NDArray[np.float64]


def step(plate: Rows) -> Rows:
    """One step of Jacobi's method, inside the edges."""
    plate = plate.copy()
    plate[1:-1, 1:-1] = 0.25 * (plate[:-2, 1:-1] + plate[2:, 1:-1] + plate[1:-1, :-2] + plate[1:-1, 2:])
    return plate


def block(vm: parvum.Vm, rows: Rows, steps: int, above: int | None, below: int | None) -> Rows:
    """Computes the steps of some rows; the first and the last row belong to the neighbours or are the plate's edge."""
    for _ in range(steps):
        # Sends never wait for the receiver, so all tasks can send first.
        if above is not None:
            vm.send(rows[1], above, UP)
        if below is not None:
            vm.send(rows[-2], below, DOWN)
        if above is not None:
            vm.recv_into(rows[0], above, DOWN)
        if below is not None:
            vm.recv_into(rows[-1], below, UP)
        rows = step(rows)
    return rows


def worker() -> None:
    """A task: receives its rows and neighbours, and sends its rows back."""
    vm = parvum.enrol()
    boss = vm.parent
    assert boss is not None
    rows, steps, above, below = vm.recv(boss)
    vm.send(block(vm, np.array(rows), steps, above, below)[1:-1], boss, DONE)


def solve(tasks: int, size: int, steps: int) -> Rows:
    plate = np.zeros((size + 2, size + 2))
    plate[0] = 1.0
    if tasks == 1:
        return block(parvum.enrol(), plate, steps, None, None)
    vm = parvum.enrol()
    workers = vm.spawn(["python", __file__, "--worker"], tasks)
    bounds = np.linspace(0, size, tasks + 1).astype(int)
    for n, task in enumerate(workers):
        above = workers[n - 1] if n else None
        below = workers[n + 1] if n + 1 < tasks else None
        vm.send((plate[bounds[n] : bounds[n + 1] + 2], steps, above, below), task)
    for n, task in enumerate(workers):
        plate[bounds[n] + 1 : bounds[n + 1] + 1] = vm.recv(task, DONE)
    return plate


def draw(plate: Rows, picture: str | None) -> None:
    if picture is None:
        shades = " .:-=+*#%@"
        for row in plate[:: max(1, len(plate) // 24)]:
            print("".join(shades[int(9.99 * value ** 0.5)] for value in row[:: max(1, len(row) // 60)]))
        return
    try:
        import matplotlib

        matplotlib.use("agg")
        from matplotlib import pyplot
    except ImportError:
        sys.exit("--picture needs matplotlib: pip install matplotlib")
    pyplot.imshow(plate, cmap="inferno")
    pyplot.colorbar(label="temperature")
    pyplot.savefig(picture, dpi=120)
    print(f"the picture is in {Path(picture).resolve()}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--tasks", type=int, default=2)
    parser.add_argument("--size", type=int, default=256, help="rows and columns inside the edges")
    parser.add_argument("--steps", type=int, default=2000)
    parser.add_argument("--picture", help="a file to draw to; without it the plate is drawn with letters")
    options = parser.parse_args()
    if options.worker:
        return worker()
    if not 1 <= options.tasks <= options.size:
        parser.error(f"--tasks {options.tasks} is not in 1 to {options.size}, one row each at least")
    plate = solve(options.tasks, options.size, options.steps)
    alone = solve(1, options.size, options.steps)
    draw(plate, options.picture)
    print(f"{options.tasks} tasks, {options.steps} steps: mean {plate.mean():.6f}, {'the same bits' if (plate == alone).all() else 'ANOTHER RESULT'} as one task")
    return None


if __name__ == "__main__":
    main()
