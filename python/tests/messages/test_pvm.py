"""Python's tasks talk to PVM's, in C."""

from __future__ import annotations

import array
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import support

import parvum
from parvum import errors

PROGRAM = r"""
#include <pvm3.h>
#include <string.h>
/* Receives an int, two doubles and a string; sends back the sum, the string twice and this task's id. */
int main(void) {
    int n, me = pvm_mytid();
    double x[2];
    char text[100], again[100];
    if (pvm_recv(pvm_parent(), 1) < 0 || pvm_upkint(&n, 1, 1) || pvm_upkdouble(x, 2, 1) || pvm_upkstr(text)) return 1;
    x[0] += x[1] + n;
    strcpy(again, text);
    strcat(text, again);
    pvm_initsend(PvmDataDefault);
    pvm_pkdouble(x, 1, 1);
    pvm_pkstr(text);
    pvm_pkint(&me, 1, 1);
    return pvm_send(pvm_parent(), 2) < 0;
}
"""


def compiled(test: unittest.TestCase, source: str) -> Path | None:
    """A C program of PVM's; None: nothing here compiles it."""
    package = Path(parvum.__file__).parent
    header = next((p for p in (package / "include", *(d / "interfaces/pvm/include" for d in Path(__file__).parents)) if (p / "pvm3.h").exists()), None)
    if shutil.which("cc") is None or header is None:
        return None
    folder = Path(tempfile.mkdtemp(prefix="parvum-python-"))
    test.addCleanup(shutil.rmtree, folder)
    (folder / "task.c").write_text(source)
    library = package / "lib"
    command = ["cc", "-I", header, "-o", folder / "task", folder / "task.c", library / "libpvm3.so.3", f"-Wl,-rpath,{library.resolve()}"]
    subprocess.run(command, check=True)
    return folder / "task"


class Talk(unittest.TestCase):
    def setUp(self) -> None:
        self.vm = support.vm()
        self.pvm = self.vm.pvm

    def test_pvm_task_in_c_exchanges_messages(self) -> None:
        program = compiled(self, PROGRAM)
        if program is None:
            self.skipTest("no C compiler, or no pvm3.h")
        (task,) = self.vm.spawn([program])
        self.pvm.initsend()
        self.pvm.pkint(3)
        self.pvm.pkdouble([1.5, 2.5])
        self.pvm.pkstr("Käse")
        self.pvm.send(task, 1)
        buffer = self.pvm.recv(task, 2, timeout=60)
        self.assertEqual(self.pvm.bufinfo(buffer)[1:], (2, task))
        self.assertEqual((self.pvm.upkdouble(), self.pvm.upkstr(), self.pvm.upkint()), (7.0, "KäseKäse", task))

    def test_pvm_pack_supports_all_types(self) -> None:
        pvm = self.pvm
        for name, values in (
            ("short", [-1, 2]), ("ushort", [1, 65535]), ("int", [-5, 6]), ("uint", [7, 1 << 31]),
            ("long", [-1 << 40]), ("ulong", [1 << 63]), ("float", [0.5]), ("double", [0.1, 0.2]),
        ):  # fmt: skip
            for encoding in (0, 1):
                pvm.initsend(encoding)
                getattr(pvm, "pk" + name)(values)
                pvm.send(self.vm.id, 1)
                pvm.recv(self.vm.id, 1, timeout=60)
                self.assertEqual(getattr(pvm, "upk" + name)(len(values)).tolist(), values)
        pvm.initsend()
        pvm.pkdcplx(1 + 2j)
        pvm.pkbyte(b"abc")
        pvm.pkint(array.array("i", range(10)), stride=3)
        pvm.send(self.vm.id, 1)
        self.assertEqual(pvm.nrecv(self.vm.id, 2), 0)
        self.assertNotEqual(pvm.recv(timeout=60), 0)
        room = array.array("i", [0] * 4)
        self.assertEqual((pvm.upkdcplx(), pvm.upkbyte(3)), (1 + 2j, b"abc"))
        self.assertEqual(pvm.upkint(out=room).tolist(), [0, 3, 6, 9])

    def test_pvm_failures_carry_pvm_error_numbers(self) -> None:
        self.pvm.initsend()
        with self.assertRaises(errors.PvmFailed) as raised:
            self.pvm.send(5, 1)
        self.assertEqual(raised.exception.number, -2)
        with self.assertRaises(errors.TimedOut):
            self.pvm.recv(timeout=0.01)
        with self.assertRaises(ValueError):
            self.pvm.recv(timeout=float("nan"))
        for wrong in (array.array("d", [1.0]), "text"):
            with self.assertRaises(TypeError):
                self.pvm.pkint(wrong)

    def test_pvm_wait_ends_on_signal_and_polls_rarely(self) -> None:
        # With a handler of PVM's the wait is another one.
        for handles in (False, True):
            with self.subTest(handles=handles):
                code = f"""
import ctypes, os, signal, threading, time
import parvum
vm = parvum.enrol()
vm.pvm.mytid()
if {handles}:
    keep = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda _: 0)
    assert vm.pvm._library.pvm_addmhf(-1, 99, -1, keep) >= 0
class Told(Exception): pass
def tell(*_): raise Told
signal.signal(signal.SIGUSR1, tell)
def sleeps():
    lines = open(f"/proc/self/task/{{os.getpid()}}/status").read().splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("voluntary"))
sent = []
def send():
    # How often the other wakes meanwhile is counted.
    time.sleep(4)
    sent.append(sleeps())
    os.kill(os.getpid(), signal.SIGUSR1)
threading.Thread(target=send).start()
begun = sleeps()
try:
    vm.pvm.recv(-1, 98)
except Told:
    print("told", sent[0] - begun)
"""
                ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
                told, woken = ran.stdout.split() or ("", "0")
                self.assertEqual((ran.returncode, told), (0, "told"), ran.stderr)
                # A look each tenth of a second would be forty.
                self.assertLess(int(woken), 25, ran.stdout)

    def test_pvm_receive_from_dead_task_returns(self) -> None:
        code = """
import ctypes
import parvum
pvm = parvum.enrol().pvm
(task,) = pvm.spawn("/bin/true")
numbers = []
for handles in (False, True):
    if handles:
        keep = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_int)(lambda _: 0)
        assert pvm._library.pvm_addmhf(-1, 99, -1, keep) >= 0
    try:
        pvm.recv(task, 98)
    except parvum.errors.PvmFailed as failed:
        numbers.append(failed.number)
print(numbers)
"""
        ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
        self.assertEqual((ran.returncode, ran.stdout.strip()), (0, "[-31, -31]"), ran.stderr)

    def test_objects_and_packed_messages_are_separate(self) -> None:
        self.pvm.initsend()
        self.pvm.pkint(1)
        self.pvm.send(self.vm.id, 1)
        self.assertIsNone(self.vm.probe())
        self.assertEqual((self.pvm.recv(timeout=60) > 0, self.pvm.upkint()), (True, 1))


if __name__ == "__main__":
    os.environ.setdefault("LC_ALL", "C")
    unittest.main()
