"""Signals end any wait, those for the daemon too; and who waits does not wake."""

from __future__ import annotations

import os
import shutil
import signal
import tempfile
import time
import unittest
from typing import Any

import support

# A process whose daemon can be stopped, so that it answers nobody, and in which a signal comes once the main thread waits.
BEFORE = """
import os, parvum, signal, sys, threading, time
# Whoever was started in the background ignores it.
signal.signal(signal.SIGINT, signal.default_int_handler)
vm = parvum.enrol()
daemon = int(open(os.environ["PARVUM_DIR"] + "/daemon.lock").read().split()[0])

def waits(name):
    # The page says what the task waits for; the daemon would answer, so the kernel is asked: it sleeps in a system call.
    thread = os.getpid()
    with open(f"/proc/self/task/{thread}/stat") as file:
        return file.read().rpartition(")")[2].split()[0] == "S"

def interrupt_when_it_waits():
    time.sleep(0.3)
    while not waits("main"):
        time.sleep(0.01)
    os.kill(os.getpid(), signal.SIGINT)

def interrupted(call):
    threading.Thread(target=interrupt_when_it_waits).start()
    try:
        print("came to an end:", call())
    except KeyboardInterrupt:
        print("interrupted")
"""


class Signals(unittest.TestCase):
    def run_alone(self, source: str) -> str:
        """What a process says that has a machine of its own."""
        place = tempfile.mkdtemp(prefix="parvum-signals-")
        self.addCleanup(shutil.rmtree, place, True)
        done = support.run(BEFORE + source, PARVUM_DIR=place)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_interrupted_daemon_requests_leave_no_tasks(self) -> None:
        said = self.run_alone(
            """
os.kill(daemon, signal.SIGSTOP)
try:
    interrupted(lambda: vm.spawn(["sleep", "1000"], 2))
    interrupted(lambda: vm.tasks())
    interrupted(lambda: vm.add_host("no-such-host.invalid"))
    interrupted(lambda: vm.mailbox.put("letter", "once"))
finally:
    os.kill(daemon, signal.SIGCONT)
# The daemon has begun what it was asked; what nobody knows of ends again.
while [task for task in vm.tasks() if task.name == "sleep"]:
    time.sleep(0.01)
print([vm.mailbox.get("letter"), len(vm.hosts())])
(task,) = vm.spawn(["sleep", "1000"])
print([task] == [row.id for row in vm.tasks() if row.name == "sleep"])
vm.halt()
"""
        )
        self.assertEqual(said, "interrupted\n" * 4 + "['once', 1]\nTrue\n")

    def test_interrupted_mailbox_take_loses_no_entry(self) -> None:
        said = self.run_alone(
            """
vm.mailbox.put("letter", [1, 2])
os.kill(daemon, signal.SIGSTOP)
try:
    interrupted(lambda: vm.mailbox.take("letter"))
finally:
    os.kill(daemon, signal.SIGCONT)
print(vm.mailbox.take("letter"), len(vm.mailbox))
vm.halt()
"""
        )
        self.assertEqual(said, "interrupted\n[1, 2] 0\n")

    def test_interrupted_barrier_can_be_resumed(self) -> None:
        said = self.run_alone(
            """
vm.pvm.joingroup("all")
other = 'import parvum\\nvm = parvum.enrol()\\nvm.pvm.joingroup("all")\\nwhile vm.recv(): vm.pvm.barrier("all", 2); vm.send("met", vm.parent)'
(task,) = vm.spawn(["python", "-c", other])
# The first is the daemon's, the second in the page that the members then share.
for _ in range(3):
    interrupted(lambda: vm.pvm.barrier("all", 2))
    vm.send(True, task)
    # It has met this task, which had come.
    print(vm.recv(task))
    vm.pvm.barrier("all", 2)
vm.send(False, task)
vm.halt()
"""
        )
        self.assertEqual(said, "interrupted\nmet\n" * 3)

    def test_handler_that_does_not_raise_leaves_wait_unchanged(self) -> None:
        said = self.run_alone(
            """
seen = []
signal.signal(signal.SIGUSR1, lambda *_: seen.append(1))
def disturb():
    for _ in range(50):
        os.kill(os.getpid(), signal.SIGUSR1)
        time.sleep(0.002)
    vm.send("at last", vm.id)
threading.Thread(target=disturb).start()
print(vm.recv(), len(seen) > 0)
vm.halt()
"""
        )
        self.assertEqual(said, "at last True\n")


class Idle(unittest.TestCase):
    def test_waiting_task_sleeps(self) -> None:
        (task,) = support.spawn("vm.send(os.getpid(), boss)\nvm.recv()\nvm.send('woken', boss)")
        pid: Any = support.vm().recv(task, timeout=60)

        def switches() -> int:
            with open(f"/proc/{pid}/status", encoding="ascii") as file:
                return next(int(line.split()[1]) for line in file if line.startswith("voluntary_ctxt"))

        # It looks after less and less at first. A busy machine wakes it less often, never more.
        time.sleep(2.5)
        before = switches()
        time.sleep(4)
        self.assertLessEqual(switches() - before, 3)
        support.vm().send(None, task)
        self.assertEqual(support.vm().recv(task, timeout=60), "woken")

    def test_sleeping_task_notices_daemon_death(self) -> None:
        place = tempfile.mkdtemp(prefix="parvum-idle-")
        self.addCleanup(shutil.rmtree, place, True)
        done = support.run(
            """
            import os, parvum, signal, threading
            vm = parvum.enrol()
            daemon = int(open(os.environ["PARVUM_DIR"] + "/daemon.lock").read().split()[0])
            threading.Timer(3, lambda: os.kill(daemon, signal.SIGKILL)).start()
            try: vm.recv()
            except parvum.errors.MachineGone as error: print(error.code)
            """,
            PARVUM_DIR=place,
        )
        self.assertEqual(done.stdout, "E-LOST\n", done.stderr)


if __name__ == "__main__":
    unittest.main()
