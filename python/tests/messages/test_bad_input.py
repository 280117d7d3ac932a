"""Whatever a program does wrong is refused clearly, and nothing is lost."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess
import sys
import threading
import unittest

import support

import parvum
from parvum import errors


class InOneProcess(unittest.TestCase):
    def setUp(self) -> None:
        self.vm = support.vm()

    def test_sent_memory_stays_alive_and_locked(self) -> None:
        data = bytearray(8 << 20)
        data[:4] = b"head"
        request = self.vm.isend(data, self.vm.id, 1)
        if not request.test():
            with self.assertRaises(BufferError):
                data.extend(b"more")
        # The only name of it goes; the engine still reads it.
        del data
        self.assertEqual(self.vm.recv(tag=1, timeout=60)[:4], b"head")
        self.assertTrue(request.wait(60))

    def test_abandoned_requests_do_no_harm(self) -> None:
        for n in range(100):
            self.vm.irecv(tag=50)
            self.vm.isend(bytearray(300_000), self.vm.id, 51)
            self.assertEqual(len(self.vm.recv(tag=51, timeout=60)), 300_000)
        self.vm.send("still there", self.vm.id, 50)
        self.assertEqual(self.vm.recv(tag=50, timeout=60), "still there")

    def test_threads_send_and_receive_concurrently(self) -> None:
        sums = [0] * 8

        def both(n: int) -> None:
            for i in range(200):
                self.vm.send(i, self.vm.id, 100 + n)
                sums[n] += self.vm.recv(tag=100 + n, timeout=60)

        threads = [threading.Thread(target=both, args=(n,)) for n in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sums, [sum(range(200))] * 8)

    def test_forked_child_is_no_task_until_it_joins(self) -> None:
        done = support.run(
            """
            import os, parvum
            vm = parvum.enrol()
            child = os.fork()
            if child == 0:
                try: vm.send(1, vm.id)
                except parvum.errors.Forked: pass
                else: os._exit(1)
                own = parvum.enrol()
                own.mailbox.put("child", int(own.id), persistent=True)
                own.leave()
                os._exit(0)
            print(os.waitpid(child, 0)[1], vm.mailbox.take("child") != vm.id)
            vm.send("alone", vm.id); print(vm.recv())
            """
        )
        self.assertEqual((done.stdout, done.returncode), ("0 True\nalone\n", 0), done.stderr)

    def test_calls_before_enrol_fail(self) -> None:
        done = support.run(
            """
            import parvum
            try: parvum.Vm().send(1, 262145)
            except parvum.errors.NotEnrolled as error: print(error.code)
            """
        )
        self.assertEqual(done.stdout, "E-NOTENROLLED\n", done.stderr)


class Ends(unittest.TestCase):
    def test_process_exits_cleanly_with_open_requests(self) -> None:
        done = support.run(
            """
            import parvum, threading
            vm = parvum.enrol()
            requests = [vm.irecv(tag=n) for n in range(10)]
            import concurrent.futures as futures
            futures.wait(requests, timeout=0.05)
            threading.Thread(target=lambda: vm.recv(tag=77), daemon=True).start()
            print("ends")
            """
        )
        self.assertEqual((done.stdout, done.returncode), ("ends\n", 0), done.stderr)

    def test_signal_ends_any_wait(self) -> None:
        for wait in (
            "vm.recv(tag=1)", "vm.irecv(tag=1).result()", "vm.probe(tag=1, timeout=None)",
            "parvum.wait_any([vm.irecv(tag=1)])", "vm.next_event()", "vm.mailbox.get('x', wait=True)",
            "vm.pvm.recv(-1, 1)", "vm.recv_into(bytearray(1), tag=1)",
        ):  # fmt: skip
            done = support.run(
                f"""
                import parvum, signal, os, threading
                # Whoever was started in the background ignores it.
                signal.signal(signal.SIGINT, signal.default_int_handler)
                vm = parvum.enrol()
                threading.Timer(0.3, lambda: os.kill(os.getpid(), signal.SIGINT)).start()
                try: {wait}
                except KeyboardInterrupt: print("interrupted")
                vm.send("alive", vm.id); print(vm.recv())
                """
            )
            self.assertEqual(done.stdout, "interrupted\nalive\n", f"{wait}: {done.stderr}")

    def test_signal_handler_may_use_the_machine(self) -> None:
        done = support.run(
            """
            import parvum, signal
            vm = parvum.enrol()
            def tell(*_):
                vm.send("from the handler", vm.id, 1)
            signal.signal(signal.SIGALRM, tell)
            signal.setitimer(signal.ITIMER_REAL, 0.2)
            print(vm.recv(tag=1))
            """
        )
        self.assertEqual(done.stdout, "from the handler\n", done.stderr)

    def test_calls_fail_when_daemon_goes_away(self) -> None:
        place = os.environ["PARVUM_DIR"] + "-lost"
        self.addCleanup(shutil.rmtree, place, True)
        os.mkdir(place, 0o700)
        done = support.run(
            """
            import parvum, os, signal, time
            vm = parvum.enrol()
            daemon = int(open(os.environ["PARVUM_DIR"] + "/daemon.lock").read().split()[0])
            import threading
            threading.Timer(0.2, lambda: os.kill(daemon, signal.SIGKILL)).start()
            for wait in (lambda: vm.recv(), lambda: vm.hosts(), lambda: vm.irecv().result()):
                try: wait()
                except parvum.errors.MachineGone as error: print(error.code)
            """,
            PARVUM_DIR=place,
        )
        self.assertEqual(done.stdout, "E-LOST\n" * 3, done.stderr)

    def test_other_python_version_is_refused_with_both_versions(self) -> None:
        vm = support.vm()
        mine = sys.version_info[:2]
        found = [*glob.glob("/usr/bin/python3.*"), *glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python"))]
        for other in found:
            ask = [other, "-c", "import sys; sys.version_info >= (3, 10) and sys.version_info[:2] != %r or sys.exit(1); import parvum" % (mine,)]
            if "config" in other or subprocess.run(ask, capture_output=True).returncode:
                continue
            program = "import parvum; vm = parvum.enrol(); vm.send(b'bytes', vm.parent, 1); vm.send({'a': 1}, vm.parent, 1)"
            (task,) = vm.spawn([other, "-c", program])
            # What is no pickle needs no such Python.
            self.assertEqual(vm.recv(task, 1, timeout=60), b"bytes")
            with self.assertRaises(errors.VersionMismatch) as raised:
                vm.recv(task, 1, timeout=60)
            self.assertIn(f"this task Python {mine[0]}.{mine[1]}", str(raised.exception))
            return
        self.skipTest("there is no other Python of 3.10 or later that has this package")


if __name__ == "__main__":
    unittest.main()
