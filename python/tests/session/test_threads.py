"""Many threads of one task at once: on builds without the interpreter's lock they run at the same time."""

from __future__ import annotations

import threading
import unittest
from concurrent.futures import ThreadPoolExecutor

import parvum
import support

ROUNDS = 200
THREADS = 6


def at_once(work: object, threads: int = THREADS) -> None:
    """Runs `work(number)` in so many threads, which begin together; raises what one of them raised."""
    together = threading.Barrier(threads)

    def run(number: int) -> None:
        together.wait()
        work(number)  # type: ignore[operator]

    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(run, number) for number in range(threads)]:
            done.result(timeout=120)


class Threads(unittest.TestCase):
    def test_threads_get_their_messages_whole_and_in_order(self) -> None:
        vm = support.vm()

        def work(number: int) -> None:
            for turn in range(ROUNDS):
                what = {"thread": number, "turn": turn, "bytes": bytes([number]) * (turn * 37 % 5000)}
                vm.send(what, vm.id, 100 + number)
                assert vm.recv(vm.id, 100 + number, timeout=60) == what

        at_once(work)

    def test_requests_of_all_threads_complete(self) -> None:
        vm = support.vm()

        def work(number: int) -> None:
            for turn in range(ROUNDS // 10):
                receives = [vm.irecv(vm.id, 200 + number) for _ in range(8)]
                sends = [vm.isend((number, turn, place), vm.id, 200 + number) for place in range(8)]
                assert [receive.result(60) for receive in receives] == [(number, turn, place) for place in range(8)]
                for send in sends:
                    send.result(60)

        at_once(work)

    def test_threads_receive_arrays_into_own_memory(self) -> None:
        try:
            import numpy
        except ImportError:
            self.skipTest("there is no NumPy")
        vm = support.vm()

        def work(number: int) -> None:
            room = numpy.zeros(3000)
            for turn in range(ROUNDS):
                sent = numpy.full(1 + turn * 13 % 3000, number * 1000.0 + turn)
                vm.send(sent, vm.id, 300 + number)
                found = vm.recv_into(room, vm.id, 300 + number, timeout=60)
                assert found.length == sent.nbytes
                assert (room[: len(sent)] == sent).all()

        at_once(work)

    def test_threads_all_enrol_as_same_task(self) -> None:
        support.vm()
        seen: list[int] = []
        at_once(lambda _: seen.append(int(parvum.enrol().id)))
        self.assertEqual(len(seen), THREADS)
        self.assertEqual(len(set(seen)), 1)

    def test_executor_serves_all_threads(self) -> None:
        with parvum.Executor(2) as pool:
            at_once(lambda number: self.assertEqual(list(pool.map(abs, range(-number - 50, 0), chunksize=7)), list(range(number + 50, 0, -1))))


if __name__ == "__main__":
    unittest.main()
