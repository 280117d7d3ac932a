"""What the members of a group do together."""

from __future__ import annotations

import unittest

import numpy as np
import support

import parvum
from parvum import errors

MEMBER = """
import numpy as np
group = parvum.Group([boss] + vm.siblings())
n = group.rank
"""


class Groups(unittest.TestCase):
    def group(self, source: str, count: int = 3) -> parvum.Group:
        """This task and others that run the source."""
        self.vm = support.vm()
        import textwrap

        self.others = support.spawn(MEMBER + textwrap.dedent(source), count)
        return parvum.Group([self.vm.id, *self.others])

    def test_group_collective_operations_all_work(self) -> None:
        group = self.group(
            """
            group.barrier()
            a = np.empty(1000); group.bcast(a)
            assert (a == np.arange(1000)).all()
            part = group.scatter(None, np.empty(5, 'i4'))
            assert (part == np.arange(5) + 5 * n).all(), part
            assert group.gather(part * 2) is None
            assert (group.allgather(np.full((2, 2), n)) == np.arange(4)[:, None, None]).all()
            assert (group.alltoall(np.arange(4) * 10 + n) == 10 * n + np.arange(4)).all()
            assert group.reduce(np.array([n, 1])) is None
            for size in (1, 100, 100000):
                assert (group.allreduce(np.full(size, float(n))) == 6).all()
            b = np.array([n, -n]); group.allreduce(b, np.maximum, out=b); assert list(b) == [3, 0]
            assert group.allreduce(np.array([float(n)]), np.hypot)[0] == np.hypot(np.hypot(np.hypot(0., 1.), 2.), 3.)
            assert group.allreduce(np.array([n]), lambda x, y: 10 * x + y)[0] == 123
            assert group.bcast_object() == {"root": [0]}
            vm.send("good", boss, 1)
            """
        )
        group.barrier()
        group.bcast(np.arange(1000.0))
        part = group.scatter(np.arange(20, dtype="i4").reshape(4, 5), np.empty(5, "i4"))
        gathered = group.gather(part * 2)
        assert gathered is not None
        self.assertEqual(gathered.tolist(), (np.arange(20).reshape(4, 5) * 2).tolist())
        self.assertEqual(group.allgather(np.full((2, 2), 0)).shape, (4, 2, 2))
        self.assertEqual(group.alltoall(np.arange(4) * 10).tolist(), [0, 1, 2, 3])
        total = group.reduce(np.array([0, 1]))
        assert total is not None
        self.assertEqual(total.tolist(), [6, 4])
        for size in (1, 100, 100000):
            self.assertTrue((group.allreduce(np.full(size, 0.0)) == 6).all())
        both = np.array([0, 0])
        group.allreduce(both, np.maximum, out=both)
        group.allreduce(np.array([0.0]), np.hypot)
        self.assertEqual(group.allreduce(np.array([0]), lambda x, y: 10 * x + y)[0], 123)
        group.bcast_object({"root": [0]})
        for other in self.others:
            self.assertEqual(self.vm.recv(other, 1, timeout=60), "good")

    def test_dead_member_of_group_is_named(self) -> None:
        group = self.group("vm.recv() if n == 2 else None\ntry: group.allreduce(np.ones(1000))\n"
                           "except parvum.errors.TaskGone as gone: vm.send(gone.task, boss, 1)", 2)
        dead = self.others[1]
        self.vm.kill(dead, 9)
        with self.assertRaises(errors.TaskGone) as raised:
            group.allreduce(np.ones(1000))
        self.assertEqual(raised.exception.task, dead)
        self.assertEqual(self.vm.recv(self.others[0], 1, timeout=60), dead)

    def test_group_refuses_buffers_of_wrong_size(self) -> None:
        vm = support.vm()
        group = parvum.Group([vm.id])
        for call in (
            lambda: group.scatter(np.arange(3), np.empty(2, int)),
            lambda: group.allgather(np.arange(3), np.empty(3)),
            lambda: group.bcast(np.arange(10)[::2]),
            lambda: group.alltoall(np.arange(3)),
        ):
            with self.assertRaises(errors.WrongShape):
                call()
        for make in (lambda: parvum.Group([]), lambda: parvum.Group([vm.id, vm.id]), lambda: group.bcast(np.ones(1), 1)):
            with self.assertRaises(errors.BadArgument):
                make()

    def test_bcast_with_different_lengths_fails(self) -> None:
        group = self.group("try: group.bcast(np.empty(3))\nexcept parvum.errors.WrongShape: vm.send('told', boss, 1)", 1)
        group.bcast(np.empty(4))
        self.assertEqual(self.vm.recv(self.others[0], 1, timeout=60), "told")


if __name__ == "__main__":
    unittest.main()
