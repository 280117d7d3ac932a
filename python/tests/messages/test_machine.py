"""Tasks, events and the mailbox."""

from __future__ import annotations

import importlib.util
import os
import signal
import subprocess
import sys
import unittest

import support

import parvum
from parvum import errors


class Tasks(unittest.TestCase):
    def setUp(self) -> None:
        self.vm = support.vm()

    def test_second_enrol_returns_same_task(self) -> None:
        self.assertEqual(parvum.enrol().id, self.vm.id)
        self.assertIsNone(self.vm.parent)
        self.assertRegex(repr(self.vm.id), "^t[0-9a-f]+$")

    def test_children_know_parent_and_siblings(self) -> None:
        tasks = support.spawn("vm.send((vm.parent, vm.siblings(), os.environ['EXTRA'], os.getcwd()), boss, 1)",
                              count=3, env={"EXTRA": "here"}, cwd="/")
        for task in tasks:
            self.assertEqual(self.vm.recv(task, 1, timeout=60), (self.vm.id, tasks, "here", "/"))

    def test_task_exit_is_notified_as_event_and_message(self) -> None:
        quiet, killed = support.spawn("vm.recv()", count=2)
        self.vm.notify_exit([quiet, killed])
        self.vm.notify_exit(killed, tag=9)
        support.eventually(lambda: {quiet, killed} <= {t.id for t in self.vm.tasks() if t.state == "enrolled"})
        self.vm.kill(killed, signal.SIGKILL)
        self.assertEqual(self.vm.next_event(60), parvum.TaskExited(killed))
        self.assertEqual(self.vm.recv_message(tag=9, timeout=60), (parvum.TaskExited(killed), 0, 9))
        self.vm.send(None, quiet)
        self.assertEqual(self.vm.next_event(60), parvum.TaskExited(quiet))
        with self.assertRaises(errors.TaskGone):
            self.vm.send(1, killed)
        with self.assertRaises(errors.TaskGone):
            self.vm.recv(killed, timeout=60)
        with self.assertRaises(errors.TaskGone):
            self.vm.kill(killed)

    def test_task_output_arrives_as_events(self) -> None:
        (task,) = support.spawn("print('said')", output="events")
        said = b""
        while True:
            event = self.vm.next_event(60)
            if isinstance(event, parvum.TaskOutput):
                self.assertEqual(event.task, task)
                if not event.data:
                    break
                said += event.data
        self.assertEqual(said, b"said\n")

    def test_spawn_of_missing_program_fails(self) -> None:
        with self.assertRaises(errors.Refused) as raised:
            self.vm.spawn(["/no/such/program"])
        self.assertEqual(raised.exception.code, "E-NOPROGRAM")
        with self.assertRaises(errors.BadArgument):
            self.vm.spawn([])
        with self.assertRaises(errors.Refused) as raised:
            self.vm.spawn(["python"], host="nohost")
        self.assertEqual(raised.exception.code, "E-NOHOST")

    def test_hosts_list_contains_this_host(self) -> None:
        (host,) = self.vm.hosts()
        self.assertEqual(host.id, self.vm.id.host)
        self.assertIn(self.vm.id, [task.id for task in self.vm.tasks()])
        with self.assertRaises(errors.ParvumError):
            self.vm.remove_host("nohost")


class Mpi4py(unittest.TestCase):
    def test_mpi4py_wheel_runs_under_parvum_run(self) -> None:
        # It loads MPICH's library while it runs, and `parvum run` has it find ours.
        if importlib.util.find_spec("mpi4py") is None:
            self.skipTest("this Python has no mpi4py")
        support.vm()
        program = (
            "from mpi4py import MPI; c = MPI.COMM_WORLD; "
            "print(c.size, c.allreduce(c.rank), MPI.Get_library_version()[:6])"
        )
        clean = {name: value for name, value in os.environ.items() if name != "LD_LIBRARY_PATH"}
        done = subprocess.run(
            [support.COMMAND, "run", "-n", "3", sys.executable, "-c", program],
            capture_output=True, text=True, timeout=120, env=clean,
        )  # fmt: skip
        self.assertEqual((done.stdout, done.returncode), ("3 3 Parvum\n" * 3, 0), done.stderr)


class Mailbox(unittest.TestCase):
    def setUp(self) -> None:
        self.box = support.vm().mailbox

    def test_mailbox_behaves_as_a_mapping(self) -> None:
        self.box["a"] = {"deep": [1]}
        self.box["a"] = {"deep": [2]}
        # Other tests of one process may have left actors that have names.
        own = [name for name in self.box if not name.startswith("actor:")]
        self.assertEqual((self.box["a"], own), ({"deep": [2]}, ["a"]))
        self.assertIn("a", self.box)
        self.assertNotIn("b", self.box)
        self.assertEqual(self.box.get("b", 7), 7)
        with self.assertRaises(KeyError):
            self.box["b"]
        del self.box["a"]
        with self.assertRaises(errors.NoEntry):
            del self.box["a"]

    def test_mailbox_entries_end_with_task_unless_persistent(self) -> None:
        (task,) = support.spawn("vm.mailbox['gone'] = 1; vm.mailbox.put('stays', 2, persistent=True); vm.recv()")
        self.assertEqual(self.box.get("stays", wait=True, timeout=60), 2)
        self.assertEqual(self.box.entries("gone")[0].owner, task)
        support.vm().send(None, task)
        support.eventually(lambda: "gone" not in self.box)
        self.assertEqual(self.box["stays"], 2)
        del self.box["stays"]

    def test_mailbox_take_removes_one_of_several_entries(self) -> None:
        for n in range(3):
            self.box.put("work", n, beside=True)
        self.assertEqual([self.box.take("work") for _ in range(3)], [0, 1, 2])
        with self.assertRaises(errors.NoEntry):
            self.box.take("work")

    def test_mailbox_get_times_out(self) -> None:
        with self.assertRaises(errors.TimedOut):
            self.box.get("never", wait=True, timeout=0.05)


if __name__ == "__main__":
    unittest.main()
