"""Arrays that all tasks of a run share."""

from __future__ import annotations

import subprocess
import sys
import textwrap
import unittest

import support

PROGRAM = """
import sys
import numpy as np, parvum
shared = parvum.shared((4, 1000))
assert shared.size == {size} and (shared.array == 0).all()
shared.barrier(1)
with shared.view(np.s_[shared.rank, :]) as mine:
    mine[:] = shared.rank + 1
for _ in range(20):
    with shared.lock(3):
        shared.array[3, 999] += 1
shared.barrier()
counts = parvum.shared(10, "i4")
assert counts.array.dtype == np.int32
print(shared.rank, shared.array.sum())
for bad in (lambda: parvum.shared(3, object), lambda: shared.barrier(256), lambda: shared.lock(-1).__enter__()):
    try:
        bad()
        assert False
    except parvum.errors.BadArgument:
        pass
{end}
"""


def run(size: int, end: str = "") -> subprocess.CompletedProcess[str]:
    source = textwrap.dedent(PROGRAM).format(size=size, end=end)
    command = [support.COMMAND, "run", "-n", str(size), sys.executable, "-c", source]
    return subprocess.run(command, capture_output=True, text=True, timeout=120)


class Shared(unittest.TestCase):
    def test_shared_tasks_share_memory_and_lock(self) -> None:
        for size in (1, 3):
            done = run(size)
            total = 1000 * sum(range(1, size + 1)) + 20 * size
            lines = [f"{rank} {total}.0" for rank in range(size)]
            self.assertEqual((done.returncode, sorted(done.stdout.split("\n"))[1:]), (0, lines), done.stderr)

    def test_run_exit_code_is_that_of_program(self) -> None:
        self.assertEqual(run(2, "sys.exit(7 if shared.rank == 1 else 0)").returncode, 7)

    def test_failing_task_ends_the_run(self) -> None:
        done = run(2, "1 / shared.rank")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("ZeroDivisionError", done.stderr)


if __name__ == "__main__":
    unittest.main()
