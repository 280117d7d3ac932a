"""Objects go from task to task as they are."""

from __future__ import annotations

import unittest

import support

import parvum
from parvum import errors

OBJECTS = [
    None,
    True,
    0,
    -(1 << 63),
    1 << 80,
    2.5,
    "",
    "Käse \U0001f9c0",
    "\ud800",
    b"",
    b"bytes" * 1000,
    bytearray(b"more"),
    [1, "two", (3.0, None)],
    {"key": {"deep": [b"x"] * 3}},
    {1, 2, 3},
    parvum.TaskId(0x40002),
]


class Messages(unittest.TestCase):
    def setUp(self) -> None:
        self.vm = support.vm()

    def test_objects_return_equal_to_own_task(self) -> None:
        for obj in OBJECTS:
            self.vm.send(obj, self.vm.id, 1)
            came = self.vm.recv(self.vm.id, 1, timeout=10)
            self.assertEqual(came, obj)
            self.assertIs(type(came), type(obj))

    def test_objects_return_equal_from_other_process(self) -> None:
        (echo,) = support.spawn("while (m := vm.recv_message()).tag: vm.send(m.obj, m.source, m.tag)")
        long = [b"x" * (1 << 20), {"n": bytearray(1 << 22)}]
        for obj in OBJECTS + long:
            self.vm.send(obj, echo, 2)
            self.assertEqual(self.vm.recv(echo, 2, timeout=60), obj)
        self.vm.send(None, echo, 0)

    def test_messages_keep_order_and_match_by_tag(self) -> None:
        for tag in (1, 2, 1, 2):
            self.vm.send(tag * 10, self.vm.id, tag)
        self.assertEqual(self.vm.recv(tag=2, timeout=10), 20)
        self.assertEqual([self.vm.recv(timeout=10) for _ in range(3)], [10, 10, 20])

    def test_probe_and_message_return_source_tag_and_length(self) -> None:
        self.assertIsNone(self.vm.probe(tag=5))
        self.vm.send(b"12345", self.vm.id, 5)
        self.assertEqual(self.vm.probe(tag=5, timeout=10), parvum.Status(self.vm.id, 5, 5))
        self.assertEqual(self.vm.recv_message(tag=5), parvum.Message(b"12345", self.vm.id, 5))
        self.assertIsNone(self.vm.probe(tag=5, timeout=0.01))

    def test_channels_are_separate(self) -> None:
        other = self.vm.channel(3)
        other.send("three", self.vm.id, 1)
        self.assertIsNone(self.vm.probe(timeout=0.01))
        self.assertEqual(other.recv(timeout=10), "three")

    def test_recv_times_out(self) -> None:
        for timeout in (0, 0.02):
            with self.assertRaises(TimeoutError) as raised:
                self.vm.recv(tag=77, timeout=timeout)
            self.assertIsInstance(raised.exception, errors.TimedOut)

    def test_invalid_arguments_are_refused(self) -> None:
        for call in (
            lambda: self.vm.send(1, self.vm.id, -1),
            lambda: self.vm.send(1, 5),
            lambda: self.vm.send(1, 0),
            lambda: self.vm.recv(tag=-2, timeout=0),
            lambda: self.vm.recv(-5, timeout=0),
            lambda: self.vm.recv(timeout=float("nan")),
            lambda: self.vm.channel(1 << 16),
        ):
            with self.assertRaises(errors.BadArgument):
                call()

    def test_unpicklable_object_is_named(self) -> None:
        class Holder:
            def __init__(self) -> None:
                self.fine = 1
                self.bad = {"here": [1, (n for n in [])]}

        with self.assertRaises(errors.Unpicklable) as raised:
            self.vm.send({"top": Holder()}, self.vm.id)
        self.assertIn("generator", str(raised.exception))
        self.assertIsNone(self.vm.probe())


class Requests(unittest.TestCase):
    def setUp(self) -> None:
        self.vm = support.vm()

    def test_irecv_waits_until_message_arrives(self) -> None:
        request = self.vm.irecv(tag=1)
        self.assertFalse(request.test())
        self.assertFalse(request.wait(0.01))
        self.vm.send("now", self.vm.id, 1)
        self.assertEqual(request.result(10), "now")
        self.assertEqual(request.message(), parvum.Message("now", self.vm.id, 1))

    def test_isend_completes_without_copy(self) -> None:
        data = bytearray(b"y" * (4 << 20))
        send = self.vm.isend(data, self.vm.id, 1)
        self.assertEqual(self.vm.recv(tag=1, timeout=10), data)
        self.assertIsNone(send.result(10))

    def test_irecv_can_be_cancelled(self) -> None:
        request = self.vm.irecv(tag=1)
        self.assertTrue(request.cancel())
        self.assertTrue(request.cancelled())
        with self.assertRaises(errors.Cancelled):
            request.result()
        self.vm.send("for the next", self.vm.id, 1)
        self.assertEqual(self.vm.recv(tag=1, timeout=10), "for the next")

    def test_wait_any_returns_index_of_completed_request(self) -> None:
        requests = [self.vm.irecv(tag=tag) for tag in (1, 2, 3)]
        self.vm.send("second", self.vm.id, 2)
        self.assertEqual(parvum.wait_any(requests, 10), 1)
        self.assertIsNone(parvum.wait_any([requests[0], requests[2]], 0.01))
        for request in requests:
            request.cancel()

    def test_requests_work_as_futures(self) -> None:
        import concurrent.futures as futures

        requests = [self.vm.irecv(tag=tag) for tag in (1, 2, 3)]
        done, rest = futures.wait(requests, timeout=0.05)
        self.assertEqual((len(done), len(rest)), (0, 3))
        for tag in (1, 2, 3):
            self.vm.send(tag, self.vm.id, tag)
        done, rest = futures.wait(requests, timeout=60)
        self.assertEqual(({request.result() for request in done}, len(rest)), ({1, 2, 3}, 0))

    def test_requests_are_awaited_in_loops_of_several_threads(self) -> None:
        import asyncio
        import threading

        sums: list[int] = []

        async def ask(base: int) -> int:
            requests = [self.vm.irecv(tag=base + n) for n in range(10)]
            asyncio.get_running_loop().call_later(
                0.01, lambda: [self.vm.send(n, self.vm.id, base + n) for n in range(10)]
            )
            return sum([await request for request in requests])

        def loop(base: int) -> None:
            sums.append(asyncio.run(ask(base)))

        threads = [threading.Thread(target=loop, args=(100 * n,)) for n in range(1, 5)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(60)
        self.assertEqual(sums, [45] * 4)


if __name__ == "__main__":
    unittest.main()
